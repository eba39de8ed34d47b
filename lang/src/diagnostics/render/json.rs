//! Diagnostics as data with stable keys.

use super::{position, severity_word};
use crate::diagnostics::{Applicability, Diagnostic};
use crate::source::{Place, SourceMap};
use serde::Serialize;

/// A diagnostic. Lines and columns from 1, columns in characters.
#[derive(Clone, Debug, Serialize)]
pub struct JsonDiagnostic<'a> {
    /// `E0301`.
    pub code: &'static str,
    /// The word for the code.
    pub name: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: &'a str,
    /// The file of the primary place.
    pub file: &'a str,
    /// Its first line.
    pub line: u32,
    /// Its first column.
    pub column: u32,
    /// The line after its last character.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// What is said at the primary place.
    pub text: &'a str,
    /// Places that explain it.
    pub labels: Vec<JsonLabel<'a>>,
    /// Further facts.
    pub notes: &'a [String],
    /// What to write instead.
    pub help: Option<&'a str>,
    /// Edits that do it.
    pub fixes: Vec<JsonFix<'a>>,
}

/// A place that explains.
#[derive(Clone, Debug, Serialize)]
pub struct JsonLabel<'a> {
    /// Its file.
    pub file: &'a str,
    /// Its first line.
    pub line: u32,
    /// Its first column.
    pub column: u32,
    /// The line after its last character.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// What is said there.
    pub text: &'a str,
}

/// A fix.
#[derive(Clone, Debug, Serialize)]
pub struct JsonFix<'a> {
    /// What it does.
    pub title: &'a str,
    /// `safe` or `suggested`.
    pub applicability: &'static str,
    /// Its edits.
    pub edits: Vec<JsonEdit<'a>>,
}

/// Replaces the text of a place.
#[derive(Clone, Debug, Serialize)]
pub struct JsonEdit<'a> {
    /// Its file.
    pub file: &'a str,
    /// First byte in the file.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The new text.
    pub text: &'a str,
}

/// The diagnostics as data.
pub fn to_json<'a>(
    diagnostics: &'a [Diagnostic],
    sources: &'a SourceMap,
) -> Vec<JsonDiagnostic<'a>> {
    diagnostics.iter().map(|d| diagnostic(d, sources)).collect()
}

fn diagnostic<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> JsonDiagnostic<'a> {
    let at = position(d.primary.place, sources);
    JsonDiagnostic {
        code: d.code.id(),
        name: d.code.name(),
        severity: severity_word(d.severity),
        message: &d.message,
        file: at.file,
        line: at.line,
        column: at.column,
        end_line: at.end_line,
        end_column: at.end_column,
        text: &d.primary.text,
        labels: d
            .labels
            .iter()
            .map(|l| label(l.place, &l.text, sources))
            .collect(),
        notes: &d.notes,
        help: d.help.as_deref(),
        fixes: d
            .fixes
            .iter()
            .map(|f| JsonFix {
                title: &f.title,
                applicability: match f.applicability {
                    Applicability::Safe => "safe",
                    Applicability::Suggested => "suggested",
                },
                edits: f
                    .edits
                    .iter()
                    .map(|e| edit(e.place, &e.text, sources))
                    .collect(),
            })
            .collect(),
    }
}

fn label<'a>(place: Place, text: &'a str, sources: &'a SourceMap) -> JsonLabel<'a> {
    let at = position(place, sources);
    JsonLabel {
        file: at.file,
        line: at.line,
        column: at.column,
        end_line: at.end_line,
        end_column: at.end_column,
        text,
    }
}

fn edit<'a>(place: Place, text: &'a str, sources: &'a SourceMap) -> JsonEdit<'a> {
    let (file, span) = sources.locate(place);
    let file = sources.file(file);
    let at = file.line_column(span.start);
    JsonEdit {
        file: &file.name,
        start: span.start,
        end: span.end,
        line: at.line,
        column: at.column,
        text,
    }
}
