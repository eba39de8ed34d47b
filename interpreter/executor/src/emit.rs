//! Handing operations to the engine, neighbouring moves as one.

use crate::holding::Pattern;
use crate::layout::{Layout, Side};
use crate::op::{Addr, Buffer, Engine, Op, OpKind, Origin};
use crate::script::Extent;
use coll_cluster::Rank;
use coll_lang::library::NodeId;

/// Emits the operations of one rank. Moves are held back while the next one can be joined to them.
pub(crate) struct Emitter<'e, E> {
    engine: &'e mut E,
    me: Rank,
    stream: u32,
    origin: Origin,
    pending: Option<Op>,
}

/// What one move is about, beside its addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    pub(crate) kind: OpKind,
    /// The other side of a put; this rank for local moves.
    pub(crate) peer: Rank,
    pub(crate) pattern: &'a Pattern,
    pub(crate) part: Extent,
    /// Whether the pattern holds the last slot, with its tail.
    pub(crate) has_last: bool,
}

impl<'e, E: Engine> Emitter<'e, E> {
    pub(crate) fn new(engine: &'e mut E, me: Rank) -> Self {
        Self {
            engine,
            me,
            stream: 0,
            origin: Origin {
                node: NodeId(0),
                step: 0,
            },
            pending: None,
        }
    }

    /// What follows runs on `stream` and comes from `step` of `node`.
    pub(crate) fn at(&mut self, stream: u32, node: NodeId, step: u32) {
        self.flush();
        self.stream = stream;
        self.origin = Origin { node, step };
    }

    pub(crate) fn signal(&mut self, peer: Rank, flag: u32) {
        self.control(OpKind::Signal, peer, flag);
    }

    pub(crate) fn wait(&mut self, peer: Rank, flag: u32) {
        self.control(OpKind::Wait, peer, flag);
    }

    fn control(&mut self, kind: OpKind, peer: Rank, flag: u32) {
        self.flush();
        let nowhere = Addr {
            buffer: Buffer::Ccl,
            offset: 0,
        };
        self.engine.op(&Op {
            kind,
            stream: self.stream,
            peer,
            flag,
            src: nowhere,
            dst: nowhere,
            rows: 0,
            elements: 0,
            src_pitch: 0,
            dst_pitch: 0,
            origin: self.origin,
        });
    }

    /// Moves the slots of a pattern.
    pub(crate) fn bundle(&mut self, moved: Moved<'_>, src: &Side, dst: &Side, layout: &Layout) {
        let Moved {
            kind,
            peer,
            pattern,
            part,
            has_last,
        } = moved;
        let op = |src: Addr, dst: Addr| Op {
            kind,
            stream: self.stream,
            peer,
            flag: 0,
            src,
            dst,
            rows: 1,
            elements: part.count,
            src_pitch: 0,
            dst_pitch: 0,
            origin: self.origin,
        };
        let runs = pattern.runs.as_slice();
        let inner = match runs.first() {
            None => op(src.start, dst.start),
            Some(run) => Op {
                rows: u64::from(run.size),
                src_pitch: src.pitches[0],
                dst_pitch: dst.pitches[0],
                ..op(src.start, dst.start)
            },
        };
        let mut counter: smallvec::SmallVec<[u32; 4]> = smallvec::smallvec![0; runs.len().max(1)];
        let mut next = inner;
        loop {
            self.push(next, layout);
            // Counts the runs above the innermost one up like an odometer.
            let Some(digit) = (1..runs.len()).find(|&d| counter[d] + 1 < runs[d].size) else {
                break;
            };
            counter[1..digit].fill(0);
            counter[digit] += 1;
            let ahead = |pitches: &[u64]| -> u64 {
                (1..runs.len())
                    .map(|d| u64::from(counter[d]) * pitches[d])
                    .sum()
            };
            next.src.offset = inner.src.offset + ahead(&src.pitches);
            next.dst.offset = inner.dst.offset + ahead(&dst.pitches);
        }
        if has_last && part.tail > 0 {
            // The last slot is the last row of the last block; its tail follows it on both sides.
            let behind = layout.bytes(part.count);
            let end = |start: Addr, pitch: u64| Addr {
                offset: start.offset + (next.rows - 1) * pitch + behind,
                ..start
            };
            let tail = Op {
                rows: 1,
                elements: part.tail,
                src_pitch: 0,
                dst_pitch: 0,
                src: end(next.src, next.src_pitch),
                dst: end(next.dst, next.dst_pitch),
                ..next
            };
            self.push(tail, layout);
        }
    }

    /// Adds a move, joining it to the one before where both make one strided move.
    fn push(&mut self, op: Op, layout: &Layout) {
        if op.rows == 0 || op.elements == 0 {
            return;
        }
        let op = solid(op, layout);
        if let Some(pending) = &mut self.pending {
            if let Some(joined) = join(pending, &op, layout) {
                *pending = joined;
                return;
            }
            self.flush();
        }
        self.pending = Some(op);
    }

    pub(crate) fn flush(&mut self) {
        if let Some(op) = self.pending.take() {
            self.engine.op(&op);
        }
    }

    pub(crate) fn me(&self) -> Rank {
        self.me
    }
}

/// Rows that follow one another without a gap on both sides are one row.
fn solid(op: Op, layout: &Layout) -> Op {
    let row = layout.bytes(op.elements);
    if op.rows > 1 && op.src_pitch == row && op.dst_pitch == row {
        Op {
            rows: 1,
            elements: op.elements * op.rows,
            src_pitch: 0,
            dst_pitch: 0,
            ..op
        }
    } else {
        op
    }
}

/// `first` and then `second` as one move, if that is one.
fn join(first: &Op, second: &Op, layout: &Layout) -> Option<Op> {
    let alike = (first.kind, first.peer, first.src.buffer, first.dst.buffer)
        == (
            second.kind,
            second.peer,
            second.src.buffer,
            second.dst.buffer,
        );
    if !alike {
        return None;
    }
    let src = second.src.offset.checked_sub(first.src.offset)?;
    let dst = second.dst.offset.checked_sub(first.dst.offset)?;
    let row = layout.bytes(first.elements);
    if first.rows == 1 && second.rows == 1 && src == row && dst == row {
        return Some(Op {
            elements: first.elements + second.elements,
            ..*first
        });
    }
    let (src_pitch, dst_pitch) = match (first.rows, second.rows) {
        (1, 1) => (src, dst),
        (1, _) => (second.src_pitch, second.dst_pitch),
        _ => (first.src_pitch, first.dst_pitch),
    };
    let fits = second.rows == 1 || (second.src_pitch, second.dst_pitch) == (src_pitch, dst_pitch);
    let follows = src == first.rows * src_pitch && dst == first.rows * dst_pitch;
    (first.elements == second.elements && fits && follows && src_pitch >= row && dst_pitch >= row)
        .then(|| {
            let rows = first.rows + second.rows;
            solid(
                Op {
                    rows,
                    src_pitch,
                    dst_pitch,
                    ..*first
                },
                layout,
            )
        })
}
