//! Trying an algorithm on data of its own, and comparing with the reference.

use crate::error::LocalError;
use crate::inputs::fill;
use crate::machine::Machine;
use crate::memory::Bytes;
use crate::reference::{Expected, Mismatch};
use crate::run::{Order, Scratch};
use coll_cluster::{Matched, Rank};
use coll_executor::{Capabilities, ExecError, Executor, Group, OpKind, Program, Request};
use coll_lang::library::{FlatTree, NodeId};
use coll_lang::words::Operation;
use coll_planner::Planners;
use smol_str::SmolStr;
use std::time::Instant;

/// What this engine can do: a put may go anywhere.
pub const CAPABILITIES: Capabilities = Capabilities {
    remote_output: true,
};

/// Bytes of the CCL buffer that are used at once unless the request says otherwise: what two ranks
/// exchange then stays in a core's cache. Measured with the `allgather_speed` example on two cores
/// with 2 MiB of second-level cache each: between 1 and 4 MiB it makes no difference; everything at
/// once takes up to 1.6 times as long.
pub const LOOP_BYTES: u64 = 2 << 20;

/// How to try an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The order in which streams run.
    pub order: Order,
    /// What the inputs are made of.
    pub data_seed: u64,
    /// The most mismatches to report one by one.
    pub mismatches: usize,
    /// How often to run; the fastest run counts.
    pub repeat: u32,
}

impl Default for Options {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            order: Order::Threads(cores),
            data_seed: 0,
            mismatches: 16,
            repeat: 1,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether every element of every rank's output is as it must be.
    pub exact: bool,
    /// How many elements are not.
    pub wrong: u64,
    /// The first of them.
    pub mismatches: Vec<Mismatch>,
    /// Seconds of the fastest run, planning and comparing aside.
    pub seconds: f64,
    /// Bytes that ranks put to other ranks.
    pub bytes_moved: u64,
    /// Loops that the call was cut into.
    pub loops: u64,
    /// The leaves in the order of execution.
    pub stages: Vec<StageReport>,
}

/// What one leaf did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// The leaf.
    pub node: NodeId,
    /// Its operation.
    pub op: Operation,
    /// Its level.
    pub level: SmolStr,
    /// Its template.
    pub template: SmolStr,
    /// Members of its level.
    pub ranks: u32,
    /// Bytes that all ranks together put to others in it.
    pub bytes: u64,
    /// The group it takes.
    pub group_in: Group,
    /// The group it leaves.
    pub group_out: Group,
}

/// The programs of all ranks, in rank order.
///
/// # Errors
/// [`ExecError`] when one cannot be planned.
pub fn plan(executor: &Executor<'_>, ranks: u32) -> Result<Vec<Program>, ExecError> {
    let program = |rank| {
        let mut program = Program::new(CAPABILITIES);
        executor.emit(Rank(rank), &mut program)?;
        Ok(program)
    };
    (0..ranks).map(program).collect()
}

/// An algorithm planned for all ranks, with the buffers it runs on.
pub struct Trial<'a> {
    matched: &'a Matched,
    planners: &'a dyn Planners,
    request: Request,
    executor: Executor<'a>,
    programs: Vec<Program>,
    inputs: Vec<Bytes>,
    outputs: Vec<Bytes>,
}

impl<'a> Trial<'a> {
    /// Plans `tree` for `request` on all ranks of `matched`. Inputs and outputs are all zeros. Loops
    /// use [`LOOP_BYTES`] of the CCL buffer unless the request says otherwise.
    ///
    /// # Errors
    /// [`LocalError`] when it cannot be executed or memory is short.
    pub fn new(
        matched: &'a Matched,
        tree: &FlatTree,
        planners: &'a dyn Planners,
        request: &Request,
    ) -> Result<Self, LocalError> {
        let ranks = matched.ranks();
        let request = Request {
            loop_bytes: request.loop_bytes.or(Some(LOOP_BYTES)),
            ..*request
        };
        let executor = Executor::new(tree, matched, planners, &request)?;
        let programs = plan(&executor, ranks)?;
        let (input_bytes, output_bytes) = request.user_bytes(ranks).map_err(ExecError::from)?;
        let buffers = |bytes| {
            (0..ranks)
                .map(|_| Bytes::zeroed(bytes))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            matched,
            planners,
            request,
            executor,
            programs,
            inputs: buffers(input_bytes)?,
            outputs: buffers(output_bytes)?,
        })
    }

    /// Makes inputs from a seed; see [`crate::inputs`].
    pub fn fill(&mut self, seed: u64) {
        let ranks = self.matched.ranks();
        for (rank, input) in (0..).zip(&mut self.inputs) {
            fill(&self.request, ranks, rank, seed, input);
        }
    }

    /// The input of each rank, to be written.
    pub fn inputs_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [u8]> {
        self.inputs.iter_mut().map(|bytes| &mut **bytes)
    }

    /// The output of each rank.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.outputs.iter().map(|bytes| &**bytes)
    }

    /// Runs all ranks and compares every element of every output with the reference.
    ///
    /// # Errors
    /// [`LocalError`] when memory is short or the ranks wait for one another.
    pub fn run(&mut self, options: &Options) -> Result<Outcome, LocalError> {
        let machine = Machine::new(&self.programs)?;
        let inputs: Vec<&[u8]> = self.inputs.iter().map(|b| &**b).collect();
        let mut scratch = Scratch::new(&machine)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..options.repeat.max(1) {
            let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(|b| &mut **b).collect();
            let start = Instant::now();
            machine.run(&inputs, &mut outputs, &mut scratch, options.order)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let expected = Expected::new(&self.request, &inputs)
            .expect("an operation that was executed has a reference, and inputs are alike");
        let mut mismatches = Vec::new();
        let wrong = (0..)
            .zip(&self.outputs)
            .map(|(rank, output)| {
                expected.compare(rank, output, options.mismatches, &mut mismatches)
            })
            .sum();
        let stages = reports(&self.executor, self.matched, self.planners, &self.programs);
        Ok(Outcome {
            exact: wrong == 0,
            wrong,
            mismatches,
            seconds,
            bytes_moved: stages.iter().map(|s| s.bytes).sum(),
            loops: self.executor.loops(),
            stages,
        })
    }
}

/// Runs `tree` for `request` on all ranks of `matched`, on data made from the options' seed, and
/// compares every element of every output with the reference.
///
/// # Errors
/// [`LocalError`] when it cannot be executed, memory is short, or the ranks wait for one another.
pub fn run(
    matched: &Matched,
    tree: &FlatTree,
    planners: &dyn Planners,
    request: &Request,
    options: &Options,
) -> Result<Outcome, LocalError> {
    let mut trial = Trial::new(matched, tree, planners, request)?;
    trial.fill(options.data_seed);
    trial.run(options)
}

fn reports(
    executor: &Executor<'_>,
    matched: &Matched,
    planners: &dyn Planners,
    programs: &[Program],
) -> Vec<StageReport> {
    let mut bytes = rustc_hash::FxHashMap::<NodeId, u64>::default();
    let size = executor.request().dtype.size();
    for segment in programs.iter().flat_map(|p| &p.segments) {
        for op in segment.ops.iter().filter(|op| op.kind == OpKind::Put) {
            let moved = op.rows * op.elements * size * segment.repeat.times;
            *bytes.entry(op.origin.node).or_default() += moved;
        }
    }
    let report = |stage: &coll_executor::Stage| {
        let level = &matched.levels()[stage.level as usize];
        StageReport {
            node: stage.node,
            op: stage.op,
            level: level.name.clone(),
            template: planners.name(stage.template),
            ranks: level.size,
            bytes: bytes.get(&stage.node).copied().unwrap_or(0),
            group_in: stage.input,
            group_out: stage.output,
        }
    };
    executor.stages().iter().map(report).collect()
}
