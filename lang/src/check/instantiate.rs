//! Topologies and trees at one depth of the cluster: how many layers it has decides how many levels
//! a family has, how often loops run, and which dimensions there are.

use super::facts::Depth;
use super::guard::Truth;
use crate::contract::{Dims, MAX_DIMS};
use crate::library::{
    Children, FlatKind, FlatLevel, FlatNode, FlatTree, LevelForm, LevelRef, NodeId, NodeKind,
    Topology, Tree, TreeIx, Weight,
};
use coll_grammar::words::StateWord;
use smol_str::format_smolstr;

/// Depths that are checked if a topology admits them.
pub const COMMON_DEPTHS: std::ops::RangeInclusive<u32> = 1..=8;

/// The deepest cluster.
pub const MAX_DEPTH: u32 = MAX_DIMS;

/// A flat tree has at most this many nodes.
pub const MAX_NODES: usize = 1 << 16;

/// Why a topology has no levels at some depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A level that must be there joins a layer that is not.
    #[error("level {level} joins layer {layer}, which is not there")]
    NoLayer {
        /// Position of the level in the topology.
        level: u32,
        /// The layer.
        layer: u32,
    },
    /// A requirement does not hold, whatever else the cluster is.
    #[error("requirement {clause} does not hold")]
    Requirement {
        /// Position of the clause in the topology.
        clause: u32,
    },
    /// No cluster has so many layers, or none.
    #[error("a cluster has 1 to {MAX_DEPTH} layers")]
    NoDepth,
}

/// The levels of a topology at one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// How many layers the cluster has.
    pub depth: u32,
    /// How many dimensions there are. Dimension d is layer d; where a level is `gcd(net k)`,
    /// dimension k is the index in the chunk and dimension k + 1 the chunk, which takes in the
    /// remainder of layer k and all layers above.
    pub dims: u32,
    /// The levels: those of a family one by one, the others in their order.
    pub levels: Vec<FlatLevel>,
    /// The position in `levels` of the first level of each declared one.
    starts: Vec<u32>,
}

impl Instance {
    /// The levels of a topology on clusters with `depth` layers, if it can match any of them.
    ///
    /// # Errors
    /// Why it matches none, whatever the sizes of the layers.
    pub fn new(topology: &Topology, depth: u32) -> Result<Self, Unfit> {
        let instance = Self::unchecked(topology, depth)?;
        for (i, clause) in topology.requires.iter().enumerate() {
            if clause.guard.possible(&Depth(depth)) == Truth::No {
                return Err(Unfit::Requirement { clause: i as u32 });
            }
        }
        Ok(instance)
    }

    fn unchecked(topology: &Topology, depth: u32) -> Result<Self, Unfit> {
        let gcd = topology.levels.iter().find_map(|l| match l.form {
            LevelForm::Gcd(net) => Some(net),
            _ => None,
        });
        let dims = gcd.map_or(depth, |net| net.saturating_add(2));
        if !(1..=MAX_DEPTH).contains(&depth) || dims > MAX_DIMS {
            return Err(Unfit::NoDepth);
        }
        let mut instance = Self {
            depth,
            dims,
            levels: Vec::new(),
            starts: Vec::new(),
        };
        for (i, level) in topology.levels.iter().enumerate() {
            instance.starts.push(instance.levels.len() as u32);
            let joined = match level.form {
                LevelForm::EachNet => {
                    for net in 0..depth {
                        instance.levels.push(FlatLevel {
                            name: format_smolstr!("{}{net}", level.name),
                            dims: Dims::only(net).and(Dims::first(dims)),
                            via: level.via.clone(),
                        });
                    }
                    continue;
                }
                LevelForm::Nets { first, last } => {
                    instance.nets(first, last, level.optional, i as u32)?
                }
                LevelForm::Gcd(net) if net < depth => Dims::only(net),
                LevelForm::Gcd(_) if level.optional => Dims::EMPTY,
                LevelForm::Gcd(net) => {
                    return Err(Unfit::NoLayer {
                        level: i as u32,
                        layer: net,
                    });
                }
                LevelForm::All => Dims::first(dims),
                LevelForm::Rest => Dims::EMPTY,
            };
            instance.levels.push(FlatLevel {
                name: level.name.clone(),
                dims: joined,
                via: level.via.clone(),
            });
        }
        instance.starts.push(instance.levels.len() as u32);
        instance.set_rest(topology);
        Ok(instance)
    }

    /// `rest` joins what no other level names; `all` names nothing in particular.
    fn set_rest(&mut self, topology: &Topology) {
        let with_form = |form| {
            let declared = topology.levels.iter().zip(&self.starts);
            declared.filter_map(move |(l, &start)| (l.form == form).then_some(start as usize))
        };
        let all: Vec<usize> = with_form(LevelForm::All).collect();
        let rest: Vec<usize> = with_form(LevelForm::Rest).collect();
        let named = self
            .levels
            .iter()
            .enumerate()
            .filter(|(position, _)| !all.contains(position))
            .fold(Dims::EMPTY, |dims, (_, level)| dims.or(level.dims));
        for position in rest {
            self.levels[position].dims = Dims::first(self.dims).without(named);
        }
    }

    /// The dimensions of layers `first..=last`; no number stands for the outermost.
    fn nets(
        &self,
        first: Option<u32>,
        last: Option<u32>,
        optional: bool,
        level: u32,
    ) -> Result<Dims, Unfit> {
        let top = self.depth - 1;
        let (first, wanted) = (first.unwrap_or(top), last.unwrap_or(top));
        if !optional && (wanted > top || first > wanted) {
            let layer = first.max(wanted);
            return Err(Unfit::NoLayer { level, layer });
        }
        let last = wanted.min(top).min(self.dims - 1);
        Ok((first..=last).fold(Dims::EMPTY, |s, d| s.or(Dims::only(d))))
    }

    /// The dimensions that some level joins.
    pub fn covered(&self) -> Dims {
        self.levels
            .iter()
            .fold(Dims::EMPTY, |dims, level| dims.or(level.dims))
    }

    /// Whether every dimension is joined by some level.
    pub fn is_covered(&self) -> bool {
        self.covered() == Dims::first(self.dims)
    }

    /// The position in [`Instance::levels`] of a level that a tree names; none for variables, and
    /// for members of a family that the cluster is too shallow for.
    pub fn position(&self, level: LevelRef) -> Option<u32> {
        let start = |declared: u32| self.starts.get(declared as usize).copied();
        match level {
            LevelRef::Declared(declared) => start(declared),
            LevelRef::Member { family, net } if net < self.depth => Some(start(family)? + net),
            LevelRef::Top(family) => Some(start(family)? + self.depth - 1),
            LevelRef::Flat(position) => Some(position),
            LevelRef::Member { .. } | LevelRef::Var(_) => None,
        }
    }
}

/// The depths at which a topology is checked: those from 1 to 8 at which it can match a cluster and
/// every layer is joined by a level, else the first deeper ones.
pub fn depths(topology: &Topology) -> Vec<u32> {
    instances(topology).into_iter().map(|i| i.depth).collect()
}

/// The levels at all of [`depths`].
pub(super) fn instances(topology: &Topology) -> Vec<Instance> {
    let at = |range: std::ops::RangeInclusive<u32>| -> Vec<Instance> {
        range
            .filter_map(|depth| Instance::new(topology, depth).ok())
            .filter(Instance::is_covered)
            .collect()
    };
    let common = at(COMMON_DEPTHS);
    match common.is_empty() {
        true => at(COMMON_DEPTHS.end() + 1..=MAX_DEPTH),
        false => common,
    }
}

/// The levels of a topology at one depth.
///
/// # Errors
/// As [`Instance::new`].
pub fn levels(topology: &Topology, depth: u32) -> Result<Vec<FlatLevel>, Unfit> {
    Instance::new(topology, depth).map(|instance| instance.levels)
}

/// Why a tree cannot be written out at some depth.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlattenError {
    /// The topology has no levels there.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A level that the tree names is not there.
    #[error("the level that is named is not there")]
    NoLevel {
        /// The node that names it.
        node: NodeId,
        /// How it is named.
        level: LevelRef,
    },
    /// More than [`MAX_NODES`] nodes.
    #[error("the tree has more than {MAX_NODES} nodes once its loops are written out")]
    TooLarge {
        /// The loop at which it became too large.
        node: NodeId,
    },
}

/// Writes a tree out for clusters with `depth` layers: loops are unrolled, levels become positions.
///
/// # Errors
/// When the topology or the tree does not fit that depth.
pub fn flatten(tree: &Tree, topology: &Topology, depth: u32) -> Result<FlatTree, FlattenError> {
    flatten_at(tree, &Instance::new(topology, depth)?)
}

/// As [`flatten`], for levels that are known.
///
/// # Errors
/// As [`flatten`].
pub fn flatten_at(tree: &Tree, instance: &Instance) -> Result<FlatTree, FlattenError> {
    let mut flattener = Flattener {
        tree,
        instance,
        vars: Vec::new(),
        flat: FlatTree {
            nodes: Vec::with_capacity(tree.nodes.len()),
            children: Vec::with_capacity(tree.children.len()),
            levels: instance.levels.clone(),
            dims: instance.dims,
        },
    };
    flattener.node(Tree::ROOT)?;
    Ok(flattener.flat)
}

struct Flattener<'a> {
    tree: &'a Tree,
    instance: &'a Instance,
    /// Positions of levels by the numbers of variables.
    vars: Vec<u32>,
    flat: FlatTree,
}

impl Flattener<'_> {
    fn node(&mut self, ix: TreeIx) -> Result<TreeIx, FlattenError> {
        let tree = self.tree;
        let node = tree.node(ix);
        if self.flat.nodes.len() >= MAX_NODES {
            return Err(FlattenError::TooLarge { node: node.id });
        }
        let flat = TreeIx(self.flat.nodes.len() as u32);
        self.flat.nodes.push(FlatNode {
            id: node.id,
            kind: FlatKind::Assert(Vec::new()),
        });
        let kind = match &node.kind {
            NodeKind::Leaf {
                op,
                template,
                args,
                level,
            } => FlatKind::Leaf {
                op: *op,
                template: *template,
                args: args.clone(),
                level: self.level(*level, node.id)?,
            },
            NodeKind::Sequence(children) => {
                let mut list = Vec::new();
                for &child in tree.children(children) {
                    self.stage(child, &mut list)?;
                }
                FlatKind::Sequence(self.add_children(&list))
            }
            NodeKind::Parallel { children, weights } => FlatKind::Parallel {
                children: self.children(children)?,
                weights: self.weights(weights.as_deref()),
            },
            NodeKind::OmniPipe { children, weights } => FlatKind::OmniPipe {
                children: self.children(children)?,
                weights: self.weights(weights.as_deref()),
            },
            NodeKind::Assert(states) => FlatKind::Assert(self.states(states, node.id)?),
            // A loop outside a sequence was reported; it counts as a sequence of its own.
            NodeKind::For { .. } => {
                let mut list = Vec::new();
                self.unroll(ix, &mut list)?;
                FlatKind::Sequence(self.add_children(&list))
            }
        };
        self.flat.nodes[flat.index()].kind = kind;
        Ok(flat)
    }

    /// A child of a sequence: a loop becomes as many children as it has levels, and a sequence whose
    /// loops have none vanishes.
    fn stage(&mut self, ix: TreeIx, list: &mut Vec<TreeIx>) -> Result<(), FlattenError> {
        match &self.tree.node(ix).kind {
            NodeKind::For { .. } => return self.unroll(ix, list),
            NodeKind::Sequence(children) if children.start != children.end => {
                let (nodes, lists) = (self.flat.nodes.len(), self.flat.children.len());
                let flat = self.node(ix)?;
                match &self.flat.node(flat).kind {
                    FlatKind::Sequence(kept) if kept.start == kept.end => {
                        self.flat.nodes.truncate(nodes);
                        self.flat.children.truncate(lists);
                    }
                    _ => list.push(flat),
                }
            }
            _ => {
                let flat = self.node(ix)?;
                list.push(flat);
            }
        }
        Ok(())
    }

    fn unroll(&mut self, ix: TreeIx, list: &mut Vec<TreeIx>) -> Result<(), FlattenError> {
        let node = self.tree.node(ix);
        let NodeKind::For {
            var,
            first,
            last,
            exclusive,
            reverse,
            body,
        } = &node.kind
        else {
            return Ok(());
        };
        let var = *var as usize;
        if self.vars.len() <= var {
            self.vars.resize(var + 1, u32::MAX);
        }
        let Some(first) = self.instance.position(*first) else {
            // A family that does not reach up to its first member has none of the range.
            return Ok(());
        };
        let end = self.level(*last, node.id)? + u32::from(!exclusive);
        let mut run = |flattener: &mut Self, position: u32| {
            flattener.vars[var] = position;
            flattener.stage(*body, list)
        };
        match reverse {
            true => (first..end).rev().try_for_each(|p| run(self, p)),
            false => (first..end).try_for_each(|p| run(self, p)),
        }
    }

    fn level(&self, level: LevelRef, node: NodeId) -> Result<u32, FlattenError> {
        self.position(level)
            .ok_or(FlattenError::NoLevel { node, level })
    }

    fn position(&self, level: LevelRef) -> Option<u32> {
        match level {
            LevelRef::Var(var) => self.vars.get(var as usize).copied(),
            level => self.instance.position(level),
        }
    }

    fn children(&mut self, children: &Children) -> Result<Children, FlattenError> {
        let mut list = Vec::new();
        for &child in self.tree.children(children) {
            list.push(self.node(child)?);
        }
        Ok(self.add_children(&list))
    }

    fn add_children(&mut self, list: &[TreeIx]) -> Children {
        let start = self.flat.children.len() as u32;
        self.flat.children.extend_from_slice(list);
        Children {
            start,
            end: self.flat.children.len() as u32,
        }
    }

    fn weights(&self, weights: Option<&[Weight]>) -> Option<Vec<Weight>> {
        let flat = |weight: &Weight| match weight {
            Weight::Known(value) => Weight::Known(*value),
            Weight::OfCluster(guard) => Weight::OfCluster(
                guard.map_levels(|level| self.position(level).map_or(level, LevelRef::Flat)),
            ),
        };
        weights.map(|weights| weights.iter().map(flat).collect())
    }

    fn states(
        &self,
        states: &[(StateWord, Vec<LevelRef>)],
        node: NodeId,
    ) -> Result<Vec<(StateWord, Dims)>, FlattenError> {
        states
            .iter()
            .map(|(state, levels)| {
                let mut dims = Dims::EMPTY;
                for &level in levels {
                    let position = self.level(level, node)? as usize;
                    dims = dims.or(self.instance.levels[position].dims);
                }
                Ok((*state, dims))
            })
            .collect()
    }
}
