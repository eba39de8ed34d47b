//! Dimensions and the states of data along them.

use coll_grammar::words::StateWord;
use std::fmt;

/// The most dimensions a topology can have: one per layer of the deepest cluster.
pub const MAX_DIMS: u32 = 16;

/// A set of dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Dims(pub u16);

impl Dims {
    /// No dimension.
    pub const EMPTY: Self = Self(0);

    /// Dimension `d` alone.
    pub const fn only(d: u32) -> Self {
        Self(1 << d)
    }

    /// Dimensions `0..n`.
    pub const fn first(n: u32) -> Self {
        Self(((1u32 << n) - 1) as u16)
    }

    /// Whether dimension `d` is in the set.
    pub const fn contains(self, d: u32) -> bool {
        self.0 >> d & 1 == 1
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Those in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those in `self` but not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The dimensions, ascending.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u32> {
        (0..MAX_DIMS).filter(move |&d| self.contains(d))
    }
}

/// The state of the data along every dimension: four bits each, dimension 0 lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct States {
    bits: u64,
    len: u8,
}

impl States {
    /// The same state along `len` dimensions.
    pub fn uniform(state: StateWord, len: u32) -> Self {
        debug_assert!(len <= MAX_DIMS);
        let mut states = Self {
            bits: 0,
            len: len as u8,
        };
        for d in 0..len {
            states.set(d, state);
        }
        states
    }

    /// How many dimensions there are.
    pub const fn len(self) -> u32 {
        self.len as u32
    }

    /// Whether there are no dimensions.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The state along dimension `d`.
    pub fn get(self, d: u32) -> StateWord {
        StateWord::ALL[(self.bits >> (4 * d) & 0xF) as usize]
    }

    /// Sets the state along dimension `d`.
    pub fn set(&mut self, d: u32, state: StateWord) {
        self.bits = self.bits & !(0xF << (4 * d)) | (state as u64) << (4 * d);
    }

    /// The states with dimension `dims` set to `state`.
    #[must_use]
    pub fn with(mut self, dims: Dims, state: StateWord) -> Self {
        for d in dims.iter() {
            self.set(d, state);
        }
        self
    }

    /// The dimensions that are in `state`.
    pub fn dims_in(self, state: StateWord) -> Dims {
        (0..self.len())
            .filter(|&d| self.get(d) == state)
            .fold(Dims::EMPTY, |s, d| s.or(Dims::only(d)))
    }

    /// The states, dimension 0 first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = StateWord> {
        (0..self.len()).map(move |d| self.get(d))
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(StateWord::as_str))
            .finish()
    }
}
