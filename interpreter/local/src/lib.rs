//! The engine that moves data in this process.
//!
//! [`run`] tries an algorithm: it makes inputs, runs the programs of all ranks on them, and compares
//! every element with the reference; [`Trial`] does the same on the caller's inputs. [`Machine`] runs programs on buffers of the caller.

mod error;
pub mod inputs;
mod kernels;
mod machine;
mod memory;
pub mod reference;
mod run;
mod trial;

pub use error::{Blocked, Fault, LoadError, LocalError, RunError};
pub use machine::Machine;
pub use memory::{Bytes, OutOfMemory};
pub use run::{Order, Scratch};
pub use trial::{CAPABILITIES, LOOP_BYTES, Options, Outcome, StageReport, Trial, plan, run};
