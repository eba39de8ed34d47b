//! What can go wrong when programs are loaded and run.

use crate::memory::OutOfMemory;
use coll_cluster::Rank;
use coll_executor::{ExecError, Op, OpKind, Origin};
use coll_lang::diagnostics::codes::{self, Code};
use std::fmt;

/// Why programs cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The programs are not those of all ranks of one call, in rank order.
    #[error("program {position} is not that of rank {position} of the same call")]
    Incomplete {
        /// The position.
        position: usize,
    },
    /// An operation is not one.
    #[error("rank {rank}, {op:?}: {fault}")]
    Op {
        /// The rank whose program it is in.
        rank: Rank,
        /// The operation.
        op: Op,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The peer does not exist.
    #[error("the peer does not exist")]
    NoSuchRank,
    /// The stream does not exist.
    #[error("the stream does not exist")]
    NoSuchStream,
    /// It reaches beyond a buffer, at the latest in the last repetition.
    #[error("it reaches beyond a buffer")]
    OutOfBounds,
    /// It would write the user's input.
    #[error("it writes the user's input")]
    WritesInput,
    /// Its rows overlap where it writes.
    #[error("its rows overlap where they are written")]
    RowsOverlap,
    /// It reads where it writes.
    #[error("it reads what it writes")]
    Overlap,
    /// It reduces in a call without reduction.
    #[error("it reduces in a call that says no reduction")]
    NothingToReduce,
    /// Two streams wait on the same counter, so that either could take a signal.
    #[error("another stream waits on the same counter")]
    SeveralWaiters,
    /// More operations than can be numbered.
    #[error("the program has more operations than can be numbered")]
    TooMany,
}

/// An operation that waits for a signal that never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The rank that waits.
    pub rank: Rank,
    /// Its stream.
    pub stream: u32,
    /// The rank whose signal does not come.
    pub peer: Rank,
    /// Which of its counters.
    pub flag: u32,
    /// Where the wait comes from.
    pub origin: Origin,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rank {} waits for rank {} in step {} of node {}",
            self.rank, self.peer, self.origin.step, self.origin.node.0
        )
    }
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Ranks wait for one another.
    #[error("the ranks wait for one another: {}", list(.blocked))]
    Deadlock {
        /// Every stream that has not come to its end, by rank.
        blocked: Vec<Blocked>,
    },
    /// Signals were left over.
    #[error("rank {from} signals rank {to} more often than that waits for it (flag {flag})")]
    Unawaited {
        /// The rank that signals.
        from: Rank,
        /// The rank that does not wait.
        to: Rank,
        /// The counter.
        flag: u32,
    },
    /// A user buffer is not as long as the programs need.
    #[error("a buffer of rank {rank} has {has} bytes and must have {needs}")]
    WrongSize {
        /// The rank.
        rank: Rank,
        /// Bytes it must have.
        needs: u64,
        /// Bytes it has.
        has: u64,
    },
    /// No memory for the CCL buffers.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
}

/// As many as a person wants to read.
fn list(blocked: &[Blocked]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = blocked.iter().take(SHOWN).map(Blocked::to_string).collect();
    if blocked.len() > SHOWN {
        text.push(format!("and {} more", blocked.len() - SHOWN));
    }
    text.join("; ")
}

/// Why an algorithm could not be tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalError {
    /// The tree cannot be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The executor made programs that are not ones.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The run did not come to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No memory for the user's buffers.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
}

impl LocalError {
    /// The code of the diagnostic that says so.
    pub fn code(&self) -> Code {
        match self {
            Self::Exec(error) => error.code(),
            Self::Run(RunError::Deadlock { .. } | RunError::Unawaited { .. }) => codes::E1004,
            Self::Run(RunError::WrongSize { .. }) | Self::Load(_) => codes::E1002,
            Self::Run(RunError::Memory(_)) | Self::Memory(_) => codes::E1003,
        }
    }
}

impl Blocked {
    /// What `op` of `rank` is blocked on; none unless it waits.
    pub(crate) fn at(rank: Rank, op: &Op) -> Option<Self> {
        (op.kind == OpKind::Wait).then_some(Self {
            rank,
            stream: op.stream,
            peer: op.peer,
            flag: op.flag,
            origin: op.origin,
        })
    }
}
