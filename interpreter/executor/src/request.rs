//! What is asked of an algorithm.

use coll_cluster::Rank;
use coll_lang::words::{DType, Operation, ReduceOp};

/// A call of a collective operation. The same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Operation,
    /// Elements in the operation's own convention: what one rank sends (allgather), receives
    /// (reducescatter), or the whole vector (allreduce).
    pub count: u64,
    /// The type of an element.
    pub dtype: DType,
    /// How elements are combined; given exactly for operations that reduce.
    pub reduce: Option<ReduceOp>,
    /// The root; given exactly for operations that have one.
    pub root: Option<Rank>,
    /// Bytes of each rank's CCL buffer. A call that does not fit is cut into loops.
    pub ccl_bytes: u64,
    /// Where loops should stay below this for speed: bytes of the CCL buffer that are used at once.
    /// Never makes a call fail that fits `ccl_bytes`.
    pub loop_bytes: Option<u64>,
}

/// The CCL buffer that HCCL gives a communicator unless told otherwise.
pub const DEFAULT_CCL_BYTES: u64 = 200 << 20;

/// The most bytes of one slot that one loop moves, as in HCCL.
pub const MAX_LOOP_SLOT_BYTES: u64 = 256 << 20;

/// Why a request does not fit its operation or the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The operation is not one that the executor carries out.
    #[error("{op} has no tree that could be executed")]
    Operation {
        /// The operation.
        op: Operation,
    },
    /// An operation that reduces, without a reduction.
    #[error("{op} needs a reduction: sum, prod, min or max")]
    NeedsReduce {
        /// The operation.
        op: Operation,
    },
    /// A reduction for an operation that moves only.
    #[error("{op} does not reduce, and the request says {reduce}")]
    UnexpectedReduce {
        /// The operation.
        op: Operation,
        /// The reduction given.
        reduce: ReduceOp,
    },
    /// A root for an operation that has none.
    #[error("{op} has no root, and the request names rank {root}")]
    UnexpectedRoot {
        /// The operation.
        op: Operation,
        /// The root given.
        root: Rank,
    },
    /// More bytes than can be addressed.
    #[error("{count} elements of {dtype} on {ranks} ranks are more bytes than can be addressed")]
    TooLarge {
        /// Elements.
        count: u64,
        /// Their type.
        dtype: DType,
        /// Ranks.
        ranks: u32,
    },
}

/// How the slots of one user buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSlots {
    /// Only the rank's own slot.
    One,
    /// The slots of all ranks, in rank order.
    All,
}

impl Request {
    /// The slots in the user's input and output, for operations that the executor carries out.
    pub fn user_slots(&self) -> Option<(UserSlots, UserSlots)> {
        match self.op {
            Operation::AllGather => Some((UserSlots::One, UserSlots::All)),
            Operation::ReduceScatter => Some((UserSlots::All, UserSlots::One)),
            Operation::AllReduce => Some((UserSlots::All, UserSlots::All)),
            _ => None,
        }
    }

    /// Whether `count` is that of the whole vector, cut into one slot per rank, instead of that of
    /// one slot.
    pub fn whole_vector(&self) -> bool {
        self.op == Operation::AllReduce
    }

    /// Bytes of the user's input and output on each of `ranks` ranks.
    ///
    /// # Errors
    /// [`RequestError`] when the request is not one of its operation or too large.
    pub fn user_bytes(&self, ranks: u32) -> Result<(u64, u64), RequestError> {
        let op = self.op;
        let (input, output) = self.user_slots().ok_or(RequestError::Operation { op })?;
        match (op, self.reduce) {
            (Operation::AllGather, Some(reduce)) => {
                return Err(RequestError::UnexpectedReduce { op, reduce });
            }
            (Operation::ReduceScatter | Operation::AllReduce, None) => {
                return Err(RequestError::NeedsReduce { op });
            }
            _ => {}
        }
        if let Some(root) = self.root {
            return Err(RequestError::UnexpectedRoot { op, root });
        }
        let too_large = RequestError::TooLarge {
            count: self.count,
            dtype: self.dtype,
            ranks,
        };
        let one = self.count.checked_mul(self.dtype.size()).ok_or(too_large)?;
        let all = match self.whole_vector() {
            true => one,
            false => one.checked_mul(u64::from(ranks)).ok_or(too_large)?,
        };
        let bytes = |slots| match slots {
            UserSlots::One => one,
            UserSlots::All => all,
        };
        Ok((bytes(input), bytes(output)))
    }
}
