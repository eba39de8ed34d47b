//! `collc check PATH…`

use crate::cli::{CheckArgs, Format};
use crate::output::{Failure, Outcome, Output, Stream};
use crate::session::{Session, denied};
use coll_lang::diagnostics::render;
use serde_json::json;

pub(crate) fn run(args: &CheckArgs, output: &mut Output) -> Outcome {
    let mut session = Session::load(args.paths.clone(), &args.libraries)?;
    denied(&mut session.diagnostics, &args.deny)?;
    let (found, sources) = (&session.diagnostics, &session.library.sources);
    let (errors, warnings) = render::count(found);
    match output.format() {
        Format::Json => output.json(&json!({
            "schema": "collc/1",
            "command": "check",
            "diagnostics": render::to_json(found, sources),
            "errors": errors,
            "warnings": warnings,
        })),
        Format::Sarif => {
            output.json(&render::to_sarif(found, sources, env!("CARGO_PKG_VERSION")));
        }
        Format::Short => output.print(render::short(found, sources)),
        Format::Human => {
            let text = output.diagnostics(found, sources, Stream::Stdout);
            output.print(text);
            output.note(summary(&session));
        }
    }
    if errors > 0 {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

/// What was checked and what was found.
fn summary(session: &Session) -> String {
    let library = &session.library;
    let requested =
        |module: coll_lang::library::ModuleId| library.modules[module.index()].requested;
    let files = library.modules.iter().filter(|m| m.requested).count();
    let algorithms = library
        .algorithms
        .iter()
        .filter(|a| requested(a.declared.module))
        .count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let found = render::summary(&session.diagnostics);
    format!(
        "{}, {}: {}",
        plural(files, "file"),
        plural(algorithms, "algorithm"),
        if found.is_empty() {
            "no errors"
        } else {
            &found
        }
    )
}
