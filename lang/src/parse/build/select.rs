//! Selection and cost.

use super::{Builder, Parts};
use crate::source::Span;
use crate::syntax::ast::{
    Cost, CostBlock, CostStmt, Curve, Fallback, Name, Rule as SelectRule, RuleKind, Select, Target,
    Util,
};
use coll_grammar::Rule;
use pest::iterators::Pair;

impl Builder<'_> {
    pub(super) fn fallback_item(&mut self, parts: &mut Parts<'_>) -> Option<Fallback> {
        Some(Fallback {
            chain: self.names(parts)?,
        })
    }

    pub(super) fn select_item(&mut self, parts: &mut Parts<'_>) -> Option<Select> {
        Some(Select {
            op: self.next_name(parts)?,
            engines: self.using(parts)?,
            rules: self.next_rules(parts)?,
        })
    }

    /// `using E, …`, if it comes next.
    pub(super) fn using(&mut self, parts: &mut Parts<'_>) -> Option<Vec<Name>> {
        match self.take(parts, Rule::using) {
            Some(pair) => self.inside(pair, Self::names),
            None => Some(Vec::new()),
        }
    }

    fn next_rules(&mut self, parts: &mut Parts<'_>) -> Option<Vec<SelectRule>> {
        let pair = self.take(parts, Rule::rule_block)?;
        self.list(pair, Self::rule)
    }

    fn rule(&mut self, pair: Pair<'_, Rule>) -> Option<SelectRule> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::when_rule => self.inside(pair, Self::when_rule)?,
            Rule::otherwise_rule => self.inside(pair, |b, parts| {
                Some(RuleKind::Otherwise(b.next_target(parts)?))
            })?,
            _ => {
                self.broken(Rule::one_rule, &pair);
                RuleKind::Error
            }
        };
        Some(SelectRule { span, kind })
    }

    fn when_rule(&mut self, parts: &mut Parts<'_>) -> Option<RuleKind> {
        let condition = self.next_expr(parts)?;
        if self.peek(parts) == Some(Rule::rule_block) {
            let rules = self.next_rules(parts)?;
            return Some(RuleKind::Block { condition, rules });
        }
        let target = self.next_target(parts)?;
        Some(RuleKind::When { condition, target })
    }

    fn next_target(&mut self, parts: &mut Parts<'_>) -> Option<Target> {
        let pair = self.take(parts, Rule::target)?;
        self.inside(pair, |b, parts| {
            let pair = b.next(parts)?;
            b.target(pair)
        })
    }

    fn target(&mut self, pair: Pair<'_, Rule>) -> Option<Target> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::cheapest => self.inside(pair, |b, parts| {
                b.take(parts, Rule::cheapest_word)?;
                let of = b.rest(parts, |b, pair| Some(b.path(&pair)))?;
                Some(Target::Cheapest((!of.is_empty()).then_some(of), span))
            }),
            Rule::next => self.inside(pair, |b, parts| {
                b.take(parts, Rule::next_word)?;
                Some(Target::Next(b.take_name(parts, Rule::engine), span))
            }),
            Rule::refuse => self.inside(pair, |b, parts| {
                b.take(parts, Rule::refuse_word)?;
                let why = b.next(parts)?;
                Some(Target::Refuse(b.string(&why), span))
            }),
            _ => Some(Target::Algorithm(self.path(&pair))),
        }
    }

    pub(super) fn cost_item(&mut self, parts: &mut Parts<'_>) -> Option<Cost> {
        let mut cost = Cost {
            template: self.next_path(parts)?,
            ops: self.op_list(parts)?,
            engine: self.take_inner_name(parts, Rule::on_engine),
            entries: Vec::new(),
            errors: Vec::new(),
        };
        while let Some(pair) = self.next(parts) {
            if pair.as_rule() == Rule::error_stmt {
                cost.errors.push(self.broken(Rule::one_cost_entry, &pair));
                continue;
            }
            cost.entries.push(self.inside(pair, |b, parts| {
                Some((b.next_name(parts)?, b.next_expr(parts)?))
            })?);
        }
        Some(cost)
    }

    /// `cost { … }` of an algorithm.
    pub(super) fn cost_block(&mut self, pair: Pair<'_, Rule>) -> Option<CostBlock> {
        let span = self.span(&pair);
        let body = self.inside(pair, Self::next_cost_body)?;
        Some(CostBlock { body, span })
    }

    fn next_cost_body(&mut self, parts: &mut Parts<'_>) -> Option<Vec<CostStmt>> {
        let pair = self.take(parts, Rule::cost_body)?;
        self.list(pair, Self::cost_stmt)
    }

    fn cost_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<CostStmt> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::segment_stmt => self.inside(pair, |b, parts| b.segment(span, parts)),
            Rule::cost_max => {
                let body = self.inside(pair, Self::next_cost_body)?;
                Some(CostStmt::Max(body, span))
            }
            Rule::cost_sum => {
                let body = self.inside(pair, Self::next_cost_body)?;
                Some(CostStmt::Sum(body, span))
            }
            Rule::cost_floor => {
                let floor = self.inside(pair, |b, parts| b.next_expr(parts))?;
                Some(CostStmt::Floor(floor, span))
            }
            _ => Some(CostStmt::Error(self.broken(Rule::one_cost_stmt, &pair))),
        }
    }

    fn segment(&mut self, span: Span, parts: &mut Parts<'_>) -> Option<CostStmt> {
        Some(CostStmt::Segment {
            template: self.next_template_ref(parts)?,
            level: self.take_inner_name(parts, Rule::on_level)?,
            via: self.take_inner_name(parts, Rule::via),
            span,
        })
    }

    pub(super) fn curve_item(&mut self, parts: &mut Parts<'_>) -> Option<Curve> {
        let mut curve = Curve {
            name: self.next_name(parts)?,
            points: Vec::new(),
            errors: Vec::new(),
        };
        while let Some(pair) = self.next(parts) {
            if pair.as_rule() == Rule::error_stmt {
                curve.errors.push(self.broken(Rule::one_curve_entry, &pair));
                continue;
            }
            curve.points.push(self.inside(pair, |b, parts| {
                Some((b.next_expr(parts)?, b.next_expr(parts)?))
            })?);
        }
        Some(curve)
    }

    pub(super) fn util_item(&mut self, parts: &mut Parts<'_>) -> Option<Util> {
        Some(Util {
            target: self.next_name(parts)?,
            engine: self.take_inner_name(parts, Rule::on_engine),
            value: self.next_expr(parts)?,
        })
    }
}
