//! Derives the contract after every node, and says where a rule is broken.

use super::group::FROM_START;
use super::operation::can_be_stage;
use super::{Contract, Dims, Group, States, end_states, start_states, transition};
use crate::library::{Children, FlatKind, FlatTree, TreeIx};
use coll_grammar::words::{Operation, StateWord};
use smallvec::SmallVec;

/// The contracts along one tree.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Before each node, by position in the tree; none where nothing could be derived.
    pub before: Vec<Option<Contract>>,
    /// After each node.
    pub after: Vec<Option<Contract>>,
    /// Broken rules, in the order of the tree.
    pub problems: Vec<Problem>,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The node at which it shows; the root for what is wrong at the end.
    pub node: TreeIx,
    /// What it is.
    pub kind: ProblemKind,
}

/// The rules that can be broken. Dimensions are those of the tree's levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A leaf needs `needs` along its level and finds `found` along `dims`.
    State {
        /// The leaf's operation.
        op: Operation,
        /// What it needs.
        needs: StateWord,
        /// What it finds.
        found: StateWord,
        /// Where it finds it.
        dims: Dims,
        /// The leaf that left it so; none if it has been so from the start.
        since: Option<TreeIx>,
        /// All states before the leaf.
        before: States,
    },
    /// A leaf or omnipipe takes one group and finds several.
    ManyGroups(Contract),
    /// `groups` groups come to a parallel of another number of children, and there is more than one.
    Deal {
        /// What comes in.
        groups: Contract,
        /// How many children there are.
        children: usize,
    },
    /// A parallel whose groups are dealt out has weights.
    WeightsOfDealt(Contract),
    /// A node has no children.
    NoChildren,
    /// An omnipipe has not two children.
    AxisCount(usize),
    /// An axis of an omnipipe is neither a leaf, a sequence nor an omnipipe.
    AxisForm(TreeIx),
    /// The axes share these dimensions.
    AxesOverlap(Dims),
    /// The axes have different operations.
    AxesDiffer {
        /// A leaf.
        first: TreeIx,
        /// A leaf with another operation.
        second: TreeIx,
    },
    /// The operation of a leaf cannot be a stage of the algorithm.
    Stage(Operation),
    /// An assertion does not hold in the group with number `group`.
    Assertion {
        /// What is asserted.
        expected: StateWord,
        /// Of these dimensions.
        dims: Dims,
        /// What is there along the first of them.
        found: StateWord,
        /// The group, from 0.
        group: usize,
        /// What is known there.
        contract: Contract,
    },
    /// The algorithm ends with several groups.
    GroupsAtEnd(Contract),
    /// The algorithm ends in another state than its operation promises.
    End {
        /// What it promises.
        expected: StateWord,
        /// What is there.
        found: StateWord,
        /// Where.
        dims: Dims,
        /// The leaf that left it so; none if it has been so from the start.
        since: Option<TreeIx>,
    },
    /// The algorithm ends with more than its operation promises (`all` where it says `root`).
    MoreThanAsked(Dims),
    /// A parallel or omnipipe has one child.
    OneChild,
}

/// Checks the tree of an algorithm of operation `op` by the rules of the language reference,
/// chapter *Ownership*. Everything derived is in the result even where a rule is broken; what follows
/// from one broken rule is not reported as another.
pub fn check_tree(tree: &FlatTree, op: Operation) -> Trace {
    let (Some(start), Some(end)) = (start_states(op, tree.dims), end_states(op, tree.dims)) else {
        return Trace::default();
    };
    let mut checker = Checker {
        tree,
        op,
        trace: Trace {
            before: vec![None; tree.nodes.len()],
            after: vec![None; tree.nodes.len()],
            problems: Vec::new(),
        },
    };
    let contract = checker.node(FlatTree::ROOT, Contract::one(Group::whole(start)));
    checker.end(&contract, end);
    checker.trace
}

struct Checker<'a> {
    tree: &'a FlatTree,
    op: Operation,
    trace: Trace,
}

impl Checker<'_> {
    fn report(&mut self, node: TreeIx, kind: ProblemKind) {
        self.trace.problems.push(Problem { node, kind });
    }

    /// The contract after a node, from the one before it.
    fn node(&mut self, ix: TreeIx, before: Contract) -> Contract {
        self.trace.before[ix.index()] = Some(before.clone());
        let tree = self.tree;
        let after = match &tree.node(ix).kind {
            FlatKind::Leaf { op, level, .. } => {
                let dims = tree.levels[*level as usize].dims;
                self.leaf(ix, *op, dims, before)
            }
            FlatKind::Sequence(children) => {
                let children = tree.children(children);
                match children {
                    [] => self.no_children(ix, before),
                    _ => children
                        .iter()
                        .fold(before, |contract, &c| self.node(c, contract)),
                }
            }
            FlatKind::Parallel { children, weights } => {
                self.parallel(ix, children, weights.is_some(), before)
            }
            FlatKind::OmniPipe { children, .. } => self.omnipipe(ix, children, before),
            FlatKind::Assert(states) => {
                self.assertion(ix, states, &before);
                before
            }
        };
        self.trace.after[ix.index()] = Some(after.clone());
        after
    }

    /// Reports an empty node; nothing can be said of what follows.
    fn no_children(&mut self, ix: TreeIx, before: Contract) -> Contract {
        self.report(ix, ProblemKind::NoChildren);
        Contract::one(poisoned(before, Dims::first(self.tree.dims)))
    }

    fn leaf(&mut self, ix: TreeIx, op: Operation, dims: Dims, before: Contract) -> Contract {
        if !can_be_stage(op, self.op) {
            self.report(ix, ProblemKind::Stage(op));
            return Contract::one(poisoned(before, Dims::first(self.tree.dims)));
        }
        let mut group = self.one_group(ix, before);
        let Some(step) = transition(op) else {
            return Contract::one(group);
        };
        self.check_needs(ix, op, dims, &group);
        for d in dims.iter() {
            if group.states.get(d) != step.leaves {
                group.since[d as usize] = ix.0;
            }
            if group.states.get(d) != step.needs {
                group.poisoned = group.poisoned.or(Dims::only(d));
            }
        }
        group.states = group.states.with(dims, step.leaves);
        Contract::one(group)
    }

    /// Reports, once for each state and its origin, the dimensions that are not as `op` needs them.
    fn check_needs(&mut self, ix: TreeIx, op: Operation, dims: Dims, group: &Group) {
        let Some(step) = transition(op) else { return };
        let wrong = dims
            .without(group.poisoned)
            .without(group.states.dims_in(step.needs));
        let mut rest = wrong;
        while let Some(d) = rest.iter().next() {
            let (found, since) = (group.states.get(d), group.since[d as usize]);
            let alike = rest
                .iter()
                .filter(|&e| group.states.get(e) == found && group.since[e as usize] == since)
                .fold(Dims::EMPTY, |s, e| s.or(Dims::only(e)));
            rest = rest.without(alike);
            self.report(
                ix,
                ProblemKind::State {
                    op,
                    needs: step.needs,
                    found,
                    dims: alike,
                    since: group.changed_by(d),
                    before: group.states,
                },
            );
        }
    }

    /// The one group that a leaf or omnipipe takes.
    fn one_group(&mut self, ix: TreeIx, before: Contract) -> Group {
        match before.single() {
            Some(group) => group.clone(),
            None => {
                self.report(ix, ProblemKind::ManyGroups(before.clone()));
                let differ = differing(&before, self.tree.dims);
                poisoned(before, differ)
            }
        }
    }

    fn parallel(
        &mut self,
        ix: TreeIx,
        children: &Children,
        weighted: bool,
        before: Contract,
    ) -> Contract {
        let tree = self.tree;
        let children = tree.children(children);
        let incoming: Vec<Contract> = match (children.len(), before.groups.len()) {
            (0, _) => return self.no_children(ix, before),
            (1, _) => {
                self.report(ix, ProblemKind::OneChild);
                return self.node(children[0], before);
            }
            (n, 1) => {
                let group = &before.groups[0];
                (0..n)
                    .map(|i| {
                        let share = group.share.cut(ix, i);
                        Contract::one(Group {
                            share,
                            ..group.clone()
                        })
                    })
                    .collect()
            }
            (n, groups) if n == groups => {
                if weighted {
                    self.report(ix, ProblemKind::WeightsOfDealt(before.clone()));
                }
                before.groups.iter().cloned().map(Contract::one).collect()
            }
            (n, _) => {
                let kind = ProblemKind::Deal {
                    groups: before.clone(),
                    children: n,
                };
                self.report(ix, kind);
                let group = poisoned(before, Dims::first(tree.dims));
                vec![Contract::one(group); n]
            }
        };
        let outgoing: SmallVec<[Contract; 4]> = children
            .iter()
            .zip(incoming)
            .map(|(&child, c)| self.node(child, c))
            .collect();
        merge(outgoing)
    }

    fn omnipipe(&mut self, ix: TreeIx, children: &Children, before: Contract) -> Contract {
        let tree = self.tree;
        let children = tree.children(children);
        if children.is_empty() {
            return self.no_children(ix, before);
        }
        let group = self.one_group(ix, before);
        if children.len() != 2 {
            self.report(ix, ProblemKind::AxisCount(children.len()));
        }
        let axes: SmallVec<[Axis; 2]> = children.iter().map(|&child| self.axis(child)).collect();
        if let [x, y] = axes.as_slice() {
            self.check_axes(ix, x, y);
        }
        let mut result = group.clone();
        for (axis, &child) in axes.iter().zip(children) {
            let after = self.node(child, Contract::one(group.clone()));
            let Some(after) = after.single() else {
                result.poisoned = result.poisoned.or(axis.dims);
                continue;
            };
            for d in axis.dims.iter() {
                result.states.set(d, after.states.get(d));
                result.since[d as usize] = after.since[d as usize];
            }
            result.poisoned = result.poisoned.or(after.poisoned);
        }
        Contract::one(result)
    }

    fn check_axes(&mut self, ix: TreeIx, x: &Axis, y: &Axis) {
        let shared = x.dims.and(y.dims);
        if !shared.is_empty() {
            self.report(ix, ProblemKind::AxesOverlap(shared));
        }
        let Some(&(first, op)) = x.leaves.first() else {
            return;
        };
        if let Some(&(second, _)) = x.leaves.iter().chain(&y.leaves).find(|leaf| leaf.1 != op) {
            self.report(ix, ProblemKind::AxesDiffer { first, second });
        }
    }

    /// The leaves and dimensions of an axis; reports nodes that cannot stand in one.
    fn axis(&mut self, ix: TreeIx) -> Axis {
        let mut axis = Axis {
            dims: Dims::EMPTY,
            leaves: SmallVec::new(),
        };
        self.collect_axis(ix, &mut axis);
        axis
    }

    fn collect_axis(&mut self, ix: TreeIx, axis: &mut Axis) {
        let tree = self.tree;
        match &tree.node(ix).kind {
            FlatKind::Leaf { op, level, .. } => {
                axis.dims = axis.dims.or(tree.levels[*level as usize].dims);
                axis.leaves.push((ix, *op));
            }
            FlatKind::Sequence(children) | FlatKind::OmniPipe { children, .. } => {
                for &child in tree.children(children) {
                    self.collect_axis(child, axis);
                }
            }
            FlatKind::Parallel { children, .. } => {
                self.report(ix, ProblemKind::AxisForm(ix));
                for &child in tree.children(children) {
                    self.collect_axis(child, axis);
                }
            }
            FlatKind::Assert(_) => {}
        }
    }

    fn assertion(&mut self, ix: TreeIx, asserted: &[(StateWord, Dims)], contract: &Contract) {
        for &(expected, dims) in asserted {
            for (number, group) in contract.groups.iter().enumerate() {
                let wrong = dims
                    .without(group.poisoned)
                    .without(group.states.dims_in(expected));
                let Some(d) = wrong.iter().next() else {
                    continue;
                };
                let kind = ProblemKind::Assertion {
                    expected,
                    dims: wrong,
                    found: group.states.get(d),
                    group: number,
                    contract: contract.clone(),
                };
                self.report(ix, kind);
                break;
            }
        }
    }

    /// Checks what the whole algorithm leaves.
    fn end(&mut self, contract: &Contract, end: States) {
        let known = contract
            .groups
            .iter()
            .fold(Dims::EMPTY, |s, g| s.or(g.poisoned));
        if !differing(contract, self.tree.dims)
            .without(known)
            .is_empty()
        {
            return self.report(FlatTree::ROOT, ProblemKind::GroupsAtEnd(contract.clone()));
        }
        let group = poisoned(contract.clone(), Dims::EMPTY);
        let mut more = Dims::EMPTY;
        let mut wrong: SmallVec<[(StateWord, u32, Dims); 4]> = SmallVec::new();
        for d in Dims::first(self.tree.dims).without(group.poisoned).iter() {
            let (found, expected) = (group.states.get(d), end.get(d));
            if found == expected {
                continue;
            }
            if (found, expected) == (StateWord::All, StateWord::Root) {
                more = more.or(Dims::only(d));
                continue;
            }
            let since = group.since[d as usize];
            match wrong.iter_mut().find(|w| (w.0, w.1) == (found, since)) {
                Some(known) => known.2 = known.2.or(Dims::only(d)),
                None => wrong.push((found, since, Dims::only(d))),
            }
        }
        for (found, since, dims) in wrong {
            let expected = end.get(0);
            let since = (since != FROM_START).then_some(TreeIx(since));
            self.report(
                FlatTree::ROOT,
                ProblemKind::End {
                    expected,
                    found,
                    dims,
                    since,
                },
            );
        }
        if !more.is_empty() {
            self.report(FlatTree::ROOT, ProblemKind::MoreThanAsked(more));
        }
    }
}

/// One axis of an omnipipe.
struct Axis {
    dims: Dims,
    leaves: SmallVec<[(TreeIx, Operation); 4]>,
}

/// One group in place of several, with `dims` no longer checked.
fn poisoned(contract: Contract, dims: Dims) -> Group {
    let mut groups = contract.groups.into_iter();
    let mut first = groups.next().expect("a contract has at least one group");
    for group in groups {
        first.share = first.share.join(&group.share);
        first.poisoned = first.poisoned.or(group.poisoned);
    }
    first.poisoned = first.poisoned.or(dims);
    first
}

/// The dimensions along which the groups differ.
fn differing(contract: &Contract, dims: u32) -> Dims {
    let first = contract.groups[0].states;
    (0..dims)
        .filter(|&d| {
            contract
                .groups
                .iter()
                .any(|g| g.states.get(d) != first.get(d))
        })
        .fold(Dims::EMPTY, |s, d| s.or(Dims::only(d)))
}

/// What a parallel leaves: one group if every child leaves one and all are alike, else all of them.
fn merge(outgoing: SmallVec<[Contract; 4]>) -> Contract {
    let alike = outgoing.iter().all(|c| {
        c.single()
            .is_some_and(|g| g.states == outgoing[0].groups[0].states)
    });
    let groups = outgoing.into_iter().flat_map(|c| c.groups);
    if !alike {
        return Contract {
            groups: groups.collect(),
        };
    }
    let merged = groups.reduce(|mut a, b| {
        a.share = a.share.join(&b.share);
        a.poisoned = a.poisoned.or(b.poisoned);
        a
    });
    Contract::one(merged.expect("a parallel that reaches this has children"))
}
