//! Facts: what conditions can ask about. Every fact is equal on all ranks.

use super::value::{Type, Value, Vocabulary};
use crate::library::{CallFacts, ClusterSpec, LevelRef, NetSpec, Sizes, TopologyId};
use coll_grammar::number::{Dimension, Quantity};
use coll_grammar::words::{DType, Engine, Operation, PlaneKind, ReduceOp};
use smol_str::SmolStr;

/// When a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// With the cluster.
    Cluster,
    /// With the call of an operation.
    Call,
    /// With the whole request: how the caller wants it done.
    Request,
    /// When the plan is made.
    Plan,
    /// On one level, when a template plans it.
    Level,
}

macro_rules! facts {
    ($($(#[$meta:meta])* $variant:ident $text:literal $known:ident $ty:expr;)+) => {
        /// A fact without arguments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fact { $($(#[$meta])* $variant),+ }

        impl Fact {
            /// Every fact, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// How it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The fact that is written `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }

            /// When it is known.
            pub const fn known(self) -> Known {
                match self { $(Self::$variant => Known::$known),+ }
            }

            /// Its type.
            pub fn ty(self) -> Type {
                match self { $(Self::$variant => $ty),+ }
            }
        }
    };
}

facts! {
    /// How many ranks there are.
    Ranks "ranks" Cluster Type::COUNT;
    /// How many layers the cluster has.
    Nets "nets" Cluster Type::COUNT;
    /// The device's name.
    Device "device" Cluster Type::Word(Vocabulary::open("a device"));
    /// Bytes of the CCL buffer.
    BufferBytes "buffer_bytes" Request Type::Number(Dimension::BYTES);
    /// The operation.
    Op "op" Call Type::Word(OPERATION);
    /// The engine.
    Engine "engine" Call Type::Word(ENGINE);
    /// Elements, in the operation's own convention.
    Count "count" Call Type::COUNT;
    /// The element type.
    DType "dtype" Call Type::Word(DTYPE);
    /// The reduction.
    Reduce "reduce" Call Type::Word(REDUCTION);
    /// The root.
    Root "root" Call Type::COUNT;
    /// Bytes by the operation's own count.
    ApiBytes "api_bytes" Call Type::Number(Dimension::BYTES);
    /// Bytes of a rank's input.
    InputBytes "input_bytes" Call Type::Number(Dimension::BYTES);
    /// Bytes of a rank's output.
    OutputBytes "output_bytes" Call Type::Number(Dimension::BYTES);
    /// Whether the call overlaps with computation.
    Overlap "overlap" Request Type::Bool;
    /// Whether every run must give the same bits.
    Deterministic "deterministic" Request Type::Bool;
    /// Whether user buffers lie at the same addresses on all ranks.
    SymmetricMemory "symmetric_memory" Request Type::Bool;
    /// Whether contributions are added in the order of the ranks.
    Ordered "ordered" Plan Type::Bool;
    /// Whether all ranks end with the same bits.
    RanksAgree "ranks_agree" Plan Type::Bool;
    /// The size of the level that a template plans.
    LevelSize "n" Level Type::COUNT;
}

impl Fact {
    /// Whether a call of `op` has this fact.
    pub fn belongs_to(self, op: Operation) -> bool {
        use Operation::{Barrier, Broadcast, Gather, Reduce, Scatter};
        match self {
            Self::Reduce => reduces(op),
            Self::Root => matches!(op, Broadcast | Gather | Reduce | Scatter),
            Self::Count | Self::DType | Self::ApiBytes | Self::InputBytes | Self::OutputBytes => {
                op != Barrier
            }
            Self::Ordered | Self::RanksAgree => reduces(op),
            _ => true,
        }
    }
}

/// Whether an operation adds contributions.
pub const fn reduces(op: Operation) -> bool {
    matches!(
        op,
        Operation::AllReduce
            | Operation::Reduce
            | Operation::ReduceScatter
            | Operation::ReduceScatterV
    )
}

/// Facts about a layer, which is their argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetFact {
    /// `size(net k)`: how many groups of the layer below each of its groups joins.
    Size,
    /// `min(sizes(net k))`
    LeastSize,
    /// `max(sizes(net k))`
    GreatestSize,
    /// `gcd(sizes(net k))`
    CommonSize,
    /// `shape(net k)`: what kinds of planes it has.
    Shape,
    /// `protocol(net k)`: that of its first plane.
    Protocol,
    /// `has(net k, plane)`
    Has(SmolStr),
}

impl NetFact {
    /// Its type.
    pub fn ty(&self) -> Type {
        match self {
            Self::Size | Self::LeastSize | Self::GreatestSize | Self::CommonSize => Type::COUNT,
            Self::Shape => Type::Word(SHAPE),
            Self::Protocol => Type::Word(Vocabulary::open("a protocol")),
            Self::Has(_) => Type::Bool,
        }
    }

    /// How it is written for layer `net`.
    pub fn text(&self, net: u64) -> String {
        match self {
            Self::Size => format!("size(net {net})"),
            Self::LeastSize => format!("min(sizes(net {net}))"),
            Self::GreatestSize => format!("max(sizes(net {net}))"),
            Self::CommonSize => format!("gcd(sizes(net {net}))"),
            Self::Shape => format!("shape(net {net})"),
            Self::Protocol => format!("protocol(net {net})"),
            Self::Has(plane) => format!("has(net {net}, {plane})"),
        }
    }
}

/// Why a fact about a layer has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetError {
    /// Nothing is known about layers here.
    Unknown,
    /// There is no such layer.
    Missing {
        /// How many there are.
        nets: u64,
    },
    /// Its groups have different sizes.
    Uneven,
}

/// Where the values of facts come from. What is not known at some time is `None`.
pub trait Facts {
    /// The value of a fact without arguments.
    fn fact(&self, fact: Fact) -> Option<Value>;

    /// A fact that the cluster declares.
    fn declared(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// A fact about layer `net`.
    ///
    /// # Errors
    /// When it has no value, and why.
    fn net(&self, fact: &NetFact, net: u64) -> Result<Value, NetError> {
        let _ = (fact, net);
        Err(NetError::Unknown)
    }

    /// Whether a topology matches the cluster.
    fn matches(&self, topology: TopologyId) -> Option<bool> {
        let _ = topology;
        None
    }

    /// Ports of each rank on the plane of a level.
    fn ports(&self, level: LevelRef) -> Option<u64> {
        let _ = level;
        None
    }
}

/// No facts: for constants.
pub struct NoFacts;

impl Facts for NoFacts {
    fn fact(&self, _: Fact) -> Option<Value> {
        None
    }
}

/// Nothing is known but the number of layers.
pub struct Depth(pub u32);

impl Facts for Depth {
    fn fact(&self, fact: Fact) -> Option<Value> {
        (fact == Fact::Nets).then(|| count(u64::from(self.0)))
    }
}

/// What follows from a cluster, and from a call if there is one.
#[derive(Clone, Copy, Debug)]
pub struct CallOn<'a> {
    /// The cluster.
    pub cluster: &'a ClusterSpec,
    /// The call.
    pub call: Option<CallFacts>,
}

impl Facts for CallOn<'_> {
    fn fact(&self, fact: Fact) -> Option<Value> {
        match fact {
            Fact::Ranks => Some(count(self.cluster.ranks())),
            Fact::Nets => Some(count(self.cluster.nets.len() as u64)),
            Fact::Device => self.cluster.device.clone().map(Value::Word),
            Fact::BufferBytes => self.buffer(),
            _ => self.call_fact(fact),
        }
    }

    fn declared(&self, name: &str) -> Option<Value> {
        self.cluster.facts.get(name).cloned()
    }

    fn net(&self, fact: &NetFact, net: u64) -> Result<Value, NetError> {
        let missing = NetError::Missing {
            nets: self.cluster.nets.len() as u64,
        };
        let spec = usize::try_from(net)
            .ok()
            .and_then(|k| self.cluster.nets.get(k))
            .ok_or(missing)?;
        spec.fact(fact)
    }
}

impl CallOn<'_> {
    fn buffer(&self) -> Option<Value> {
        let engine = self.call.and_then(|call| call.engine);
        let of = |engine: Option<Engine>| self.cluster.memory.get(&engine)?.buffer;
        of(engine).or_else(|| of(None)).map(bytes)
    }

    fn call_fact(&self, fact: Fact) -> Option<Value> {
        let call = self.call.filter(|call| fact.belongs_to(call.op))?;
        let word = |text: &'static str| Value::Word(SmolStr::new_static(text));
        let api = call.count.checked_mul(call.dtype.size());
        let all = || api?.checked_mul(self.cluster.ranks());
        let (input, output) = match call.op {
            Operation::AllGather | Operation::AllGatherV | Operation::Gather => (api, all()),
            Operation::ReduceScatter | Operation::ReduceScatterV | Operation::Scatter => {
                (all(), api)
            }
            Operation::AllToAll | Operation::AllToAllV | Operation::AllToAllVC => (all(), all()),
            _ => (api, api),
        };
        match fact {
            Fact::Op => Some(word(call.op.as_str())),
            Fact::Engine => call.engine.map(|e| word(e.as_str())),
            Fact::Count => Some(count(call.count)),
            Fact::DType => Some(word(call.dtype.as_str())),
            Fact::Reduce => call.reduce.map(|r| word(r.as_str())),
            Fact::Root => call.root.map(|r| count(u64::from(r))),
            Fact::ApiBytes => api.map(bytes),
            Fact::InputBytes => input.map(bytes),
            Fact::OutputBytes => output.map(bytes),
            _ => None,
        }
    }
}

impl NetSpec {
    /// The value of a fact about this layer.
    ///
    /// # Errors
    /// [`NetError::Uneven`] for the size of a layer whose groups differ.
    pub fn fact(&self, fact: &NetFact) -> Result<Value, NetError> {
        let sizes = match &self.sizes {
            Sizes::Even(size) => std::slice::from_ref(size),
            Sizes::Uneven(sizes) => sizes,
        };
        let size = |size: u32| Ok(count(u64::from(size)));
        let first = sizes.first().copied().unwrap_or(1);
        match fact {
            NetFact::Size if sizes.iter().any(|&s| s != first) => Err(NetError::Uneven),
            NetFact::Size => size(first),
            NetFact::LeastSize => size(sizes.iter().copied().min().unwrap_or(1)),
            NetFact::GreatestSize => size(sizes.iter().copied().max().unwrap_or(1)),
            NetFact::CommonSize => size(self.sizes.common()),
            NetFact::Shape => Ok(Value::Word(SmolStr::new_static(self.shape()))),
            NetFact::Protocol => Ok(Value::Word(
                self.planes
                    .first()
                    .and_then(|p| p.protocol.clone())
                    .unwrap_or(SmolStr::new_static("none")),
            )),
            NetFact::Has(plane) => Ok(Value::Bool(self.planes.iter().any(|p| p.name == *plane))),
        }
    }

    fn shape(&self) -> &'static str {
        let has = |kind| self.planes.iter().any(|p| p.kind == kind);
        match (has(PlaneKind::Mesh1d), has(PlaneKind::Clos)) {
            (true, false) => "mesh1d",
            (false, true) => "clos",
            (true, true) => "mixed",
            (false, false) => "none",
        }
    }
}

/// A plain number as a value.
pub fn count(value: u64) -> Value {
    Value::Number(Quantity::count(i128::from(value)))
}

fn bytes(value: u64) -> Value {
    Value::Number(Quantity {
        dimension: Dimension::BYTES,
        ..Quantity::count(i128::from(value))
    })
}

const OPERATION: Vocabulary = Vocabulary::closed("an operation", Operation::SPELLINGS);
const DTYPE: Vocabulary = Vocabulary::closed("an element type", DType::SPELLINGS);
const REDUCTION: Vocabulary = Vocabulary::closed("a reduction", ReduceOp::SPELLINGS);
const ENGINE: Vocabulary = Vocabulary::closed("an engine", Engine::SPELLINGS);
/// What joins the ranks of a layer: direct links, a switch, both, or no plane at all.
const SHAPE: Vocabulary =
    Vocabulary::closed("a shape of a layer", &["mesh1d", "clos", "mixed", "none"]);

/// The vocabularies of which all words are known.
pub const CLOSED: &[Vocabulary] = &[OPERATION, DTYPE, REDUCTION, ENGINE, SHAPE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_and_words_are_spelled_once() {
        for fact in Fact::ALL {
            assert_eq!(Fact::parse(fact.as_str()), Some(*fact));
            assert!(
                CLOSED
                    .iter()
                    .all(|v| !v.has(fact.as_str()) || *fact == Fact::Reduce)
            );
        }
        assert!(Fact::Reduce.belongs_to(Operation::AllReduce));
        assert!(!Fact::Reduce.belongs_to(Operation::AllGather));
        assert!(!Fact::Root.belongs_to(Operation::AllReduce));
        assert!(!Fact::DType.belongs_to(Operation::Barrier));
    }
}
