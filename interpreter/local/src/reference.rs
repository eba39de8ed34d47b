//! What an operation must yield, computed straight from the inputs.
//!
//! Nothing of the executor or of the engine's kernels is used: integers are combined as 128-bit
//! numbers and cut back once, floating-point numbers in double precision.

use coll_executor::Request;
use coll_lang::words::{DType, Operation, ReduceOp};
use half::{bf16, f16};
use std::fmt;

/// An element that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The rank whose output it is in.
    pub rank: u32,
    /// The slot of the output it is in, by its owner.
    pub slot: u32,
    /// Its position in the slot.
    pub element: u64,
    /// What must be there.
    pub expected: Element,
    /// What is there.
    pub got: Element,
}

/// The value of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Element {
    dtype: DType,
    bytes: [u8; 8],
}

impl Element {
    fn new(dtype: DType, source: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..source.len()].copy_from_slice(source);
        Self { dtype, bytes }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        macro_rules! read {
            ($t:ty) => {
                <$t>::from_ne_bytes(*self.bytes.first_chunk().expect("8 bytes hold any element"))
                    .fmt(f)
            };
        }
        match self.dtype {
            DType::I8 => read!(i8),
            DType::I16 => read!(i16),
            DType::I32 => read!(i32),
            DType::I64 => read!(i64),
            DType::U8 => read!(u8),
            DType::U16 => read!(u16),
            DType::U32 => read!(u32),
            DType::U64 => read!(u64),
            DType::F16 => read!(f16),
            DType::Bf16 => read!(bf16),
            DType::F32 => read!(f32),
            DType::F64 => read!(f64),
        }
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The outputs of all ranks, as they must be.
pub struct Expected<'a> {
    request: Request,
    ranks: u32,
    data: Data<'a>,
}

enum Data<'a> {
    /// Every rank ends with all of these, one slot each.
    Slots(Vec<&'a [u8]>),
    /// Every rank ends with its slot of this.
    OwnSlot(Vec<u8>),
    /// Every rank ends with this.
    Vector(Vec<u8>),
}

impl<'a> Expected<'a> {
    /// What `request` must yield from `inputs`, those of all ranks. None for an operation without
    /// reference, or when inputs differ in length.
    pub fn new(request: &Request, inputs: &[&'a [u8]]) -> Option<Self> {
        let first = inputs.first()?;
        if inputs.iter().any(|i| i.len() != first.len()) {
            return None;
        }
        let reduced = || Some(reduce(request.dtype, request.reduce?, inputs));
        Some(Self {
            request: *request,
            ranks: u32::try_from(inputs.len()).ok()?,
            data: match request.op {
                Operation::AllGather => Data::Slots(inputs.to_vec()),
                Operation::ReduceScatter => Data::OwnSlot(reduced()?),
                Operation::AllReduce => Data::Vector(reduced()?),
                _ => return None,
            },
        })
    }

    /// Compares the output of `rank`, bit by bit. Adds up to `limit` mismatches to `found` and
    /// returns how many elements are wrong.
    pub fn compare(
        &self,
        rank: u32,
        output: &[u8],
        limit: usize,
        found: &mut Vec<Mismatch>,
    ) -> u64 {
        let mut wrong = 0;
        let mut rest = output;
        for (slot, expected) in self.slots(rank) {
            let (got, behind) = rest.split_at(expected.len().min(rest.len()));
            rest = behind;
            if got == expected {
                continue;
            }
            let size = self.request.dtype.size() as usize;
            let pairs = expected.chunks(size).zip(got.chunks(size));
            for (element, (expected, got)) in (0..).zip(pairs) {
                if expected != got {
                    wrong += 1;
                    if found.len() < limit {
                        found.push(Mismatch {
                            rank,
                            slot,
                            element,
                            expected: Element::new(self.request.dtype, expected),
                            got: Element::new(self.request.dtype, got),
                        });
                    }
                }
            }
        }
        wrong
    }

    /// The slots of a rank's output.
    fn slots(&self, rank: u32) -> Vec<(u32, &[u8])> {
        match &self.data {
            Data::Slots(slots) => (0..).zip(slots.iter().copied()).collect(),
            Data::OwnSlot(vector) => {
                let len = vector.len() / self.ranks as usize;
                let first = len * rank as usize;
                vec![(rank, &vector[first..first + len])]
            }
            Data::Vector(vector) => {
                // The slots of the whole vector; the last one has the rest.
                let size = self.request.dtype.size() as usize;
                let elements = vector.len() / size;
                let len = elements / self.ranks as usize * size;
                let last = self.ranks - 1;
                let slot = |slot: u32| {
                    let first = len * slot as usize;
                    let end = if slot == last {
                        vector.len()
                    } else {
                        first + len
                    };
                    (slot, &vector[first..end])
                };
                (0..self.ranks).map(slot).collect()
            }
        }
    }
}

/// All inputs combined element by element, in rank order.
fn reduce(dtype: DType, reduce: ReduceOp, inputs: &[&[u8]]) -> Vec<u8> {
    macro_rules! integers {
        ($t:ty) => {
            combine(
                inputs,
                |b| i128::from(<$t>::from_ne_bytes(b)),
                |v| (v as $t).to_ne_bytes(),
                match reduce {
                    ReduceOp::Sum => i128::wrapping_add,
                    ReduceOp::Prod => i128::wrapping_mul,
                    ReduceOp::Min => i128::min,
                    ReduceOp::Max => i128::max,
                },
            )
        };
    }
    macro_rules! floats {
        ($t:ty, $narrow:expr) => {
            combine(
                inputs,
                |b| f64::from(<$t>::from_ne_bytes(b)),
                |v| $narrow(v).to_ne_bytes(),
                match reduce {
                    ReduceOp::Sum => |a, b| a + b,
                    ReduceOp::Prod => |a, b| a * b,
                    ReduceOp::Min => f64::min,
                    ReduceOp::Max => f64::max,
                },
            )
        };
    }
    match dtype {
        DType::I8 => integers!(i8),
        DType::I16 => integers!(i16),
        DType::I32 => integers!(i32),
        DType::I64 => integers!(i64),
        DType::U8 => integers!(u8),
        DType::U16 => integers!(u16),
        DType::U32 => integers!(u32),
        DType::U64 => integers!(u64),
        DType::F16 => floats!(f16, f16::from_f64),
        DType::Bf16 => floats!(bf16, bf16::from_f64),
        DType::F32 => floats!(f32, |v| v as f32),
        DType::F64 => floats!(f64, |v: f64| v),
    }
}

fn combine<V: Copy, const N: usize>(
    inputs: &[&[u8]],
    read: impl Fn([u8; N]) -> V,
    write: impl Fn(V) -> [u8; N],
    combine: impl Fn(V, V) -> V,
) -> Vec<u8> {
    let Some((first, others)) = inputs.split_first() else {
        return Vec::new();
    };
    let mut values: Vec<V> = first.as_chunks().0.iter().map(|b| read(*b)).collect();
    for input in others {
        for (value, b) in values.iter_mut().zip(input.as_chunks().0) {
            *value = combine(*value, read(*b));
        }
    }
    values.into_iter().flat_map(write).collect()
}
