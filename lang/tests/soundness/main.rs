//! The ownership rules against a brute-force execution that shares no code with them.
//!
//! `model` keeps, for every rank and every piece of every slot, the set of ranks whose contribution it
//! holds, and executes trees on that. No tree that the rules accept may end wrong; every tree that
//! they reject although it would have ended right must be of a kind that the book lists
//! (`docs/reference/ownership.md`, *Rejected although right*).

#![allow(
    clippy::single_range_in_vec_init,
    reason = "a list of one share is a list of shares"
)]

mod model;
mod trees;

use coll_lang::contract::{Problem, ProblemKind, check_tree};
use coll_lang::words::Operation;
use model::Grid;
use std::collections::BTreeMap;
use trees::{Levels, Node, Random};

/// The operations that have trees and data, one of each family.
const OPS: [Operation; 8] = [
    Operation::AllGather,
    Operation::ReduceScatter,
    Operation::AllReduce,
    Operation::Broadcast,
    Operation::Scatter,
    Operation::Gather,
    Operation::Reduce,
    Operation::AllToAll,
];

/// Pieces of a slot for trees with parallels: two cuts into two or three children leave whole pieces.
const PIECES: usize = 36;

/// How often each outcome came up.
#[derive(Default, Debug)]
struct Tally {
    trees: u64,
    accepted: u64,
    right_but_rejected: BTreeMap<String, u64>,
}

/// Checks one tree by the rules and by execution.
fn judge(
    tree: &Node,
    op: Operation,
    (grid, levels): (&Grid, &Levels),
    pieces: usize,
    tally: &mut Tally,
) {
    let flat = trees::flatten(tree, levels, grid.sizes.len());
    let errors: Vec<Problem> = check_tree(&flat, op)
        .problems
        .into_iter()
        .filter(|p| {
            !matches!(
                p.kind,
                ProblemKind::MoreThanAsked(_) | ProblemKind::OneChild
            )
        })
        .collect();
    let right = model::run(tree, op, grid, levels, pieces);
    tally.trees += 1;
    if errors.is_empty() {
        tally.accepted += 1;
        assert_eq!(
            right,
            Ok(()),
            "accepted but wrong: {op} on {:?}\n{tree:#?}",
            grid.sizes
        );
    } else if right.is_ok() {
        let kind = kind_of(&errors[0], grid);
        assert!(
            LISTED.contains(&kind.as_str()),
            "rejected as `{kind}`, runs right, and the book does not list it: {op} on {:?}\n{tree:#?}\n{errors:#?}",
            grid.sizes
        );
        *tally.right_but_rejected.entry(kind).or_default() += 1;
    }
}

/// The kinds of trees that are rejected although they would run right; the book lists the same.
const LISTED: [&str; 11] = [
    // It has one coordinate, so that any state along it is as good as any other.
    "a dimension of size 1",
    // Every rank has more than it must.
    "ends all, promised own",
    // What is done already is done again.
    "needs own, finds all",
    "needs root, finds all",
    "needs src, finds dst",
    // A stage of another kind of operation, whose result a later stage replaces or nobody asks for.
    "needs own, finds dst",
    "needs own, finds root",
    "needs src, finds own",
    "needs src, finds root",
    // Shares in different states that happen to hold the same.
    "groups",
    // Axes that share a dimension which one of them finds done.
    "AxesOverlap",
];

/// The kind of a rejection.
fn kind_of(problem: &Problem, grid: &Grid) -> String {
    let trivial =
        |dims: coll_lang::contract::Dims| dims.iter().all(|d| grid.sizes[d as usize] == 1);
    match &problem.kind {
        ProblemKind::State { dims, .. } | ProblemKind::End { dims, .. } if trivial(*dims) => {
            "a dimension of size 1".to_owned()
        }
        ProblemKind::State { needs, found, .. } => format!("needs {needs}, finds {found}"),
        ProblemKind::End {
            expected, found, ..
        } => format!("ends {found}, promised {expected}"),
        ProblemKind::ManyGroups(_) | ProblemKind::Deal { .. } | ProblemKind::GroupsAtEnd(_) => {
            "groups".to_owned()
        }
        other => format!("{other:?}")
            .split([' ', '(', '{'])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

fn grids() -> Vec<Grid> {
    [
        &[2][..],
        &[3],
        &[2, 2],
        &[2, 3],
        &[3, 1],
        &[1, 2],
        &[2, 1, 2],
        &[2, 2, 2],
    ]
    .iter()
    .flat_map(|sizes| {
        let ranks: usize = sizes.iter().product();
        [0, ranks - 1].map(|root| Grid {
            sizes: sizes.to_vec(),
            root,
        })
    })
    .collect()
}

#[test]
fn every_short_sequence() {
    let mut tally = Tally::default();
    for grid in grids().iter().filter(|g| g.sizes.len() <= 2) {
        let levels = Levels::of(grid.sizes.len());
        let leaves: Vec<Node> = OPS
            .iter()
            .flat_map(|&op| (0..levels.dims.len()).map(move |level| Node::Leaf(op, level)))
            .collect();
        for op in OPS {
            for a in &leaves {
                judge(a, op, (grid, &levels), 1, &mut tally);
                for b in &leaves {
                    let two = Node::Sequence(vec![a.clone(), b.clone()]);
                    judge(&two, op, (grid, &levels), 1, &mut tally);
                    for c in leaves.iter().filter(|_| grid.ranks() <= 4) {
                        let three = Node::Sequence(vec![a.clone(), b.clone(), c.clone()]);
                        judge(&three, op, (grid, &levels), 1, &mut tally);
                    }
                }
            }
        }
    }
    assert!(tally.trees > 400_000 && tally.accepted > 500, "{tally:?}");
}

#[test]
fn random_trees() {
    let mut tally = Tally::default();
    let mut random = Random::new(0x0c01_1ec7);
    let grids = grids();
    for _ in 0..100_000 {
        let grid = random.pick(&grids);
        let levels = Levels::of(grid.sizes.len());
        let op = *random.pick(&OPS);
        let tree = random.tree(op, &levels, 3);
        judge(&tree, op, (grid, &levels), PIECES, &mut tally);
    }
    assert!(tally.accepted > 5_000, "{tally:?}");
}

#[test]
fn the_model_tells_right_from_wrong() {
    use Operation::{AllGather, AllReduce, ReduceScatter};
    let grid = Grid {
        sizes: vec![2, 2],
        root: 0,
    };
    let levels = Levels::of(2);
    let run = |leaves: &[(Operation, usize)], op| {
        let leaves = leaves
            .iter()
            .map(|&(op, level)| Node::Leaf(op, level))
            .collect();
        model::run(&Node::Sequence(leaves), op, &grid, &levels, 1).is_ok()
    };
    assert!(run(&[(AllGather, 1), (AllGather, 0)], AllGather));
    assert!(!run(&[(AllGather, 1)], AllGather));
    assert!(run(
        &[(ReduceScatter, 0), (AllReduce, 1), (AllGather, 0)],
        AllReduce
    ));
    assert!(!run(
        &[(AllReduce, 0), (AllReduce, 0), (AllReduce, 1)],
        AllReduce
    ));
    assert!(!run(&[(AllReduce, 0)], AllReduce));
}
