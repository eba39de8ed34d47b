//! Templates and their statements.

use super::{Builder, Parts};
use crate::source::Span;
use crate::syntax::ast::{
    BufferRef, Expr, Name, Payload, PayloadKind, Piece, Template, TemplateBody, TemplateRef,
    TemplateStmt, TemplateStmtKind,
};
use coll_grammar::Rule;
use pest::iterators::Pair;

impl Builder<'_> {
    pub(super) fn extern_item(&mut self, parts: &mut Parts<'_>) -> Option<Template> {
        Some(Template {
            name: self.next_name(parts)?,
            params: self.params(parts)?,
            ops: self.op_list(parts)?,
            body: TemplateBody::Extern,
        })
    }

    pub(super) fn template_item(&mut self, parts: &mut Parts<'_>) -> Option<Template> {
        Some(Template {
            name: self.next_name(parts)?,
            params: self.params(parts)?,
            ops: self.op_list(parts)?,
            body: self.template_body(parts)?,
        })
    }

    /// The operations that come next.
    pub(super) fn op_list(&mut self, parts: &mut Parts<'_>) -> Option<Vec<Name>> {
        let pair = self.take(parts, Rule::op_list)?;
        self.inside(pair, Self::names)
    }

    fn template_body(&mut self, parts: &mut Parts<'_>) -> Option<TemplateBody> {
        let pair = self.next(parts)?;
        if pair.as_rule() == Rule::template_eq {
            return self.inside(pair, |b, parts| {
                b.take(parts, Rule::reverse)?;
                Some(TemplateBody::Reverse(b.next_template_ref(parts)?))
            });
        }
        Some(TemplateBody::Block(self.template_block(pair)?))
    }

    /// The statements inside a pair.
    fn template_block(&mut self, pair: Pair<'_, Rule>) -> Option<Vec<TemplateStmt>> {
        self.list(pair, Self::template_stmt)
    }

    fn next_block(&mut self, parts: &mut Parts<'_>) -> Option<Vec<TemplateStmt>> {
        let pair = self.next(parts)?;
        self.template_block(pair)
    }

    pub(super) fn next_template_ref(&mut self, parts: &mut Parts<'_>) -> Option<TemplateRef> {
        let pair = self.take(parts, Rule::template_ref)?;
        let span = self.span(&pair);
        self.inside(pair, |b, parts| {
            Some(TemplateRef {
                name: b.next_path(parts)?,
                args: b.take_exprs(parts, Rule::call_args),
                span,
            })
        })
    }

    fn template_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<TemplateStmt> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        if rule == Rule::error_stmt {
            self.broken(Rule::one_tmpl_stmt, &pair);
            let kind = TemplateStmtKind::Error;
            return Some(TemplateStmt { span, kind });
        }
        let kind = self.inside(pair, |b, parts| b.template_stmt_kind(rule, span, parts))?;
        Some(TemplateStmt { span, kind })
    }

    fn template_stmt_kind(
        &mut self,
        rule: Rule,
        span: Span,
        parts: &mut Parts<'_>,
    ) -> Option<TemplateStmtKind> {
        Some(match rule {
            Rule::require_stmt => TemplateStmtKind::Require(self.require(span, parts)?),
            Rule::let_stmt => TemplateStmtKind::Let {
                name: self.next_name(parts)?,
                value: self.next_expr(parts)?,
            },
            Rule::step_stmt => TemplateStmtKind::Step {
                range: self.take_range(parts, Rule::step_loop),
                body: self.next_block(parts)?,
            },
            Rule::for_stmt => TemplateStmtKind::For {
                var: self.next_name(parts)?,
                set: self.next_expr(parts)?,
                body: self.next_block(parts)?,
            },
            Rule::if_stmt => self.if_stmt(parts)?,
            Rule::do_stmt => TemplateStmtKind::Do(self.next_template_ref(parts)?),
            Rule::send_stmt => TemplateStmtKind::Send {
                payload: self.next_payload(parts)?,
                peer: self.next_expr(parts)?,
            },
            Rule::recv_stmt => TemplateStmtKind::Recv {
                reduce: self.take(parts, Rule::recv_reduce).is_some(),
                payload: self.next_payload(parts)?,
                peer: self.next_expr(parts)?,
                into: match self.take(parts, Rule::into) {
                    Some(pair) => self.inside(pair, Self::next_buffer),
                    None => None,
                },
            },
            Rule::scratch_stmt => TemplateStmtKind::Scratch {
                name: self.next_name(parts)?,
                size: self.next_expr(parts)?,
            },
            Rule::copy_stmt => TemplateStmtKind::Copy {
                from: self.next_buffer(parts)?,
                to: self.next_buffer(parts)?,
            },
            Rule::local_reduce_stmt => TemplateStmtKind::Reduce {
                from: self.next_buffer(parts)?,
                into: self.next_buffer(parts)?,
            },
            _ => return None,
        })
    }

    /// `NAME in RANGE` inside the next pair, if that is a `rule`.
    pub(super) fn take_range(&mut self, parts: &mut Parts<'_>, rule: Rule) -> Option<(Name, Expr)> {
        let pair = self.take(parts, rule)?;
        self.inside(pair, |b, parts| {
            Some((b.next_name(parts)?, b.next_expr(parts)?))
        })
    }

    fn if_stmt(&mut self, parts: &mut Parts<'_>) -> Option<TemplateStmtKind> {
        let mut branches = vec![(self.next_expr(parts)?, self.next_block(parts)?)];
        while let Some(pair) = self.take(parts, Rule::else_if) {
            branches.push(self.inside(pair, |b, parts| {
                Some((b.next_expr(parts)?, b.next_block(parts)?))
            })?);
        }
        let otherwise = match self.take(parts, Rule::tmpl_body) {
            Some(pair) => Some(self.template_block(pair)?),
            None => None,
        };
        Some(TemplateStmtKind::If {
            branches,
            otherwise,
        })
    }

    fn next_payload(&mut self, parts: &mut Parts<'_>) -> Option<Payload> {
        let pair = self.next(parts)?;
        self.payload(pair)
    }

    fn payload(&mut self, pair: Pair<'_, Rule>) -> Option<Payload> {
        let span = self.span(&pair);
        self.inside(pair, |b, parts| {
            let kind = b.next(parts)?;
            Some(Payload {
                kind: b.payload_kind(kind)?,
                piece: match b.take(parts, Rule::piece) {
                    Some(pair) => Some(Box::new(b.inside(pair, Self::piece)?)),
                    None => None,
                },
                span,
            })
        })
    }

    fn payload_kind(&mut self, pair: Pair<'_, Rule>) -> Option<PayloadKind> {
        let rule = pair.as_rule();
        self.inside(pair, |b, parts| match rule {
            Rule::slot_payload => Some(PayloadKind::Slot(b.next_expr(parts)?)),
            Rule::block_payload => Some(PayloadKind::Block(
                Box::new(b.next_expr(parts)?),
                Box::new(b.next_expr(parts)?),
            )),
            _ => {
                let pair = b.next(parts)?;
                match pair.as_rule() {
                    Rule::held => Some(PayloadKind::Held),
                    Rule::all => Some(PayloadKind::All),
                    _ => b.inside(pair, Self::comprehension),
                }
            }
        })
    }

    /// `{a, b}` or `{ E for i in R if C }`.
    fn comprehension(&mut self, parts: &mut Parts<'_>) -> Option<PayloadKind> {
        let first = self.next_expr(parts)?;
        let Some(pair) = self.take(parts, Rule::comp_for) else {
            let mut all = vec![first];
            all.extend(self.rest(parts, Self::expr)?);
            return Some(PayloadKind::Slots(all));
        };
        self.inside(pair, |b, parts| {
            Some(PayloadKind::Comprehension {
                element: Box::new(first),
                var: b.next_name(parts)?,
                set: Box::new(b.next_expr(parts)?),
                condition: b.take_inner_expr(parts, Rule::comp_if).map(Box::new),
            })
        })
    }

    fn piece(&mut self, parts: &mut Parts<'_>) -> Option<Piece> {
        Some(Piece {
            index: self.next_expr(parts)?,
            of: self.next_expr(parts)?,
            align: self.take_inner_expr(parts, Rule::align),
        })
    }

    fn next_buffer(&mut self, parts: &mut Parts<'_>) -> Option<BufferRef> {
        let pair = self.next(parts)?;
        let pair = self.next(&mut Parts::new(pair))?;
        if pair.as_rule() == Rule::payload {
            return Some(BufferRef::Payload(self.payload(pair)?));
        }
        self.inside(pair, |b, parts| {
            Some(BufferRef::Scratch {
                name: b.next_name(parts)?,
                index: Box::new(b.next_expr(parts)?),
            })
        })
    }
}
