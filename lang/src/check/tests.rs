//! What checked libraries hold, and what guards and trees make of facts and depths.

use super::facts::{CallOn, Depth, Fact, Facts, NoFacts};
use super::guard::{EvalError, Guard, Truth};
use super::instantiate::{FlattenError, Instance, Unfit, depths, flatten, levels};
use super::value::{Value, show};
use super::*;
use crate::contract::Dims;
use crate::library::{
    CallFacts, FlatKind, FlatTree, LevelRef, NodeKind, TemplateArg, TopologyId, TreeIx, Weight,
};
use crate::resolve::{LoadRequest, load};
use coll_grammar::words::{DType, Engine, Operation, ReduceOp};
use std::collections::BTreeMap;

/// Checks one file; what is wrong with it is returned too.
pub(super) fn check_text(text: &str) -> (Library, Vec<Diagnostic>) {
    let path = std::env::temp_dir().join("checked_text.coll");
    check(load(LoadRequest {
        paths: vec![path.clone()],
        overlay: BTreeMap::from([(path, text.into())]),
        ..LoadRequest::default()
    }))
}

fn clean(text: &str) -> Library {
    let (library, diagnostics) = check_text(text);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}");
    library
}

fn algorithm<'a>(library: &'a Library, name: &str) -> &'a Algorithm {
    let found = library.algorithms.iter().find(|a| a.declared.name == name);
    found.unwrap_or_else(|| panic!("there is no algorithm {name}"))
}

fn tree(algorithm: &Algorithm) -> &Tree {
    match &algorithm.body {
        AlgorithmBody::Tree(tree) => tree,
        AlgorithmBody::Native => panic!("{} is native", algorithm.declared.name),
    }
}

/// The guard of `require CONDITION;` in an all-reduce.
fn guard(condition: &str) -> (Library, Guard) {
    let library = clean(&format!(
        "use std.topology.one_level;\ncluster c {{ net 0: 4; fact dies = 2; }}\n\
         algorithm A : allreduce on one_level using aicpu {{\n require {condition};\n tree mesh@L0;\n}}\n"
    ));
    let guard = algorithm(&library, "A").requires[0].guard.clone();
    (library, guard)
}

fn call() -> CallFacts {
    CallFacts {
        op: Operation::AllReduce,
        count: 1024,
        dtype: DType::F32,
        reduce: Some(ReduceOp::Sum),
        root: None,
        engine: Some(Engine::Aicpu),
    }
}

fn holds(condition: &str, shape: &str) -> Result<bool, String> {
    let cluster = parse_shape(shape).unwrap();
    let facts = CallOn {
        cluster: &cluster,
        call: Some(call()),
    };
    let (_, guard) = guard(condition);
    guard.holds(&facts).map_err(|e| e.to_string())
}

#[test]
fn conditions_hold_or_not() {
    for (condition, shape, expected) in [
        ("ranks == 8", "8", true),
        ("ranks < 8", "8", false),
        ("nets == 2 and ranks == 32", "8x4", true),
        ("size(net 0) == 8 and size(net top) == 4", "8x4", true),
        ("size(net (nets - 1)) == 4", "8x4", true),
        (
            "min(sizes(net 0)) == 6 and max(sizes(net 0)) == 8",
            "[8,6]x2",
            true,
        ),
        ("gcd(sizes(net 0)) == 2", "[8,6]x2", true),
        (
            "shape(net 0) == mesh1d and shape(net 1) == clos",
            "8x4",
            true,
        ),
        ("has(net 0, mesh) and not has(net 0, ub)", "8", true),
        ("protocol(net 0) == none", "8", true),
        ("dtype in {f32, f16} and dtype not in {f64}", "8", true),
        ("f32 == dtype", "8", true),
        ("reduce == sum or reduce == prod", "8", true),
        ("op == allreduce and engine == aicpu", "8", true),
        (
            "api_bytes == 4 KiB and input_bytes == output_bytes",
            "8",
            true,
        ),
        ("input_bytes in 4 KiB ..< 8 KiB", "8", true),
        ("input_bytes in 2 KiB ..< 4 KiB", "8", false),
        ("input_bytes in 2 KiB ..= 4 KiB", "8", true),
        ("input_bytes not in 2 KiB ..= 4 KiB", "8", false),
        ("count / ranks * ranks == count", "8", true),
        ("(if ranks > 4 { 1 } else { 2 }) == 1", "8", true),
        (
            "(if ranks > 10 { 1 } else if ranks > 4 { 2 } else { 3 }) == 2",
            "8",
            true,
        ),
        (
            "is_power_of_two(ranks) and ceil_log2(ranks + 1) == 4",
            "8",
            true,
        ),
        (
            "floor_log2(ranks) == log2(ranks) and abs(0 - ranks) == 8",
            "8",
            true,
        ),
        ("gcd(ranks, 12) == 4 and max(ranks, 12, 3) == 12", "8", true),
        (
            "ranks >> 1 == 4 and ranks << 1 == 16 and ranks & 12 == 8",
            "8",
            true,
        ),
        (
            "ranks | 1 == 9 and ranks ^ 12 == 4 and ~ranks == 0 - 9",
            "8",
            true,
        ),
        // The right operand is not asked for where the left one decides.
        ("nets == 1 or size(net 1) == 4", "8", true),
        ("nets == 2 and size(net 1) == 4", "8", false),
        ("true and not false", "8", true),
    ] {
        assert_eq!(
            holds(condition, shape),
            Ok(expected),
            "{condition} on {shape}"
        );
    }
}

#[test]
fn conditions_that_have_no_value_say_why() {
    for (condition, shape, expected) in [
        ("size(net 1) == 4", "8", "the cluster has 1"),
        ("size(net 0) == 4", "[8,7]x2", "have different sizes"),
        (
            "size(net (ranks / 3)) == 4",
            "8",
            "asks about a layer that is not there",
        ),
        ("deterministic", "8", "`deterministic` is not known here"),
        ("dies == 2", "8", "`dies` is not known here"),
        ("ports(L0) == 2", "8", "`ports(L0)` is not known here"),
        (
            "matches(one_level)",
            "8",
            "`matches(one_level)` is not known here",
        ),
        ("ranks / (ranks - 8) == 1", "8", "division by zero"),
        ("pow(ranks, 1000) > 1", "8", "more digits"),
        (
            "buffer_bytes > 1 KiB",
            "8",
            "`buffer_bytes` is not known here",
        ),
    ] {
        let error = holds(condition, shape).unwrap_err();
        assert!(error.contains(expected), "{condition}: {error}");
    }
}

#[test]
fn explanations_name_the_values_seen() {
    for (condition, shape, expected) in [
        ("nets == 4", "8x4x2", "`nets` is 3, needs 4"),
        (
            "ranks >= 4 and ranks <= 16",
            "32",
            "`ranks` is 32, needs <= 16",
        ),
        ("16 >= ranks", "32", "`ranks` is 32, needs <= 16"),
        (
            "nets == 1 or ranks < 4",
            "8x4",
            "`nets` is 2, needs 1; `ranks` is 32, needs < 4",
        ),
        (
            "dtype not in {f32, f64}",
            "8",
            "`dtype` is f32, needs not in {f32, f64}",
        ),
        (
            "dtype in {f64, i8}",
            "8",
            "`dtype` is f32, needs one of {f64, i8}",
        ),
        (
            "input_bytes in 1 MiB ..< 2 MiB",
            "8",
            "`input_bytes` is 4 KiB, needs in 1 MiB ..< 2 MiB",
        ),
        (
            "size(net 0) * 2 == 4",
            "8",
            "`size(net 0) * 2` is 16, needs 4",
        ),
        ("not (ranks == 8)", "8", "`ranks` is 8"),
        ("has(net 0, ub)", "8", "`has(net 0, ub)` is false"),
    ] {
        let (library, guard) = guard(condition);
        let cluster = parse_shape(shape).unwrap();
        let facts = CallOn {
            cluster: &cluster,
            call: Some(call()),
        };
        let (value, explanation) = guard.explain(&facts);
        assert_eq!(value, Ok(Value::Bool(false)), "{condition}");
        let words = explanation.words(|place| library.sources.text(place).to_owned());
        assert_eq!(words, expected, "{condition}");
    }
}

#[test]
fn what_depends_on_unknown_facts_is_unknown() {
    for (condition, expected) in [
        ("nets == 2", Truth::Yes),
        ("nets == 3", Truth::No),
        ("ranks == 8", Truth::Unknown),
        ("ranks == 8 and nets == 3", Truth::No),
        ("nets == 3 and ranks == 8", Truth::No),
        ("nets == 2 and ranks == 8", Truth::Unknown),
        ("ranks == 8 or nets == 2", Truth::Yes),
        ("not (ranks == 8 and nets == 3)", Truth::Yes),
        ("size(net 0) in {1, 2} or nets in {1, 2}", Truth::Yes),
        ("nets in {1, ranks}", Truth::Unknown),
        ("nets in {2, ranks}", Truth::Yes),
        ("nets in 1 ..< ranks", Truth::Unknown),
        ("(if ranks > 2 { nets } else { 2 }) == 2", Truth::Unknown),
        ("(if nets > 1 { nets } else { ranks }) == 2", Truth::Yes),
        (
            "is_power_of_two(nets) and ranks + 1 == ranks + 1",
            Truth::Unknown,
        ),
    ] {
        let (_, guard) = guard(condition);
        assert_eq!(guard.possible(&Depth(2)), expected, "{condition}");
    }
}

#[test]
fn facts_follow_the_conventions_of_operations() {
    let cluster = parse_shape("4x2").unwrap();
    let of = |op, fact| {
        let facts = CallOn {
            cluster: &cluster,
            call: Some(CallFacts { op, ..call() }),
        };
        facts.fact(fact).map(|v| show(&v)).unwrap_or_default()
    };
    use Operation::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, ReduceScatter, Scatter};
    for (op, input, output) in [
        (AllGather, "4 KiB", "32 KiB"),
        (ReduceScatter, "32 KiB", "4 KiB"),
        (AllReduce, "4 KiB", "4 KiB"),
        (Broadcast, "4 KiB", "4 KiB"),
        (Scatter, "32 KiB", "4 KiB"),
        (AllToAll, "32 KiB", "32 KiB"),
        (Barrier, "", ""),
    ] {
        assert_eq!(of(op, Fact::InputBytes), input, "{op}");
        assert_eq!(of(op, Fact::OutputBytes), output, "{op}");
    }
    assert_eq!(of(AllGather, Fact::Reduce), "");
    assert_eq!(of(AllReduce, Fact::Reduce), "sum");
    let huge = CallOn {
        cluster: &cluster,
        call: Some(CallFacts {
            count: u64::MAX,
            ..call()
        }),
    };
    assert_eq!(huge.fact(Fact::ApiBytes), None);
    assert_eq!(
        guard("ranks == 8").1.eval(&NoFacts),
        Err(EvalError::Unknown {
            fact: "ranks".to_owned()
        })
    );
}

#[test]
fn clusters_are_what_they_say() {
    let library = clean(
        "let servers = 2;\n\
         cluster pod {\n device ascend950;\n net 0 \"server\": [8, 8] {\n\
         plane mesh = mesh1d 56 GB/s 1.5 us; plane ub = clos 50 GB/s 3 us ports 4 protocol roce on host; }\n\
         net 1: servers;\n memory { copy 1400 GB/s; buffer 200 MiB; }\n memory on aiv { buffer 1 MiB; }\n\
         fact dies = servers; fact fabric = copper; fact cooled = true;\n}\n",
    );
    let cluster = library
        .clusters
        .iter()
        .find(|c| c.declared.name == "pod")
        .unwrap();
    assert!(cluster.declared.sound);
    let spec = &cluster.spec;
    assert_eq!(spec.ranks(), 16);
    assert_eq!(spec.device.as_deref(), Some("ascend950"));
    assert_eq!(spec.nets[0].sizes, crate::library::Sizes::Even(8));
    let ub = &spec.nets[0].planes[1];
    assert_eq!((ub.ports, ub.on_host), (4, true));
    assert_eq!(ub.protocol.as_deref(), Some("roce"));
    assert_eq!(spec.memory[&None].buffer, Some(200 << 20));
    assert_eq!(spec.memory[&Some(Engine::Aiv)].buffer, Some(1 << 20));
    let facts: Vec<String> = spec
        .facts
        .iter()
        .map(|(k, v)| format!("{k} {}", show(v)))
        .collect();
    assert_eq!(facts, ["dies 2", "fabric copper", "cooled true"]);
    let on = CallOn {
        cluster: spec,
        call: Some(CallFacts {
            engine: Some(Engine::Aiv),
            ..call()
        }),
    };
    assert_eq!(
        on.fact(Fact::BufferBytes).map(|v| show(&v)).as_deref(),
        Some("1 MiB")
    );
    let net = |fact: super::facts::NetFact| on.net(&fact, 0).map(|v| show(&v)).unwrap();
    assert_eq!(net(super::facts::NetFact::Shape), "mixed");
    assert_eq!(net(super::facts::NetFact::Protocol), "none");
}

fn topology<'a>(library: &'a Library, name: &str) -> &'a crate::library::Topology {
    let found = library.topologies.iter().find(|t| t.declared.name == name);
    found.unwrap_or_else(|| panic!("there is no topology {name}"))
}

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
fn templates_keep_their_parameters_and_arguments() {
    let library = clean(
        "use std.topology.one_level;\n\
         template both(r: template, k: int) : allreduce { require n > 1; do reducescatter.r; do allgather.r; }\n\
         algorithm A : allreduce on one_level using aicpu = both(mesh, 2 + 1)@L0;\n",
    );
    let NodeKind::Leaf {
        template, args, op, ..
    } = &tree(algorithm(&library, "A")).nodes[0].kind
    else {
        panic!("a leaf")
    };
    let both = &library.templates[template.index()];
    assert_eq!(both.declared.name, "both");
    assert_eq!(both.requires.len(), 1);
    assert_eq!(*op, Operation::AllReduce);
    let [TemplateArg::Templates(mesh), TemplateArg::Value(three)] = args.as_slice() else {
        panic!("{args:?}")
    };
    assert_eq!(show(three), "3");
    let allgather = mesh
        .for_op(Operation::AllGather, &library.templates)
        .unwrap();
    assert_eq!(library.templates[allgather.index()].declared.name, "mesh");
    assert_eq!(mesh.for_op(Operation::AllToAll, &library.templates), None);
    assert_eq!(library.later.len(), 1);
}

#[test]
fn what_is_wrong_is_not_sound() {
    let (library, diagnostics) = check_text(
        "use std.topology.two_level;\n\
         topology broken { level L0 = ; }\n\
         algorithm Good : allgather on two_level using aicpu = sequence < nhr@L1; mesh@L0 >;\n\
         algorithm Bad : allgather on two_level using aicpu = mesh@L0;\n\
         algorithm OnBroken : allgather on broken using aicpu = mesh@L0;\n\
         algorithm NoOp : algather on two_level using aicpu = mesh@L0;\n\
         algorithm Native : send using aicpu = native;\n",
    );
    let sound = |name| algorithm(&library, name).declared.sound;
    assert!(sound("Good") && sound("Native"));
    assert!(!sound("Bad") && !sound("OnBroken") && !sound("NoOp"));
    assert!(!topology(&library, "broken").declared.sound);
    let codes: Vec<&str> = diagnostics.iter().map(|d| d.code.id()).collect();
    assert_eq!(codes, ["E0101", "E0304", "E0604"]);
    assert!(
        algorithm(&library, "Good").topology != Some(TopologyId(0))
            || library.topologies.len() == 1
    );
}

#[test]
fn trees_that_would_grow_without_bound_are_refused() {
    let mut text = String::from(
        "use std.topology.one_level;\ntree t0(l: level) = sequence < mesh@l; nhr@l >;\n",
    );
    for i in 1..40 {
        let _ = std::fmt::Write::write_fmt(
            &mut text,
            format_args!(
                "tree t{i}(l: level) = sequence < t{p}(l); t{p}(l) >;\n",
                p = i - 1
            ),
        );
    }
    text.push_str("algorithm A : allgather on one_level using aicpu = t39(L0);\n");
    let (_, diagnostics) = check_text(&text);
    let found: Vec<&str> = diagnostics.iter().map(|d| d.code.id()).collect();
    assert_eq!(found, ["E1003"]);

    let mut text = String::from(
        "use std.topology.n_level;\nalgorithm A : allgather on n_level using aicpu = sequence <\n",
    );
    for i in 0..8 {
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("for l{i} in L0..=top: "));
    }
    text.push_str("nhr@l0 >;\n");
    let (_, diagnostics) = check_text(&text);
    assert!(diagnostics.iter().any(|d| d.code == codes::E1003));

    let mut text = String::from("let a0 = 1;\n");
    for i in 1..2000 {
        let _ = std::fmt::Write::write_fmt(
            &mut text,
            format_args!("let a{i} = a{p} + a{p};\n", p = i - 1),
        );
    }
    let (_, diagnostics) = check_text(&text);
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|d| d.code == codes::E0505));
}

#[test]
fn the_result_is_the_same_with_any_number_of_threads() {
    let text = "use std.topology.{two_level, n_level};\n\
                algorithm A : allgather on two_level using aicpu = mesh@L0;\n\
                algorithm B : allgather on n_level using aicpu = sequence < mesh@L0; nhr@L1 >;\n\
                algorithm C : allgather on nowhere using aicpu = mhes@L0;\n";
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (library, diagnostics) = pool.install(|| check_text(text));
        let shown: Vec<String> = diagnostics.iter().map(|d| format!("{d:?}")).collect();
        (shown, format!("{:?}", library.algorithms), library.nodes)
    };
    let one = run(1);
    assert!(!one.0.is_empty());
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
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
