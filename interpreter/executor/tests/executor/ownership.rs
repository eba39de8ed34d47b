//! The executor's own account of ownership against the symbolic contract of the checker.

use crate::common::{Levels, flat, grid, parse, planners, random_case};
use coll_cluster::{Matched, Rank};
use coll_executor::{Executor, Request};
use coll_lang::contract::{self, Problem, ProblemKind, States};
use coll_lang::library::TreeIx;
use coll_lang::words::{DType, Operation, ReduceOp, StateWord};
use proptest::prelude::*;

fn request(op: Operation) -> Request {
    Request {
        op,
        count: 1003,
        dtype: DType::F32,
        reduce: (op != Operation::AllGather).then_some(ReduceOp::Sum),
        root: None,
        ccl_bytes: 1 << 20,
        loop_bytes: None,
    }
}

fn numbers(groups: Vec<Vec<Rank>>) -> Vec<Vec<u32>> {
    groups
        .into_iter()
        .map(|g| g.into_iter().map(|r| r.0).collect())
        .collect()
}

/// The walk of HCCL's four-level all-gather, N = 32, (4,2,2,2), seen from rank 13.
#[test]
fn four_level_all_gather() {
    let levels: Levels<'_> = &[&[0], &[1], &[2], &[3]];
    let tree = flat(
        &parse("seq(ag.mesh@3, ag.nhr@2, ag.nhr@1, ag.mesh@0)"),
        levels,
        4,
    );
    let (matched, planners) = (grid(&[4, 2, 2, 2], levels), planners());
    let executor =
        Executor::new(&tree, &matched, &planners, &request(Operation::AllGather)).unwrap();
    let rank = Rank(13);
    let after = |node| numbers(executor.ranks_for_output_data(TreeIx(node), rank));
    assert_eq!(
        numbers(executor.ranks_for_input_data(TreeIx(1), rank)),
        [[13]]
    );
    assert_eq!(after(1), [[13, 29]]);
    assert_eq!(after(2), [[5, 13, 21, 29]]);
    assert_eq!(after(3), [[1, 5, 9, 13, 17, 21, 25, 29]]);
    assert_eq!(after(4), [(0..32).collect::<Vec<u32>>()]);
    assert_eq!(after(0), after(4));
    assert!(executor.ranks_for_input_data(TreeIx(9), rank).is_empty());
    assert!(
        executor
            .ranks_for_input_data(TreeIx(1), Rank(32))
            .is_empty()
    );
}

/// The two-shot all-reduce of the RFC on four ranks: all, own, all.
#[test]
fn two_shot_all_reduce() {
    let levels: Levels<'_> = &[&[0]];
    let tree = flat(&parse("seq(rs.mesh@0, ag.mesh@0)"), levels, 1);
    let (matched, planners) = (grid(&[4], levels), planners());
    let executor =
        Executor::new(&tree, &matched, &planners, &request(Operation::AllReduce)).unwrap();
    for rank in 0..4 {
        let before = |node| numbers(executor.ranks_for_input_data(TreeIx(node), Rank(rank)));
        assert_eq!(before(1), [[0, 1, 2, 3]]);
        assert_eq!(before(2), [[rank]]);
    }
}

/// Owners by the contract: a slot is held unless some dimension is own and differs.
fn by_contract(states: States, matched: &Matched, rank: Rank) -> Vec<u32> {
    let held = |slot: &u32| {
        (0..states.len()).all(|d| {
            states.get(d) != StateWord::Own
                || matched.coordinate(Rank(*slot), d) == matched.coordinate(rank, d)
        })
    };
    (0..matched.ranks()).filter(held).collect()
}

proptest! {
    /// On every node of a random tree, the executor's groups are those of the contract.
    #[test]
    fn rank_lists_are_what_the_contract_says(seed in any::<u64>()) {
        let case = random_case(seed, 24);
        let (tree, matched, planners) = (case.flat(), case.matched(), planners());
        let trace = contract::check_tree(&tree, case.op);
        let wrong = |p: &&Problem| !matches!(p.kind, ProblemKind::OneChild);
        prop_assert_eq!(trace.problems.iter().find(wrong), None);
        let executor = Executor::new(&tree, &matched, &planners, &request(case.op)).unwrap();
        for ix in (0..tree.nodes.len() as u32).map(TreeIx) {
            if executor.groups(ix).is_none() {
                continue;
            }
            for rank in (0..matched.ranks()).map(Rank) {
                let symbolic = |contract: &Option<contract::Contract>| -> Vec<Vec<u32>> {
                    let groups = &contract.as_ref().unwrap().groups;
                    groups.iter().map(|g| by_contract(g.states, &matched, rank)).collect()
                };
                prop_assert_eq!(
                    numbers(executor.ranks_for_input_data(ix, rank)),
                    symbolic(&trace.before[ix.index()])
                );
                prop_assert_eq!(
                    numbers(executor.ranks_for_output_data(ix, rank)),
                    symbolic(&trace.after[ix.index()])
                );
            }
        }
    }
}
