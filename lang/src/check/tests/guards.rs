//! Conditions and what they make of facts.

use super::super::facts::{CallOn, Depth, Fact, Facts, NoFacts};
use super::super::guard::{EvalError, Guard, Truth};
use super::super::value::{Value, show};
use super::{algorithm, call, clean};
use crate::check::parse_shape;
use crate::library::{CallFacts, Library};
use coll_grammar::words::Operation;

/// The guard of `require CONDITION;` in an all-reduce.
fn guard(condition: &str) -> (Library, Guard) {
    let library = clean(&format!(
        "use std.topology.one_level;\ncluster c {{ net 0: 4; fact dies = 2; }}\n\
         algorithm A : allreduce on one_level using aicpu {{\n require {condition};\n tree mesh@L0;\n}}\n"
    ));
    let guard = algorithm(&library, "A").requires[0].guard.clone();
    (library, guard)
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
