//! Everybody with everybody, in one step.

use super::Member;
use crate::schedule::ScheduleBuilder;

/// Each member sends its slot to all others, beginning with its upper neighbour so that not all
/// begin with the same.
pub(super) fn all_gather(at: Member, schedule: &mut ScheduleBuilder) {
    for d in 1..at.n {
        schedule.send(at.up(d), [at.me]);
    }
    for d in 1..at.n {
        schedule.recv(at.down(d), [at.down(d)]);
    }
    schedule.end_step();
}

/// Each member sends every other that one's slot. All contributions are parked, in the order of
/// their senders, so that the order of addition is that of the members.
pub(super) fn reduce_scatter(at: Member, schedule: &mut ScheduleBuilder) {
    /// The parking place of `sender` at `receiver`, who has none itself.
    fn place(sender: u32, receiver: u32) -> u32 {
        sender - u32::from(sender > receiver)
    }
    for d in 1..at.n {
        let peer = at.up(d);
        schedule.send_reduce(peer, place(at.me, peer), [peer]);
    }
    for d in 1..at.n {
        let peer = at.down(d);
        schedule.recv_reduce(peer, place(peer, at.me), [at.me]);
    }
    schedule.park(at.n - 1);
    schedule.end_step();
}
