//! `collc show ALGORITHM`

use crate::cli::{Format, ShowArgs};
use crate::output::{Failure, Outcome, Output};
use crate::session::Session;
use coll_cluster::{Cluster, Rank};
use coll_executor::{Executor, Prepared, Request, prepare};
use coll_lang::check::instantiate::{depths, flatten};
use coll_lang::contract::{Contract, Trace, check_tree, describe_contract};
use coll_lang::library::{
    Algorithm, AlgorithmBody, AlgorithmId, FlatKind, FlatTree, Library, TreeIx, Weight,
};
use coll_lang::words::{DType, ReduceOp};
use coll_planner::NativePlanners;
use serde_json::{Value, json};

/// Rank lists longer than this are shortened for people.
const SHOWN_RANKS: usize = 16;

pub(crate) fn run(args: &ShowArgs, output: &mut Output) -> Outcome {
    output.accept(&[Format::Human, Format::Json])?;
    let arguments: Vec<&str> = std::iter::once(args.algorithm.as_str())
        .chain(args.on.as_deref())
        .collect();
    let session = Session::for_arguments(&arguments, &args.libraries)?;
    let id = session.algorithm(&args.algorithm, output)?;
    let algorithm = &session.library.algorithms[id.index()];
    let AlgorithmBody::Tree(_) = &algorithm.body else {
        output.line(format_args!(
            "{} is native: it has no tree",
            algorithm.declared.name
        ));
        return Ok(());
    };
    let shown = match &args.on {
        None => Shown::symbolic(&session.library, id)?,
        Some(on) => {
            let cluster = session.cluster(on, output)?;
            Shown::on_cluster(&session, id, on, cluster, output)?
        }
    };
    match output.format() {
        Format::Json => output.json(&shown.to_json()),
        _ => shown.print(output),
    }
    Ok(())
}

/// An algorithm's tree with the contract along it.
struct Shown<'a> {
    library: &'a Library,
    algorithm: &'a Algorithm,
    tree: FlatTree,
    trace: Trace,
    /// Layers of the cluster that the tree is shown for.
    nets: u32,
    on: Option<OnCluster>,
}

/// What a cluster adds.
struct OnCluster {
    name: String,
    prepared: Prepared,
    /// For each leaf in order: the owners of what rank 0 holds before and after it, a list a group.
    lists: Vec<[Vec<Vec<Rank>>; 2]>,
}

impl<'a> Shown<'a> {
    fn symbolic(library: &'a Library, id: AlgorithmId) -> Result<Self, Failure> {
        let algorithm = &library.algorithms[id.index()];
        let (AlgorithmBody::Tree(tree), Some(topology)) = (&algorithm.body, algorithm.topology)
        else {
            return Err(Failure::Input("a native algorithm has no tree".to_owned()));
        };
        let topology = &library.topologies[topology.index()];
        let nets = depths(topology)
            .last()
            .copied()
            .ok_or_else(|| Failure::Input("the topology admits no cluster".to_owned()))?;
        let tree = flatten(tree, topology, nets)
            .map_err(|error| Failure::Input(format!("the tree cannot be laid out: {error}")))?;
        let trace = check_tree(&tree, algorithm.op);
        Ok(Self {
            library,
            algorithm,
            tree,
            trace,
            nets,
            on: None,
        })
    }

    fn on_cluster(
        session: &'a Session,
        id: AlgorithmId,
        on: &str,
        cluster: Cluster,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        let library = &session.library;
        let algorithm = &library.algorithms[id.index()];
        let prepared = prepare(library, id, &cluster, None)
            .map_err(|e| session.refuse(e.diagnostic(library, id, on), output))?;
        let lists = rank_lists(library, algorithm, &prepared)
            .map_err(|error| Failure::Input(format!("{}: {error}", algorithm.declared.name)))?;
        let tree = prepared.tree.clone();
        let trace = check_tree(&tree, algorithm.op);
        let on = Some(OnCluster {
            name: on.to_owned(),
            prepared,
            lists,
        });
        Ok(Self {
            library,
            algorithm,
            tree,
            trace,
            nets: cluster.nets(),
            on,
        })
    }

    fn leaves(&self) -> impl Iterator<Item = TreeIx> + '_ {
        (0..self.tree.nodes.len() as u32)
            .map(TreeIx)
            .filter(|&ix| matches!(self.tree.node(ix).kind, FlatKind::Leaf { .. }))
    }

    fn contract(&self, at: &[Option<Contract>], ix: TreeIx) -> String {
        at[ix.index()]
            .as_ref()
            .map_or_else(String::new, |c| describe_contract(c, &self.tree.levels))
    }

    fn stage(&self, ix: TreeIx) -> (String, &str, &str) {
        match &self.tree.node(ix).kind {
            FlatKind::Leaf {
                op,
                template,
                level,
                ..
            } => {
                let template = self.library.templates[template.index()]
                    .declared
                    .name
                    .as_str();
                let level = self.tree.levels[*level as usize].name.as_str();
                let name = if *op == self.algorithm.op {
                    format!("{template}@{level}")
                } else {
                    format!("{op}.{template}@{level}")
                };
                (name, level, template)
            }
            _ => (String::new(), "", ""),
        }
    }

    fn print(&self, output: &mut Output) {
        let algorithm = self.algorithm;
        let topology = algorithm.topology.map_or("", |t| {
            self.library.topologies[t.index()].declared.name.as_str()
        });
        let engines: Vec<&str> = algorithm.engines.iter().map(|e| e.as_str()).collect();
        output.line(format_args!(
            "{} : {} on {topology} using {}",
            algorithm.declared.name,
            algorithm.op,
            engines.join(", ")
        ));
        for line in algorithm
            .declared
            .docs
            .as_deref()
            .unwrap_or_default()
            .lines()
        {
            output.line(format_args!("  {line}"));
        }
        output.line("");
        match &self.on {
            None => output.line(format_args!("contract, for clusters of {} nets", self.nets)),
            Some(on) => self.print_levels(on, output),
        }
        output.line("");
        output.line(format_args!(
            "  start: {}",
            self.contract(&self.trace.before, FlatTree::ROOT)
        ));
        self.print_node(FlatTree::ROOT, 1, output);
        if let Some(on) = &self.on {
            self.print_lists(on, output);
        }
    }

    fn print_levels(&self, on: &OnCluster, output: &mut Output) {
        let matched = &on.prepared.matched;
        output.line(format_args!("on {}: {} ranks", on.name, matched.ranks()));
        for (number, level) in (0..).zip(matched.levels()) {
            let members: Vec<Rank> = matched
                .members(number, Rank(0))
                .take(SHOWN_RANKS + 1)
                .collect();
            output.line(format_args!(
                "  level {:<6} {:>6} ranks, with rank 0: {}",
                level.name,
                level.size,
                ranks_text(&members)
            ));
        }
    }

    fn print_node(&self, ix: TreeIx, depth: usize, output: &mut Output) {
        let indent = "  ".repeat(depth);
        let (head, children) = match &self.tree.node(ix).kind {
            FlatKind::Leaf { .. } => {
                let after = self.contract(&self.trace.after, ix);
                let name = format!("{indent}{}", self.stage(ix).0);
                output.line(format_args!("{name:<38} -> {after}"));
                return;
            }
            FlatKind::Assert(_) => {
                output.line(format_args!("{indent}assert"));
                return;
            }
            FlatKind::Sequence(children) => ("sequence".to_owned(), children),
            FlatKind::Parallel { children, weights } => (
                format!("parallel{}", weights_text(weights.as_deref())),
                children,
            ),
            FlatKind::OmniPipe { children, weights } => (
                format!("omnipipe{}", weights_text(weights.as_deref())),
                children,
            ),
        };
        output.line(format_args!("{indent}{head}"));
        for &child in self.tree.children(children) {
            self.print_node(child, depth + 1, output);
        }
        if !matches!(self.tree.node(ix).kind, FlatKind::Sequence(_)) {
            let after = self.contract(&self.trace.after, ix);
            output.line(format_args!(
                "{:<38} -> {after}",
                format!("{indent}end of {head}")
            ));
        }
    }

    fn print_lists(&self, on: &OnCluster, output: &mut Output) {
        output.line("");
        output.line("owners of the slots that rank 0 holds after each stage");
        for (ix, [_, after]) in self.leaves().zip(&on.lists) {
            let groups: Vec<String> = after.iter().map(|ranks| ranks_text(ranks)).collect();
            output.line(format_args!(
                "  {:<36} {}",
                self.stage(ix).0,
                groups.join("  ")
            ));
        }
    }

    fn to_json(&self) -> Value {
        let stages: Vec<Value> = self
            .leaves()
            .enumerate()
            .map(|(i, ix)| {
                let (node, level, template) = self.stage(ix);
                let mut stage = json!({
                    "node": node,
                    "level": level,
                    "template": template,
                    "contract_before": self.contract(&self.trace.before, ix),
                    "contract_after": self.contract(&self.trace.after, ix),
                });
                if let Some(on) = &self.on {
                    let numbers = |groups: &[Vec<Rank>]| -> Vec<Vec<u32>> {
                        groups
                            .iter()
                            .map(|g| g.iter().map(|r| r.0).collect())
                            .collect()
                    };
                    stage["rank_lists"] = json!({
                        "rank": 0,
                        "before": numbers(&on.lists[i][0]),
                        "after": numbers(&on.lists[i][1]),
                    });
                }
                stage
            })
            .collect();
        let mut object = json!({
            "schema": "collc/1",
            "command": "show",
            "algorithm": self.algorithm.declared.name.as_str(),
            "op": self.algorithm.op.as_str(),
            "tree": self.tree_json(FlatTree::ROOT),
            "stages": stages,
        });
        if let Some(on) = &self.on {
            let levels: Vec<Value> = (0..)
                .zip(on.prepared.matched.levels())
                .map(|(i, l)| {
                    let members: Vec<u32> = on
                        .prepared
                        .matched
                        .members(i, Rank(0))
                        .map(|r| r.0)
                        .collect();
                    json!({ "name": l.name.as_str(), "ranks": l.size, "with_rank_0": members })
                })
                .collect();
            object["on"] = json!({
                "cluster": on.name,
                "ranks": on.prepared.matched.ranks(),
                "levels": levels,
            });
        }
        object
    }

    fn tree_json(&self, ix: TreeIx) -> Value {
        let list = |children| -> Vec<Value> {
            self.tree
                .children(children)
                .iter()
                .map(|&c| self.tree_json(c))
                .collect()
        };
        match &self.tree.node(ix).kind {
            FlatKind::Leaf { op, .. } => {
                let (_, level, template) = self.stage(ix);
                json!({ "leaf": { "op": op.as_str(), "template": template, "level": level } })
            }
            FlatKind::Sequence(children) => json!({ "sequence": list(children) }),
            FlatKind::Parallel { children, weights } => {
                json!({ "parallel": list(children), "weights": weights_json(weights.as_deref()) })
            }
            FlatKind::OmniPipe { children, weights } => {
                json!({ "omnipipe": list(children), "weights": weights_json(weights.as_deref()) })
            }
            FlatKind::Assert(_) => json!({ "assert": true }),
        }
    }
}

/// The owners of what rank 0 holds before and after each leaf, as the executor enumerates them.
fn rank_lists(
    library: &Library,
    algorithm: &Algorithm,
    prepared: &Prepared,
) -> Result<Vec<[Vec<Vec<Rank>>; 2]>, coll_executor::ExecError> {
    let planners = NativePlanners::of(library);
    let reduces = coll_lang::check::facts::reduces(algorithm.op);
    let request = Request {
        op: algorithm.op,
        count: 0,
        dtype: DType::I8,
        reduce: reduces.then_some(ReduceOp::Sum),
        root: None,
        ccl_bytes: u64::MAX,
        loop_bytes: None,
    };
    let tree = &prepared.tree;
    let executor = Executor::new(tree, &prepared.matched, &planners, &request)?;
    let leaves = (0..tree.nodes.len() as u32)
        .map(TreeIx)
        .filter(|&ix| matches!(tree.node(ix).kind, FlatKind::Leaf { .. }));
    Ok(leaves
        .map(|ix| {
            [
                executor.ranks_for_input_data(ix, Rank(0)),
                executor.ranks_for_output_data(ix, Rank(0)),
            ]
        })
        .collect())
}

/// `[0, 4, 8, 12]`, shortened.
fn ranks_text(ranks: &[Rank]) -> String {
    let mut shown: Vec<String> = ranks
        .iter()
        .take(SHOWN_RANKS)
        .map(|r| r.0.to_string())
        .collect();
    if ranks.len() > SHOWN_RANKS {
        shown.push("…".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

fn weights_text(weights: Option<&[Weight]>) -> String {
    match weights {
        None => String::new(),
        Some(weights) => {
            let weights: Vec<String> = weights.iter().map(weight_text).collect();
            format!(" {}", weights.join(" : "))
        }
    }
}

fn weight_text(weight: &Weight) -> String {
    match weight {
        Weight::Known(quantity) => quantity.value.to_string(),
        Weight::OfCluster(_) => "(of the cluster)".to_owned(),
    }
}

fn weights_json(weights: Option<&[Weight]>) -> Value {
    json!(weights.map(|w| w.iter().map(weight_text).collect::<Vec<_>>()))
}
