//! Imports and private items that nothing mentions.

use super::load::Workspace;
use super::names::{Names, Target};
use super::uses::visit_uses;
use crate::diagnostics::{Applicability, Diagnostic, Edit, codes};
use crate::library::ModuleId;
use crate::source::{Place, Span};
use crate::syntax::ast::ItemKind;
use rustc_hash::FxHashMap;

/// Lints of one module. A module with syntax errors has none: what did not parse may be what uses
/// the name.
pub fn unused(workspace: &Workspace, names: &Names, module: ModuleId) -> Vec<Diagnostic> {
    let loaded = &workspace.modules[module.index()];
    let items = loaded.items.clone();
    let sound = |i: u32| workspace.items[i as usize].parsed.errors.is_empty();
    if !loaded.requested || !items.clone().all(sound) {
        return Vec::new();
    }
    let used = mentions(workspace, items.clone());
    let mut diagnostics = Vec::new();
    let scope = names.module(module);
    for import in &scope.imports {
        let broken = matches!(import.target, Target::Broken);
        if !broken && !used.contains_key(import.name.as_str()) {
            let diagnostic = Diagnostic::new(
                codes::W0201,
                import.place,
                format!("the import `{}` is never used", import.name),
            );
            diagnostics.push(with_removal(
                workspace,
                import.item,
                import.place,
                diagnostic,
            ));
        }
    }
    let mut private: Vec<_> = scope
        .own
        .values()
        .flatten()
        .map(|&s| names.symbol(s))
        .filter(|s| s.private)
        .collect();
    private.sort_by_key(|s| s.item);
    for symbol in private {
        let elsewhere = used
            .get(symbol.name.as_str())
            .is_some_and(|users| users.iter().any(|&item| item != symbol.item));
        if !elsewhere {
            let message = format!(
                "the private {} `{}` is never used",
                symbol.kind.noun(),
                symbol.name
            );
            let mut diagnostic = Diagnostic::new(codes::W0202, symbol.place, message)
                .help("remove it, or remove `private` to let others use it");
            let parsed = &workspace.items[symbol.item as usize].parsed;
            // Comments above it would be left behind without an item.
            if parsed.comments.is_empty() && parsed.item.docs.is_none() {
                let whole = whole_item(workspace, symbol.item);
                diagnostic = diagnostic.suggest("remove the item", whole, "");
            }
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}

/// An item from its first word to its end.
fn whole_item(workspace: &Workspace, item: u32) -> Place {
    let loaded = &workspace.items[item as usize];
    Place {
        item: loaded.id,
        span: loaded.parsed.item.span,
    }
}

/// The first parts of all dotted names, with the items that mention them.
fn mentions(workspace: &Workspace, items: std::ops::Range<u32>) -> FxHashMap<&str, Vec<u32>> {
    let mut used: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for item in items {
        visit_uses(
            &workspace.items[item as usize].parsed.item,
            &mut |mention| {
                if let Some(head) = mention.path.first() {
                    let users = used.entry(head.text.as_str()).or_default();
                    if users.last() != Some(&item) {
                        users.push(item);
                    }
                }
            },
        );
    }
    used
}

/// Adds a fix that removes an import: the whole item if it binds nothing else, else one name of its
/// group with a comma beside it.
fn with_removal(
    workspace: &Workspace,
    item: u32,
    bound: Place,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let loaded = &workspace.items[item as usize];
    let ItemKind::Use(it) = &loaded.parsed.item.kind else {
        return diagnostic;
    };
    let whole = loaded.parsed.item.span;
    let spans: Vec<Span> = it.group.as_ref().map_or_else(Vec::new, |group| {
        group
            .iter()
            .map(|n| {
                n.alias
                    .as_ref()
                    .map_or(n.name.span, |a| n.name.span.to(a.span))
            })
            .collect()
    });
    let at = spans
        .iter()
        .position(|s| s.start <= bound.span.start && bound.span.end <= s.end);
    let span = match at {
        Some(at) if spans.len() > 1 => match spans.get(at + 1) {
            Some(next) => Span::new(spans[at].start, next.start),
            None => Span::new(spans[at - 1].end, spans[at].end),
        },
        _ => whole,
    };
    let place = Place {
        item: loaded.id,
        span,
    };
    diagnostic.fix(
        "remove the import",
        vec![Edit {
            place,
            text: String::new(),
        }],
        Applicability::Safe,
    )
}
