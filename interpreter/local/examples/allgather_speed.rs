//! How fast the four-level all-gather is, next to plain copies of as many output bytes.
//!
//! `cargo run --release -p coll-local --example allgather_speed [SHAPE] [LOOP_KIB…]` runs the ranks of
//! a shape of four layers (2x2x2x1) with 512 MiB of output in all, for each size of the loops given.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

use coll_cluster::Matched;
use coll_executor::{DEFAULT_CCL_BYTES, Request};
use coll_lang::contract::Dims;
use coll_lang::library::{
    Children, FlatKind, FlatLevel, FlatNode, FlatTree, NodeId, TemplateId, TreeIx,
};
use coll_lang::words::{DType, Operation};
use coll_local::{Bytes, Options, Order, run};
use coll_planner::NativePlanners;
use std::error::Error;
use std::time::Instant;

/// Bytes of all outputs together.
const OUTPUTS: usize = 512 << 20;
const REPEAT: u32 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let threads = std::thread::available_parallelism()?.get();
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut shape = vec![2, 2, 2, 1];
    if args.first().is_some_and(|a| a.contains('x')) {
        shape = args
            .remove(0)
            .split('x')
            .map(str::parse)
            .collect::<Result<Vec<u32>, _>>()?;
    }
    let sizes: Vec<u64> = args.iter().map(|a| a.parse()).collect::<Result<_, _>>()?;
    let (tree, matched) = four_level(&shape).ok_or("a shape has four sizes, as 2x2x2x1")?;
    let ranks = matched.ranks();
    let output = OUTPUTS / ranks as usize;
    let plain = plain_copies(ranks as usize, output, threads)?;
    println!(
        "{threads} threads, {ranks} ranks, {} MiB output each",
        output >> 20
    );
    println!("plain copies       {:8.1} ms", plain * 1e3);
    let planners = NativePlanners::named(&["mesh", "nhr"]);
    for loop_bytes in sizes.into_iter().map(|kib| Some(kib << 10)).chain([None]) {
        let request = Request {
            op: Operation::AllGather,
            count: output as u64 / u64::from(ranks) / 4,
            dtype: DType::F32,
            reduce: None,
            root: None,
            ccl_bytes: DEFAULT_CCL_BYTES,
            loop_bytes,
        };
        let options = Options {
            order: Order::Threads(threads),
            repeat: REPEAT,
            ..Options::default()
        };
        let outcome = run(&matched, &tree, &planners, &request, &options)?;
        assert!(outcome.exact, "the result must be right to be compared");
        println!(
            "all-gather {:>7} {:8.1} ms, {:.2} times as long, {} loops",
            loop_bytes.map_or("default".to_owned(), |b| format!("{}KiB", b >> 10)),
            outcome.seconds * 1e3,
            outcome.seconds / plain,
            outcome.loops,
        );
    }
    Ok(())
}

/// Seconds to copy as many bytes as all outputs have, on as many threads.
fn plain_copies(ranks: usize, output: usize, threads: usize) -> Result<f64, Box<dyn Error>> {
    let buffers = || {
        (0..ranks)
            .map(|_| Bytes::zeroed(output as u64))
            .collect::<Result<Vec<_>, _>>()
    };
    let (mut sources, mut targets) = (buffers()?, buffers()?);
    sources.iter_mut().for_each(|b| b.fill(1));
    let mut best = f64::INFINITY;
    for _ in 0..=REPEAT {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let per = ranks.div_ceil(threads);
            for (from, to) in sources.chunks(per).zip(targets.chunks_mut(per)) {
                scope.spawn(move || {
                    for (from, to) in from.iter().zip(to) {
                        to.copy_from_slice(from);
                    }
                });
            }
        });
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// `sequence < mesh@L3; nhr@L2; nhr@L1; mesh@L0 >` on a shape of four layers.
fn four_level(shape: &[u32]) -> Option<(FlatTree, Matched)> {
    let levels = || (0..4).map(|d| (format!("L{d}").into(), Dims::only(d), None));
    let leaf = |(i, (template, level)): (usize, (u32, u32))| FlatNode {
        id: NodeId(i as u32 + 1),
        kind: FlatKind::Leaf {
            op: Operation::AllGather,
            template: TemplateId(template),
            args: Vec::new(),
            level,
        },
    };
    let mut nodes = vec![FlatNode {
        id: NodeId(0),
        kind: FlatKind::Sequence(Children { start: 0, end: 4 }),
    }];
    nodes.extend(
        [(0, 3), (1, 2), (1, 1), (0, 0)]
            .into_iter()
            .enumerate()
            .map(leaf),
    );
    let tree = FlatTree {
        nodes,
        children: (1..5).map(TreeIx).collect(),
        levels: levels()
            .map(|(name, dims, via)| FlatLevel { name, dims, via })
            .collect(),
        dims: 4,
    };
    Some((tree, Matched::new(shape, levels())?))
}
