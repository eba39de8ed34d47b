//! Collects what items declare.

use super::load::{LoadedItem, Workspace};
use super::names::{LibraryNames, ModuleNames, Names, Ops, PRELUDE, Symbol, SymbolId, SymbolKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::ModuleId;
use crate::source::Place;
use crate::syntax::ast::{ItemKind, Name};
use coll_grammar::words::Operation;
use smol_str::SmolStr;

/// The names that every module declares, with what is declared twice.
pub(super) fn declare(workspace: &Workspace) -> (Names, Vec<Diagnostic>) {
    let mut names = Names {
        libraries: workspace
            .libraries
            .iter()
            .map(|l| LibraryNames {
                name: l.name.clone(),
                requires: l
                    .requires
                    .as_ref()
                    .map(|r| r.iter().map(|r| r.name.clone()).collect()),
            })
            .collect(),
        ..Names::default()
    };
    let mut diagnostics = Vec::new();
    for (i, module) in workspace.modules.iter().enumerate() {
        let id = ModuleId(i as u32);
        names
            .modules_by_name
            .entry(module.name.clone())
            .or_insert(id);
        for (at, _) in module.name.match_indices('.') {
            names.folders.insert(SmolStr::from(&module.name[..at]));
        }
        names.modules.push(ModuleNames {
            name: module.name.clone(),
            library: module.library,
            ..ModuleNames::default()
        });
        for item in module.items.clone() {
            declare_item(
                &workspace.items[item as usize],
                item,
                &mut names,
                &mut diagnostics,
            );
        }
    }
    names.prelude = names.module_named(PRELUDE);
    module_or_member(workspace, &names, &mut diagnostics);
    (names, diagnostics)
}

fn declare_item(
    loaded: &LoadedItem,
    item: u32,
    names: &mut Names,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let module = &mut names.modules[loaded.module.index()];
    let ast = &loaded.parsed.item;
    let Some((name, kind)) = declared(&ast.kind) else {
        if let ItemKind::Error { keyword, name } = &ast.kind {
            match name {
                Some(name) => {
                    module.broken.insert(name.text.clone());
                }
                None => module.incomplete |= may_bind(keyword.as_deref()),
            }
        }
        return;
    };
    let symbol = Symbol {
        name: name.text.clone(),
        kind,
        module: loaded.module,
        item,
        place: Place {
            item: loaded.id,
            span: name.span,
        },
        private: ast.private,
        ops: match &ast.kind {
            ItemKind::Template(template) => template
                .ops
                .iter()
                .filter_map(|op| Operation::parse(&op.text))
                .collect(),
            _ => Ops::default(),
        },
    };
    let known = module.own.entry(name.text.clone()).or_default();
    let clash = known
        .iter()
        .map(|&s| &names.symbols[s.0 as usize])
        .find(|other| clashes(other, &symbol));
    if let Some(other) = clash {
        diagnostics.push(duplicate(&symbol, other));
    }
    // The first of equal names is the one that others mean; templates stay together.
    let first = known.first().map(|&s| names.symbols[s.0 as usize].kind);
    if clash.is_none() || first == Some(SymbolKind::Template) && kind == SymbolKind::Template {
        known.push(SymbolId(names.symbols.len() as u32));
    }
    names.symbols.push(symbol);
}

/// The name and kind of what an item declares.
pub(super) fn declared(kind: &ItemKind) -> Option<(&Name, SymbolKind)> {
    Some(match kind {
        ItemKind::Let(it) => (&it.name, SymbolKind::Let),
        ItemKind::Cluster(it) => (&it.name, SymbolKind::Cluster),
        ItemKind::Topology(it) => (&it.name, SymbolKind::Topology),
        ItemKind::Algorithm(it) => (&it.name, SymbolKind::Algorithm),
        ItemKind::Tree(it) => (&it.name, SymbolKind::Tree),
        ItemKind::Template(it) => (&it.name, SymbolKind::Template),
        ItemKind::Curve(it) => (&it.name, SymbolKind::Curve),
        ItemKind::Use(_)
        | ItemKind::Fallback(_)
        | ItemKind::Select(_)
        | ItemKind::Cost(_)
        | ItemKind::Util(_)
        | ItemKind::Test(_)
        | ItemKind::Error { .. } => return None,
    })
}

/// Whether an item that begins with this keyword, and whose name could not be read, may have
/// declared or imported something.
fn may_bind(keyword: Option<&str>) -> bool {
    matches!(
        keyword,
        Some(
            "use"
                | "let"
                | "cluster"
                | "topology"
                | "algorithm"
                | "tree"
                | "template"
                | "extern"
                | "curve"
                | "private"
                | "allow"
        )
    )
}

/// Whether two declarations of one module cannot both have their name.
fn clashes(a: &Symbol, b: &Symbol) -> bool {
    let templates = a.kind == SymbolKind::Template && b.kind == SymbolKind::Template;
    !templates || !a.ops.and(b.ops).is_empty()
}

fn duplicate(symbol: &Symbol, other: &Symbol) -> Diagnostic {
    let name = &symbol.name;
    let twice = symbol.ops.and(other.ops).iter().next();
    let message = match twice {
        Some(op) => format!("the template `{name}` plans `{op}` twice"),
        None => format!("the name `{name}` is declared twice in this file"),
    };
    let help = match twice {
        Some(_) => "several templates may share a name if they plan different operations",
        None => "rename one of them",
    };
    Diagnostic::new(codes::E0202, symbol.place, message)
        .here(format!("{} with this name", symbol.kind))
        .label(
            other.place,
            format!("first declared here, as {}", other.kind),
        )
        .help(help)
}

/// Reports items whose full name is that of a module too.
fn module_or_member(workspace: &Workspace, names: &Names, diagnostics: &mut Vec<Diagnostic>) {
    for module in &workspace.modules {
        let Some((parent, last)) = module.name.rsplit_once('.') else {
            continue;
        };
        let member = names
            .module_named(parent)
            .and_then(|p| names.module(p).own.get(last))
            .and_then(|s| s.first());
        if let Some(&member) = member {
            let symbol = names.symbol(member);
            let diagnostic = Diagnostic::new(
                codes::E0206,
                symbol.place,
                format!("`{}` is the name of a module too", module.name),
            )
            .label(
                Place {
                    item: module.whole,
                    span: Default::default(),
                },
                "the module",
            )
            .help("rename one of them: an import could mean both");
            diagnostics.push(diagnostic);
        }
    }
}
