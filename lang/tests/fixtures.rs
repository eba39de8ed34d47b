//! The rules of the language as `.coll` files with the expected diagnostics written in them.
//!
//! A comment `//~ E0401 "part of the message"` claims a diagnostic whose primary place begins on its
//! line; each `^` behind the `~` means one line higher. Manifests use `#~`. Every diagnostic must be
//! claimed and every claim met; a file without claims must be clean.
//!
//! A case is a file in `fixtures`, or a folder in `fixtures/libraries`, whose `lib` folder, if it has
//! one, holds libraries that are given with `--lib`.

use coll_lang::check::check;
use coll_lang::diagnostics::{Diagnostic, Fix};
use coll_lang::library::Library;
use coll_lang::resolve::{LoadRequest, load};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A diagnostic that a file claims.
#[derive(Debug)]
struct Claim {
    file: String,
    line: u32,
    code: String,
    part: String,
}

#[test]
fn every_diagnostic_is_claimed_and_every_claim_met() {
    let root = fixtures();
    let mut cases = Vec::new();
    collect(&root, &mut cases);
    assert!(cases.len() > 60, "only {} cases were found", cases.len());
    let only = std::env::var("COLL_FIXTURE").unwrap_or_default();
    let mut failures = String::new();
    for case in cases {
        let shown = case.strip_prefix(&root).unwrap_or(&case);
        if !shown.to_string_lossy().contains(&only) {
            continue;
        }
        if let Err(text) = run(&case) {
            let _ = write!(failures, "\n== {}\n{text}", shown.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The std library and the examples are clean.
#[test]
fn what_is_shipped_is_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["stdlib-algos", "examples"] {
        let request = LoadRequest {
            paths: vec![root.join(folder)],
            ..LoadRequest::default()
        };
        let (library, diagnostics) = check(load(request));
        assert!(diagnostics.is_empty(), "{}", listed(&library, &diagnostics));
        assert!(library.algorithms.iter().all(|a| a.declared.sound));
        assert!(!library.algorithms.is_empty());
    }
}

/// A fix is worth offering only if what it mends is gone afterwards.
#[test]
fn every_fix_removes_its_finding() {
    let mut cases = Vec::new();
    collect(&fixtures(), &mut cases);
    let mut failures = String::new();
    let mut tried = 0;
    for case in cases.iter().filter(|c| c.is_file()) {
        let text = std::fs::read_to_string(case).expect("a fixture can be read");
        let (library, diagnostics) = check_held(case, &text);
        for diagnostic in &diagnostics {
            for fix in &diagnostic.fixes {
                let Some(mended) = apply(&library, &text, fix) else {
                    continue;
                };
                tried += 1;
                let (after, left) = check_held(case, &mended);
                let alike = |d: &&Diagnostic| {
                    (d.code, &d.message) == (diagnostic.code, &diagnostic.message)
                };
                let (before, now) = (
                    diagnostics.iter().filter(alike).count(),
                    left.iter().filter(alike).count(),
                );
                let broke = left.iter().any(|d| d.code.id().starts_with("E01"))
                    && !diagnostic.code.id().starts_with("E01")
                    && !diagnostics.iter().any(|d| d.code.id().starts_with("E01"));
                if now >= before || broke {
                    let _ = writeln!(
                        failures,
                        "{}: {} {:?} is still there after {:?}\n{}",
                        case.display(),
                        diagnostic.code,
                        diagnostic.message,
                        fix.title,
                        listed(&after, &left),
                    );
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(tried > 50, "only {tried} fixes were tried");
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Checks a text in place of the file at `path`.
fn check_held(path: &Path, text: &str) -> (Library, Vec<Diagnostic>) {
    let path = std::path::absolute(path).expect("a fixture has an absolute path");
    check(load(LoadRequest {
        paths: vec![path.clone()],
        overlay: [(path, text.into())].into(),
        ..LoadRequest::default()
    }))
}

/// The text with the edits of a fix; none if it edits another file.
fn apply(library: &Library, text: &str, fix: &Fix) -> Option<String> {
    let mut edits = Vec::new();
    for edit in &fix.edits {
        let (file, span) = library.sources.locate(edit.place);
        if &*library.sources.file(file).text != text {
            return None;
        }
        edits.push((span, edit.text.as_str()));
    }
    edits.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut mended = text.to_owned();
    for (span, text) in edits {
        mended.replace_range(span.range(), text);
    }
    Some(mended)
}

fn collect(folder: &Path, cases: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the fixtures can be read");
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let in_libraries = folder.file_name().is_some_and(|n| n == "libraries");
        if path.is_dir() && !in_libraries {
            collect(&path, cases);
        } else if in_libraries || path.extension().is_some_and(|e| e == "coll") {
            cases.push(path);
        }
    }
}

fn run(case: &Path) -> Result<(), String> {
    let given = case.join("lib");
    let request = match given.is_dir() {
        true => LoadRequest {
            paths: vec![case.join("main")],
            libraries: vec![given],
            ..LoadRequest::default()
        },
        false => LoadRequest {
            paths: vec![case.to_owned()],
            ..LoadRequest::default()
        },
    };
    let (library, diagnostics) = check(load(request));
    let mut claims = Vec::new();
    for (_, file) in library.sources.files() {
        claims_of(&file.name, &file.text, &mut claims)?;
    }
    let mut faults = String::new();
    for diagnostic in &diagnostics {
        let (file, at) = library.sources.position(diagnostic.primary.place);
        let claim = claims.iter().position(|c| {
            c.file == file.name.as_str()
                && c.line == at.line
                && c.code == diagnostic.code.id()
                && diagnostic.message.contains(&c.part)
        });
        match claim {
            Some(claim) => {
                claims.remove(claim);
            }
            None => {
                let _ = write!(faults, "not claimed: {}", one(&library, diagnostic));
            }
        }
        check_form(diagnostic, &mut faults);
    }
    for claim in claims {
        let _ = writeln!(
            faults,
            "not met: {}:{} {} {:?}",
            claim.file, claim.line, claim.code, claim.part
        );
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}

/// Every message is one sentence, and its edits are in order.
fn check_form(diagnostic: &Diagnostic, faults: &mut String) {
    let message = &diagnostic.message;
    if message.ends_with('.') || message.contains('\n') || message.is_empty() {
        let _ = writeln!(faults, "not a sentence: {message:?}");
    }
    for fix in &diagnostic.fixes {
        if fix.edits.is_empty() || fix.title.is_empty() {
            let _ = writeln!(faults, "an empty fix of {message:?}");
        }
    }
}

fn claims_of(file: &str, text: &str, claims: &mut Vec<Claim>) -> Result<(), String> {
    let marker = if file.ends_with(".toml") { "#~" } else { "//~" };
    for (line, number) in text.lines().zip(1u32..) {
        for claim in line.split(marker).skip(1) {
            let up = claim.bytes().take_while(|&b| b == b'^').count();
            let rest = claim[up..].trim();
            let (code, part) = rest.split_once(' ').unwrap_or((rest, ""));
            let part = part.trim().trim_matches('"').to_owned();
            if part.is_empty() {
                return Err(format!("{file}:{number}: a claim without a message\n"));
            }
            claims.push(Claim {
                file: file.to_owned(),
                line: number - up as u32,
                code: code.to_owned(),
                part,
            });
        }
    }
    Ok(())
}

fn listed(library: &Library, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| one(library, d)).collect()
}

fn one(library: &Library, diagnostic: &Diagnostic) -> String {
    let (file, at) = library.sources.position(diagnostic.primary.place);
    let mut text = format!(
        "{}:{}:{} {} {}\n",
        file.name, at.line, at.column, diagnostic.code, diagnostic.message
    );
    for label in &diagnostic.labels {
        let (file, at) = library.sources.position(label.place);
        let _ = writeln!(text, "    {}:{}: {}", file.name, at.line, label.text);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(text, "    note: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "    help: {help}");
    }
    text
}
