//! The primitive operations, and who receives them.

use coll_cluster::Rank;
use coll_lang::library::NodeId;
use coll_lang::words::{DType, ReduceOp};

/// A buffer of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buffer {
    /// The user's input; never written.
    Input,
    /// The user's output.
    Output,
    /// Scratch that peers can write to.
    Ccl,
}

/// A place in a buffer of a rank. Which rank follows from the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Addr {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes from its beginning, in the first repetition of the segment.
    pub offset: u64,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Writes from this rank's `src` to the peer's `dst`.
    Put,
    /// Writes from this rank's `src` to its `dst`.
    Copy,
    /// Reduces this rank's `src` into its `dst`, element by element.
    Reduce,
    /// Adds one to the counter (this rank, `peer`, `flag`).
    Signal,
    /// Waits until the counter (`peer`, this rank, `flag`) is above 0 and takes one from it.
    Wait,
}

impl OpKind {
    /// Whether data moves, so that the addresses and sizes have a meaning.
    pub const fn moves(self) -> bool {
        matches!(self, Self::Put | Self::Copy | Self::Reduce)
    }
}

/// Which part of the algorithm an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The tree node.
    pub node: NodeId,
    /// The step of its schedule; the number of steps for what comes after the last one.
    pub step: u32,
}

/// One operation of one rank.
///
/// A move is strided: `rows` rows of `elements` elements, whose beginnings are `src_pitch` and
/// `dst_pitch` bytes apart; rows are moved in order and do not overlap in `dst`. Operations of one
/// stream run in order. Streams of one rank are joined only by signals to itself. The n-th wait on a
/// counter takes the n-th signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The stream of this rank that it runs on.
    pub stream: u32,
    /// The other side of a put, signal or wait; this rank itself where it is local.
    pub peer: Rank,
    /// Tells counters between the same two ranks apart.
    pub flag: u32,
    /// What is read, on this rank.
    pub src: Addr,
    /// What is written: on the peer for a put, else on this rank.
    pub dst: Addr,
    /// Rows to move.
    pub rows: u64,
    /// Elements of a row.
    pub elements: u64,
    /// Bytes from one row to the next in `src`.
    pub src_pitch: u64,
    /// Bytes from one row to the next in `dst`.
    pub dst_pitch: u64,
    /// Where it comes from.
    pub origin: Origin,
}

/// What can be known of a rank's program before its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The rank.
    pub rank: Rank,
    /// How many ranks there are.
    pub ranks: u32,
    /// The type of the elements.
    pub dtype: DType,
    /// How they are combined, for operations that reduce.
    pub reduce: Option<ReduceOp>,
    /// Streams in use.
    pub streams: u32,
    /// Bytes of the user's input.
    pub input_bytes: u64,
    /// Bytes of the user's output.
    pub output_bytes: u64,
    /// Bytes of the CCL buffer in use.
    pub ccl_bytes: u64,
}

/// What an engine can do beyond the primitives. All ranks of a call need the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Whether a put may go into the peer's output. Otherwise all puts go into its CCL buffer.
    pub remote_output: bool,
}

/// Loops of one shape: their operations once, and how often they repeat. In repetition `i`, offsets
/// in the input and the output grow by `i` times the shift; those in the CCL buffer stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// How often the operations run.
    pub times: u64,
    /// Bytes by which input offsets grow each time.
    pub input_shift: u64,
    /// Bytes by which output offsets grow each time.
    pub output_shift: u64,
}

/// Receives a rank's program: a header, then segments, each followed by its operations.
pub trait Engine {
    /// What it can do.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// A program begins.
    fn begin(&mut self, header: &Header);

    /// A segment begins; it ends with the next one or with the program.
    fn segment(&mut self, repeat: Repeat);

    /// The next operation of the segment.
    fn op(&mut self, op: &Op);
}

/// A segment as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// How often and with what shifts it runs.
    pub repeat: Repeat,
    /// Its operations.
    pub ops: Vec<Op>,
}

/// The program of one rank: an engine that records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// What can be known before the operations; set when recording begins.
    pub header: Option<Header>,
    /// The segments.
    pub segments: Vec<Segment>,
    capabilities: Capabilities,
}

impl Program {
    /// An empty program for an engine with these capabilities.
    pub fn new(capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..Self::default()
        }
    }
}

impl Engine for Program {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn begin(&mut self, header: &Header) {
        self.header = Some(*header);
        self.segments.clear();
    }

    fn segment(&mut self, repeat: Repeat) {
        self.segments.push(Segment {
            repeat,
            ops: Vec::new(),
        });
    }

    fn op(&mut self, op: &Op) {
        if let Some(segment) = self.segments.last_mut() {
            segment.ops.push(*op);
        }
    }
}
