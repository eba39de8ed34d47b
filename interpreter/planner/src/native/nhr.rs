//! Nonuniform hierarchical ring.
//!
//! `S = ceil(log2 n)` steps with distances `d` of powers of two. With `σ = 2d` and
//! `k = floor((n - 1 + d) / σ)`, the all-gather goes from the greatest distance to the least: member
//! `r` sends the slots `r - iσ` (`i < k`) to `r + d` and receives the slots `r - d - iσ` from
//! `r - d`. The reduce-scatter is the same backwards. The formulas hold for every `n`, not only for
//! powers of two: no slot is received twice and none is left out.

use super::Member;
use crate::schedule::ScheduleBuilder;

pub(super) fn all_gather(at: Member, schedule: &mut ScheduleBuilder) {
    let mut slots = Vec::new();
    for s in (0..rounds(at.n)).rev() {
        let d = 1 << s;
        chain(at, at.me, d, &mut slots);
        schedule.send(at.up(d), slots.iter().copied());
        chain(at, at.down(d), d, &mut slots);
        schedule.recv(at.down(d), slots.iter().copied());
        schedule.end_step();
    }
}

pub(super) fn reduce_scatter(at: Member, schedule: &mut ScheduleBuilder) {
    let mut slots = Vec::new();
    for s in 0..rounds(at.n) {
        let d = 1 << s;
        chain(at, at.down(d), d, &mut slots);
        schedule.send_reduce(at.down(d), 0, slots.iter().copied());
        chain(at, at.me, d, &mut slots);
        schedule.recv_reduce(at.up(d), 0, slots.iter().copied());
        schedule.park(slots.len() as u32);
        schedule.end_step();
    }
}

/// `ceil(log2 n)`, for `n` of at least 2.
fn rounds(n: u32) -> u32 {
    u32::BITS - (n - 1).leading_zeros()
}

/// The slots `from - iσ` for `i` in `0..k`, in ascending order.
fn chain(at: Member, from: u32, d: u32, slots: &mut Vec<u32>) {
    let (n, d, from) = (u64::from(at.n), u64::from(d), u64::from(from));
    let k = (n - 1 + d) / (2 * d);
    slots.clear();
    // 2d(k - 1) is below n, so adding n once keeps the difference from going below 0.
    slots.extend((0..k).map(|i| ((from + n - 2 * d * i) % n) as u32));
    // At most two descending runs, which the stable sort finds and merges in linear time.
    slots.sort();
}
