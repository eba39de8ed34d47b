//! The ownership contract: the type system of algorithms.
//!
//! At every point of a tree the data is described by a [`Contract`]: a list of [`Group`]s, each the
//! states along all dimensions of the cluster and the share of every slot it covers. [`check_tree`]
//! derives the contract after every node from the one before it, for every size of the cluster at
//! once. [`explain`] puts a [`Problem`] into words.

mod check;
mod describe;
mod explain;
mod group;
mod operation;
mod state;
#[cfg(test)]
mod tests;

pub use check::{Problem, ProblemKind, Trace, check_tree};
pub use describe::{describe_contract, describe_states};
pub use explain::{Context, explain};
pub use group::{Contract, Cut, Group, Share};
pub use operation::{Transition, end_states, start_states, transition};
pub use state::{Dims, MAX_DIMS, States};
