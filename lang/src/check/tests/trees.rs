//! Topologies and trees at every depth.

use super::super::facts::{Fact, Facts};
use super::super::instantiate::{FlattenError, Instance, Unfit, depths, flatten, levels};
use super::super::value::{Value, show};
use super::{algorithm, clean, topology, tree};
use crate::contract::Dims;
use crate::library::{FlatKind, FlatTree, LevelRef, Library, TreeIx, Weight};

/// The levels at one depth as text: `L0{0} L1{1,2}`.
fn shown_levels(library: &Library, name: &str, depth: u32) -> Result<String, Unfit> {
    let levels = levels(topology(library, name), depth)?;
    let shown = levels.iter().map(|l| {
        let dims: Vec<String> = l.dims.iter().map(|d| d.to_string()).collect();
        format!("{}{{{}}}", l.name, dims.join(","))
    });
    Ok(shown.collect::<Vec<_>>().join(" "))
}

#[test]
fn levels_join_dimensions() {
    let library = clean(
        "topology optional_two { level L0 = net 0; optional level L1 = net 1; optional level R = net 2..3; }\n\
         topology chunks { level B = net 0; level C = gcd(net 1); level R = rest; level A = all; }\n\
         topology inner_rest { level L0 = net 0; level R = rest; }\n\
         topology tops { level I = net 0..top; level T = net top via ub; }\n\
         topology families { level M* = net * via mesh; level U* = net * via ub; }\n",
    );
    let levels = |name, depth| shown_levels(&library, name, depth);
    assert_eq!(levels("optional_two", 1).unwrap(), "L0{0} L1{} R{}");
    assert_eq!(levels("optional_two", 3).unwrap(), "L0{0} L1{1} R{2}");
    assert_eq!(levels("optional_two", 4).unwrap(), "L0{0} L1{1} R{2,3}");
    // Dimension 1 is the index in the chunk, dimension 2 the chunk: two however deep the cluster is.
    assert_eq!(levels("chunks", 2).unwrap(), "B{0} C{1} R{2} A{0,1,2}");
    assert_eq!(levels("chunks", 5).unwrap(), "B{0} C{1} R{2} A{0,1,2}");
    assert_eq!(
        levels("chunks", 1),
        Err(Unfit::NoLayer { level: 1, layer: 1 })
    );
    assert_eq!(levels("inner_rest", 1).unwrap(), "L0{0} R{}");
    assert_eq!(levels("inner_rest", 4).unwrap(), "L0{0} R{1,2,3}");
    assert_eq!(levels("tops", 3).unwrap(), "I{0,1,2} T{2}");
    assert_eq!(levels("families", 2).unwrap(), "M0{0} M1{1} U0{0} U1{1}");
    assert_eq!(levels("n_level", 3).unwrap(), "L0{0} L1{1} L2{2}");
    assert_eq!(
        levels("four_level", 3),
        Err(Unfit::NoLayer { level: 3, layer: 3 })
    );
    assert_eq!(
        levels("four_level", 5),
        Err(Unfit::Requirement { clause: 0 })
    );
    assert_eq!(levels("n_level", 0), Err(Unfit::NoDepth));
    assert_eq!(levels("n_level", 17), Err(Unfit::NoDepth));
    let depths = |name| depths(topology(&library, name));
    assert_eq!(depths("four_level"), [4]);
    assert_eq!(depths("n_level"), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(depths("optional_two"), [1, 2, 3, 4]);
    assert_eq!(depths("chunks"), [2, 3, 4, 5, 6, 7, 8]);
    let plane = &super::instantiate::levels(topology(&library, "families"), 2).unwrap()[3];
    assert_eq!(plane.via.as_deref(), Some("ub"));
}

/// A flat tree as text.
fn shown(library: &Library, flat: &FlatTree, ix: TreeIx) -> String {
    let all = |children| {
        let shown = flat
            .children(children)
            .iter()
            .map(|&c| shown(library, flat, c));
        shown.collect::<Vec<_>>().join("; ")
    };
    match &flat.node(ix).kind {
        FlatKind::Leaf {
            op,
            template,
            level,
            ..
        } => {
            let template = &library.templates[template.index()].declared.name;
            format!("{op}.{template}@{}", flat.levels[*level as usize].name)
        }
        FlatKind::Sequence(children) => format!("sequence < {} >", all(children)),
        FlatKind::Parallel { children, .. } => format!("parallel < {} >", all(children)),
        FlatKind::OmniPipe { children, .. } => format!("omnipipe < {} >", all(children)),
        FlatKind::Assert(states) => {
            let states = states
                .iter()
                .map(|(state, dims)| format!("{state}({})", dims.0));
            format!("assert {}", states.collect::<Vec<_>>().join(", "))
        }
    }
}

fn flat_text(library: &Library, name: &str, depth: u32) -> Result<String, FlattenError> {
    let algorithm = algorithm(library, name);
    let topology = &library.topologies[algorithm.topology.unwrap().index()];
    let flat = flatten(tree(algorithm), topology, depth)?;
    assert!(flat.nodes.len() == 1 || flat.children.iter().all(|c| c.index() > 0));
    Ok(shown(library, &flat, FlatTree::ROOT))
}

#[test]
fn trees_are_written_out_for_a_depth() {
    let library = clean(
        "use std.topology.{n_level, three_level};\n\
         tree shots(t: template, l: level) = sequence < reducescatter.t@l; allgather.t@l >;\n\
         algorithm Loop : allreduce on n_level using aicpu = sequence <\n\
           for l in L0..<top: reducescatter.mesh@l;\n  shots(nhr, top);\n\
           for l in reverse L0..<top: assert own(l);\n  for l in reverse L0..<top: allgather.mesh@l\n >;\n\
         algorithm Declared : allgather on three_level using aicpu\n\
           = sequence < for l in reverse L1..=L2: nhr@l; mesh@L0 >;\n\
         algorithm Vanish : allgather on n_level using aicpu\n\
           = sequence < sequence < for l in reverse L1..=top: sequence < nhr@l > >; mesh@L0 >;\n",
    );
    let flat = |name, depth| flat_text(&library, name, depth).unwrap();
    assert_eq!(
        flat("Loop", 1),
        "sequence < sequence < reducescatter.nhr@L0; allgather.nhr@L0 > >"
    );
    assert_eq!(
        flat("Loop", 3),
        "sequence < reducescatter.mesh@L0; reducescatter.mesh@L1; \
         sequence < reducescatter.nhr@L2; allgather.nhr@L2 >; assert own(2); assert own(1); \
         allgather.mesh@L1; allgather.mesh@L0 >"
    );
    assert_eq!(
        flat("Declared", 3),
        "sequence < allgather.nhr@L2; allgather.nhr@L1; allgather.mesh@L0 >"
    );
    assert_eq!(flat("Vanish", 1), "sequence < allgather.mesh@L0 >");
    assert_eq!(
        flat("Vanish", 2),
        "sequence < sequence < sequence < allgather.nhr@L1 > >; allgather.mesh@L0 >"
    );
    assert_eq!(
        flat_text(&library, "Declared", 2),
        Err(FlattenError::Unfit(Unfit::NoLayer { level: 2, layer: 2 }))
    );
}

#[test]
fn nodes_know_where_they_stand() {
    let text = "use std.topology.one_level;\n\
                tree shots(t: template, l: level) = sequence < reducescatter.t@l; allgather.t@l >;\n\
                algorithm A : allreduce on one_level using aicpu = shots(nhr, L0);\n\
                algorithm B : allgather on one_level using aicpu = mesh@L0;\n";
    let library = clean(text);
    let at = |node: crate::library::NodeId| library.sources.text(library.node_place(node));
    let a = tree(algorithm(&library, "A"));
    assert_eq!(at(a.nodes[1].id), "reducescatter.t@l");
    let call = library.calls[&a.nodes[1].id];
    assert_eq!(library.sources.text(call), "shots(nhr, L0)");
    let b = tree(algorithm(&library, "B"));
    assert_eq!(at(b.nodes[0].id), "mesh@L0");
    assert!(!library.calls.contains_key(&b.nodes[0].id));
}

#[test]
fn weights_are_constants_or_guards_over_levels() {
    let library = clean(
        "use std.topology.{n_level, concurrent};\nlet ratio = 2;\n\
         algorithm Known : allgather on n_level using aicpu = sequence <\n\
           for l in L0..=top: parallel < ratio: nhr@l; 1 / 2: mesh@l >\n >;\n\
         algorithm Ports : allgather on concurrent using aicpu\n\
           = parallel < ports(mesh): mesh@mesh; 2 * ports(clos): nhr@clos >;\n",
    );
    let weights = |name: &str, depth| {
        let algorithm = algorithm(&library, name);
        let topology = &library.topologies[algorithm.topology.unwrap().index()];
        let flat = flatten(tree(algorithm), topology, depth).unwrap();
        let found = flat.nodes.iter().find_map(|n| match &n.kind {
            FlatKind::Parallel { weights, .. } => weights.clone(),
            _ => None,
        });
        found.unwrap()
    };
    let known: Vec<String> = weights("Known", 2)
        .iter()
        .map(|w| match w {
            Weight::Known(q) => q.to_string(),
            Weight::OfCluster(_) => "of the cluster".to_owned(),
        })
        .collect();
    assert_eq!(known, ["2", "0.5"]);
    struct Ports;
    impl Facts for Ports {
        fn fact(&self, _: Fact) -> Option<Value> {
            None
        }
        fn ports(&self, level: LevelRef) -> Option<u64> {
            match level {
                LevelRef::Flat(position) => Some(u64::from(position) + 3),
                _ => None,
            }
        }
    }
    let ports: Vec<String> = weights("Ports", 1)
        .iter()
        .map(|w| match w {
            Weight::Known(_) => "known".to_owned(),
            Weight::OfCluster(guard) => show(&guard.eval(&Ports).unwrap()),
        })
        .collect();
    assert_eq!(ports, ["3", "8"]);
}

#[test]
fn instances_place_levels() {
    let library = clean("topology t { level F* = net *; level A = all; }\n");
    let instance = Instance::new(topology(&library, "t"), 3).unwrap();
    assert_eq!(
        instance.position(LevelRef::Member { family: 0, net: 2 }),
        Some(2)
    );
    assert_eq!(
        instance.position(LevelRef::Member { family: 0, net: 3 }),
        None
    );
    assert_eq!(instance.position(LevelRef::Top(0)), Some(2));
    assert_eq!(instance.position(LevelRef::Declared(1)), Some(3));
    assert_eq!(instance.position(LevelRef::Var(0)), None);
    assert_eq!(instance.covered(), Dims::first(3));
}
