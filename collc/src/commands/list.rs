//! `collc list [WHAT]`

use crate::cli::{Format, ListArgs, ListWhat};
use crate::output::{Outcome, Output};
use crate::session::Session;
use coll_lang::library::{Declared, Library};
use coll_lang::words::Operation;
use serde_json::{Map, Value, json};

/// One line of a list.
struct Entry {
    name: String,
    module: String,
    /// Keys and values besides name and module.
    more: Vec<(&'static str, Value)>,
    /// The first sentence of its documentation.
    about: String,
}

pub(crate) fn run(args: &ListArgs, output: &mut Output) -> Outcome {
    output.accept(&[Format::Human, Format::Short, Format::Json])?;
    let session = Session::load(Vec::new(), &args.libraries)?;
    let wanted: Vec<ListWhat> = match args.what {
        Some(what) => vec![what],
        None => vec![
            ListWhat::Algorithms,
            ListWhat::Templates,
            ListWhat::Topologies,
            ListWhat::Clusters,
            ListWhat::Operations,
        ],
    };
    let lists: Vec<(&str, Vec<Entry>)> = wanted
        .into_iter()
        .map(|what| (title(what), entries(what, &session.library)))
        .collect();
    match output.format() {
        Format::Json => output.json(&to_json(&lists)),
        _ => lists
            .iter()
            .for_each(|(title, list)| print(title, list, output)),
    }
    Ok(())
}

fn title(what: ListWhat) -> &'static str {
    match what {
        ListWhat::Algorithms => "algorithms",
        ListWhat::Templates => "templates",
        ListWhat::Topologies => "topologies",
        ListWhat::Clusters => "clusters",
        ListWhat::Operations => "operations",
    }
}

fn entries(what: ListWhat, library: &Library) -> Vec<Entry> {
    let entry = |declared: &Declared, more| Entry {
        name: declared.name.to_string(),
        module: library.modules[declared.module.index()].name.to_string(),
        more,
        about: first_sentence(declared.docs.as_deref().unwrap_or_default()),
    };
    let names = |ops: &[Operation]| json!(ops.iter().map(|op| op.as_str()).collect::<Vec<_>>());
    match what {
        ListWhat::Algorithms => library
            .algorithms
            .iter()
            .map(|a| {
                let topology = a
                    .topology
                    .map(|t| &library.topologies[t.index()].declared.name);
                let engines: Vec<&str> = a.engines.iter().map(|e| e.as_str()).collect();
                entry(
                    &a.declared,
                    vec![
                        ("op", json!(a.op.as_str())),
                        ("topology", json!(topology.map(|t| t.as_str()))),
                        ("engines", json!(engines)),
                    ],
                )
            })
            .collect(),
        ListWhat::Templates => library
            .templates
            .iter()
            .map(|t| entry(&t.declared, vec![("ops", names(&t.ops))]))
            .collect(),
        ListWhat::Topologies => library
            .topologies
            .iter()
            .map(|t| {
                let levels: Vec<String> = t
                    .levels
                    .iter()
                    .map(|l| format!("{}{}", l.name, if l.family { "*" } else { "" }))
                    .collect();
                entry(&t.declared, vec![("levels", json!(levels))])
            })
            .collect(),
        ListWhat::Clusters => library
            .clusters
            .iter()
            .map(|c| entry(&c.declared, vec![("ranks", json!(c.spec.ranks()))]))
            .collect(),
        ListWhat::Operations => Operation::ALL
            .iter()
            .map(|op| Entry {
                name: op.as_str().to_owned(),
                module: String::new(),
                more: Vec::new(),
                about: String::new(),
            })
            .collect(),
    }
}

/// The text up to its first full stop, on one line.
fn first_sentence(docs: &str) -> String {
    let paragraph = docs.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.find(". ") {
        Some(end) => line[..end].to_owned(),
        None => line.trim_end_matches('.').to_owned(),
    }
}

fn to_json(lists: &[(&str, Vec<Entry>)]) -> Value {
    let mut object = Map::new();
    object.insert("schema".into(), json!("collc/1"));
    object.insert("command".into(), json!("list"));
    for (title, list) in lists {
        let list: Vec<Value> = list
            .iter()
            .map(|entry| {
                let mut object = Map::new();
                object.insert("name".into(), json!(entry.name));
                if !entry.module.is_empty() {
                    object.insert("module".into(), json!(entry.module));
                }
                for (key, value) in &entry.more {
                    object.insert((*key).into(), value.clone());
                }
                if !entry.about.is_empty() {
                    object.insert("about".into(), json!(entry.about));
                }
                Value::Object(object)
            })
            .collect();
        object.insert((*title).into(), json!(list));
    }
    Value::Object(object)
}

fn print(title: &str, list: &[Entry], output: &mut Output) {
    if output.format() == Format::Short {
        for entry in list {
            match entry.module.as_str() {
                "" => output.line(&entry.name),
                module => output.line(format_args!("{module}.{}", entry.name)),
            }
        }
        return;
    }
    output.line(title);
    let mut module = "";
    for entry in list {
        if entry.module != module {
            module = &entry.module;
            output.line(format_args!("  {module}"));
        }
        let more: Vec<String> = entry.more.iter().map(|(_, v)| plain(v)).collect();
        output.line(
            format_args!("    {:<40} {}", entry.name, more.join("  "))
                .to_string()
                .trim_end(),
        );
        if !entry.about.is_empty() {
            output.line(format_args!("        {}", entry.about));
        }
    }
    output.line("");
}

/// A JSON value as a person would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
