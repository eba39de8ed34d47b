//! Which plane joins two ranks.

use crate::cluster::Cluster;
use crate::rank::Rank;
use coll_lang::library::PlaneSpec;
use coll_lang::words::PlaneKind;

/// A plane of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaneId {
    /// The layer it belongs to.
    pub net: u32,
    /// Its position in the layer's list.
    pub plane: u32,
}

impl Cluster {
    /// What is known of a plane; none where it does not exist.
    pub fn plane(&self, id: PlaneId) -> Option<&PlaneSpec> {
        self.spec()
            .nets
            .get(id.net as usize)?
            .planes
            .get(id.plane as usize)
    }

    /// The planes of all layers, innermost first.
    pub fn planes(&self) -> impl Iterator<Item = (PlaneId, &PlaneSpec)> {
        self.spec().nets.iter().enumerate().flat_map(|(net, spec)| {
            spec.planes.iter().enumerate().map(move |(plane, spec)| {
                let id = PlaneId {
                    net: net as u32,
                    plane: plane as u32,
                };
                (id, spec)
            })
        })
    }

    /// The plane that a transfer between two ranks takes: that of the lowest layer that joins them,
    /// and there the first that reaches; only planes called `via`, where that is given. None for a
    /// rank and itself, and where no plane reaches.
    pub fn plane_between(&self, a: Rank, b: Rank, via: Option<&str>) -> Option<PlaneId> {
        if a == b {
            return None;
        }
        self.planes()
            .filter(|(_, spec)| via.is_none_or(|name| spec.name == name))
            .find(|(id, spec)| self.reaches(a, b, id.net, spec.kind))
            .map(|(id, _)| id)
    }

    /// A switch of layer `net` joins any two ranks of one group; direct links join ranks that
    /// differ in that coordinate alone.
    fn reaches(&self, a: Rank, b: Rank, net: u32, kind: PlaneKind) -> bool {
        self.same_group(a, b, net)
            && match kind {
                PlaneKind::Clos => true,
                PlaneKind::Mesh1d => {
                    (0..net).all(|below| self.coordinate(a, below) == self.coordinate(b, below))
                        && self.coordinate(a, net) != self.coordinate(b, net)
                }
            }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cluster::tests::even_spec;
    use coll_lang::library::ClusterSpec;
    use coll_lang::number::Rational;

    pub(crate) fn plane(name: &str, kind: PlaneKind) -> PlaneSpec {
        PlaneSpec {
            name: name.into(),
            kind,
            bandwidth: Rational::from_integer(56_000_000_000),
            latency: Rational::new(3, 2_000_000),
            ports: 1,
            protocol: None,
            on_host: false,
        }
    }

    /// 4 ranks a server by mesh and switch, 2 servers by switch, 2 pods by direct links.
    pub(crate) fn planes_spec() -> ClusterSpec {
        let mut spec = even_spec(&[4, 2, 2]);
        spec.nets[0].planes = vec![
            plane("mesh", PlaneKind::Mesh1d),
            plane("ub", PlaneKind::Clos),
        ];
        spec.nets[1].planes = vec![plane("ub", PlaneKind::Clos), plane("rdma", PlaneKind::Clos)];
        spec.nets[2].planes = vec![plane("ocs", PlaneKind::Mesh1d)];
        spec
    }

    #[test]
    fn the_lowest_layer_that_reaches_is_taken() {
        let c = Cluster::new(&planes_spec()).unwrap();
        let between = |a, b, via| {
            c.plane_between(Rank(a), Rank(b), via)
                .map(|p| (p.net, p.plane))
        };
        assert_eq!(between(0, 3, None), Some((0, 0)));
        assert_eq!(between(0, 3, Some("ub")), Some((0, 1)));
        assert_eq!(between(0, 3, Some("rdma")), Some((1, 1)));
        assert_eq!(between(0, 4, None), Some((1, 0)));
        assert_eq!(between(0, 4, Some("mesh")), None);
        assert_eq!(between(0, 7, None), Some((1, 0)));
        assert_eq!(between(3, 11, None), Some((2, 0)));
        // Differs in two coordinates: direct links of the outermost layer do not reach.
        assert_eq!(between(3, 12, None), None);
        assert_eq!(between(3, 3, None), None);
    }
}
