//! Neighbours only.

use super::Member;
use crate::schedule::ScheduleBuilder;

/// In step s each member hands on to its upper neighbour the slot it got in the step before, its own
/// first.
pub(super) fn all_gather(at: Member, schedule: &mut ScheduleBuilder) {
    for s in 1..at.n {
        schedule.send(at.up(1), [at.down(s - 1)]);
        schedule.recv(at.down(1), [at.down(s)]);
        schedule.end_step();
    }
}

/// The all-gather backwards: a slot collects contributions on its way down to its owner.
pub(super) fn reduce_scatter(at: Member, schedule: &mut ScheduleBuilder) {
    for s in (1..at.n).rev() {
        schedule.send_reduce(at.down(1), 0, [at.down(s)]);
        schedule.recv_reduce(at.up(1), 0, [at.down(s - 1)]);
        schedule.end_step();
    }
    schedule.park(1);
}
