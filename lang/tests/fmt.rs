//! The formatter: one layout, stable, nothing lost.

mod common;

use coll_lang::syntax::print::{FormatError, format_file, format_item};
use common::{check_format, corpus};

/// Formats `text`, checks that the result stays as it is and is `expected`.
fn formats(text: &str, expected: &str) {
    check_format(text);
    let formatted = format_file(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(formatted, expected, "formatted:\n{formatted}");
}

#[test]
fn every_corpus_file_keeps_its_meaning_and_comments() {
    for (name, text) in corpus() {
        let formatted = format_file(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            formatted.ends_with('\n') && !formatted.ends_with("\n\n"),
            "{name}"
        );
        assert!(formatted.lines().all(|l| l.trim_end() == l), "{name}");
        check_format(&text);
        check_format(&text.replace('\n', "\r\n"));
        check_format(&text.replace('\n', "\n\n\n"));
    }
}

#[test]
fn what_fits_stands_on_one_line_and_what_does_not_is_broken_from_outside() {
    formats(
        "algorithm A:allgather on t using aicpu=sequence<mesh@L1;nhr@L0;>;",
        "algorithm A : allgather on t using aicpu = sequence < mesh@L1; nhr@L0 >;\n",
    );
    formats(
        "algorithm AlgorithmWithALongName : allgather on some.long_topology using aicpu, aiv = sequence < mesh@L1; nhr@L0 >;",
        "algorithm AlgorithmWithALongName : allgather on some.long_topology using aicpu, aiv\n    \
         = sequence < mesh@L1; nhr@L0 >;\n",
    );
    formats(
        "tree t = sequence < parallel < 2: reducescatter.mesh@L0; 1: reducescatter.nhr@L1 >; parallel < 2: allgather.nhr@L1; 1: allgather.mesh@L0 > >;",
        "tree t\n    = sequence <\n        parallel < 2: reducescatter.mesh@L0; 1: reducescatter.nhr@L1 >;\n        \
         parallel < 2: allgather.nhr@L1; 1: allgather.mesh@L0 >\n    >;\n",
    );
    formats(
        "algorithm AlgorithmWithAnEvenLongerName : reducescatterv on some.even.longer_topology using aicpu, aiv, ccu_ms = native;",
        "algorithm AlgorithmWithAnEvenLongerName : reducescatterv on some.even.longer_topology\n    \
         using aicpu, aiv, ccu_ms\n    = native;\n",
    );
}

#[test]
fn expressions_break_before_the_loosest_operators() {
    formats(
        "let x = first_condition and second_condition(with, arguments) or third_condition and fourth_condition == 5;",
        "let x = first_condition and second_condition(with, arguments)\n    \
         or third_condition and fourth_condition == 5;\n",
    );
    formats(
        "let x = call(some_long_argument + another_long_argument, some_long_argument * another_long_argument, 3,);",
        "let x = call(\n    some_long_argument + another_long_argument,\n    \
         some_long_argument * another_long_argument,\n    3\n);\n",
    );
    formats(
        "let x=-a*(b+ c)<<2 in 1..<n;let y=if a{1}else if b{2}else{3};",
        "let x = -a * (b + c) << 2 in 1 ..< n;\nlet y = if a { 1 } else if b { 2 } else { 3 };\n",
    );
}

#[test]
fn use_lists_are_filled() {
    formats(
        "use std.topology.{concurrent, four_level, gcd_two_level, one_level, squeezed, three_level, two_level as two,};",
        "use std.topology.{\n    concurrent, four_level, gcd_two_level, one_level, squeezed, three_level, \
         two_level as two\n};\n",
    );
}

#[test]
fn blocks_stand_on_lines_of_their_own() {
    formats(
        "template t:gather{step s in 0..<n{send slot me to root;}if a{}else if b{let c=1;}else{}}",
        "template t : gather {\n    step s in 0 ..< n {\n        send slot me to root;\n    }\n    \
         if a {} else if b {\n        let c = 1;\n    } else {}\n}\n",
    );
    formats(
        "cluster c {\n\n\n    device a;\n\n\n    net 0: 8;\n    net 1: 2 {}\n\n}",
        "cluster c {\n    device a;\n\n    net 0: 8;\n    net 1: 2 {}\n}\n",
    );
}

#[test]
fn items_are_one_empty_line_apart_and_short_ones_of_a_kind_may_touch() {
    formats(
        "use a;\nuse b;\n\n\nuse c;\nlet x = 1;\nlet y = 2;\n/// D.\nlet z = 3;\nlet u = 4; topology t {} topology v {}",
        "use a;\nuse b;\n\nuse c;\n\nlet x = 1;\nlet y = 2;\n\n/// D.\nlet z = 3;\n\nlet u = 4;\n\n\
         topology t {}\ntopology v {}\n",
    );
    formats("", "");
    formats("\n\n", "");
    formats(
        "// only\n\n\n\n/* comments */",
        "// only\n\n/* comments */\n",
    );
    formats(
        "//! docs\nuse a;\n\n\n// end",
        "//! docs\n\nuse a;\n\n// end\n",
    );
    formats("use a; // behind\n// end", "use a;  // behind\n// end\n");
}

#[test]
fn comments_stay_between_the_tokens_they_stand_between() {
    formats(
        "let a = 1 // one\n + /* two */ 2 // end\n;\n// next\nlet b = 1;",
        "let a = 1  // one\n    + /* two */ 2;  // end\n\n// next\nlet b = 1;\n",
    );
    formats(
        "template t : gather { // open\n// first\n\nlet a = 1; /* behind */ // twice\n\n// last\n}",
        "template t : gather {  // open\n    // first\n\n    let a = 1; /* behind */  // twice\n\n    // last\n}\n",
    );
    formats(
        "tree t = sequence < a; // a\n// b\nb /* c */ ; >;",
        "tree t\n    = sequence <\n        a;  // a\n        // b\n        b /* c */\n    >;\n",
    );
    for text in [
        "let a = f(/* no arguments */);\n",
        "let a = f(/* one */ b, c /* two */);\n",
        "let a = (/* one */ b /* two */)[/* three */ 1];\n",
    ] {
        formats(text, text);
    }
    formats(
        "/// One\n\n/// Two\n\nlet a = 1;",
        "/// One\n/// Two\nlet a = 1;\n",
    );
    formats(
        "cluster c { net 0: 1 /* x */ ; net 1: 2\n// y\n; }",
        "cluster c {\n    net 0: 1; /* x */\n    net 1: 2\n    // y\n    ;\n}\n",
    );
}

#[test]
fn items_with_errors_stay_as_they_are_and_others_do_not() {
    formats(
        "let  a=1;\nalgorithm   B :  x  y ;\nlet  c=3;\nstray   text\nlet d=4;",
        "let a = 1;\n\nalgorithm   B :  x  y ;\n\nlet c = 3;\n\nstray   text\n\nlet d = 4;\n",
    );
    formats(
        "template t : gather {\n  sned x;\n      let a=1;\n}\nuse   a;",
        "template t : gather {\n  sned x;\n      let a=1;\n}\n\nuse a;\n",
    );
}

#[test]
fn a_file_whose_braces_do_not_balance_stays_as_it_is() {
    let text = "use   a;\ncluster c {\nuse   b;\n";
    formats(text, text);
}

#[test]
fn line_ends_and_byte_order_marks() {
    formats("use a;\r\nuse  b;\r\n", "use a;\r\nuse b;\r\n");
    formats("use a;\nuse  b;\r\n", "use a;\nuse b;\n");
    formats("\u{feff}use  a;", "use a;\n");
    formats("\n\n\u{feff}", "\n\u{feff}\n");
}

#[test]
fn one_item_alone() {
    assert_eq!(format_item("  use   a ;\n").as_deref(), Ok("use a;"));
    assert_eq!(format_item("use   a").as_deref(), Ok("use   a"));
    let long = " ".repeat(17 << 20);
    assert_eq!(format_file(&long), Err(FormatError::Unparsable));
}
