//! Where slots lie in the buffers, in one shape of loop.

use crate::holding::Pattern;
use crate::loops::Shape;
use crate::op::{Addr, Buffer};
use crate::request::{Request, UserSlots};
use crate::script::Extent;
use coll_cluster::GridDim;
use smallvec::SmallVec;

/// The addresses of slots in loops of one shape. In the CCL buffer the slot of rank `R` is at `R`
/// times the loop's slot (with its tail, so that the last one fits too); parking follows behind the
/// slots in places of the same size. A user buffer has the loop's part of each of its slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Bytes of an element.
    size: u64,
    ranks: u64,
    /// Elements from one slot of the CCL buffer to the next.
    ccl: u64,
    /// Elements from one slot of a user buffer that has all of them to the next.
    user: u64,
    /// Elements of each user slot that earlier loops have done.
    offset: u64,
    input: UserSlots,
    output: UserSlots,
}

/// A strided list of equal rows: `start + Σ i·pitch` over the runs of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) start: Addr,
    /// Bytes, one for each run.
    pub(crate) pitches: SmallVec<[u64; 4]>,
}

impl Layout {
    pub(crate) fn new(request: &Request, ranks: u32, shape: &Shape) -> Option<Self> {
        let (input, output) = request.user_slots()?;
        Some(Self {
            size: request.dtype.size(),
            ranks: u64::from(ranks),
            ccl: shape.slot + shape.tail,
            user: match request.whole_vector() {
                true => shape.slot,
                false => request.count,
            },
            offset: shape.offset,
            input,
            output,
        })
    }

    /// Bytes of `elements` elements.
    pub(crate) fn bytes(&self, elements: u64) -> u64 {
        elements * self.size
    }

    /// Whether the output of the member with index `receiver` has a place for slot `slot`.
    pub(crate) fn output_has(&self, slot: u32, receiver: u32) -> bool {
        self.output == UserSlots::All || slot == receiver
    }

    /// The slots of `pattern`, moved by `offset` slots, in `buffer`.
    pub(crate) fn slots(
        &self,
        pattern: &Pattern,
        offset: u32,
        buffer: Buffer,
        part: Extent,
    ) -> Side {
        let first = u64::from(pattern.base + offset);
        let (slot, stride, before) = match self.user_slots(buffer) {
            None => (first, self.ccl, 0),
            Some(UserSlots::All) => (first, self.user, self.offset),
            // Such a buffer has but one slot, whoever's it is.
            Some(UserSlots::One) => (0, 0, self.offset),
        };
        Side {
            start: Addr {
                buffer,
                offset: self.bytes(slot * stride + before + part.offset),
            },
            pitches: pattern
                .runs
                .iter()
                .map(|run| self.bytes(u64::from(run.stride) * stride))
                .collect(),
        }
    }

    /// Parking place `bundle`, for bundles of the slots of `pattern`, which lie there without gaps.
    pub(crate) fn parking(&self, pattern: &Pattern, bundle: u32, part: Extent) -> Side {
        let mut slots = 1;
        let pitches = pattern.runs.iter().map(|run: &GridDim| {
            let pitch = self.bytes(slots * self.ccl);
            slots *= u64::from(run.size);
            pitch
        });
        let pitches = pitches.collect();
        let place = self.ranks + u64::from(bundle) * slots;
        Side {
            start: Addr {
                buffer: Buffer::Ccl,
                offset: self.bytes(place * self.ccl + part.offset),
            },
            pitches,
        }
    }

    fn user_slots(&self, buffer: Buffer) -> Option<UserSlots> {
        match buffer {
            Buffer::Input => Some(self.input),
            Buffer::Output => Some(self.output),
            Buffer::Ccl => None,
        }
    }
}
