//! Templates, as far as they can be checked without their steps.

use super::compile::{Asker, Purpose};
use super::context::{ModuleChecker, unknown_word};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{Clause, ModuleId, Parameter, ParameterKind, Template, TemplateBody};
use crate::nearest::{listed, nearest};
use crate::resolve::{
    LoadedItem, Lookup, Ops, Symbol, SymbolKind, Symbols, Use, UseKind, visit_uses, visit_values,
};
use crate::source::ItemId;
use crate::syntax::ast::{self, Name, Param, Require, TemplateStmt, TemplateStmtKind};
use coll_grammar::words::Operation;

impl ModuleChecker<'_, '_> {
    pub(super) fn template(
        &mut self,
        item: &LoadedItem,
        symbol: &Symbol,
        ast: &ast::Template,
    ) -> Template {
        let known = self.diagnostics.len();
        let ops = self.operations(item.id, &ast.ops);
        let params = self.parameters(item.id, &ast.params);
        let mut requires = Vec::new();
        if let ast::TemplateBody::Block(body) = &ast.body {
            requires = self.template_requires(item.id, ast, body, &ops);
        }
        self.check_template_names(item, ast, &ops);
        Template {
            declared: self.declared(item, symbol, known),
            ops,
            params,
            requires,
            body: match ast.body {
                ast::TemplateBody::Extern => TemplateBody::Native,
                _ => TemplateBody::Written,
            },
        }
    }

    /// A list of operations, each once.
    pub(super) fn operations(&mut self, item: ItemId, names: &[Name]) -> Vec<Operation> {
        let mut ops = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let Some(op) = self.operation(item, name) else {
                continue;
            };
            if ops.contains(&op) {
                let first = names.iter().take(i).find(|n| n.text == name.text);
                let mut diagnostic = Diagnostic::new(
                    codes::E0202,
                    Self::place(item, name.span),
                    format!("`{op}` stands twice"),
                );
                if let Some(first) = first {
                    diagnostic = diagnostic.label(Self::place(item, first.span), "first here");
                }
                self.report(diagnostic);
                continue;
            }
            ops.push(op);
        }
        ops
    }

    /// Parameters of a template or tree.
    pub(super) fn parameters(&mut self, item: ItemId, params: &[Param]) -> Vec<Parameter> {
        self.check_params(item, params.iter().map(|p| &p.name));
        let kinds = [
            ("template", ParameterKind::Template),
            ("level", ParameterKind::Level),
            ("int", ParameterKind::Int),
        ];
        let mut checked = Vec::new();
        for param in params {
            let place = Self::place(item, param.name.span);
            let Some(kind) = &param.kind else {
                let message = format!("the parameter `{}` has no kind", param.name.text);
                let help = format!(
                    "write `{}: template`, `: level` or `: int`",
                    param.name.text
                );
                self.report(Diagnostic::new(codes::E0213, place, message).help(help));
                continue;
            };
            match kinds.iter().find(|k| k.0 == kind.text) {
                Some(&(_, kind)) => checked.push(Parameter {
                    name: param.name.text.clone(),
                    kind,
                }),
                None => {
                    let place = Self::place(item, kind.span);
                    let words = kinds.map(|k| k.0);
                    let diagnostic = unknown_word(place, &kind.text, "a kind of parameter", &words);
                    self.report(diagnostic);
                }
            }
        }
        checked
    }

    /// The requirements of a template that ask for facts alone. Those that name its parameters or
    /// the values it defines belong to the interpreter of its steps.
    fn template_requires(
        &mut self,
        item: ItemId,
        ast: &ast::Template,
        body: &[TemplateStmt],
        ops: &[Operation],
    ) -> Vec<Clause> {
        let asker = Asker {
            module: self.module,
            item,
            purpose: Purpose::Template(ops.iter().copied().collect()),
            levels: None,
            values: &[],
        };
        let mut local: Vec<&str> = ast.params.iter().map(|p| p.name.text.as_str()).collect();
        let mut clauses = Vec::new();
        for stmt in body {
            match &stmt.kind {
                TemplateStmtKind::Let { name, .. } => local.push(&name.text),
                TemplateStmtKind::Require(require) if !mentions(require, &local) => {
                    clauses.extend(self.require(require, asker));
                }
                _ => {}
            }
        }
        clauses
    }

    /// Reports templates that are named in the body and do not exist or do not plan what they are
    /// asked for.
    fn check_template_names(&mut self, item: &LoadedItem, ast: &ast::Template, ops: &[Operation]) {
        let mut named: Vec<(&[Name], Option<Operation>)> = Vec::new();
        visit_uses(&item.parsed.item, &mut |used: Use<'_>| {
            if let UseKind::Template(op) = used.kind {
                named.push((used.path, op));
            }
        });
        for (path, op) in named {
            let is_param =
                path.len() == 1 && ast.params.iter().any(|p| p.name.text == path[0].text);
            if is_param {
                continue;
            }
            let kind = SymbolKind::Template;
            let (module, id) = (self.module, item.id);
            match self.cx.resolve_all(&self.reporter, module, id, path, kind) {
                Ok(symbols) => {
                    let wanted = op.map_or(ops.to_vec(), |op| vec![op]);
                    let _all = wanted
                        .into_iter()
                        .all(|op| self.check_plans(module, id, path, &symbols, op));
                }
                Err(fault) => self.report_fault(fault),
            }
        }
    }

    /// Reports templates of which none plans `op`.
    pub(super) fn check_plans(
        &mut self,
        module: ModuleId,
        item: ItemId,
        path: &[Name],
        symbols: &Symbols,
        op: Operation,
    ) -> bool {
        let names = self.cx.names;
        if symbols.iter().any(|&s| names.symbol(s).ops.contains(op)) {
            return true;
        }
        let incomplete = matches!(
            names.look_up(module, path),
            Lookup::Symbols {
                incomplete: true,
                ..
            }
        );
        let unreadable = symbols.iter().any(|&s| names.symbol(s).ops.is_empty());
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            return false;
        };
        if incomplete || unreadable {
            return false;
        }
        let place = Self::place(item, first.span.to(last.span));
        let all: Ops = symbols
            .iter()
            .flat_map(|&s| names.symbol(s).ops.iter())
            .collect();
        let has: Vec<&str> = all.iter().map(Operation::as_str).collect();
        let name = &names.symbol(symbols[0]).name;
        let message = format!("the template `{name}` does not plan `{op}`");
        let mut diagnostic = Diagnostic::new(codes::E0801, place, message)
            .label(names.symbol(symbols[0]).place, "declared here")
            .note(format!("`{name}` plans {}", has.join(", ")));
        let near = nearest(op.as_str(), has.iter().copied());
        let others = self.templates_for(op);
        diagnostic.help = match (near, others.is_empty()) {
            (Some(near), _) => Some(format!("did you mean `{near}.{name}`?")),
            (None, false) => Some(format!(
                "templates in scope that plan `{op}`: {}",
                listed(&others)
            )),
            (None, true) => None,
        };
        self.report(diagnostic);
        false
    }

    /// Names of templates in scope that plan an operation.
    fn templates_for(&self, op: Operation) -> Vec<&str> {
        let mut all = self
            .reporter
            .in_scope(self.module, SymbolKind::Template)
            .to_vec();
        all.retain(|name| {
            let name = Name {
                text: (*name).into(),
                span: Default::default(),
            };
            match self
                .cx
                .names
                .look_up(self.module, std::slice::from_ref(&name))
            {
                Lookup::Symbols { found, .. } => found
                    .iter()
                    .any(|&s| self.cx.names.symbol(s).ops.contains(op)),
                _ => false,
            }
        });
        all
    }
}

/// Whether a requirement names one of `local`.
fn mentions(require: &Require, local: &[&str]) -> bool {
    let mut found = false;
    visit_values(&require.condition, &mut |path| {
        found |= matches!(path, [name] if local.contains(&name.text.as_str()));
    });
    found
}
