//! A cluster as a topology sees it: a full grid of dimensions.

use crate::rank::Rank;
use coll_lang::contract::Dims;
use smallvec::SmallVec;
use smol_str::SmolStr;

/// One dimension of the grid. A rank is the sum of `coordinate * stride` over all dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridDim {
    /// How many coordinates there are.
    pub size: u32,
    /// How far apart two ranks are whose coordinates differ by one: the product of the sizes below.
    pub stride: u32,
}

/// A level of a topology on a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLevel {
    /// Its name.
    pub name: SmolStr,
    /// The dimensions of the *grid* that it joins.
    pub dims: Dims,
    /// How many ranks each of its sub-communicators has.
    pub size: u32,
    /// The plane that its transfers take, by name; else the lowest that reaches.
    pub via: Option<SmolStr>,
}

/// A topology that matches a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    ranks: u32,
    dims: Vec<GridDim>,
    levels: Vec<MatchedLevel>,
}

impl Matched {
    /// The grid of `sizes`, dimension 0 fastest, with `levels` given as name, dimensions of the grid
    /// and plane. `None` when there are more ranks than can be numbered, a size is 0, or a level
    /// names a dimension that is not there.
    pub fn new(
        sizes: &[u32],
        levels: impl IntoIterator<Item = (SmolStr, Dims, Option<SmolStr>)>,
    ) -> Option<Self> {
        let mut ranks: u32 = 1;
        let mut dims = Vec::with_capacity(sizes.len());
        for &size in sizes {
            dims.push(GridDim {
                size,
                stride: ranks,
            });
            ranks = ranks.checked_mul(size).filter(|&n| n > 0)?;
        }
        let all = Dims::first(u32::try_from(sizes.len()).ok().filter(|&n| n <= 16)?);
        let level = |(name, joined, via): (SmolStr, Dims, Option<SmolStr>)| {
            joined.without(all).is_empty().then(|| MatchedLevel {
                name,
                dims: joined,
                size: joined.iter().map(|d| sizes[d as usize]).product(),
                via,
            })
        };
        Some(Self {
            levels: levels.into_iter().map(level).collect::<Option<_>>()?,
            ranks,
            dims,
        })
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The dimensions, fastest first.
    pub fn dims(&self) -> &[GridDim] {
        &self.dims
    }

    /// The levels, in the order of the tree that names them by position.
    pub fn levels(&self) -> &[MatchedLevel] {
        &self.levels
    }

    /// The coordinate of `rank` along dimension `dim`.
    pub fn coordinate(&self, rank: Rank, dim: u32) -> u32 {
        let GridDim { size, stride } = self.dims[dim as usize];
        rank.0 / stride % size
    }

    /// What the coordinates of `rank` along `dims` contribute to its number.
    pub fn part(&self, rank: Rank, dims: Dims) -> u32 {
        dims.iter()
            .map(|d| self.coordinate(rank, d) * self.dims[d as usize].stride)
            .sum()
    }

    /// What a member's index in `level` contributes to its number: the members of a sub-communicator
    /// are in rank order, so the index counts the level's dimensions up, the fastest first.
    pub fn offset(&self, level: u32, index: u32) -> u32 {
        let mut rest = index;
        let mut offset = 0;
        for d in self.levels[level as usize].dims.iter() {
            let GridDim { size, stride } = self.dims[d as usize];
            offset += rest % size * stride;
            rest /= size;
        }
        offset
    }

    /// The index of `rank` among the members of its sub-communicator of `level`, in rank order. For
    /// a root that is not a member this is the index of the member with the root's coordinates.
    pub fn index(&self, level: u32, rank: Rank) -> u32 {
        let mut index = 0;
        let mut below = 1;
        for d in self.levels[level as usize].dims.iter() {
            index += self.coordinate(rank, d) * below;
            below *= self.dims[d as usize].size;
        }
        index
    }

    /// Member `index` of the sub-communicator of `level` that `rank` is in.
    pub fn member(&self, level: u32, rank: Rank, index: u32) -> Rank {
        let dims = self.levels[level as usize].dims;
        Rank(rank.0 - self.part(rank, dims) + self.offset(level, index))
    }

    /// The members of the sub-communicator of `level` that `rank` is in, in rank order.
    pub fn members(&self, level: u32, rank: Rank) -> impl ExactSizeIterator<Item = Rank> {
        let dims = self.levels[level as usize].dims;
        let base = rank.0 - self.part(rank, dims);
        let size = self.levels[level as usize].size as usize;
        // A range of usize counts exactly; indices stay below the level's size, a u32.
        (0..size).map(move |i| Rank(base + self.offset(level, i as u32)))
    }

    /// The runs of `dims`, fastest first: neighbouring dimensions form one run, dimensions of size 1
    /// none. The ranks that differ from one another in `dims` alone are
    /// `first + Σ i·stride` over the runs, with `i` below the run's size.
    pub fn runs(&self, dims: Dims) -> SmallVec<[GridDim; 4]> {
        let mut runs: SmallVec<[GridDim; 4]> = SmallVec::new();
        for d in dims.iter() {
            let dim = self.dims[d as usize];
            match runs.last_mut() {
                _ if dim.size == 1 => {}
                Some(run) if run.stride * run.size == dim.stride => run.size *= dim.size,
                _ => runs.push(dim),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(sizes: &[u32], levels: &[&[u32]]) -> Matched {
        let dims = |list: &[u32]| list.iter().fold(Dims::EMPTY, |s, &d| s.or(Dims::only(d)));
        let level = |(i, list): (usize, &&[u32])| (format!("L{i}").into(), dims(list), None);
        Matched::new(sizes, levels.iter().enumerate().map(level)).unwrap()
    }

    fn members(m: &Matched, level: u32, rank: u32) -> Vec<u32> {
        m.members(level, Rank(rank)).map(|r| r.0).collect()
    }

    /// The four-level example of HCCL's matching rule: N = 32, (4,2,2,2), me = 13.
    #[test]
    fn four_levels() {
        let m = grid(&[4, 2, 2, 2], &[&[0], &[1], &[2], &[3]]);
        assert_eq!(members(&m, 0, 13), [12, 13, 14, 15]);
        assert_eq!(members(&m, 1, 13), [9, 13]);
        assert_eq!(members(&m, 2, 13), [5, 13]);
        assert_eq!(members(&m, 3, 13), [13, 29]);
        assert_eq!([0, 1, 2, 3].map(|l| m.index(l, Rank(13))), [1, 1, 1, 0]);
    }

    #[test]
    fn an_absent_level_has_one_member() {
        let m = grid(&[3, 2], &[&[], &[0, 1]]);
        assert_eq!(m.levels()[0].size, 1);
        assert_eq!(members(&m, 0, 4), [4]);
        assert_eq!(m.index(0, Rank(4)), 0);
        assert_eq!(members(&m, 1, 4), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_whole_range_of_ranks_is_symbolic() {
        let m = grid(&[65535, 65537], &[&[0], &[1], &[0, 1]]);
        let last = Rank(u32::MAX - 1);
        assert_eq!(m.index(2, last), u32::MAX - 1);
        assert_eq!(m.member(1, last, 0), Rank(65534));
        assert_eq!(m.members(0, last).len(), 65535);
        assert_eq!(
            m.runs(Dims::first(2)).as_slice(),
            [GridDim {
                size: u32::MAX,
                stride: 1
            }]
        );
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        assert_eq!(Matched::new(&[0], []), None);
        assert_eq!(Matched::new(&[65536, 65536], []), None);
        assert_eq!(
            Matched::new(&[2], [("L".into(), Dims::only(1), None)]),
            None
        );
        assert_eq!(Matched::new(&[1; 17], []), None);
    }

    #[test]
    fn runs_merge_neighbours_and_skip_single_coordinates() {
        let m = grid(&[4, 1, 3, 2, 5], &[]);
        let dims = |list: &[u32]| list.iter().fold(Dims::EMPTY, |s, &d| s.or(Dims::only(d)));
        let run = |size, stride| GridDim { size, stride };
        assert_eq!(m.runs(dims(&[0, 1, 2])).as_slice(), [run(12, 1)]);
        assert_eq!(
            m.runs(dims(&[0, 2, 4])).as_slice(),
            [run(12, 1), run(5, 24)]
        );
        assert_eq!(m.runs(dims(&[0, 3])).as_slice(), [run(4, 1), run(2, 12)]);
        assert!(m.runs(dims(&[1])).is_empty());
    }

    proptest! {
        /// Members are exactly the ranks that agree outside the level, ascending, and index,
        /// member and offset agree with their positions.
        #[test]
        fn members_are_the_ranks_that_differ_in_the_level(
            sizes in prop::collection::vec(1u32..4, 1..5),
            mask in 0u16..16,
        ) {
            let dims = Dims(mask).and(Dims::first(sizes.len() as u32));
            let m = Matched::new(&sizes, [("L".into(), dims, None)]).unwrap();
            let others: Vec<u32> =
                (0..sizes.len() as u32).filter(|&d| !dims.contains(d)).collect();
            for rank in (0..m.ranks()).map(Rank) {
                let expected: Vec<Rank> = (0..m.ranks())
                    .map(Rank)
                    .filter(|&r| {
                        others.iter().all(|&d| m.coordinate(r, d) == m.coordinate(rank, d))
                    })
                    .collect();
                let found: Vec<Rank> = m.members(0, rank).collect();
                prop_assert_eq!(&found, &expected);
                let own = expected.iter().position(|&r| r == rank);
                prop_assert_eq!(own, Some(m.index(0, rank) as usize));
                for (i, &r) in expected.iter().enumerate() {
                    prop_assert_eq!(m.member(0, rank, i as u32), r);
                }
            }
        }
    }
}
