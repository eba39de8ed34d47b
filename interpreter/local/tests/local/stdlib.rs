//! The algorithms of the std library, on small clusters of every kind.

use coll_cluster::Cluster;
use coll_executor::{Request, prepare};
use coll_lang::check::{check, parse_shape};
use coll_lang::library::{AlgorithmBody, AlgorithmId, ClusterSpec};
use coll_lang::resolve::{LoadRequest, load};
use coll_lang::words::{DType, Operation, PlaneKind, ReduceOp};
use coll_local::{Options, run};
use coll_planner::NativePlanners;

/// One layer whose ranks are joined twice, as the concurrent algorithms need it.
fn joined_twice(shape: &str) -> ClusterSpec {
    let mut spec = parse_shape(shape).expect("a shape");
    let mut plane = spec.nets[0].planes[0].clone();
    plane.name = "mesh".into();
    let mut switch = plane.clone();
    switch.name = "ub".into();
    switch.kind = PlaneKind::Clos;
    switch.ports = 4;
    spec.nets[0].planes = vec![plane, switch];
    spec
}

fn clusters() -> Vec<ClusterSpec> {
    let shapes = "1 6 4x2 2x1 3x5x2 2x2x3 4x2x2x2 1x3x1x2 [4,2,6]x3";
    let plain = shapes.split(' ').map(|s| parse_shape(s).expect("a shape"));
    plain.chain(["6", "4x3"].map(joined_twice)).collect()
}

#[test]
fn all_algorithms_are_exact_wherever_they_fit() {
    let (library, diagnostics) = check(load(LoadRequest::default()));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let planners = NativePlanners::of(&library);
    let clusters = clusters();
    let mut tried = 0;
    for (id, algorithm) in (0..).map(AlgorithmId).zip(&library.algorithms) {
        let (op, name) = (algorithm.op, &algorithm.declared.name);
        let carried_out = matches!(
            op,
            Operation::AllGather | Operation::ReduceScatter | Operation::AllReduce
        );
        if !carried_out || matches!(algorithm.body, AlgorithmBody::Native) {
            continue;
        }
        tried += 1;
        let mut fits = 0;
        for spec in &clusters {
            let cluster = Cluster::new(spec).expect("a cluster");
            let Ok(prepared) = prepare(&library, id, &cluster, None) else {
                continue;
            };
            fits += 1;
            for count in [1, 7, 1003] {
                let request = Request {
                    op,
                    count,
                    dtype: DType::F32,
                    reduce: (op != Operation::AllGather).then_some(ReduceOp::Sum),
                    root: None,
                    ccl_bytes: 20_000,
                    loop_bytes: None,
                };
                let (matched, tree) = (&prepared.matched, &prepared.tree);
                let outcome = run(matched, tree, &planners, &request, &Options::default());
                let outcome = outcome.unwrap_or_else(|e| panic!("{name} {request:?}: {e}"));
                let found = &outcome.mismatches;
                assert!(outcome.exact, "{name} {request:?}: {found:?}");
            }
        }
        assert!(fits > 0, "{name} fits none of the clusters");
    }
    assert!(tried > 0, "the std library has algorithms");
}
