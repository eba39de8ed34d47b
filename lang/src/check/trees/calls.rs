//! Named trees are written out where they are called; templates and trees get their arguments.

use super::{Bound, Builder, Env};
use crate::check::compile::counted;
use crate::check::context::{Fault, at_use, fault};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{Node, NodeKind, Parameter, ParameterKind, TemplateArg, TreeIx};
use crate::resolve::{SymbolId, SymbolKind, Symbols, split_operation};
use crate::source::Place;
use crate::syntax::ast::{self, Expr, ExprKind, ItemKind, Name, Param, Path};

/// Named trees may stand in one another this deep.
const MAX_CALLS: u32 = 64;

impl<'a> Builder<'_, '_, 'a> {
    /// The templates that a name in a tree stands for; none if it is wrong or not known yet.
    pub(super) fn templates(&mut self, path: &[Name], env: &Env) -> Option<Symbols> {
        if let [name] = path {
            match env.find(&name.text) {
                None => {}
                Some(Bound::Templates(symbols)) => return Some(symbols.clone()),
                Some(Bound::Any(ParameterKind::Template)) => return None,
                Some(Bound::Broken) => {
                    self.broken = true;
                    return None;
                }
                Some(other) => {
                    let message = format!(
                        "`{}` is {}, and a template is needed here",
                        name.text,
                        other.noun()
                    );
                    self.report(Diagnostic::new(codes::E0203, env.place(name.span), message));
                    return None;
                }
            }
        }
        let kind = SymbolKind::Template;
        let checker = &self.checker;
        match checker
            .cx
            .resolve_all(&checker.reporter, env.module, env.item, path, kind)
        {
            Ok(symbols) => Some(symbols),
            Err(diagnostic) => {
                self.fault(diagnostic);
                None
            }
        }
    }

    pub(super) fn template_args(
        &mut self,
        params: &[Parameter],
        args: Option<&[Expr]>,
        place: Place,
        env: &Env,
    ) -> Option<Vec<TemplateArg>> {
        let args = args.unwrap_or(&[]);
        if params.len() != args.len() {
            let message = format!(
                "the template takes {}, and gets {}",
                counted(params.len(), "argument"),
                args.len()
            );
            self.report(Diagnostic::new(codes::E0213, place, message));
            return None;
        }
        let bound: Vec<Bound> = params
            .iter()
            .zip(args)
            .map(|(param, arg)| self.argument(param, arg, env))
            .collect();
        bound
            .into_iter()
            .map(|bound| match bound {
                Bound::Templates(symbols) => {
                    Some(TemplateArg::Templates(self.checker.cx.templates(&symbols)))
                }
                Bound::Value(value) => Some(TemplateArg::Value(value)),
                _ => None,
            })
            .collect()
    }

    /// What is passed to a parameter.
    pub(super) fn argument(&mut self, param: &Parameter, arg: &Expr, env: &Env) -> Bound {
        let path = match &arg.kind {
            ExprKind::Error => {
                self.broken = true;
                return Bound::Broken;
            }
            ExprKind::Path(path) => Some(path),
            _ => None,
        };
        match (param.kind, path) {
            (ParameterKind::Template, Some(path)) => match self.templates(&path.parts, env) {
                Some(symbols) => Bound::Templates(symbols),
                None if self.broken => Bound::Broken,
                None => Bound::Any(ParameterKind::Template),
            },
            (ParameterKind::Level, Some(path)) if path.parts.len() == 1 => {
                match self.level(&path.parts[0], env) {
                    Ok(level) => Bound::Level(level),
                    Err(diagnostic) => {
                        self.fault(diagnostic);
                        Bound::Broken
                    }
                }
            }
            (ParameterKind::Int, Some(path))
                if path.as_name().is_some_and(|n| {
                    matches!(env.find(&n.text), Some(Bound::Any(ParameterKind::Int)))
                }) =>
            {
                Bound::Any(ParameterKind::Int)
            }
            (ParameterKind::Int, _) => self.int_argument(param, arg, env),
            (kind, _) => {
                let wanted = match kind {
                    ParameterKind::Template => "a template",
                    _ => "a level",
                };
                let message = format!("the parameter `{}` takes {wanted}", param.name);
                self.report(Diagnostic::new(codes::E0213, env.place(arg.span), message));
                Bound::Broken
            }
        }
    }

    /// Writes out a named tree in place of its call.
    pub(super) fn call(
        &mut self,
        tree: &ast::Tree,
        name: &Path,
        args: Option<&[Expr]>,
        env: &mut Env,
        in_sequence: bool,
    ) -> TreeIx {
        let place = env.place(tree.span);
        match self.called(name, args, place, env) {
            Some((symbol, ast, inner)) if self.expand => {
                self.write_out(symbol, ast, inner, place, in_sequence)
            }
            other => {
                self.broken |= other.is_none();
                self.placeholder(place)
            }
        }
    }

    /// A node that stands for one that is wrong or not known.
    pub(super) fn placeholder(&mut self, place: Place) -> TreeIx {
        let ix = TreeIx(self.tree.nodes.len() as u32);
        let id = self.checker.add_node(place, self.call);
        self.tree.nodes.push(Node {
            id,
            kind: NodeKind::Assert(Vec::new()),
        });
        ix
    }

    /// The named tree that is called, with its parameters bound.
    pub(super) fn called(
        &mut self,
        name: &Path,
        args: Option<&[Expr]>,
        place: Place,
        env: &Env,
    ) -> Option<(SymbolId, &'a ast::NamedTree, Env)> {
        let bound = name.as_name().and_then(|n| env.find(&n.text));
        if let Some(bound) = bound {
            if !matches!(bound, Bound::Broken) {
                let text = &name.parts[0].text;
                let message = format!("`{text}` is {}, and a stage is needed here", bound.noun());
                let mut diagnostic = Diagnostic::new(codes::E0203, place, message);
                if let Bound::Templates(_) | Bound::Any(ParameterKind::Template) = bound {
                    diagnostic = diagnostic.help(format!("write `{text}@LEVEL`"));
                }
                self.report(diagnostic);
            }
            return None;
        }
        let cx = self.checker.cx;
        let symbol = match self.tree_symbol(name, place, env) {
            Ok(symbol) => symbol,
            Err(diagnostic) => {
                self.fault(diagnostic);
                return None;
            }
        };
        let item = cx.item(symbol);
        let ItemKind::Tree(ast) = &item.parsed.item.kind else {
            return None;
        };
        let unsound = cx.cyclic.contains(symbol) || cx.unsound_trees.contains(&symbol);
        if unsound {
            self.broken = true;
            return None;
        }
        let inner = self.bind(symbol, ast, args.unwrap_or(&[]), place, env)?;
        Some((symbol, ast, inner))
    }

    pub(super) fn tree_symbol(
        &mut self,
        name: &Path,
        place: Place,
        env: &Env,
    ) -> Result<SymbolId, Fault> {
        let (op, path) = split_operation(name);
        let checker = &self.checker;
        let found = checker.cx.resolve(
            &checker.reporter,
            env.module,
            env.item,
            &name.parts,
            SymbolKind::Tree,
        );
        let is_template = |path: &[Name]| {
            let kind = SymbolKind::Template;
            let cx = checker.cx;
            cx.resolve(&checker.reporter, env.module, env.item, path, kind)
                .is_ok()
        };
        match found {
            Err(Some(_)) if is_template(path) => {
                let stage = match op {
                    Some(op) => format!("{op}.{}", path[path.len() - 1].text),
                    None => path[path.len() - 1].text.to_string(),
                };
                let message = format!("the template `{stage}` needs a level to run on");
                let diagnostic = Diagnostic::new(codes::E0203, place, message);
                let levels = self.level_names(env);
                let Some(level) = levels.first() else {
                    return Err(fault(diagnostic.help(format!("write `{stage}@LEVEL`"))));
                };
                let mut behind = place;
                behind.span.start = behind.span.end;
                Err(fault(
                    diagnostic.help(format!("write `{stage}@{level}`")).suggest(
                        format!("run it on `{level}`"),
                        behind,
                        format!("@{level}"),
                    ),
                ))
            }
            found => found,
        }
    }

    /// Binds the parameters of a named tree to arguments.
    pub(super) fn bind(
        &mut self,
        symbol: SymbolId,
        ast: &ast::NamedTree,
        args: &[Expr],
        place: Place,
        env: &Env,
    ) -> Option<Env> {
        let declared = self.checker.cx.names.symbol(symbol);
        if ast.params.len() != args.len() {
            let message = format!(
                "`{}` takes {}, and gets {}",
                declared.name,
                counted(ast.params.len(), "argument"),
                args.len()
            );
            self.report(
                Diagnostic::new(codes::E0213, place, message)
                    .label(declared.place, signature(&ast.params)),
            );
            return None;
        }
        let mut inner = Env::new(declared.module, declared.place.item);
        for (param, arg) in ast.params.iter().zip(args) {
            let kind = param.kind.as_ref().map(|k| k.text.as_str());
            let kind = match kind {
                Some("template") => ParameterKind::Template,
                Some("level") => ParameterKind::Level,
                Some("int") => ParameterKind::Int,
                _ => return None,
            };
            let name = param.name.text.clone();
            let param = Parameter { name, kind };
            let bound = self.argument(&param, arg, env);
            inner.bound.push((param.name, bound));
        }
        Some(inner)
    }

    pub(super) fn write_out(
        &mut self,
        symbol: SymbolId,
        ast: &ast::NamedTree,
        mut inner: Env,
        place: Place,
        in_sequence: bool,
    ) -> TreeIx {
        let name = &self.checker.cx.names.symbol(symbol).name;
        if self.calls >= MAX_CALLS {
            self.report(Diagnostic::new(
                codes::E0105,
                self.call.unwrap_or(place),
                format!("named trees stand in one another more than {MAX_CALLS} deep"),
            ));
            return self.placeholder(place);
        }
        let outermost = self.call.is_none();
        let known = self.checker.diagnostics.len();
        if outermost {
            self.call = Some(place);
        }
        self.calls += 1;
        let ix = self.node(&ast.tree, &mut inner, in_sequence);
        self.calls -= 1;
        if outermost {
            self.call = None;
            for diagnostic in &mut self.checker.diagnostics[known..] {
                if diagnostic.primary.place.item != self.item {
                    at_use(diagnostic, place, name);
                }
            }
        }
        ix
    }
}

/// `(t: template, l: level)`
fn signature(params: &[Param]) -> String {
    let params = params.iter().map(|p| match &p.kind {
        Some(kind) => format!("{}: {}", p.name.text, kind.text),
        None => p.name.text.to_string(),
    });
    format!("takes ({})", params.collect::<Vec<_>>().join(", "))
}
