//! Puts broken rules into words, with the places that led there and an edit that mends it.

use super::check::{Problem, ProblemKind};
use super::describe::describe_dims;
use super::{Contract, Dims, States, describe_states, transition};
use crate::diagnostics::{Applicability, Code, Diagnostic, Edit, codes};
use crate::library::{FlatKind, FlatTree, TemplateId, TreeIx};
use crate::source::{Place, Span};
use coll_grammar::words::{Operation, StateWord};

/// What the words need to know about the tree.
pub struct Context<'a> {
    /// The tree that was checked.
    pub tree: &'a FlatTree,
    /// The operation of its algorithm.
    pub op: Operation,
    /// Where the algorithm's name stands.
    pub algorithm: Place,
    /// Where a node stands.
    pub place: &'a dyn Fn(TreeIx) -> Place,
    /// The name of a template.
    pub template: &'a dyn Fn(TemplateId) -> String,
    /// The source text of a place.
    pub text: &'a dyn Fn(Place) -> String,
}

/// The diagnostic for a broken rule.
pub fn explain(problem: &Problem, cx: &Context<'_>) -> Diagnostic {
    let here = (cx.place)(problem.node);
    match &problem.kind {
        ProblemKind::State {
            op,
            needs,
            found,
            dims,
            since,
            before,
        } => cx.state(problem.node, *op, (*needs, *found), *dims, *since, *before),
        ProblemKind::ManyGroups(contract) => cx.many_groups(problem.node, contract),
        ProblemKind::Deal { groups, children } => cx.deal(here, groups, *children),
        ProblemKind::WeightsOfDealt(contract) => Diagnostic::new(
            codes::E0501,
            here,
            format!(
                "the {} groups that come in are dealt out, so weights have no meaning here",
                contract.groups.len()
            ),
        )
        .here("has weights")
        .note(cx.list_groups(contract))
        .help("remove the weights: each child takes over one group with the share it has"),
        ProblemKind::NoChildren => Diagnostic::new(codes::E0312, here, "this node has no children")
            .help("put at least one stage between `<` and `>`, or remove the node"),
        ProblemKind::AxisCount(count) => Diagnostic::new(
            codes::E0313,
            here,
            format!("an omnipipe pipelines exactly two axes, and this one has {count}"),
        )
        .help(axis_count_help(*count)),
        ProblemKind::AxisForm(_) => Diagnostic::new(
            codes::E0313,
            here,
            "a parallel cannot be part of an axis of an omnipipe",
        )
        .help("an axis is a leaf, a sequence of leaves or another omnipipe"),
        ProblemKind::AxesOverlap(dims) => Diagnostic::new(
            codes::E0314,
            here,
            format!("both axes of this omnipipe join {}", cx.dims(*dims)),
        )
        .help("give each axis levels of its own; for one level over two planes use `parallel`"),
        ProblemKind::AxesDiffer { first, second } => cx.axes_differ(here, *first, *second),
        ProblemKind::Stage(op) => cx.stage(here, *op),
        ProblemKind::Assertion {
            expected,
            dims,
            found,
            group,
            contract,
        } => cx.assertion(here, *expected, *dims, *found, *group, contract),
        ProblemKind::GroupsAtEnd(contract) => Diagnostic::new(
            codes::E0309,
            cx.algorithm,
            format!(
                "the algorithm ends with {} groups instead of one",
                contract.groups.len()
            ),
        )
        .here(format!(
            "`{}` must end with every share in the same state",
            cx.op
        ))
        .label(here, "leaves several groups")
        .note(cx.list_groups(contract))
        .help(
            "follow with a parallel of as many children that brings every group to the same state",
        ),
        ProblemKind::End {
            expected,
            found,
            dims,
            since,
        } => cx.wrong_end(*expected, *found, *dims, *since),
        ProblemKind::MoreThanAsked(dims) => Diagnostic::new(
            codes::W0301,
            cx.algorithm,
            format!(
                "every rank ends with all of {}, but `{}` asks it of the root alone",
                cx.dims(*dims),
                cx.op
            ),
        )
        .help(format!(
            "end with a stage that leaves `root`, such as `{}`",
            cx.root_stage()
        )),
        ProblemKind::OneChild => Diagnostic::new(
            codes::W0302,
            here,
            "a parallel of one child does nothing by itself",
        )
        .help("write the child alone, or add the other children"),
    }
}

fn axis_count_help(count: usize) -> &'static str {
    if count > 2 {
        "nest them: `omnipipe < omnipipe < x; y >; z >`"
    } else {
        "add the other axis, or write the child alone"
    }
}

impl Context<'_> {
    fn dims(&self, dims: Dims) -> String {
        describe_dims(dims, &self.tree.levels)
    }

    fn states(&self, states: States) -> String {
        describe_states(states, &self.tree.levels)
    }

    fn source(&self, ix: TreeIx) -> String {
        let text = (self.text)((self.place)(ix));
        let mut words = text.split_whitespace();
        let mut line = words.next().unwrap_or_default().to_owned();
        for word in words {
            line.push(' ');
            line.push_str(word);
        }
        line
    }

    fn list_groups(&self, contract: &Contract) -> String {
        let lines = contract.groups.iter().enumerate().map(|(i, group)| {
            let origin = match group.share.0.last() {
                Some(cut) => format!(" (from child {} of the parallel)", cut.child + 1),
                None => String::new(),
            };
            format!("group {}: {}{origin}", i + 1, self.states(group.states))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn state(
        &self,
        node: TreeIx,
        op: Operation,
        (needs, found): (StateWord, StateWord),
        dims: Dims,
        since: Option<TreeIx>,
        before: States,
    ) -> Diagnostic {
        let names = self.dims(dims);
        let code = state_code(op, needs, found);
        let here = (self.place)(node);
        let mut diagnostic = Diagnostic::new(
            code,
            here,
            format!("`{op}` needs `{needs}` along {names}, and finds `{found}` there"),
        )
        .here(format!("before this stage: {}", self.states(before)));
        diagnostic = match since {
            Some(since) => diagnostic.label((self.place)(since), format!("leaves {names} {found}")),
            None => diagnostic.label(
                self.algorithm,
                format!("`{}` starts with `{found}` everywhere", self.op),
            ),
        };
        match state_help(op, needs, found) {
            None => diagnostic,
            Some(help) => {
                let diagnostic = diagnostic.help(help.replace("LEVEL", &names));
                self.without_stage(diagnostic, node, code)
            }
        }
    }

    /// Offers to remove a superfluous stage, where it stands in a sequence of several.
    fn without_stage(&self, diagnostic: Diagnostic, node: TreeIx, code: Code) -> Diagnostic {
        if code != codes::E0303 && code != codes::E0306 {
            return diagnostic;
        }
        let Some((siblings, at)) = self.siblings(node) else {
            return diagnostic;
        };
        if siblings.len() < 2 {
            return diagnostic;
        }
        let mut place = (self.place)(node);
        if at == 0 {
            place.span.end = (self.place)(siblings[1]).span.start;
        } else {
            place.span.start = (self.place)(siblings[at - 1]).span.end;
        }
        diagnostic.suggest(format!("remove `{}`", self.source(node)), place, "")
    }

    /// The children of the sequence that holds `node`, and its position among them.
    fn siblings(&self, node: TreeIx) -> Option<(&[TreeIx], usize)> {
        self.tree.nodes.iter().find_map(|n| {
            let FlatKind::Sequence(children) = &n.kind else {
                return None;
            };
            let children = self.tree.children(children);
            children
                .iter()
                .position(|&c| c == node)
                .map(|at| (children, at))
        })
    }

    fn many_groups(&self, node: TreeIx, contract: &Contract) -> Diagnostic {
        let here = (self.place)(node);
        let source = self.source(node);
        let mut diagnostic = Diagnostic::new(
            codes::E0302,
            here,
            format!(
                "`{source}` takes one group, and finds {}",
                contract.groups.len()
            ),
        )
        .here("takes the data as one group");
        for (i, group) in contract.groups.iter().enumerate() {
            let origin = group.share.0.last().and_then(|cut| self.cut_child(*cut));
            let text = format!("group {}: {}", i + 1, self.states(group.states));
            diagnostic = match origin {
                Some(child) => diagnostic.label((self.place)(child), text),
                None => diagnostic.note(text),
            };
        }
        self.move_into_parallel(diagnostic, node, contract)
    }

    /// The child of a parallel that a cut went to.
    fn cut_child(&self, cut: super::Cut) -> Option<TreeIx> {
        match &self.tree.node(cut.node).kind {
            FlatKind::Parallel { children, .. } => self
                .tree
                .children(children)
                .get(usize::from(cut.child))
                .copied(),
            _ => None,
        }
    }

    /// Offers to move a leaf into those children of the parallel before it that still need it.
    fn move_into_parallel(
        &self,
        diagnostic: Diagnostic,
        node: TreeIx,
        contract: &Contract,
    ) -> Diagnostic {
        let general = "move the stage into each child of the parallel that needs it";
        let FlatKind::Leaf { op, level, .. } = &self.tree.node(node).kind else {
            return diagnostic.help(general);
        };
        let dims = self.tree.levels[*level as usize].dims;
        let Some(needs) = transition(*op).map(|t| t.needs) else {
            return diagnostic;
        };
        let source = self.source(node);
        let mut edits = Vec::new();
        let mut mended = Vec::new();
        for group in &contract.groups {
            let Some(child) = group.share.0.last().and_then(|cut| self.cut_child(*cut)) else {
                return diagnostic.help(general);
            };
            let child_source = self.source(child);
            if dims.without(group.states.dims_in(needs)).is_empty() {
                let text = format!("sequence < {child_source}; {source} >");
                edits.push(Edit {
                    place: (self.place)(child),
                    text: text.clone(),
                });
                mended.push(text);
            } else {
                mended.push(child_source);
            }
        }
        if edits.is_empty() {
            return diagnostic.help(
                "no group can take this stage as it is: replace it by a parallel with one child a group",
            );
        }
        let diagnostic = diagnostic.help(format!(
            "move it into the children that need it: `parallel < {} >`",
            mended.join("; ")
        ));
        let mut place = (self.place)(node);
        match self.siblings(node) {
            Some((siblings, at)) if at > 0 => {
                place.span.start = (self.place)(siblings[at - 1]).span.end;
            }
            _ => return diagnostic,
        }
        edits.push(Edit {
            place,
            text: String::new(),
        });
        diagnostic.fix(
            format!("move `{source}` into the parallel"),
            edits,
            Applicability::Suggested,
        )
    }

    fn deal(&self, here: Place, contract: &Contract, children: usize) -> Diagnostic {
        let groups = contract.groups.len();
        Diagnostic::new(
            codes::E0310,
            here,
            format!("{groups} groups come to a parallel of {children} children"),
        )
        .here("one group is cut among the children; several are dealt out, one to each")
        .note(self.list_groups(contract))
        .help(format!(
            "write exactly {groups} children, one a group, in the order of the groups"
        ))
    }

    fn axes_differ(&self, here: Place, first: TreeIx, second: TreeIx) -> Diagnostic {
        let op = |ix: TreeIx| match &self.tree.node(ix).kind {
            FlatKind::Leaf { op, .. } => op.as_str(),
            _ => "",
        };
        Diagnostic::new(
            codes::E0315,
            here,
            format!(
                "the axes of an omnipipe do the same operation, and these do `{}` and `{}`",
                op(first),
                op(second)
            ),
        )
        .label((self.place)(first), format!("does `{}`", op(first)))
        .label((self.place)(second), format!("does `{}`", op(second)))
        .help("put the second operation into an omnipipe of its own, after this one")
    }

    fn stage(&self, here: Place, op: Operation) -> Diagnostic {
        let why = match (op, self.op) {
            (Operation::Barrier, _) => "a barrier moves no data".to_owned(),
            (_, Operation::Barrier) => "a barrier has no data to move".to_owned(),
            (Operation::Send | Operation::Recv | Operation::BatchSendRecv, _) => {
                "it has no levels".to_owned()
            }
            _ => "it has a count per rank, which this operation has not".to_owned(),
        };
        Diagnostic::new(
            codes::E0316,
            here,
            format!("`{op}` cannot be a stage of `{}`: {why}", self.op),
        )
        .label(self.algorithm, format!("this algorithm is `{}`", self.op))
    }

    fn assertion(
        &self,
        here: Place,
        expected: StateWord,
        dims: Dims,
        found: StateWord,
        group: usize,
        contract: &Contract,
    ) -> Diagnostic {
        let names = self.dims(dims);
        let which = match contract.single() {
            Some(_) => String::new(),
            None => format!(" in group {}", group + 1),
        };
        let states = contract.groups[group].states;
        let mut diagnostic = Diagnostic::new(
            codes::E0311,
            here,
            format!("asserted `{expected}` along {names}, but it is `{found}`{which}"),
        )
        .here(format!("here: {}", self.states(states)));
        let origin = dims
            .iter()
            .next()
            .and_then(|d| contract.groups[group].changed_by(d));
        if let Some(origin) = origin {
            diagnostic = diagnostic.label((self.place)(origin), format!("leaves {names} {found}"));
        }
        diagnostic
    }

    fn wrong_end(
        &self,
        expected: StateWord,
        found: StateWord,
        dims: Dims,
        since: Option<TreeIx>,
    ) -> Diagnostic {
        let names = self.dims(dims);
        let never = since.is_none();
        let code = if never && self.missing_op(found) == Some(Operation::AllGather) {
            codes::E0304
        } else {
            codes::E0308
        };
        let message = match never {
            true => format!(
                "{names} is never {}: it ends as `{found}`, and `{}` promises `{expected}`",
                missing_verb(found, expected),
                self.op
            ),
            false => {
                format!(
                    "{names} ends as `{found}`, and `{}` promises `{expected}`",
                    self.op
                )
            }
        };
        let mut diagnostic = Diagnostic::new(code, self.algorithm, message);
        let root = (self.place)(FlatTree::ROOT);
        diagnostic = match since {
            Some(since) => diagnostic.label((self.place)(since), format!("leaves {names} {found}")),
            None => diagnostic.label(root, format!("no stage of this tree changes {names}")),
        };
        self.missing_stage(diagnostic, found, dims)
    }

    /// Proposes the stage that is missing at the end.
    fn missing_stage(&self, diagnostic: Diagnostic, found: StateWord, dims: Dims) -> Diagnostic {
        let Some(op) = self.missing_op(found) else {
            return diagnostic;
        };
        let levels: Vec<&str> = self
            .tree
            .levels
            .iter()
            .filter(|l| !l.dims.is_empty() && l.dims.without(dims).is_empty())
            .map(|l| l.name.as_str())
            .collect();
        let Some(level) = levels.first() else {
            return diagnostic
                .help("no level of the topology joins just these dimensions; declare one");
        };
        let template = self.likely_template(op);
        let stage = match op == self.op {
            true => format!("{template}@{level}"),
            false => format!("{op}.{template}@{level}"),
        };
        let diagnostic = diagnostic.help(format!("add a stage such as `{stage}`"));
        let root = (self.place)(FlatTree::ROOT);
        let at = |offset: u32| Place {
            item: root.item,
            span: Span::new(offset, offset),
        };
        match &self.tree.node(FlatTree::ROOT).kind {
            FlatKind::Sequence(children) => match self.tree.children(children).last() {
                Some(&last) => {
                    let end = (self.place)(last).span.end;
                    diagnostic.suggest(format!("add `{stage}`"), at(end), format!("; {stage}"))
                }
                None => diagnostic,
            },
            _ => diagnostic.fix(
                format!("add `{stage}`"),
                vec![
                    Edit {
                        place: at(root.span.start),
                        text: "sequence < ".to_owned(),
                    },
                    Edit {
                        place: at(root.span.end),
                        text: format!("; {stage} >"),
                    },
                ],
                Applicability::Suggested,
            ),
        }
    }

    /// The operation that brings a dimension from `found` to what the algorithm promises.
    fn missing_op(&self, found: StateWord) -> Option<Operation> {
        let promised = transition(self.op)?.leaves;
        let plain = [
            Operation::AllGather,
            Operation::ReduceScatter,
            Operation::AllReduce,
            Operation::Broadcast,
            Operation::Scatter,
            Operation::Gather,
            Operation::Reduce,
            Operation::AllToAll,
        ];
        let fits = |op: &Operation| {
            transition(*op).is_some_and(|t| (t.needs, t.leaves) == (found, promised))
        };
        if fits(&self.op) {
            return Some(self.op);
        }
        plain.into_iter().find(fits)
    }

    /// A template that the tree uses for this operation, else the first it uses, else `nhr`.
    fn likely_template(&self, wanted: Operation) -> String {
        let leaves = || {
            self.tree.nodes.iter().filter_map(|n| match &n.kind {
                FlatKind::Leaf { op, template, .. } => Some((*op, *template)),
                _ => None,
            })
        };
        leaves()
            .find(|leaf| leaf.0 == wanted)
            .or_else(|| leaves().next())
            .map_or_else(|| "nhr".to_owned(), |leaf| (self.template)(leaf.1))
    }

    /// A stage that leaves the algorithm's `root` state.
    fn root_stage(&self) -> String {
        let level = self.tree.levels.first().map_or("L0", |l| l.name.as_str());
        let op = if self.op == Operation::Reduce {
            "reduce"
        } else {
            "gather"
        };
        format!("{op}.nhr@{level}")
    }
}

/// Which rule it is that a leaf finds the wrong state.
fn state_code(op: Operation, needs: StateWord, found: StateWord) -> Code {
    use StateWord::{All, Own, Partial};
    match (needs, found) {
        (Own, All) if matches!(op, Operation::AllGather | Operation::AllGatherV) => codes::E0303,
        (Own, Partial) => codes::E0305,
        (Partial, Own) => codes::E0306,
        (Partial, All) => codes::E0307,
        _ => codes::E0301,
    }
}

/// What to do about it; `LEVEL` stands for the names of the dimensions.
fn state_help(op: Operation, needs: StateWord, found: StateWord) -> Option<&'static str> {
    use StateWord::{All, Own, Partial};
    Some(match (needs, found) {
        (Own, All) if matches!(op, Operation::AllGather | Operation::AllGatherV) => {
            "every rank already holds all of LEVEL: remove this stage, or name another level"
        }
        (Own, Partial) => {
            "reduce LEVEL first: put `reducescatter.TEMPLATE@LEVEL` before this stage"
        }
        (Partial, Own) => {
            "there is nothing left to add along LEVEL: remove this stage, or name another level"
        }
        (Partial, All) => {
            "LEVEL is complete on every rank: reduce it before it is gathered, not after"
        }
        _ => return None,
    })
}

/// What no stage did to a dimension that ends as it began.
fn missing_verb(found: StateWord, expected: StateWord) -> &'static str {
    use StateWord::{All, Own, Partial, Root, Src};
    match (found, expected) {
        (Own, All | Root) => "gathered",
        (Partial, _) => "reduced",
        (Root, All) => "broadcast",
        (Root, Own) => "scattered",
        (Src, _) => "exchanged",
        _ => "changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_state_has_its_code() {
        use StateWord::{All, Own, Partial, Root};
        assert_eq!(state_code(Operation::AllGather, Own, All), codes::E0303);
        assert_eq!(state_code(Operation::Gather, Own, All), codes::E0301);
        assert_eq!(state_code(Operation::AllGather, Own, Partial), codes::E0305);
        assert_eq!(
            state_code(Operation::ReduceScatter, Partial, Own),
            codes::E0306
        );
        assert_eq!(state_code(Operation::AllReduce, Partial, All), codes::E0307);
        assert_eq!(state_code(Operation::Broadcast, Root, All), codes::E0301);
    }
}
