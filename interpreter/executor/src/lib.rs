//! The OpsExecutor: from a tree, a matched topology and a request to the operations of each rank.
//!
//! [`Executor::new`] walks the tree once for all ranks and loops: SEQUENCE hands groups and buffers
//! on, PARALLEL cuts every slot by weight or deals groups out. [`Executor::emit`] plans one rank and
//! pushes its operations into an [`Engine`]: [`Op`]s of five kinds (put, copy, reduce, signal, wait)
//! on streams. [`Program`] is the engine that records them.

mod cut;
mod emit;
mod error;
mod executor;
mod holding;
mod layout;
mod leaf;
mod loops;
mod op;
mod prepare;
mod request;
mod script;

pub use cut::{WeightError, Weights};
pub use error::ExecError;
pub use executor::Executor;
pub use holding::Holding;
pub use loops::{Shape, per_slot, whole_vector};
pub use op::{
    Addr, Buffer, Capabilities, Engine, Header, Op, OpKind, Origin, Program, Repeat, Segment,
};
pub use prepare::{PrepareError, Prepared, match_cluster, prepare};
pub use request::{DEFAULT_CCL_BYTES, MAX_LOOP_SLOT_BYTES, Request, RequestError, UserSlots};
pub use script::{Group, NodeGroups, Stage};
