//! An algorithm of a library laid out on a cluster: topology matched, conditions checked, weights
//! computed.

use coll_cluster::{Cluster, Form, Matched, Mismatch, Requirement, match_topology};
use coll_lang::check::facts::{CallOn, Fact, Facts, NetError, NetFact};
use coll_lang::check::guard::EvalError;
use coll_lang::check::instantiate::{FlattenError, Instance, Unfit, flatten_at};
use coll_lang::check::value::Value;
use coll_lang::diagnostics::{Code, Diagnostic, codes};
use coll_lang::library::{
    Algorithm, AlgorithmBody, AlgorithmId, CallFacts, Clause, FactValue, FlatKind, FlatTree,
    LevelForm, LevelRef, Library, NodeId, Topology, TopologyId, Weight,
};
use coll_lang::source::Place;
use coll_lang::words::PlaneKind;
use smallvec::SmallVec;

/// An algorithm on a cluster.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The grid that the topology makes of the cluster, and its levels.
    pub matched: Matched,
    /// The tree for this cluster; all weights are known.
    pub tree: FlatTree,
}

/// Why an algorithm cannot run on a cluster.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrepareError {
    /// It has errors of its own.
    #[error("the algorithm has errors")]
    Unsound,
    /// It has no tree.
    #[error("a native algorithm has no tree")]
    Native,
    /// Its topology has no levels for so many layers.
    #[error("the topology does not fit a cluster of {nets} layers: {unfit}")]
    Unfit {
        /// Layers of the cluster.
        nets: u32,
        /// Why.
        unfit: Unfit,
    },
    /// The tree does not fit the number of layers.
    #[error(transparent)]
    Flatten(FlattenError),
    /// Its topology does not match.
    #[error(transparent)]
    Mismatch(Mismatch),
    /// A requirement of the algorithm or of one of its templates does not hold.
    #[error("a requirement does not hold: {values}")]
    Requirement {
        /// Where it stands.
        place: Place,
        /// What its author says about it.
        message: Option<String>,
        /// The values it saw.
        values: String,
    },
    /// A weight has no value on this cluster.
    #[error("a weight has no value: {why}")]
    Weight {
        /// The node it belongs to.
        node: NodeId,
        /// Where it stands.
        place: Option<Place>,
        /// Why.
        why: String,
    },
}

/// Lays `algorithm` out on `cluster`. With a call, its requirements are checked too; those that
/// depend on facts that are not known here are left to whoever knows them.
///
/// # Errors
/// [`PrepareError`], the first that is found.
pub fn prepare(
    library: &Library,
    algorithm: AlgorithmId,
    cluster: &Cluster,
    call: Option<CallFacts>,
) -> Result<Prepared, PrepareError> {
    let algorithm = &library.algorithms[algorithm.index()];
    if !algorithm.declared.sound {
        return Err(PrepareError::Unsound);
    }
    let (AlgorithmBody::Tree(tree), Some(topology)) = (&algorithm.body, algorithm.topology) else {
        return Err(PrepareError::Native);
    };
    let topology = &library.topologies[topology.index()];
    let nets = cluster.nets();
    let facts = ClusterFacts {
        library,
        cluster,
        call,
    };
    let instance = Instance::new(topology, nets)
        .map_err(|unfit| unfit_error(library, topology, &facts, unfit))?;
    let matched = match_instance(library, topology, &instance, cluster)?;
    let mut tree = flatten_at(tree, &instance).map_err(PrepareError::Flatten)?;
    check_requirements(library, algorithm, &tree, &matched, &facts)?;
    let levels = LevelFacts {
        inner: &facts,
        instance: &instance,
        matched: &matched,
    };
    compute_weights(library, &mut tree, &levels)?;
    Ok(Prepared { matched, tree })
}

/// Whether a topology matches a cluster, and the grid it makes of it.
///
/// # Errors
/// [`PrepareError::Unfit`] or [`PrepareError::Mismatch`].
pub fn match_cluster(
    library: &Library,
    topology: TopologyId,
    cluster: &Cluster,
) -> Result<Matched, PrepareError> {
    let topology = &library.topologies[topology.index()];
    let nets = cluster.nets();
    let facts = ClusterFacts {
        library,
        cluster,
        call: None,
    };
    let instance = Instance::new(topology, nets)
        .map_err(|unfit| unfit_error(library, topology, &facts, unfit))?;
    match_instance(library, topology, &instance, cluster)
}

/// Why a topology has no levels at this depth: a requirement that failed is named as such.
fn unfit_error(
    library: &Library,
    topology: &Topology,
    facts: &ClusterFacts<'_>,
    unfit: Unfit,
) -> PrepareError {
    match unfit {
        Unfit::Requirement { clause } => {
            let clause = clause as usize;
            let values = values_of(library, &topology.requires[clause], facts);
            PrepareError::Mismatch(Mismatch::Requirement { clause, values })
        }
        unfit => PrepareError::Unfit {
            nets: facts.cluster.nets(),
            unfit,
        },
    }
}

fn match_instance(
    library: &Library,
    topology: &Topology,
    instance: &Instance,
    cluster: &Cluster,
) -> Result<Matched, PrepareError> {
    let gcd = topology.levels.iter().find_map(|level| match level.form {
        LevelForm::Gcd(net) => Some(net),
        _ => None,
    });
    let form = Form {
        nets: instance.depth,
        gcd,
    };
    let facts = ClusterFacts {
        library,
        cluster,
        call: None,
    };
    let facts = &facts;
    let checks: Vec<_> = topology
        .requires
        .iter()
        .map(|clause| {
            move |_: &Cluster| match clause.guard.holds(facts) {
                Ok(true) => Ok(()),
                Ok(false) => Err(values_of(library, clause, facts)),
                Err(error) => Err(error.to_string()),
            }
        })
        .collect();
    let requirements: Vec<Requirement<'_>> = checks.iter().map(|c| c as Requirement<'_>).collect();
    match_topology(&instance.levels, form, &requirements, cluster).map_err(PrepareError::Mismatch)
}

/// The requirements of the algorithm, then of the templates of its leaves, each on its level.
fn check_requirements(
    library: &Library,
    algorithm: &Algorithm,
    tree: &FlatTree,
    matched: &Matched,
    facts: &ClusterFacts<'_>,
) -> Result<(), PrepareError> {
    for clause in &algorithm.requires {
        require(library, clause, facts)?;
    }
    for node in &tree.nodes {
        let FlatKind::Leaf {
            template, level, ..
        } = &node.kind
        else {
            continue;
        };
        let on_level = OnLevel {
            inner: facts,
            size: matched.levels()[*level as usize].size,
        };
        for clause in &library.templates[template.index()].requires {
            require(library, clause, &on_level)?;
        }
    }
    Ok(())
}

/// Checks one requirement. Facts that nobody has told leave it open.
fn require(library: &Library, clause: &Clause, facts: &dyn Facts) -> Result<(), PrepareError> {
    let values = match clause.guard.holds(facts) {
        Ok(true) | Err(EvalError::Unknown { .. }) => return Ok(()),
        Ok(false) => values_of(library, clause, facts),
        Err(error) => error.to_string(),
    };
    Err(PrepareError::Requirement {
        place: clause.place,
        message: clause.message.as_ref().map(ToString::to_string),
        values,
    })
}

fn values_of(library: &Library, clause: &Clause, facts: &dyn Facts) -> String {
    let (_, explanation) = clause.guard.explain(facts);
    explanation.words(|place| library.sources.text(place).to_owned())
}

/// Replaces the weights that depend on the cluster by their values.
fn compute_weights(
    library: &Library,
    tree: &mut FlatTree,
    facts: &LevelFacts<'_>,
) -> Result<(), PrepareError> {
    for node in &mut tree.nodes {
        let id = node.id;
        let (FlatKind::Parallel {
            weights: Some(weights),
            ..
        }
        | FlatKind::OmniPipe {
            weights: Some(weights),
            ..
        }) = &mut node.kind
        else {
            continue;
        };
        for weight in weights {
            let Weight::OfCluster(guard) = &*weight else {
                continue;
            };
            let error = |why| PrepareError::Weight {
                node: id,
                place: guard.place(),
                why,
            };
            match guard.eval(facts) {
                Ok(FactValue::Number(quantity)) => *weight = Weight::Known(quantity),
                Ok(_) => return Err(error("it is not a number".to_owned())),
                Err(EvalError::Unknown { fact }) => {
                    let (_, seen) = guard.explain(facts);
                    let seen = seen.words(|place| library.sources.text(place).to_owned());
                    let seen = if seen.is_empty() {
                        seen
                    } else {
                        format!(" ({seen})")
                    };
                    return Err(error(format!(
                        "`{fact}` is not known on this cluster{seen}"
                    )));
                }
                Err(other) => return Err(error(other.to_string())),
            }
        }
    }
    Ok(())
}

/// What a cluster and a call tell.
struct ClusterFacts<'a> {
    library: &'a Library,
    cluster: &'a Cluster,
    call: Option<CallFacts>,
}

impl ClusterFacts<'_> {
    fn spec(&self) -> CallOn<'_> {
        CallOn {
            cluster: self.cluster.spec(),
            call: self.call,
        }
    }
}

impl Facts for ClusterFacts<'_> {
    fn fact(&self, fact: Fact) -> Option<Value> {
        self.spec().fact(fact)
    }

    fn declared(&self, name: &str) -> Option<Value> {
        self.spec().declared(name)
    }

    fn net(&self, fact: &NetFact, net: u64) -> Result<Value, NetError> {
        self.spec().net(fact, net)
    }

    fn matches(&self, topology: TopologyId) -> Option<bool> {
        Some(match_cluster(self.library, topology, self.cluster).is_ok())
    }
}

/// The same, for a template on one level.
struct OnLevel<'a> {
    inner: &'a ClusterFacts<'a>,
    size: u32,
}

impl Facts for OnLevel<'_> {
    fn fact(&self, fact: Fact) -> Option<Value> {
        match fact {
            Fact::LevelSize => Some(coll_lang::check::facts::count(u64::from(self.size))),
            fact => self.inner.fact(fact),
        }
    }

    fn declared(&self, name: &str) -> Option<Value> {
        self.inner.declared(name)
    }

    fn net(&self, fact: &NetFact, net: u64) -> Result<Value, NetError> {
        self.inner.net(fact, net)
    }

    fn matches(&self, topology: TopologyId) -> Option<bool> {
        self.inner.matches(topology)
    }
}

/// The same, with the levels of a matched topology.
struct LevelFacts<'a> {
    inner: &'a ClusterFacts<'a>,
    instance: &'a Instance,
    matched: &'a Matched,
}

impl Facts for LevelFacts<'_> {
    fn fact(&self, fact: Fact) -> Option<Value> {
        self.inner.fact(fact)
    }

    fn declared(&self, name: &str) -> Option<Value> {
        self.inner.declared(name)
    }

    fn net(&self, fact: &NetFact, net: u64) -> Result<Value, NetError> {
        self.inner.net(fact, net)
    }

    fn matches(&self, topology: TopologyId) -> Option<bool> {
        self.inner.matches(topology)
    }

    /// Ports of a rank on the plane that the level's transfers take: those of the plane behind a
    /// switch, and as many as there are peers (times the ports of a link) on direct links.
    fn ports(&self, level: LevelRef) -> Option<u64> {
        let position = self.instance.position(level)?;
        let matched = &self.matched.levels()[position as usize];
        let members: SmallVec<[_; 2]> = self
            .matched
            .members(position, coll_cluster::Rank(0))
            .take(2)
            .collect();
        let [a, b] = members.as_slice() else {
            return Some(0);
        };
        let plane = self
            .inner
            .cluster
            .plane_between(*a, *b, matched.via.as_deref())?;
        let plane = self.inner.cluster.plane(plane)?;
        Some(match plane.kind {
            PlaneKind::Clos => u64::from(plane.ports),
            PlaneKind::Mesh1d => u64::from(plane.ports) * u64::from(matched.size - 1),
        })
    }
}

impl PrepareError {
    /// The code of the diagnostic that says so.
    pub fn code(&self) -> Code {
        match self {
            Self::Unsound | Self::Native => codes::E1002,
            Self::Unfit { .. } | Self::Flatten(_) => codes::E0403,
            Self::Mismatch(mismatch) => mismatch.code(),
            Self::Requirement { .. } => codes::E0409,
            Self::Weight { .. } => codes::E0503,
        }
    }

    /// What to tell a person: the clause or level at fault, with the values.
    pub fn diagnostic(&self, library: &Library, algorithm: AlgorithmId, on: &str) -> Diagnostic {
        let algorithm = &library.algorithms[algorithm.index()];
        let at = algorithm.declared.place;
        let name = &algorithm.declared.name;
        let topology = algorithm.topology.map(|t| &library.topologies[t.index()]);
        let new = |place, message: String| {
            let diagnostic = Diagnostic::new(self.code(), place, message);
            if place == at {
                diagnostic
            } else {
                diagnostic.label(at, "needed by this algorithm")
            }
        };
        match (self, topology) {
            (Self::Mismatch(Mismatch::Requirement { clause, values }), Some(topology)) => {
                let clause = &topology.requires[*clause];
                let message = match &clause.message {
                    Some(text) => format!(
                        "topology {} does not match {on}: {text}",
                        topology.declared.name
                    ),
                    None => format!("topology {} does not match {on}", topology.declared.name),
                };
                new(clause.place, message).here(values.clone())
            }
            (Self::Mismatch(mismatch), Some(topology)) => new(
                mismatch_place(mismatch, topology),
                format!(
                    "topology {} does not match {on}: {mismatch}",
                    topology.declared.name
                ),
            ),
            (
                Self::Unfit {
                    nets,
                    unfit: Unfit::NoLayer { level, layer },
                },
                Some(topology),
            ) => {
                let level = &topology.levels[*level as usize];
                new(
                    level.place,
                    format!(
                        "topology {} does not match {on}: level {} joins net {layer}, and the cluster has {nets} nets",
                        topology.declared.name, level.name
                    ),
                )
            }
            (
                Self::Requirement {
                    place,
                    message,
                    values,
                },
                _,
            ) => {
                let message = match message {
                    Some(text) => format!("{name} cannot run on {on}: {text}"),
                    None => format!("{name} cannot run on {on}: a requirement does not hold"),
                };
                new(*place, message).here(values.clone())
            }
            (Self::Weight { node, place, why }, _) => new(
                place.unwrap_or(library.node_place(*node)),
                format!("a weight has no value on {on}: {why}"),
            ),
            _ => new(at, format!("{name} cannot run on {on}: {self}")),
        }
    }
}

/// The level or topology that a mismatch is about.
fn mismatch_place(mismatch: &Mismatch, topology: &Topology) -> Place {
    let named = match mismatch {
        Mismatch::Uneven { level, .. }
        | Mismatch::UnknownPlane { level, .. }
        | Mismatch::PlaneDoesNotReach { level, .. } => Some(level),
        _ => None,
    };
    named
        .and_then(|name| topology.levels.iter().find(|l| l.name == *name))
        .map_or(topology.declared.place, |level| level.place)
}
