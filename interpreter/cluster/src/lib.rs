//! Clusters as ranks see them: coordinates, planes, and the topologies that match.
//!
//! A [`Cluster`] answers where a rank sits and which plane joins two ranks. [`match_topology`] makes
//! a [`Matched`] of a cluster and the levels of a topology: a full grid of dimensions in which every
//! level is a set of dimensions, so that everything above works on coordinates and never on lists of
//! ranks. All queries cost the depth of the cluster (times the logarithm of the groups of an uneven
//! layer), however many ranks there are.

mod cluster;
mod grid;
mod layer;
mod matching;
mod planes;
mod rank;

pub use cluster::{Cluster, ClusterError};
pub use grid::{GridDim, Matched, MatchedLevel};
pub use matching::{Form, Mismatch, Requirement, match_topology};
pub use planes::PlaneId;
pub use rank::Rank;
