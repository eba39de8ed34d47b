//! Cutting files into items.

use coll_grammar::split::{CommentKind, LexProblem, Split, split};

/// The text of every chunk.
fn chunks(text: &str) -> Vec<&str> {
    let split = split(text);
    split
        .chunks
        .iter()
        .map(|c| &text[c.range.clone()])
        .collect()
}

fn problems(text: &str) -> Vec<(LexProblem, usize)> {
    let split = split(text);
    split
        .problems
        .iter()
        .map(|(p, at)| (*p, at.start))
        .collect()
}

#[test]
fn keywords_are_sorted_for_the_search_in_them() {
    use coll_grammar::words::{ITEM_KEYWORDS, MARGIN_KEYWORDS, RESERVED};
    assert!(ITEM_KEYWORDS.is_sorted());
    let is_item = |word: &&str| ITEM_KEYWORDS.contains(word);
    assert!(MARGIN_KEYWORDS.iter().all(|word| is_item(&word)));
    assert!(ITEM_KEYWORDS.iter().all(|word| RESERVED.contains(word)));
}

#[test]
fn items_end_with_their_semicolon_or_block() {
    let text =
        "use a.{b, c}; let x = if a { 1 } else { 2 };\ncluster c { net 0: 8; } tree t = mesh@L0;";
    assert_eq!(
        chunks(text),
        [
            "use a.{b, c};",
            "let x = if a { 1 } else { 2 };",
            "cluster c { net 0: 8; }",
            "tree t = mesh@L0;"
        ]
    );
    let trees = "algorithm a : send = parallel < f({1}): sequence < a; b >; c >; algorithm b : send { tree native; }\n\
                 template t : gather = reverse scatter.t; template u : gather { step { } }";
    assert_eq!(chunks(trees).len(), 4);
}

#[test]
fn prefixes_belong_to_the_item_behind_them() {
    let text = "allow(W0301)\nprivate algorithm a : send = native;\nextern template t : gather;";
    let split = split(text);
    let keywords: Vec<_> = split.chunks.iter().map(|c| c.keyword).collect();
    assert_eq!(keywords, [Some("algorithm"), Some("template")]);
    assert!(text[split.chunks[0].range.clone()].ends_with("= native;"));
}

#[test]
fn a_keyword_begins_an_item_though_the_last_one_has_no_end() {
    assert_eq!(chunks("use a\nuse b;"), ["use a", "use b;"]);
    assert_eq!(
        chunks("let x = (1 + 2;\nlet y = [3;\nlet z = 4);\nuse b;").len(),
        4
    );
    assert_eq!(
        chunks("algorithm a : send = sequence < x; y;\nuse b;").len(),
        2
    );
    // An open parenthesis ends where a line begins with a keyword.
    assert_eq!(chunks("tree a = x(1,\n\ntree b = y(\nuse c;").len(), 3);
    assert_eq!(chunks("tree a(t: template,\n    l: level) = x;").len(), 1);
    // A name behind a dot is no keyword.
    assert_eq!(chunks("use a.test.select;").len(), 1);
}

#[test]
fn stray_text_is_a_chunk_of_its_own() {
    let text = "use a;\nstray ( text;\nmore { of; it } use b;\n;";
    let split = split(text);
    let kinds: Vec<_> = split.chunks.iter().map(|c| c.keyword).collect();
    assert_eq!(kinds, [Some("use"), None, Some("use"), None]);
    assert_eq!(
        &text[split.chunks[1].range.clone()],
        "stray ( text;\nmore { of; it }"
    );
}

#[test]
fn text_behind_an_item_on_its_line_or_further_in_belongs_to_it() {
    let text =
        "algorithm a : send; using x\n    = sequence < a;\n    b >;\nuse b; ;\ncluster c { };";
    assert_eq!(
        chunks(text),
        [
            "algorithm a : send; using x\n    = sequence < a;\n    b >;",
            "use b; ;",
            "cluster c { };"
        ]
    );
}

#[test]
fn comments_belong_to_the_item_below_or_on_their_line() {
    let text = "// top\n//! file\n\n// a\n/// docs\nuse a; // behind\n// b\n/* c */ use b; /* d */ use c; /* e */\n// tail";
    let split = split(text);
    assert_eq!(split.header, Some(0..15));
    assert_eq!(split.header_comments, 2);
    assert_eq!(
        chunks(text),
        [
            "// a\n/// docs\nuse a; // behind",
            "// b\n/* c */ use b;",
            "/* d */ use c; /* e */"
        ]
    );
    let kinds: Vec<_> = split.comments.iter().map(|c| c.kind).collect();
    assert_eq!(
        kinds[..4],
        [
            CommentKind::Line,
            CommentKind::ModuleDoc,
            CommentKind::Line,
            CommentKind::Doc
        ]
    );
    assert_eq!(split.chunks[0].comments, 2..5);
    assert_eq!(split.tail_comments, 9..10);
    assert_eq!(CommentKind::Line, self::split("//// four").comments[0].kind);
}

#[test]
fn strings_and_comments_hide_what_is_in_them() {
    let text = "let a = \"} // \\\" {\"; // { \"\n/* use x; /* { */ */ let b = 2;";
    assert_eq!(chunks(text).len(), 2);
    assert_eq!(problems(text), []);
}

#[test]
fn a_missing_brace_hides_no_later_item() {
    let text = "template t : gather {\n    step {\n        let a = 1;\n}\n\nlet b = 2;\ncost c : gather { }\n/// D.\nuse d;\n";
    let parts = chunks(text);
    assert_eq!(parts.len(), 4, "{parts:?}");
    assert_eq!(parts[3], "/// D.\nuse d;");
    // The brace of `step`, because the one that closes it stands at the margin.
    let step = text.find("{\n        let").unwrap();
    assert_eq!(problems(text), [(LexProblem::UnclosedBrace, step)]);
}

#[test]
fn an_extra_brace_hides_no_later_item() {
    let text = "test \"a\" {\n    run x on y expect exact; }\n    select gather on z expect exact;\n    }\n}\nuse d;\n";
    let parts = chunks(text);
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert_eq!(parts[1], "use d;");
    assert_eq!(problems(text).len(), 1);
    assert_eq!(problems("use a; }\nuse b;"), [(LexProblem::ExtraBrace, 7)]);
}

#[test]
fn only_the_margin_counts_when_braces_do_not_balance() {
    // Indented keywords are statements; `let` at the margin of a text without indentation is one too.
    let text = "template t : gather {\n    let a = 1;\n    tree x;\nuse b;";
    assert_eq!(chunks(text).len(), 2);
    let flat = "template t : gather {\nlet a = 1;\nlet b = 2;\nuse b;";
    assert_eq!(chunks(flat).len(), 2);
}

#[test]
fn limits_are_problems_and_not_crashes() {
    let deep = |open: &str, close: &str, n: usize| {
        format!("let x = {}1{};\nuse a;", open.repeat(n), close.repeat(n))
    };
    for (text, problem) in [
        (deep("(", ")", 100_000), LexProblem::BracketsTooDeep),
        (deep("[", "]", 257), LexProblem::BracketsTooDeep),
        (deep("{", "}", 100_000), LexProblem::BracketsTooDeep),
        (deep("sequence < ", " >", 100_000), LexProblem::TreesTooDeep),
        (deep("/*", "*/", 100_000), LexProblem::CommentsTooDeep),
    ] {
        let split = split(&text);
        assert_eq!(split.problems[0].0, problem);
        assert!(split.problems.len() <= 100);
        assert_eq!(split.chunks.last().unwrap().keyword, Some("use"));
    }
    assert_eq!(problems(&deep("(", ")", 256)), []);
    assert_eq!(problems(&deep("parallel <", ">", 64)), []);
    assert_eq!(problems(&deep("/*", "*/", 64)), []);
}

#[test]
fn control_characters_are_found() {
    use LexProblem::{ControlCharacter, LoneCarriageReturn};
    let text = "let a\0 = 1;\r\n// \u{1b}\r x\n\t\"\u{202e}\u{85}é\u{7f}\"";
    assert_eq!(
        problems(text),
        [
            (ControlCharacter('\0'), 5),
            (ControlCharacter('\u{1b}'), 16),
            (LoneCarriageReturn, 17),
            (ControlCharacter('\u{202e}'), 23),
            (ControlCharacter('\u{85}'), 26),
            (ControlCharacter('\u{7f}'), 30),
        ]
    );
    assert_eq!(problems(&"\0".repeat(1000)).len(), 100);
}

#[test]
fn unclosed_strings_end_with_their_line_and_comments_before_the_next_item() {
    assert_eq!(
        problems("let a = \"x;\nlet b = 2;"),
        [(LexProblem::UnclosedString, 8)]
    );
    let text = "let a = 1; /* open\nstill\nlet b = 2; /* closed */";
    assert_eq!(problems(text), [(LexProblem::UnclosedComment, 11)]);
    assert_eq!(chunks(text).len(), 2);
}

#[test]
fn a_byte_order_mark_is_skipped_once() {
    let text = "\u{feff}use a;";
    assert_eq!(chunks(text), ["use a;"]);
    assert_eq!(split(text).chunks[0].range.start, 3);
    assert_eq!(split("\u{feff}\u{feff}use a;").chunks.len(), 2);
}

#[test]
fn a_file_that_is_too_large_is_not_looked_at() {
    let text = " ".repeat((16 << 20) + 1);
    let expected = Split {
        problems: vec![(LexProblem::FileTooLarge, 0..0)],
        ..Split::default()
    };
    assert_eq!(split(&text), expected);
    assert_eq!(split(&text[1..]).problems, []);
}

#[test]
fn chunks_and_comments_tile_the_text() {
    let text = "//! m\nuse a; x // c\n/* { */ let b = (1; /// d\n}";
    let split = split(text);
    let mut end = split.header.map_or(0, |h| h.end);
    for chunk in &split.chunks {
        assert!(text[end..chunk.range.start].trim().is_empty());
        end = chunk.range.end;
    }
    let tail = &split.comments[split.tail_comments.clone()];
    let end = tail.iter().fold(end, |end, c| {
        assert!(text[end..c.start as usize].trim().is_empty());
        c.end as usize
    });
    assert!(text[end..].trim().is_empty());
}
