//! Values of expressions, their types, and exact arithmetic on them.

pub use crate::library::FactValue as Value;
use coll_grammar::number::{Dimension, Quantity, Rational};
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub, Signed, ToPrimitive, Zero};
use smol_str::SmolStr;
use std::fmt;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Yes or no.
    Bool,
    /// A number that measures something.
    Number(Dimension),
    /// A word of a vocabulary.
    Word(Vocabulary),
}

impl Type {
    /// A number without a unit.
    pub const COUNT: Self = Self::Number(Dimension::NONE);

    /// The vocabulary, if this is the type of words.
    pub fn vocabulary(&self) -> Option<&Vocabulary> {
        match self {
            Self::Word(vocabulary) => Some(vocabulary),
            _ => None,
        }
    }

    /// The type of a value, whatever vocabulary a word is of.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Bool,
            Value::Number(q) => Self::Number(q.dimension),
            Value::Word(_) => Self::Word(Vocabulary::open("a word")),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("yes or no"),
            Self::Number(dimension) => dimension.fmt(f),
            Self::Word(vocabulary) => f.write_str(&vocabulary.name),
        }
    }
}

/// The words that a fact can be.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// What they are: `an element type`.
    pub name: SmolStr,
    /// All of them; none if any word can be one.
    pub words: Option<&'static [&'static str]>,
}

impl Vocabulary {
    /// Any word.
    pub fn open(name: impl Into<SmolStr>) -> Self {
        Self {
            name: name.into(),
            words: None,
        }
    }

    /// One of `words`.
    pub const fn closed(name: &'static str, words: &'static [&'static str]) -> Self {
        Self {
            name: SmolStr::new_static(name),
            words: Some(words),
        }
    }

    /// Whether the vocabulary is closed and has this word.
    pub fn has(&self, word: &str) -> bool {
        self.words.is_some_and(|words| words.contains(&word))
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Vocabulary {}

/// Why arithmetic has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    /// Too large to be exact.
    #[error("the result has more digits than an exact number can hold")]
    TooLarge,
    /// By zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A fraction where only whole numbers make sense.
    #[error("{0} is not a whole number")]
    NotWhole(Quantity),
    /// A shift by less than 0 or more than 100.
    #[error("shifts go from 0 to 100 places, not {0}")]
    BadShift(Quantity),
    /// A logarithm of something else than a positive whole number.
    #[error("only whole numbers from 1 have a logarithm, and this is {0}")]
    NoLogarithm(Quantity),
    /// `log2` of something else than a power of two.
    #[error("{0} is not a power of two: `ceil_log2` and `floor_log2` round")]
    NotPowerOfTwo(Quantity),
    /// An exponent that is negative or no whole number.
    #[error("an exponent is a whole number from 0, and this is {0}")]
    BadExponent(Quantity),
}

/// Arithmetic operators and functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `<<`
    Shl,
    /// `>>`, rounding down
    Shr,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `gcd`
    Gcd,
    /// `pow`
    Pow,
}

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `-`
    Neg,
    /// `~`
    Complement,
    /// `abs`
    Abs,
    /// `ceil_log2`
    CeilLog2,
    /// `floor_log2`
    FloorLog2,
    /// `log2` of a power of two
    Log2,
}

/// Numbers keep clear of the limits of 128 bits by so much that no step of an operation on two of
/// them is lost.
const LARGEST: u128 = 1 << 120;

fn exact(value: Option<Rational>) -> Result<Rational, ArithmeticError> {
    value
        .filter(|v| v.numer().unsigned_abs() < LARGEST && v.denom().unsigned_abs() < LARGEST)
        .ok_or(ArithmeticError::TooLarge)
}

fn whole(quantity: Quantity) -> Result<i128, ArithmeticError> {
    match quantity.value.is_integer() {
        true => Ok(*quantity.value.numer()),
        false => Err(ArithmeticError::NotWhole(quantity)),
    }
}

impl Arithmetic {
    /// The result for two numbers whose dimensions fit.
    ///
    /// # Errors
    /// When there is none, or none that is exact.
    pub fn apply(self, a: Quantity, b: Quantity) -> Result<Quantity, ArithmeticError> {
        let (x, y) = (a.value, b.value);
        let count = |value: i128| exact(Some(Rational::from_integer(value)));
        let value = match self {
            Self::Add => exact(x.checked_add(&y))?,
            Self::Sub => exact(x.checked_sub(&y))?,
            Self::Mul => exact(x.checked_mul(&y))?,
            Self::Div if y.is_zero() => return Err(ArithmeticError::DivisionByZero),
            Self::Div => exact(x.checked_div(&y))?,
            Self::Min => x.min(y),
            Self::Max => x.max(y),
            Self::And => count(whole(a)? & whole(b)?)?,
            Self::Or => count(whole(a)? | whole(b)?)?,
            Self::Xor => count(whole(a)? ^ whole(b)?)?,
            Self::Gcd => count(gcd(whole(a)?, whole(b)?))?,
            Self::Shl => {
                let factor = count(1i128 << shift(b)?)?;
                exact(x.checked_mul(&factor))?
            }
            Self::Shr => count(whole(a)? >> shift(b)?)?,
            Self::Pow => power(x, b)?,
        };
        Ok(Quantity {
            value,
            dimension: self.dimension(a.dimension, b.dimension),
        })
    }

    /// What the result measures, for operands that fit.
    pub fn dimension(self, a: Dimension, b: Dimension) -> Dimension {
        match self {
            Self::Mul => Dimension {
                bytes: a.bytes.saturating_add(b.bytes),
                seconds: a.seconds.saturating_add(b.seconds),
            },
            Self::Div => Dimension {
                bytes: a.bytes.saturating_sub(b.bytes),
                seconds: a.seconds.saturating_sub(b.seconds),
            },
            _ => a,
        }
    }
}

fn shift(by: Quantity) -> Result<u32, ArithmeticError> {
    whole(by)?
        .to_u32()
        .filter(|&places| places <= 100)
        .ok_or(ArithmeticError::BadShift(by))
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn power(base: Rational, exponent: Quantity) -> Result<Rational, ArithmeticError> {
    let bad = ArithmeticError::BadExponent(exponent);
    let times = whole(exponent).map_err(|_| bad)?.to_u32().ok_or(bad)?;
    let unit = base.abs() == Rational::from_integer(1) || base.is_zero();
    let times = match unit {
        true => times.min(2 + times % 2),
        false => times,
    };
    let mut result = Rational::from_integer(1);
    for _ in 0..times {
        result = exact(result.checked_mul(&base))?;
    }
    Ok(result)
}

impl Function {
    /// The result for a number.
    ///
    /// # Errors
    /// When there is none, or none that is exact.
    pub fn apply(self, a: Quantity) -> Result<Quantity, ArithmeticError> {
        let positive = || match whole(a) {
            Ok(n) if n > 0 => Ok(n.unsigned_abs()),
            _ => Err(ArithmeticError::NoLogarithm(a)),
        };
        let log = |n: u128| Rational::from_integer(i128::from(n.ilog2()));
        let one = Rational::from_integer(1);
        let value = match self {
            Self::Neg => -a.value,
            Self::Abs => a.value.abs(),
            Self::Complement => Rational::from_integer(!whole(a)?),
            Self::FloorLog2 => log(positive()?),
            Self::CeilLog2 => match positive()? {
                n if n.is_power_of_two() => log(n),
                n => log(n) + one,
            },
            Self::Log2 => match positive()? {
                n if n.is_power_of_two() => log(n),
                _ => return Err(ArithmeticError::NotPowerOfTwo(a)),
            },
        };
        Ok(Quantity {
            value: exact(Some(value))?,
            dimension: a.dimension,
        })
    }
}

/// Whether a number is a power of two.
pub fn is_power_of_two(a: Quantity) -> bool {
    whole(a).is_ok_and(|n| n > 0 && n.unsigned_abs().is_power_of_two())
}

/// A value as a person would write it.
pub fn show(value: &Value) -> String {
    match value {
        Value::Bool(true) => "true".to_owned(),
        Value::Bool(false) => "false".to_owned(),
        Value::Number(q) => q.to_string(),
        Value::Word(word) => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coll_grammar::number::parse;
    use proptest::prelude::*;

    fn q(text: &str) -> Quantity {
        parse(text).unwrap()
    }

    #[test]
    fn arithmetic_is_exact_and_keeps_units() {
        for (op, a, b, result) in [
            (Arithmetic::Add, "1 KiB", "1 KiB", "2 KiB"),
            (Arithmetic::Sub, "1", "3", "-2"),
            (Arithmetic::Div, "1 MB", "2 MB/s", "500 ms"),
            (Arithmetic::Mul, "2 GB/s", "3 us", "6 KB"),
            (Arithmetic::Div, "1", "3", "1/3"),
            (Arithmetic::Shl, "3", "4", "48"),
            (Arithmetic::Shr, "7", "1", "3"),
            (Arithmetic::And, "6", "3", "2"),
            (Arithmetic::Or, "6", "3", "7"),
            (Arithmetic::Xor, "6", "3", "5"),
            (Arithmetic::Gcd, "12", "18", "6"),
            (Arithmetic::Pow, "2", "10", "1024"),
            (Arithmetic::Min, "2", "10", "2"),
            (Arithmetic::Max, "2 us", "10 us", "10 us"),
        ] {
            let computed = op.apply(q(a), q(b)).map(|v| v.to_string());
            assert_eq!(computed.as_deref(), Ok(result), "{op:?} {a} {b}");
        }
        assert_eq!(
            Function::CeilLog2.apply(q("5")).map(|v| v.to_string()),
            Ok("3".to_owned())
        );
        assert_eq!(
            Function::FloorLog2.apply(q("5")).map(|v| v.to_string()),
            Ok("2".to_owned())
        );
        assert!(is_power_of_two(q("64")) && !is_power_of_two(q("0")));
    }

    #[test]
    fn what_has_no_result_says_why() {
        let big = q("1e36");
        assert_eq!(
            Arithmetic::Mul.apply(big, big),
            Err(ArithmeticError::TooLarge)
        );
        assert_eq!(
            Arithmetic::Div.apply(big, q("0")),
            Err(ArithmeticError::DivisionByZero)
        );
        assert_eq!(
            Arithmetic::Pow.apply(q("2"), q("4000000000")),
            Err(ArithmeticError::TooLarge)
        );
        assert!(Arithmetic::Pow.apply(q("1"), q("4000000000")).is_ok());
        assert!(matches!(
            Arithmetic::Shl.apply(q("1"), q("101")),
            Err(ArithmeticError::BadShift(_))
        ));
        assert!(matches!(
            Arithmetic::And.apply(q("0.5"), q("1")),
            Err(ArithmeticError::NotWhole(_))
        ));
        assert!(matches!(
            Function::Log2.apply(q("6")),
            Err(ArithmeticError::NotPowerOfTwo(_))
        ));
        assert!(matches!(
            Function::CeilLog2.apply(q("0")),
            Err(ArithmeticError::NoLogarithm(_))
        ));
    }

    fn quantity() -> impl Strategy<Value = Quantity> {
        (any::<i128>(), 1i128..1 << 70).prop_map(|(n, d)| Quantity {
            value: Rational::new(n >> 8, d),
            dimension: Dimension::NONE,
        })
    }

    proptest! {
        #[test]
        fn no_operands_make_it_panic(a in quantity(), b in quantity()) {
            use Arithmetic::{Add, And, Div, Gcd, Max, Min, Mul, Or, Pow, Shl, Shr, Sub, Xor};
            for op in [Add, Sub, Mul, Div, Shl, Shr, And, Or, Xor, Min, Max, Gcd, Pow] {
                let _ = op.apply(a, b);
            }
            use Function::{Abs, CeilLog2, Complement, FloorLog2, Log2, Neg};
            for function in [Neg, Complement, Abs, CeilLog2, FloorLog2, Log2] {
                let _ = function.apply(a);
            }
        }

        #[test]
        fn sums_of_what_fits_are_those_of_integers(a in -1i128 << 60..1 << 60, b in -1i128 << 60..1 << 60) {
            let sum = Arithmetic::Add.apply(Quantity::count(a), Quantity::count(b));
            prop_assert_eq!(sum, Ok(Quantity::count(a + b)));
            let product = Arithmetic::Mul.apply(Quantity::count(a >> 4), Quantity::count(b >> 4));
            prop_assert_eq!(product.ok(), (a >> 4).checked_mul(b >> 4)
                .filter(|p| p.unsigned_abs() < LARGEST).map(Quantity::count));
        }
    }
}
