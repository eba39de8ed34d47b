//! Algorithms: operation, engines, topology, conditions and tree.

use super::compile::{Asker, Purpose};
use super::context::{ModuleChecker, at_use};
use super::ownership::Finding;
use super::topologies::CheckedTopology;
use super::trees::find_level;
use crate::diagnostics::{Diagnostic, Severity, codes};
use crate::library::{Algorithm, AlgorithmBody, Clause, TopologyId, Tree};
use crate::resolve::{LoadedItem, Symbol, SymbolKind};
use crate::source::{ItemId, Span};
use crate::syntax::ast::{self, AlgorithmStmt, Name, TreeKind};
use coll_grammar::words::{Engine, Operation};

/// The statements of an algorithm's body, sorted by what they are.
#[derive(Default)]
struct Body<'a> {
    trees: Vec<&'a ast::Tree>,
    natives: Vec<Span>,
    incomplete: bool,
}

impl<'c> ModuleChecker<'c, '_> {
    pub(super) fn algorithm(
        &mut self,
        item: &LoadedItem,
        symbol: &Symbol,
        ast: &ast::Algorithm,
    ) -> Algorithm {
        let known = self.diagnostics.len();
        let op = self.operation(item.id, &ast.op);
        let engines = self.engines(item, ast);
        let topology = self.topology_of(item.id, ast);
        let checked = topology.and_then(|id| self.cx.topologies.get(id.index()));
        let body = statements(item, ast);
        let (requires, prefers) = self.conditions(item.id, ast, op, checked);
        let mut algorithm = Algorithm {
            declared: self.declared(item, symbol, known),
            op: op.unwrap_or(Operation::AllGather),
            topology,
            engines,
            requires,
            prefers,
            body: AlgorithmBody::Native,
        };
        let sound = match self.body(item, ast, op, checked, &body) {
            Some((tree, sound)) => {
                let sound = sound && checked.is_some_and(|t| t.topology.declared.sound);
                algorithm.body = AlgorithmBody::Tree(tree);
                sound
            }
            None => op.is_some(),
        };
        if sound
            && algorithm.declared.sound
            && let (AlgorithmBody::Tree(tree), Some(checked)) = (&algorithm.body, checked)
        {
            let findings = self.check_ownership(
                symbol.place,
                algorithm.op,
                &algorithm.requires,
                tree,
                checked,
            );
            self.add_findings(findings, symbol.place.item);
        }
        let errors = self.diagnostics[known..]
            .iter()
            .any(|d| d.severity == Severity::Error);
        algorithm.declared.sound &= sound && !errors;
        algorithm
    }

    fn engines(&mut self, item: &LoadedItem, ast: &ast::Algorithm) -> Vec<Engine> {
        if ast.engines.is_empty() && item.parsed.is_sound() {
            let place = Self::place(item.id, ast.name.span);
            let message = format!("the algorithm `{}` names no engine", ast.name.text);
            self.report(Diagnostic::new(codes::E0411, place, message).help(format!(
                "add `using` and one or more of {}",
                Engine::SPELLINGS.join(", ")
            )));
        }
        self.engine_list(item.id, &ast.engines)
    }

    /// A list of engines, each once.
    pub(super) fn engine_list(&mut self, item: ItemId, names: &[Name]) -> Vec<Engine> {
        let mut engines = Vec::new();
        for name in names {
            let Some(engine) = self.engine(item, name) else {
                continue;
            };
            if engines.contains(&engine) {
                let place = Self::place(item, name.span);
                let message = format!("the engine `{engine}` stands twice");
                self.report(Diagnostic::new(codes::E0202, place, message));
                continue;
            }
            engines.push(engine);
        }
        engines
    }

    fn topology_of(&mut self, item: ItemId, ast: &ast::Algorithm) -> Option<TopologyId> {
        let path = ast.topology.as_ref()?;
        let kind = SymbolKind::Topology;
        match self
            .cx
            .resolve(&self.reporter, self.module, item, &path.parts, kind)
        {
            Ok(symbol) => Some(self.cx.topology_id(symbol)),
            Err(diagnostic) => {
                self.report_fault(diagnostic);
                None
            }
        }
    }

    /// The hard and the soft conditions.
    fn conditions(
        &mut self,
        item: ItemId,
        ast: &ast::Algorithm,
        op: Option<Operation>,
        topology: Option<&'c CheckedTopology>,
    ) -> (Vec<Clause>, Vec<Clause>) {
        let (mut requires, mut prefers) = (Vec::new(), Vec::new());
        let Some(op) = op else {
            return (requires, prefers);
        };
        let level = |name: &Name| match topology {
            None => Err(None),
            Some(topology) => {
                let place = Self::place(item, name.span);
                find_level(topology, name, place, std::iter::empty())
            }
        };
        let asker = Asker {
            module: self.module,
            item,
            purpose: Purpose::Algorithm(op),
            levels: Some(&level),
            values: &[],
        };
        for stmt in &ast.body {
            match stmt {
                AlgorithmStmt::Require(require) => requires.extend(self.require(require, asker)),
                AlgorithmStmt::Prefer { condition, span } => {
                    prefers.extend(self.condition(condition, asker).map(|guard| Clause {
                        guard,
                        message: None,
                        place: Self::place(item, *span),
                    }));
                }
                _ => {}
            }
        }
        (requires, prefers)
    }

    /// The tree, and whether nothing is wrong with it; none for native algorithms and where there is
    /// none.
    fn body(
        &mut self,
        item: &LoadedItem,
        ast: &ast::Algorithm,
        op: Option<Operation>,
        topology: Option<&'c CheckedTopology>,
        body: &Body<'_>,
    ) -> Option<(Tree, bool)> {
        let name = Self::place(item.id, ast.name.span);
        self.check_one_body(item.id, body);
        match (body.trees.first(), body.natives.first()) {
            (None, None) => {
                if !body.incomplete {
                    let message = format!("the algorithm `{}` has no tree", ast.name.text);
                    self.report(
                        Diagnostic::new(codes::E0412, name, message)
                            .help("add one, such as `tree mesh@L0;`"),
                    );
                }
                None
            }
            (None, Some(&native)) => {
                if let Some(op) = op.filter(|&op| !is_native(op)) {
                    let message = format!("`{op}` works by a tree and cannot be native");
                    self.report(
                        Diagnostic::new(codes::E0316, Self::place(item.id, native), message)
                            .help("only `send`, `recv` and `batchsendrecv` have no tree"),
                    );
                }
                None
            }
            (Some(tree), _) => {
                if ast.topology.is_none() {
                    let message = format!(
                        "`{}` has a tree and names no topology whose levels it could use",
                        ast.name.text
                    );
                    self.report(
                        Diagnostic::new(codes::E0410, name, message)
                            .help("add `on TOPOLOGY` behind the operation"),
                    );
                }
                if let Some(op) = op.filter(|&op| is_native(op)) {
                    let message = format!("`{op}` has no levels and therefore no tree");
                    let place = Self::place(item.id, tree.span);
                    self.report(
                        Diagnostic::new(codes::E0316, place, message)
                            .help("write `native` in place of the tree")
                            .suggest("replace with `native`", place, "native"),
                    );
                    return None;
                }
                let built = self.tree(item.id, topology, op, tree);
                Some((built.tree, !built.broken && op.is_some()))
            }
        }
    }

    fn check_one_body(&mut self, item: ItemId, body: &Body<'_>) {
        let mut spans: Vec<Span> = body.trees.iter().map(|t| t.span).collect();
        spans.extend(&body.natives);
        spans.sort_by_key(|s| s.start);
        if let [first, second, ..] = spans.as_slice() {
            self.report(
                Diagnostic::new(
                    codes::E0202,
                    Self::place(item, *second),
                    "an algorithm has one tree, and this is another",
                )
                .label(Self::place(item, *first), "the first one"),
            );
        }
    }

    /// Adds what was found about a tree. What shows in a named tree is reported where the algorithm
    /// calls it.
    fn add_findings(&mut self, findings: Vec<Finding>, item: ItemId) {
        for Finding {
            mut diagnostic,
            call,
        } in findings
        {
            if diagnostic.primary.place.item != item
                && let Some(call) = call
            {
                let text = self.cx.workspace.sources.text(call);
                let name = text.split('(').next().unwrap_or(text);
                at_use(&mut diagnostic, call, name.trim());
            }
            self.report(diagnostic);
        }
    }
}

/// Whether operations of this kind work without a tree.
pub(super) fn is_native(op: Operation) -> bool {
    crate::contract::transition(op).is_none()
}

fn statements<'a>(item: &LoadedItem, ast: &'a ast::Algorithm) -> Body<'a> {
    let mut body = Body {
        incomplete: !item.parsed.is_sound(),
        ..Body::default()
    };
    for stmt in &ast.body {
        match stmt {
            AlgorithmStmt::Tree(tree) => {
                body.incomplete |= matches!(tree.kind, TreeKind::Error);
                body.trees.push(tree);
            }
            AlgorithmStmt::Native(span) => body.natives.push(*span),
            AlgorithmStmt::Error(_) => body.incomplete = true,
            AlgorithmStmt::Require(_) | AlgorithmStmt::Prefer { .. } | AlgorithmStmt::Cost(_) => {}
        }
    }
    body
}
