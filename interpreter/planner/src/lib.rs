//! Who sends which slots to whom, in which step, on one level.
//!
//! A planner is asked about one member of one sub-communicator ([`Task`]) and answers with that
//! member's [`Schedule`]. It knows indices inside the level, slots and steps; it knows no buffers, no
//! engine and no bytes. [`Native`] holds the families that are planned here; [`Planners`] finds the
//! planner of a template.

mod native;
mod planners;
mod schedule;

pub use native::Native;
pub use planners::{NativePlanners, PlanError, Planners, Task};
pub use schedule::{Dir, Part, Place, Schedule, ScheduleBuilder, Transfer};
