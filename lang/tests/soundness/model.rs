//! Slots and contributions, by brute force.

use crate::trees::{Levels, Node};
use coll_lang::words::Operation;
use std::ops::Range;

/// A regular grid of ranks with a root; dimension 0 is fastest.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) sizes: Vec<usize>,
    pub(crate) root: usize,
}

impl Grid {
    pub(crate) fn ranks(&self) -> usize {
        self.sizes.iter().product()
    }

    fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut rest = rank;
        self.sizes
            .iter()
            .map(|&size| (rest % size, rest /= size).0)
            .collect()
    }

    /// Whether two ranks have the same coordinates along `dims`.
    fn agree(&self, a: usize, b: usize, dims: &[usize]) -> bool {
        let (a, b) = (self.coordinates(a), self.coordinates(b));
        dims.iter().all(|&d| a[d] == b[d])
    }
}

/// Why an execution is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A reduction finds a contribution twice, or not at every member.
    BadReduction,
    /// The shares of the data do not fit the tree.
    Groups,
    /// The result is not what the operation promises.
    Result,
}

/// What every rank holds: for each unit (a slot, or a block of an all-to-all) and piece the set of
/// contributions, as bits; none where it holds nothing.
struct Memory {
    units: usize,
    pieces: usize,
    held: Vec<Option<u16>>,
}

impl Memory {
    fn pieces(&self, rank: usize, unit: usize) -> Range<usize> {
        let start = (rank * self.units + unit) * self.pieces;
        start..start + self.pieces
    }
}

/// Runs a tree and compares its result with what the operation promises.
///
/// Every slot is cut into `pieces`, of which each child of a parallel needs at least one.
pub(crate) fn run(
    tree: &Node,
    op: Operation,
    grid: &Grid,
    levels: &Levels,
    pieces: usize,
) -> Result<(), Wrong> {
    let memory = start(op, grid, pieces);
    let mut machine = Machine {
        grid,
        levels,
        memory,
        blocks: is_exchange(op),
    };
    machine.node(tree, vec![0..pieces])?;
    if promised(op, grid, &machine.memory) {
        Ok(())
    } else {
        Err(Wrong::Result)
    }
}

fn is_exchange(op: Operation) -> bool {
    op == Operation::AllToAll
}

fn start(op: Operation, grid: &Grid, pieces: usize) -> Memory {
    let n = grid.ranks();
    let units = if is_exchange(op) { n * n } else { n };
    let mut memory = Memory {
        units,
        pieces,
        held: vec![None; n * units * pieces],
    };
    for rank in 0..n {
        for unit in 0..units {
            let holds = match op {
                Operation::AllGather | Operation::Gather => unit == rank,
                Operation::Broadcast | Operation::Scatter => rank == grid.root,
                Operation::AllToAll => unit / n == rank,
                _ => true,
            };
            if holds {
                let pieces = memory.pieces(rank, unit);
                memory.held[pieces].fill(Some(1 << rank));
            }
        }
    }
    memory
}

fn promised(op: Operation, grid: &Grid, memory: &Memory) -> bool {
    let n = grid.ranks();
    let everyone = ((1u32 << n) - 1) as u16;
    (0..n).all(|rank| {
        (0..memory.units).all(|unit| {
            let (needed, contributions) = match op {
                Operation::AllGather => (true, 1 << unit),
                Operation::Gather => (rank == grid.root, 1 << unit),
                Operation::ReduceScatter => (unit == rank, everyone),
                Operation::AllReduce => (true, everyone),
                Operation::Reduce => (rank == grid.root, everyone),
                Operation::Broadcast => (true, 1 << grid.root),
                Operation::Scatter => (unit == rank, 1 << grid.root),
                _ => (unit % n == rank, 1 << (unit / n)),
            };
            let pieces = memory.pieces(rank, unit);
            !needed
                || memory.held[pieces]
                    .iter()
                    .all(|p| *p == Some(contributions))
        })
    })
}

struct Machine<'a> {
    grid: &'a Grid,
    levels: &'a Levels,
    memory: Memory,
    blocks: bool,
}

impl Machine<'_> {
    /// Runs a node on shares of every slot; returns the shares as the node leaves them.
    fn node(&mut self, node: &Node, shares: Vec<Range<usize>>) -> Result<Vec<Range<usize>>, Wrong> {
        match node {
            Node::Leaf(op, level) => {
                let [share] = shares.as_slice() else {
                    return Err(Wrong::Groups);
                };
                self.leaf(*op, *level, share.clone())?;
                Ok(shares)
            }
            Node::Sequence(children) => children
                .iter()
                .try_fold(shares, |shares, child| self.node(child, shares)),
            Node::Parallel(children) => self.parallel(children, shares),
            Node::OmniPipe(x, y) => {
                let [share] = shares.as_slice() else {
                    return Err(Wrong::Groups);
                };
                let middle = share.start + share.len() / 2;
                for (share, axes) in [(share.start..middle, [x, y]), (middle..share.end, [y, x])] {
                    for axis in axes {
                        self.node(axis, vec![share.clone()])?;
                    }
                }
                Ok(shares)
            }
        }
    }

    fn parallel(
        &mut self,
        children: &[Node],
        shares: Vec<Range<usize>>,
    ) -> Result<Vec<Range<usize>>, Wrong> {
        let n = children.len();
        let incoming: Vec<Vec<Range<usize>>> = match shares.as_slice() {
            _ if n == 1 => vec![shares],
            [share] => {
                let each = share.len() / n;
                let start = |i: usize| share.start + each * i;
                let end = |i: usize| if i + 1 == n { share.end } else { start(i + 1) };
                (0..n).map(|i| vec![start(i)..end(i)]).collect()
            }
            several if several.len() == n => several.iter().map(|s| vec![s.clone()]).collect(),
            _ => return Err(Wrong::Groups),
        };
        let mut outgoing = Vec::new();
        for (child, shares) in children.iter().zip(incoming) {
            outgoing.extend(self.node(child, shares)?);
        }
        let alike = outgoing.len() == n && outgoing.iter().all(|s| self.same(&outgoing[0], s));
        if alike {
            return Ok(vec![outgoing[0].start..outgoing[n - 1].end]);
        }
        Ok(outgoing)
    }

    /// Whether every rank holds the same of two shares.
    fn same(&self, a: &Range<usize>, b: &Range<usize>) -> bool {
        self.memory.held.chunks(self.memory.pieces).all(|pieces| {
            let first = pieces[a.start];
            pieces[a.clone()]
                .iter()
                .chain(&pieces[b.clone()])
                .all(|p| *p == first)
        })
    }

    fn leaf(&mut self, op: Operation, level: usize, share: Range<usize>) -> Result<(), Wrong> {
        let dims = &self.levels.dims[level];
        let others: Vec<usize> = (0..self.grid.sizes.len())
            .filter(|d| !dims.contains(d))
            .collect();
        let n = self.grid.ranks();
        let mut done = vec![false; n];
        for rank in 0..n {
            if done[rank] {
                continue;
            }
            let members: Vec<usize> = (0..n)
                .filter(|&r| self.grid.agree(r, rank, &others))
                .collect();
            for &member in &members {
                done[member] = true;
            }
            self.template(op, dims, &members, share.clone())?;
        }
        Ok(())
    }

    /// The index of the member whose slots `unit` is part of: that with the coordinates of the slot,
    /// or of the block's destination.
    fn member_of(&self, unit: usize, dims: &[usize], members: &[usize]) -> usize {
        let n = self.grid.ranks();
        let rank = if self.blocks { unit % n } else { unit };
        members
            .iter()
            .position(|&m| self.grid.agree(m, rank, dims))
            .expect("a level has a member for every coordinate")
    }

    /// One template on one sub-communicator.
    fn template(
        &mut self,
        op: Operation,
        dims: &[usize],
        members: &[usize],
        share: Range<usize>,
    ) -> Result<(), Wrong> {
        let root = members
            .iter()
            .position(|&m| self.grid.agree(m, self.grid.root, dims))
            .expect("a level has a member with the root's coordinates");
        for unit in 0..self.memory.units {
            let owner = self.member_of(unit, dims, members);
            for piece in share.clone() {
                let at = |member: usize| self.memory.pieces(member, unit).start + piece;
                let held: Vec<Option<u16>> =
                    members.iter().map(|&m| self.memory.held[at(m)]).collect();
                let places: Vec<usize> = members.iter().map(|&m| at(m)).collect();
                for (place, value) in places.into_iter().zip(outcome(op, &held, owner, root)?) {
                    self.memory.held[place] = value;
                }
            }
        }
        Ok(())
    }
}

/// What the members hold of one piece afterwards. `owner` is the member whose slot it is.
fn outcome(
    op: Operation,
    held: &[Option<u16>],
    owner: usize,
    root: usize,
) -> Result<Vec<Option<u16>>, Wrong> {
    let n = held.len();
    let only = |at: usize, value| {
        let mut after = vec![None; n];
        after[at] = value;
        after
    };
    Ok(match op {
        // The owner sends to all; where it has nothing, the others keep what they had.
        Operation::AllGather => match held[owner] {
            Some(value) => vec![Some(value); n],
            None => held.to_vec(),
        },
        Operation::ReduceScatter => only(owner, reduce(held)?),
        Operation::AllReduce => vec![reduce(held)?; n],
        Operation::Reduce => only(root, reduce(held)?),
        Operation::Broadcast => vec![held[root]; n],
        Operation::Scatter => only(owner, held[root]),
        Operation::Gather => only(root, held[owner]),
        // Whoever holds the block sends it to its destination; two that hold it collide.
        Operation::AllToAll => {
            let mut holders = held.iter().flatten();
            let value = holders.next().copied();
            if holders.next().is_some() {
                return Err(Wrong::BadReduction);
            }
            only(owner, value)
        }
        _ => held.to_vec(),
    })
}

/// All contributions together: every member must have some, none twice; or none has any.
fn reduce(held: &[Option<u16>]) -> Result<Option<u16>, Wrong> {
    if held.iter().all(Option::is_none) {
        return Ok(None);
    }
    held.iter()
        .try_fold(Some(0), |sum, value| match (sum, value) {
            (Some(sum), Some(value)) if sum & value == 0 => Ok(Some(sum | value)),
            _ => Err(Wrong::BadReduction),
        })
}
