//! Ranks and their coordinates.

use crate::layer::{Layer, even};
use crate::rank::Rank;
use coll_lang::contract::MAX_DIMS;
use coll_lang::library::{ClusterSpec, NetSpec, Sizes};
use smallvec::SmallVec;

/// A cluster whose description holds together.
#[derive(Clone, Debug)]
pub struct Cluster {
    spec: ClusterSpec,
    layers: Vec<Layer>,
    ranks: u32,
}

/// Why a description is not one of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// No layer at all.
    #[error("a cluster needs at least one net")]
    NoNets,
    /// More layers than dimensions can be told apart.
    #[error("the cluster has {nets} nets; at most {MAX_DIMS} are possible")]
    TooManyNets {
        /// How many.
        nets: usize,
    },
    /// An empty group.
    #[error("net {net} has a group of size 0")]
    EmptyGroup {
        /// The layer.
        net: u32,
    },
    /// A list of sizes is not as long as there are groups.
    #[error("net {net} lists {listed} sizes, but the nets above it make {groups} groups of it")]
    GroupCount {
        /// The layer.
        net: u32,
        /// Entries of its list.
        listed: usize,
        /// Groups it has.
        groups: u32,
    },
    /// More ranks than can be numbered.
    #[error(
        "the cluster has {ranks} ranks or more; at most {} are possible",
        u32::MAX
    )]
    TooManyRanks {
        /// How many there are at least.
        ranks: u64,
    },
}

impl Cluster {
    /// Numbers the ranks of `spec`: depth first, net 0 fastest.
    ///
    /// # Errors
    /// [`ClusterError`] where sizes and groups do not fit together.
    pub fn new(spec: &ClusterSpec) -> Result<Self, ClusterError> {
        let nets = spec.nets.len();
        if nets == 0 {
            return Err(ClusterError::NoNets);
        }
        if nets > MAX_DIMS as usize {
            return Err(ClusterError::TooManyNets { nets });
        }
        let (groups, ranks) = count_groups(&spec.nets)?;
        let mut layers: Vec<Layer> = Vec::with_capacity(nets);
        for (net, &groups) in spec.nets.iter().zip(&groups) {
            let layer = Layer::above(layers.last(), &net.sizes, groups);
            layers.push(layer);
        }
        Ok(Self {
            spec: spec.clone(),
            layers,
            ranks,
        })
    }

    /// What it was made of.
    pub fn spec(&self) -> &ClusterSpec {
        &self.spec
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// How many layers there are.
    pub fn nets(&self) -> u32 {
        self.layers.len() as u32
    }

    /// How many groups of the layer below every group of layer `net` joins; none where groups
    /// differ or the layer does not exist.
    pub fn size(&self, net: u32) -> Option<u32> {
        even(&self.spec.nets.get(net as usize)?.sizes)
    }

    /// The sizes of layer `net`, where it exists.
    pub fn sizes(&self, net: u32) -> Option<&Sizes> {
        Some(&self.spec.nets.get(net as usize)?.sizes)
    }

    /// The position of `rank` among the parts of its group in layer `net`.
    pub fn coordinate(&self, rank: Rank, net: u32) -> u32 {
        let part = self.group_of(rank, net.checked_sub(1));
        part - self.layer(net).first_part(self.layer(net).group_of(rank.0))
    }

    /// The coordinates of `rank`, net 0 first.
    pub fn coordinates(&self, rank: Rank) -> SmallVec<[u32; 8]> {
        (0..self.nets())
            .map(|net| self.coordinate(rank, net))
            .collect()
    }

    /// The rank at these coordinates, net 0 first; none where there is no such rank.
    pub fn rank_at(&self, coordinates: &[u32]) -> Option<Rank> {
        if coordinates.len() != self.layers.len() {
            return None;
        }
        let mut group = 0;
        for (layer, &c) in self.layers.iter().zip(coordinates).rev() {
            if c >= layer.parts(group) {
                return None;
            }
            group = layer.first_part(group) + c;
        }
        Some(Rank(group))
    }

    /// Whether two ranks are in one group of layer `net`.
    pub fn same_group(&self, a: Rank, b: Rank, net: u32) -> bool {
        self.layer(net).group_of(a.0) == self.layer(net).group_of(b.0)
    }

    /// Ranks of every group of layer `net`; none where groups differ.
    pub(crate) fn even_ranks(&self, net: u32) -> Option<u32> {
        self.layer(net).even_ranks()
    }

    /// The group of layer `net` that `rank` is in; the rank itself below the innermost layer.
    fn group_of(&self, rank: Rank, net: Option<u32>) -> u32 {
        net.map_or(rank.0, |net| self.layer(net).group_of(rank.0))
    }

    fn layer(&self, net: u32) -> &Layer {
        &self.layers[net as usize]
    }
}

/// Groups of each layer and the ranks below all of them. The outermost layer has one group.
fn count_groups(nets: &[NetSpec]) -> Result<(Vec<u32>, u32), ClusterError> {
    let mut counts = vec![0; nets.len()];
    let mut groups: u32 = 1;
    for (k, net) in nets.iter().enumerate().rev() {
        counts[k] = groups;
        let parts: u64 = match &net.sizes {
            Sizes::Even(n) => u64::from(groups) * u64::from(*n),
            Sizes::Uneven(list) if list.len() != groups as usize => {
                return Err(ClusterError::GroupCount {
                    net: k as u32,
                    listed: list.len(),
                    groups,
                });
            }
            Sizes::Uneven(list) => list.iter().map(|&n| u64::from(n)).sum(),
        };
        let empty = match &net.sizes {
            Sizes::Even(n) => *n == 0,
            Sizes::Uneven(list) => list.contains(&0),
        };
        if empty {
            return Err(ClusterError::EmptyGroup { net: k as u32 });
        }
        groups = u32::try_from(parts).map_err(|_| ClusterError::TooManyRanks { ranks: parts })?;
    }
    Ok((counts, groups))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use indexmap::IndexMap;
    use proptest::prelude::*;

    /// A cluster of these layers without planes.
    pub(crate) fn spec(sizes: &[Sizes]) -> ClusterSpec {
        let net = |sizes: &Sizes| NetSpec {
            label: None,
            sizes: sizes.clone(),
            planes: Vec::new(),
        };
        ClusterSpec {
            device: None,
            nets: sizes.iter().map(net).collect(),
            memory: IndexMap::new(),
            facts: IndexMap::new(),
        }
    }

    pub(crate) fn even_spec(sizes: &[u32]) -> ClusterSpec {
        spec(&sizes.iter().map(|&n| Sizes::Even(n)).collect::<Vec<_>>())
    }

    #[test]
    fn ranks_are_depth_first_with_net_0_fastest() {
        let c = Cluster::new(&even_spec(&[4, 2, 2, 2])).unwrap();
        assert_eq!(c.ranks(), 32);
        assert_eq!(c.coordinates(Rank(13)).as_slice(), [1, 1, 1, 0]);
        assert_eq!(c.coordinates(Rank(31)).as_slice(), [3, 1, 1, 1]);
        assert_eq!(c.rank_at(&[1, 1, 1, 0]), Some(Rank(13)));
        assert_eq!(c.rank_at(&[4, 0, 0, 0]), None);
        assert_eq!(c.rank_at(&[0, 0, 0]), None);
    }

    #[test]
    fn uneven_layers_have_an_entry_per_group() {
        let c = Cluster::new(&spec(&[
            Sizes::Uneven(vec![8, 8, 7, 2]),
            Sizes::Uneven(vec![3, 1]),
            Sizes::Even(2),
        ]))
        .unwrap();
        assert_eq!(c.ranks(), 25);
        assert_eq!(c.coordinates(Rank(22)).as_slice(), [6, 2, 0]);
        assert_eq!(c.coordinates(Rank(23)).as_slice(), [0, 0, 1]);
        assert_eq!(c.size(0), None);
        assert_eq!(c.size(2), Some(2));
        let listed_but_even =
            Cluster::new(&spec(&[Sizes::Uneven(vec![3, 3]), Sizes::Even(2)])).unwrap();
        assert_eq!(listed_but_even.size(0), Some(3));
    }

    #[test]
    fn descriptions_that_do_not_hold_together_are_refused() {
        let error = |s: &[Sizes]| Cluster::new(&spec(s)).unwrap_err();
        assert_eq!(error(&[]), ClusterError::NoNets);
        assert_eq!(
            error(&vec![Sizes::Even(1); 17]),
            ClusterError::TooManyNets { nets: 17 }
        );
        assert_eq!(
            error(&[Sizes::Even(0)]),
            ClusterError::EmptyGroup { net: 0 }
        );
        assert_eq!(
            error(&[Sizes::Uneven(vec![2, 2]), Sizes::Even(3)]),
            ClusterError::GroupCount {
                net: 0,
                listed: 2,
                groups: 3
            }
        );
        assert_eq!(
            error(&[Sizes::Even(65536), Sizes::Even(65536)]),
            ClusterError::TooManyRanks { ranks: 1 << 32 }
        );
    }

    #[test]
    fn four_thousand_million_ranks_cost_nothing() {
        let c = Cluster::new(&even_spec(&[65535, 65537])).unwrap();
        assert_eq!(c.ranks(), u32::MAX);
        let last = Rank(u32::MAX - 1);
        assert_eq!(c.coordinates(last).as_slice(), [65534, 65536]);
        assert_eq!(c.rank_at(&[65534, 65536]), Some(last));
    }

    proptest! {
        /// Coordinates count up like an odometer whose digits' sizes are those of the groups.
        #[test]
        fn coordinates_enumerate_the_ranks(sizes in any_sizes()) {
            let c = Cluster::new(&spec(&sizes)).unwrap();
            let mut expected = Vec::new();
            enumerate(&sizes, sizes.len(), &mut vec![0; sizes.len()], &mut Vec::new(), &mut expected);
            prop_assert_eq!(expected.len(), c.ranks() as usize);
            for (r, coordinates) in expected.iter().enumerate() {
                let rank = Rank(r as u32);
                prop_assert_eq!(c.coordinates(rank).to_vec(), coordinates.clone());
                prop_assert_eq!(c.rank_at(coordinates), Some(rank));
            }
        }
    }

    /// Layers with mixed even and uneven sizes whose group counts fit together.
    pub(crate) fn any_sizes() -> impl Strategy<Value = Vec<Sizes>> {
        (1usize..=4, any::<u64>()).prop_map(|(nets, seed)| {
            let mut state = seed;
            let mut next = |below: u64| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 33) % below
            };
            let mut groups = 1u32;
            let mut sizes = Vec::new();
            for _ in 0..nets {
                if next(2) == 0 {
                    let n = 1 + next(3) as u32;
                    groups *= n;
                    sizes.push(Sizes::Even(n));
                } else {
                    let list: Vec<u32> = (0..groups).map(|_| 1 + next(3) as u32).collect();
                    groups = list.iter().sum();
                    sizes.push(Sizes::Uneven(list));
                }
            }
            sizes.reverse();
            sizes
        })
    }

    /// The plain recursive enumeration, outermost layer first.
    fn enumerate(
        sizes: &[Sizes],
        net: usize,
        seen: &mut Vec<usize>,
        prefix: &mut Vec<u32>,
        out: &mut Vec<Vec<u32>>,
    ) {
        if net == 0 {
            out.push(prefix.iter().rev().copied().collect());
            return;
        }
        let group = seen[net - 1];
        seen[net - 1] += 1;
        let size = match &sizes[net - 1] {
            Sizes::Even(n) => *n,
            Sizes::Uneven(list) => list[group],
        };
        for c in 0..size {
            prefix.push(c);
            enumerate(sizes, net - 1, seen, prefix, out);
            prefix.pop();
        }
    }
}
