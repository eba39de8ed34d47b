//! Trees for tests: written down in short, or made at random so that they are right by construction.

use coll_cluster::Matched;
use coll_lang::contract::Dims;
use coll_lang::library::{
    Children, FlatKind, FlatLevel, FlatNode, FlatTree, NodeId, TemplateId, TreeIx, Weight,
};
use coll_lang::number::Quantity;
use coll_lang::words::{Operation, StateWord};
use coll_planner::NativePlanners;

/// The templates of the trees made here, by number.
pub(crate) const TEMPLATES: [&str; 3] = ["mesh", "nhr", "ring"];

pub(crate) fn planners() -> NativePlanners {
    NativePlanners::named(&TEMPLATES)
}

/// A tree in short.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Leaf {
        op: Operation,
        template: u32,
        level: u32,
    },
    Sequence(Vec<Tree>),
    Parallel(Vec<(Option<u64>, Tree)>),
    Assert,
    OmniPipe,
}

/// The tree written `text`: `ag.mesh@0`, `rs.nhr@1`, `ar.ring@2`, `seq(a, b)`, `par(a, b)`,
/// `par(2: a, 1: b)`, `assert`, `omnipipe`. Levels are numbers.
pub(crate) fn parse(text: &str) -> Tree {
    let (tree, rest) = parse_node(text.trim());
    assert!(rest.trim().is_empty(), "`{rest}` is left of `{text}`");
    tree
}

fn parse_node(text: &str) -> (Tree, &str) {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix("seq(") {
        let (children, rest) = parse_list(inner);
        return (
            Tree::Sequence(children.into_iter().map(|c| c.1).collect()),
            rest,
        );
    }
    if let Some(inner) = text.strip_prefix("par(") {
        let (children, rest) = parse_list(inner);
        return (Tree::Parallel(children), rest);
    }
    let end = text.find([',', ')']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let tree = match word.trim() {
        "assert" => Tree::Assert,
        "omnipipe" => Tree::OmniPipe,
        leaf => parse_leaf(leaf).unwrap_or_else(|| panic!("`{leaf}` is no leaf")),
    };
    (tree, rest)
}

fn parse_leaf(text: &str) -> Option<Tree> {
    let (op, rest) = text.split_once('.')?;
    let (template, level) = rest.split_once('@')?;
    Some(Tree::Leaf {
        op: match op {
            "ag" => Operation::AllGather,
            "rs" => Operation::ReduceScatter,
            "ar" => Operation::AllReduce,
            other => Operation::parse(other)?,
        },
        template: TEMPLATES
            .iter()
            .position(|t| *t == template)
            .map_or(99, |t| t as u32),
        level: level.parse().ok()?,
    })
}

fn parse_list(mut text: &str) -> (Vec<(Option<u64>, Tree)>, &str) {
    let mut children = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix(')') {
            return (children, rest);
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let weight = text[digits..].strip_prefix(':').map(|rest| {
            let weight = text[..digits].parse().expect("a weight");
            text = rest;
            weight
        });
        let (child, rest) = parse_node(text);
        children.push((weight, child));
        text = rest.trim_start();
        text = text.strip_prefix(',').unwrap_or(text);
    }
}

/// The levels of a test: for each the dimensions it joins.
pub(crate) type Levels<'a> = &'a [&'a [u32]];

fn dims(list: &[u32]) -> Dims {
    list.iter()
        .fold(Dims::EMPTY, |set, &d| set.or(Dims::only(d)))
}

/// The tree as the checker would hand it over, over `dims` dimensions.
pub(crate) fn flat(tree: &Tree, levels: Levels<'_>, dim_count: u32) -> FlatTree {
    let level = |(i, list): (usize, &&[u32])| FlatLevel {
        name: format!("L{i}").into(),
        dims: dims(list),
        via: None,
    };
    let mut flat = FlatTree {
        nodes: Vec::new(),
        children: Vec::new(),
        levels: levels.iter().enumerate().map(level).collect(),
        dims: dim_count,
    };
    add(tree, &mut flat);
    flat
}

fn add(tree: &Tree, flat: &mut FlatTree) -> TreeIx {
    let ix = TreeIx(flat.nodes.len() as u32);
    flat.nodes.push(FlatNode {
        id: NodeId(ix.0),
        kind: FlatKind::Assert(Vec::new()),
    });
    let kind = match tree {
        Tree::Assert => FlatKind::Assert(Vec::new()),
        Tree::OmniPipe => FlatKind::OmniPipe {
            children: Children { start: 0, end: 0 },
            weights: None,
        },
        &Tree::Leaf {
            op,
            template,
            level,
        } => FlatKind::Leaf {
            op,
            template: TemplateId(template),
            args: Vec::new(),
            level,
        },
        Tree::Sequence(children) => FlatKind::Sequence(add_children(children.iter(), flat)),
        Tree::Parallel(children) => FlatKind::Parallel {
            children: add_children(children.iter().map(|c| &c.1), flat),
            weights: children
                .iter()
                .map(|c| Some(Weight::Known(Quantity::count(c.0?.into()))))
                .collect(),
        },
    };
    flat.nodes[ix.index()].kind = kind;
    ix
}

fn add_children<'a>(children: impl Iterator<Item = &'a Tree>, flat: &mut FlatTree) -> Children {
    let list: Vec<TreeIx> = children.map(|child| add(child, flat)).collect();
    let start = flat.children.len() as u32;
    flat.children.extend(list);
    Children {
        start,
        end: flat.children.len() as u32,
    }
}

/// The grid of `sizes` with these levels.
pub(crate) fn grid(sizes: &[u32], levels: Levels<'_>) -> Matched {
    let level = |(i, list): (usize, &&[u32])| (format!("L{i}").into(), dims(list), None);
    Matched::new(sizes, levels.iter().enumerate().map(level)).expect("a grid")
}

/// Numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// A grid and a tree that its operation's rules accept.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) op: Operation,
    pub(crate) sizes: Vec<u32>,
    pub(crate) levels: Vec<Vec<u32>>,
    pub(crate) tree: Tree,
}

impl Case {
    pub(crate) fn flat(&self) -> FlatTree {
        let levels: Vec<&[u32]> = self.levels.iter().map(Vec::as_slice).collect();
        flat(&self.tree, &levels, self.sizes.len() as u32)
    }

    pub(crate) fn matched(&self) -> Matched {
        let levels: Vec<&[u32]> = self.levels.iter().map(Vec::as_slice).collect();
        grid(&self.sizes, &levels)
    }
}

/// A case of `seed` on at most `ranks` ranks: any operation, any levels, any nesting of sequences
/// and parallels that cut, merge, leave several groups and deal them out again.
pub(crate) fn random_case(seed: u64, ranks: u32) -> Case {
    let mut random = Random(seed);
    let op = *random.pick(&[
        Operation::AllGather,
        Operation::ReduceScatter,
        Operation::AllReduce,
    ]);
    let mut sizes = Vec::new();
    for _ in 0..1 + random.below(4) {
        let size = 1 + random.below(4) as u32;
        if sizes.iter().product::<u32>() * size <= ranks {
            sizes.push(size);
        }
    }
    let count = sizes.len() as u32;
    // One level for every set of dimensions; level 0 joins none.
    let levels: Vec<Vec<u32>> = (0..1u16 << count)
        .map(|m| Dims(m).iter().collect())
        .collect();
    let (start, goal) = match op {
        Operation::AllGather => (StateWord::Own, StateWord::All),
        Operation::ReduceScatter => (StateWord::Partial, StateWord::Own),
        _ => (StateWord::Partial, StateWord::All),
    };
    let mut maker = Maker { random, depth: 0 };
    let from = vec![rank_of(start); sizes.len()];
    let to = vec![rank_of(goal); sizes.len()];
    let tree = maker.one(&from, &to);
    Case {
        op,
        sizes,
        levels,
        tree,
    }
}

/// States on their way: partial, own, all. A goal of own is never passed.
type Way = Vec<u8>;

fn rank_of(state: StateWord) -> u8 {
    match state {
        StateWord::Partial => 0,
        StateWord::Own => 1,
        _ => 2,
    }
}

struct Maker {
    random: Random,
    depth: u32,
}

impl Maker {
    /// A tree that takes one group from `from` to `to`.
    fn one(&mut self, from: &Way, to: &Way) -> Tree {
        self.depth += 1;
        let tree = match self.random.below(if self.depth > 3 { 1 } else { 6 }) {
            0 | 1 => self.path(from, to),
            2 => {
                let mid = self.between(from, to);
                Tree::Sequence(vec![self.one(from, &mid), Tree::Assert, self.one(&mid, to)])
            }
            3 => {
                let n = 1 + self.random.below(3);
                let weighted = self.random.below(2) == 0;
                let mut children: Vec<(Option<u64>, Tree)> = (0..n)
                    .map(|_| {
                        let weight = weighted.then(|| self.random.below(5));
                        (weight, self.one(from, to))
                    })
                    .collect();
                if weighted && children.iter().all(|c| c.0 == Some(0)) {
                    children[0].0 = Some(1);
                }
                Tree::Parallel(children)
            }
            _ => {
                let (spread, mids) = self.spread(from, to, 2);
                Tree::Sequence(vec![spread, self.collect(&mids, to)])
            }
        };
        self.depth -= 1;
        tree
    }

    /// A tree that leaves groups in states between `from` and `to`.
    fn spread(&mut self, from: &Way, to: &Way, depth: u32) -> (Tree, Vec<Way>) {
        if depth == 0 || (depth < 2 && self.random.below(2) == 0) {
            let mid = self.between(from, to);
            return (self.one(from, &mid), vec![mid]);
        }
        let n = 2 + self.random.below(2);
        let made: Vec<(Tree, Vec<Way>)> =
            (0..n).map(|_| self.spread(from, to, depth - 1)).collect();
        let merges = made.iter().all(|m| m.1.len() == 1 && m.1 == made[0].1);
        let (children, lefts): (Vec<Tree>, Vec<Vec<Way>>) = made.into_iter().unzip();
        let mids = match merges {
            true => lefts[0].clone(),
            false => lefts.concat(),
        };
        (
            Tree::Parallel(children.into_iter().map(|c| (None, c)).collect()),
            mids,
        )
    }

    /// A tree that takes groups to `to`: dealt out, where there are several.
    fn collect(&mut self, mids: &[Way], to: &Way) -> Tree {
        match mids {
            [one] => self.one(one, to),
            many => Tree::Parallel(many.iter().map(|m| (None, self.one(m, to))).collect()),
        }
    }

    fn between(&mut self, from: &Way, to: &Way) -> Way {
        let step = |(&a, &b): (&u8, &u8)| a + self.random.below(u64::from(b - a) + 1) as u8;
        from.iter().zip(to).map(step).collect()
    }

    /// Leaves one after another, over random sets of dimensions.
    fn path(&mut self, from: &Way, to: &Way) -> Tree {
        let mut at = from.clone();
        let mut leaves = Vec::new();
        while at != *to {
            let open: Vec<usize> = (0..at.len()).filter(|&d| at[d] != to[d]).collect();
            let first = *self.random.pick(&open);
            let before = at[first];
            let after = match (before, to[first]) {
                (0, 2) if self.random.below(2) == 0 => 2,
                _ => before + 1,
            };
            let mut joined = Dims::EMPTY;
            for d in open {
                let can = at[d] == before && to[d] >= after;
                if d == first || (can && self.random.below(2) == 0) {
                    joined = joined.or(Dims::only(d as u32));
                    at[d] = after;
                }
            }
            let op = match (before, after) {
                (1, _) => Operation::AllGather,
                (_, 1) => Operation::ReduceScatter,
                _ => Operation::AllReduce,
            };
            leaves.push(Tree::Leaf {
                op,
                template: self.random.below(3) as u32,
                level: joined.0.into(),
            });
        }
        match leaves.len() {
            // Nothing to do: a leaf that joins nothing.
            0 => Tree::Leaf {
                op: Operation::AllGather,
                template: 0,
                level: 0,
            },
            1 => leaves.remove(0),
            _ => Tree::Sequence(leaves),
        }
    }
}
