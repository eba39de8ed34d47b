//! Trees: names are resolved, named trees written out.

use super::compile::counted;
use super::context::{ModuleChecker, at_use, unknown_word};
use super::topologies::{CheckedTopology, member_number};
use super::value::Value;
use crate::diagnostics::{Applicability, Diagnostic, Edit, codes};
use crate::library::{
    Children, LevelRef, ModuleId, Node, NodeKind, Parameter, ParameterKind, TemplateArg, Tree,
    TreeIx,
};
use crate::nearest::{listed, nearest};
use crate::resolve::{LoadedItem, SymbolId, SymbolKind, Symbols, split_operation};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{self, Child, Expr, ExprKind, ItemKind, Name, Param, Path, TreeKind};
use coll_grammar::number::Dimension;
use coll_grammar::words::{Operation, StateWord};
use smol_str::SmolStr;

/// Named trees may stand in one another this deep.
const MAX_CALLS: usize = 64;

/// A tree has at most this many nodes once named trees are written out.
pub(super) const MAX_NODES: usize = 1 << 16;

/// What a name around a tree stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Level(LevelRef),
    Templates(Symbols),
    Value(Value),
    /// A parameter of a tree that is checked by itself: nothing is known but its kind.
    Any(ParameterKind),
    /// Wrong, and reported.
    Broken,
}

/// The names around a tree: parameters and loop variables.
pub(super) struct Env {
    pub(super) module: ModuleId,
    pub(super) item: ItemId,
    bound: Vec<(SmolStr, Bound)>,
}

impl Env {
    pub(super) fn new(module: ModuleId, item: ItemId) -> Self {
        Self {
            module,
            item,
            bound: Vec::new(),
        }
    }

    fn find(&self, name: &str) -> Option<&Bound> {
        self.bound.iter().rev().find(|b| b.0 == name).map(|b| &b.1)
    }

    /// The values among the names.
    pub(super) fn values(&self) -> Vec<(SmolStr, Value)> {
        let values = self.bound.iter().filter_map(|(name, bound)| match bound {
            Bound::Value(value) => Some((name.clone(), value.clone())),
            _ => None,
        });
        values.collect()
    }

    /// Whether a name is a parameter without a value: its tree is checked by itself, or the argument
    /// was wrong.
    pub(super) fn is_unknown(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Bound::Any(_) | Bound::Broken))
    }

    fn place(&self, span: Span) -> Place {
        Place {
            item: self.item,
            span,
        }
    }
}

/// A tree that was built.
pub(super) struct Built {
    pub(super) tree: Tree,
    /// Whether something in it is wrong or did not parse: then nothing may follow from it.
    pub(super) broken: bool,
}

/// Builds one tree.
pub(super) struct Builder<'b, 'c, 'a> {
    pub(super) checker: &'b mut ModuleChecker<'c, 'a>,
    /// Whose levels the tree names; none if that is not known.
    pub(super) topology: Option<&'c CheckedTopology>,
    /// The operation of leaves that name none; none if that is not known.
    op: Option<Operation>,
    /// The item of the algorithm or of the named tree.
    item: ItemId,
    /// Whether named trees are written out.
    expand: bool,
    tree: Tree,
    broken: bool,
    vars: u32,
    calls: Vec<SymbolId>,
    /// The call in `item` that is being written out.
    call: Option<Place>,
}

impl<'c, 'a> ModuleChecker<'c, 'a> {
    /// Checks a named tree by itself: all that does not depend on its arguments and on the topology.
    pub(super) fn named_tree(&mut self, item: &LoadedItem, ast: &ast::NamedTree) -> bool {
        let known = self.diagnostics.len();
        let params = self.parameters(item.id, &ast.params);
        let mut env = Env::new(self.module, item.id);
        for param in &ast.params {
            let kind = params.iter().find(|p| p.name == param.name.text);
            let bound = kind.map_or(Bound::Broken, |p| Bound::Any(p.kind));
            env.bound.push((param.name.text.clone(), bound));
        }
        let mut builder = Builder::new(self, None, None, item.id);
        builder.expand = false;
        // Whether a loop can stand outermost shows where the tree is called.
        builder.node(&ast.tree, &mut env, true);
        self.diagnostics.len() == known && item.parsed.is_sound()
    }

    /// Builds the tree of an algorithm.
    pub(super) fn tree(
        &mut self,
        item: ItemId,
        topology: Option<&'c CheckedTopology>,
        op: Option<Operation>,
        ast: &ast::Tree,
    ) -> Built {
        let mut env = Env::new(self.module, item);
        let mut builder = Builder::new(self, topology, op, item);
        builder.node(ast, &mut env, false);
        Built {
            broken: builder.broken,
            tree: builder.tree,
        }
    }
}

impl<'b, 'c, 'a> Builder<'b, 'c, 'a> {
    fn new(
        checker: &'b mut ModuleChecker<'c, 'a>,
        topology: Option<&'c CheckedTopology>,
        op: Option<Operation>,
        item: ItemId,
    ) -> Self {
        Self {
            checker,
            topology,
            op,
            item,
            expand: true,
            tree: Tree {
                nodes: Vec::new(),
                children: Vec::new(),
            },
            broken: false,
            vars: 0,
            calls: Vec::new(),
            call: None,
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.broken = true;
        self.checker.report(diagnostic);
    }

    /// Reports what there is to report of something wrong.
    pub(super) fn fault(&mut self, diagnostic: Option<Diagnostic>) {
        self.broken = true;
        self.checker.diagnostics.extend(diagnostic);
    }

    /// Adds the node of a tree and those below it. `in_sequence` tells whether loops and assertions
    /// can stand here.
    fn node(&mut self, tree: &ast::Tree, env: &mut Env, in_sequence: bool) -> TreeIx {
        if let TreeKind::Call { name, args } = &tree.kind {
            return self.call(tree, name, args.as_deref(), env, in_sequence);
        }
        let place = env.place(tree.span);
        let ix = TreeIx(self.tree.nodes.len() as u32);
        let id = self.checker.add_node(place, self.call);
        self.tree.nodes.push(Node {
            id,
            kind: NodeKind::Assert(Vec::new()),
        });
        if self.tree.nodes.len() > MAX_NODES {
            if self.tree.nodes.len() == MAX_NODES + 1 {
                self.report(Diagnostic::new(
                    codes::E1003,
                    self.call.unwrap_or(place),
                    format!(
                        "the tree has more than {MAX_NODES} nodes once named trees are written out"
                    ),
                ));
            }
            return ix;
        }
        if let Some(kind) = self.kind(tree, env, in_sequence) {
            self.tree.nodes[ix.index()].kind = kind;
        }
        ix
    }

    fn kind(&mut self, tree: &ast::Tree, env: &mut Env, in_sequence: bool) -> Option<NodeKind> {
        match &tree.kind {
            TreeKind::Error => {
                self.broken = true;
                None
            }
            TreeKind::Leaf { name, args, level } => self.leaf(name, args.as_deref(), level, env),
            TreeKind::Call { .. } => None,
            TreeKind::Sequence(children) => {
                let list: Vec<TreeIx> = children.iter().map(|c| self.node(c, env, true)).collect();
                Some(NodeKind::Sequence(self.add_children(&list)))
            }
            TreeKind::Parallel(children) => {
                let weights = self.weights(children, env, Dimension::NONE, tree.span);
                Some(NodeKind::Parallel {
                    children: self.shares(children, env),
                    weights,
                })
            }
            TreeKind::OmniPipe(children) => {
                let weights = self.weights(children, env, Dimension::RATE, tree.span);
                Some(NodeKind::OmniPipe {
                    children: self.shares(children, env),
                    weights,
                })
            }
            TreeKind::For {
                var,
                reverse,
                first,
                last,
                inclusive,
                body,
            } => {
                if !in_sequence {
                    self.only_in_sequence("a loop over levels", tree.span, env);
                }
                self.for_levels(var, [first, last], (*reverse, *inclusive), body, env)
            }
            TreeKind::Assert(states) => {
                if !in_sequence {
                    self.only_in_sequence("an assertion", tree.span, env);
                }
                self.assertion(states, env)
            }
        }
    }

    fn only_in_sequence(&mut self, what: &str, span: Span, env: &Env) {
        let place = env.place(span);
        let at = |offset: u32| env.place(Span::new(offset, offset));
        let edits = vec![
            Edit {
                place: at(span.start),
                text: "sequence < ".to_owned(),
            },
            Edit {
                place: at(span.end),
                text: " >".to_owned(),
            },
        ];
        self.report(
            Diagnostic::new(
                codes::E0317,
                place,
                format!("{what} stands inside a sequence"),
            )
            .help("write `sequence < … >` around it")
            .fix(
                "write a sequence around it",
                edits,
                Applicability::Suggested,
            ),
        );
    }

    fn add_children(&mut self, list: &[TreeIx]) -> Children {
        let start = self.tree.children.len() as u32;
        self.tree.children.extend_from_slice(list);
        Children {
            start,
            end: self.tree.children.len() as u32,
        }
    }

    fn shares(&mut self, children: &[Child], env: &mut Env) -> Children {
        let list: Vec<TreeIx> = children
            .iter()
            .map(|c| self.node(&c.tree, env, false))
            .collect();
        self.add_children(&list)
    }

    fn leaf(
        &mut self,
        name: &Path,
        args: Option<&[Expr]>,
        level: &Name,
        env: &Env,
    ) -> Option<NodeKind> {
        let (op, path) = split_operation(name);
        let level = self.level(level, env);
        let symbols = self.templates(path, env);
        let (Some(symbols), Some(op)) = (symbols, op.or(self.op)) else {
            self.fault(level.err().flatten());
            return None;
        };
        let checker = &mut *self.checker;
        if !checker.check_plans(env.module, env.item, path, &symbols, op) {
            self.broken = true;
        }
        let level = match level {
            Ok(level) => level,
            Err(diagnostic) => {
                self.fault(diagnostic);
                return None;
            }
        };
        let cx = self.checker.cx;
        let template = cx.templates(&symbols).for_op(op, &cx.templates)?;
        let declared = &cx.templates[template.index()];
        self.broken |= !declared.declared.sound;
        let place = env.place(name.span());
        let args = self.template_args(&declared.params, args, place, env)?;
        Some(NodeKind::Leaf {
            op,
            template,
            args,
            level,
        })
    }

    /// The templates that a name in a tree stands for; none if it is wrong or not known yet.
    fn templates(&mut self, path: &[Name], env: &Env) -> Option<Symbols> {
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

    fn template_args(
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
    fn argument(&mut self, param: &Parameter, arg: &Expr, env: &Env) -> Bound {
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
    fn call(
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
    fn placeholder(&mut self, place: Place) -> TreeIx {
        let ix = TreeIx(self.tree.nodes.len() as u32);
        let id = self.checker.add_node(place, self.call);
        self.tree.nodes.push(Node {
            id,
            kind: NodeKind::Assert(Vec::new()),
        });
        ix
    }

    /// The named tree that is called, with its parameters bound.
    fn called(
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

    fn tree_symbol(
        &mut self,
        name: &Path,
        place: Place,
        env: &Env,
    ) -> Result<SymbolId, Option<Diagnostic>> {
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
                let level = self.level_names(env).first().cloned();
                let level = level.unwrap_or_else(|| "LEVEL".to_owned());
                Err(Some(
                    Diagnostic::new(codes::E0203, place, message)
                        .help(format!("write `{stage}@{level}`")),
                ))
            }
            found => found,
        }
    }

    /// Binds the parameters of a named tree to arguments.
    fn bind(
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

    fn write_out(
        &mut self,
        symbol: SymbolId,
        ast: &ast::NamedTree,
        mut inner: Env,
        place: Place,
        in_sequence: bool,
    ) -> TreeIx {
        let name = &self.checker.cx.names.symbol(symbol).name;
        if self.calls.len() >= MAX_CALLS {
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
        self.calls.push(symbol);
        let ix = self.node(&ast.tree, &mut inner, in_sequence);
        self.calls.pop();
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

    fn for_levels(
        &mut self,
        var: &Name,
        ends: [&Name; 2],
        (reverse, inclusive): (bool, bool),
        body: &ast::Tree,
        env: &mut Env,
    ) -> Option<NodeKind> {
        if env.find(&var.text).is_some() {
            let message = format!("the variable `{}` hides another", var.text);
            self.report(
                Diagnostic::new(codes::E0212, env.place(var.span), message)
                    .help("rename one of them"),
            );
        } else if self.call.is_none() {
            let known = self.checker.diagnostics.len();
            self.checker.check_hides(env.item, var, "variable");
            self.broken |= self.checker.diagnostics.len() > known;
        }
        let number = self.vars;
        self.vars += 1;
        let range = self.range(ends, env);
        env.bound
            .push((var.text.clone(), Bound::Level(LevelRef::Var(number))));
        let body = self.node(body, env, true);
        env.bound.pop();
        let [first, last] = range?;
        Some(NodeKind::For {
            var: number,
            first,
            last,
            exclusive: !inclusive,
            reverse,
            body,
        })
    }

    /// The two ends of a loop, which belong to one family, or are declared one by one.
    fn range(&mut self, ends: [&Name; 2], env: &Env) -> Option<[LevelRef; 2]> {
        let mut found = Vec::new();
        for end in ends {
            match self.level(end, env) {
                Ok(level) => found.push(level),
                Err(diagnostic) => self.fault(diagnostic),
            }
        }
        let [first, last] = found.try_into().ok()?;
        let family = |level: LevelRef| match level {
            LevelRef::Member { family, .. } | LevelRef::Top(family) => Ok(Some(family)),
            LevelRef::Declared(_) => Ok(None),
            LevelRef::Var(_) | LevelRef::Flat(_) => Err(()),
        };
        if matches!((family(first), family(last)), (Ok(a), Ok(b)) if a == b) {
            return Some([first, last]);
        }
        let [a, b] = ends;
        let message = format!(
            "`{}` and `{}` are not ends of one range of levels",
            a.text, b.text
        );
        self.report(
            Diagnostic::new(codes::E0401, env.place(a.span.to(b.span)), message)
                .help("a loop runs over the levels of one family, or over levels in the order in which they are declared"),
        );
        None
    }

    fn assertion(&mut self, states: &[ast::StateSet], env: &Env) -> Option<NodeKind> {
        let mut asserted = Vec::new();
        let mut complete = true;
        for set in states {
            let state = StateWord::parse(&set.state.text);
            if state.is_none() {
                let place = env.place(set.state.span);
                let words = StateWord::SPELLINGS;
                let diagnostic = unknown_word(place, &set.state.text, "a state of data", words);
                self.report(diagnostic);
            }
            let mut levels = Vec::new();
            for level in &set.levels {
                match self.level(level, env) {
                    Ok(level) => levels.push(level),
                    Err(diagnostic) => {
                        complete = false;
                        self.fault(diagnostic);
                    }
                }
            }
            asserted.extend(state.map(|state| (state, levels)));
        }
        complete.then_some(NodeKind::Assert(asserted))
    }

    /// The level that a name in a tree stands for.
    ///
    /// # Errors
    /// What is wrong with it; nothing if it is not known which levels there are.
    pub(super) fn level(&self, name: &Name, env: &Env) -> Result<LevelRef, Option<Diagnostic>> {
        match env.find(&name.text) {
            None => {}
            Some(Bound::Level(level)) => return Ok(*level),
            Some(Bound::Broken | Bound::Any(ParameterKind::Level)) => return Err(None),
            Some(other) => {
                let message = format!(
                    "`{}` is {}, and a level is needed here",
                    name.text,
                    other.noun()
                );
                let place = env.place(name.span);
                return Err(Some(Diagnostic::new(codes::E0203, place, message)));
            }
        }
        let Some(topology) = self.topology else {
            return Err(None);
        };
        match find_level(topology, &name.text) {
            Some(level) => Ok(level),
            None if topology.incomplete => Err(None),
            None => Err(Some(self.unknown_level(name, topology, env))),
        }
    }

    fn unknown_level(&self, name: &Name, topology: &CheckedTopology, env: &Env) -> Diagnostic {
        let place = env.place(name.span);
        let declared = &topology.topology.declared;
        let text = name.text.as_str();
        let message = match text {
            "top" => format!(
                "`top` is the last level of a family, and `{}` has none",
                declared.name
            ),
            _ => format!("the topology `{}` has no level `{text}`", declared.name),
        };
        let all = self.level_names(env);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let diagnostic = Diagnostic::new(codes::E0401, place, message)
            .label(declared.place, format!("its levels are {}", listed(&all)));
        match nearest(text, all.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")).suggest(
                format!("replace with `{near}`"),
                place,
                near,
            ),
            None => diagnostic.help(format!("levels: {}", listed(&all))),
        }
    }

    /// The names that levels have here.
    fn level_names(&self, env: &Env) -> Vec<String> {
        let bound = env.bound.iter().filter_map(|(name, bound)| match bound {
            Bound::Level(_) | Bound::Any(ParameterKind::Level) => Some(name.to_string()),
            _ => None,
        });
        let levels = self.topology.iter().flat_map(|t| &t.topology.levels);
        let declared = levels.flat_map(|level| match level.family {
            true => vec![
                format!("{}0", level.name),
                format!("{}1", level.name),
                "top".to_owned(),
            ],
            false => vec![level.name.to_string()],
        });
        declared.chain(bound).collect()
    }
}

impl Bound {
    fn noun(&self) -> &'static str {
        match self {
            Self::Level(_) | Self::Any(ParameterKind::Level) => "a level",
            Self::Templates(_) | Self::Any(ParameterKind::Template) => "a template",
            Self::Value(_) | Self::Any(ParameterKind::Int) => "a number",
            Self::Broken => "wrong",
        }
    }
}

/// The level of a topology with this name: a declared one, a member of a family, or `top`.
pub(super) fn find_level(topology: &CheckedTopology, name: &str) -> Option<LevelRef> {
    let levels = || topology.topology.levels.iter().zip(0u32..);
    if name == "top" {
        let family = levels().find(|(level, _)| level.family);
        return family.map(|(_, family)| LevelRef::Top(family));
    }
    let declared = levels().find(|(level, _)| !level.family && level.name == name);
    if let Some((_, declared)) = declared {
        return Some(LevelRef::Declared(declared));
    }
    levels()
        .filter(|(level, _)| level.family)
        .find_map(|(level, family)| {
            let net = member_number(&level.name, name)?;
            Some(LevelRef::Member { family, net })
        })
}

/// `(t: template, l: level)`
fn signature(params: &[Param]) -> String {
    let params = params.iter().map(|p| match &p.kind {
        Some(kind) => format!("{}: {}", p.name.text, kind.text),
        None => p.name.text.to_string(),
    });
    format!("takes ({})", params.collect::<Vec<_>>().join(", "))
}
