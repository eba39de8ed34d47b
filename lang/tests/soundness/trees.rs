//! Trees of the test, how the checker is given them, and random ones.

use coll_lang::contract::Dims;
use coll_lang::library::{
    Children, FlatKind, FlatLevel, FlatNode, FlatTree, NodeId, TemplateId, TreeIx,
};
use coll_lang::words::Operation;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf(Operation, usize),
    Sequence(Vec<Node>),
    Parallel(Vec<Node>),
    OmniPipe(Box<Node>, Box<Node>),
}

/// The levels of a grid: one per dimension, the first twice (two planes), all together.
pub(crate) struct Levels {
    pub(crate) dims: Vec<Vec<usize>>,
}

impl Levels {
    pub(crate) fn of(dims: usize) -> Self {
        let mut levels: Vec<Vec<usize>> = (0..dims).map(|d| vec![d]).collect();
        levels.push(vec![0]);
        if dims > 1 {
            levels.push((0..dims).collect());
        }
        if dims > 2 {
            levels.push(vec![1, 2]);
        }
        Self { dims: levels }
    }
}

pub(crate) fn flatten(tree: &Node, levels: &Levels, dims: usize) -> FlatTree {
    let levels = levels
        .dims
        .iter()
        .enumerate()
        .map(|(i, level)| FlatLevel {
            name: format!("L{i}").into(),
            dims: level
                .iter()
                .fold(Dims::EMPTY, |s, &d| s.or(Dims::only(d as u32))),
            via: None,
        })
        .collect();
    let mut flat = FlatTree {
        nodes: Vec::new(),
        children: Vec::new(),
        levels,
        dims: dims as u32,
    };
    add(tree, &mut flat);
    flat
}

fn add(tree: &Node, flat: &mut FlatTree) -> TreeIx {
    let ix = TreeIx(flat.nodes.len() as u32);
    flat.nodes.push(FlatNode {
        id: NodeId(ix.0),
        kind: FlatKind::Assert(Vec::new()),
    });
    let kind = match tree {
        Node::Leaf(op, level) => FlatKind::Leaf {
            op: *op,
            template: TemplateId(0),
            args: Vec::new(),
            level: *level as u32,
        },
        Node::Sequence(nodes) => FlatKind::Sequence(add_all(nodes.iter(), flat)),
        Node::Parallel(nodes) => FlatKind::Parallel {
            children: add_all(nodes.iter(), flat),
            weights: None,
        },
        Node::OmniPipe(x, y) => {
            let children = add_all([&**x, &**y].into_iter(), flat);
            FlatKind::OmniPipe {
                children,
                weights: None,
            }
        }
    };
    flat.nodes[ix.index()].kind = kind;
    ix
}

fn add_all<'a>(nodes: impl Iterator<Item = &'a Node>, flat: &mut FlatTree) -> Children {
    let added: Vec<TreeIx> = nodes.map(|n| add(n, flat)).collect();
    let start = flat.children.len() as u32;
    flat.children.extend(added);
    Children {
        start,
        end: flat.children.len() as u32,
    }
}

/// A small generator (SplitMix64), so that a failure repeats.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A random tree, more often than not of operations that could be right.
    pub(crate) fn tree(&mut self, op: Operation, levels: &Levels, depth: usize) -> Node {
        match self.below(if depth == 0 { 4 } else { 10 }) {
            0..=3 => Node::Leaf(self.op(op), self.below(levels.dims.len())),
            4..=6 => Node::Sequence(self.trees(op, levels, depth, 4)),
            7 | 8 => Node::Parallel(self.trees(op, levels, depth, 3)),
            _ => {
                let op = self.op(op);
                Node::OmniPipe(
                    Box::new(self.axis(op, levels, depth - 1)),
                    Box::new(self.axis(op, levels, depth - 1)),
                )
            }
        }
    }

    fn trees(&mut self, op: Operation, levels: &Levels, depth: usize, most: usize) -> Vec<Node> {
        let count = 1 + self.below(most);
        (0..count)
            .map(|_| self.tree(op, levels, depth - 1))
            .collect()
    }

    fn axis(&mut self, op: Operation, levels: &Levels, depth: usize) -> Node {
        let leaf = |random: &mut Self| Node::Leaf(op, random.below(levels.dims.len()));
        match self.below(if depth == 0 { 3 } else { 5 }) {
            0..=2 => leaf(self),
            3 => Node::Sequence(vec![leaf(self), leaf(self)]),
            _ => Node::OmniPipe(Box::new(leaf(self)), Box::new(leaf(self))),
        }
    }

    /// An operation that can be a stage of `op`, mostly.
    fn op(&mut self, op: Operation) -> Operation {
        use Operation::{
            AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter,
        };
        let likely: &[Operation] = match op {
            AllGather => &[AllGather, AllGather, Gather, Broadcast],
            ReduceScatter => &[ReduceScatter, ReduceScatter, Reduce, Scatter],
            AllReduce => &[ReduceScatter, AllGather, AllReduce, Reduce, Broadcast],
            Broadcast => &[Scatter, AllGather, Broadcast],
            Scatter => &[Scatter, Scatter, Broadcast],
            Gather => &[Gather, Gather, AllGather],
            Reduce => &[ReduceScatter, Gather, Reduce],
            _ => &[AllToAll],
        };
        if self.below(12) == 0 {
            *self.pick(&crate::OPS)
        } else {
            *self.pick(likely)
        }
    }
}
