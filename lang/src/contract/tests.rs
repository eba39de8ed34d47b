//! Trees by hand, and what the rules make of them.

use super::*;
use crate::library::{
    Children, FlatKind, FlatLevel, FlatNode, FlatTree, NodeId, TemplateId, TreeIx,
};
use coll_grammar::words::{Operation, StateWord};

/// A tree as nested data.
pub(crate) enum T {
    Leaf(Operation, u32),
    Seq(Vec<T>),
    Par(Vec<T>),
    Weighted(Vec<T>),
    Omni(Vec<T>),
    Assert(StateWord, u32),
}

/// A flat tree over `dims` dimensions, level `k` joining dimension `k` alone.
pub(crate) fn flat(tree: &T, dims: u32) -> FlatTree {
    let levels = (0..dims)
        .map(|d| FlatLevel {
            name: format!("L{d}").into(),
            dims: Dims::only(d),
            via: None,
        })
        .collect();
    let mut flat = FlatTree {
        nodes: Vec::new(),
        children: Vec::new(),
        levels,
        dims,
    };
    add(tree, &mut flat);
    flat
}

fn add(tree: &T, flat: &mut FlatTree) -> TreeIx {
    let ix = TreeIx(flat.nodes.len() as u32);
    flat.nodes.push(FlatNode {
        id: NodeId(ix.0),
        kind: FlatKind::Assert(Vec::new()),
    });
    let kind = match tree {
        T::Leaf(op, level) => FlatKind::Leaf {
            op: *op,
            template: TemplateId(0),
            args: Vec::new(),
            level: *level,
        },
        T::Seq(trees) => FlatKind::Sequence(add_all(trees, flat)),
        T::Par(trees) => FlatKind::Parallel {
            children: add_all(trees, flat),
            weights: None,
        },
        T::Weighted(trees) => FlatKind::Parallel {
            children: add_all(trees, flat),
            weights: Some(Vec::new()),
        },
        T::Omni(trees) => FlatKind::OmniPipe {
            children: add_all(trees, flat),
            weights: None,
        },
        T::Assert(state, level) => FlatKind::Assert(vec![(*state, Dims::only(*level))]),
    };
    flat.nodes[ix.index()].kind = kind;
    ix
}

fn add_all(trees: &[T], flat: &mut FlatTree) -> Children {
    let nodes: Vec<TreeIx> = trees.iter().map(|t| add(t, flat)).collect();
    let start = flat.children.len() as u32;
    flat.children.extend(nodes);
    Children {
        start,
        end: flat.children.len() as u32,
    }
}

use Operation::{AllGather, AllReduce, Broadcast, Gather, ReduceScatter, Scatter};

fn ag(level: u32) -> T {
    T::Leaf(AllGather, level)
}

fn rs(level: u32) -> T {
    T::Leaf(ReduceScatter, level)
}

fn problems(tree: &T, dims: u32, op: Operation) -> Vec<Problem> {
    check_tree(&flat(tree, dims), op).problems
}

fn kinds(tree: &T, dims: u32, op: Operation) -> Vec<&'static str> {
    problems(tree, dims, op)
        .iter()
        .map(|p| match p.kind {
            ProblemKind::State { .. } => "state",
            ProblemKind::ManyGroups(_) => "many groups",
            ProblemKind::Deal { .. } => "deal",
            ProblemKind::WeightsOfDealt(_) => "weights of dealt",
            ProblemKind::NoChildren => "no children",
            ProblemKind::AxisCount(_) => "axis count",
            ProblemKind::AxisForm(_) => "axis form",
            ProblemKind::AxesOverlap(_) => "axes overlap",
            ProblemKind::AxesDiffer { .. } => "axes differ",
            ProblemKind::Stage(_) => "stage",
            ProblemKind::Assertion { .. } => "assertion",
            ProblemKind::GroupsAtEnd(_) => "groups at end",
            ProblemKind::End { .. } => "end",
            ProblemKind::MoreThanAsked(_) => "more than asked",
            ProblemKind::OneChild => "one child",
        })
        .collect()
}

#[test]
fn the_trees_of_the_rfc_are_right() {
    let four = T::Seq(vec![ag(3), ag(2), ag(1), ag(0)]);
    assert_eq!(kinds(&four, 4, AllGather), [""; 0]);
    let nested = T::Seq(vec![T::Par(vec![ag(0), ag(1)]), T::Par(vec![ag(1), ag(0)])]);
    assert_eq!(kinds(&nested, 2, AllGather), [""; 0]);
    let reduce = T::Seq(vec![rs(0), rs(1), ag(1), ag(0)]);
    assert_eq!(kinds(&reduce, 2, AllReduce), [""; 0]);
    let omni = T::Omni(vec![T::Omni(vec![ag(0), ag(1)]), ag(2)]);
    assert_eq!(kinds(&omni, 3, AllGather), [""; 0]);
    let broadcast = T::Seq(vec![T::Leaf(Scatter, 0), T::Leaf(Broadcast, 1), ag(0)]);
    assert_eq!(kinds(&broadcast, 2, Broadcast), [""; 0]);
}

#[test]
fn the_contract_after_each_stage_is_derived() {
    let tree = flat(&T::Seq(vec![ag(1), ag(0)]), 2);
    let trace = check_tree(&tree, AllGather);
    let first = trace.after[1].as_ref().unwrap();
    assert_eq!(describe_contract(first, &tree.levels), "L0: own, L1: all");
    let last = trace.after[0].as_ref().unwrap();
    assert_eq!(describe_contract(last, &tree.levels), "all everywhere");
}

#[test]
fn several_groups_go_to_a_parallel_only() {
    let leaf = T::Seq(vec![T::Par(vec![ag(0), ag(1)]), ag(0)]);
    assert_eq!(kinds(&leaf, 2, AllGather), ["many groups"]);
    let three = T::Seq(vec![
        T::Par(vec![ag(0), ag(1), ag(2)]),
        T::Par(vec![ag(1), ag(0)]),
    ]);
    assert_eq!(kinds(&three, 3, AllGather), ["deal"]);
    let weighted = T::Seq(vec![
        T::Par(vec![ag(0), ag(1)]),
        T::Weighted(vec![ag(1), ag(0)]),
    ]);
    assert_eq!(kinds(&weighted, 2, AllGather), ["weights of dealt"]);
    let end = T::Par(vec![ag(0), ag(1)]);
    assert_eq!(kinds(&end, 2, AllGather), ["groups at end"]);
}

#[test]
fn states_are_checked_along_each_dimension() {
    assert_eq!(kinds(&T::Seq(vec![ag(0), ag(0)]), 1, AllGather), ["state"]);
    assert_eq!(kinds(&T::Seq(vec![ag(0)]), 2, AllGather), ["end"]);
    assert_eq!(
        kinds(&T::Seq(vec![ag(0), ag(1)]), 2, AllReduce),
        ["state", "state"]
    );
    assert_eq!(
        kinds(&T::Seq(vec![rs(0), ag(0), rs(0)]), 1, AllReduce),
        ["state"]
    );
    assert_eq!(
        kinds(&T::Seq(vec![rs(0), rs(0), ag(0)]), 1, AllReduce),
        ["state"]
    );
    assert_eq!(kinds(&rs(0), 1, AllReduce), ["end"]);
}

#[test]
fn one_mistake_is_one_report() {
    let twice = T::Seq(vec![ag(0), ag(0), ag(0), ag(1)]);
    assert_eq!(kinds(&twice, 2, AllGather), ["state"]);
    let groups = T::Seq(vec![T::Par(vec![ag(0), ag(1)]), ag(0), ag(1)]);
    assert_eq!(kinds(&groups, 2, AllGather), ["many groups"]);
}

#[test]
fn omnipipes_have_two_disjoint_axes_of_one_operation() {
    assert_eq!(kinds(&T::Omni(vec![ag(0)]), 1, AllGather), ["axis count"]);
    let three = T::Omni(vec![ag(0), ag(1), ag(2)]);
    assert_eq!(kinds(&three, 3, AllGather), ["axis count"]);
    assert_eq!(
        kinds(
            &T::Omni(vec![ag(0), T::Seq(vec![ag(1), ag(0)])]),
            2,
            AllGather
        ),
        ["axes overlap"]
    );
    let differ = T::Seq(vec![T::Omni(vec![rs(0), T::Leaf(AllReduce, 1)]), ag(0)]);
    assert_eq!(kinds(&differ, 2, AllReduce), ["axes differ"]);
    assert_eq!(kinds(&T::Omni(vec![]), 1, AllGather), ["no children"]);
}

#[test]
fn ends_are_those_of_the_operation() {
    assert_eq!(kinds(&ag(0), 1, Gather), ["more than asked"]);
    assert_eq!(kinds(&T::Leaf(Gather, 0), 1, Gather), [""; 0]);
    assert_eq!(
        kinds(&T::Leaf(Operation::Barrier, 0), 1, AllReduce),
        ["stage"]
    );
    assert_eq!(
        kinds(&T::Leaf(Operation::AllGatherV, 0), 1, AllGather),
        ["stage"]
    );
    assert_eq!(kinds(&ag(0), 1, Operation::AllGatherV), [""; 0]);
}

#[test]
fn assertions_hold_for_every_group() {
    let tree = |state| T::Seq(vec![ag(1), T::Assert(state, 1), ag(0)]);
    assert_eq!(kinds(&tree(StateWord::All), 2, AllGather), [""; 0]);
    assert_eq!(kinds(&tree(StateWord::Own), 2, AllGather), ["assertion"]);
}

#[test]
fn a_level_without_dimensions_changes_nothing() {
    let mut tree = flat(&T::Seq(vec![ag(1), ag(0)]), 2);
    tree.levels[1].dims = Dims::EMPTY;
    tree.dims = 1;
    assert!(check_tree(&tree, AllGather).problems.is_empty());
}
