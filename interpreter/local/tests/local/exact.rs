//! Every element of every rank, against the reference.

use crate::common::{self, Levels, flat, grid, parse, planners, random_case};
use coll_cluster::Matched;
use coll_executor::Request;
use coll_lang::library::FlatTree;
use coll_lang::words::{DType, Operation, ReduceOp};
use coll_local::{Options, Order, Outcome, run};
use proptest::prelude::*;

fn request(op: Operation, count: u64, dtype: DType, reduce: ReduceOp) -> Request {
    Request {
        op,
        count,
        dtype,
        reduce: (op != Operation::AllGather).then_some(reduce),
        root: None,
        ccl_bytes: 1 << 22,
        loop_bytes: None,
    }
}

fn try_it(matched: &Matched, tree: &FlatTree, request: &Request, options: &Options) -> Outcome {
    let outcome = run(matched, tree, &planners(), request, options);
    let outcome = outcome.unwrap_or_else(|e| panic!("{request:?}: {e}"));
    assert!(
        outcome.exact,
        "{request:?}: {} wrong: {:?}",
        outcome.wrong, outcome.mismatches
    );
    outcome
}

const EACH: Levels<'_> = &[&[0], &[1], &[2], &[3]];

/// Trees over four levels, by operation.
const TREES: [(Operation, &[&str]); 3] = [
    (
        Operation::AllGather,
        &[
            "seq(ag.mesh@3, ag.nhr@2, ag.nhr@1, ag.mesh@0)",
            "seq(ag.ring@0, ag.ring@1, ag.ring@2, ag.ring@3)",
            "seq(ag.nhr@2, par(2: seq(ag.mesh@0, ag.ring@1), 1: seq(ag.nhr@1, ag.nhr@0)), ag.ring@3)",
            "seq(par(ag.mesh@0, ag.nhr@1, ag.ring@2), \
             par(seq(ag.nhr@1, ag.nhr@2), seq(ag.mesh@0, ag.mesh@2), seq(ag.ring@1, ag.ring@0)), \
             ag.nhr@3)",
        ],
    ),
    (
        Operation::ReduceScatter,
        &[
            "seq(rs.mesh@0, rs.nhr@1, rs.nhr@2, rs.mesh@3)",
            "seq(rs.ring@3, rs.ring@1, rs.ring@0, rs.ring@2)",
            "seq(par(rs.mesh@0, rs.nhr@3), par(seq(rs.mesh@3, rs.ring@1), seq(rs.ring@0, rs.mesh@1)), \
             rs.nhr@2)",
        ],
    ),
    (
        Operation::AllReduce,
        &[
            "seq(ar.mesh@0, ar.nhr@1, ar.ring@2, ar.mesh@3)",
            "seq(rs.mesh@0, rs.nhr@1, ar.nhr@2, ar.ring@3, ag.nhr@1, ag.mesh@0)",
            "par(3: seq(rs.mesh@3, ar.mesh@2, ar.mesh@1, ar.nhr@0, ag.ring@3), \
             1: seq(ar.nhr@0, ar.nhr@1, ar.nhr@2, ar.nhr@3))",
        ],
    ),
];

#[test]
fn four_levels_of_all_shapes_and_counts() {
    for (op, trees) in TREES {
        for text in trees {
            let tree = flat(&parse(text), EACH, 4);
            for sizes in [[1, 1, 1, 1], [3, 5, 2, 1], [4, 2, 2, 2], [2, 3, 1, 2]] {
                for count in [0, 1, 7, 1003] {
                    let request = request(op, count, DType::I32, ReduceOp::Sum);
                    try_it(&grid(&sizes, EACH), &tree, &request, &Options::default());
                }
            }
        }
    }
}

#[test]
fn a_single_leaf_of_every_family_and_size() {
    for op in ["ag", "rs", "ar"] {
        for template in common::TEMPLATES {
            let tree = flat(&parse(&format!("{op}.{template}@0")), &[&[0]], 1);
            for n in (1..=17).chain([31, 32, 33]) {
                let op = match op {
                    "ag" => Operation::AllGather,
                    "rs" => Operation::ReduceScatter,
                    _ => Operation::AllReduce,
                };
                let request = request(op, 101, DType::U16, ReduceOp::Sum);
                try_it(&grid(&[n], &[&[0]]), &tree, &request, &Options::default());
            }
        }
    }
}

#[test]
fn large_counts_in_many_loops() {
    let tree = flat(&parse(TREES[0].1[0]), EACH, 4);
    let all_gather = Request {
        ccl_bytes: 8 << 20,
        loop_bytes: Some(8 << 20),
        ..request(Operation::AllGather, 100_000, DType::F32, ReduceOp::Sum)
    };
    // The example of HCCL: 65,536 elements and then 34,464.
    let outcome = try_it(
        &grid(&[4, 2, 2, 2], EACH),
        &tree,
        &all_gather,
        &Options::default(),
    );
    assert_eq!(outcome.loops, 2);
    let slots = |stage: usize| outcome.stages[stage].bytes / (32 * 400_000);
    assert_eq!([0, 1, 2, 3].map(slots), [1, 2, 4, 24]);
    assert_eq!(outcome.bytes_moved, 32 * 31 * 400_000);

    let tree = flat(&parse(TREES[2].1[1]), EACH, 4);
    let all_reduce = Request {
        ccl_bytes: 1 << 16,
        ..request(Operation::AllReduce, 100_000, DType::I64, ReduceOp::Max)
    };
    let outcome = try_it(
        &grid(&[2, 2, 2, 2], EACH),
        &tree,
        &all_reduce,
        &Options::default(),
    );
    assert!(outcome.loops > 10);
}

#[test]
fn every_type_and_reduction() {
    let sizes = [3, 2];
    let levels: Levels<'_> = &[&[0], &[1]];
    for &dtype in DType::ALL {
        for &reduce in ReduceOp::ALL {
            for (op, text) in [
                (Operation::ReduceScatter, "seq(rs.mesh@0, rs.nhr@1)"),
                (Operation::AllReduce, "seq(rs.nhr@0, ar.ring@1, ag.mesh@0)"),
                (Operation::AllGather, "seq(ag.nhr@0, ag.nhr@1)"),
            ] {
                let tree = flat(&parse(text), levels, 2);
                let request = request(op, 203, dtype, reduce);
                try_it(&grid(&sizes, levels), &tree, &request, &Options::default());
            }
        }
    }
}

/// Whatever the buffer, from one element of a slot up, the outputs are the same.
#[test]
fn any_buffer_gives_the_same() {
    let sizes = [3, 2, 2];
    let levels: Levels<'_> = &[&[0], &[1], &[2]];
    for (op, text) in [
        (
            Operation::AllGather,
            "seq(ag.mesh@2, par(ag.nhr@0, ag.ring@0), ag.nhr@1)",
        ),
        (
            Operation::ReduceScatter,
            "seq(rs.nhr@0, par(rs.mesh@1, rs.ring@1), rs.nhr@2)",
        ),
        (
            Operation::AllReduce,
            "seq(rs.mesh@0, par(2: ar.nhr@1, 1: ar.mesh@1), ar.ring@2, ag.nhr@0)",
        ),
    ] {
        let tree = flat(&parse(text), levels, 3);
        for count in [1, 7, 250] {
            for ccl_bytes in [160, 161, 200, 333, 1000, 4096, 1 << 20] {
                let request = Request {
                    ccl_bytes,
                    ..request(op, count, DType::I16, ReduceOp::Sum)
                };
                try_it(&grid(&sizes, levels), &tree, &request, &Options::default());
                let soft = Request {
                    ccl_bytes: 1 << 20,
                    loop_bytes: Some(ccl_bytes / 8),
                    ..request
                };
                try_it(&grid(&sizes, levels), &tree, &soft, &Options::default());
            }
        }
    }
}

/// Two levels over the same ranks, as where a mesh and a switch are used at once.
#[test]
fn concurrent_planes() {
    let levels: Levels<'_> = &[&[0], &[0]];
    for (op, text) in [
        (Operation::AllGather, "par(37: ag.mesh@0, 25: ag.nhr@1)"),
        (Operation::ReduceScatter, "par(21: rs.mesh@0, 20: rs.nhr@1)"),
        (Operation::AllReduce, "par(11: ar.mesh@0, 10: ar.nhr@1)"),
    ] {
        let tree = flat(&parse(text), levels, 1);
        for count in [0, 1, 5, 1003] {
            let request = request(op, count, DType::F16, ReduceOp::Sum);
            try_it(&grid(&[6], levels), &tree, &request, &Options::default());
        }
    }
}

fn any_dtype() -> impl Strategy<Value = DType> {
    (0..DType::ALL.len()).prop_map(|i| DType::ALL[i])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Random right trees on random grids, with random sizes, in random orders: all exact.
    #[test]
    fn random_trees_are_exact(
        seed in any::<u64>(),
        count in 0u64..40,
        dtype in any_dtype(),
        reduce in 0usize..4,
        capacity in 1u64..9,
        order in prop_oneof![any::<u64>().prop_map(Order::Seed), (1usize..4).prop_map(Order::Threads)],
    ) {
        let case = random_case(seed, 24);
        // Slots and parking are less than twice the ranks.
        let places = 2 * u64::from(case.matched().ranks());
        let request = Request {
            ccl_bytes: places * dtype.size() * capacity,
            ..request(case.op, count, dtype, ReduceOp::ALL[reduce])
        };
        let options = Options { order, data_seed: seed, ..Options::default() };
        let outcome = run(&case.matched(), &case.flat(), &planners(), &request, &options);
        let outcome = outcome.map_err(|e| TestCaseError::fail(format!("{case:?}: {e}")))?;
        prop_assert!(outcome.exact, "{case:?} {:?}", outcome.mismatches);
    }
}
