//! One rank's operations for one leaf.
//!
//! The rank's copy of each slot of the level lies in one of its buffers; the leaf keeps track of
//! which. Nothing is copied beforehand: sends read the user's input as long as the slot is as the
//! user gave it, puts go where the data is to end up when the engine can write there, and after the
//! last step only what still lies elsewhere is copied.

use crate::emit::{Emitter, Moved};
use crate::error::ExecError;
use crate::holding::{Pattern, bundle};
use crate::layout::{Layout, Side};
use crate::op::{Buffer, Engine, OpKind};
use crate::script::{Extent, Stage};
use coll_cluster::{Matched, Rank};
use coll_lang::words::Operation;
use coll_planner::{Dir, Place, Schedule, Transfer};

/// One leaf on one rank, in one shape of loop.
pub(crate) struct Leaf<'a> {
    stage: &'a Stage,
    schedule: &'a Schedule,
    matched: &'a Matched,
    layout: &'a Layout,
    part: Extent,
    remote_output: bool,
    me: Rank,
    /// This rank's index in the level.
    index: u32,
    /// Members of the level.
    n: u32,
    /// The slots that stand for slot 0 of the level; others are at [`Matched::offset`] from them.
    pattern: Pattern,
    /// Where this rank's copy of each slot of the level lies.
    at: Vec<Option<Buffer>>,
}

/// What came in and was parked: a slot, who sent it, and where it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Parked {
    slot: u32,
    sender: u32,
    bundle: u32,
    reduce: bool,
}

/// The two counters between the ranks of a level, for each stream.
#[derive(Clone, Copy, Debug)]
enum Handshake {
    /// The receiver's memory may be written.
    Ready,
    /// The data is there.
    Data,
}

impl Handshake {
    const fn flag(self, stream: u32) -> u32 {
        2 * stream + self as u32
    }
}

/// Flags below this are those of [`Handshake`], for `streams` streams.
pub(crate) const fn handshake_flags(streams: u32) -> u32 {
    2 * streams
}

impl<'a> Leaf<'a> {
    pub(crate) fn new(
        stage: &'a Stage,
        schedule: &'a Schedule,
        matched: &'a Matched,
        layout: &'a Layout,
        part: Extent,
        remote_output: bool,
        me: Rank,
    ) -> Self {
        let level = &matched.levels()[stage.level as usize];
        let index = matched.index(stage.level, me);
        let mut at = vec![None; level.size as usize];
        match stage.op {
            Operation::AllGather => at[index as usize] = Some(stage.input.at),
            _ => at.fill(Some(stage.input.at)),
        }
        Self {
            stage,
            schedule,
            matched,
            layout,
            part,
            remote_output,
            me,
            index,
            n: level.size,
            pattern: bundle(matched, me, stage.input.holding.free, level.dims),
            at,
        }
    }

    /// Emits the steps of the schedule and what is left to do after them.
    pub(crate) fn emit<E: Engine>(mut self, out: &mut Emitter<'_, E>) -> Result<(), ExecError> {
        let mut step = 0;
        for transfers in self.schedule.steps() {
            out.at(self.stage.stream, self.stage.node, step);
            self.step(step, transfers, out)?;
            step += 1;
        }
        out.at(self.stage.stream, self.stage.node, step);
        self.finish(step, out)
    }

    fn step<E: Engine>(
        &mut self,
        step: u32,
        transfers: &[Transfer],
        out: &mut Emitter<'_, E>,
    ) -> Result<(), ExecError> {
        for transfer in transfers {
            self.check(transfer)?;
        }
        let ready = Handshake::Ready.flag(self.stage.stream);
        let data = Handshake::Data.flag(self.stage.stream);
        let of = |dir| move |t: &&Transfer| t.dir == dir;
        for recv in transfers.iter().filter(of(Dir::Recv)) {
            if !self.is_empty(recv) {
                out.signal(self.member(recv.peer), ready);
            }
        }
        for send in transfers.iter().filter(of(Dir::Send)) {
            if !self.is_empty(send) {
                out.wait(self.member(send.peer), ready);
                self.put(step, send, out)?;
                out.signal(self.member(send.peer), data);
            }
        }
        for recv in transfers.iter().filter(of(Dir::Recv)) {
            if !self.is_empty(recv) {
                out.wait(self.member(recv.peer), data);
            }
        }
        let parked = self.land(transfers);
        self.unpark(step, &parked, out)
    }

    /// Schedules that name what is not there are refused before they are used.
    fn check(&self, transfer: &Transfer) -> Result<(), ExecError> {
        let node = self.stage.node;
        let parts = self.schedule.parts(transfer);
        let fits = match transfer.place {
            Place::Slot => !transfer.reduce,
            Place::Park(first) => {
                let end = u64::from(first) + parts.len() as u64;
                end <= u64::from(self.schedule.parking())
            }
        };
        if !fits {
            return Err(ExecError::BadPlace { node });
        }
        let indices = parts.iter().map(|p| p.slot).chain([transfer.peer]);
        let mut indices = indices;
        match indices.find(|&i| i >= self.n) {
            None => Ok(()),
            Some(index) => Err(ExecError::BadIndex {
                node,
                index,
                n: self.n,
            }),
        }
    }

    /// Whether no element would move. Both sides see the same slots, so both leave it out.
    fn is_empty(&self, transfer: &Transfer) -> bool {
        let mut parts = self.schedule.parts(transfer).iter();
        let has_tail = |slot| self.part.tail > 0 && self.has_last(slot);
        !parts.any(|part| self.part.count > 0 || has_tail(part.slot))
    }

    fn put<E: Engine>(
        &self,
        step: u32,
        send: &Transfer,
        out: &mut Emitter<'_, E>,
    ) -> Result<(), ExecError> {
        for (i, part) in (0..).zip(self.schedule.parts(send)) {
            let slot = part.slot;
            let src = self.slot(slot, self.held(step, slot)?);
            let dst = match send.place {
                Place::Park(first) => self.layout.parking(&self.pattern, first + i, self.part),
                Place::Slot => self.slot(slot, self.landing(slot, send.peer)),
            };
            self.moved(OpKind::Put, self.member(send.peer), slot, &src, &dst, out);
        }
        Ok(())
    }

    /// Notes where this step's receives have landed; returns those that are parked, by slot and
    /// sender.
    fn land(&mut self, transfers: &[Transfer]) -> Vec<Parked> {
        let mut parked = Vec::new();
        for recv in transfers.iter().filter(|t| t.dir == Dir::Recv) {
            for (i, part) in (0..).zip(self.schedule.parts(recv)) {
                match recv.place {
                    Place::Slot => {
                        self.at[part.slot as usize] = Some(self.landing(part.slot, self.index));
                    }
                    Place::Park(first) => parked.push(Parked {
                        slot: part.slot,
                        sender: recv.peer,
                        bundle: first + i,
                        reduce: recv.reduce,
                    }),
                }
            }
        }
        parked.sort_unstable();
        parked
    }

    /// Moves what is parked to where the slots are to be, adding in the order of the senders.
    fn unpark<E: Engine>(
        &mut self,
        step: u32,
        parked: &[Parked],
        out: &mut Emitter<'_, E>,
    ) -> Result<(), ExecError> {
        // All slots are brought to their places first: then neighbouring moves stay neighbours.
        for group in parked.chunk_by(|a, b| a.slot == b.slot) {
            let slot = group[0].slot;
            let home = self.home(slot);
            if group.iter().any(|p| p.reduce) {
                let held = self.held(step, slot)?;
                self.copy(slot, held, home, out);
            }
            self.at[slot as usize] = Some(home);
        }
        for group in parked.chunk_by(|a, b| a.slot == b.slot) {
            let own = self.slot(group[0].slot, self.home(group[0].slot));
            for replacing in group.iter().filter(|p| !p.reduce) {
                self.local(
                    OpKind::Copy,
                    replacing.slot,
                    &self.place(replacing),
                    &own,
                    out,
                );
            }
            let reducing = || group.iter().filter(|p| p.reduce);
            // Contributions from before this rank are added up among themselves, in the place of the
            // first of them; then the rank's own is added, then those from after it.
            let mut before = reducing().filter(|p| p.sender < self.index);
            if let Some(first) = before.next() {
                let sum = self.place(first);
                for next in before {
                    self.local(OpKind::Reduce, next.slot, &self.place(next), &sum, out);
                }
                self.local(OpKind::Reduce, first.slot, &sum, &own, out);
            }
            for next in reducing().filter(|p| p.sender >= self.index) {
                self.local(OpKind::Reduce, next.slot, &self.place(next), &own, out);
            }
        }
        Ok(())
    }

    /// Copies what the leaf leaves and what does not lie yet where it is to be.
    fn finish<E: Engine>(&self, step: u32, out: &mut Emitter<'_, E>) -> Result<(), ExecError> {
        let left = match self.stage.op {
            Operation::ReduceScatter => self.index..self.index + 1,
            _ => 0..self.n,
        };
        for slot in left {
            self.copy(slot, self.held(step, slot)?, self.stage.output.at, out);
        }
        Ok(())
    }

    fn copy<E: Engine>(&self, slot: u32, from: Buffer, to: Buffer, out: &mut Emitter<'_, E>) {
        if from != to {
            self.local(
                OpKind::Copy,
                slot,
                &self.slot(slot, from),
                &self.slot(slot, to),
                out,
            );
        }
    }

    fn local<E: Engine>(
        &self,
        kind: OpKind,
        slot: u32,
        src: &Side,
        dst: &Side,
        out: &mut Emitter<'_, E>,
    ) {
        self.moved(kind, self.me, slot, src, dst, out);
    }

    fn moved<E: Engine>(
        &self,
        kind: OpKind,
        peer: Rank,
        slot: u32,
        src: &Side,
        dst: &Side,
        out: &mut Emitter<'_, E>,
    ) {
        let moved = Moved {
            kind,
            peer,
            pattern: &self.pattern,
            part: self.part,
            has_last: self.has_last(slot),
        };
        out.bundle(moved, src, dst, self.layout);
    }

    fn slot(&self, slot: u32, buffer: Buffer) -> Side {
        let offset = self.matched.offset(self.stage.level, slot);
        self.layout.slots(&self.pattern, offset, buffer, self.part)
    }

    fn place(&self, parked: &Parked) -> Side {
        self.layout.parking(&self.pattern, parked.bundle, self.part)
    }

    fn member(&self, index: u32) -> Rank {
        self.matched.member(self.stage.level, self.me, index)
    }

    fn has_last(&self, slot: u32) -> bool {
        self.pattern.has_last && slot + 1 == self.n
    }

    fn held(&self, step: u32, slot: u32) -> Result<Buffer, ExecError> {
        self.at[slot as usize].ok_or(ExecError::NotHeld {
            node: self.stage.node,
            rank: self.me,
            step,
            slot,
        })
    }

    /// Where this rank works on a slot: in the output when that is where it goes and has a place for
    /// it, else in the CCL buffer.
    fn home(&self, slot: u32) -> Buffer {
        if self.layout.output_has(slot, self.index) {
            self.stage.output.at
        } else {
            Buffer::Ccl
        }
    }

    /// Where a put of a slot lands at the member `receiver`.
    fn landing(&self, slot: u32, receiver: u32) -> Buffer {
        if self.remote_output && self.layout.output_has(slot, receiver) {
            self.stage.output.at
        } else {
            Buffer::Ccl
        }
    }
}
