//! `collc fmt PATH…`

use crate::cli::{FmtArgs, Format};
use crate::output::{Failure, Outcome, Output};
use coll_lang::parse::{ParsedFile, decode, parse_file};
use coll_lang::syntax::print::format_file;
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What happened to one file.
struct Formatted {
    path: PathBuf,
    changed: bool,
    /// Why it was left alone, wholly or in part.
    problem: Option<String>,
}

pub(crate) fn run(args: &FmtArgs, output: &mut Output) -> Outcome {
    output.accept(&[Format::Human, Format::Short, Format::Json])?;
    if args.stdin {
        return standard_input(args.check, output);
    }
    let mut results = Vec::new();
    for path in &args.paths {
        for file in files(path)? {
            results.push(one_file(file, args.check)?);
        }
    }
    report(&results, args.check, output);
    let failed = results
        .iter()
        .any(|r| r.problem.is_some() || (args.check && r.changed));
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

/// The source files below a path, in order.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::Usage(format!("cannot read {}: {error}", path.display()));
    if !path.metadata().map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(unreadable)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    entries.sort();
    for entry in entries {
        let link = entry.symlink_metadata().map_err(unreadable)?.is_symlink();
        if entry.is_dir() && !link {
            found.extend(files(&entry)?);
        } else if entry.extension().is_some_and(|e| e == "coll") && !link {
            found.push(entry);
        }
    }
    Ok(found)
}

fn one_file(path: PathBuf, check: bool) -> Result<Formatted, Failure> {
    let bytes = std::fs::read(&path)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?;
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(error) => {
            return Ok(Formatted {
                path,
                changed: false,
                problem: Some(error.to_string()),
            });
        }
    };
    let (formatted, problem) = layout(&text);
    let changed = formatted != text;
    if changed && !check {
        std::fs::write(&path, formatted)
            .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(Formatted {
        path,
        changed,
        problem,
    })
}

/// The text in the one layout, and why not all of it is. What cannot be laid out stays as it is.
fn layout(text: &str) -> (String, Option<String>) {
    match format_file(text) {
        Err(error) => (text.to_owned(), Some(error.to_string())),
        Ok(formatted) => match broken(&parse_file(text)) {
            0 => (formatted, None),
            1 => (
                formatted,
                Some("1 item with syntax errors was left as it is".to_owned()),
            ),
            n => (
                formatted,
                Some(format!(
                    "{n} items with syntax errors were left as they are"
                )),
            ),
        },
    }
}

fn broken(file: &ParsedFile) -> usize {
    file.items
        .iter()
        .filter(|item| !item.item.is_sound())
        .count()
}

fn standard_input(check: bool, output: &mut Output) -> Outcome {
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Usage(format!("cannot read standard input: {error}")))?;
    let text = decode(bytes).map_err(|error| Failure::Input(error.to_string()))?;
    let (formatted, problem) = layout(&text);
    if !check {
        output.print(&formatted);
    }
    match problem {
        Some(problem) => Err(Failure::Input(format!("standard input: {problem}"))),
        None if check && formatted != text => Err(Failure::Input(
            "standard input is not in the layout".to_owned(),
        )),
        None => Ok(()),
    }
}

fn report(results: &[Formatted], check: bool, output: &mut Output) {
    if output.format() == Format::Json {
        let files: Vec<_> = results
            .iter()
            .map(|r| json!({ "file": r.path, "changed": r.changed, "problem": r.problem }))
            .collect();
        output.json(&json!({ "schema": "collc/1", "command": "fmt", "files": files }));
        return;
    }
    for result in results {
        if let Some(problem) = &result.problem {
            output.note(format_args!("error: {}: {problem}", result.path.display()));
        }
        if result.changed {
            let done = if check { "would be changed" } else { "changed" };
            output.line(format_args!("{}: {done}", result.path.display()));
        }
    }
}
