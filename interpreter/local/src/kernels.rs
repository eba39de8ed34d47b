//! Reductions of two ranges of elements.
//!
//! Integers wrap. Half-precision numbers are combined in single precision and rounded once, which is
//! exact for one addition or multiplication. The minimum and maximum of floating-point numbers are
//! those of IEEE 754-2019 `minimum` and `maximum`: -0 is below +0, and where either is not a number
//! the result is the one quiet NaN of the type, so that neither order nor machine matters.

use coll_lang::words::{DType, ReduceOp};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

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
    macro_rules! half {
        ($t:ty) => {
            match reduce {
                ReduceOp::Sum => {
                    |s, d| blocks(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, |a, b| a + b)
                }
                ReduceOp::Prod => {
                    |s, d| blocks(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, |a, b| a * b)
                }
                ReduceOp::Min => {
                    |s, d| blocks(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, min_f32)
                }
                ReduceOp::Max => {
                    |s, d| blocks(s, d, <$t>::from_ne_bytes, <$t>::to_ne_bytes, max_f32)
                }
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
        DType::F16 => half!(f16),
        DType::Bf16 => half!(bf16),
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

/// Elements that are converted at once: what the conversion instructions of the machine like.
const BLOCK: usize = 64;

fn blocks<T: Copy + Default>(
    src: &[u8],
    dst: &mut [u8],
    read: impl Fn([u8; 2]) -> T,
    write: impl Fn(T) -> [u8; 2],
    combine: impl Fn(f32, f32) -> f32,
) where
    [T]: HalfFloatSliceExt,
{
    let load = |bytes: &[[u8; 2]]| {
        let mut halves = [T::default(); BLOCK];
        for (half, bytes) in halves.iter_mut().zip(bytes) {
            *half = read(*bytes);
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
        let mut halves = [T::default(); BLOCK];
        halves.convert_from_f32_slice(&a);
        for (d, half) in d.iter_mut().zip(halves) {
            *d = write(half);
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

    /// All pairs of a spread of half-precision values against scalar arithmetic, at lengths that are
    /// no multiple of a block.
    #[test]
    fn halves_round_once() {
        let values: Vec<f16> = (0..=u16::MAX)
            .step_by(613)
            .map(f16::from_bits)
            .filter(|v| v.is_finite())
            .collect();
        for &b in &values {
            let src: Vec<u8> = values.iter().flat_map(|_| b.to_ne_bytes()).collect();
            let mut dst: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
            kernel(DType::F16, ReduceOp::Sum)(&src, &mut dst);
            for (got, a) in dst.as_chunks().0.iter().zip(&values) {
                let exact = f16::from_f64(a.to_f64() + b.to_f64());
                assert_eq!(f16::from_ne_bytes(*got), exact, "{a} + {b}");
            }
        }
    }
}
