//! Random conditions: the guard against an evaluation of the expression as it was made.

use super::super::facts::{CallOn, Depth};
use super::super::guard::Truth;
use super::{call, clean};
use crate::check::parse_shape;
use proptest::prelude::*;

/// A number over `ranks`, `nets` and constants.
#[derive(Clone, Debug)]
enum Num {
    Const(i64),
    Ranks,
    Nets,
    Add(Box<Num>, Box<Num>),
    Sub(Box<Num>, Box<Num>),
    Mul(Box<Num>, Box<Num>),
    Max(Box<Num>, Box<Num>),
    If(Box<Cond>, Box<Num>, Box<Num>),
}

/// A condition.
#[derive(Clone, Debug)]
enum Cond {
    Less(Num, Num),
    Equal(Num, Num),
    In(Num, Vec<Num>),
    Between(Num, Num, Num),
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
}

impl Num {
    fn value(&self, ranks: i64, nets: i64) -> i64 {
        let v = |n: &Self| n.value(ranks, nets);
        match self {
            Self::Const(c) => *c,
            Self::Ranks => ranks,
            Self::Nets => nets,
            Self::Add(a, b) => v(a) + v(b),
            Self::Sub(a, b) => v(a) - v(b),
            Self::Mul(a, b) => v(a) * v(b),
            Self::Max(a, b) => v(a).max(v(b)),
            Self::If(c, a, b) => match c.holds(ranks, nets) {
                true => v(a),
                false => v(b),
            },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Const(c) if *c < 0 => format!("(0 - {})", -c),
            Self::Const(c) => c.to_string(),
            Self::Ranks => "ranks".to_owned(),
            Self::Nets => "nets".to_owned(),
            Self::Add(a, b) => format!("({} + {})", a.text(), b.text()),
            Self::Sub(a, b) => format!("({} - {})", a.text(), b.text()),
            Self::Mul(a, b) => format!("({} * {})", a.text(), b.text()),
            Self::Max(a, b) => format!("max({}, {})", a.text(), b.text()),
            Self::If(c, a, b) => {
                format!(
                    "(if {} {{ {} }} else {{ {} }})",
                    c.text(),
                    a.text(),
                    b.text()
                )
            }
        }
    }
}

impl Cond {
    fn holds(&self, ranks: i64, nets: i64) -> bool {
        let v = |n: &Num| n.value(ranks, nets);
        match self {
            Self::Less(a, b) => v(a) < v(b),
            Self::Equal(a, b) => v(a) == v(b),
            Self::In(a, set) => set.iter().any(|e| v(e) == v(a)),
            Self::Between(a, first, last) => v(first) <= v(a) && v(a) < v(last),
            Self::Not(c) => !c.holds(ranks, nets),
            Self::And(a, b) => a.holds(ranks, nets) && b.holds(ranks, nets),
            Self::Or(a, b) => a.holds(ranks, nets) || b.holds(ranks, nets),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Less(a, b) => format!("({} < {})", a.text(), b.text()),
            Self::Equal(a, b) => format!("({} == {})", a.text(), b.text()),
            Self::In(a, set) => {
                let set: Vec<String> = set.iter().map(Num::text).collect();
                format!("({} in {{{}}})", a.text(), set.join(", "))
            }
            Self::Between(a, first, last) => {
                format!("({} in {} ..< {})", a.text(), first.text(), last.text())
            }
            Self::Not(c) => format!("(not {})", c.text()),
            Self::And(a, b) => format!("({} and {})", a.text(), b.text()),
            Self::Or(a, b) => format!("({} or {})", a.text(), b.text()),
        }
    }
}

fn num() -> BoxedStrategy<Num> {
    let leaf = prop_oneof![
        (-4i64..40).prop_map(Num::Const),
        Just(Num::Ranks),
        Just(Num::Nets)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            two().prop_map(|(a, b)| Num::Add(a.into(), b.into())),
            two().prop_map(|(a, b)| Num::Sub(a.into(), b.into())),
            two().prop_map(|(a, b)| Num::Mul(a.into(), b.into())),
            two().prop_map(|(a, b)| Num::Max(a.into(), b.into())),
            (inner.clone(), inner.clone(), two()).prop_map(|(x, y, (a, b))| Num::If(
                Cond::Less(x, y).into(),
                a.into(),
                b.into()
            )),
        ]
    })
    .boxed()
}

fn cond() -> BoxedStrategy<Cond> {
    let leaf = prop_oneof![
        (num(), num()).prop_map(|(a, b)| Cond::Less(a, b)),
        (num(), num()).prop_map(|(a, b)| Cond::Equal(a, b)),
        (num(), prop::collection::vec(num(), 1..4)).prop_map(|(a, set)| Cond::In(a, set)),
        (num(), num(), num()).prop_map(|(a, b, c)| Cond::Between(a, b, c)),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|c| Cond::Not(c.into())),
            two().prop_map(|(a, b)| Cond::And(a.into(), b.into())),
            two().prop_map(|(a, b)| Cond::Or(a.into(), b.into())),
        ]
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn guards_mean_what_the_expression_means(condition in cond()) {
        let library = clean(&format!(
            "topology t {{ level L0 = all; }}\n\
             algorithm A : allreduce on t using aicpu {{ prefer {}; tree mesh@L0; }}\n",
            condition.text()
        ));
        let found = library.algorithms.iter().find(|a| a.declared.name == "A").unwrap();
        let guard = &found.prefers[0].guard;
        for nets in 1..4usize {
            let mut outcomes = Vec::new();
            for outer in [1u32, 2, 3, 8, 33] {
                let mut sizes = vec!["1"; nets - 1];
                let outer = outer.to_string();
                sizes.push(&outer);
                let cluster = parse_shape(&sizes.join("x")).unwrap();
                let expected = condition.holds(cluster.ranks() as i64, nets as i64);
                let facts = CallOn { cluster: &cluster, call: Some(call()) };
                prop_assert_eq!(guard.holds(&facts), Ok(expected), "{}", condition.text());
                outcomes.push(expected);
            }
            // What is said without knowing the ranks is true for every number of them.
            match guard.possible(&Depth(nets as u32)) {
                Truth::Yes => prop_assert!(outcomes.iter().all(|o| *o)),
                Truth::No => prop_assert!(outcomes.iter().all(|o| !*o)),
                Truth::Unknown => {}
            }
        }
    }
}
