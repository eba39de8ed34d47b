//! The checked form of one or more libraries: plain data, everything by number.
//!
//! [`Library`] is what the interpreter, the selector and the editor work on. Items that had errors
//! are present with `sound == false`, so that one fault does not hide the rest; nothing may run them.

use crate::contract::Dims;
use crate::parse::ParsedItem;
use crate::resolve::Names;
use crate::source::{ItemId, Place, SourceMap};
use coll_grammar::number::{Quantity, Rational};
use coll_grammar::words::{DType, Engine, Operation, PlaneKind, ReduceOp, StateWord};
use indexmap::IndexMap;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )+};
}

ids! {
    /// A module of the loaded libraries.
    ModuleId,
    /// A declared cluster.
    ClusterId,
    /// A topology.
    TopologyId,
    /// A template.
    TemplateId,
    /// An algorithm.
    AlgorithmId,
    /// A node of some tree, unique in a [`Library`]; see [`Library::node_place`].
    NodeId,
    /// A node of some tree by its position in [`Tree::nodes`].
    TreeIx,
}

/// Loaded and checked libraries.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// The files and the places in them.
    pub sources: SourceMap,
    /// The modules, std first.
    pub modules: Vec<Module>,
    /// Declared clusters.
    pub clusters: Vec<Cluster>,
    /// Topologies.
    pub topologies: Vec<Topology>,
    /// Templates.
    pub templates: Vec<Template>,
    /// Algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Source places of tree nodes, by [`NodeId`].
    pub nodes: Vec<Place>,
    /// For nodes that stand in a named tree: where the algorithm calls it.
    pub calls: IndexMap<NodeId, Place>,
    /// What the selector, the cost model, the test runner and the interpreter of template bodies give
    /// a meaning to: the items as they were parsed, in the order of modules and text.
    pub later: Vec<LaterItem>,
    /// What names mean, for those and for editors.
    pub names: Names,
}

impl Library {
    /// Where a tree node stands in the source.
    pub fn node_place(&self, node: NodeId) -> Place {
        self.nodes[node.index()]
    }

    /// The full name `library.module.Name` of something declared in `module`.
    pub fn full_name(&self, module: ModuleId, name: &str) -> String {
        format!("{}.{name}", self.modules[module.index()].name)
    }
}

/// An item whose names are resolved, and which is kept as it was parsed.
#[derive(Clone, Debug)]
pub struct LaterItem {
    /// The module it stands in.
    pub module: ModuleId,
    /// Its number in the source map.
    pub item: ItemId,
    /// Its tree: a `select`, `fallback`, `cost`, `curve`, `util` or `test` item, or a template with a
    /// body.
    pub parsed: Arc<ParsedItem>,
    /// Whether nothing was found wrong so far.
    pub sound: bool,
}

/// One file of a library.
#[derive(Clone, Debug)]
pub struct Module {
    /// `library.folder.file`.
    pub name: SmolStr,
    /// The `//!` text.
    pub docs: Option<SmolStr>,
    /// Whether the user named it on the command line, as opposed to what it pulled in.
    pub requested: bool,
}

/// What all declarations have in common.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The name.
    pub name: SmolStr,
    /// The module it stands in.
    pub module: ModuleId,
    /// Where its name stands.
    pub place: Place,
    /// The `///` text.
    pub docs: Option<SmolStr>,
    /// Whether `private` stands before it.
    pub private: bool,
    /// Whether it and everything it depends on has no error.
    pub sound: bool,
}

/// A declared cluster. Shapes on the command line become the same type.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Name and place.
    pub declared: Declared,
    /// What the cluster is made of.
    pub spec: ClusterSpec,
}

/// The layers, planes and facts of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSpec {
    /// The device's name; `None` for a plain shape.
    pub device: Option<SmolStr>,
    /// Layers, innermost first; at least one.
    pub nets: Vec<NetSpec>,
    /// Memory of engines that differ, and the default under `None`.
    pub memory: IndexMap<Option<Engine>, MemorySpec>,
    /// Further facts.
    pub facts: IndexMap<SmolStr, FactValue>,
}

impl ClusterSpec {
    /// How many ranks there are.
    pub fn ranks(&self) -> u64 {
        self.nets
            .iter()
            .rev()
            .fold(1u64, |groups, net| net.sizes.groups_below(groups))
    }
}

/// A physical layer.
#[derive(Clone, Debug, PartialEq)]
pub struct NetSpec {
    /// Its label.
    pub label: Option<SmolStr>,
    /// How many groups of the layer below each of its groups joins: one number for all groups, or
    /// one per group, depth first. Never empty, never 0.
    pub sizes: Sizes,
    /// Its planes in order of declaration; may be empty.
    pub planes: Vec<PlaneSpec>,
}

/// Sizes of the groups of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Every group has the same.
    Even(u32),
    /// One entry per group.
    Uneven(Vec<u32>),
}

impl Sizes {
    /// How many groups of the layer below there are when this layer has `groups`; at most
    /// `u64::MAX`.
    pub fn groups_below(&self, groups: u64) -> u64 {
        match self {
            Self::Even(size) => groups.saturating_mul(u64::from(*size)),
            Self::Uneven(sizes) => sizes.iter().map(|&s| u64::from(s)).sum(),
        }
    }

    /// The greatest common divisor of all sizes.
    pub fn common(&self) -> u32 {
        let gcd = |mut a: u32, mut b: u32| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        match self {
            Self::Even(size) => *size,
            Self::Uneven(sizes) => sizes.iter().copied().fold(0, gcd),
        }
    }
}

/// A kind of link of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneSpec {
    /// Its name.
    pub name: SmolStr,
    /// How it joins ranks.
    pub kind: PlaneKind,
    /// Bytes per second in one direction: per peer for `mesh1d`, per port for `clos`.
    pub bandwidth: Rational,
    /// Seconds per transfer.
    pub latency: Rational,
    /// Ports per rank; 1 unless given.
    pub ports: u32,
    /// The protocol's name.
    pub protocol: Option<SmolStr>,
    /// Whether it ends at the host.
    pub on_host: bool,
}

/// Speeds and sizes of a rank's memory.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MemorySpec {
    /// Bytes per second of a local copy.
    pub copy: Option<Rational>,
    /// Bytes per second of a local reduction.
    pub reduce: Option<Rational>,
    /// Bytes of the CCL buffer.
    pub buffer: Option<u64>,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    /// A number with its unit.
    Number(Quantity),
    /// Yes or no.
    Bool(bool),
    /// A word.
    Word(SmolStr),
}

/// A topology.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Name and place.
    pub declared: Declared,
    /// The levels in order of declaration.
    pub levels: Vec<LevelDef>,
    /// What a cluster must satisfy.
    pub requires: Vec<Clause>,
}

/// A level of a topology.
#[derive(Clone, Debug)]
pub struct LevelDef {
    /// The name; for a family `L*` the part before the star.
    pub name: SmolStr,
    /// Where it stands.
    pub place: Place,
    /// Whether it is a family: one level per layer.
    pub family: bool,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it joins.
    pub form: LevelForm,
    /// The plane it uses.
    pub via: Option<SmolStr>,
}

/// What a level joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelForm {
    /// Layers `first..=last`; `None` stands for the outermost layer.
    Nets {
        /// First layer.
        first: Option<u32>,
        /// Last layer.
        last: Option<u32>,
    },
    /// One level per layer (`net *`).
    EachNet,
    /// The index inside even chunks of layer `k`.
    Gcd(u32),
    /// Every dimension no other level names.
    Rest,
    /// Every dimension.
    All,
}

/// A `require` or `prefer` clause.
#[derive(Clone, Debug)]
pub struct Clause {
    /// What must hold.
    pub guard: crate::check::guard::Guard,
    /// What to say when it does not.
    pub message: Option<SmolStr>,
    /// Where it stands.
    pub place: Place,
}

/// A template, keyed by name and operation.
#[derive(Clone, Debug)]
pub struct Template {
    /// Name and place.
    pub declared: Declared,
    /// The operations it can do.
    pub ops: Vec<Operation>,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// Inherited by every algorithm that uses it.
    pub requires: Vec<Clause>,
    /// How it plans.
    pub body: TemplateBody,
}

/// The templates that one name stands for: each plans other operations; where several plan the same
/// one, the first does.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Templates(pub SmallVec<[TemplateId; 2]>);

impl Templates {
    /// The one that plans `op`.
    pub fn for_op(&self, op: Operation, templates: &[Template]) -> Option<TemplateId> {
        self.0
            .iter()
            .copied()
            .find(|id| templates[id.index()].ops.contains(&op))
    }
}

/// What is passed to a parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateArg {
    /// A template.
    Templates(Templates),
    /// A number.
    Value(FactValue),
}

/// A parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: SmolStr,
    /// What may be passed.
    pub kind: ParameterKind,
}

/// What may be passed to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A template.
    Template,
    /// A level.
    Level,
    /// A whole number.
    Int,
}

/// How a template plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateBody {
    /// By a native planner that goes by the template's name.
    Native,
    /// By its text; planned by the interpreter of template bodies.
    Written,
}

/// An algorithm.
#[derive(Clone, Debug)]
pub struct Algorithm {
    /// Name and place.
    pub declared: Declared,
    /// What it does.
    pub op: Operation,
    /// The topology it runs on; none for native algorithms.
    pub topology: Option<TopologyId>,
    /// The engines that can run it.
    pub engines: Vec<Engine>,
    /// Hard conditions.
    pub requires: Vec<Clause>,
    /// Soft conditions.
    pub prefers: Vec<Clause>,
    /// How it works.
    pub body: AlgorithmBody,
}

/// How an algorithm works.
#[derive(Clone, Debug)]
pub enum AlgorithmBody {
    /// Point-to-point operations; no tree.
    Native,
    /// A tree over the topology's levels.
    Tree(Tree),
}

/// A tree as checked: named trees are expanded, names are resolved. Loops over levels stay, because
/// how many levels there are is known only when a cluster is matched; see
/// [`crate::check::instantiate`].
#[derive(Clone, Debug)]
pub struct Tree {
    /// The nodes; children come after their parents.
    pub nodes: Vec<Node>,
    /// Lists of children, indexed by [`Children`].
    pub children: Vec<TreeIx>,
}

impl Tree {
    /// The outermost node.
    pub const ROOT: TreeIx = TreeIx(0);

    /// A node.
    pub fn node(&self, ix: TreeIx) -> &Node {
        &self.nodes[ix.index()]
    }

    /// The children of a node, in order.
    pub fn children(&self, children: &Children) -> &[TreeIx] {
        &self.children[children.start as usize..children.end as usize]
    }
}

/// A range of [`Tree::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    /// First.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// A node of a checked tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its number in the library, for its place.
    pub id: NodeId,
    /// What it is.
    pub kind: NodeKind,
}

/// The forms of nodes.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// One template on one level.
    Leaf {
        /// The operation of this stage.
        op: Operation,
        /// The template.
        template: TemplateId,
        /// What is passed to it.
        args: Vec<TemplateArg>,
        /// The level.
        level: LevelRef,
    },
    /// One after another.
    Sequence(Children),
    /// Side by side on shares of every slot.
    Parallel {
        /// The children.
        children: Children,
        /// One weight a child; equal when absent.
        weights: Option<Vec<Weight>>,
    },
    /// Two axes pipelined in steps.
    OmniPipe {
        /// The children.
        children: Children,
        /// Stated bandwidths of the axes.
        weights: Option<Vec<Weight>>,
    },
    /// One child per level of a range, inside a sequence.
    For {
        /// Numbers the variable that [`LevelRef::Var`] names.
        var: u32,
        /// First level.
        first: LevelRef,
        /// Last level, included.
        last: LevelRef,
        /// Whether `last` itself is left out.
        exclusive: bool,
        /// Whether it runs from the last to the first.
        reverse: bool,
        /// What is repeated.
        body: TreeIx,
    },
    /// States the contract of every group here; runs nothing.
    Assert(Vec<(StateWord, Vec<LevelRef>)>),
}

/// A level named in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelRef {
    /// The declared level at this position of the topology.
    Declared(u32),
    /// The member for layer `net` of the family at position `family`.
    Member {
        /// Position of the family in the topology.
        family: u32,
        /// The layer.
        net: u32,
    },
    /// The last member of the family at this position.
    Top(u32),
    /// The variable of an enclosing loop.
    Var(u32),
    /// The level at this position of [`FlatTree::levels`]; in weights of flat trees alone.
    Flat(u32),
}

/// A weight of a parallel or omnipipe child.
#[derive(Clone, Debug)]
pub enum Weight {
    /// Known when checked.
    Known(Quantity),
    /// Depends on the cluster, e.g. `ports(L0)`.
    OfCluster(crate::check::guard::Guard),
}

/// A tree for one depth of the cluster: loops are unrolled, levels are numbers.
#[derive(Clone, Debug)]
pub struct FlatTree {
    /// The nodes; children come after their parents.
    pub nodes: Vec<FlatNode>,
    /// Lists of children.
    pub children: Vec<TreeIx>,
    /// The levels in use, by position.
    pub levels: Vec<FlatLevel>,
    /// How many dimensions the cluster has for this topology.
    pub dims: u32,
}

impl FlatTree {
    /// The outermost node.
    pub const ROOT: TreeIx = TreeIx(0);

    /// A node.
    pub fn node(&self, ix: TreeIx) -> &FlatNode {
        &self.nodes[ix.index()]
    }

    /// The children in order.
    pub fn children(&self, children: &Children) -> &[TreeIx] {
        &self.children[children.start as usize..children.end as usize]
    }
}

/// A level of a topology at one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatLevel {
    /// Its name: `L0`, or `L3` as member of a family.
    pub name: SmolStr,
    /// The dimensions it joins; empty for an absent optional level.
    pub dims: Dims,
    /// The plane it uses.
    pub via: Option<SmolStr>,
}

/// A node of a [`FlatTree`].
#[derive(Clone, Debug)]
pub struct FlatNode {
    /// Its number in the library, for its place.
    pub id: NodeId,
    /// What it is.
    pub kind: FlatKind,
}

/// The forms of flat nodes.
#[derive(Clone, Debug)]
pub enum FlatKind {
    /// One template on one level.
    Leaf {
        /// The operation of this stage.
        op: Operation,
        /// The template.
        template: TemplateId,
        /// What is passed to it.
        args: Vec<TemplateArg>,
        /// Position in [`FlatTree::levels`].
        level: u32,
    },
    /// One after another.
    Sequence(Children),
    /// Side by side.
    Parallel {
        /// The children.
        children: Children,
        /// One weight a child; equal when absent.
        weights: Option<Vec<Weight>>,
    },
    /// Two axes pipelined.
    OmniPipe {
        /// The children.
        children: Children,
        /// Stated bandwidths.
        weights: Option<Vec<Weight>>,
    },
    /// Each state must hold on its dimensions in every group.
    Assert(Vec<(StateWord, Dims)>),
}

/// A call of a collective operation, as far as guards can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// The operation.
    pub op: Operation,
    /// Elements in the operation's own convention.
    pub count: u64,
    /// Element type.
    pub dtype: DType,
    /// The reduction, for operations that have one.
    pub reduce: Option<ReduceOp>,
    /// The root, for operations that have one.
    pub root: Option<u32>,
    /// The engine.
    pub engine: Option<Engine>,
}
