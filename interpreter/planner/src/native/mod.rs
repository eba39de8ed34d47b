//! The families that are planned natively.

mod mesh;
mod nhr;
mod ring;

use crate::planners::{PlanError, Task};
use crate::schedule::{Schedule, ScheduleBuilder};
use coll_lang::words::Operation;

/// A native family of schedules. An all-reduce is the reduce-scatter and then the all-gather of the
/// same family, in one schedule. On a level of one member nothing is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Native {
    /// Everybody with everybody, in one step.
    Mesh,
    /// Nonuniform hierarchical ring: partners at distances of powers of two.
    Nhr,
    /// Neighbours only.
    Ring,
}

impl Native {
    /// Every family.
    pub const ALL: &'static [Self] = &[Self::Mesh, Self::Nhr, Self::Ring];

    /// The name of the template that stands for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Nhr => "nhr",
            Self::Ring => "ring",
        }
    }

    /// The family of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// The names of all families, as a list.
    pub(crate) fn names() -> String {
        Self::ALL
            .iter()
            .map(|f| f.name())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Plans one member's part.
    ///
    /// # Errors
    /// [`PlanError::Operation`] for an operation the family does not have,
    /// [`PlanError::NoSuchMember`] when `me` is not below `n`.
    pub fn plan(self, task: Task) -> Result<Schedule, PlanError> {
        let Task { op, n, me, .. } = task;
        if me >= n {
            return Err(PlanError::NoSuchMember { me, n });
        }
        let (reduces, gathers) = match op {
            Operation::AllGather => (false, true),
            Operation::ReduceScatter => (true, false),
            Operation::AllReduce => (true, true),
            _ => {
                return Err(PlanError::Operation {
                    template: self.name().into(),
                    op,
                });
            }
        };
        let mut schedule = ScheduleBuilder::default();
        let at = Member { n, me };
        if n > 1 && reduces {
            match self {
                Self::Mesh => mesh::reduce_scatter(at, &mut schedule),
                Self::Nhr => nhr::reduce_scatter(at, &mut schedule),
                Self::Ring => ring::reduce_scatter(at, &mut schedule),
            }
        }
        if n > 1 && gathers {
            match self {
                Self::Mesh => mesh::all_gather(at, &mut schedule),
                Self::Nhr => nhr::all_gather(at, &mut schedule),
                Self::Ring => ring::all_gather(at, &mut schedule),
            }
        }
        Ok(schedule.finish())
    }
}

/// One member of a level of at least two, and arithmetic modulo the level's size.
#[derive(Clone, Copy, Debug)]
struct Member {
    n: u32,
    me: u32,
}

impl Member {
    /// Member `me + d`.
    fn up(self, d: u32) -> u32 {
        Self::wrap(self, u64::from(self.me) + u64::from(d % self.n))
    }

    /// Member `me - d`.
    fn down(self, d: u32) -> u32 {
        Self::wrap(self, u64::from(self.me) + u64::from(self.n - d % self.n))
    }

    fn wrap(self, x: u64) -> u32 {
        (x % u64::from(self.n)) as u32
    }
}
