//! Items that later passes give a meaning to: here their names are resolved, nothing else.

use super::context::{Context, ModuleChecker};
use crate::resolve::{LoadedItem, SymbolKind, UseKind, visit_own_uses};
use crate::syntax::ast::{ItemKind, TemplateBody};

/// Whether an item is kept as it was parsed.
pub(super) fn is_later(kind: &ItemKind) -> bool {
    match kind {
        ItemKind::Select(_)
        | ItemKind::Fallback(_)
        | ItemKind::Cost(_)
        | ItemKind::Curve(_)
        | ItemKind::Util(_)
        | ItemKind::Test(_) => true,
        ItemKind::Template(template) => template.body != TemplateBody::Extern,
        _ => false,
    }
}

impl ModuleChecker<'_, '_> {
    /// Resolves the names in such an item; says whether nothing is wrong.
    pub(super) fn later(&mut self, item: &LoadedItem) -> bool {
        let known = self.diagnostics.len();
        match &item.parsed.item.kind {
            ItemKind::Select(it) => {
                self.operation(item.id, &it.op);
                self.engine_list(item.id, &it.engines);
                self.mentions(item);
            }
            ItemKind::Fallback(it) => {
                self.engine_list(item.id, &it.chain);
            }
            ItemKind::Cost(it) => {
                self.operations(item.id, &it.ops);
                if let Some(engine) = &it.engine {
                    self.engine(item.id, engine);
                }
                self.mentions(item);
            }
            ItemKind::Util(it) => {
                if let Some(engine) = &it.engine {
                    self.engine(item.id, engine);
                }
            }
            ItemKind::Test(_) => self.mentions(item),
            _ => {}
        }
        self.diagnostics.len() == known && item.parsed.is_sound()
    }

    /// Reports algorithms and templates that an item names and that do not exist.
    fn mentions(&mut self, item: &LoadedItem) {
        let mut mentioned = Vec::new();
        visit_own_uses(&item.parsed.item, &mut |used| {
            let kind = match used.kind {
                UseKind::Algorithm => Some(SymbolKind::Algorithm),
                UseKind::Template(_) => Some(SymbolKind::Template),
                UseKind::Value | UseKind::Topology | UseKind::Tree => None,
            };
            mentioned.extend(kind.map(|kind| (used.path, kind)));
        });
        let cx: &Context<'_> = self.cx;
        for (path, kind) in mentioned {
            let found = cx.resolve_all(&self.reporter, self.module, item.id, path, kind);
            self.report_fault(found.err().flatten());
        }
    }
}
