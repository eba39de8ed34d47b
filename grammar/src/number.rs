//! Literals with units, read exactly.

use num_rational::Ratio;
use num_traits::{CheckedMul, ToPrimitive, Zero};
use std::fmt;

/// An exact number. Operations on it are checked: what does not fit is an error, never a wrap.
pub type Rational = Ratio<i128>;

/// What a number measures, as powers of bytes and seconds: `{1, -1}` is a rate in bytes per second,
/// `{0, 0}` a count or a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Dimension {
    /// Power of bytes.
    pub bytes: i8,
    /// Power of seconds.
    pub seconds: i8,
}

impl Dimension {
    /// A count, an index or a ratio.
    pub const NONE: Self = Self {
        bytes: 0,
        seconds: 0,
    };
    /// An amount of data.
    pub const BYTES: Self = Self {
        bytes: 1,
        seconds: 0,
    };
    /// A time.
    pub const SECONDS: Self = Self {
        bytes: 0,
        seconds: 1,
    };
    /// A bandwidth.
    pub const RATE: Self = Self {
        bytes: 1,
        seconds: -1,
    };
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.seconds) {
            (0, 0) => f.write_str("a count"),
            (1, 0) => f.write_str("bytes"),
            (0, 1) => f.write_str("a time"),
            (1, -1) => f.write_str("a bandwidth"),
            (-1, 1) => f.write_str("a time per byte"),
            (b, s) => write!(f, "bytes^{b} seconds^{s}"),
        }
    }
}

/// A number with what it measures, in bytes and seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// The value in base units (bytes, seconds, bytes per second, or plain).
    pub value: Rational,
    /// What it measures.
    pub dimension: Dimension,
}

impl Quantity {
    /// A plain number.
    pub fn count(value: i128) -> Self {
        Self {
            value: Rational::from_integer(value),
            dimension: Dimension::NONE,
        }
    }

    /// The nearest `f64`, for display and for models that compute in floating point.
    pub fn to_f64(self) -> f64 {
        let (n, d) = (*self.value.numer(), *self.value.denom());
        n as f64 / d as f64
    }

    /// The value as an unsigned integer, if it is one.
    pub fn to_u64(self) -> Option<u64> {
        self.value
            .is_integer()
            .then(|| self.value.numer().to_u64())
            .flatten()
    }
}

impl fmt::Display for Quantity {
    /// With the largest unit that leaves a whole number, else with the base unit; text that
    /// [`parse`] reads, unless the value has no finite decimal form or no unit of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS
            .iter()
            .filter(|u| u.3 == self.dimension || rate_of(u.3) == self.dimension)
            .filter(|u| !u.0.is_empty() && self.dimension != Dimension::NONE)
            .filter_map(|u| Some((u, self.value.checked_mul(&Rational::new(u.2, u.1))?)))
            .filter(|(_, scaled)| scaled.is_integer() && !scaled.is_zero())
            .min_by_key(|(_, scaled)| scaled.numer().unsigned_abs());
        let per_second = match self.dimension.seconds {
            -1 => "/s",
            _ => "",
        };
        match (unit, self.dimension) {
            (Some((unit, scaled)), _) => write!(f, "{} {}{per_second}", scaled.numer(), unit.0),
            (None, Dimension::NONE) => write_decimal(f, self.value),
            (None, dimension) => {
                write_decimal(f, self.value)?;
                match dimension {
                    Dimension::BYTES => f.write_str(" B"),
                    Dimension::SECONDS => f.write_str(" s"),
                    Dimension::RATE => f.write_str(" B/s"),
                    other => write!(f, " ({other})"),
                }
            }
        }
    }
}

/// What a unit measures with `/s` behind it.
const fn rate_of(dimension: Dimension) -> Dimension {
    match dimension {
        Dimension::BYTES => Dimension::RATE,
        other => other,
    }
}

/// Writes an exact decimal of at most nine places, else a fraction.
fn write_decimal(f: &mut fmt::Formatter<'_>, value: Rational) -> fmt::Result {
    const PLACES: i128 = K * K * K;
    match value.checked_mul(&Rational::from_integer(PLACES)) {
        _ if value.is_integer() => write!(f, "{}", value.numer()),
        Some(scaled) if scaled.is_integer() => {
            let magnitude = scaled.numer().unsigned_abs();
            let (whole, part) = (magnitude / PLACES as u128, magnitude % PLACES as u128);
            let sign = if *scaled.numer() < 0 { "-" } else { "" };
            let part = format!("{part:09}");
            write!(f, "{sign}{whole}.{}", part.trim_end_matches('0'))
        }
        _ => write!(f, "{}/{}", value.numer(), value.denom()),
    }
}

/// Why a literal could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// More digits than an exact number holds.
    #[error("the number has more digits than an exact number can hold")]
    TooLarge,
    /// Not a number with a unit.
    #[error("not a number with one of the units of the language")]
    Malformed,
}

/// A unit: spelling, factor to the base unit as numerator and denominator, what it measures.
type Unit = (&'static str, i128, i128, Dimension);

const K: i128 = 1000;
const KI: i128 = 1024;

/// The units of the language. `/s` may follow those that measure bytes.
pub const UNITS: &[Unit] = &[
    ("%", 1, 100, Dimension::NONE),
    ("k", K, 1, Dimension::NONE),
    ("M", K * K, 1, Dimension::NONE),
    ("G", K * K * K, 1, Dimension::NONE),
    ("Ki", KI, 1, Dimension::NONE),
    ("Mi", KI * KI, 1, Dimension::NONE),
    ("Gi", KI * KI * KI, 1, Dimension::NONE),
    ("B", 1, 1, Dimension::BYTES),
    ("KB", K, 1, Dimension::BYTES),
    ("MB", K * K, 1, Dimension::BYTES),
    ("GB", K * K * K, 1, Dimension::BYTES),
    ("TB", K * K * K * K, 1, Dimension::BYTES),
    ("KiB", KI, 1, Dimension::BYTES),
    ("MiB", KI * KI, 1, Dimension::BYTES),
    ("GiB", KI * KI * KI, 1, Dimension::BYTES),
    ("TiB", KI * KI * KI * KI, 1, Dimension::BYTES),
    ("ns", 1, K * K * K, Dimension::SECONDS),
    ("us", 1, K * K, Dimension::SECONDS),
    ("ms", 1, K, Dimension::SECONDS),
    ("s", 1, 1, Dimension::SECONDS),
];

/// Reads a literal such as `64KiB`, `56 GB/s`, `1.5 us`, `25%`, `1_000` or `1e-6`.
///
/// # Errors
/// [`NumberError::TooLarge`] when the exact value does not fit, [`NumberError::Malformed`] when the
/// text is no literal.
pub fn parse(text: &str) -> Result<Quantity, NumberError> {
    let text = text.trim();
    let is_mantissa = |i: usize, c: char| {
        c.is_ascii_digit()
            || c == '_'
            || (c == '.' && i > 0)
            || is_exponent(text.as_bytes(), i)
            || (matches!(c, '+' | '-') && i > 0 && is_exponent(text.as_bytes(), i - 1))
    };
    let end = text
        .char_indices()
        .find(|&(i, c)| !is_mantissa(i, c))
        .map_or(text.len(), |(i, _)| i);
    let mut value = parse_mantissa(&text[..end])?;
    let unit = text[end..].trim_start();
    if unit.is_empty() {
        return Ok(Quantity {
            value,
            dimension: Dimension::NONE,
        });
    }
    let (unit, per_second) = match unit.strip_suffix("/s") {
        Some(unit) => (unit, true),
        None => (unit, false),
    };
    let &(_, numer, denom, mut dimension) = UNITS
        .iter()
        .find(|u| u.0 == unit)
        .ok_or(NumberError::Malformed)?;
    if per_second {
        if dimension != Dimension::BYTES {
            return Err(NumberError::Malformed);
        }
        dimension.seconds -= 1;
    }
    value = value
        .checked_mul(&Rational::new(numer, denom))
        .ok_or(NumberError::TooLarge)?;
    Ok(Quantity { value, dimension })
}

/// Whether the byte at `i` is the `e` of an exponent: a digit before it, a digit or sign after it.
fn is_exponent(text: &[u8], i: usize) -> bool {
    matches!(text.get(i), Some(b'e' | b'E'))
        && i > 0
        && text[i - 1].is_ascii_digit()
        && match text.get(i + 1) {
            Some(b'+' | b'-') => text.get(i + 2).is_some_and(u8::is_ascii_digit),
            Some(c) => c.is_ascii_digit(),
            None => false,
        }
}

fn parse_mantissa(text: &str) -> Result<Rational, NumberError> {
    let (text, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let exponent = text[at + 1..]
                .parse::<i32>()
                .map_err(|_| NumberError::TooLarge)?;
            (&text[..at], exponent)
        }
        None => (text, 0),
    };
    let mut digits: i128 = 0;
    let mut scale: i32 = exponent;
    let mut after_point = false;
    let mut seen = false;
    for c in text.bytes() {
        match c {
            b'_' => {}
            b'.' if !after_point => after_point = true,
            b'0'..=b'9' => {
                seen = true;
                digits = digits
                    .checked_mul(10)
                    .and_then(|d| d.checked_add(i128::from(c - b'0')))
                    .ok_or(NumberError::TooLarge)?;
                if after_point {
                    scale = scale.checked_sub(1).ok_or(NumberError::TooLarge)?;
                }
            }
            _ => return Err(NumberError::Malformed),
        }
    }
    if !seen {
        return Err(NumberError::Malformed);
    }
    if digits.is_zero() {
        return Ok(Rational::from_integer(0));
    }
    let power = 10i128
        .checked_pow(scale.unsigned_abs())
        .ok_or(NumberError::TooLarge)?;
    if scale < 0 {
        return Ok(Rational::new(digits, power));
    }
    digits
        .checked_mul(power)
        .map(Rational::from_integer)
        .ok_or(NumberError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (i128, i128, Dimension) {
        let q = parse(text).unwrap();
        (*q.value.numer(), *q.value.denom(), q.dimension)
    }

    #[test]
    fn units_scale_to_base_units() {
        assert_eq!(value("64KiB"), (65536, 1, Dimension::BYTES));
        assert_eq!(value("56 GB/s"), (56_000_000_000, 1, Dimension::RATE));
        assert_eq!(value("1.5 us"), (3, 2_000_000, Dimension::SECONDS));
        assert_eq!(value("25%"), (1, 4, Dimension::NONE));
        assert_eq!(value("2.755%"), (551, 20_000, Dimension::NONE));
        assert_eq!(value("1_000"), (1000, 1, Dimension::NONE));
        assert_eq!(value("1e-6"), (1, 1_000_000, Dimension::NONE));
        assert_eq!(value("4 Mi"), (4 << 20, 1, Dimension::NONE));
    }

    #[test]
    fn quantities_show_the_largest_whole_unit() {
        for text in [
            "64 KiB", "56 GB/s", "1500 ns", "8", "0.25", "1000 B", "3 MiB", "200 us",
        ] {
            let shown = parse(text).unwrap().to_string();
            assert_eq!(parse(&shown), parse(text), "{text} shown as {shown}");
        }
        assert_eq!(parse("65536 B").unwrap().to_string(), "64 KiB");
        assert_eq!(parse("1.5us").unwrap().to_string(), "1500 ns");
        assert_eq!(parse("0 B").unwrap().to_string(), "0 B");
        assert_eq!(parse("25%").unwrap().to_string(), "0.25");
        let third = Quantity {
            value: Rational::new(1, 3),
            dimension: Dimension::NONE,
        };
        assert_eq!(third.to_string(), "1/3");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let forty_digits = "9".repeat(40);
        assert_eq!(parse(&forty_digits), Err(NumberError::TooLarge));
        assert_eq!(parse("1e99"), Err(NumberError::TooLarge));
        assert_eq!(parse("1e99999999999"), Err(NumberError::TooLarge));
        assert_eq!(parse("5 furlongs"), Err(NumberError::Malformed));
        assert_eq!(parse("5 us/s"), Err(NumberError::Malformed));
        assert_eq!(parse(""), Err(NumberError::Malformed));
        assert_eq!(parse("0e9999999"), Ok(Quantity::count(0)));
    }
}
