//! Diagnostics as a SARIF 2.1.0 log (OASIS standard, section numbers in comments).

use super::{position, severity_word};
use crate::diagnostics::{Code, Diagnostic, Edit};
use crate::source::{Place, SourceMap};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The diagnostics as one SARIF log with one run.
pub fn to_sarif(diagnostics: &[Diagnostic], sources: &SourceMap, version: &str) -> Value {
    let used: BTreeSet<Code> = diagnostics.iter().map(|d| d.code).collect();
    let rules: Vec<Code> = used.into_iter().collect();
    let results: Vec<Value> = diagnostics
        .iter()
        .map(|d| result(d, &rules, sources))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "collc",
                "version": version,
                "rules": rules.iter().map(|&code| rule(code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints", // 3.14.17: columns count characters
            "results": results,
        }],
    })
}

/// A reportingDescriptor (3.49).
fn rule(code: Code) -> Value {
    json!({
        "id": code.id(),
        "name": code.name(),
        "shortDescription": { "text": code.title() },
        "defaultConfiguration": { "level": severity_word(code.severity()) },
    })
}

/// A result (3.27).
fn result(d: &Diagnostic, rules: &[Code], sources: &SourceMap) -> Value {
    let mut text = d.message.clone();
    for more in d.notes.iter().chain(&d.help) {
        text.push('\n');
        text.push_str(more);
    }
    let related: Vec<Value> = d
        .labels
        .iter()
        .map(|l| {
            let mut at = location(l.place, sources);
            at["message"] = json!({ "text": l.text });
            at
        })
        .collect();
    let mut result = json!({
        "ruleId": d.code.id(),
        "ruleIndex": rules.iter().position(|&c| c == d.code),
        "level": severity_word(d.severity),
        "message": { "text": text },
        "locations": [location(d.primary.place, sources)],
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    if !d.fixes.is_empty() {
        let fixes: Vec<Value> = d
            .fixes
            .iter()
            .map(|f| {
                json!({
                    "description": { "text": f.title },
                    "artifactChanges": changes(&f.edits, sources),
                })
            })
            .collect();
        result["fixes"] = json!(fixes);
    }
    result
}

/// The edits of a fix as artifactChanges (3.56), one a file, in order of first appearance.
fn changes(edits: &[Edit], sources: &SourceMap) -> Vec<Value> {
    let mut files: Vec<(&str, Vec<Value>)> = Vec::new();
    for edit in edits {
        let name = position(edit.place, sources).file;
        let change = json!({
            "deletedRegion": region(edit.place, sources),
            "insertedContent": { "text": edit.text },
        });
        match files.iter_mut().find(|f| f.0 == name) {
            Some(file) => file.1.push(change),
            None => files.push((name, vec![change])),
        }
    }
    files
        .into_iter()
        .map(|(name, replacements)| {
            json!({ "artifactLocation": { "uri": uri(name) }, "replacements": replacements })
        })
        .collect()
}

/// A location (3.28).
fn location(place: Place, sources: &SourceMap) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(position(place, sources).file) },
        "region": region(place, sources),
    }})
}

/// A region (3.30): the end column is one past the last character.
fn region(place: Place, sources: &SourceMap) -> Value {
    let at = position(place, sources);
    json!({
        "startLine": at.line,
        "startColumn": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
    })
}

/// A path as a relative or file URI (RFC 3986, section 2.1: what is not unreserved is escaped).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
