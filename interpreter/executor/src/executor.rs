//! From a tree, a cluster and a request to the operations of each rank.

use crate::emit::{Emitter, Moved};
use crate::error::ExecError;
use crate::holding::Pattern;
use crate::layout::Layout;
use crate::leaf::{Leaf, handshake_flags};
use crate::loops::{self, Shape};
use crate::op::{Buffer, Engine, Header, OpKind, Repeat};
use crate::request::{MAX_LOOP_SLOT_BYTES, Request};
use crate::script::{Event, Extent, Group, NodeGroups, Script, Stage};
use coll_cluster::{Matched, Rank};
use coll_lang::library::{FlatTree, NodeId, TreeIx};
use coll_planner::{Planners, Schedule, Task};

/// An algorithm ready to be executed: walked, checked, cut into loops. Ranks are planned one by one,
/// each at the cost of its own operations.
pub struct Executor<'a> {
    matched: &'a Matched,
    planners: &'a dyn Planners,
    request: Request,
    script: Script,
    shapes: Vec<Shape>,
    input_bytes: u64,
    output_bytes: u64,
    ccl_bytes: u64,
}

/// More streams than this cannot be told apart by flags.
const MAX_STREAMS: u32 = 1 << 15;

impl<'a> Executor<'a> {
    /// Walks `tree` for `request` on the grid of `matched`, whose levels are those of the tree.
    ///
    /// # Errors
    /// [`ExecError`] when the tree cannot be executed or the request does not fit.
    pub fn new(
        tree: &FlatTree,
        matched: &'a Matched,
        planners: &'a dyn Planners,
        request: &Request,
    ) -> Result<Self, ExecError> {
        let (input_bytes, output_bytes) = request.user_bytes(matched.ranks())?;
        let script = Script::new(tree, matched, request.op)?;
        if script.streams > MAX_STREAMS {
            return Err(ExecError::TooManyStreams {
                streams: script.streams,
            });
        }
        let mut executor = Self {
            matched,
            planners,
            request: *request,
            script,
            shapes: Vec::new(),
            input_bytes,
            output_bytes,
            ccl_bytes: 0,
        };
        if request.count == 0 {
            return Ok(executor);
        }
        let places = executor.ccl_places()?;
        let capacity = capacity(request, places)?;
        executor.shapes = match request.whole_vector() {
            true => loops::whole_vector(request.count, matched.ranks(), capacity),
            false => loops::per_slot(request.count, capacity),
        };
        let most = executor.shapes.iter().map(|s| s.slot + s.tail).max();
        // At most the capacity, so within the CCL buffer.
        executor.ccl_bytes = most.unwrap_or(0) * places * request.dtype.size();
        Ok(executor)
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The leaves in the order of execution.
    pub fn stages(&self) -> &[Stage] {
        &self.script.stages
    }

    /// How many loops the call is cut into.
    pub fn loops(&self) -> u64 {
        self.shapes.iter().map(|s| s.times).sum()
    }

    /// The groups before and after a node; none for assertions and nodes that do not exist.
    pub fn groups(&self, node: TreeIx) -> Option<&NodeGroups> {
        self.script.nodes.get(node.index())?.as_ref()
    }

    /// `ranksForInputData`: for each group before `node`, the owners of the slots that `rank` holds.
    /// Empty where the node or rank does not exist.
    pub fn ranks_for_input_data(&self, node: TreeIx, rank: Rank) -> Vec<Vec<Rank>> {
        let input = |groups: &NodeGroups| self.owners(&groups.input, rank);
        self.groups(node).map_or_else(Vec::new, input)
    }

    /// `ranksForOutputData`: the same after `node`.
    pub fn ranks_for_output_data(&self, node: TreeIx, rank: Rank) -> Vec<Vec<Rank>> {
        let output = |groups: &NodeGroups| self.owners(&groups.output, rank);
        self.groups(node).map_or_else(Vec::new, output)
    }

    fn owners(&self, groups: &[Group], rank: Rank) -> Vec<Vec<Rank>> {
        if rank.0 >= self.matched.ranks() {
            return Vec::new();
        }
        let owners = |group: &Group| group.holding.ranks(self.matched, rank);
        groups.iter().map(owners).collect()
    }

    /// What is known of a rank's program before its operations.
    pub fn header(&self, rank: Rank) -> Header {
        Header {
            rank,
            ranks: self.matched.ranks(),
            dtype: self.request.dtype,
            reduce: self.request.reduce,
            streams: self.script.streams,
            input_bytes: self.input_bytes,
            output_bytes: self.output_bytes,
            ccl_bytes: self.ccl_bytes,
        }
    }

    /// Emits the program of `rank`.
    ///
    /// # Errors
    /// [`ExecError`] when a template's schedule turns out not to be one. What was emitted before must
    /// then not be run.
    pub fn emit(&self, rank: Rank, engine: &mut impl Engine) -> Result<(), ExecError> {
        if rank.0 >= self.matched.ranks() {
            return Err(ExecError::NoSuchRank {
                rank,
                ranks: self.matched.ranks(),
            });
        }
        let schedules = self.schedules(rank)?;
        engine.begin(&self.header(rank));
        for shape in &self.shapes {
            engine.segment(self.repeat(shape));
            self.emit_loop(rank, shape, &schedules, engine)?;
        }
        Ok(())
    }

    /// This rank's part of each stage; an empty schedule where nothing moves.
    fn schedules(&self, rank: Rank) -> Result<Vec<Schedule>, ExecError> {
        let plan = |stage: &Stage| {
            let task = Task {
                op: stage.op,
                n: self.matched.levels()[stage.level as usize].size,
                me: self.matched.index(stage.level, rank),
                root: 0,
            };
            if task.n == 1 {
                return Ok(Schedule::default());
            }
            self.planners
                .plan(stage.template, &stage.args, task)
                .map_err(|error| ExecError::Plan {
                    node: stage.node,
                    error,
                })
        };
        self.script.stages.iter().map(plan).collect()
    }

    /// Slots and parking places that the CCL buffer needs: the most that a leaf parks, and one slot
    /// for each rank.
    fn ccl_places(&self) -> Result<u64, ExecError> {
        let mut parking: u64 = 0;
        for (stage, schedule) in self.script.stages.iter().zip(self.schedules(Rank(0))?) {
            let level = &self.matched.levels()[stage.level as usize];
            let others = stage.input.holding.free.without(level.dims);
            let bundle: u64 = self
                .matched
                .runs(others)
                .iter()
                .map(|run| u64::from(run.size))
                .product();
            let places = bundle.checked_mul(u64::from(schedule.parking()));
            parking = parking.max(places.ok_or(ExecError::ScratchTooLarge)?);
        }
        let slots = u64::from(self.matched.ranks());
        slots.checked_add(parking).ok_or(ExecError::ScratchTooLarge)
    }

    fn repeat(&self, shape: &Shape) -> Repeat {
        // User buffers are within u64, so a loop's part of them is.
        let shift = shape.shift * self.request.dtype.size();
        Repeat {
            times: shape.times,
            input_shift: shift,
            output_shift: shift,
        }
    }

    fn emit_loop(
        &self,
        rank: Rank,
        shape: &Shape,
        schedules: &[Schedule],
        engine: &mut impl Engine,
    ) -> Result<(), ExecError> {
        let remote_output = engine.capabilities().remote_output;
        let extents = self.script.extents(shape.slot, shape.tail);
        let layout = Layout::new(&self.request, self.matched.ranks(), shape);
        let layout = layout.expect("requests without user slots are refused before");
        let part = |group: &Group| extents[group.share as usize];
        let mut out = Emitter::new(engine, rank);
        for event in &self.script.events {
            match event {
                Event::Run(i) => {
                    let stage = &self.script.stages[*i];
                    let part = part(&stage.input);
                    if (part.count, part.tail) != (0, 0) {
                        let schedule = &schedules[*i];
                        let leaf = Leaf::new(
                            stage,
                            schedule,
                            self.matched,
                            &layout,
                            part,
                            remote_output,
                            rank,
                        );
                        leaf.emit(&mut out)?;
                    }
                }
                Event::Bring {
                    node,
                    stream,
                    group,
                    to,
                } => {
                    out.at(*stream, *node, 0);
                    let pattern = group.holding.pattern(self.matched, rank);
                    bring(&pattern, group.at, *to, part(group), &layout, &mut out);
                }
                Event::Order { node, first, then } => {
                    self.order(*node, *first, *then, &mut out);
                }
            }
        }
        out.flush();
        Ok(())
    }

    fn order<E: Engine>(&self, node: NodeId, first: u32, then: u32, out: &mut Emitter<'_, E>) {
        let streams = self.script.streams;
        let flag = handshake_flags(streams) + first * streams + then;
        let me = out.me();
        out.at(first, node, 0);
        out.signal(me, flag);
        out.at(then, node, 0);
        out.wait(me, flag);
    }
}

fn bring<E: Engine>(
    pattern: &Pattern,
    from: Buffer,
    to: Buffer,
    part: Extent,
    layout: &Layout,
    out: &mut Emitter<'_, E>,
) {
    let moved = Moved {
        kind: OpKind::Copy,
        peer: out.me(),
        pattern,
        part,
        has_last: pattern.has_last,
    };
    let src = layout.slots(pattern, 0, from, part);
    let dst = layout.slots(pattern, 0, to, part);
    out.bundle(moved, &src, &dst, layout);
}

/// Elements of a slot that one loop can take, with `places` slots and parking places in the buffer.
fn capacity(request: &Request, places: u64) -> Result<u64, ExecError> {
    let size = request.dtype.size();
    let needs = places.checked_mul(size).ok_or(ExecError::ScratchTooLarge)?;
    let hard = request.ccl_bytes / needs;
    if hard == 0 {
        return Err(ExecError::Buffer {
            needs,
            has: request.ccl_bytes,
        });
    }
    let soft = request
        .loop_bytes
        .map_or(hard, |bytes| (bytes / needs).max(1));
    Ok(hard.min(soft).min(MAX_LOOP_SLOT_BYTES / size))
}
