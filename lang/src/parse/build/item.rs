//! Items, clusters, topologies and algorithms.

use super::{Builder, Parts};
use crate::diagnostics::codes;
use crate::parse::error::SyntaxError;
use crate::source::Span;
use crate::syntax::ast::{
    Algorithm, AlgorithmStmt, Cluster, ClusterStmt, Item, ItemKind, Let, Level, LevelForm, Memory,
    Net, Plane, PlaneStmt, Require, Topology, TopologyStmt, Use, UseName,
};
use coll_grammar::Rule;
use coll_grammar::split::{Comment, CommentKind};
use pest::iterators::Pair;
use smol_str::SmolStr;

impl Builder<'_> {
    /// The item of `one_item`, which may be followed by text that belongs to nothing.
    pub(in crate::parse) fn one_item(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        let mut parts = Parts::new(pair);
        let item = self.next(&mut parts)?;
        let item = self.item(item)?;
        if let Some(pair) = self.take(&mut parts, Rule::trailing) {
            self.trailing = Some(self.span(&pair));
        }
        Some(item)
    }

    pub(super) fn item(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        let span = self.span(&pair);
        let docs = self.docs_above(span.start);
        self.inside(pair, |b, parts| {
            let allow = match b.take(parts, Rule::attribute) {
                Some(pair) => b.inside(pair, Self::names)?,
                None => Vec::new(),
            };
            Some(Item {
                docs,
                allow,
                private: b.take(parts, Rule::private).is_some(),
                span,
                kind: {
                    let pair = b.next(parts)?;
                    let rule = pair.as_rule();
                    b.inside(pair, |b, parts| b.item_kind(rule, parts))?
                },
            })
        })
    }

    fn item_kind(&mut self, rule: Rule, parts: &mut Parts<'_>) -> Option<ItemKind> {
        Some(match rule {
            Rule::use_item => ItemKind::Use(self.use_item(parts)?),
            Rule::let_item => ItemKind::Let(self.let_item(parts)?),
            Rule::cluster_item => ItemKind::Cluster(self.cluster_item(parts)?),
            Rule::topology_item => ItemKind::Topology(self.topology_item(parts)?),
            Rule::algorithm_item => ItemKind::Algorithm(self.algorithm_item(parts)?),
            Rule::tree_item => ItemKind::Tree(self.tree_item(parts)?),
            Rule::template_item => ItemKind::Template(self.template_item(parts)?),
            Rule::extern_item => ItemKind::Template(self.extern_item(parts)?),
            Rule::fallback_item => ItemKind::Fallback(self.fallback_item(parts)?),
            Rule::select_item => ItemKind::Select(self.select_item(parts)?),
            Rule::cost_item => ItemKind::Cost(self.cost_item(parts)?),
            Rule::curve_item => ItemKind::Curve(self.curve_item(parts)?),
            Rule::util_item => ItemKind::Util(self.util_item(parts)?),
            Rule::test_item => ItemKind::Test(self.test_item(parts)?),
            _ => return None,
        })
    }

    /// The documentation in front of byte `at` of the item: `///` lines with nothing between them and
    /// it but space and other comments.
    fn docs_above(&mut self, at: u32) -> Option<SmolStr> {
        let end = self.docs.partition_point(|d| d.start < at);
        let mut begin = end;
        let mut below = at;
        while begin > 0
            && !self.claimed[begin - 1]
            && self.is_blank(self.docs[begin - 1].end, below)
        {
            begin -= 1;
            below = self.docs[begin].start;
        }
        self.claimed[begin..end].fill(true);
        doc_text(self.item_text, &self.docs[begin..end])
    }

    /// Whether no code stands between two bytes of the item. Comments are spaces in the parsed text,
    /// and in front of that there is nothing else.
    fn is_blank(&self, from: u32, to: u32) -> bool {
        let local = |at: u32| at.saturating_sub(self.base) as usize;
        self.text
            .get(local(from)..local(to))
            .is_some_and(|gap| gap.trim().is_empty())
    }

    /// Documentation that no item has claimed.
    pub(in crate::parse) fn stray_docs(&self) -> impl Iterator<Item = Span> {
        self.docs
            .iter()
            .zip(&self.claimed)
            .filter(|&(_, claimed)| !claimed)
            .map(|(doc, _)| Span::new(doc.start, doc.end))
    }

    fn use_item(&mut self, parts: &mut Parts<'_>) -> Option<Use> {
        let path = self.next_path(parts)?;
        let group = match self.take(parts, Rule::use_group) {
            Some(pair) => Some(self.list(pair, |b, pair| {
                b.inside(pair, |b, parts| {
                    Some(UseName {
                        name: b.next_name(parts)?,
                        alias: b.take_inner_name(parts, Rule::use_alias),
                    })
                })
            })?),
            None => None,
        };
        Some(Use {
            path,
            alias: self.take_inner_name(parts, Rule::use_alias),
            group,
        })
    }

    fn let_item(&mut self, parts: &mut Parts<'_>) -> Option<Let> {
        Some(Let {
            name: self.next_name(parts)?,
            params: match self.take(parts, Rule::let_params) {
                Some(pair) => Some(self.inside(pair, Self::names)?),
                None => None,
            },
            value: self.next_expr(parts)?,
        })
    }

    fn cluster_item(&mut self, parts: &mut Parts<'_>) -> Option<Cluster> {
        Some(Cluster {
            name: self.next_name(parts)?,
            body: self.rest(parts, Self::cluster_stmt)?,
        })
    }

    fn cluster_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<ClusterStmt> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::device_stmt => {
                let device = self.inside(pair, |b, parts| b.next_name(parts))?;
                Some(ClusterStmt::Device(device))
            }
            Rule::net_stmt => {
                let net = self.inside(pair, |b, parts| b.net(span, parts))?;
                Some(ClusterStmt::Net(net))
            }
            Rule::memory_stmt => {
                let memory = self.inside(pair, |b, parts| b.memory(span, parts))?;
                Some(ClusterStmt::Memory(memory))
            }
            Rule::fact_stmt => self.inside(pair, |b, parts| {
                Some(ClusterStmt::Fact {
                    name: b.next_name(parts)?,
                    value: b.next_expr(parts)?,
                })
            }),
            _ => Some(ClusterStmt::Error(
                self.broken(Rule::one_cluster_stmt, &pair),
            )),
        }
    }

    fn net(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<Net> {
        Some(Net {
            index: self.next_expr(parts)?,
            label: self
                .take(parts, Rule::string)
                .map(|pair| self.string(&pair)),
            size: self.next_expr(parts)?,
            planes: match self.take(parts, Rule::net_block) {
                Some(pair) => self.list(pair, Self::plane_stmt)?,
                None => Vec::new(),
            },
            span,
        })
    }

    fn plane_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<PlaneStmt> {
        let span = self.span(&pair);
        if pair.as_rule() == Rule::error_stmt {
            return Some(PlaneStmt::Error(self.broken(Rule::one_plane_stmt, &pair)));
        }
        let plane = self.inside(pair, |b, parts| b.plane(span, parts))?;
        Some(PlaneStmt::Plane(Box::new(plane)))
    }

    fn plane(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<Plane> {
        let mut plane = Plane {
            name: self.next_name(parts)?,
            kind: self.next_name(parts)?,
            bandwidth: self.next_expr(parts)?,
            latency: self.next_expr(parts)?,
            ports: None,
            protocol: None,
            on_host: false,
            span,
        };
        while let Some(pair) = self.next(parts) {
            let at = self.span(&pair);
            let twice = match pair.as_rule() {
                Rule::plane_ports => {
                    let ports = self.inside(pair, |b, parts| b.next_expr(parts))?;
                    plane.ports.replace(ports).is_some()
                }
                Rule::plane_protocol => {
                    let protocol = self.inside(pair, |b, parts| b.next_name(parts))?;
                    plane.protocol.replace(protocol).is_some()
                }
                _ => std::mem::replace(&mut plane.on_host, true),
            };
            if twice {
                self.report(
                    SyntaxError::new(codes::E0101, at, "a plane says this twice")
                        .here("said before")
                        .help("keep one"),
                );
            }
        }
        Some(plane)
    }

    fn memory(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<Memory> {
        let mut memory = Memory {
            engine: self.take_inner_name(parts, Rule::on_engine),
            entries: Vec::new(),
            errors: Vec::new(),
            span,
        };
        while let Some(pair) = self.next(parts) {
            if pair.as_rule() == Rule::error_stmt {
                memory
                    .errors
                    .push(self.broken(Rule::one_memory_entry, &pair));
                continue;
            }
            memory.entries.push(self.inside(pair, |b, parts| {
                Some((b.next_name(parts)?, b.next_expr(parts)?))
            })?);
        }
        Some(memory)
    }

    fn topology_item(&mut self, parts: &mut Parts<'_>) -> Option<Topology> {
        Some(Topology {
            name: self.next_name(parts)?,
            body: self.rest(parts, Self::topology_stmt)?,
        })
    }

    fn topology_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<TopologyStmt> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::level_stmt => {
                let level = self.inside(pair, |b, parts| b.level(span, parts))?;
                Some(TopologyStmt::Level(level))
            }
            Rule::require_stmt => {
                let require = self.inside(pair, |b, parts| b.require(span, parts))?;
                Some(TopologyStmt::Require(require))
            }
            _ => Some(TopologyStmt::Error(
                self.broken(Rule::one_topology_stmt, &pair),
            )),
        }
    }

    fn level(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<Level> {
        let optional = self.take(parts, Rule::optional).is_some();
        Some(Level {
            name: self.next_name(parts)?,
            star: self.take(parts, Rule::star).is_some(),
            optional,
            form: {
                let pair = self.take(parts, Rule::level_form)?;
                self.inside(pair, |b, parts| b.level_form(parts))?
            },
            via: self.take_inner_name(parts, Rule::via),
            span,
        })
    }

    fn level_form(&mut self, parts: &mut Parts<'_>) -> Option<LevelForm> {
        let pair = self.next(parts)?;
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::net_range => Some(LevelForm::Net(self.net_range(pair)?)),
            Rule::gcd_form => {
                let pair = self.next(&mut Parts::new(pair))?;
                Some(LevelForm::Gcd(self.net_range(pair)?, span))
            }
            Rule::rest => Some(LevelForm::Rest(span)),
            Rule::all => Some(LevelForm::All(span)),
            _ => None,
        }
    }

    pub(super) fn require(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<Require> {
        Some(Require {
            condition: self.next_expr(parts)?,
            message: match self.take(parts, Rule::else_text) {
                Some(pair) => {
                    let text = self.next(&mut Parts::new(pair))?;
                    Some(self.string(&text))
                }
                None => None,
            },
            span,
        })
    }

    fn algorithm_item(&mut self, parts: &mut Parts<'_>) -> Option<Algorithm> {
        Some(Algorithm {
            name: self.next_name(parts)?,
            op: self.next_name(parts)?,
            topology: match self.take(parts, Rule::on_topology) {
                Some(pair) => Some(self.inside(pair, |b, parts| b.next_path(parts))?),
                None => None,
            },
            engines: self.using(parts)?,
            block: self.peek(parts) == Some(Rule::algorithm_block),
            body: {
                let pair = self.next(parts)?;
                match pair.as_rule() {
                    Rule::algorithm_block => self.list(pair, Self::algorithm_stmt)?,
                    _ => vec![self.inside(pair, Self::algorithm_tree)?],
                }
            },
        })
    }

    /// `native` or a tree.
    fn algorithm_tree(&mut self, parts: &mut Parts<'_>) -> Option<AlgorithmStmt> {
        let pair = self.next(parts)?;
        if pair.as_rule() == Rule::native {
            return Some(AlgorithmStmt::Native(self.span(&pair)));
        }
        Some(AlgorithmStmt::Tree(self.tree(pair)?))
    }

    fn algorithm_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<AlgorithmStmt> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::require_stmt => {
                let require = self.inside(pair, |b, parts| b.require(span, parts))?;
                Some(AlgorithmStmt::Require(require))
            }
            Rule::prefer_stmt => {
                let condition = self.inside(pair, |b, parts| b.next_expr(parts))?;
                Some(AlgorithmStmt::Prefer { condition, span })
            }
            Rule::tree_stmt => self.inside(pair, Self::algorithm_tree),
            Rule::cost_block => Some(AlgorithmStmt::Cost(self.cost_block(pair)?)),
            _ => Some(AlgorithmStmt::Error(
                self.broken(Rule::one_algorithm_stmt, &pair),
            )),
        }
    }
}

/// The text of documentation lines, without the slashes and one space.
pub(in crate::parse) fn doc_text(text: &str, docs: &[Comment]) -> Option<SmolStr> {
    let line = |doc: &Comment| {
        let line = text.get(doc.start as usize..doc.end as usize).unwrap_or("");
        let line = line.get(3..).unwrap_or("");
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    };
    if docs.is_empty() {
        return None;
    }
    debug_assert!(
        docs.iter()
            .all(|d| d.kind.is_line() && d.kind != CommentKind::Line)
    );
    let lines: Vec<&str> = docs.iter().map(line).collect();
    Some(SmolStr::new(lines.join("\n")))
}
