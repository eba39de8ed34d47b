//! Programs made ready to run: validated, their counters and streams numbered.

use crate::error::{Fault, LoadError};
use crate::kernels::{Kernel, kernel};
use coll_cluster::Rank;
use coll_executor::{Addr, Buffer, Header, Op, OpKind, Program, Repeat, Segment};
use rustc_hash::FxHashMap;

/// A stream of a rank, by its number among all streams of all ranks.
pub(crate) type TaskId = u32;

/// The programs of all ranks, ready to run. Every access of every operation in every repetition has
/// been found to lie within the buffers.
pub struct Machine<'a> {
    pub(crate) programs: &'a [Program],
    pub(crate) headers: Vec<Header>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) kernel: Option<Kernel>,
}

/// A stream of a rank.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) rank: u32,
    /// For each segment its operations on this stream.
    pub(crate) segments: Vec<Vec<Step>>,
}

/// An operation of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Its position in the segment of the program.
    pub(crate) op: u32,
    /// The counter of a signal or wait.
    pub(crate) channel: u32,
}

/// A counter between two ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) from: Rank,
    pub(crate) to: Rank,
    pub(crate) flag: u32,
    /// The stream that waits on it; none where nothing does.
    pub(crate) waiter: Option<TaskId>,
}

impl<'a> Machine<'a> {
    /// Validates the programs of all ranks, in rank order.
    ///
    /// # Errors
    /// [`LoadError`] names the first operation that is not one.
    pub fn new(programs: &'a [Program]) -> Result<Self, LoadError> {
        let headers = headers(programs)?;
        let mut loader = Loader {
            headers: &headers,
            tasks: Vec::new(),
            first_task: Vec::new(),
            channels: Vec::new(),
            numbers: FxHashMap::default(),
        };
        for (program, header) in programs.iter().zip(&headers) {
            loader.first_task.push(loader.tasks.len() as u32);
            loader.tasks.extend((0..header.streams).map(|_| Task {
                rank: header.rank.0,
                segments: vec![Vec::new(); program.segments.len()],
            }));
        }
        for (program, header) in programs.iter().zip(&headers) {
            let running = |(_, s): &(usize, &Segment)| s.repeat.times > 0;
            for (s, segment) in program.segments.iter().enumerate().filter(running) {
                for (i, op) in segment.ops.iter().enumerate() {
                    let loaded = loader.load(header, s, i, op, &segment.repeat);
                    loaded.map_err(|fault| LoadError::Op {
                        rank: header.rank,
                        op: *op,
                        fault,
                    })?;
                }
            }
        }
        let Loader {
            tasks, channels, ..
        } = loader;
        let reduce = headers.first().and_then(|h| Some((h.dtype, h.reduce?)));
        Ok(Self {
            programs,
            tasks,
            channels,
            kernel: reduce.map(|(dtype, reduce)| kernel(dtype, reduce)),
            headers,
        })
    }

    /// What is known of each rank's program.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }
}

/// The headers, which must be those of all ranks of one call.
fn headers(programs: &[Program]) -> Result<Vec<Header>, LoadError> {
    let mut headers: Vec<Header> = Vec::with_capacity(programs.len());
    for (i, program) in programs.iter().enumerate() {
        let header = program
            .header
            .ok_or(LoadError::Incomplete { position: i })?;
        let first = headers.first().unwrap_or(&header);
        let fits = header.rank.index() == i
            && header.ranks as usize == programs.len()
            && (header.dtype, header.reduce) == (first.dtype, first.reduce);
        if !fits {
            return Err(LoadError::Incomplete { position: i });
        }
        headers.push(header);
    }
    Ok(headers)
}

struct Loader<'a> {
    headers: &'a [Header],
    tasks: Vec<Task>,
    first_task: Vec<u32>,
    channels: Vec<Channel>,
    numbers: FxHashMap<(Rank, Rank, u32), u32>,
}

/// The bytes that a move touches in one buffer in the first repetition, as a half-open range.
struct Hull {
    rank: Rank,
    buffer: Buffer,
    start: u64,
    end: u64,
}

impl Loader<'_> {
    fn load(
        &mut self,
        header: &Header,
        segment: usize,
        position: usize,
        op: &Op,
        repeat: &Repeat,
    ) -> Result<(), Fault> {
        if op.peer.index() >= self.headers.len() {
            return Err(Fault::NoSuchRank);
        }
        if op.stream >= header.streams {
            return Err(Fault::NoSuchStream);
        }
        let task = self.first_task[header.rank.index()] + op.stream;
        let channel = match op.kind {
            OpKind::Signal => self.channel(header.rank, op.peer, op.flag),
            OpKind::Wait => {
                let channel = self.channel(op.peer, header.rank, op.flag);
                let waiter = &mut self.channels[channel as usize].waiter;
                if *waiter.get_or_insert(task) != task {
                    return Err(Fault::SeveralWaiters);
                }
                channel
            }
            OpKind::Put | OpKind::Copy | OpKind::Reduce => {
                self.check_move(header, op, repeat)?;
                0
            }
        };
        self.tasks[task as usize].segments[segment].push(Step {
            op: u32::try_from(position).map_err(|_| Fault::TooMany)?,
            channel,
        });
        Ok(())
    }

    fn channel(&mut self, from: Rank, to: Rank, flag: u32) -> u32 {
        *self.numbers.entry((from, to, flag)).or_insert_with(|| {
            self.channels.push(Channel {
                from,
                to,
                flag,
                waiter: None,
            });
            self.channels.len() as u32 - 1
        })
    }

    fn check_move(&self, header: &Header, op: &Op, repeat: &Repeat) -> Result<(), Fault> {
        let target = match op.kind {
            OpKind::Put => op.peer,
            _ => header.rank,
        };
        let size = header.dtype.size();
        let row = op.elements.checked_mul(size).ok_or(Fault::OutOfBounds)?;
        let src = self.hull(header.rank, op.src, op.src_pitch, op.rows, row, repeat)?;
        let dst = self.hull(target, op.dst, op.dst_pitch, op.rows, row, repeat)?;
        if op.dst.buffer == Buffer::Input {
            return Err(Fault::WritesInput);
        }
        if op.rows > 1 && op.dst_pitch < row {
            return Err(Fault::RowsOverlap);
        }
        if op.kind == OpKind::Reduce && header.reduce.is_none() {
            return Err(Fault::NothingToReduce);
        }
        let same = (src.rank, src.buffer) == (dst.rank, dst.buffer);
        if same && src.start < dst.end && dst.start < src.end {
            return Err(Fault::Overlap);
        }
        Ok(())
    }

    /// The bytes of one side of a move, which must lie in the buffer in every repetition.
    fn hull(
        &self,
        rank: Rank,
        addr: Addr,
        pitch: u64,
        rows: u64,
        row: u64,
        repeat: &Repeat,
    ) -> Result<Hull, Fault> {
        let header = &self.headers[rank.index()];
        let (len, shift) = match addr.buffer {
            Buffer::Input => (header.input_bytes, repeat.input_shift),
            Buffer::Output => (header.output_bytes, repeat.output_shift),
            Buffer::Ccl => (header.ccl_bytes, 0),
        };
        let checked = || {
            let rows = rows.checked_sub(1)?.checked_mul(pitch)?.checked_add(row)?;
            let end = addr.offset.checked_add(rows)?;
            let last = repeat
                .times
                .checked_sub(1)?
                .checked_mul(shift)?
                .checked_add(end)?;
            (last <= len).then_some(end)
        };
        Ok(Hull {
            rank,
            buffer: addr.buffer,
            start: addr.offset,
            end: checked().ok_or(Fault::OutOfBounds)?,
        })
    }
}
