//! Every dotted name that an item mentions, and as what.

use crate::syntax::ast::{
    AlgorithmStmt, BufferRef, Child, ClusterStmt, CostStmt, Expr, ExprKind, Item, ItemKind, Name,
    NetBound, NetRange, Path, Payload, PayloadKind, PlaneStmt, Rule, RuleKind, Target,
    TemplateBody, TemplateRef, TemplateStmt, TemplateStmtKind, TestOption, TestStmt, TestStmtKind,
    TopologyStmt, Tree, TreeKind,
};
use coll_grammar::words::Operation;

/// A mention of a dotted name.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// The parts, without an operation in front.
    pub path: &'a [Name],
    /// As what it is mentioned.
    pub kind: UseKind,
}

/// As what a name is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// A part of an expression.
    Value,
    /// What an algorithm runs on.
    Topology,
    /// What a rule or test runs.
    Algorithm,
    /// A tree called by name.
    Tree,
    /// A template, for this operation if one is written.
    Template(Option<Operation>),
}

/// An operation in front of a dotted name, and the rest: `reducescatter.nhr`.
pub fn split_operation(path: &Path) -> (Option<Operation>, &[Name]) {
    if let [first, rest @ ..] = path.parts.as_slice()
        && let (Some(op), false) = (Operation::parse(&first.text), rest.is_empty())
    {
        return (Some(op), rest);
    }
    (None, &path.parts)
}

/// Calls `see` with everything that `item` mentions, in the order of the text. Parameters and
/// variables of the item are among them.
pub fn visit_uses<'a>(item: &'a Item, see: &mut dyn FnMut(Use<'a>)) {
    Visitor { see, nested: true }.item(item);
}

/// As [`visit_uses`], without the items in `check` blocks of tests, which have names of their own
/// and may be wrong on purpose.
pub fn visit_own_uses<'a>(item: &'a Item, see: &mut dyn FnMut(Use<'a>)) {
    Visitor { see, nested: false }.item(item);
}

/// Calls `see` with every dotted name in an expression.
pub fn visit_values<'a>(expr: &'a Expr, see: &mut dyn FnMut(&'a [Name])) {
    Visitor {
        see: &mut |used: Use<'a>| see(used.path),
        nested: true,
    }
    .expr(expr);
}

struct Visitor<'v, 'a> {
    see: &'v mut dyn FnMut(Use<'a>),
    /// Whether items inside `check` blocks are visited.
    nested: bool,
}

impl<'a> Visitor<'_, 'a> {
    fn path(&mut self, path: &'a Path, kind: UseKind) {
        (self.see)(Use {
            path: &path.parts,
            kind,
        });
    }

    fn template(&mut self, path: &'a Path) {
        let (op, path) = split_operation(path);
        (self.see)(Use {
            path,
            kind: UseKind::Template(op),
        });
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Use(_) | ItemKind::Fallback(_) | ItemKind::Error { .. } => {}
            ItemKind::Let(it) => self.expr(&it.value),
            ItemKind::Cluster(it) => it.body.iter().for_each(|s| self.cluster(s)),
            ItemKind::Topology(it) => it.body.iter().for_each(|s| self.topology(s)),
            ItemKind::Algorithm(it) => {
                if let Some(topology) = &it.topology {
                    self.path(topology, UseKind::Topology);
                }
                it.body.iter().for_each(|s| self.algorithm(s));
            }
            ItemKind::Tree(it) => self.tree(&it.tree),
            ItemKind::Template(it) => match &it.body {
                TemplateBody::Extern => {}
                TemplateBody::Reverse(reference) => self.template_ref(reference),
                TemplateBody::Block(body) => self.steps(body),
            },
            ItemKind::Select(it) => it.rules.iter().for_each(|r| self.rule(r)),
            ItemKind::Cost(it) => {
                self.template(&it.template);
                it.entries.iter().for_each(|(_, e)| self.expr(e));
            }
            ItemKind::Curve(it) => {
                for (at, value) in &it.points {
                    self.expr(at);
                    self.expr(value);
                }
            }
            ItemKind::Util(it) => self.expr(&it.value),
            ItemKind::Test(it) => it.body.iter().for_each(|s| self.test(s)),
        }
    }

    fn exprs(&mut self, exprs: &'a [Expr]) {
        exprs.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Number { .. } | ExprKind::Shape(_) | ExprKind::Str(_) | ExprKind::Error => {}
            ExprKind::Path(path) => self.path(path, UseKind::Value),
            ExprKind::Call { callee, args } => {
                self.path(callee, UseKind::Value);
                self.exprs(args);
            }
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Net(range) => self.net(range),
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
            ExprKind::Set(exprs) | ExprKind::List(exprs) => self.exprs(exprs),
            ExprKind::Paren(inner) => self.expr(inner),
        }
    }

    fn net(&mut self, range: &'a NetRange) {
        for bound in std::iter::once(&range.first).chain(&range.last) {
            match bound {
                NetBound::Number(..) | NetBound::Star(_) => {}
                NetBound::Name(name) => (self.see)(Use {
                    path: std::slice::from_ref(name),
                    kind: UseKind::Value,
                }),
                NetBound::Expr(expr) => self.expr(expr),
            }
        }
    }

    fn cluster(&mut self, stmt: &'a ClusterStmt) {
        match stmt {
            ClusterStmt::Device(_) | ClusterStmt::Error(_) => {}
            ClusterStmt::Net(net) => {
                self.expr(&net.index);
                self.expr(&net.size);
                for plane in &net.planes {
                    if let PlaneStmt::Plane(plane) = plane {
                        self.expr(&plane.bandwidth);
                        self.expr(&plane.latency);
                        plane.ports.iter().for_each(|e| self.expr(e));
                    }
                }
            }
            ClusterStmt::Memory(memory) => memory.entries.iter().for_each(|(_, e)| self.expr(e)),
            ClusterStmt::Fact { value, .. } => self.expr(value),
        }
    }

    fn topology(&mut self, stmt: &'a TopologyStmt) {
        match stmt {
            TopologyStmt::Level(level) => match &level.form {
                crate::syntax::ast::LevelForm::Net(range)
                | crate::syntax::ast::LevelForm::Gcd(range, _) => self.net(range),
                _ => {}
            },
            TopologyStmt::Require(require) => self.expr(&require.condition),
            TopologyStmt::Error(_) => {}
        }
    }

    fn algorithm(&mut self, stmt: &'a AlgorithmStmt) {
        match stmt {
            AlgorithmStmt::Require(require) => self.expr(&require.condition),
            AlgorithmStmt::Prefer { condition, .. } => self.expr(condition),
            AlgorithmStmt::Tree(tree) => self.tree(tree),
            AlgorithmStmt::Cost(block) => block.body.iter().for_each(|s| self.cost(s)),
            AlgorithmStmt::Native(_) | AlgorithmStmt::Error(_) => {}
        }
    }

    fn cost(&mut self, stmt: &'a CostStmt) {
        match stmt {
            CostStmt::Segment { template, .. } => self.template_ref(template),
            CostStmt::Max(body, _) | CostStmt::Sum(body, _) => {
                body.iter().for_each(|s| self.cost(s));
            }
            CostStmt::Floor(expr, _) => self.expr(expr),
            CostStmt::Error(_) => {}
        }
    }

    fn tree(&mut self, tree: &'a Tree) {
        match &tree.kind {
            TreeKind::Leaf { name, args, .. } => {
                self.template(name);
                args.iter().for_each(|a| self.exprs(a));
            }
            TreeKind::Call { name, args } => {
                self.path(name, UseKind::Tree);
                args.iter().for_each(|a| self.exprs(a));
            }
            TreeKind::Sequence(children) => children.iter().for_each(|c| self.tree(c)),
            TreeKind::Parallel(children) | TreeKind::OmniPipe(children) => {
                for Child { weight, tree } in children {
                    weight.iter().for_each(|w| self.expr(w));
                    self.tree(tree);
                }
            }
            TreeKind::For { body, .. } => self.tree(body),
            TreeKind::Assert(_) | TreeKind::Error => {}
        }
    }

    fn template_ref(&mut self, reference: &'a TemplateRef) {
        self.template(&reference.name);
        reference.args.iter().for_each(|a| self.exprs(a));
    }

    fn steps(&mut self, body: &'a [TemplateStmt]) {
        body.iter().for_each(|s| self.step(s));
    }

    fn step(&mut self, stmt: &'a TemplateStmt) {
        match &stmt.kind {
            TemplateStmtKind::Require(require) => self.expr(&require.condition),
            TemplateStmtKind::Let { value, .. } => self.expr(value),
            TemplateStmtKind::Step { range, body } => {
                range.iter().for_each(|(_, e)| self.expr(e));
                self.steps(body);
            }
            TemplateStmtKind::For { set, body, .. } => {
                self.expr(set);
                self.steps(body);
            }
            TemplateStmtKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.steps(body);
                }
                otherwise.iter().for_each(|b| self.steps(b));
            }
            TemplateStmtKind::Send { payload, peer } => {
                self.payload(payload);
                self.expr(peer);
            }
            TemplateStmtKind::Recv {
                payload,
                peer,
                into,
                ..
            } => {
                self.payload(payload);
                self.expr(peer);
                into.iter().for_each(|b| self.buffer(b));
            }
            TemplateStmtKind::Scratch { size, .. } => self.expr(size),
            TemplateStmtKind::Copy { from, to } => {
                self.buffer(from);
                self.buffer(to);
            }
            TemplateStmtKind::Reduce { from, into } => {
                self.buffer(from);
                self.buffer(into);
            }
            TemplateStmtKind::Do(reference) => self.template_ref(reference),
            TemplateStmtKind::Error => {}
        }
    }

    fn payload(&mut self, payload: &'a Payload) {
        match &payload.kind {
            PayloadKind::Slot(slot) => self.expr(slot),
            PayloadKind::Slots(slots) => self.exprs(slots),
            PayloadKind::Comprehension {
                element,
                set,
                condition,
                ..
            } => {
                self.expr(element);
                self.expr(set);
                condition.iter().for_each(|c| self.expr(c));
            }
            PayloadKind::Held | PayloadKind::All => {}
            PayloadKind::Block(from, to) => {
                self.expr(from);
                self.expr(to);
            }
        }
        if let Some(piece) = &payload.piece {
            self.expr(&piece.index);
            self.expr(&piece.of);
            piece.align.iter().for_each(|e| self.expr(e));
        }
    }

    fn buffer(&mut self, buffer: &'a BufferRef) {
        match buffer {
            BufferRef::Payload(payload) => self.payload(payload),
            BufferRef::Scratch { index, .. } => self.expr(index),
        }
    }

    fn rule(&mut self, rule: &'a Rule) {
        match &rule.kind {
            RuleKind::When { condition, target } => {
                self.expr(condition);
                self.target(target);
            }
            RuleKind::Block { condition, rules } => {
                self.expr(condition);
                rules.iter().for_each(|r| self.rule(r));
            }
            RuleKind::Otherwise(target) => self.target(target),
            RuleKind::Error => {}
        }
    }

    fn target(&mut self, target: &'a Target) {
        match target {
            Target::Algorithm(path) => self.path(path, UseKind::Algorithm),
            Target::Cheapest(Some(paths), _) => {
                for path in paths {
                    self.path(path, UseKind::Algorithm);
                }
            }
            Target::Cheapest(None, _) | Target::Next(..) | Target::Refuse(..) => {}
        }
    }

    fn test(&mut self, stmt: &'a TestStmt) {
        match &stmt.kind {
            TestStmtKind::For { set, body, .. } => {
                self.expr(set);
                body.iter().for_each(|s| self.test(s));
            }
            TestStmtKind::Run {
                target, request, ..
            } => {
                let is_operation = target
                    .as_name()
                    .is_some_and(|n| Operation::parse(&n.text).is_some());
                if !is_operation {
                    self.path(target, UseKind::Algorithm);
                }
                request.iter().for_each(|o| self.test_option(o));
            }
            TestStmtKind::Select { request, .. } => {
                request.iter().for_each(|o| self.test_option(o));
            }
            TestStmtKind::Prove {
                template, range, ..
            } => {
                self.template_ref(template);
                range.iter().for_each(|(_, e)| self.expr(e));
            }
            TestStmtKind::Check { items, .. } if self.nested => {
                items.iter().for_each(|i| self.item(i));
            }
            TestStmtKind::Check { .. } | TestStmtKind::Error => {}
        }
    }

    fn test_option(&mut self, option: &'a TestOption) {
        match option {
            TestOption::On(expr) | TestOption::Value(_, expr) => self.expr(expr),
            TestOption::Using(_) | TestOption::Only(_) | TestOption::Word(..) => {}
        }
    }
}
