//! Reductions of two ranges of elements.
//!
//! Integers wrap. Half-precision numbers are combined in single precision and rounded once, which is
//! exact for one addition or multiplication. The minimum and maximum of floating-point numbers are
//! those of IEEE 754-2019 `minimum` and `maximum`: -0 is below +0, and where either is not a number
//! the result is the one quiet NaN of the type, so that neither order nor machine matters.

use coll_lang::words::{DType, ReduceOp};
use half::f16;
use half::slice::HalfFloatSliceExt;

/// Reduces the first range into the second, element by element. Both have the same length, a
/// multiple of the element's size; they need no alignment.
pub(crate) type Kernel = fn(&[u8], &mut [u8]);

/// The kernel of a type and reduction.
pub(crate) fn kernel(dtype: DType, reduce: ReduceOp) -> Kernel {
    macro_rules! integer {
        ($t:ty) => {
            match reduce {
                ReduceOp::Sum => |s, d| {
                    zip(
                        s,
                        d,
                        <$t>::from_ne_bytes,
                        <$t>::to_ne_bytes,
                        <$t>::wrapping_add,
                    )
                },
                ReduceOp::Prod => |s, d| {
                    zip(
                        s,
                        d,
                        <$t>::from_ne_bytes,
                        <$t>::to_ne_bytes,
                        <$t>::wrapping_mul,
                    )
                },
                ReduceOp::Min => {
                    |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, <$t>::min)
                }
                ReduceOp::Max => {
                    |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, <$t>::max)
                }
            }
        };
    }
    macro_rules! float {
        ($t:ty, $min:ident, $max:ident) => {
            match reduce {
                ReduceOp::Sum => {
                    |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, |a, b| a + b)
                }
                ReduceOp::Prod => {
                    |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, |a, b| a * b)
                }
                ReduceOp::Min => |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, $min),
                ReduceOp::Max => |s, d| zip(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, $max),
            }
        };
    }
    match dtype {
        DType::I8 => integer!(i8),
        DType::I16 => integer!(i16),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::U8 => integer!(u8),
        DType::U16 => integer!(u16),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        DType::F16 => match reduce {
            ReduceOp::Sum => |s, d| blocks(s, d, |a, b| a + b),
            ReduceOp::Prod => |s, d| blocks(s, d, |a, b| a * b),
            ReduceOp::Min => |s, d| blocks(s, d, min_f32),
            ReduceOp::Max => |s, d| blocks(s, d, max_f32),
        },
        DType::Bf16 => match reduce {
            ReduceOp::Sum => |s, d| zip(s, d, read_bf16, write_bf16, |a, b| a + b),
            ReduceOp::Prod => |s, d| zip(s, d, read_bf16, write_bf16, |a, b| a * b),
            ReduceOp::Min => |s, d| zip(s, d, read_bf16, write_bf16, min_f32),
            ReduceOp::Max => |s, d| zip(s, d, read_bf16, write_bf16, max_f32),
        },
        DType::F32 => float!(f32, min_f32, max_f32),
        DType::F64 => float!(f64, min_f64, max_f64),
    }
}

fn zip<T, const N: usize>(
    src: &[u8],
    dst: &mut [u8],
    read: impl Fn([u8; N]) -> T,
    write: impl Fn(T) -> [u8; N],
    combine: impl Fn(T, T) -> T,
) {
    let (src, dst) = (src.as_chunks().0, dst.as_chunks_mut().0);
    for (d, s) in dst.iter_mut().zip(src) {
        *d = write(combine(read(*d), read(*s)));
    }
}

/// A bf16 is the upper half of a binary32.
fn read_bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_ne_bytes(bytes)) << 16)
}

/// Rounds to nearest, ties to even. Written without branches, so that many are done at once.
fn write_bf16(value: f32) -> [u8; 2] {
    let bits = value.to_bits();
    let tie = bits >> 16 & 1;
    // No carry out of the top: only bits of a NaN are that high, and those are not rounded.
    let rounded = bits.wrapping_add(0x7FFF + tie) >> 16;
    let half = if value.is_nan() {
        QUIET_NAN_BF16
    } else {
        rounded
    };
    (half as u16).to_ne_bytes()
}

const QUIET_NAN_BF16: u32 = 0x7FC0;

/// Elements of f16 that are converted at once: what the instructions for it like.
const BLOCK: usize = 64;

fn blocks(src: &[u8], dst: &mut [u8], combine: impl Fn(f32, f32) -> f32) {
    let load = |bytes: &[[u8; 2]]| {
        let mut halves = [f16::ZERO; BLOCK];
        for (half, bytes) in halves.iter_mut().zip(bytes) {
            *half = f16::from_ne_bytes(*bytes);
        }
        let mut singles = [0.0; BLOCK];
        halves.convert_to_f32_slice(&mut singles);
        singles
    };
    let (src, dst) = (src.as_chunks().0, dst.as_chunks_mut().0);
    for (d, s) in dst.chunks_mut(BLOCK).zip(src.chunks(BLOCK)) {
        let (mut a, b) = (load(d), load(s));
        for (a, b) in a.iter_mut().zip(b) {
            *a = combine(*a, b);
        }
        let mut halves = [f16::ZERO; BLOCK];
        halves.convert_from_f32_slice(&a);
        for (d, half) in d.iter_mut().zip(halves) {
            *d = half.to_ne_bytes();
        }
    }
}

macro_rules! min_max {
    ($t:ty, $min:ident, $max:ident) => {
        fn $min(a: $t, b: $t) -> $t {
            if a < b {
                a
            } else if b < a {
                b
            } else if a == b {
                // Equal numbers have equal bits, but for zeros: the sign decides.
                <$t>::from_bits(a.to_bits() | b.to_bits())
            } else {
                <$t>::NAN
            }
        }

        fn $max(a: $t, b: $t) -> $t {
            if a > b {
                a
            } else if b > a {
                b
            } else if a == b {
                <$t>::from_bits(a.to_bits() & b.to_bits())
            } else {
                <$t>::NAN
            }
        }
    };
}

min_max!(f32, min_f32, max_f32);
min_max!(f64, min_f64, max_f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(reduce: ReduceOp, src: &[f32], dst: &[f32]) -> Vec<u32> {
        let bytes = |list: &[f32]| {
            list.iter()
                .flat_map(|x| x.to_ne_bytes())
                .collect::<Vec<_>>()
        };
        let (src, mut dst) = (bytes(src), bytes(dst));
        kernel(DType::F32, reduce)(&src, &mut dst);
        dst.as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_ne_bytes(*b))
            .collect()
    }

    #[test]
    fn minimum_and_maximum_are_those_of_ieee() {
        let (a, b) = (
            [1.0, -0.0, 0.0, f32::NAN, 2.0],
            [2.0, 0.0, -0.0, 1.0, f32::NAN],
        );
        let bits = |list: [f32; 5]| list.map(f32::to_bits).to_vec();
        assert_eq!(
            f32s(ReduceOp::Min, &a, &b),
            bits([1.0, -0.0, -0.0, f32::NAN, f32::NAN])
        );
        assert_eq!(
            f32s(ReduceOp::Max, &a, &b),
            bits([2.0, 0.0, 0.0, f32::NAN, f32::NAN])
        );
    }

    #[test]
    fn integers_wrap() {
        let mut dst = 200u8.to_ne_bytes();
        kernel(DType::U8, ReduceOp::Sum)(&[100], &mut dst);
        assert_eq!(dst, [44]);
        kernel(DType::U8, ReduceOp::Prod)(&[16], &mut dst);
        assert_eq!(dst, [192]);
        let mut dst = i16::MIN.to_ne_bytes();
        kernel(DType::I16, ReduceOp::Max)(&(-5i16).to_ne_bytes(), &mut dst);
        assert_eq!(i16::from_ne_bytes(dst), -5);
    }

    /// A spread of half-precision values, infinities and NaN among them.
    fn spread() -> impl Iterator<Item = u16> + Clone {
        (0..=u16::MAX)
            .step_by(613)
            .chain([0x7C00, 0xFC00, 0x7E00, 0x7F80, 0xFF80, 0x8000])
    }

    /// All pairs of the spread against arithmetic in double precision, rounded once; at a length
    /// that is no multiple of a block.
    fn check_halves(dtype: DType, read: impl Fn(u16) -> f64, write: impl Fn(f64) -> u16) {
        for (reduce, exact) in [
            (ReduceOp::Sum, (|a, b| a + b) as fn(f64, f64) -> f64),
            (ReduceOp::Prod, |a, b| a * b),
        ] {
            for b in spread() {
                let src: Vec<u8> = spread().flat_map(|_| b.to_ne_bytes()).collect();
                let mut dst: Vec<u8> = spread().flat_map(u16::to_ne_bytes).collect();
                kernel(dtype, reduce)(&src, &mut dst);
                for (got, a) in dst.as_chunks().0.iter().zip(spread()) {
                    let (a, b, got) = (read(a), read(b), u16::from_ne_bytes(*got));
                    let expected = exact(a, b);
                    let same = got == write(expected) || (read(got).is_nan() && expected.is_nan());
                    assert!(
                        same,
                        "{dtype} {reduce} {a} {b}: {} not {expected}",
                        read(got)
                    );
                }
            }
        }
    }

    #[test]
    fn halves_round_once() {
        use half::bf16;
        check_halves(
            DType::F16,
            |h| f16::from_bits(h).to_f64(),
            |v| f16::from_f64(v).to_bits(),
        );
        check_halves(
            DType::Bf16,
            |h| bf16::from_bits(h).to_f64(),
            |v| bf16::from_f64(v).to_bits(),
        );
    }
}
