//! The ownership contract: the type system of algorithms.
//!
//! At every point of a tree the data is described by a [`Contract`]: a list of [`Group`]s, each the
//! states along all dimensions of the cluster and the share of every slot it covers. [`check_tree`]
//! derives the contract after every node from the one before it, for every size of the cluster at
//! once.

mod state;

pub use state::{Dims, MAX_DIMS, States};
