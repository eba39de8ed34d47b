//! What the tests of the surface share.
#![allow(dead_code)] // each test file uses a part of it

use coll_lang::parse::{ParsedFile, SyntaxError, parse_file};
use coll_lang::syntax::ast::ItemKind;
use std::path::{Path, PathBuf};

/// Name and text of every file of the corpus and of the std library.
pub(crate) fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("tests/corpus"), &mut files);
    collect(&root.join("../stdlib-algos"), &mut files);
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("corpus files are readable");
        (path.display().to_string(), text)
    };
    assert!(files.len() > 6, "the corpus is not where it should be");
    files.iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "coll") {
            files.push(path);
        }
    }
}

/// All findings of a file, with places in the file.
pub(crate) fn findings(file: &ParsedFile) -> Vec<(u32, SyntaxError)> {
    let own = file.errors.iter().map(|e| (e.span.start, e.clone()));
    let items = file.items.iter().flat_map(|placed| {
        placed
            .item
            .errors
            .iter()
            .map(|e| (placed.offset + e.span.start, e.clone()))
    });
    own.chain(items).collect()
}

/// `line:column CODE message` of all findings.
pub(crate) fn messages(text: &str) -> Vec<String> {
    findings(&parse_file(text))
        .iter()
        .map(|(at, e)| {
            let before = &text[..*at as usize];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            format!("{line}:{column} {} {}", e.code, e.message)
        })
        .collect()
}

/// The trees of all items without places.
pub(crate) fn trees(text: &str) -> String {
    let file = parse_file(text);
    let mut all = String::new();
    for placed in &file.items {
        all.push_str(&without_spans(&format!("{:?}\n", placed.item.item)));
    }
    all
}

fn without_spans(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut parts = debug.split("Span { start: ");
    out.extend(parts.next());
    for part in parts {
        let (_, rest) = part.split_once('}').expect("a span ends with a brace");
        out.push('_');
        out.push_str(rest);
    }
    out
}

/// Checks what holds of every text: nothing panics, places are inside the text and between
/// characters, items follow each other, and formatting keeps its promises.
pub(crate) fn check_any(text: &str) {
    let file = parse_file(text);
    let mut end = 0;
    for placed in &file.items {
        let (start, len) = (placed.offset as usize, placed.item.len as usize);
        assert!(start >= end, "items overlap");
        end = start + len;
        assert!(text.get(start..end).is_some(), "an item cuts a character");
        for error in &placed.item.errors {
            check_error(&text[start..end], error);
        }
        let broken = matches!(placed.item.item.kind, ItemKind::Error { .. });
        assert!(
            !broken || !placed.item.errors.is_empty(),
            "nothing is said about {:?}",
            &text[start..end]
        );
    }
    for error in &file.errors {
        check_error(text, error);
    }
    check_format(text);
}

fn check_error(text: &str, error: &SyntaxError) {
    let mut spans = vec![error.span];
    spans.extend(error.labels.iter().map(|l| l.0));
    spans.extend(error.fix.iter().flat_map(|f| f.edits.iter().map(|e| e.0)));
    for span in spans {
        assert!(
            text.get(span.range()).is_some(),
            "{error:?} lies outside of {} bytes or cuts a character",
            text.len()
        );
    }
    assert!(!error.message.is_empty() && !error.message.ends_with('.'));
    assert_eq!(error.code.id()[..3], *"E01", "{error:?}");
}

/// Formats, and checks that the layout is stable and that comments and trees are kept.
pub(crate) fn check_format(text: &str) {
    use coll_lang::syntax::print::{FormatError, format_file};
    match format_file(text) {
        Ok(formatted) => {
            let again = format_file(&formatted);
            assert_eq!(
                again.as_deref(),
                Ok(formatted.as_str()),
                "not stable:\n{text}\n-- becomes\n{formatted}"
            );
            assert_eq!(
                trees(text),
                trees(&formatted),
                "{text}\n-- becomes\n{formatted}"
            );
            assert_eq!(comments(text), comments(&formatted));
        }
        Err(FormatError::Unparsable) => {}
        Err(FormatError::Changed) => panic!("the formatter gave up on\n{text}"),
    }
}

/// The comments of a text, in order; line ends apart.
pub(crate) fn comments(text: &str) -> Vec<String> {
    let split = coll_grammar::split::split(text);
    split
        .comments
        .iter()
        .map(|c| {
            let comment = &text[c.start as usize..c.end as usize];
            comment.trim_end().replace("\r\n", "\n")
        })
        .collect()
}
