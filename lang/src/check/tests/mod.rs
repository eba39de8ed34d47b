//! What checked libraries hold.

mod guards;
mod random;
mod trees;

use super::facts::{CallOn, Fact, Facts, NetFact};
use super::value::show;
use super::*;
use crate::library::{CallFacts, NodeKind, TemplateArg, Topology};
use crate::resolve::{LoadRequest, load};
use coll_grammar::words::{DType, Engine, Operation, ReduceOp};
use std::collections::BTreeMap;
use std::fmt::Write;

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
    let net = |fact: NetFact| on.net(&fact, 0).map(|v| show(&v)).unwrap();
    assert_eq!(net(NetFact::Shape), "mixed");
    assert_eq!(net(NetFact::Protocol), "none");
}

fn topology<'a>(library: &'a Library, name: &str) -> &'a Topology {
    let found = library.topologies.iter().find(|t| t.declared.name == name);
    found.unwrap_or_else(|| panic!("there is no topology {name}"))
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
}

#[test]
fn trees_that_would_grow_without_bound_are_refused() {
    let mut text = String::from(
        "use std.topology.one_level;\ntree t0(l: level) = sequence < mesh@l; nhr@l >;\n",
    );
    for i in 1..40 {
        let p = i - 1;
        let _ = writeln!(text, "tree t{i}(l: level) = sequence < t{p}(l); t{p}(l) >;");
    }
    text.push_str("algorithm A : allgather on one_level using aicpu = t39(L0);\n");
    let (_, diagnostics) = check_text(&text);
    let found: Vec<&str> = diagnostics.iter().map(|d| d.code.id()).collect();
    assert_eq!(found, ["E1003"]);

    let mut text = String::from(
        "use std.topology.n_level;\nalgorithm A : allgather on n_level using aicpu = sequence <\n",
    );
    for i in 0..8 {
        let _ = write!(text, "for l{i} in L0..=top: ");
    }
    text.push_str("nhr@l0 >;\n");
    let (_, diagnostics) = check_text(&text);
    assert!(diagnostics.iter().any(|d| d.code == codes::E1003));

    let mut text = String::from("let a0 = 1;\n");
    for i in 1..2000 {
        let _ = writeln!(text, "let a{i} = a{p} + a{p};", p = i - 1);
    }
    let (_, diagnostics) = check_text(&text);
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|d| d.code == codes::E0505));
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let nested = |inner: &str| format!("{}{inner}{}", "(".repeat(100), " + 1)".repeat(100));
    let mut text = format!("let a0 = {};\n", nested("ranks"));
    for i in 1..10 {
        let _ = writeln!(text, "let a{i} = {};", nested(&format!("a{}", i - 1)));
    }
    let (_, diagnostics) = check_text(&text);
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|d| d.code == codes::E0505));

    let nested = |inner: &str| format!("{}{inner}{}", "sequence < ".repeat(60), " >".repeat(60));
    let mut text = format!("tree t0(l: level) = {};\n", nested("mesh@l"));
    for i in 1..60 {
        let _ = writeln!(
            text,
            "tree t{i}(l: level) = {};",
            nested(&format!("t{}(l)", i - 1))
        );
    }
    text.push_str("topology t { level L0 = all; }\n");
    text.push_str("algorithm Deep : allgather on t using aicpu = t59(L0);\n");
    text.push_str("algorithm Flat : allgather on t using aicpu = t1(L0);\n");
    let (_, diagnostics) = check_text(&text);
    let found: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(found, [codes::E0105]);
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
