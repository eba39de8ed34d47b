//! Whether a topology matches a cluster, and the grid it makes of it.

use crate::cluster::Cluster;
use crate::grid::Matched;
use coll_lang::contract::Dims;
use coll_lang::diagnostics::codes::{self, Code};
use coll_lang::library::{FlatLevel, Sizes};
use coll_lang::words::PlaneKind;
use smol_str::SmolStr;
use std::ops::RangeInclusive;

/// What the dimensions of a topology's levels are, at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How many layers the topology was laid out for.
    pub nets: u32,
    /// `None`: dimension `d` is layer `d`. `Some(k)`: dimensions below `k` are the layers below `k`,
    /// dimension `k` is the index inside the even chunks of layer `k`'s groups, and dimension `k + 1`
    /// is the chunk, with all layers above.
    pub gcd: Option<u32>,
}

impl Form {
    /// How many dimensions the levels speak of.
    pub fn dims(self) -> u32 {
        self.gcd.map_or(self.nets, |k| k + 2)
    }
}

/// A `require` clause of a topology: whether the cluster satisfies it, else the values it saw.
pub type Requirement<'a> = &'a dyn Fn(&Cluster) -> Result<(), String>;

/// Why a topology does not match a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The topology was laid out for another number of layers.
    #[error("the topology is laid out for {laid_out} nets and the cluster has {nets}")]
    Depth {
        /// What the topology is for.
        laid_out: u32,
        /// What the cluster has.
        nets: u32,
    },
    /// The layer that `gcd` names does not exist.
    #[error("gcd(net {net}) names a net that the cluster does not have: it has {nets}")]
    NoSuchNet {
        /// The layer named.
        net: u32,
        /// What the cluster has.
        nets: u32,
    },
    /// No level joins a dimension that has more than one coordinate.
    #[error("no level joins {}, where {size} coordinates are", nets_text(.nets))]
    Uncovered {
        /// The layers the dimension stands for.
        nets: RangeInclusive<u32>,
        /// Its coordinates.
        size: u32,
    },
    /// An uneven layer, and a level that needs it even or takes in only a part of the layers that
    /// make it even again.
    #[error(
        "level {level} needs net {net} to be even and its groups have the sizes {sizes:?}; \
         a level can only join it together with all of {}", nets_text(.nets)
    )]
    Uneven {
        /// The level's name.
        level: SmolStr,
        /// The uneven layer.
        net: u32,
        /// The sizes of its groups.
        sizes: Vec<u32>,
        /// The layers that would have to be joined together.
        nets: RangeInclusive<u32>,
    },
    /// A level uses a plane that no layer has.
    #[error("level {level} goes via {plane}, and the cluster has no plane of that name")]
    UnknownPlane {
        /// The level's name.
        level: SmolStr,
        /// The plane's name.
        plane: SmolStr,
        /// The names that exist, innermost first, each once.
        known: Vec<SmolStr>,
    },
    /// A level uses a plane that does not join its ranks.
    #[error("level {level} goes via {plane}, which does not join all of its ranks")]
    PlaneDoesNotReach {
        /// The level's name.
        level: SmolStr,
        /// The plane's name.
        plane: SmolStr,
    },
    /// A `require` clause does not hold.
    #[error("requirement {clause} does not hold: {values}")]
    Requirement {
        /// Position of the clause.
        clause: usize,
        /// The values it saw.
        values: String,
    },
}

impl Mismatch {
    /// The code of the diagnostic that says so.
    pub fn code(&self) -> Code {
        match self {
            Self::Depth { .. } | Self::NoSuchNet { .. } | Self::PlaneDoesNotReach { .. } => {
                codes::E0403
            }
            Self::Uncovered { .. } => codes::E0402,
            Self::Uneven { .. } => codes::E0404,
            Self::UnknownPlane { .. } => codes::E0408,
            Self::Requirement { .. } => codes::E0409,
        }
    }
}

fn nets_text(nets: &RangeInclusive<u32>) -> String {
    match (nets.start(), nets.end()) {
        (first, last) if first == last => format!("net {first}"),
        (first, last) => format!("net {first}..{last}"),
    }
}

/// A dimension of the grid while it is made.
struct Axis {
    /// The layers it stands for.
    nets: RangeInclusive<u32>,
    /// The topology's dimensions it stands for: several where uneven layers are flattened.
    dims: Dims,
    size: u32,
}

/// Matches a topology's levels to a cluster.
///
/// The result is always a full regular grid. Even layers are one dimension each. From an uneven layer
/// up to the first layer whose groups have the same number of ranks again, the layers are flattened
/// to one dimension, which a level joins as a whole or not at all. Behind `gcd(net k)`, chunks of the
/// greatest common divisor of the sizes take the place of layer `k` and all above.
///
/// # Errors
/// The first [`Mismatch`] found: depth, requirements in order, evenness, cover, planes.
pub fn match_topology(
    levels: &[FlatLevel],
    form: Form,
    requirements: &[Requirement<'_>],
    cluster: &Cluster,
) -> Result<Matched, Mismatch> {
    if form.nets != cluster.nets() {
        return Err(Mismatch::Depth {
            laid_out: form.nets,
            nets: cluster.nets(),
        });
    }
    for (clause, holds) in requirements.iter().enumerate() {
        holds(cluster).map_err(|values| Mismatch::Requirement { clause, values })?;
    }
    let axes = match form.gcd {
        None => layer_axes(levels, cluster)?,
        Some(net) => gcd_axes(levels, cluster, net)?,
    };
    for axis in axes.iter().filter(|axis| axis.size > 1) {
        if levels.iter().all(|l| l.dims.and(axis.dims).is_empty()) {
            return Err(Mismatch::Uncovered {
                nets: axis.nets.clone(),
                size: axis.size,
            });
        }
    }
    for level in levels {
        check_plane(level, &axes, cluster)?;
    }
    let on_grid = |level: &FlatLevel| {
        let joined = (0..)
            .zip(&axes)
            .filter(|(_, axis)| !axis.dims.and(level.dims).is_empty());
        let dims = joined.fold(Dims::EMPTY, |set, (g, _)| set.or(Dims::only(g)));
        (level.name.clone(), dims, level.via.clone())
    };
    let sizes: Vec<u32> = axes.iter().map(|axis| axis.size).collect();
    Ok(Matched::new(&sizes, levels.iter().map(on_grid))
        .expect("the sizes multiply to the ranks of the cluster, and the levels name axes"))
}

/// One axis per layer, uneven layers flattened with those above them.
fn layer_axes(levels: &[FlatLevel], cluster: &Cluster) -> Result<Vec<Axis>, Mismatch> {
    let mut axes = Vec::new();
    let mut below = 1;
    let mut first = 0;
    while first < cluster.nets() {
        let (last, ranks) = (first..cluster.nets())
            .find_map(|net| Some((net, cluster.even_ranks(net)?)))
            .expect("the outermost layer has one group, so its groups are alike");
        let nets = first..=last;
        let dims = nets.clone().fold(Dims::EMPTY, |s, d| s.or(Dims::only(d)));
        for level in levels {
            let joined = level.dims.and(dims);
            if !joined.is_empty() && joined != dims {
                return Err(uneven(level, cluster, first, nets));
            }
        }
        axes.push(Axis {
            nets,
            dims,
            size: ranks / below,
        });
        below = ranks;
        first = last + 1;
    }
    Ok(axes)
}

/// The layers below `net`, the index inside the chunks, the chunks.
fn gcd_axes(levels: &[FlatLevel], cluster: &Cluster, net: u32) -> Result<Vec<Axis>, Mismatch> {
    let top = cluster.nets() - 1;
    let Some(sizes) = cluster.sizes(net) else {
        return Err(Mismatch::NoSuchNet {
            net,
            nets: cluster.nets(),
        });
    };
    let mut axes = Vec::new();
    let mut below = 1;
    for layer in 0..net {
        let Some(ranks) = cluster.even_ranks(layer) else {
            let chunk = Dims::only(net);
            let names_it = |l: &&FlatLevel| !l.dims.and(Dims::only(layer)).is_empty();
            let names_chunk = |l: &&FlatLevel| !l.dims.and(chunk).is_empty();
            return Err(
                match levels
                    .iter()
                    .find(names_it)
                    .or(levels.iter().find(names_chunk))
                {
                    Some(level) => uneven(level, cluster, layer, layer..=top),
                    None => Mismatch::Uncovered {
                        nets: layer..=layer,
                        size: cluster.ranks(),
                    },
                },
            );
        };
        axes.push(Axis {
            nets: layer..=layer,
            dims: Dims::only(layer),
            size: ranks / below,
        });
        below = ranks;
    }
    let chunk = match sizes {
        Sizes::Even(n) => *n,
        Sizes::Uneven(list) => list.iter().copied().fold(0, gcd),
    };
    axes.push(Axis {
        nets: net..=net,
        dims: Dims::only(net),
        size: chunk,
    });
    axes.push(Axis {
        nets: net..=top,
        dims: Dims::only(net + 1),
        size: cluster.ranks() / (below * chunk),
    });
    Ok(axes)
}

fn uneven(level: &FlatLevel, cluster: &Cluster, net: u32, nets: RangeInclusive<u32>) -> Mismatch {
    let sizes = match cluster.sizes(net) {
        Some(Sizes::Uneven(list)) => list.clone(),
        Some(Sizes::Even(n)) => vec![*n],
        None => Vec::new(),
    };
    Mismatch::Uneven {
        level: level.name.clone(),
        net,
        sizes,
        nets,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A named plane must exist and join all ranks of the level: a switch does from the level's
/// outermost layer upwards, direct links only where that layer is all the level joins.
fn check_plane(level: &FlatLevel, axes: &[Axis], cluster: &Cluster) -> Result<(), Mismatch> {
    let Some(name) = &level.via else {
        return Ok(());
    };
    let mut named = cluster
        .planes()
        .filter(|(_, plane)| plane.name == *name)
        .peekable();
    if named.peek().is_none() {
        let mut known: Vec<SmolStr> = Vec::new();
        for (_, plane) in cluster.planes() {
            if !known.contains(&plane.name) {
                known.push(plane.name.clone());
            }
        }
        return Err(Mismatch::UnknownPlane {
            level: level.name.clone(),
            plane: name.clone(),
            known,
        });
    }
    let joined = || {
        axes.iter()
            .filter(|a| a.size > 1 && !a.dims.and(level.dims).is_empty())
    };
    let Some(outermost) = joined().map(|axis| *axis.nets.end()).max() else {
        return Ok(());
    };
    let single = joined().all(|axis| axis.nets == (outermost..=outermost));
    let reaches = named.any(|(id, plane)| match plane.kind {
        PlaneKind::Clos => id.net >= outermost,
        PlaneKind::Mesh1d => id.net == outermost && single,
    });
    if reaches {
        Ok(())
    } else {
        Err(Mismatch::PlaneDoesNotReach {
            level: level.name.clone(),
            plane: name.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::{any_sizes, even_spec, spec};
    use crate::grid::GridDim;
    use crate::planes::tests::planes_spec;
    use crate::rank::Rank;
    use proptest::prelude::*;

    fn level(name: &str, dims: &[u32]) -> FlatLevel {
        FlatLevel {
            name: name.into(),
            dims: dims.iter().fold(Dims::EMPTY, |s, &d| s.or(Dims::only(d))),
            via: None,
        }
    }

    fn via(name: &str, dims: &[u32], plane: &str) -> FlatLevel {
        FlatLevel {
            via: Some(plane.into()),
            ..level(name, dims)
        }
    }

    const fn nets(nets: u32) -> Form {
        Form { nets, gcd: None }
    }

    fn cluster(sizes: &[Sizes]) -> Cluster {
        Cluster::new(&spec(sizes)).unwrap()
    }

    fn grid(m: &Matched) -> Vec<(u32, u32)> {
        m.dims().iter().map(|d| (d.size, d.stride)).collect()
    }

    #[test]
    fn even_layers_are_dimensions() {
        let c = Cluster::new(&even_spec(&[4, 2, 3])).unwrap();
        let levels = [level("L0", &[0]), level("up", &[1, 2]), level("none", &[])];
        let m = match_topology(&levels, nets(3), &[], &c).unwrap();
        assert_eq!(grid(&m), [(4, 1), (2, 4), (3, 8)]);
        assert_eq!(
            m.levels().iter().map(|l| l.size).collect::<Vec<_>>(),
            [4, 6, 1]
        );
        let aliased = [level("a", &[0, 1, 2]), level("b", &[0, 1, 2])];
        let m = match_topology(&aliased, nets(3), &[], &c).unwrap();
        assert_eq!(m.levels()[0].dims, m.levels()[1].dims);
    }

    #[test]
    fn depth_and_requirements_come_first() {
        let c = Cluster::new(&even_spec(&[4, 2])).unwrap();
        assert_eq!(
            match_topology(&[], nets(3), &[], &c),
            Err(Mismatch::Depth {
                laid_out: 3,
                nets: 2
            })
        );
        let fine = |_: &Cluster| Ok(());
        let few = |c: &Cluster| match c.ranks() {
            0..=4 => Ok(()),
            n => Err(format!("ranks is {n}, at most 4 are possible")),
        };
        let error = match_topology(&[], nets(2), &[&fine, &few], &c).unwrap_err();
        assert_eq!(error.code(), codes::E0409);
        assert_eq!(
            error.to_string(),
            "requirement 1 does not hold: ranks is 8, at most 4 are possible"
        );
    }

    #[test]
    fn what_no_level_joins_is_named() {
        let c = Cluster::new(&even_spec(&[4, 1, 3])).unwrap();
        let error = match_topology(&[level("L0", &[0])], nets(3), &[], &c).unwrap_err();
        assert_eq!(
            error,
            Mismatch::Uncovered {
                nets: 2..=2,
                size: 3
            }
        );
        assert_eq!(error.code(), codes::E0402);
        assert_eq!(
            error.to_string(),
            "no level joins net 2, where 3 coordinates are"
        );
    }

    #[test]
    fn uneven_layers_are_joined_as_a_whole() {
        let c = cluster(&[
            Sizes::Even(2),
            Sizes::Uneven(vec![2, 1, 2, 1]),
            Sizes::Even(2),
            Sizes::Even(2),
        ]);
        let whole = [level("L0", &[0]), level("L1", &[1, 2]), level("L3", &[3])];
        let m = match_topology(&whole, nets(4), &[], &c).unwrap();
        assert_eq!(grid(&m), [(2, 1), (3, 2), (2, 6)]);
        assert_eq!(m.levels()[1].dims, Dims::only(1));
        assert_eq!(
            m.members(1, Rank(7)).map(|r| r.0).collect::<Vec<_>>(),
            [7, 9, 11]
        );
        let all = [level("all", &[0, 1, 2, 3])];
        let m = match_topology(&all, nets(4), &[], &c).unwrap();
        assert_eq!(m.levels()[0].size, 12);

        let part = [
            level("L0", &[0]),
            level("L1", &[1]),
            level("L2", &[2]),
            level("L3", &[3]),
        ];
        let error = match_topology(&part, nets(4), &[], &c).unwrap_err();
        assert_eq!(error.code(), codes::E0404);
        assert_eq!(
            error.to_string(),
            "level L1 needs net 1 to be even and its groups have the sizes [2, 1, 2, 1]; \
             a level can only join it together with all of net 1..2"
        );
    }

    #[test]
    fn gcd_makes_even_chunks() {
        let c = cluster(&[Sizes::Even(2), Sizes::Uneven(vec![8, 8, 4]), Sizes::Even(3)]);
        let levels = [level("L0", &[0]), level("chunk", &[1]), level("rest", &[2])];
        let form = Form {
            nets: 3,
            gcd: Some(1),
        };
        let m = match_topology(&levels, form, &[], &c).unwrap();
        assert_eq!(grid(&m), [(2, 1), (4, 2), (5, 8)]);
        assert_eq!(form.dims(), 3);

        let below = cluster(&[Sizes::Uneven(vec![1, 2]), Sizes::Even(2)]);
        let error = match_topology(
            &levels,
            Form {
                nets: 2,
                gcd: Some(1),
            },
            &[],
            &below,
        );
        assert_eq!(error.unwrap_err().code(), codes::E0404);
        let absent = match_topology(
            &levels,
            Form {
                nets: 2,
                gcd: Some(2),
            },
            &[],
            &below,
        );
        assert_eq!(absent, Err(Mismatch::NoSuchNet { net: 2, nets: 2 }));
    }

    #[test]
    fn named_planes_must_exist_and_reach() {
        let c = Cluster::new(&planes_spec()).unwrap();
        let with = |l: FlatLevel| match_topology(&[level("all", &[0, 1, 2]), l], nets(3), &[], &c);
        assert!(with(via("a", &[0], "mesh")).is_ok());
        assert!(with(via("a", &[0], "rdma")).is_ok());
        assert!(with(via("a", &[0, 1], "ub")).is_ok());
        assert!(with(via("a", &[2], "ocs")).is_ok());
        assert!(with(via("a", &[], "ocs")).is_ok());
        for bad in [
            via("a", &[1], "mesh"),
            via("a", &[0, 1, 2], "ub"),
            via("a", &[1, 2], "ocs"),
        ] {
            assert_eq!(with(bad).unwrap_err().code(), codes::E0403);
        }
        let error = with(via("a", &[0], "wifi")).unwrap_err();
        assert_eq!(error.code(), codes::E0408);
        let Mismatch::UnknownPlane { known, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(known, ["mesh", "ub", "rdma", "ocs"]);
    }

    proptest! {
        /// A level that goes via a plane is served by that plane between any two of its members.
        #[test]
        fn planes_that_match_reach(mask in 1u16..8, name in "mesh|ub|rdma|ocs") {
            let c = Cluster::new(&planes_spec()).unwrap();
            let dims: Vec<u32> = Dims(mask).iter().collect();
            let levels = [level("all", &[0, 1, 2]), via("L", &dims, &name)];
            let matched = match_topology(&levels, nets(3), &[], &c);
            let all = match_topology(&levels[..1], nets(3), &[], &c).unwrap();
            let grid_dims: Vec<u32> = all.dims().iter().map(|d: &GridDim| d.size).collect();
            let m = Matched::new(&grid_dims, [("L".into(), Dims(mask), None)]).unwrap();
            let served = (0..c.ranks()).all(|r| m.members(0, Rank(r)).all(|peer| {
                peer == Rank(r) || c.plane_between(Rank(r), peer, Some(&name)).is_some()
            }));
            prop_assert_eq!(matched.is_ok(), served);
        }

        /// On any cluster, one level over everything matches; its grid has every rank once.
        #[test]
        fn all_matches_everything(sizes in any_sizes()) {
            let c = cluster(&sizes);
            let dims: Vec<u32> = (0..c.nets()).collect();
            let m = match_topology(&[level("all", &dims)], nets(c.nets()), &[], &c).unwrap();
            prop_assert_eq!(m.ranks(), c.ranks());
            let members: Vec<u32> = m.members(0, Rank(0)).map(|r| r.0).collect();
            prop_assert_eq!(members, (0..c.ranks()).collect::<Vec<_>>());
        }

        /// A level per layer matches exactly the clusters whose groups are alike in every layer, and
        /// then its members differ in that coordinate alone.
        #[test]
        fn levels_per_layer_need_even_layers(sizes in any_sizes()) {
            let c = cluster(&sizes);
            let levels: Vec<FlatLevel> =
                (0..c.nets()).map(|d| level(&format!("L{d}"), &[d])).collect();
            let even = (0..c.nets()).all(|d| c.even_ranks(d).is_some());
            match match_topology(&levels, nets(c.nets()), &[], &c) {
                Err(mismatch) => {
                    prop_assert!(!even);
                    prop_assert_eq!(mismatch.code(), codes::E0404);
                }
                Ok(m) => {
                    prop_assert!(even);
                    for r in (0..c.ranks()).map(Rank) {
                        for d in 0..c.nets() {
                            prop_assert_eq!(m.coordinate(r, d), c.coordinate(r, d));
                        }
                    }
                }
            }
        }
    }
}
