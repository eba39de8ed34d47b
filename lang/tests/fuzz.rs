//! Mutated real text: nothing panics, places stay inside the text, the formatter keeps its promises.
//!
//! `COLL_FUZZ_CASES` says how many texts are tried in all; continuous integration tries 100,000.

mod common;

use common::{check_any, corpus};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestError, TestRunner};
use std::sync::LazyLock;

/// The items of the corpus, and some files whole.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut texts = Vec::new();
    for (_, text) in corpus() {
        let split = coll_grammar::split::split(&text);
        texts.extend(
            split
                .chunks
                .iter()
                .map(|c| text[c.range.clone()].to_owned()),
        );
        if text.len() < 2000 {
            texts.push(text);
        }
    }
    texts
});

/// What is put into a text.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    ".",
    "@",
    "=",
    "==",
    "=>",
    "->",
    "..<",
    "..=",
    "..",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&&",
    "|",
    "!",
    "~",
    "\"",
    "'",
    "\\",
    "//",
    "///",
    "//!",
    "/*",
    "*/",
    "/* c */",
    "/** d */",
    "// c\n",
    "/// d\n",
    "//! m\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\0",
    "\u{7f}",
    "\u{202e}",
    "\u{feff}",
    "é",
    "😀",
    "“",
    "1",
    "8x4",
    "5 us",
    "5us",
    "5usec",
    "1e9",
    "99999999999999999999999999999999999999999",
    "\"s\"",
    "\"\\q\"",
    "x",
    "if",
    "else",
    "for",
    "in",
    "not",
    "and",
    "net",
    "let",
    "step",
    "send",
    "recv",
    "slot",
    "slots",
    "sequence <",
    "sequence",
    "parallel",
    "use",
    "private",
    "allow(W0301)",
    "extern",
    "template",
    "algorithm",
    "tree",
    "cost",
    "select",
    "\ntest",
    "\nlet",
    "\nalgorithm x",
    "when",
    "expect",
    "require",
    "native",
];

/// One change of a text, at a place.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, Index),
    /// Takes out from the first place to the next place where a token begins.
    Delete(Index),
    /// Repeats a token.
    Repeat(Index),
    /// Takes out the space before a token.
    Join(Index),
    Truncate(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), index()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        3 => index().prop_map(Change::Delete),
        1 => index().prop_map(Change::Repeat),
        2 => index().prop_map(Change::Join),
        1 => index().prop_map(Change::Truncate),
    ]
}

/// Bytes at which tokens begin: words, runs of space, single characters.
fn token_starts(text: &str) -> Vec<usize> {
    let class = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut starts = vec![0];
    let mut last = 3;
    for (at, c) in text.char_indices() {
        if class(c) == 2 || class(c) != last {
            starts.push(at);
        }
        last = class(c);
    }
    starts.push(text.len());
    starts.dedup();
    starts
}

fn apply(text: &mut String, change: &Change) {
    let starts = token_starts(text);
    let place = |index: &Index| {
        let n = index.index(starts.len());
        (starts[n], starts.get(n + 1).copied().unwrap_or(text.len()))
    };
    match change {
        Change::Insert(at, piece) => {
            let (at, _) = place(at);
            text.insert_str(at, PIECES[piece.index(PIECES.len())]);
        }
        Change::Delete(at) => {
            let (from, to) = place(at);
            text.replace_range(from..to, "");
        }
        Change::Repeat(at) => {
            let (from, to) = place(at);
            let token = text[from..to].to_owned();
            text.insert_str(from, &token);
        }
        Change::Join(at) => {
            let (at, _) = place(at);
            let from = text[..at].trim_end().len();
            text.replace_range(from..at, "");
        }
        Change::Truncate(at) => {
            let (at, _) = place(at);
            text.truncate(at);
        }
    }
}

fn mutated() -> impl Strategy<Value = String> {
    let two = prop::collection::vec(any::<Index>(), 1..3);
    (two, prop::collection::vec(change(), 1..6)).prop_map(|(parts, changes)| {
        let parts: Vec<&str> = parts.iter().map(|part| part.get(&TEXTS).as_str()).collect();
        let mut text = parts.join("\n\n");
        for change in &changes {
            apply(&mut text, change);
        }
        text
    })
}

/// Sound text with other space and more comments.
fn disarranged() -> impl Strategy<Value = String> {
    let gaps = [
        "",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\n\n\n",
        " /* c */ ",
        "/* c */",
        " // c\n",
        "\n// c\n",
        "\n\n// c\n\n",
        "\n/* c\n   d */\n",
        "\n/* c */ ",
        " /* c */\n",
        " /// d\n",
        "\r\n",
        "\t",
    ];
    let gap = (0..gaps.len() * 3).prop_map(move |n| gaps.get(n).copied());
    (any::<Index>(), prop::collection::vec(gap, 1..80)).prop_map(|(item, gaps)| {
        let text = item.get(&TEXTS);
        let mut out = String::new();
        let starts = token_starts(text);
        let mut gaps = gaps.iter().cycle();
        for token in starts.windows(2).map(|w| &text[w[0]..w[1]]) {
            let is_space = token.trim().is_empty();
            match gaps.next() {
                Some(Some(gap)) if is_space && !(gap.is_empty()) => out.push_str(gap),
                _ => out.push_str(token),
            }
        }
        out
    })
}

fn cases() -> u32 {
    std::env::var("COLL_FUZZ_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2_000)
}

fn run(cases: u32, texts: impl Strategy<Value = String>) {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&texts, |text| {
        check_any(&text);
        Ok(())
    });
    if let Err(TestError::Fail(reason, text)) = result {
        panic!("{reason}\nof the text {:?}", smallest(text));
    }
}

/// The text without everything that can be left out while a check still fails.
fn smallest(mut text: String) -> String {
    let fails = |text: &str| std::panic::catch_unwind(|| check_any(text)).is_err();
    let mut size = text.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < text.len() {
            let end = (at + size).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                let shorter = format!("{}{}", &text[..at], &text[end..]);
                if fails(&shorter) {
                    text = shorter;
                    continue;
                }
            }
            at += size;
        }
        size /= 2;
    }
    text
}

#[test]
fn mutated_text_breaks_nothing() {
    run(cases() / 2, mutated());
}

#[test]
fn disarranged_text_breaks_nothing() {
    run(cases() / 2, disarranged());
}
