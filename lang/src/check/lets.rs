//! Named expressions, each by itself. What it can ask is checked where it is used.

use super::compile::{Purpose, is_built_in, is_function};
use super::context::ModuleChecker;
use super::facts::{CLOSED, Fact};
use super::value::Value;
use crate::diagnostics::{Diagnostic, codes};
use crate::resolve::{LoadedItem, Lookup, Symbol, SymbolKind, Use, UseKind, visit_uses};
use crate::source::ItemId;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Let, Name};

impl ModuleChecker<'_, '_> {
    /// Whether a named expression is right by itself, and its value if it asks for no fact.
    pub(super) fn named_expression(
        &mut self,
        item: &LoadedItem,
        symbol: &Symbol,
        it: &Let,
    ) -> (bool, Option<Value>) {
        let known = self.diagnostics.len();
        let mut value = None;
        if is_built_in(&it.name.text) {
            let message = format!("`{}` means something else in expressions", it.name.text);
            self.report(
                Diagnostic::new(codes::E0212, symbol.place, message).help("give it another name"),
            );
        }
        match &it.params {
            None if stands_right_of_in(&it.value) => self.check_mentions(item, &[]),
            None => {
                let compiled = self.compile(item.id, &it.value, Purpose::Anything);
                // Which vocabulary a word is of shows where it is used.
                value = compiled
                    .filter(|(_, ty)| ty.vocabulary().is_none())
                    .and_then(|(guard, _)| guard.constant().cloned());
            }
            Some(params) => {
                self.check_params(item.id, params.iter());
                self.check_mentions(item, params);
            }
        }
        (
            self.diagnostics.len() == known && item.parsed.is_sound(),
            value,
        )
    }

    /// Reports parameters that stand twice or hide something.
    pub(super) fn check_params<'n>(
        &mut self,
        item: ItemId,
        params: impl Iterator<Item = &'n Name> + Clone,
    ) {
        for (i, param) in params.clone().enumerate() {
            let place = Self::place(item, param.span);
            if let Some(first) = params.clone().take(i).find(|p| p.text == param.text) {
                let message = format!("the parameter `{}` stands twice", param.text);
                let first = Self::place(item, first.span);
                self.report(
                    Diagnostic::new(codes::E0202, place, message).label(first, "first here"),
                );
            }
            self.check_hides(item, param, "parameter");
        }
    }

    /// Reports a parameter or variable with the name of something that the file declares or imports.
    pub(super) fn check_hides(&mut self, item: ItemId, name: &Name, what: &str) {
        let scope = self.cx.names.module(self.module);
        let own = scope
            .own
            .get(&name.text)
            .map(|s| self.cx.names.symbol(s[0]));
        let import = scope.imports.iter().find(|i| i.name == name.text);
        let hidden = own
            .map(|symbol| symbol.place)
            .or_else(|| import.map(|i| i.place));
        if let Some(hidden) = hidden {
            let message = format!(
                "the {what} `{}` hides what has this name outside",
                name.text
            );
            let place = Self::place(item, name.span);
            self.report(
                Diagnostic::new(codes::E0212, place, message)
                    .label(hidden, "hidden by it")
                    .help(format!("rename the {what}")),
            );
        }
    }

    /// Reports names in an item's expressions that mean nothing at all: neither parameter, fact,
    /// word, function, nor anything declared.
    fn check_mentions(&mut self, item: &LoadedItem, params: &[Name]) {
        let mut wrong: Vec<&[Name]> = Vec::new();
        visit_uses(&item.parsed.item, &mut |used: Use<'_>| {
            if used.kind == UseKind::Value {
                wrong.push(used.path);
            }
        });
        for path in wrong {
            let Some(head) = path.first() else { continue };
            let text = head.text.as_str();
            let means = path.len() == 1
                && (params.iter().any(|p| p.text == head.text)
                    || Fact::parse(text).is_some()
                    || is_function(text)
                    || matches!(text, "top" | "true" | "false")
                    || CLOSED.iter().any(|v| v.has(text))
                    || self.cx.facts.contains_key(text));
            if means {
                continue;
            }
            let lookup = self.cx.names.look_up(self.module, path);
            if let Lookup::Missing { .. } | Lookup::NotRequired { .. } | Lookup::Private(_) = lookup
            {
                let kind = SymbolKind::Let;
                let diagnostic = self
                    .reporter
                    .unknown(self.module, item.id, path, kind, &lookup);
                self.diagnostics.extend(diagnostic);
            }
        }
    }
}

/// Whether an expression is a set or a range, which have no type of their own.
fn stands_right_of_in(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Paren(inner) => stands_right_of_in(inner),
        ExprKind::Set(_) => true,
        ExprKind::Binary { op, .. } => {
            matches!(op, BinaryOp::RangeOpen | BinaryOp::RangeClosed)
        }
        _ => false,
    }
}
