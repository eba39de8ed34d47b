//! Definitions that depend on themselves: named expressions, named trees and templates.

use super::load::Workspace;
use super::names::{Lookup, Names, Ops, SymbolId, SymbolKind};
use super::uses::{Use, UseKind, visit_uses};
use crate::diagnostics::{Diagnostic, codes};
use crate::syntax::ast::{ItemKind, Name, Param};
use rayon::prelude::*;

/// Symbols that depend on themselves, or on something that does: nothing may follow them.
#[derive(Clone, Debug, Default)]
pub struct Cyclic {
    cyclic: Vec<bool>,
    order: Vec<SymbolId>,
}

impl Cyclic {
    /// Whether a symbol depends on itself or on something that does.
    pub fn contains(&self, symbol: SymbolId) -> bool {
        self.cyclic[symbol.0 as usize]
    }

    /// All other symbols, each behind those that it depends on.
    pub fn order(&self) -> &[SymbolId] {
        &self.order
    }
}

/// Finds them, and one diagnostic for each cycle.
pub(super) fn find_cycles(workspace: &Workspace, names: &Names) -> (Cyclic, Vec<Diagnostic>) {
    let edges: Vec<Vec<Edge>> = names
        .symbols
        .par_iter()
        .map(|symbol| dependencies(workspace, names, symbol.item))
        .collect();
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); edges.len()];
    let mut open: Vec<u32> = vec![0; edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        open[from] = targets.len() as u32;
        for edge in targets {
            users[edge.to.0 as usize].push(from as u32);
        }
    }
    let mut settled = vec![false; edges.len()];
    let ready = (0..edges.len() as u32).filter(|&i| open[i as usize] == 0);
    let order = settle(ready.collect(), &users, &mut open, &mut settled);
    let cyclic = Cyclic {
        cyclic: settled.iter().map(|s| !s).collect(),
        order: order.into_iter().map(SymbolId).collect(),
    };
    let mut diagnostics = Vec::new();
    for start in 0..edges.len() as u32 {
        if settled[start as usize] {
            continue;
        }
        let cycle = follow(start, &edges, &settled);
        diagnostics.push(report(names, &edges, &cycle));
        for &member in &cycle {
            settled[member as usize] = true;
        }
        settle(cycle, &users, &mut open, &mut settled);
    }
    (cyclic, diagnostics)
}

/// A mention of another definition.
struct Edge {
    to: SymbolId,
    /// Where the mention stands, in the item of the symbol that the edge belongs to.
    span: crate::source::Span,
}

/// Marks what depends on settled symbols alone, starting from `ready`; returns it in the order in
/// which it became so.
fn settle(
    mut ready: Vec<u32>,
    users: &[Vec<u32>],
    open: &mut [u32],
    settled: &mut [bool],
) -> Vec<u32> {
    let mut order = Vec::new();
    while let Some(symbol) = ready.pop() {
        order.push(symbol);
        settled[symbol as usize] = true;
        for &user in &users[symbol as usize] {
            let count = &mut open[user as usize];
            *count = count.saturating_sub(1);
            if *count == 0 && !settled[user as usize] {
                ready.push(user);
            }
        }
    }
    order
}

/// A cycle that is reached from `start` over unsettled symbols: each has an unsettled dependency.
fn follow(start: u32, edges: &[Vec<Edge>], settled: &[bool]) -> Vec<u32> {
    let mut path = vec![start];
    let mut position = rustc_hash::FxHashMap::default();
    position.insert(start, 0);
    loop {
        let last = path[path.len() - 1];
        let next = edges[last as usize]
            .iter()
            .map(|e| e.to.0)
            .find(|&to| !settled[to as usize])
            .expect("an unsettled symbol depends on an unsettled one");
        if let Some(&at) = position.get(&next) {
            return path.split_off(at);
        }
        position.insert(next, path.len());
        path.push(next);
    }
}

fn report(names: &Names, edges: &[Vec<Edge>], cycle: &[u32]) -> Diagnostic {
    let symbol = |i: usize| names.symbol(SymbolId(cycle[i % cycle.len()]));
    let first = symbol(0);
    let mut chain: Vec<&str> = (0..cycle.len()).map(|i| symbol(i).name.as_str()).collect();
    chain.push(first.name.as_str());
    let message = match cycle.len() {
        1 => format!("`{}` is defined by itself", first.name),
        _ => format!("`{}` depends on itself: {}", first.name, chain.join(" -> ")),
    };
    let mut diagnostic = Diagnostic::new(codes::E0207, first.place, message);
    for i in 0..cycle.len() {
        let (from, to) = (symbol(i), symbol(i + 1));
        let edge = edges[cycle[i] as usize]
            .iter()
            .find(|e| e.to.0 == cycle[(i + 1) % cycle.len()]);
        if let Some(edge) = edge {
            let mut place = from.place;
            place.span = edge.span;
            diagnostic = diagnostic.label(place, format!("`{}` needs `{}`", from.name, to.name));
        }
    }
    diagnostic.help("definitions cannot repeat themselves: write out what is needed")
}

/// The definitions that the item of a definition mentions.
fn dependencies(workspace: &Workspace, names: &Names, item: u32) -> Vec<Edge> {
    let loaded = &workspace.items[item as usize];
    let ast = &loaded.parsed.item;
    let (wanted, params, ops) = match &ast.kind {
        ItemKind::Let(it) => (SymbolKind::Let, it.params.as_deref().unwrap_or(&[]), None),
        ItemKind::Tree(it) => (SymbolKind::Tree, &[][..], Some((&it.params, &[][..]))),
        ItemKind::Template(it) => (
            SymbolKind::Template,
            &[][..],
            Some((&it.params, it.ops.as_slice())),
        ),
        _ => return Vec::new(),
    };
    let own_ops: Ops = ops
        .iter()
        .flat_map(|(_, ops)| ops.iter())
        .filter_map(|op| coll_grammar::words::Operation::parse(&op.text))
        .collect();
    let is_param = |name: &Name| {
        let typed = |p: &Param| p.name.text == name.text;
        params.iter().any(|p| p.text == name.text)
            || ops.is_some_and(|(params, _)| params.iter().any(typed))
    };
    let mut edges: Vec<Edge> = Vec::new();
    visit_uses(ast, &mut |used: Use<'_>| {
        let fits = matches!(
            (wanted, used.kind),
            (SymbolKind::Let, UseKind::Value)
                | (SymbolKind::Tree, UseKind::Tree)
                | (SymbolKind::Template, UseKind::Template(_))
        );
        let [head, ..] = used.path else { return };
        if !fits || used.path.len() == 1 && is_param(head) {
            return;
        }
        let Lookup::Symbols { found, .. } = names.look_up(loaded.module, used.path) else {
            return;
        };
        let op = match used.kind {
            UseKind::Template(op) => op.into_iter().collect::<Ops>(),
            _ => Ops::default(),
        };
        let wanted_ops = if op.is_empty() { own_ops } else { op };
        let target = found.iter().copied().find(|&s| {
            let symbol = names.symbol(s);
            symbol.kind == wanted
                && (wanted != SymbolKind::Template || !symbol.ops.and(wanted_ops).is_empty())
        });
        if let Some(to) = target.filter(|to| edges.iter().all(|e| e.to != *to)) {
            edges.push(Edge {
                to,
                span: head.span.to(used.path[used.path.len() - 1].span),
            });
        }
    });
    edges
}
