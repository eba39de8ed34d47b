//! How items are printed.

use super::layout::Layout;
use crate::syntax::ast::{
    Algorithm, AlgorithmStmt, Cluster, ClusterStmt, Cost, CostBlock, CostStmt, Curve, Fallback,
    Item, ItemKind, Let, Level, LevelForm, Memory, Name, Net, PlaneStmt, Rule, RuleKind, Select,
    Target, Topology, TopologyStmt, Use, Util,
};

impl Layout<'_> {
    pub(super) fn item(&mut self, item: &Item) {
        if !item.allow.is_empty() {
            self.token("allow");
            self.list(("(", ")"), &item.allow, |l, code| l.name(code));
            self.new_line();
        }
        if item.private {
            self.keyword("private");
        }
        match &item.kind {
            ItemKind::Use(it) => self.use_item(it),
            ItemKind::Let(it) => self.let_item(it),
            ItemKind::Cluster(it) => self.cluster(it),
            ItemKind::Topology(it) => self.topology(it),
            ItemKind::Algorithm(it) => self.algorithm(it),
            ItemKind::Tree(it) => self.named_tree(it),
            ItemKind::Template(it) => self.template(it),
            ItemKind::Fallback(it) => self.fallback(it),
            ItemKind::Select(it) => self.select(it),
            ItemKind::Cost(it) => self.cost(it),
            ItemKind::Curve(it) => self.curve(it),
            ItemKind::Util(it) => self.util(it),
            ItemKind::Test(it) => self.test(it),
            ItemKind::Error { .. } => self.fail(),
        }
    }

    fn use_item(&mut self, it: &Use) {
        self.keyword("use");
        self.path(&it.path);
        if let Some(group) = &it.group {
            self.token(".");
            self.group(|l| {
                l.token("{");
                l.nest(|l| {
                    l.soft_line();
                    for (i, name) in group.iter().enumerate() {
                        if i > 0 {
                            l.close(",");
                        }
                        // As many on a line as fit.
                        l.group(|l| {
                            if i > 0 {
                                l.line();
                            }
                            l.name(&name.name);
                        });
                        l.alias(name.alias.as_ref());
                    }
                    l.leave_out(",");
                    l.comments_here();
                });
                l.soft_line();
                l.token("}");
            });
        }
        self.alias(it.alias.as_ref());
        self.close(";");
    }

    fn alias(&mut self, alias: Option<&Name>) {
        if let Some(alias) = alias {
            self.space();
            self.keyword("as");
            self.name(alias);
        }
    }

    fn let_item(&mut self, it: &Let) {
        self.keyword("let");
        self.name(&it.name);
        if let Some(params) = &it.params {
            self.list(("(", ")"), params, |l, param| l.name(param));
        }
        self.space();
        self.keyword("=");
        self.expr(&it.value);
        self.close(";");
    }

    fn cluster(&mut self, it: &Cluster) {
        self.keyword("cluster");
        self.name(&it.name);
        self.space();
        self.block(|l| {
            for stmt in &it.body {
                l.cluster_stmt(stmt);
                l.paragraph();
            }
        });
    }

    fn cluster_stmt(&mut self, stmt: &ClusterStmt) {
        match stmt {
            ClusterStmt::Device(device) => {
                self.keyword("device");
                self.name(device);
                self.close(";");
            }
            ClusterStmt::Net(net) => self.net(net),
            ClusterStmt::Memory(memory) => self.memory(memory),
            ClusterStmt::Fact { name, value } => {
                self.keyword("fact");
                self.assignment(name, value);
            }
            ClusterStmt::Error(_) => self.fail(),
        }
    }

    fn net(&mut self, net: &Net) {
        self.keyword("net");
        self.expr(&net.index);
        if let Some(label) = &net.label {
            self.space();
            self.verbatim(label.span);
        }
        self.close(":");
        self.space();
        self.expr(&net.size);
        if self.at(";") {
            return self.close(";");
        }
        self.space();
        self.block(|l| {
            for plane in &net.planes {
                l.plane(plane);
                l.paragraph();
            }
        });
    }

    fn plane(&mut self, stmt: &PlaneStmt) {
        let PlaneStmt::Plane(plane) = stmt else {
            return self.fail();
        };
        self.keyword("plane");
        self.name(&plane.name);
        self.space();
        self.keyword("=");
        self.name(&plane.kind);
        self.space();
        self.expr(&plane.bandwidth);
        self.space();
        self.expr(&plane.latency);
        // The tree does not keep the order of what may follow.
        while !self.at(";") && !self.has_failed() {
            self.space();
            match (&plane.ports, &plane.protocol) {
                (Some(ports), _) if self.at("ports") => {
                    self.keyword("ports");
                    self.expr(ports);
                }
                (_, Some(protocol)) if self.at("protocol") => {
                    self.keyword("protocol");
                    self.name(protocol);
                }
                _ => self.phrase("on", "host"),
            }
        }
        self.close(";");
    }

    fn memory(&mut self, memory: &Memory) {
        self.token("memory");
        self.on(memory.engine.as_ref());
        self.space();
        self.block(|l| {
            for (key, value) in &memory.entries {
                l.name(key);
                l.space();
                l.expr(value);
                l.close(";");
                l.paragraph();
            }
        });
        if !memory.errors.is_empty() {
            self.fail();
        }
    }

    /// ` on NAME`
    fn on(&mut self, name: Option<&Name>) {
        if let Some(name) = name {
            self.space();
            self.keyword("on");
            self.name(name);
        }
    }

    fn topology(&mut self, it: &Topology) {
        self.keyword("topology");
        self.name(&it.name);
        self.space();
        self.block(|l| {
            for stmt in &it.body {
                match stmt {
                    TopologyStmt::Level(level) => l.level(level),
                    TopologyStmt::Require(require) => l.require(require),
                    TopologyStmt::Error(_) => l.fail(),
                }
                l.paragraph();
            }
        });
    }

    fn level(&mut self, level: &Level) {
        if level.optional {
            self.keyword("optional");
        }
        self.keyword("level");
        self.name(&level.name);
        if level.star {
            self.token("*");
        }
        self.space();
        self.keyword("=");
        match &level.form {
            LevelForm::Net(range) => self.net_range(range),
            LevelForm::Gcd(range, _) => {
                self.token("gcd");
                self.token("(");
                self.net_range(range);
                self.close_bracket(")");
            }
            LevelForm::Rest(span) | LevelForm::All(span) => self.verbatim(*span),
        }
        self.via(level.via.as_ref());
        self.close(";");
    }

    fn via(&mut self, plane: Option<&Name>) {
        if let Some(plane) = plane {
            self.space();
            self.keyword("via");
            self.name(plane);
        }
    }

    fn algorithm(&mut self, it: &Algorithm) {
        self.group(|l| {
            l.group(|l| {
                l.keyword("algorithm");
                l.name(&it.name);
                l.space();
                l.keyword(":");
                l.name(&it.op);
                if let Some(topology) = &it.topology {
                    l.space();
                    l.keyword("on");
                    l.path(topology);
                }
                l.using(&it.engines);
            });
            match it.body.as_slice() {
                [AlgorithmStmt::Native(span)] if !it.block => {
                    l.defined_as(|l| l.verbatim(*span));
                }
                [AlgorithmStmt::Tree(tree)] if !it.block => l.defined_as(|l| l.tree(tree)),
                _ => l.space(),
            }
        });
        if it.block {
            self.block(|l| {
                for stmt in &it.body {
                    l.algorithm_stmt(stmt);
                    l.paragraph();
                }
            });
        }
    }

    /// `using E, E`, on a line of its own where it does not fit.
    fn using(&mut self, engines: &[Name]) {
        if !engines.is_empty() {
            self.nest(|l| {
                l.line();
                l.keyword("using");
                l.names(engines);
            });
        }
    }

    fn algorithm_stmt(&mut self, stmt: &AlgorithmStmt) {
        match stmt {
            AlgorithmStmt::Require(require) => self.require(require),
            AlgorithmStmt::Prefer { condition, .. } => {
                self.keyword("prefer");
                self.expr(condition);
                self.close(";");
            }
            AlgorithmStmt::Tree(tree) => {
                self.keyword("tree");
                self.tree(tree);
                self.close(";");
            }
            AlgorithmStmt::Native(span) => {
                self.keyword("tree");
                self.verbatim(*span);
                self.close(";");
            }
            AlgorithmStmt::Cost(cost) => self.cost_block(cost),
            AlgorithmStmt::Error(_) => self.fail(),
        }
    }

    fn cost_block(&mut self, cost: &CostBlock) {
        self.keyword("cost");
        self.cost_body(&cost.body);
    }

    fn cost_body(&mut self, body: &[CostStmt]) {
        self.block(|l| {
            for stmt in body {
                l.cost_stmt(stmt);
                l.paragraph();
            }
        });
    }

    fn cost_stmt(&mut self, stmt: &CostStmt) {
        match stmt {
            CostStmt::Segment {
                template,
                level,
                via,
                ..
            } => {
                self.keyword("segment");
                self.template_ref(template);
                self.on(Some(level));
                self.via(via.as_ref());
                self.close(";");
            }
            CostStmt::Max(body, _) => {
                self.keyword("max");
                self.cost_body(body);
            }
            CostStmt::Sum(body, _) => {
                self.keyword("sum");
                self.cost_body(body);
            }
            CostStmt::Floor(floor, _) => {
                self.keyword("floor");
                self.expr(floor);
                self.close(";");
            }
            CostStmt::Error(_) => self.fail(),
        }
    }

    fn fallback(&mut self, it: &Fallback) {
        self.keyword("fallback");
        for (i, engine) in it.chain.iter().enumerate() {
            if i > 0 {
                self.space();
                self.keyword("->");
            }
            self.name(engine);
        }
        self.close(";");
    }

    fn select(&mut self, it: &Select) {
        self.group(|l| {
            l.keyword("select");
            l.name(&it.op);
            l.using(&it.engines);
        });
        self.space();
        self.rules(&it.rules);
    }

    fn rules(&mut self, rules: &[Rule]) {
        self.block(|l| {
            for rule in rules {
                l.rule(rule);
                l.paragraph();
            }
        });
    }

    fn rule(&mut self, rule: &Rule) {
        match &rule.kind {
            RuleKind::When { condition, target } => self.group(|l| {
                l.keyword("when");
                l.expr(condition);
                l.target(target);
            }),
            RuleKind::Block { condition, rules } => {
                self.keyword("when");
                self.expr(condition);
                self.space();
                self.rules(rules);
            }
            RuleKind::Otherwise(target) => self.group(|l| {
                l.token("otherwise");
                l.target(target);
            }),
            RuleKind::Error => self.fail(),
        }
    }

    fn target(&mut self, target: &Target) {
        self.nest(|l| {
            l.line();
            l.keyword("=>");
            match target {
                Target::Algorithm(path) => l.path(path),
                Target::Cheapest(of, _) => {
                    l.token("cheapest");
                    if let Some(of) = of {
                        l.space();
                        l.keyword("of");
                        l.list(("{", "}"), of, |l, path| l.path(path));
                    }
                }
                Target::Next(engine, _) => {
                    l.token("next");
                    if let Some(engine) = engine {
                        l.space();
                        l.name(engine);
                    }
                }
                Target::Refuse(why, _) => {
                    l.keyword("refuse");
                    l.verbatim(why.span);
                }
            }
            l.close(";");
        });
    }

    fn cost(&mut self, it: &Cost) {
        self.keyword("cost");
        self.path(&it.template);
        self.operations(&it.ops);
        self.on(it.engine.as_ref());
        self.space();
        self.block(|l| {
            for (name, value) in &it.entries {
                l.assignment(name, value);
                l.paragraph();
            }
        });
        if !it.errors.is_empty() {
            self.fail();
        }
    }

    fn curve(&mut self, it: &Curve) {
        self.keyword("curve");
        self.name(&it.name);
        self.space();
        self.keyword("step");
        self.keyword("up");
        self.block(|l| {
            for (size, value) in &it.points {
                l.expr(size);
                l.close(":");
                l.space();
                l.expr(value);
                l.close(";");
                l.paragraph();
            }
        });
        if !it.errors.is_empty() {
            self.fail();
        }
    }

    fn util(&mut self, it: &Util) {
        self.keyword("util");
        self.name(&it.target);
        self.on(it.engine.as_ref());
        self.space();
        self.keyword("=");
        self.expr(&it.value);
        self.close(";");
    }
}
