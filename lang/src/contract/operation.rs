//! What each operation needs and leaves.

use super::States;
use coll_grammar::words::{Operation, StateWord};

/// What a leaf of an operation does to the dimensions of its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state that every dimension of the level must be in.
    pub needs: StateWord,
    /// The state it is in afterwards.
    pub leaves: StateWord,
}

/// The transition of an operation; none for those that have no tree.
pub fn transition(op: Operation) -> Option<Transition> {
    use StateWord::{All, Dst, Own, Partial, Root, Src};
    let (needs, leaves) = match op {
        Operation::AllGather | Operation::AllGatherV => (Own, All),
        Operation::ReduceScatter | Operation::ReduceScatterV => (Partial, Own),
        Operation::AllReduce | Operation::Barrier => (Partial, All),
        Operation::Broadcast => (Root, All),
        Operation::Scatter => (Root, Own),
        Operation::Gather => (Own, Root),
        Operation::Reduce => (Partial, Root),
        Operation::AllToAll | Operation::AllToAllV | Operation::AllToAllVC => (Src, Dst),
        Operation::Send | Operation::Recv | Operation::BatchSendRecv => return None,
    };
    Some(Transition { needs, leaves })
}

/// The states in which an algorithm of this operation starts; none for those without a tree.
pub fn start_states(op: Operation, dims: u32) -> Option<States> {
    transition(op).map(|t| States::uniform(t.needs, dims))
}

/// The states in which it must end.
pub fn end_states(op: Operation, dims: u32) -> Option<States> {
    transition(op).map(|t| States::uniform(t.leaves, dims))
}

/// Whether a leaf of `stage` moves the kind of data that an algorithm of `whole` has: a barrier has
/// none, and counts per rank exist only where the whole operation has them.
pub(super) fn can_be_stage(stage: Operation, whole: Operation) -> bool {
    let barrier = |op| op == Operation::Barrier;
    let varying = |op| {
        matches!(
            op,
            Operation::AllGatherV
                | Operation::ReduceScatterV
                | Operation::AllToAllV
                | Operation::AllToAllVC
        )
    };
    transition(stage).is_some()
        && barrier(stage) == barrier(whole)
        && (!varying(stage) || stage == whole)
}
