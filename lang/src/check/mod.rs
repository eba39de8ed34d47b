//! Everything that is checked: declarations one by one, then trees against the ownership contract.
//!
//! [`check`] turns parsed libraries into a checked [`Library`]. Declarations of one kind are checked
//! by all modules at once, kind after kind: named expressions, clusters, topologies, templates, named
//! trees, algorithms.

mod algorithms;
mod clusters;
mod compile;
mod context;
pub mod facts;
pub mod guard;
pub mod instantiate;
mod later;
mod lets;
mod ownership;
pub mod shape;
mod templates;
#[cfg(test)]
mod tests;
mod topologies;
mod trees;
pub mod value;

use crate::diagnostics::{Code, Diagnostic, Severity, codes};
use crate::library::{
    Algorithm, AlgorithmBody, LaterItem, Library, Module, ModuleId, NodeId, Tree,
};
use crate::nearest::nearest;
use crate::resolve::{LoadedItem, Names, Symbol, SymbolId, SymbolKind, Workspace, resolve, unused};
use crate::source::{FileId, ItemId, Place};
use crate::syntax::ast::{ClusterStmt, ItemKind, Name};
use clusters::fact_type;
use context::{Context, ModuleChecker, NodeSource};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use value::Type;

pub use shape::{ShapeError, parse_shape};

/// Checks loaded libraries. Everything found on the way, from reading files to ownership, is in the
/// diagnostics, in the order of files and places; lints of modules that the user did not name are
/// left out.
pub fn check(workspace: Workspace) -> (Library, Vec<Diagnostic>) {
    let (names, cyclic, resolved) = resolve(&workspace);
    let mut diagnostics = workspace.diagnostics.clone();
    diagnostics.extend(resolved);
    let silenced = silenced(&workspace, &mut diagnostics);
    let mut cx = Context::new(&workspace, &names, &cyclic);
    cx.wrong_items = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| d.primary.place.item)
        .collect();
    let mut library = Library::default();

    cx.facts = declared_facts(&cx);
    check_lets(&mut cx, &mut diagnostics);
    let clusters = each(
        &cx,
        SymbolKind::Cluster,
        &mut diagnostics,
        |checker, item, symbol| match &item.parsed.item.kind {
            ItemKind::Cluster(ast) => Some(checker.cluster(item, symbol, ast)),
            _ => None,
        },
    );
    library.clusters = clusters.into_iter().filter_map(|(_, c)| c).collect();
    let topologies = each(
        &cx,
        SymbolKind::Topology,
        &mut diagnostics,
        |checker, item, symbol| match &item.parsed.item.kind {
            ItemKind::Topology(ast) => Some(checker.topology(item, symbol, ast)),
            _ => None,
        },
    );
    cx.topologies = topologies.into_iter().filter_map(|(_, t)| t).collect();
    let templates = each(
        &cx,
        SymbolKind::Template,
        &mut diagnostics,
        |checker, item, symbol| match &item.parsed.item.kind {
            ItemKind::Template(ast) => Some(checker.template(item, symbol, ast)),
            _ => None,
        },
    );
    cx.templates = templates.into_iter().filter_map(|(_, t)| t).collect();
    let trees = each(
        &cx,
        SymbolKind::Tree,
        &mut diagnostics,
        |checker, item, _| match &item.parsed.item.kind {
            ItemKind::Tree(ast) => checker.named_tree(item, ast),
            _ => false,
        },
    );
    cx.unsound_trees = unsound(trees);
    let modules: Vec<CheckedModule> = (0..workspace.modules.len())
        .into_par_iter()
        .map(|i| check_module(&cx, ModuleId(i as u32)))
        .collect();
    for module in modules {
        module.add_to(&mut library, &mut diagnostics);
    }
    library.topologies = cx.topologies.into_iter().map(|t| t.topology).collect();
    library.templates = cx.templates;
    remove_silenced(&workspace, &silenced, &mut diagnostics);
    finish(library, workspace, names, diagnostics)
}

/// Checks all declarations of one kind, modules at once, and returns the results in the order of
/// their numbers.
fn each<'a, T: Send>(
    cx: &Context<'a>,
    kind: SymbolKind,
    diagnostics: &mut Vec<Diagnostic>,
    check: impl Fn(&mut ModuleChecker<'_, 'a>, &LoadedItem, &Symbol) -> T + Sync,
) -> Vec<(SymbolId, T)> {
    let symbols = cx.symbols_of(kind);
    let modules: Vec<&[SymbolId]> = symbols
        .chunk_by(|a, b| cx.names.symbol(*a).module == cx.names.symbol(*b).module)
        .collect();
    let checked: Vec<(Vec<T>, Vec<Diagnostic>)> = modules
        .into_par_iter()
        .map(|symbols| {
            let mut checker = ModuleChecker::new(cx, cx.names.symbol(symbols[0]).module);
            let results = symbols
                .iter()
                .map(|&s| check(&mut checker, cx.item(s), cx.names.symbol(s)))
                .collect();
            (results, checker.diagnostics)
        })
        .collect();
    let mut results = Vec::with_capacity(symbols.len());
    for (checked, found) in checked {
        results.extend(checked);
        diagnostics.extend(found);
    }
    symbols.into_iter().zip(results).collect()
}

fn unsound(checked: Vec<(SymbolId, bool)>) -> FxHashSet<SymbolId> {
    let wrong = checked.into_iter().filter(|(_, sound)| !sound);
    wrong.map(|(symbol, _)| symbol).collect()
}

/// Checks named expressions, each behind those that it names.
fn check_lets(cx: &mut Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for &symbol in cx.cyclic.order() {
        let Some((_, it)) = cx.let_item(symbol) else {
            continue;
        };
        let declared = cx.names.symbol(symbol);
        let mut checker = ModuleChecker::new(cx, declared.module);
        let (sound, value) = checker.named_expression(cx.item(symbol), declared, it);
        diagnostics.append(&mut checker.diagnostics);
        if !sound {
            cx.unsound_lets.insert(symbol);
        }
        cx.constants.extend(value.map(|value| (symbol, value)));
    }
}

/// The facts that clusters declare, by the type of the first declaration of each.
fn declared_facts(cx: &Context<'_>) -> indexmap::IndexMap<SmolStr, Type> {
    let found = each(
        cx,
        SymbolKind::Cluster,
        &mut Vec::new(),
        |checker, item, _| {
            let ItemKind::Cluster(ast) = &item.parsed.item.kind else {
                return Vec::new();
            };
            let facts = ast.body.iter().filter_map(|stmt| match stmt {
                ClusterStmt::Fact { name, value } => Some((name, value)),
                _ => None,
            });
            facts
                .filter_map(|(name, value)| {
                    let value = checker.fact_value(item.id, value)?;
                    Some((name.text.clone(), fact_type(&name.text, &value)))
                })
                .collect()
        },
    );
    let mut facts = indexmap::IndexMap::new();
    for (name, ty) in found.into_iter().flat_map(|(_, facts)| facts) {
        facts.entry(name).or_insert(ty);
    }
    facts
}

/// What the last phase makes of one module.
struct CheckedModule {
    algorithms: Vec<Algorithm>,
    later: Vec<LaterItem>,
    nodes: Vec<NodeSource>,
    diagnostics: Vec<Diagnostic>,
}

fn check_module(cx: &Context<'_>, module: ModuleId) -> CheckedModule {
    let mut checker = ModuleChecker::new(cx, module);
    let (mut algorithms, mut later) = (Vec::new(), Vec::new());
    let loaded = &cx.workspace.modules[module.index()];
    for index in loaded.items.clone() {
        let item = &cx.workspace.items[index as usize];
        let kind = &item.parsed.item.kind;
        if let ItemKind::Algorithm(ast) = kind
            && let Some(symbol) = cx.names.declared_by(index)
        {
            algorithms.push(checker.algorithm(item, symbol, ast));
        }
        if later::is_later(kind) {
            later.push(LaterItem {
                module,
                item: item.id,
                parsed: item.parsed.clone(),
                sound: checker.later(item),
            });
        }
    }
    let mut diagnostics = checker.diagnostics;
    diagnostics.extend(unused(cx.workspace, cx.names, module));
    CheckedModule {
        algorithms,
        later,
        nodes: checker.nodes,
        diagnostics,
    }
}

impl CheckedModule {
    fn add_to(self, library: &mut Library, diagnostics: &mut Vec<Diagnostic>) {
        let first = library.nodes.len() as u32;
        for (node, source) in self.nodes.iter().enumerate() {
            if let Some(call) = source.call {
                library.calls.insert(NodeId(first + node as u32), call);
            }
            library.nodes.push(source.place);
        }
        library
            .algorithms
            .extend(self.algorithms.into_iter().map(|mut algorithm| {
                if let AlgorithmBody::Tree(tree) = &mut algorithm.body {
                    renumber(tree, first);
                }
                algorithm
            }));
        library.later.extend(self.later);
        diagnostics.extend(self.diagnostics);
    }
}

/// Makes numbers of nodes within a module numbers within the library.
fn renumber(tree: &mut Tree, first: u32) {
    for node in &mut tree.nodes {
        node.id = NodeId(node.id.0 + first);
    }
}

fn finish(
    mut library: Library,
    workspace: Workspace,
    names: Names,
    mut diagnostics: Vec<Diagnostic>,
) -> (Library, Vec<Diagnostic>) {
    library.modules = workspace
        .modules
        .iter()
        .map(|m| Module {
            name: m.name.clone(),
            docs: m.docs.clone(),
            requested: m.requested,
        })
        .collect();
    library.names = names;
    library.sources = workspace.sources;
    let sources = &library.sources;
    let key = |d: &Diagnostic| {
        let (file, span) = sources.locate(d.primary.place);
        (file, span, d.code)
    };
    diagnostics.sort_by_cached_key(key);
    // A named tree or expression that is written out twice says the same thing at one place.
    diagnostics.dedup_by(|a, b| {
        (a.code, a.primary.place, &a.message) == (b.code, b.primary.place, &b.message)
    });
    (library, diagnostics)
}

/// The lints that items silence; reports what cannot be silenced.
fn silenced(
    workspace: &Workspace,
    diagnostics: &mut Vec<Diagnostic>,
) -> FxHashMap<ItemId, Vec<Code>> {
    let mut silenced: FxHashMap<ItemId, Vec<Code>> = FxHashMap::default();
    for item in &workspace.items {
        for name in &item.parsed.item.allow {
            match Code::find(&name.text.replace('_', "-")) {
                Some(code) if code.severity() == Severity::Warning => {
                    silenced.entry(item.id).or_default().push(code);
                }
                found => diagnostics.push(not_silenced(item.id, name, found)),
            }
        }
    }
    silenced
}

/// Removes the lints that items silence, and those of modules that the user did not name.
fn remove_silenced(
    workspace: &Workspace,
    silenced: &FxHashMap<ItemId, Vec<Code>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let requested: FxHashSet<FileId> = workspace
        .modules
        .iter()
        .filter(|m| m.requested)
        .map(|m| m.file)
        .collect();
    diagnostics.retain(|d| {
        let item = d.primary.place.item;
        let silent = silenced
            .get(&item)
            .is_some_and(|codes| codes.contains(&d.code));
        d.severity == Severity::Error
            || !silent && requested.contains(&workspace.sources.file_of(item))
    });
}

fn not_silenced(item: ItemId, name: &Name, found: Option<Code>) -> Diagnostic {
    let place = Place {
        item,
        span: name.span,
    };
    if let Some(code) = found {
        let message = format!("`{code}` is an error, and only lints can be silenced");
        return Diagnostic::new(codes::E0604, place, message)
            .help(format!("{code}: {}", code.title()));
    }
    let lints: Vec<&str> = codes::ALL
        .iter()
        .filter(|c| c.severity() == Severity::Warning)
        .map(|c| c.id())
        .collect();
    let message = format!("there is no lint `{}`", name.text);
    let diagnostic = Diagnostic::new(codes::E0604, place, message);
    match nearest(&name.text, lints.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).suggest(
            format!("replace with `{near}`"),
            place,
            near,
        ),
        None => diagnostic.help(format!("lints: {}", lints.join(", "))),
    }
}
