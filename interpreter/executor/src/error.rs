//! Why a tree cannot be executed.

use crate::cut::WeightError;
use crate::request::RequestError;
use coll_cluster::Rank;
use coll_lang::contract::Dims;
use coll_lang::diagnostics::codes::{self, Code};
use coll_lang::library::NodeId;
use coll_lang::words::Operation;
use coll_planner::PlanError;

/// Why a tree cannot be executed. Trees that passed the checker only meet the limits of the request;
/// the rest is found all the same, so that nothing wrong is ever emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The request is not one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The CCL buffer cannot hold one element of every slot.
    #[error("the CCL buffer needs at least {needs} bytes and has {has}")]
    Buffer {
        /// Bytes that one element of every slot takes, with the bundles that are parked.
        needs: u64,
        /// Bytes that there are.
        has: u64,
    },
    /// More bytes than can be addressed.
    #[error("the scratch that the algorithm needs is more than can be addressed")]
    ScratchTooLarge,
    /// More parallel branches than can be told apart.
    #[error("the tree has {streams} branches side by side, more than can be told apart")]
    TooManyStreams {
        /// How many.
        streams: u32,
    },
    /// An omnipipe node.
    #[error("omnipipe nodes are not executed yet")]
    OmniPipe {
        /// The node.
        node: NodeId,
    },
    /// A leaf of an operation that the executor does not carry out.
    #[error("a stage of operation {op} is not executed yet")]
    Operation {
        /// The leaf.
        node: NodeId,
        /// Its operation.
        op: Operation,
    },
    /// A leaf names a level that the matched topology does not have.
    #[error("level {level} does not exist; the topology has {levels}")]
    NoSuchLevel {
        /// The leaf.
        node: NodeId,
        /// The level's position.
        level: u32,
        /// Levels there are.
        levels: usize,
    },
    /// A leaf finds dimensions that are not as it needs them.
    #[error("{op} finds dimensions {:?} of the grid in another state than it needs", .dims)]
    State {
        /// The leaf.
        node: NodeId,
        /// Its operation.
        op: Operation,
        /// The dimensions.
        dims: Dims,
    },
    /// A leaf takes one group and finds several.
    #[error("a leaf takes one group and finds {groups}")]
    ManyGroups {
        /// The leaf.
        node: NodeId,
        /// Groups it finds.
        groups: usize,
    },
    /// A parallel can cut one group or deal out as many as it has children.
    #[error("a parallel of {children} children cannot take {groups} groups")]
    Deal {
        /// The parallel.
        node: NodeId,
        /// Groups it finds.
        groups: usize,
        /// Its children.
        children: usize,
    },
    /// Weights on a parallel that deals groups out.
    #[error("groups that are dealt out cannot be weighed")]
    WeightsOfDealt {
        /// The parallel.
        node: NodeId,
    },
    /// Weights that are not one for each child.
    #[error("a parallel of {children} children has {weights} weights")]
    WeightCount {
        /// The parallel.
        node: NodeId,
        /// Its children.
        children: usize,
        /// Its weights.
        weights: usize,
    },
    /// Weights that cannot cut anything.
    #[error("{error}")]
    Weights {
        /// The parallel.
        node: NodeId,
        /// What is wrong with them.
        error: WeightError,
    },
    /// A node without children.
    #[error("a node has no children")]
    NoChildren {
        /// The node.
        node: NodeId,
    },
    /// The tree does not end as its operation promises.
    #[error("the algorithm does not end as {op} promises")]
    WrongEnd {
        /// The operation.
        op: Operation,
    },
    /// A planner has no answer.
    #[error("{error}")]
    Plan {
        /// The leaf.
        node: NodeId,
        /// Why.
        error: PlanError,
    },
    /// A schedule names a member or slot that its level does not have.
    #[error("the template names member or slot {index} in a level of {n}")]
    BadIndex {
        /// The leaf.
        node: NodeId,
        /// What it names.
        index: u32,
        /// Members of the level.
        n: u32,
    },
    /// A schedule lets something land that must be parked, or parks beyond its parking.
    #[error("the template lets a reduction land where it cannot be parked")]
    BadPlace {
        /// The leaf.
        node: NodeId,
    },
    /// A schedule sends, reduces or promises a slot that the rank does not hold.
    #[error("in step {step} of its template, rank {rank} does not hold slot {slot}")]
    NotHeld {
        /// The leaf.
        node: NodeId,
        /// The rank.
        rank: Rank,
        /// The step; the number of steps where it is missing at the end.
        step: u32,
        /// The slot, by its owner's index in the level.
        slot: u32,
    },
    /// A rank that does not exist.
    #[error("rank {rank} does not exist; the cluster has {ranks}")]
    NoSuchRank {
        /// The rank.
        rank: Rank,
        /// How many there are.
        ranks: u32,
    },
}

impl ExecError {
    /// The code of the diagnostic that says so.
    pub fn code(&self) -> Code {
        match self {
            Self::Request(RequestError::TooLarge { .. })
            | Self::ScratchTooLarge
            | Self::TooManyStreams { .. } => codes::E1003,
            Self::Request(_) | Self::NoSuchRank { .. } => codes::E1002,
            Self::Buffer { .. } => codes::E1001,
            Self::OmniPipe { .. } => codes::E0313,
            Self::Operation { .. } => codes::E0316,
            Self::NoSuchLevel { .. } => codes::E0401,
            Self::State { .. } => codes::E0301,
            Self::ManyGroups { .. } => codes::E0302,
            Self::Deal { .. } => codes::E0310,
            Self::WeightsOfDealt { .. } => codes::E0501,
            Self::WeightCount { .. } => codes::E0502,
            Self::Weights { .. } => codes::E0503,
            Self::NoChildren { .. } => codes::E0312,
            Self::WrongEnd { .. } => codes::E0308,
            Self::Plan { error, .. } => error.code(),
            Self::BadIndex { .. } | Self::BadPlace { .. } | Self::NotHeld { .. } => codes::E0801,
        }
    }

    /// The tree node that it is about.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::OmniPipe { node }
            | Self::Operation { node, .. }
            | Self::NoSuchLevel { node, .. }
            | Self::State { node, .. }
            | Self::ManyGroups { node, .. }
            | Self::Deal { node, .. }
            | Self::WeightsOfDealt { node }
            | Self::WeightCount { node, .. }
            | Self::Weights { node, .. }
            | Self::NoChildren { node }
            | Self::Plan { node, .. }
            | Self::BadIndex { node, .. }
            | Self::BadPlace { node }
            | Self::NotHeld { node, .. } => Some(*node),
            Self::Request(_)
            | Self::Buffer { .. }
            | Self::ScratchTooLarge
            | Self::TooManyStreams { .. }
            | Self::WrongEnd { .. }
            | Self::NoSuchRank { .. } => None,
        }
    }
}
