//! Running the streams of all ranks.
//!
//! A stream runs until it comes to a wait that is not satisfied; then it is parked on its counter,
//! and the signal that satisfies it puts it into the queue of streams that can go on. Workers take
//! streams from the queue; nothing ever waits busily. When no stream can go on and no worker is at
//! work, those that are left are blocked for ever, which is reported.

#![expect(
    unsafe_code,
    reason = "streams of several ranks write to one buffer, in the order that their signals make"
)]

use crate::error::{Blocked, RunError};
use crate::kernels::Kernel;
use crate::machine::{Machine, Step, TaskId};
use crate::memory::Bytes;
use coll_cluster::Rank;
use coll_executor::{Addr, Buffer, Op, OpKind, Repeat};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// In which order streams that can go on do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they come, on this many threads.
    Threads(usize),
    /// One after another in an order drawn from the seed, changing places at any operation. Every
    /// seed is a legal order, so that a program that depends on luck shows.
    Seed(u64),
}

/// The CCL buffers of all ranks. Kept between runs, so that they are allocated once.
pub struct Scratch(Vec<Bytes>);

impl Scratch {
    /// CCL buffers as the programs of `machine` need them.
    ///
    /// # Errors
    /// [`RunError::Memory`] when there is not enough.
    pub fn new(machine: &Machine<'_>) -> Result<Self, RunError> {
        let buffers = machine.headers().iter().map(|h| Bytes::zeroed(h.ccl_bytes));
        Ok(Self(buffers.collect::<Result<_, _>>()?))
    }
}

impl Machine<'_> {
    /// Runs the programs on the inputs and outputs of all ranks, in rank order.
    ///
    /// # Errors
    /// [`RunError`] when a buffer has another size than the programs were made for, or when the
    /// programs do not come to their end. What the outputs hold then is undefined.
    pub fn run(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        scratch: &mut Scratch,
        order: Order,
    ) -> Result<(), RunError> {
        self.check_buffers(inputs, outputs, scratch)?;
        let mut bases = Vec::with_capacity(3 * inputs.len());
        for ((input, output), ccl) in inputs.iter().zip(outputs).zip(&mut scratch.0) {
            // Inputs are never written: the machine refuses programs that would.
            bases.push(Base(input.as_ptr().cast_mut()));
            bases.push(Base(output.as_mut_ptr()));
            bases.push(Base(ccl.as_mut_ptr()));
        }
        let run = Run {
            machine: self,
            bases,
            cursors: self.tasks.iter().map(|_| Mutex::default()).collect(),
            counts: self.channels.iter().map(|_| AtomicI64::new(0)).collect(),
        };
        match order {
            Order::Seed(seed) => run.in_order(seed),
            Order::Threads(threads) => run.on_threads(threads.clamp(1, self.tasks.len().max(1))),
        }
        run.outcome()
    }

    fn check_buffers(
        &self,
        inputs: &[&[u8]],
        outputs: &[&mut [u8]],
        scratch: &Scratch,
    ) -> Result<(), RunError> {
        for (i, header) in self.headers.iter().enumerate() {
            let needs = [header.input_bytes, header.output_bytes, header.ccl_bytes];
            let has = [
                inputs.get(i).map(|b| b.len()),
                outputs.get(i).map(|b| b.len()),
                scratch.0.get(i).map(|b| b.len()),
            ];
            for (needs, has) in needs.into_iter().zip(has) {
                let has = has.unwrap_or(0) as u64;
                if has != needs {
                    return Err(RunError::WrongSize {
                        rank: header.rank,
                        needs,
                        has,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Where a stream is.
#[derive(Default)]
struct Cursor {
    segment: usize,
    iteration: u64,
    /// The next step; the one before it is what a parked stream waits for.
    next: usize,
    done: bool,
}

/// Why a stream stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It is parked.
    Parked,
    /// It has come to its end.
    Done,
    /// It has had its turn.
    Turn,
}

/// The beginning of a buffer.
#[derive(Clone, Copy)]
struct Base(*mut u8);

// SAFETY: a plain address; what is read and written there is ordered by the programs' signals.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

struct Run<'m, 'p> {
    machine: &'m Machine<'p>,
    /// Input, output and CCL buffer of each rank.
    bases: Vec<Base>,
    cursors: Vec<Mutex<Cursor>>,
    /// Signals minus waits of each counter; -1 when its waiter is parked.
    counts: Vec<AtomicI64>,
}

/// Streams that can go on.
struct Queue {
    ready: VecDeque<TaskId>,
    /// Workers that are running a stream.
    working: usize,
    /// Workers that sleep until there is something to run.
    asleep: usize,
    /// Streams that have not come to their end.
    left: usize,
    /// Whether nothing can ever go on again.
    stuck: bool,
}

struct Workers {
    queue: Mutex<Queue>,
    more: Condvar,
}

/// A lock whose holder panicked guards nothing that others rely on here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    fn wake(&self, task: TaskId) {
        let mut queue = lock(&self.queue);
        queue.ready.push_back(task);
        if queue.asleep > 0 {
            self.more.notify_one();
        }
    }

    /// The next stream to run; none when there is nothing left to do. `before` is how the last one
    /// stopped.
    fn next(&self, before: Option<Stop>) -> Option<TaskId> {
        let mut queue = lock(&self.queue);
        if let Some(stop) = before {
            queue.working -= 1;
            queue.left -= usize::from(stop == Stop::Done);
        }
        loop {
            if let Some(task) = queue.ready.pop_front() {
                queue.working += 1;
                return Some(task);
            }
            queue.stuck |= queue.working == 0;
            if queue.left == 0 || queue.stuck {
                self.more.notify_all();
                return None;
            }
            queue.asleep += 1;
            queue = self
                .more
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            queue.asleep -= 1;
        }
    }
}

impl Run<'_, '_> {
    fn on_threads(&self, threads: usize) {
        let tasks = self.machine.tasks.len();
        let workers = Workers {
            queue: Mutex::new(Queue {
                ready: (0..tasks as TaskId).collect(),
                working: 0,
                asleep: 0,
                left: tasks,
                stuck: false,
            }),
            more: Condvar::new(),
        };
        let work = || {
            let mut before = None;
            while let Some(task) = workers.next(before) {
                before = Some(self.run_task(task, u64::MAX, &mut |woken| workers.wake(woken)));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }

    fn in_order(&self, seed: u64) {
        /// The most operations that a stream runs in one turn.
        const TURN: u64 = 8;
        let mut random = crate::inputs::Random::new(seed);
        let mut ready: Vec<TaskId> = (0..self.machine.tasks.len() as TaskId).collect();
        while !ready.is_empty() {
            let task = ready.swap_remove(random.below(ready.len() as u64) as usize);
            let turn = 1 + random.below(TURN);
            let stop = self.run_task(task, turn, &mut |woken| ready.push(woken));
            if stop == Stop::Turn {
                ready.push(task);
            }
        }
    }

    /// Runs a stream for at most `turn` operations, waking others through `wake`.
    fn run_task(&self, task: TaskId, turn: u64, wake: &mut dyn FnMut(TaskId)) -> Stop {
        let task = task as usize;
        let stream = &self.machine.tasks[task];
        let program = &self.machine.programs[stream.rank as usize];
        // Held for the whole turn: should the stream be woken before it has let go of the cursor,
        // whoever runs it next waits here.
        let mut cursor = lock(&self.cursors[task]);
        for _ in 0..turn {
            let Some(step) = next_step(&stream.segments, &mut cursor, |segment| {
                program.segments[segment].repeat.times
            }) else {
                cursor.done = true;
                return Stop::Done;
            };
            let segment = &program.segments[cursor.segment];
            let op = &segment.ops[step.op as usize];
            match op.kind {
                OpKind::Signal => {
                    let before = self.counts[step.channel as usize].fetch_add(1, Ordering::AcqRel);
                    if before < 0 {
                        let waiter = self.machine.channels[step.channel as usize].waiter;
                        wake(waiter.expect("only its waiter takes a counter below 0"));
                    }
                }
                OpKind::Wait => {
                    let before = self.counts[step.channel as usize].fetch_sub(1, Ordering::AcqRel);
                    if before <= 0 {
                        return Stop::Parked;
                    }
                }
                OpKind::Put | OpKind::Copy | OpKind::Reduce => {
                    self.move_rows(stream.rank, op, &segment.repeat, cursor.iteration);
                }
            }
        }
        Stop::Turn
    }

    fn move_rows(&self, rank: u32, op: &Op, repeat: &Repeat, iteration: u64) {
        let header = &self.machine.headers[rank as usize];
        let target = match op.kind {
            OpKind::Put => op.peer.0,
            _ => rank,
        };
        let src = self.address(rank, op.src, repeat, iteration);
        let dst = self.address(target, op.dst, repeat, iteration);
        let row = (op.elements * header.dtype.size()) as usize;
        let kernel = match op.kind {
            OpKind::Reduce => self.machine.kernel,
            _ => None,
        };
        for i in 0..op.rows {
            // SAFETY: `Machine::new` found all rows of this move, in every repetition, to lie within
            // the buffers that `check_buffers` found to have the sizes of the headers; the ranges do
            // not overlap, and nothing writes the input. That no other stream writes what is read
            // here, or touches what is written, is what the signals of the programs are for.
            unsafe {
                let src = src.add((i * op.src_pitch) as usize);
                let dst = dst.add((i * op.dst_pitch) as usize);
                move_row(src, dst, row, kernel);
            }
        }
    }

    fn address(&self, rank: u32, addr: Addr, repeat: &Repeat, iteration: u64) -> *mut u8 {
        let (buffer, shift) = match addr.buffer {
            Buffer::Input => (0, repeat.input_shift),
            Buffer::Output => (1, repeat.output_shift),
            Buffer::Ccl => (2, 0),
        };
        let offset = addr.offset + iteration * shift;
        let base = self.bases[3 * rank as usize + buffer].0;
        // SAFETY: within the buffer, by the bounds that `Machine::new` has checked.
        unsafe { base.add(offset as usize) }
    }

    /// Whether all streams have come to their end and all signals were awaited.
    fn outcome(&self) -> Result<(), RunError> {
        let mut blocked = Vec::new();
        for (stream, cursor) in self.machine.tasks.iter().zip(&self.cursors) {
            let cursor = lock(cursor);
            if !cursor.done {
                let step = stream.segments[cursor.segment][cursor.next - 1];
                let program = &self.machine.programs[stream.rank as usize];
                let op = &program.segments[cursor.segment].ops[step.op as usize];
                blocked.extend(Blocked::at(Rank(stream.rank), op));
            }
        }
        if !blocked.is_empty() {
            return Err(RunError::Deadlock { blocked });
        }
        for (channel, count) in self.machine.channels.iter().zip(&self.counts) {
            if count.load(Ordering::Relaxed) != 0 {
                return Err(RunError::Unawaited {
                    from: channel.from,
                    to: channel.to,
                    flag: channel.flag,
                });
            }
        }
        Ok(())
    }
}

/// The step that `cursor` is at, and moves the cursor behind it; none at the end.
fn next_step(
    segments: &[Vec<Step>],
    cursor: &mut Cursor,
    times: impl Fn(usize) -> u64,
) -> Option<Step> {
    loop {
        let steps = segments.get(cursor.segment)?;
        if let Some(&step) = steps.get(cursor.next) {
            cursor.next += 1;
            return Some(step);
        }
        cursor.next = 0;
        cursor.iteration += 1;
        if steps.is_empty() || cursor.iteration >= times(cursor.segment) {
            cursor.segment += 1;
            cursor.iteration = 0;
        }
    }
}

/// Copies or reduces `len` bytes.
///
/// # Safety
/// `src` can be read and `dst` read and written for `len` bytes, they do not overlap, and nobody else
/// writes `src` or touches `dst` meanwhile.
unsafe fn move_row(src: *const u8, dst: *mut u8, len: usize, kernel: Option<Kernel>) {
    match kernel {
        // SAFETY: as the caller guarantees.
        None => unsafe { std::ptr::copy_nonoverlapping(src, dst, len) },
        Some(kernel) => {
            // SAFETY: as the caller guarantees; the bytes are initialised, as all buffers are.
            let (src, dst) = unsafe {
                (
                    std::slice::from_raw_parts(src, len),
                    std::slice::from_raw_parts_mut(dst, len),
                )
            };
            kernel(src, dst);
        }
    }
}
