//! Checking never panics and always ends, whatever became of a library's text.
//!
//! `COLL_FUZZ_CASES` sets the number of cases.

use coll_lang::check::check;
use coll_lang::resolve::{LoadRequest, load};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The texts of all fixtures.
fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut texts = Vec::new();
        collect(&root, &mut texts);
        texts
    })
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("the fixtures can be read");
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|e| e == "coll") {
            texts.push(std::fs::read_to_string(&path).expect("a fixture can be read"));
        }
    }
}

/// Words and signs of a text; putting them together again gives the text.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, tail) = rest.split_at(len);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

/// The tokens of all fixtures but spaces.
fn pool() -> &'static [&'static str] {
    static POOL: OnceLock<Vec<&str>> = OnceLock::new();
    POOL.get_or_init(|| {
        let all = texts().iter().flat_map(|text| tokens(text));
        all.filter(|token| !token.trim().is_empty()).collect()
    })
}

/// What is done to one token.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Delete,
    Double,
    // Replaced by a token from anywhere.
    Replace(prop::sample::Index),
    // Exchanged for the one behind it.
    Swap,
}

fn edit() -> impl Strategy<Value = (prop::sample::Index, Edit)> {
    let what = prop_oneof![
        Just(Edit::Delete),
        Just(Edit::Double),
        Just(Edit::Swap),
        any::<prop::sample::Index>().prop_map(Edit::Replace),
        any::<prop::sample::Index>().prop_map(Edit::Replace),
    ];
    (any::<prop::sample::Index>(), what)
}

fn mutated(text: &str, edits: &[(prop::sample::Index, Edit)]) -> String {
    let mut tokens = tokens(text);
    for (at, edit) in edits {
        if tokens.is_empty() {
            break;
        }
        let (at, last) = (at.index(tokens.len()), tokens.len() - 1);
        match edit {
            Edit::Delete => {
                tokens.remove(at);
            }
            Edit::Double => tokens.insert(at, tokens[at]),
            Edit::Swap => tokens.swap(at, (at + 1).min(last)),
            Edit::Replace(token) => tokens[at] = pool()[token.index(pool().len())],
        }
    }
    tokens.concat()
}

fn cases() -> u32 {
    let set = std::env::var("COLL_FUZZ_CASES").ok();
    set.and_then(|n| n.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_libraries_are_checked(
        text in any::<prop::sample::Index>(),
        edits in prop::collection::vec(edit(), 1..12),
    ) {
        let text = mutated(text.get::<String>(texts()), &edits);
        let path = std::env::temp_dir().join("fuzzed.coll");
        let overlay: BTreeMap<PathBuf, Arc<str>> = BTreeMap::from([(path.clone(), text.into())]);
        let request = LoadRequest { paths: vec![path], overlay, ..LoadRequest::default() };
        let (library, diagnostics) = check(load(request));
        for diagnostic in &diagnostics {
            let labels = diagnostic.labels.iter().chain([&diagnostic.primary]);
            let edits = diagnostic.fixes.iter().flat_map(|f| &f.edits).map(|e| e.place);
            for place in labels.map(|l| l.place).chain(edits) {
                let (file, span) = library.sources.locate(place);
                let text = &library.sources.file(file).text;
                prop_assert!(text.get(span.range()).is_some(), "{diagnostic:?}");
            }
        }
        for algorithm in library.algorithms.iter().filter(|a| a.declared.sound) {
            let wrong = diagnostics.iter().any(|d| {
                d.primary.place.item == algorithm.declared.place.item
                    && d.severity == coll_lang::diagnostics::Severity::Error
            });
            prop_assert!(!wrong, "{} is sound and has errors", algorithm.declared.name);
        }
    }
}
