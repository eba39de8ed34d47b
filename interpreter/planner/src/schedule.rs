//! What a planner returns.

use std::ops::Range;

/// One member's part in one run of a template: steps, in each of them transfers. All transfers of a
/// step are concurrent; what is sent is the state from before the step.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// One past the last transfer of each step.
    steps: Vec<usize>,
    transfers: Vec<Transfer>,
    parts: Vec<Part>,
    parking: u32,
}

/// One message: some slots to or from one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The other side, by its index in the level.
    pub peer: u32,
    /// Which way the data goes.
    pub dir: Dir,
    /// Whether the receiver adds what comes in to what it holds, instead of replacing it.
    pub reduce: bool,
    /// Where it lands at the receiver. Both sides state the same, so that the sender can address it.
    pub place: Place,
    parts: Range<usize>,
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dir {
    /// From this member to the peer.
    Send,
    /// From the peer to this member.
    Recv,
}

/// Where a transfer lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the slots themselves.
    Slot,
    /// In the receiver's parking area: the first part at this bundle, the next ones behind it. After
    /// the step's receives it is added to the slots (or replaces them), for each slot in ascending
    /// order of the senders with the receiver's own value in its own place.
    Park(u32),
}

/// What of a slot is moved. A slot of a level is a whole bundle of slots where other dimensions are
/// gathered already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The slot, by the index of its owner in the level.
    pub slot: u32,
}

impl Schedule {
    /// The steps in order, each the list of its transfers.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &[Transfer]> {
        (0..self.steps.len()).map(|s| {
            let first = s.checked_sub(1).map_or(0, |before| self.steps[before]);
            &self.transfers[first..self.steps[s]]
        })
    }

    /// What `transfer`, one of this schedule, moves. Parts are distinct; the native planners list
    /// them in ascending order, so that neighbours can be moved together.
    pub fn parts(&self, transfer: &Transfer) -> &[Part] {
        &self.parts[transfer.parts.clone()]
    }

    /// Bundles of slots that each member needs for parking; the same on all members.
    pub fn parking(&self) -> u32 {
        self.parking
    }
}

/// Builds a [`Schedule`] step by step.
#[derive(Debug, Default)]
pub struct ScheduleBuilder(Schedule);

impl ScheduleBuilder {
    /// Adds a send to the current step.
    pub fn send(&mut self, peer: u32, slots: impl IntoIterator<Item = u32>) {
        self.push(peer, Dir::Send, false, Place::Slot, slots);
    }

    /// Adds a receive that replaces to the current step.
    pub fn recv(&mut self, peer: u32, slots: impl IntoIterator<Item = u32>) {
        self.push(peer, Dir::Recv, false, Place::Slot, slots);
    }

    /// Adds a send that the receiver reduces, parked there from bundle `park` on.
    pub fn send_reduce(&mut self, peer: u32, park: u32, slots: impl IntoIterator<Item = u32>) {
        self.push(peer, Dir::Send, true, Place::Park(park), slots);
    }

    /// Adds a receive that reduces, parked here from bundle `park` on.
    pub fn recv_reduce(&mut self, peer: u32, park: u32, slots: impl IntoIterator<Item = u32>) {
        self.push(peer, Dir::Recv, true, Place::Park(park), slots);
    }

    /// Adds any transfer to the current step.
    pub fn push(
        &mut self,
        peer: u32,
        dir: Dir,
        reduce: bool,
        place: Place,
        slots: impl IntoIterator<Item = u32>,
    ) {
        let first = self.0.parts.len();
        self.0
            .parts
            .extend(slots.into_iter().map(|slot| Part { slot }));
        self.0.transfers.push(Transfer {
            peer,
            dir,
            reduce,
            place,
            parts: first..self.0.parts.len(),
        });
    }

    /// Ends the current step. A member without transfers has the step all the same: steps are
    /// counted alike on all members.
    pub fn end_step(&mut self) {
        self.0.steps.push(self.0.transfers.len());
    }

    /// States that every member parks up to `bundles` bundles at once.
    pub fn park(&mut self, bundles: u32) {
        self.0.parking = self.0.parking.max(bundles);
    }

    /// The schedule.
    pub fn finish(self) -> Schedule {
        self.0
    }
}
