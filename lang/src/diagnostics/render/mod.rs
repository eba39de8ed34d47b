//! The renderings of diagnostics: the same findings, for people and for programs.
//!
//! Lines and columns are the same in all of them: both from 1, columns in characters.

mod human;
mod json;
mod sarif;
mod short;

use super::{Diagnostic, Severity};
use crate::source::{Place, SourceMap};

pub use human::HumanOptions;
pub use json::{JsonDiagnostic, JsonEdit, JsonFix, JsonLabel, to_json};
pub use sarif::to_sarif;

/// For people: the source with the places underlined.
pub fn human(diagnostics: &[Diagnostic], sources: &SourceMap, options: HumanOptions) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        human::render(&mut out, diagnostic, sources, options);
    }
    out
}

/// One line each: `path:line:col: severity[code]: message`.
pub fn short(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        short::render(&mut out, diagnostic, sources);
    }
    out
}

/// `3 errors, 1 warning`; empty when there is nothing.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let (errors, warnings) = count(diagnostics);
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, 0) => String::new(),
        (0, w) => plural(w, "warning"),
        (e, 0) => plural(e, "error"),
        (e, w) => format!("{}, {}", plural(e, "error"), plural(w, "warning")),
    }
}

/// How many errors and warnings there are.
pub fn count(diagnostics: &[Diagnostic]) -> (usize, usize) {
    let errors = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .count();
    (errors, diagnostics.len() - errors)
}

/// `error` or `warning`.
fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// File, and first and last position of a place.
fn position(place: Place, sources: &SourceMap) -> Position<'_> {
    let (file, span) = sources.locate(place);
    let file = sources.file(file);
    let (start, end) = (file.line_column(span.start), file.line_column(span.end));
    Position {
        file: &file.name,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

struct Position<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

/// Appends formatted text to a string, which cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    std::fmt::Write::write_fmt(out, text).expect("writing to a string does not fail");
}
