//! The closed vocabularies of the language, each as one table of spelling and meaning.

/// Declares an enum whose variants have exactly one spelling.
macro_rules! words {
    ($(#[$meta:meta])* $enum:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum { $($(#[$vmeta])* $variant),+ }

        impl $enum {
            /// Every member, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// How the members are written, in the same order.
            pub const SPELLINGS: &'static [&'static str] = &[$($text),+];

            /// How the member is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The member that is written `text`, if there is one.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// A collective operation.
    Operation {
        /// Every rank ends with the slots of all ranks.
        AllGather = "allgather",
        /// As all-gather, with a count per rank.
        AllGatherV = "allgatherv",
        /// Every rank ends with the reduction of its own slot.
        ReduceScatter = "reducescatter",
        /// As reduce-scatter, with a count per rank.
        ReduceScatterV = "reducescatterv",
        /// Every rank ends with the reduction of the whole vector.
        AllReduce = "allreduce",
        /// Every rank ends with the root's vector.
        Broadcast = "broadcast",
        /// Every rank ends with its slot of the root's data.
        Scatter = "scatter",
        /// The root ends with the slots of all ranks.
        Gather = "gather",
        /// The root ends with the reduction of the whole vector.
        Reduce = "reduce",
        /// Every rank sends one block to every rank.
        AllToAll = "alltoall",
        /// As all-to-all; each rank knows its own counts.
        AllToAllV = "alltoallv",
        /// As all-to-all; every rank knows the whole count matrix.
        AllToAllVC = "alltoallvc",
        /// No rank leaves before all have entered.
        Barrier = "barrier",
        /// One rank sends to another.
        Send = "send",
        /// One rank receives from another.
        Recv = "recv",
        /// A list of sends and receives at once.
        BatchSendRecv = "batchsendrecv",
    }
}

words! {
    /// What carries out an algorithm on the machine.
    Engine {
        /// The AI CPU of the device.
        Aicpu = "aicpu",
        /// The vector cores of the device.
        Aiv = "aiv",
        /// The collective unit, through its memory slices.
        CcuMs = "ccu_ms",
        /// The collective unit, scheduling memory-to-memory copies.
        CcuSched = "ccu_sched",
        /// The host's processors.
        Host = "host",
    }
}

words! {
    /// The type of an element.
    DType {
        /// Signed, 8 bits.
        I8 = "i8",
        /// Signed, 16 bits.
        I16 = "i16",
        /// Signed, 32 bits.
        I32 = "i32",
        /// Signed, 64 bits.
        I64 = "i64",
        /// Unsigned, 8 bits.
        U8 = "u8",
        /// Unsigned, 16 bits.
        U16 = "u16",
        /// Unsigned, 32 bits.
        U32 = "u32",
        /// Unsigned, 64 bits.
        U64 = "u64",
        /// IEEE 754 binary16.
        F16 = "f16",
        /// The upper half of binary32.
        Bf16 = "bf16",
        /// IEEE 754 binary32.
        F32 = "f32",
        /// IEEE 754 binary64.
        F64 = "f64",
    }
}

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

words! {
    /// How contributions are combined.
    ReduceOp {
        /// Addition; integers wrap.
        Sum = "sum",
        /// Multiplication; integers wrap.
        Prod = "prod",
        /// The least.
        Min = "min",
        /// The greatest.
        Max = "max",
    }
}

words! {
    /// How the ports of a plane join its ranks.
    PlaneKind {
        /// A direct link between every two ranks that differ in one coordinate alone.
        Mesh1d = "mesh1d",
        /// A switch that joins any two ranks of one group.
        Clos = "clos",
    }
}

words! {
    /// The state of the data along one dimension; the ownership types of the language.
    StateWord {
        /// Each rank holds its own coordinate's slots, complete.
        Own = "own",
        /// Each rank holds every coordinate's slots, complete.
        All = "all",
        /// Each rank holds every coordinate's slots with only its own contribution.
        Partial = "partial",
        /// The ranks at the root's coordinate hold everything, the others nothing.
        Root = "root",
        /// All-to-all before: the blocks that start here.
        Src = "src",
        /// All-to-all after: the blocks that end here.
        Dst = "dst",
    }
}

/// Words that open an item; [`crate::split`] cuts a file at them. They are reserved.
pub const ITEM_KEYWORDS: &[&str] = &[
    "algorithm",
    "allow",
    "cluster",
    "cost",
    "curve",
    "extern",
    "fallback",
    "let",
    "private",
    "select",
    "template",
    "test",
    "topology",
    "tree",
    "use",
    "util",
];

/// Item keywords that no block of another item can hold at the start of a statement, save `check`
/// blocks of tests. At the left margin of a file whose braces do not balance they open an item
/// whatever the depth.
pub const MARGIN_KEYWORDS: &[&str] = &[
    "algorithm",
    "allow",
    "cluster",
    "curve",
    "extern",
    "fallback",
    "private",
    "select",
    "template",
    "test",
    "topology",
    "use",
    "util",
];

/// Every reserved word: none of them can name anything.
pub const RESERVED: &[&str] = &[
    "algorithm",
    "allow",
    "and",
    "assert",
    "cluster",
    "cost",
    "curve",
    "do",
    "else",
    "extern",
    "fallback",
    "for",
    "if",
    "in",
    "let",
    "net",
    "not",
    "omnipipe",
    "or",
    "otherwise",
    "parallel",
    "private",
    "require",
    "select",
    "sequence",
    "step",
    "template",
    "test",
    "topology",
    "tree",
    "use",
    "util",
    "when",
];
