//! Cutting the data of every slot into shares.

use coll_lang::library::Weight;
use coll_lang::number::Rational;
use num_traits::{CheckedMul, ToPrimitive};

/// Weights of a parallel, as integers: what a share gets is `floor(count * weight / total)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    weights: Vec<u64>,
    total: u64,
}

/// Why weights cannot cut anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightError {
    /// One is below 0.
    #[error("weight {0} is negative")]
    Negative(usize),
    /// All are 0.
    #[error("all weights are zero")]
    AllZero,
    /// As integers with a common denominator they do not fit.
    #[error("the weights have no common denominator that can be computed with")]
    TooLarge,
    /// One depends on the cluster and was not computed before.
    #[error("weight {0} was not computed for this cluster")]
    Open(usize),
}

impl Weights {
    /// Equal weights for `children` children.
    ///
    /// # Errors
    /// [`WeightError::AllZero`] for no children.
    pub fn equal(children: usize) -> Result<Self, WeightError> {
        Self::integers(vec![1; children])
    }

    /// Integer weights.
    ///
    /// # Errors
    /// [`WeightError::AllZero`], or [`WeightError::TooLarge`] when they do not add up.
    pub fn integers(weights: Vec<u64>) -> Result<Self, WeightError> {
        let total = weights.iter().try_fold(0u64, |sum, &w| sum.checked_add(w));
        match total.ok_or(WeightError::TooLarge)? {
            0 => Err(WeightError::AllZero),
            total => Ok(Self { weights, total }),
        }
    }

    /// The weights of a tree, brought to integers that stand in the same ratio.
    ///
    /// # Errors
    /// [`WeightError`] when they are not weights.
    pub fn of_tree(weights: &[Weight]) -> Result<Self, WeightError> {
        let known = weights.iter().enumerate().map(|(i, weight)| match weight {
            Weight::Known(quantity) if quantity.value < Rational::from_integer(0) => {
                Err(WeightError::Negative(i))
            }
            Weight::Known(quantity) => Ok(quantity.value),
            Weight::OfCluster(_) => Err(WeightError::Open(i)),
        });
        let known = known.collect::<Result<Vec<Rational>, _>>()?;
        // Dividing by the greatest common measure leaves coprime integers.
        let measure = known
            .iter()
            .copied()
            .try_fold(Rational::from_integer(0), common_measure);
        let measure = measure.ok_or(WeightError::TooLarge)?;
        if measure == Rational::from_integer(0) {
            return Err(WeightError::AllZero);
        }
        let integer = |w: &Rational| w.checked_mul(&measure.recip())?.to_integer().to_u64();
        let integers = known.iter().map(integer).collect::<Option<Vec<u64>>>();
        Self::integers(integers.ok_or(WeightError::TooLarge)?)
    }

    /// How many shares they make.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether they make none; they always make one at least.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// What of `count` elements is before share `child`, and how many it has itself. The last share
    /// takes what is left by rounding the others down. Shares beyond the last are empty.
    pub fn cut(&self, count: u64, child: usize) -> (u64, u64) {
        let part = |&w: &u64| {
            let exact = u128::from(count) * u128::from(w) / u128::from(self.total);
            // The weight is at most the total, so the share is at most the count.
            exact as u64
        };
        let before = self.weights.iter().take(child).map(part).sum();
        match self.weights.get(child) {
            None => (count, 0),
            Some(_) if child + 1 == self.len() => (before, count - before),
            Some(w) => (before, part(w)),
        }
    }
}

/// The greatest number of which both are multiples: `gcd(a·d, c·b) / (b·d)` of `a/b` and `c/d`.
fn common_measure(x: Rational, y: Rational) -> Option<Rational> {
    let cross = |a: &Rational, b: &Rational| a.numer().checked_mul(b.denom());
    let (mut a, mut b) = (cross(&x, &y)?, cross(&y, &x)?);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(Rational::new(a, x.denom().checked_mul(y.denom())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coll_lang::number::Quantity;
    use proptest::prelude::*;

    fn counts(weights: &[u64], count: u64) -> Vec<u64> {
        let weights = Weights::integers(weights.to_vec()).unwrap();
        (0..weights.len())
            .map(|i| weights.cut(count, i).1)
            .collect()
    }

    fn known(numer: i128, denom: i128) -> Weight {
        Weight::Known(Quantity {
            value: Rational::new(numer, denom),
            ..Quantity::count(0)
        })
    }

    #[test]
    fn shares_round_down_and_the_last_takes_the_rest() {
        assert_eq!(counts(&[2, 1], 10), [6, 4]);
        assert_eq!(counts(&[1, 1, 1], 10), [3, 3, 4]);
        assert_eq!(counts(&[0, 1], 10), [0, 10]);
        assert_eq!(counts(&[1, 0], 10), [10, 0]);
        assert_eq!(counts(&[5, 3, 1], 0), [0, 0, 0]);
        assert_eq!(counts(&[u64::MAX - 1, 1], u64::MAX), [u64::MAX - 1, 1]);
    }

    #[test]
    fn weights_of_a_tree_become_coprime_integers() {
        let of = |w: &[Weight]| Weights::of_tree(w).map(|w| w.weights);
        assert_eq!(of(&[known(1, 2), known(1, 3)]), Ok(vec![3, 2]));
        assert_eq!(
            of(&[known(56_000_000_000, 1), known(20_000_000_000, 1)]),
            Ok(vec![14, 5])
        );
        assert_eq!(of(&[known(0, 1), known(3, 7)]), Ok(vec![0, 1]));
        assert_eq!(of(&[known(0, 1)]), Err(WeightError::AllZero));
        assert_eq!(of(&[]), Err(WeightError::AllZero));
        assert_eq!(
            of(&[known(1, 1), known(-1, 2)]),
            Err(WeightError::Negative(1))
        );
        let awkward = [known(1, i128::MAX), known(1, i128::MAX - 1)];
        assert_eq!(of(&awkward), Err(WeightError::TooLarge));
        assert_eq!(
            of(&[known(1, 1), known(i128::from(u64::MAX), 1)]),
            Err(WeightError::TooLarge)
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            weights in prop::collection::vec(prop_oneof![0u64..5, any::<u64>()], 1..6),
            count in any::<u64>(),
        ) {
            let Ok(weights) = Weights::integers(weights) else { return Ok(()) };
            let mut end = 0;
            for i in 0..weights.len() {
                let (before, own) = weights.cut(count, i);
                prop_assert_eq!(before, end);
                let exact = u128::from(count) * u128::from(weights.weights[i]);
                let fair = (exact / u128::from(weights.total)) as u64;
                prop_assert!(own >= fair && own <= fair + weights.len() as u64);
                end = before + own;
            }
            prop_assert_eq!(end, count);
        }
    }
}
