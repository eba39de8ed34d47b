//! How expressions are printed.

use super::layout::Layout;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, NetBound, NetRange, Path, UnaryOp};

/// Operators that stand in one group when they follow each other: breaking one breaks all.
fn family(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 0,
        BinaryOp::And => 1,
        BinaryOp::BitOr => 2,
        BinaryOp::BitXor => 3,
        BinaryOp::BitAnd => 4,
        BinaryOp::Shl | BinaryOp::Shr => 5,
        BinaryOp::Add | BinaryOp::Sub => 6,
        BinaryOp::Mul | BinaryOp::Div => 7,
        _ => 8,
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "or",
        BinaryOp::And => "and",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::In => "in",
        BinaryOp::NotIn => "not",
        BinaryOp::RangeOpen => "..<",
        BinaryOp::RangeClosed => "..=",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::BitAnd => "&",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
    }
}

impl Layout<'_> {
    pub(super) fn name(&mut self, name: &Name) {
        self.verbatim(name.span);
    }

    /// Names with commas between them; as many on a line as fit.
    pub(super) fn names(&mut self, names: &[Name]) {
        self.nest(|l| {
            for (i, name) in names.iter().enumerate() {
                if i > 0 {
                    l.close(",");
                }
                l.group(|l| {
                    if i > 0 {
                        l.line();
                    }
                    l.name(name);
                });
            }
        });
    }

    pub(super) fn path(&mut self, path: &Path) {
        self.verbatim(path.span());
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number { .. } | ExprKind::Shape(_) | ExprKind::Str(_) => {
                self.verbatim(expr.span);
            }
            ExprKind::Path(path) => self.path(path),
            ExprKind::Call { callee, args } => {
                self.path(callee);
                self.list(("(", ")"), args, |l, arg| l.expr(arg));
            }
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.token("[");
                self.expr(index);
                self.close_bracket("]");
            }
            ExprKind::Net(range) => self.net_range(range),
            ExprKind::Unary { op, operand } => {
                match op {
                    UnaryOp::Neg => self.token("-"),
                    UnaryOp::Complement => self.token("~"),
                    UnaryOp::Not => {
                        self.keyword("not");
                    }
                }
                self.expr(operand);
            }
            ExprKind::Binary { op, .. } => self.group(|l| {
                l.nest(|l| l.chain(expr, family(*op)));
            }),
            ExprKind::If {
                branches,
                otherwise,
            } => self.if_expr(branches, otherwise),
            ExprKind::Set(items) => self.list(("{", "}"), items, |l, item| l.expr(item)),
            ExprKind::List(items) => self.list(("[", "]"), items, |l, item| l.expr(item)),
            ExprKind::Paren(inner) => {
                self.token("(");
                self.expr(inner);
                self.close_bracket(")");
            }
            ExprKind::Error => self.fail(),
        }
    }

    /// Operators of one family in a row, each at the start of its line where they do not fit.
    fn chain(&mut self, expr: &Expr, of: u8) {
        let ExprKind::Binary {
            op, left, right, ..
        } = &expr.kind
        else {
            return self.expr(expr);
        };
        if family(*op) != of {
            return self.expr(expr);
        }
        self.chain(left, of);
        self.line();
        self.token(operator(*op));
        if *op == BinaryOp::NotIn {
            self.space();
            self.token("in");
        }
        self.space();
        self.expr(right);
    }

    fn if_expr(&mut self, branches: &[(Expr, Expr)], otherwise: &Expr) {
        self.group(|l| {
            for (i, (condition, value)) in branches.iter().enumerate() {
                if i > 0 {
                    l.keyword("else");
                }
                l.keyword("if");
                l.expr(condition);
                l.space();
                l.braced_value(value);
                l.space();
            }
            l.keyword("else");
            l.braced_value(otherwise);
        });
    }

    fn braced_value(&mut self, value: &Expr) {
        self.token("{");
        self.nest(|l| {
            l.line();
            l.expr(value);
            l.comments_here();
        });
        self.line();
        self.token("}");
    }

    pub(super) fn net_range(&mut self, range: &NetRange) {
        self.keyword("net");
        self.net_bound(&range.first);
        if let Some(last) = &range.last {
            self.token("..");
            self.net_bound(last);
        }
    }

    fn net_bound(&mut self, bound: &NetBound) {
        match bound {
            NetBound::Number(_, span) | NetBound::Star(span) => self.verbatim(*span),
            NetBound::Name(name) => self.name(name),
            NetBound::Expr(expr) => self.expr(expr),
        }
    }
}
