//! Inputs whose results are exact in any order of combination.
//!
//! Where nothing is combined, and for integers, elements are arbitrary bits: integers wrap, so every
//! order gives the same. Floating-point numbers are chosen so that no partial result is ever rounded:
//!
//! * `sum`: integers so small that the sum of all ranks' stays exactly representable. On more ranks
//!   than the type counts up to (2048 for f16, 256 for bf16), for each element only as many ranks,
//!   another choice for each element, contribute other than 0.
//! * `prod`: `±1`, and `±2` and `±1/2` on at most as many ranks as the exponent has room for.
//! * `min`, `max`: integers that the type represents.

use coll_executor::Request;
use coll_lang::words::{DType, ReduceOp};
use half::{bf16, f16};

/// Numbers from a seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, for `n` above 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

/// What a floating-point type represents exactly.
struct Exact {
    /// All integers up to this.
    integers: u64,
    /// All powers of two from the inverse of this exponent up to it.
    exponent: u64,
}

fn exact(dtype: DType) -> Option<Exact> {
    let (digits, exponent) = match dtype {
        DType::F16 => (11, 14),
        DType::Bf16 => (8, 126),
        DType::F32 => (24, 126),
        DType::F64 => (53, 1022),
        _ => return None,
    };
    Some(Exact {
        integers: 1 << digits,
        exponent,
    })
}

/// Fills the input of `rank` of `ranks`; the same for the same seed.
pub fn fill(request: &Request, ranks: u32, rank: u32, seed: u64, input: &mut [u8]) {
    let mut random = Random::new(seed ^ (u64::from(rank) << 32 | u64::from(rank)));
    // The first numbers of neighbouring seeds must not be alike.
    random = Random::new(random.next());
    let (Some(reduce), Some(exact)) = (request.reduce, exact(request.dtype)) else {
        for chunk in input.chunks_mut(8) {
            chunk.copy_from_slice(&random.next().to_ne_bytes()[..chunk.len()]);
        }
        return;
    };
    let ranks = u64::from(ranks);
    let rank = u64::from(rank);
    let mut element = 0;
    let next = move || {
        // Which ranks may contribute freely moves on with the elements.
        let turn = (rank + element % ranks) % ranks;
        element += 1;
        match reduce {
            ReduceOp::Sum => {
                let bound = (exact.integers / ranks).clamp(1, 1 << 20);
                integer(&mut random, if turn < exact.integers { bound } else { 0 })
            }
            ReduceOp::Prod => {
                let powers: &[f64] = match turn < exact.exponent {
                    true => &[-2.0, -1.0, -0.5, 0.5, 1.0, 2.0],
                    false => &[-1.0, 1.0],
                };
                powers[random.below(powers.len() as u64) as usize]
            }
            ReduceOp::Min | ReduceOp::Max => integer(&mut random, exact.integers.min(1 << 20)),
        }
    };
    match request.dtype {
        DType::F16 => write(input, next, |v| f16::from_f64(v).to_ne_bytes()),
        DType::Bf16 => write(input, next, |v| bf16::from_f64(v).to_ne_bytes()),
        DType::F64 => write(input, next, f64::to_ne_bytes),
        // The integers were filled above; what is left is f32.
        _ => write(input, next, |v| (v as f32).to_ne_bytes()),
    }
}

/// An integer of at most `bound` in magnitude; never -0.
fn integer(random: &mut Random, bound: u64) -> f64 {
    (random.below(2 * bound + 1) as i64 - bound as i64) as f64
}

fn write<const N: usize>(
    input: &mut [u8],
    mut next: impl FnMut() -> f64,
    bytes: impl Fn(f64) -> [u8; N],
) {
    for element in input.as_chunks_mut().0 {
        *element = bytes(next());
    }
}
