//! What all checks know, and the checker of one module.

use super::compile::{Asker, Purpose, compile};
use super::guard::Guard;
use super::topologies::CheckedTopology;
use super::value::{Type, Value};
use crate::diagnostics::{Code, Diagnostic, Label, Severity, codes};
use crate::library::{
    Clause, Declared, ModuleId, NodeId, Template, TemplateId, Templates, TopologyId,
};
use crate::nearest::{listed, nearest};
use crate::resolve::{
    Cyclic, LoadedItem, Lookup, Names, Reporter, Symbol, SymbolId, SymbolKind, Symbols, Workspace,
};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{Expr, ItemKind, Let, Name, Require};
use coll_grammar::number::{Dimension, Quantity};
use coll_grammar::words::{Engine, Operation};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// What is wrong with a name; nothing if that was reported elsewhere.
pub(super) type Fault = Option<Box<Diagnostic>>;

/// A fault that is not reported yet.
pub(super) fn fault(diagnostic: Diagnostic) -> Fault {
    Some(Box::new(diagnostic))
}

/// What is known of all modules. Filled phase by phase, read by all modules at once.
pub(super) struct Context<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) names: &'a Names,
    pub(super) cyclic: &'a Cyclic,
    /// The number of each symbol among those of its kind.
    ids: Vec<u32>,
    /// Items that have errors whatever they declare turns out to be.
    pub(super) wrong_items: FxHashSet<ItemId>,
    /// Facts that clusters declare.
    pub(super) facts: IndexMap<SmolStr, Type>,
    /// Named expressions that are wrong by themselves.
    pub(super) unsound_lets: FxHashSet<SymbolId>,
    /// The values of named expressions that ask for no fact.
    pub(super) constants: FxHashMap<SymbolId, Value>,
    /// Named trees that are wrong by themselves.
    pub(super) unsound_trees: FxHashSet<SymbolId>,
    /// By [`TopologyId`].
    pub(super) topologies: Vec<CheckedTopology>,
    /// By [`TemplateId`].
    pub(super) templates: Vec<Template>,
}

impl<'a> Context<'a> {
    pub(super) fn new(workspace: &'a Workspace, names: &'a Names, cyclic: &'a Cyclic) -> Self {
        let mut counts = [0u32; 7];
        let ids = names
            .symbols()
            .map(|(_, symbol)| {
                let count = &mut counts[symbol.kind as usize];
                *count += 1;
                *count - 1
            })
            .collect();
        Self {
            workspace,
            names,
            cyclic,
            ids,
            wrong_items: FxHashSet::default(),
            facts: IndexMap::new(),
            unsound_lets: FxHashSet::default(),
            constants: FxHashMap::default(),
            unsound_trees: FxHashSet::default(),
            topologies: Vec::new(),
            templates: Vec::new(),
        }
    }

    /// The symbols of one kind, in the order of their numbers.
    pub(super) fn symbols_of(&self, kind: SymbolKind) -> Vec<SymbolId> {
        self.names
            .symbols()
            .filter(|(_, symbol)| symbol.kind == kind)
            .map(|(id, _)| id)
            .collect()
    }

    pub(super) fn topology_id(&self, symbol: SymbolId) -> TopologyId {
        TopologyId(self.ids[symbol.0 as usize])
    }

    pub(super) fn templates(&self, symbols: &Symbols) -> Templates {
        let ids = symbols
            .iter()
            .map(|s| TemplateId(self.ids[s.0 as usize]))
            .collect();
        Templates(ids)
    }

    pub(super) fn item(&self, symbol: SymbolId) -> &'a LoadedItem {
        &self.workspace.items[self.names.symbol(symbol).item as usize]
    }

    /// The item of a named expression.
    pub(super) fn let_item(&self, symbol: SymbolId) -> Option<(ItemId, &'a Let)> {
        let item = self.item(symbol);
        match &item.parsed.item.kind {
            ItemKind::Let(it) => Some((item.id, it)),
            _ => None,
        }
    }

    /// The one symbol of a kind that a dotted name stands for.
    ///
    /// # Errors
    /// What is wrong with the name, or nothing if that was reported elsewhere.
    pub(super) fn resolve(
        &self,
        reporter: &Reporter<'_>,
        module: ModuleId,
        item: ItemId,
        parts: &[Name],
        wanted: SymbolKind,
    ) -> Result<SymbolId, Fault> {
        self.resolve_all(reporter, module, item, parts, wanted)
            .map(|symbols| symbols[0])
    }

    /// The symbols of a kind that a dotted name stands for; several only for templates.
    ///
    /// # Errors
    /// As [`Context::resolve`].
    pub(super) fn resolve_all(
        &self,
        reporter: &Reporter<'_>,
        module: ModuleId,
        item: ItemId,
        parts: &[Name],
        wanted: SymbolKind,
    ) -> Result<Symbols, Fault> {
        let span = match parts {
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
            [] => return Err(None),
        };
        let place = Place { item, span };
        match self.names.look_up(module, parts) {
            Lookup::Symbols { found, .. } => match self.names.symbol(found[0]).kind {
                kind if kind == wanted => Ok(found),
                _ => Err(fault(reporter.wrong_kind(found[0], place, wanted))),
            },
            Lookup::Module(module) => Err(fault(reporter.is_module(module, place, wanted))),
            lookup => Err(reporter
                .unknown(module, item, parts, wanted, &lookup)
                .map(Box::new)),
        }
    }
}

/// Checks the items of one module.
pub(super) struct ModuleChecker<'c, 'a> {
    pub(super) cx: &'c Context<'a>,
    pub(super) module: ModuleId,
    pub(super) reporter: Reporter<'a>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The nodes of all trees of the module, by [`NodeId`] within it.
    pub(super) nodes: Vec<NodeSource>,
}

/// Where a node of a tree comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeSource {
    /// Where it stands.
    pub(super) place: Place,
    /// The call of a named tree in the algorithm that it was written out for.
    pub(super) call: Option<Place>,
}

impl<'c, 'a> ModuleChecker<'c, 'a> {
    pub(super) fn new(cx: &'c Context<'a>, module: ModuleId) -> Self {
        Self {
            cx,
            module,
            reporter: Reporter::new(cx.workspace, cx.names),
            diagnostics: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Registers a node.
    pub(super) fn add_node(&mut self, place: Place, call: Option<Place>) -> NodeId {
        self.nodes.push(NodeSource { place, call });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a fault, unless that was done elsewhere.
    pub(super) fn report_fault(&mut self, fault: Fault) {
        self.diagnostics.extend(fault.map(|fault| *fault));
    }

    /// What all declarations have in common; sound if nothing was reported since `known`.
    pub(super) fn declared(&self, item: &LoadedItem, symbol: &Symbol, known: usize) -> Declared {
        let errors = self.diagnostics[known..]
            .iter()
            .any(|d| d.severity == Severity::Error);
        Declared {
            name: symbol.name.clone(),
            module: self.module,
            place: symbol.place,
            docs: item.parsed.item.docs.clone(),
            private: symbol.private,
            sound: !errors && !self.cx.wrong_items.contains(&item.id),
        }
    }

    /// The value of a constant expression of any type.
    pub(super) fn constant(&mut self, item: ItemId, expr: &Expr) -> Option<Value> {
        let (guard, _) = self.compile(item, expr, Purpose::Constant)?;
        guard.constant().cloned()
    }

    /// A constant number that measures `dimension`; `what` is its name in messages and `example` how
    /// one is written. Other types are reported with `code`.
    pub(super) fn quantity(
        &mut self,
        item: ItemId,
        expr: &Expr,
        dimension: Dimension,
        what: &str,
        example: &str,
        code: Code,
    ) -> Option<Quantity> {
        let value = self.constant(item, expr)?;
        match value {
            Value::Number(q) if q.dimension == dimension => Some(q),
            other => {
                let place = Place {
                    item,
                    span: expr.span,
                };
                let message = format!("this is {}, which cannot be {what}", Type::of(&other));
                self.report(
                    Diagnostic::new(code, place, message)
                        .help(format!("write it as in `{example}`")),
                );
                None
            }
        }
    }

    /// A condition or value over facts.
    pub(super) fn compile(
        &mut self,
        item: ItemId,
        expr: &Expr,
        purpose: Purpose,
    ) -> Option<(Guard, Type)> {
        let asker = Asker {
            module: self.module,
            item,
            purpose,
            levels: None,
            values: &[],
        };
        compile(self.cx, &self.reporter, asker, expr, &mut self.diagnostics)
    }

    /// A `require` clause.
    pub(super) fn require(&mut self, require: &Require, asker: Asker<'_>) -> Option<Clause> {
        let guard = self.condition(&require.condition, asker)?;
        Some(Clause {
            guard,
            message: require.message.as_ref().map(|m| m.text.clone()),
            place: Place {
                item: asker.item,
                span: require.span,
            },
        })
    }

    /// A condition: an expression that is yes or no.
    pub(super) fn condition(&mut self, expr: &Expr, asker: Asker<'_>) -> Option<Guard> {
        let (guard, ty) = compile(self.cx, &self.reporter, asker, expr, &mut self.diagnostics)?;
        if ty == Type::Bool {
            return Some(guard);
        }
        let place = Place {
            item: asker.item,
            span: expr.span,
        };
        let message = format!("a condition is yes or no, and this is {ty}");
        self.report(
            Diagnostic::new(codes::E0506, place, message).help("compare it with something"),
        );
        None
    }

    /// A member of a closed vocabulary: what `parse` makes of its name, which is one of `words`;
    /// `what` is how one is called.
    pub(super) fn word<T>(
        &mut self,
        item: ItemId,
        name: &Name,
        what: &str,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = parse(&name.text);
        if found.is_none() {
            let place = Self::place(item, name.span);
            self.report(unknown_word(place, &name.text, what, words));
        }
        found
    }

    /// An operation's name.
    pub(super) fn operation(&mut self, item: ItemId, name: &Name) -> Option<Operation> {
        let words = Operation::SPELLINGS;
        self.word(item, name, "an operation", words, Operation::parse)
    }

    /// An engine's name.
    pub(super) fn engine(&mut self, item: ItemId, name: &Name) -> Option<Engine> {
        self.word(item, name, "an engine", Engine::SPELLINGS, Engine::parse)
    }

    pub(super) fn place(item: ItemId, span: Span) -> Place {
        Place { item, span }
    }
}

/// A word that is not one of those that can stand there; `what` is how one is called: `an engine`.
pub(super) fn unknown_word(place: Place, word: &str, what: &str, words: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new(codes::E0604, place, format!("`{word}` is not {what}"));
    match nearest(word, words.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).suggest(
            format!("replace with `{near}`"),
            place,
            near,
        ),
        None => diagnostic.help(format!("one of {}", listed(words))),
    }
}

/// Turns a fault inside something named into one at its use.
pub(super) fn at_use(diagnostic: &mut Diagnostic, place: Place, name: &str) {
    let inner = std::mem::replace(&mut diagnostic.primary.place, place);
    diagnostic.labels.insert(
        0,
        Label {
            place: inner,
            text: format!("in `{name}`"),
        },
    );
    diagnostic.fixes.clear();
}
