//! The parser: every construct, recovery, messages, limits.

mod common;

use coll_lang::parse::{ItemCache, parse_file, parse_file_cached, parse_item};
use coll_lang::syntax::ast::{
    AlgorithmStmt, BinaryOp, Expr, ExprKind, ItemKind, TemplateBody, TemplateStmtKind, TreeKind,
};
use common::{corpus, findings, messages};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn kind(text: &str) -> ItemKind {
    let parsed = parse_item(text);
    assert_eq!(parsed.errors, [], "{text}");
    parsed.item.kind
}

fn value(text: &str) -> Expr {
    match kind(&format!("let x = {text};")) {
        ItemKind::Let(it) => it.value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_construct_parses() {
    for (name, text) in corpus() {
        let file = parse_file(&text);
        assert!(findings(&file).is_empty(), "{name}: {:?}", messages(&text));
        assert!(file.docs.is_some(), "{name}");
    }
}

#[test]
fn places_and_documentation() {
    let text = "//! File.\n//!\n//! More.\n\n// c\n/// First\n///  second\nprivate let x = a.b;\n";
    let file = parse_file(text);
    assert_eq!(file.docs.as_deref(), Some("File.\n\nMore."));
    let placed = &file.items[0];
    let item = &placed.item.item;
    assert_eq!(item.docs.as_deref(), Some("First\n second"));
    assert!(item.private);
    let at = |span: coll_lang::source::Span| {
        &text[placed.offset as usize..][span.start as usize..span.end as usize]
    };
    assert_eq!(at(item.span), "private let x = a.b;");
    let ItemKind::Let(it) = &item.kind else {
        panic!("{item:?}")
    };
    assert_eq!((at(it.name.span), at(it.value.span)), ("x", "a.b"));
    let ExprKind::Path(path) = &it.value.kind else {
        panic!("{it:?}")
    };
    assert_eq!(at(path.parts[1].span), "b");
}

/// The expression with all its operators in parentheses.
fn shape(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Binary {
            op, left, right, ..
        } => format!("({} {op:?} {})", shape(left), shape(right)),
        ExprKind::Unary { op, operand } => format!("({op:?} {})", shape(operand)),
        ExprKind::Number { text, .. } => text.to_string(),
        ExprKind::Path(path) => path.parts[0].text.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_they_should() {
    for (text, expected) in [
        ("a or b and c", "(a Or (b And c))"),
        ("not a == b and c", "((Not (a Eq b)) And c)"),
        ("a in 1 ..< b + 1", "(a In (1 RangeOpen (b Add 1)))"),
        ("a not  in b", "(a NotIn b)"),
        ("a - b - c * d", "((a Sub b) Sub (c Mul d))"),
        ("-a * b", "((Neg a) Mul b)"),
        (
            "~a & b | c ^ d",
            "(((Complement a) BitAnd b) BitOr (c BitXor d))",
        ),
        ("1 << a - 1 - b", "(1 Shl ((a Sub 1) Sub b))"),
        ("a < b == c", "((a Lt b) Eq c)"),
        ("- - 2", "(Neg (Neg 2))"),
        ("a == not b", "(a Eq (Not b))"),
    ] {
        let parsed = parse_item(&format!("let x = {text};"));
        let ItemKind::Let(it) = &parsed.item.kind else {
            panic!("{parsed:?}")
        };
        assert_eq!(shape(&it.value), expected);
        assert_eq!(parsed.is_sound(), !text.contains("b == c"), "{text}");
    }
    assert_eq!(
        messages("let x = a < b <= c;"),
        ["1:15 E0101 comparisons do not chain"]
    );
    assert_eq!(
        messages("let x = 1 ..< 2 ..= 3;"),
        ["1:17 E0101 ranges do not chain"]
    );
}

#[test]
fn literals_keep_their_spelling() {
    for (text, spelling) in [
        ("64KiB", "64KiB"),
        ("56 GB/s", "56 GB/s"),
        ("1_000", "1_000"),
        ("2.755%", "2.755%"),
        ("1e-6", "1e-6"),
        ("4 Mi", "4 Mi"),
    ] {
        let ExprKind::Number { text, .. } = value(text).kind else {
            panic!("{text}")
        };
        assert_eq!(text, spelling);
    }
    assert!(matches!(value("8x4x2").kind, ExprKind::Shape(s) if s == "8x4x2"));
    assert!(matches!(value("[8, 8,7]x3").kind, ExprKind::Shape(_)));
    assert!(matches!(value("[8, 8, 7]").kind, ExprKind::List(l) if l.len() == 3));
    // A unit ends where a word goes on.
    let ExprKind::Binary { op, .. } = value("56 GB/share").kind else {
        panic!()
    };
    assert_eq!(op, BinaryOp::Div);
    let ExprKind::Str(text) = value(r#""a\"\\\n\t\u{1F600}é""#).kind else {
        panic!()
    };
    assert_eq!(text, "a\"\\\n\t😀é");
}

#[test]
fn trees() {
    let ItemKind::Algorithm(it) = kind(
        "algorithm A : allreduce on t using aicpu = parallel < 2 * ports(L0): reducescatter.nhr@L1; \
         sequence < for l in reverse L1..<top: mesh@l; assert own(L0, L1), all(L2); named(3) > >;",
    ) else {
        panic!()
    };
    let AlgorithmStmt::Tree(tree) = &it.body[0] else {
        panic!("{it:?}")
    };
    let TreeKind::Parallel(children) = &tree.kind else {
        panic!("{tree:?}")
    };
    assert!(children[0].weight.is_some() && children[1].weight.is_none());
    assert!(matches!(&children[0].tree.kind,
        TreeKind::Leaf { name, level, .. } if name.parts.len() == 2 && level.text == "L1"));
    let TreeKind::Sequence(inner) = &children[1].tree.kind else {
        panic!("{children:?}")
    };
    assert!(matches!(&inner[0].kind,
        TreeKind::For { reverse: true, inclusive: false, first, .. } if first.text == "L1"));
    assert!(matches!(&inner[1].kind, TreeKind::Assert(sets) if sets[0].levels.len() == 2));
    assert!(matches!(&inner[2].kind, TreeKind::Call { args: Some(args), .. } if args.len() == 1));
}

#[test]
fn ten_broken_items_give_ten_messages_and_spare_the_others() {
    let broken = [
        (
            "algorithm B1 allgather on t using aicpu = mesh@L0;",
            "E0101 expected `:` and the operation, found `allgather`",
        ),
        (
            "algorithm B2 : allgather on t using aicpu = sequence < mesh@L0, nhr@L1 >;",
            "E0101 the children of a tree are separated by `;`",
        ),
        (
            "template b3 : allgather { step { send slot me too p; } }",
            "E0101 expected `piece` or `to`, found `too`",
        ),
        (
            "template b4 : allgather { let step = 3; }",
            "E0108 `step` is a reserved word and cannot be a name",
        ),
        (
            "cluster b5 { net 0: 8 { plane a = mesh1d 5 GB/s 3 usec; } }",
            "E0106 `usec` is no unit",
        ),
        (
            "topology b6 { level L0 = nett 0; }",
            "E0101 expected `net`, `gcd(net …)`, `rest` or `all`, found `nett`",
        ),
        (
            "select gather using aicpu { when nets = 4 => X; }",
            "E0101 `=` defines, it does not compare",
        ),
        (
            "fallback a => b;",
            "E0101 a chain of engines is written with `->`",
        ),
        ("let b9 = (1 + 2;", "E0101 expected `)`, found `;`"),
        (
            "algoritm B10 : send = native;",
            "E0101 expected an item, found `algoritm`",
        ),
    ];
    let sound = "/// Sound.\nalgorithm S : allgather on t using aicpu = mesh@L0;";
    let mut text = format!("{sound}\n");
    for (item, _) in broken {
        text += &format!("{item}\n{sound}\n");
    }
    let file = parse_file(&text);
    let said: Vec<String> = findings(&file)
        .iter()
        .map(|(_, e)| format!("{} {}", e.code, e.message))
        .collect();
    assert_eq!(said, broken.map(|(_, message)| message));
    let alone = parse_item(sound);
    let same = file.items.iter().filter(|i| *i.item == alone).count();
    assert_eq!(same, broken.len() + 1);
}

#[test]
fn a_broken_statement_spares_its_neighbours() {
    let ItemKind::Template(it) = parse_item(
        "template t : gather { let a = 1; sned slot me to p; step { send slot me; recv slot p from p; } \
         if a { let b = 2; } x { y; z } for p in peers { } }",
    )
    .item
    .kind
    else {
        panic!()
    };
    let TemplateBody::Block(body) = &it.body else {
        panic!("{it:?}")
    };
    let broken: Vec<bool> = body
        .iter()
        .map(|s| matches!(s.kind, TemplateStmtKind::Error))
        .collect();
    assert_eq!(broken, [false, true, false, false, true, false]);
    let TemplateStmtKind::Step { body, .. } = &body[2].kind else {
        panic!("{body:?}")
    };
    assert!(matches!(body[0].kind, TemplateStmtKind::Error));
    assert!(matches!(body[1].kind, TemplateStmtKind::Recv { .. }));
}

#[test]
fn what_is_left_out_is_said_once_and_can_be_put_in() {
    for (text, fixed) in [
        ("let a = 1", "let a = 1;"),
        (
            "algorithm A : send on t { tree mesh@L0 cost { } }",
            "algorithm A : send on t { tree mesh@L0; cost { } }",
        ),
        (
            "algorithm A : send = sequence < a; b;",
            "algorithm A : send = sequence < a; b >;",
        ),
        ("tree t = parallel a; b >;", "tree t = parallel < a; b >;"),
        (
            "template t : gather { step { let a = 1 } }",
            "template t : gather { step { let a = 1; } }",
        ),
        ("let a = b && c;", "let a = b and c;"),
        ("let a = \"x\ny;", "let a = \"x\"\ny;"),
        ("tree t = sequence < a, b >;", "tree t = sequence < a; b >;"),
        ("let a == 1;", "let a = 1;"),
        ("let a = 5 usec;", "let a = 5 us;"),
        ("let a = 5 Gbps;", "let a = 5 GB/s;"),
        (
            "algorithm A : send usng aicpu = native;",
            "algorithm A : send using aicpu = native;",
        ),
        ("let a = “;", "let a = \";"),
        ("cluster c { };", "cluster c { }"),
        ("/// docs", "// docs"),
    ] {
        let file = parse_file(text);
        let errors = findings(&file);
        assert_eq!(errors.len(), 1, "{text}: {:?}", messages(text));
        let offset = errors[0].0 - errors[0].1.span.start;
        let fix = errors[0].1.fix.clone().unwrap_or_else(|| panic!("{text}"));
        let mut after = text.to_owned();
        for (span, by) in fix.edits.iter().rev() {
            let (start, end) = ((offset + span.start) as usize, (offset + span.end) as usize);
            after.replace_range(start..end, by);
        }
        assert_eq!(after.trim_end(), fixed);
    }
}

#[test]
fn faults_of_the_text_are_said_with_their_place() {
    for (text, expected) in [
        (
            "let a = 1; /* x\nuse b;",
            vec!["1:12 E0107 this comment is never closed"],
        ),
        (
            "let a = \"x;\nuse b;",
            vec!["1:9 E0107 this string is not closed on its line"],
        ),
        ("let a = \"\\q\";", vec!["1:10 E0110 `\\q` is no escape"]),
        (
            "let a\0 = 1;",
            vec!["1:6 E0104 the control character U+0000 cannot stand in a file"],
        ),
        (
            "let a = 1;\rlet b = 2;",
            vec!["1:11 E0104 a carriage return stands without a newline"],
        ),
        (
            "use a;\n/// x\n",
            vec!["2:1 E0109 `///` documents an item, and none follows"],
        ),
        (
            "/// x\n//! y\nuse a;",
            vec!["1:1 E0109 `///` documents an item, and none follows"],
        ),
        (
            "use a;\n\u{feff}",
            vec!["2:1 E0104 the control character U+FEFF cannot stand in a file"],
        ),
        (
            "use a;\n//! x\nuse b;",
            vec!["2:1 E0109 `//!` documents the file, and stands above all items"],
        ),
        (
            "topology t {\n/// x\nlevel L = all; }",
            vec!["2:1 E0109 `///` documents an item, and none follows"],
        ),
        (
            "cluster c {\n    net 0: 8 {\n}\nuse a;",
            vec!["2:14 E0107 this `{` is never closed"],
        ),
        (
            "cluster c { } }\nuse a;",
            vec!["1:15 E0101 this `}` closes too much"],
        ),
        (
            "let a = 1e99;",
            vec![
                "1:9 E0106 `1e99` is no number: the number has more digits than an exact number can hold",
            ],
        ),
        ("let näme = 1;", vec!["1:6 E0101 `ä` cannot stand here"]),
        ("private", vec!["1:1 E0101 no item follows `private`"]),
        (
            "let a = 1;\r\nlet b = ;\r\n",
            vec!["2:9 E0101 expected a value, found `;`"],
        ),
        (
            "\u{feff}let é = 1;",
            vec!["1:6 E0101 `é` cannot stand here"],
        ),
    ] {
        assert_eq!(messages(text), expected, "{text:?}");
    }
}

#[test]
fn a_name_that_could_be_read_is_kept_of_a_broken_item() {
    for (text, keyword, name) in [
        ("algorithm A : = x;", Some("algorithm"), Some("A")),
        (
            "private extern template mesh allgather;",
            Some("template"),
            Some("mesh"),
        ),
        ("let = 3;", Some("let"), None),
        ("test x {}", Some("test"), None),
        ("tre x = y;", None, None),
    ] {
        let ItemKind::Error {
            keyword: found,
            name: found_name,
        } = parse_item(text).item.kind
        else {
            panic!("{text}")
        };
        assert_eq!(found.as_deref(), keyword);
        assert_eq!(found_name.map(|n| n.text.to_string()).as_deref(), name);
    }
}

#[test]
fn only_what_changed_is_parsed_again() {
    let (before, after) = (
        "use a;\n\nuse b;\nlet c = 1;",
        "use a;\nuse bb;\n\n\nlet c = 1;",
    );
    let mut cache = ItemCache::default();
    let first = parse_file_cached(before, &mut cache);
    let second = parse_file_cached(after, &mut cache);
    let kept: Vec<bool> = second
        .items
        .iter()
        .map(|i| first.items.iter().any(|j| Arc::ptr_eq(&i.item, &j.item)))
        .collect();
    assert_eq!(kept, [true, false, true]);
    assert_eq!(second.items[2].offset, 17);
    let fresh = parse_file(after);
    let same = |(a, b): (&_, &_)| coll_lang_items_equal(a, b);
    assert!(second.items.iter().zip(&fresh.items).all(same));
}

fn coll_lang_items_equal(
    a: &coll_lang::parse::PlacedItem,
    b: &coll_lang::parse::PlacedItem,
) -> bool {
    a.offset == b.offset && a.item == b.item
}

#[test]
fn nesting_has_limits_and_no_crash() {
    let nested = |open: &str, middle: &str, close: &str, n: usize| {
        format!("{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    for (text, code) in [
        (
            format!("let x = {};", nested("(", "1", ")", 100_000)),
            "E0105",
        ),
        (
            format!("let x = {};", nested("{", "1", "}", 100_000)),
            "E0105",
        ),
        (
            format!("let x = {};", nested("f(", "1", ")", 100_000)),
            "E0105",
        ),
        (
            format!("tree x = {};", nested("sequence < ", "a", " >", 100_000)),
            "E0105",
        ),
        (
            format!("let x = 1; {}", nested("/*", "", "*/", 100_000)),
            "E0105",
        ),
        (format!("let x = {}1;", "-".repeat(100_000)), "E0105"),
        (format!("let x = 1{};", " + 1".repeat(100_000)), "E0105"),
        (format!("let x = a{};", "[0]".repeat(100_000)), "E0105"),
        (format!("let x = {};", "<".repeat(100_000)), "E0101"),
        (format!("let x = {}", "(".repeat(100_000)), "E0105"),
        (
            format!("tree x = {}", "sequence < ".repeat(100_000)),
            "E0105",
        ),
    ] {
        let file = parse_file(&text);
        let errors = findings(&file);
        assert_eq!(errors[0].1.code.id(), code, "{}", &text[..40]);
        assert!(errors.len() <= 3, "{} {errors:?}", &text[..40]);
        let formatted = coll_lang::syntax::print::format_file(&text);
        assert!(formatted.is_ok(), "{}", &text[..40]);
    }
    for text in [
        format!("let x = {};", nested("(", "1", ")", 250)),
        format!("let x = 1{};", " + 1".repeat(255)),
        format!("tree x = {};", nested("sequence < ", "a", " >", 64)),
        format!(
            "template t : gather {{ {} }}",
            nested("step { ", "", "}", 200)
        ),
        format!(
            "let x = if a {{ 1 }}{} else {{ 2 }};",
            " else if b { 3 }".repeat(10_000)
        ),
    ] {
        assert_eq!(messages(&text), [] as [&str; 0], "{}", &text[..40]);
        common::check_format(&text);
    }
}

/// The best of three runs.
fn time(mut work: impl FnMut()) -> Duration {
    let run = |()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    [(), (), ()].map(run).into_iter().min().unwrap_or_default()
}

/// Parsing must not take exponentially longer the deeper a text is nested: what is twice as long may
/// take twice as long; what tries every level twice takes 256 times as long.
#[test]
fn nesting_does_not_multiply_the_work() {
    let forms: [(usize, &str, &str, &str, &str, &str); 14] = [
        (8, "let x = ", "(", "1", ")", ";"),
        (8, "let x = ", "f(1, ", "1", ")", ";"),
        (8, "let x = ", "{1, ", "1", "}", ";"),
        (8, "let x = ", "[1, ", "1", "]", ";"),
        (8, "let x = ", "a[", "1", "]", ";"),
        (8, "let x = ", "if a { 1 } else { ", "1", " }", ";"),
        (8, "let x = ", "if a { ", "1", " } else { 1 }", ";"),
        (8, "let x = ", "not (1 + ", "1", ")", ";"),
        (8, "tree x = ", "sequence < a; ", "a", " >", ";"),
        (8, "tree x = ", "parallel < 1: a; 2: ", "a", " >", ";"),
        (8, "tree x = ", "t(", "a", ")", "@L0;"),
        (
            5,
            "template t : gather { ",
            "if a { step { ",
            "",
            " } }",
            " }",
        ),
        (
            8,
            "select gather using aicpu { ",
            "when a { ",
            "when a => x;",
            " }",
            " }",
        ),
        (
            5,
            "test \"t\" { ",
            "check { test \"u\" { ",
            "",
            " } } expect x;",
            " }",
        ),
    ];
    for (levels, before, open, middle, close, after) in forms {
        for broken in [false, true] {
            let parse = |n: usize| {
                let close = if broken {
                    String::new()
                } else {
                    close.repeat(n)
                };
                let text = format!("{before}{}{middle}{close}{after}", open.repeat(n));
                time(|| {
                    for _ in 0..20 {
                        std::hint::black_box(parse_file(&text));
                    }
                })
            };
            let (short, long) = (parse(levels), parse(2 * levels));
            assert!(
                long < short * 4 + Duration::from_millis(15),
                "{open} (broken: {broken}): {levels} deep {short:?}, twice as deep {long:?}"
            );
        }
    }
}

#[test]
fn a_cut_file_keeps_the_items_above_the_cut() {
    for (name, text) in corpus() {
        let whole = parse_file(&text);
        let ends: Vec<usize> = whole
            .items
            .iter()
            .map(|i| i.offset as usize + i.item.len as usize)
            .collect();
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            let file = parse_file(&text[..at]);
            // The last of those above the cut may have had a comment behind it that is cut.
            let above = ends.iter().filter(|&&end| end < at).count();
            for (i, item) in whole.items.iter().take(above).enumerate() {
                let found = file.items.get(i).map(|found| &found.item.item.kind);
                assert_eq!(found, Some(&item.item.item.kind), "{name} cut at {at}");
            }
        }
    }
}

#[test]
fn a_large_file_is_refused_at_once() {
    let text = "use a;\n".repeat(50_000_000 / 7);
    let start = Instant::now();
    assert_eq!(
        messages(&text),
        ["1:1 E0102 the file has 49999999 bytes; 16777216 are allowed"]
    );
    assert!(start.elapsed() < Duration::from_secs(1));
}
