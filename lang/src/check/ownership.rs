//! Runs the ownership contract over a tree at every depth that its algorithm admits.

use super::context::ModuleChecker;
use super::facts::Depth;
use super::guard::Truth;
use super::instantiate::{FlattenError, Instance, MAX_DEPTH, flatten_at};
use super::topologies::CheckedTopology;
use crate::contract::{Context, check_tree, explain};
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::library::{Clause, FlatTree, LevelRef, NodeId, Tree, TreeIx};
use crate::source::Place;
use coll_grammar::words::Operation;
use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::FxHashMap;

/// Something found about a tree.
pub(super) struct Finding {
    pub(super) diagnostic: Diagnostic,
    /// The call of the named tree in which it shows, if it does.
    pub(super) call: Option<Place>,
}

/// Findings of several depths. Those that have the same code and place are one.
#[derive(Default)]
struct Findings {
    checked: Vec<u32>,
    found: IndexMap<Key, (Finding, Vec<u32>)>,
}

/// Code, place, and how many others with these come before it at the same depth.
type Key = (Code, Place, usize);

/// A node says at most so much at one depth, however often it is repeated by loops.
const MOST_OF_A_NODE: u32 = 4;

impl<'c> ModuleChecker<'c, '_> {
    pub(super) fn check_ownership(
        &mut self,
        algorithm: Place,
        op: Operation,
        requires: &[Clause],
        tree: &Tree,
        topology: &'c CheckedTopology,
    ) -> Vec<Finding> {
        let mut findings = Findings::default();
        let admitted = |instance: &&Instance| {
            let depth = Depth(instance.depth);
            requires
                .iter()
                .all(|clause| clause.guard.possible(&depth) != Truth::No)
        };
        let mut check = |instance: &Instance| {
            findings.checked.push(instance.depth);
            let found = match flatten_at(tree, instance) {
                Ok(flat) => self.broken_rules(algorithm, op, &flat),
                Err(error) => vec![self.does_not_fit(&error, topology, instance)],
            };
            findings.add(instance.depth, found);
        };
        topology
            .instances
            .iter()
            .filter(admitted)
            .for_each(&mut check);
        if !topology.instances.iter().any(|i| admitted(&i)) {
            // Perhaps it is for deeper clusters than those that are checked otherwise.
            let deeper = deeper_instances(topology);
            deeper.iter().filter(admitted).for_each(&mut check);
        }
        match findings.checked.is_empty() {
            true => never_runs(requires, topology),
            false => findings.finish(),
        }
    }

    fn broken_rules(&self, algorithm: Place, op: Operation, flat: &FlatTree) -> Vec<Finding> {
        let trace = check_tree(flat, op);
        if trace.problems.is_empty() {
            return Vec::new();
        }
        let (cx, nodes) = (self.cx, &self.nodes);
        let source = |ix: TreeIx| nodes[flat.node(ix).id.index()];
        let context = Context {
            tree: flat,
            op,
            algorithm,
            place: &|ix| source(ix).place,
            template: &|id| cx.templates[id.index()].declared.name.to_string(),
            text: &|place| cx.workspace.sources.text(place).to_owned(),
        };
        let mut said: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut worth_saying = |node: TreeIx| {
            let times = said.entry(flat.node(node).id).or_default();
            *times += 1;
            *times <= MOST_OF_A_NODE
        };
        trace
            .problems
            .iter()
            .filter(|problem| worth_saying(problem.node))
            .map(|problem| Finding {
                diagnostic: explain(problem, &context),
                call: source(problem.node).call,
            })
            .collect()
    }

    fn does_not_fit(
        &self,
        error: &FlattenError,
        topology: &CheckedTopology,
        instance: &Instance,
    ) -> Finding {
        let at = |node: NodeId| self.nodes[node.index()];
        let name = &topology.topology.declared.name;
        match error {
            FlattenError::NoLevel { node, level } => {
                let level = match level {
                    LevelRef::Member { family, net } => {
                        format!("{}{net}", topology.topology.levels[*family as usize].name)
                    }
                    _ => "the level".to_owned(),
                };
                let last = &instance.levels[instance.levels.len() - 1].name;
                let message = format!(
                    "`{name}` has no level `{level}` on clusters with {}",
                    layers(instance.depth)
                );
                Finding {
                    diagnostic: Diagnostic::new(codes::E0401, at(*node).place, message)
                        .note(format!("the last level there is `{last}`"))
                        .help(
                            "use `top` and loops over levels, or require the number of layers that \
                             this tree is for, such as `require nets == 2;`",
                        ),
                    call: at(*node).call,
                }
            }
            FlattenError::TooLarge { node } => Finding {
                diagnostic: Diagnostic::new(codes::E1003, at(*node).place, error.to_string()),
                call: at(*node).call,
            },
            FlattenError::Unfit(_) => Finding {
                diagnostic: Diagnostic::new(
                    codes::E0403,
                    topology.topology.declared.place,
                    error.to_string(),
                ),
                call: None,
            },
        }
    }
}

impl Findings {
    fn add(&mut self, depth: u32, found: Vec<Finding>) {
        let mut said: FxHashMap<(Code, Place), Vec<String>> = FxHashMap::default();
        for finding in found {
            let (code, place) = (finding.diagnostic.code, finding.diagnostic.primary.place);
            let here = said.entry((code, place)).or_default();
            if here.contains(&finding.diagnostic.message) {
                continue;
            }
            here.push(finding.diagnostic.message.clone());
            let key = (code, place, here.len());
            match self.found.entry(key) {
                Entry::Occupied(mut known) => known.get_mut().1.push(depth),
                Entry::Vacant(new) => {
                    new.insert((finding, vec![depth]));
                }
            }
        }
    }

    /// All findings; those that do not show at every depth say at which they do.
    fn finish(self) -> Vec<Finding> {
        let Self { checked, found } = self;
        found
            .into_iter()
            .map(|(_, (mut finding, depths))| {
                let says_so = finding.diagnostic.code == codes::E0401;
                if depths != checked && !says_so {
                    let layers = describe(&depths, &checked);
                    let note = format!("this shows on clusters with {layers}");
                    finding.diagnostic.notes.push(note);
                }
                finding
            })
            .collect()
    }
}

/// `2 layers`, `3 layers and more`, `1, 2 or 4 layers`.
fn describe(depths: &[u32], checked: &[u32]) -> String {
    let first = depths.first().copied().unwrap_or(0);
    let to_the_end = depths.len() > 1 && checked.ends_with(depths);
    if to_the_end {
        return format!("{} and more", layers(first));
    }
    match depths {
        [.., last] if depths.len() > 1 => {
            let list: Vec<String> = depths[..depths.len() - 1]
                .iter()
                .map(u32::to_string)
                .collect();
            format!("{} or {}", list.join(", "), layers(*last))
        }
        _ => layers(first),
    }
}

fn layers(count: u32) -> String {
    super::compile::counted(count as usize, "layer")
}

/// The levels of a topology at those depths that are not checked as a rule.
fn deeper_instances(topology: &CheckedTopology) -> Vec<Instance> {
    let known = topology.instances.last().map_or(MAX_DEPTH, |i| i.depth);
    (known + 1..=MAX_DEPTH)
        .filter_map(|depth| Instance::new(&topology.topology, depth).ok())
        .filter(Instance::is_covered)
        .collect()
}

/// An algorithm whose requirements exclude every depth that its topology matches.
fn never_runs(requires: &[Clause], topology: &CheckedTopology) -> Vec<Finding> {
    let admits = || topology.instances.iter().map(|i| i.depth);
    let excludes =
        |clause: &&Clause| admits().any(|depth| clause.guard.possible(&Depth(depth)) == Truth::No);
    let Some(clause) = requires.iter().find(excludes) else {
        return Vec::new();
    };
    let counts: Vec<String> = admits().map(|depth| depth.to_string()).collect();
    let diagnostic = Diagnostic::new(
        codes::E0409,
        clause.place,
        "this requirement holds on no cluster that the topology matches",
    )
    .label(
        topology.topology.declared.place,
        format!("matches clusters of {} layers", counts.join(", ")),
    )
    .help("remove the requirement, or run on another topology");
    vec![Finding {
        diagnostic,
        call: None,
    }]
}
