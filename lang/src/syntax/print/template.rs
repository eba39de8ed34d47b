//! How templates are printed.

use super::layout::Layout;
use crate::syntax::ast::{
    BufferRef, Expr, Name, Payload, PayloadKind, Require, Template, TemplateBody, TemplateRef,
    TemplateStmt, TemplateStmtKind,
};

impl Layout<'_> {
    pub(super) fn template(&mut self, template: &Template) {
        if matches!(template.body, TemplateBody::Extern) {
            self.keyword("extern");
        }
        self.group(|l| {
            l.keyword("template");
            l.name(&template.name);
            l.params(&template.params);
            l.operations(&template.ops);
            match &template.body {
                TemplateBody::Extern => l.close(";"),
                TemplateBody::Reverse(of) => l.defined_as(|l| {
                    l.keyword("reverse");
                    l.template_ref(of);
                }),
                TemplateBody::Block(_) => l.space(),
            }
        });
        if let TemplateBody::Block(body) = &template.body {
            self.template_block(body);
        }
    }

    /// ` : OP, OP`
    pub(super) fn operations(&mut self, ops: &[Name]) {
        self.space();
        self.keyword(":");
        self.names(ops);
    }

    pub(super) fn template_ref(&mut self, of: &TemplateRef) {
        self.path(&of.name);
        self.args(of.args.as_ref());
    }

    fn template_block(&mut self, body: &[TemplateStmt]) {
        self.block(|l| {
            for stmt in body {
                l.template_stmt(stmt);
                l.paragraph();
            }
        });
    }

    pub(super) fn require(&mut self, require: &Require) {
        self.group(|l| {
            l.keyword("require");
            l.expr(&require.condition);
            if let Some(message) = &require.message {
                l.nest(|l| {
                    l.line();
                    l.keyword("else");
                    l.verbatim(message.span);
                });
            }
            l.close(";");
        });
    }

    /// `NAME in RANGE`
    pub(super) fn range(&mut self, var: &Name, set: &Expr) {
        self.name(var);
        self.space();
        self.keyword("in");
        self.expr(set);
    }

    fn template_stmt(&mut self, stmt: &TemplateStmt) {
        match &stmt.kind {
            TemplateStmtKind::Require(require) => self.require(require),
            TemplateStmtKind::Let { name, value } => {
                self.keyword("let");
                self.assignment(name, value);
            }
            TemplateStmtKind::Step { range, body } => {
                self.keyword("step");
                if let Some((var, set)) = range {
                    self.range(var, set);
                    self.space();
                }
                self.template_block(body);
            }
            TemplateStmtKind::For { var, set, body } => {
                self.keyword("for");
                self.range(var, set);
                self.space();
                self.template_block(body);
            }
            TemplateStmtKind::If {
                branches,
                otherwise,
            } => self.if_stmt(branches, otherwise.as_deref()),
            TemplateStmtKind::Send { payload, peer } => self.group(|l| {
                l.keyword("send");
                l.payload(payload);
                l.nest(|l| {
                    l.line();
                    l.keyword("to");
                    l.expr(peer);
                });
                l.close(";");
            }),
            TemplateStmtKind::Recv {
                reduce,
                payload,
                peer,
                into,
            } => self.group(|l| {
                l.keyword("recv");
                if *reduce {
                    l.keyword("reduce");
                }
                l.payload(payload);
                l.nest(|l| {
                    l.line();
                    l.keyword("from");
                    l.expr(peer);
                    if let Some(into) = into {
                        l.line();
                        l.keyword("into");
                        l.buffer(into);
                    }
                });
                l.close(";");
            }),
            TemplateStmtKind::Scratch { name, size } => {
                self.keyword("scratch");
                self.name(name);
                self.token("[");
                self.expr(size);
                self.close_bracket("]");
                self.close(";");
            }
            TemplateStmtKind::Copy { from, to } => self.local("copy", from, "to", to),
            TemplateStmtKind::Reduce { from, into } => self.local("reduce", from, "into", into),
            TemplateStmtKind::Do(of) => {
                self.keyword("do");
                self.template_ref(of);
                self.close(";");
            }
            TemplateStmtKind::Error => self.fail(),
        }
    }

    /// `NAME = VALUE;`
    pub(super) fn assignment(&mut self, name: &Name, value: &Expr) {
        self.name(name);
        self.space();
        self.keyword("=");
        self.expr(value);
        self.close(";");
    }

    fn if_stmt(&mut self, branches: &[(Expr, Vec<TemplateStmt>)], last: Option<&[TemplateStmt]>) {
        for (i, (condition, body)) in branches.iter().enumerate() {
            if i > 0 {
                self.space();
                self.keyword("else");
            }
            self.keyword("if");
            self.expr(condition);
            self.space();
            self.template_block(body);
        }
        if let Some(body) = last {
            self.space();
            self.keyword("else");
            self.template_block(body);
        }
    }

    fn local(&mut self, verb: &str, from: &BufferRef, preposition: &str, to: &BufferRef) {
        self.group(|l| {
            l.keyword(verb);
            l.buffer(from);
            l.nest(|l| {
                l.line();
                l.keyword(preposition);
                l.buffer(to);
            });
            l.close(";");
        });
    }

    fn buffer(&mut self, buffer: &BufferRef) {
        match buffer {
            BufferRef::Payload(payload) => self.payload(payload),
            BufferRef::Scratch { name, index } => {
                self.name(name);
                self.token("[");
                self.expr(index);
                self.close_bracket("]");
            }
        }
    }

    fn payload(&mut self, payload: &Payload) {
        match &payload.kind {
            PayloadKind::Slot(slot) => {
                self.keyword("slot");
                self.expr(slot);
            }
            PayloadKind::Slots(slots) => {
                self.keyword("slots");
                self.list(("{", "}"), slots, |l, slot| l.expr(slot));
            }
            PayloadKind::Comprehension {
                element,
                var,
                set,
                condition,
            } => {
                self.keyword("slots");
                self.comprehension(element, (var, set), condition.as_deref());
            }
            PayloadKind::Held => self.phrase("slots", "held"),
            PayloadKind::All => self.phrase("slots", "all"),
            PayloadKind::Block(from, to) => {
                self.keyword("block");
                self.list(("(", ")"), &[from, to], |l, end| l.expr(end));
            }
        }
        if let Some(piece) = &payload.piece {
            self.space();
            self.keyword("piece");
            self.expr(&piece.index);
            self.space();
            self.keyword("of");
            self.expr(&piece.of);
            if let Some(align) = &piece.align {
                self.space();
                self.keyword("align");
                self.expr(align);
            }
        }
    }

    /// Two words.
    pub(super) fn phrase(&mut self, first: &str, second: &str) {
        self.keyword(first);
        self.token(second);
    }

    fn comprehension(&mut self, element: &Expr, (var, set): (&Name, &Expr), when: Option<&Expr>) {
        self.group(|l| {
            l.token("{");
            l.nest(|l| {
                l.line();
                l.expr(element);
                l.line();
                l.keyword("for");
                l.range(var, set);
                if let Some(condition) = when {
                    l.line();
                    l.keyword("if");
                    l.expr(condition);
                }
                l.comments_here();
            });
            l.line();
            l.token("}");
        });
    }
}
