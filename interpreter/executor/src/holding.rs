//! Who holds which slots: the executor's own account of ownership.

use coll_cluster::{GridDim, Matched, Rank};
use coll_lang::contract::Dims;
use coll_lang::words::Operation;
use smallvec::SmallVec;

/// What every rank holds of one share of the data, as a pattern on the grid: the slots that agree
/// with the rank's own coordinates along all dimensions that are not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holding {
    /// Dimensions along which the slots of every coordinate are held.
    pub free: Dims,
    /// Free dimensions along which other ranks' contributions are still missing.
    pub partial: Dims,
}

/// The slots that one rank holds: `base + Σ i·stride` over the runs, `i` below the run's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The first slot.
    pub(crate) base: u32,
    /// The runs, fastest first.
    pub(crate) runs: SmallVec<[GridDim; 4]>,
    /// Whether the last slot of all is among them.
    pub(crate) has_last: bool,
}

impl Holding {
    /// What is held before `op`; none for operations that the executor does not carry out.
    pub(crate) fn before(op: Operation, all: Dims) -> Option<Self> {
        match op {
            Operation::AllGather => Some(Self::own()),
            Operation::ReduceScatter | Operation::AllReduce => Some(Self {
                free: all,
                partial: all,
            }),
            _ => None,
        }
    }

    /// What must be held after `op`.
    pub(crate) fn promised(op: Operation, all: Dims) -> Option<Self> {
        match op {
            Operation::AllGather | Operation::AllReduce => Some(Self {
                free: all,
                partial: Dims::EMPTY,
            }),
            Operation::ReduceScatter => Some(Self::own()),
            _ => None,
        }
    }

    const fn own() -> Self {
        Self {
            free: Dims::EMPTY,
            partial: Dims::EMPTY,
        }
    }

    /// What is held after a leaf of operation `op` that joins the dimensions `joined`; or the
    /// dimensions that are not as it needs them. None for operations that no leaf can have.
    pub(crate) fn after(self, op: Operation, joined: Dims) -> Option<Result<Self, Dims>> {
        let (unready, after) = match op {
            Operation::AllGather => (
                joined.and(self.free),
                Self {
                    free: self.free.or(joined),
                    ..self
                },
            ),
            Operation::ReduceScatter => (
                joined.without(self.partial),
                Self {
                    free: self.free.without(joined),
                    partial: self.partial.without(joined),
                },
            ),
            Operation::AllReduce => (
                joined.without(self.partial),
                Self {
                    partial: self.partial.without(joined),
                    ..self
                },
            ),
            _ => return None,
        };
        Some(if unready.is_empty() {
            Ok(after)
        } else {
            Err(unready)
        })
    }

    /// The slots that `rank` holds.
    pub(crate) fn pattern(self, matched: &Matched, rank: Rank) -> Pattern {
        bundle(matched, rank, self.free, Dims::EMPTY)
    }

    /// The owners of the slots that `rank` holds, in rank order.
    pub fn ranks(self, matched: &Matched, rank: Rank) -> Vec<Rank> {
        let Pattern { base, runs, .. } = self.pattern(matched, rank);
        let mut ranks = vec![base];
        // The slowest run outermost, so that the result ascends.
        for run in runs.iter().rev() {
            ranks = ranks
                .iter()
                .flat_map(|&first| (0..run.size).map(move |i| first + i * run.stride))
                .collect();
        }
        ranks.into_iter().map(Rank).collect()
    }
}

/// The slots that agree with `rank` outside of `free` and `joined` and are at coordinate 0 of
/// `joined`: those of a level's member 0, to which [`Matched::offset`] is added for others.
/// `has_last` speaks of the level's last member.
pub(crate) fn bundle(matched: &Matched, rank: Rank, free: Dims, joined: Dims) -> Pattern {
    let dims = matched.dims();
    let fixed = Dims::first(dims.len() as u32).without(free).without(joined);
    let at_end = |d: u32| matched.coordinate(rank, d) + 1 == dims[d as usize].size;
    Pattern {
        base: matched.part(rank, fixed),
        runs: matched.runs(free.without(joined)),
        has_last: fixed.iter().all(at_end),
    }
}
