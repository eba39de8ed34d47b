//! Names in expressions: parameters, facts, words and named expressions.

use super::{Compiler, Env, Failed, MAX_INLINED, Purpose, Typed, counted};
use crate::check::context::at_use;
use crate::check::facts::{CLOSED, Fact, Known};
use crate::check::guard::Op;
use crate::check::value::{Type, Value, Vocabulary};
use crate::diagnostics::{Diagnostic, codes};
use crate::nearest::{listed, nearest};
use crate::resolve::{Lookup, SymbolId, SymbolKind};
use crate::source::Place;
use crate::syntax::ast::{Expr, Let, Name, Path};
use coll_grammar::words::Operation;
use smol_str::SmolStr;

impl Compiler<'_, '_> {
    pub(super) fn path(
        &mut self,
        path: &Path,
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        let Some(name) = path.as_name() else {
            return match self.let_named(path, env) {
                Some(symbol) => self.named(symbol, &[], place, env, want),
                None => self.unknown_path(path, env),
            };
        };
        let text = name.text.as_str();
        if let Some((arg, outer)) = env.param(text) {
            let ty = self.expr(arg, outer, want)?;
            return Ok(ty);
        }
        if let Some(value) = self.outer_value(text, env) {
            let ty = Type::of(&value);
            self.emit(Op::Push(value), place);
            return Ok(ty);
        }
        if want.is_some_and(|v| v.has(text)) {
            self.emit(Op::Push(Value::Word(name.text.clone())), place);
            return Ok(Type::Word(want.cloned().unwrap_or(Vocabulary::open(""))));
        }
        if matches!(text, "true" | "false") {
            self.emit(Op::Push(Value::Bool(text == "true")), place);
            return Ok(Type::Bool);
        }
        if let Some(fact) = Fact::parse(text) {
            return self.fact(fact, place);
        }
        if let Some(symbol) = self.let_named(path, env) {
            return self.named(symbol, &[], place, env, want);
        }
        if let Some(ty) = self.cx.facts.get(text) {
            self.ask(text, Known::Cluster, place)?;
            self.emit(Op::Declared(name.text.clone()), place);
            return Ok(ty.clone());
        }
        self.word_or_unknown(name, place, env, want)
    }

    /// The value of a parameter around the whole expression; named expressions do not see them.
    fn outer_value(&self, name: &str, env: &Env<'_>) -> Option<Value> {
        let values = self.asker.values.iter().filter(|_| env.outer.is_none());
        values.rev().find(|v| v.0 == name).map(|v| v.1.clone())
    }

    /// A name that is no parameter, fact or named expression.
    fn word_or_unknown(
        &mut self,
        name: &Name,
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        let text = name.text.as_str();
        match self
            .cx
            .names
            .look_up(env.module, std::slice::from_ref(name))
        {
            Lookup::Broken => return Err(Failed),
            Lookup::Symbols { found, .. } if want.is_none() => {
                let diagnostic = self.reporter.wrong_kind(found[0], place, SymbolKind::Let);
                return self.fail(diagnostic);
            }
            _ => {}
        }
        let Some(vocabulary) = want else {
            return self.unknown_fact(text, place, env);
        };
        let Some(words) = vocabulary.words else {
            self.emit(Op::Push(Value::Word(name.text.clone())), place);
            return Ok(Type::Word(vocabulary.clone()));
        };
        if let Some(other) = CLOSED.iter().find(|v| v.has(text)) {
            let message = format!(
                "`{text}` is {}, and {} is needed here",
                other.name, vocabulary.name
            );
            return self.fail(
                Diagnostic::new(codes::E0506, place, message)
                    .help(format!("one of {}", listed(words))),
            );
        }
        let mut diagnostic = Diagnostic::new(
            codes::E0604,
            place,
            format!("`{text}` is not {}", vocabulary.name),
        );
        match nearest(text, words.iter().copied()) {
            Some(near) => {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?")).suggest(
                    format!("replace with `{near}`"),
                    place,
                    near,
                );
            }
            None => diagnostic.help = Some(format!("one of {}", listed(words))),
        }
        self.fail(diagnostic)
    }

    pub(super) fn unknown_path(&mut self, path: &Path, env: &Env<'_>) -> Typed {
        let lookup = self.cx.names.look_up(env.module, &path.parts);
        let diagnostic = match &lookup {
            Lookup::Symbols { found, .. } => Some(self.reporter.wrong_kind(
                found[0],
                env.place(path.span()),
                SymbolKind::Let,
            )),
            Lookup::Module(module) => Some(self.reporter.is_module(
                *module,
                env.place(path.span()),
                SymbolKind::Let,
            )),
            lookup => {
                self.reporter
                    .unknown(env.module, env.item, &path.parts, SymbolKind::Let, lookup)
            }
        };
        self.diagnostics.extend(diagnostic);
        Err(Failed)
    }

    fn unknown_fact(&mut self, text: &str, place: Place, env: &Env<'_>) -> Typed {
        if text == "bytes" {
            let mut diagnostic =
                Diagnostic::new(codes::E0602, place, "`bytes` could mean three things").help(
                    "`api_bytes` counts by the operation's own convention, `input_bytes` and \
                     `output_bytes` what a rank holds before and after",
                );
            for meant in [Fact::ApiBytes, Fact::InputBytes, Fact::OutputBytes] {
                let text = meant.as_str();
                diagnostic = diagnostic.suggest(format!("replace with `{text}`"), place, text);
            }
            return self.fail(diagnostic);
        }
        if self.asker.purpose == Purpose::Anything && CLOSED.iter().any(|v| v.has(text)) {
            // A word: its vocabulary shows where the named expression is used.
            self.emit(Op::Push(Value::Word(text.into())), place);
            return Ok(Type::Word(Vocabulary::open("a word")));
        }
        let code = match self.asker.purpose {
            Purpose::Constant => codes::E0201,
            _ => codes::E0601,
        };
        let what = match self.asker.purpose {
            Purpose::Constant => "named expression",
            _ => "fact",
        };
        let mut diagnostic = Diagnostic::new(code, place, format!("there is no {what} `{text}`"));
        let lets = self.reporter.in_scope(env.module, SymbolKind::Let);
        let facts = Fact::ALL
            .iter()
            .filter(|f| self.may_ask(**f))
            .map(|f| f.as_str());
        let declared = self.cx.facts.keys().map(SmolStr::as_str);
        let params = env.params.iter().map(|p| p.text.as_str());
        let candidates = params
            .chain(lets.iter().copied())
            .chain(facts)
            .chain(declared);
        if let Some(near) = nearest(text, candidates) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?")).suggest(
                format!("replace with `{near}`"),
                place,
                near,
            );
        }
        self.fail(diagnostic)
    }

    fn may_ask(&self, fact: Fact) -> bool {
        match self.asker.purpose {
            Purpose::Constant => false,
            Purpose::Topology | Purpose::Weight => fact.known() == Known::Cluster,
            Purpose::Algorithm(op) => fact.known() != Known::Level && fact.belongs_to(op),
            Purpose::Template(ops) => ops.iter().all(|op| fact.belongs_to(op)),
            Purpose::Anything => fact.known() != Known::Level,
        }
    }

    fn fact(&mut self, fact: Fact, place: Place) -> Typed {
        if fact.known() == Known::Level && !self.may_ask(fact) {
            let env = Env {
                module: self.asker.module,
                item: place.item,
                params: &[],
                args: &[],
                outer: None,
            };
            return self.unknown_fact(fact.as_str(), place, &env);
        }
        if !self.may_ask(fact) {
            let diagnostic = self.refusal(fact, place);
            return self.fail(diagnostic);
        }
        self.emit(Op::Fact(fact), place);
        Ok(fact.ty())
    }

    fn refusal(&self, fact: Fact, place: Place) -> Diagnostic {
        let text = fact.as_str();
        let message = match self.asker.purpose {
            Purpose::Algorithm(op) => format!("`{op}` has no `{text}`"),
            Purpose::Template(ops) => {
                let op = ops.iter().find(|&op| !fact.belongs_to(op));
                let op = op.map_or("this operation", Operation::as_str);
                format!("`{op}`, which this template plans, has no `{text}`")
            }
            Purpose::Constant => format!("`{text}` is not known here: this must be a constant"),
            Purpose::Weight => format!("a weight cannot depend on `{text}`"),
            Purpose::Topology | Purpose::Anything => {
                format!("a topology is matched before there is a call, so it has no `{text}`")
            }
        };
        let diagnostic = Diagnostic::new(codes::E0603, place, message);
        match self.asker.purpose {
            Purpose::Topology => {
                diagnostic.help("move the condition into the algorithms that need it")
            }
            Purpose::Weight => {
                diagnostic.help("it may ask about the cluster: `ports(LEVEL)`, `size(net k)`, …")
            }
            _ => diagnostic,
        }
    }

    /// Refuses what is asked by a function where facts known at `known` cannot be asked.
    pub(super) fn ask(&mut self, what: &str, known: Known, place: Place) -> Result<(), Failed> {
        match (self.asker.purpose, known) {
            (Purpose::Constant, _) => {
                let message = format!("`{what}` is not known here: this must be a constant");
                self.fail(Diagnostic::new(codes::E0603, place, message))
            }
            _ => Ok(()),
        }
    }

    /// The named expression that a path stands for, if it is one.
    pub(super) fn let_named(&self, path: &Path, env: &Env<'_>) -> Option<SymbolId> {
        match self.cx.names.look_up(env.module, &path.parts) {
            Lookup::Symbols { found, .. } => found
                .first()
                .copied()
                .filter(|&s| self.cx.names.symbol(s).kind == SymbolKind::Let),
            _ => None,
        }
    }

    /// The value of a named expression.
    pub(super) fn named(
        &mut self,
        symbol: SymbolId,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        if let (Some(value), []) = (self.cx.constants.get(&symbol), args) {
            self.emit(Op::Push(value.clone()), place);
            return Ok(Type::of(value));
        }
        let ty = self.inline(symbol, args, place, env, |this, body, inner| {
            this.expr(body, inner, want)
        })?;
        if let Some(last) = self.guard.places.last_mut() {
            *last = place;
        }
        Ok(ty)
    }

    /// Compiles the body of a named expression in place of its name. What is wrong in it is
    /// reported at the use, unless it is wrong by itself and reported there.
    pub(super) fn inline<T>(
        &mut self,
        symbol: SymbolId,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
        compile: impl FnOnce(&mut Self, &Expr, &Env<'_>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let cx = self.cx;
        let declared = cx.names.symbol(symbol);
        if cx.cyclic.contains(symbol) || cx.unsound_lets.contains(&symbol) {
            return Err(Failed);
        }
        let Some((item, it)) = cx.let_item(symbol) else {
            return Err(Failed);
        };
        self.check_arguments(it, args.len(), place, declared.place)?;
        if self.inlined >= MAX_INLINED {
            return self.fail(Diagnostic::new(
                codes::E0505,
                place,
                format!("named expressions stand in one another more than {MAX_INLINED} deep"),
            ));
        }
        let inner = Env {
            module: declared.module,
            item,
            params: it.params.as_deref().unwrap_or(&[]),
            args,
            outer: Some(env),
        };
        let known = self.diagnostics.len();
        self.inlined += 1;
        let result = compile(self, &it.value, &inner);
        self.inlined -= 1;
        for diagnostic in &mut self.diagnostics[known..] {
            if diagnostic.primary.place.item == item {
                at_use(diagnostic, place, &declared.name);
            }
        }
        result
    }

    fn check_arguments(
        &mut self,
        it: &Let,
        given: usize,
        place: Place,
        declared: Place,
    ) -> Result<(), Failed> {
        let takes = it.params.as_ref().map_or(0, Vec::len);
        if takes == given {
            return Ok(());
        }
        let message = format!(
            "`{}` takes {}, and gets {given}",
            it.name.text,
            counted(takes, "argument")
        );
        self.fail(Diagnostic::new(codes::E0213, place, message).label(declared, "declared here"))
    }
}
