//! Weights of the children of parallels and omnipipes, and numbers passed to trees.

use super::{Bound, Builder, Env};
use crate::check::compile::{Asker, Purpose, compile};
use crate::check::guard::Guard;
use crate::check::value::{Type, Value};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{Parameter, Weight};
use crate::resolve::visit_values;
use crate::source::{Place, Span};
use crate::syntax::ast::{Child, Expr, Name};
use coll_grammar::number::Dimension;
use num_traits::{Signed, Zero};

impl Builder<'_, '_, '_> {
    /// The weights of some children, which measure `dimension`; none if no child has one.
    pub(super) fn weights(
        &mut self,
        children: &[Child],
        env: &Env,
        dimension: Dimension,
        node: Span,
    ) -> Option<Vec<Weight>> {
        let weighted = children.iter().filter(|c| c.weight.is_some()).count();
        if weighted == 0 {
            return None;
        }
        if weighted < children.len() {
            self.some_without(children, weighted, env);
        }
        let mut weights = Vec::with_capacity(weighted);
        for expr in children.iter().filter_map(|c| c.weight.as_ref()) {
            weights.extend(self.weight(expr, env, dimension));
        }
        let all_zero = weights.iter().all(|w| match w {
            Weight::Known(q) => q.value.is_zero(),
            Weight::OfCluster(_) => false,
        });
        if all_zero && weights.len() == children.len() && dimension == Dimension::NONE {
            let place = Place {
                item: env.item,
                span: node,
            };
            self.report(
                Diagnostic::new(
                    codes::E0503,
                    place,
                    "all weights are zero, so no child gets anything",
                )
                .help("give at least one child a weight above zero"),
            );
        }
        Some(weights)
    }

    fn some_without(&mut self, children: &[Child], weighted: usize, env: &Env) {
        let at = |span| Place {
            item: env.item,
            span,
        };
        let without = children.iter().find(|c| c.weight.is_none());
        let with = children.iter().find_map(|c| c.weight.as_ref());
        let (Some(without), Some(with)) = (without, with) else {
            return;
        };
        let message = format!("{weighted} of {} children have a weight", children.len());
        self.report(
            Diagnostic::new(codes::E0502, at(without.tree.span), message)
                .here("has none")
                .label(at(with.span), "has one")
                .help("give every child a weight, or none for equal shares"),
        );
    }

    fn weight(&mut self, expr: &Expr, env: &Env, dimension: Dimension) -> Option<Weight> {
        let (guard, ty) = self.over_cluster(expr, env)?;
        let place = Place {
            item: env.item,
            span: expr.span,
        };
        let Type::Number(found) = ty else {
            let message = format!("a weight is a number, and this is {ty}");
            self.report(Diagnostic::new(codes::E0506, place, message));
            return None;
        };
        if found != dimension {
            let (message, help) = match dimension {
                Dimension::NONE => (
                    format!("the weight of a share is a plain number, and this is {found}"),
                    "write the ratio of the shares, such as `2: a; 1: b`",
                ),
                _ => (
                    format!("the axes of an omnipipe state their bandwidths, and this is {found}"),
                    "write it as in `omnipipe < 56 GB/s: x; 20 GB/s: y >`",
                ),
            };
            self.report(Diagnostic::new(codes::E0504, place, message).help(help));
            return None;
        }
        let Some(value) = guard.constant() else {
            return Some(Weight::OfCluster(guard));
        };
        let Value::Number(value) = value else {
            return None;
        };
        let zero_rate = value.value.is_zero() && dimension == Dimension::RATE;
        if value.value.is_negative() || zero_rate {
            let message = match zero_rate {
                true => "an axis without bandwidth never ends".to_owned(),
                false => format!("a weight cannot be negative, and this is {value}"),
            };
            self.report(Diagnostic::new(codes::E0503, place, message));
            return None;
        }
        Some(Weight::Known(*value))
    }

    /// A number passed to a parameter.
    pub(super) fn int_argument(&mut self, param: &Parameter, arg: &Expr, env: &Env) -> Bound {
        let Some((guard, ty)) = self.over_cluster(arg, env) else {
            return Bound::Broken;
        };
        match guard.constant() {
            Some(value) if ty == Type::COUNT => Bound::Value(value.clone()),
            _ => {
                let place = Place {
                    item: env.item,
                    span: arg.span,
                };
                let message = format!("the parameter `{}` takes a constant number", param.name);
                self.report(Diagnostic::new(codes::E0213, place, message));
                Bound::Broken
            }
        }
    }

    /// An expression over the cluster and the levels of the topology.
    fn over_cluster(&mut self, expr: &Expr, env: &Env) -> Option<(Guard, Type)> {
        if self.unknown_parameter(expr, env) {
            return None;
        }
        let values = env.values();
        let mut diagnostics = Vec::new();
        let level = |name: &Name| self.level(name, env);
        let asker = Asker {
            module: env.module,
            item: env.item,
            purpose: Purpose::Weight,
            levels: Some(&level),
            values: &values,
        };
        let checker = &self.checker;
        let compiled = compile(checker.cx, &checker.reporter, asker, expr, &mut diagnostics);
        self.checker.diagnostics.append(&mut diagnostics);
        if compiled.is_none() {
            self.fault(None);
        }
        compiled
    }

    /// Whether an expression names a parameter that has no value yet.
    fn unknown_parameter(&self, expr: &Expr, env: &Env) -> bool {
        let mut unknown = false;
        visit_values(expr, &mut |path| {
            if let [name] = path {
                unknown |= env.is_unknown(&name.text);
            }
        });
        unknown
    }
}
