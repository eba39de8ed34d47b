//! `collc explain CODE`

use crate::cli::{ExplainArgs, Format};
use crate::output::{Failure, Outcome, Output, did_you_mean};
use coll_lang::diagnostics::{Code, codes, pages};
use serde_json::json;

pub(crate) fn run(args: &ExplainArgs, output: &mut Output) -> Outcome {
    output.accept(&[Format::Human, Format::Short, Format::Json])?;
    match &args.code {
        None => list(output),
        Some(text) => page(text, output)?,
    }
    Ok(())
}

fn list(output: &mut Output) {
    if output.format() == Format::Json {
        let all: Vec<_> = codes::ALL.iter().copied().map(entry).collect();
        output.json(&json!({ "schema": "collc/1", "command": "explain", "codes": all }));
        return;
    }
    for code in codes::ALL {
        output.line(format_args!("{code}  {:<22} {}", code.name(), code.title()));
    }
}

fn page(text: &str, output: &mut Output) -> Outcome {
    let code = Code::find(text).ok_or_else(|| {
        let known = codes::ALL.iter().flat_map(|c| [c.id(), c.name()]);
        Failure::Usage(format!(
            "there is no diagnostic `{text}`{} (`collc explain` lists all)",
            did_you_mean(text, known)
        ))
    })?;
    let page = pages::page(code)
        .ok_or_else(|| Failure::Input(format!("the page of {code} is missing")))?;
    if output.format() == Format::Json {
        let mut entry = entry(code);
        entry["page"] = json!(page);
        entry["schema"] = json!("collc/1");
        entry["command"] = json!("explain");
        output.json(&entry);
    } else {
        output.print(page);
    }
    Ok(())
}

fn entry(code: Code) -> serde_json::Value {
    json!({ "code": code.id(), "name": code.name(), "title": code.title() })
}
