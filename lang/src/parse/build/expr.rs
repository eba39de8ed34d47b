//! Expressions: precedence, literals, calls.

use super::{Builder, Parts};
use crate::diagnostics::codes;
use crate::parse::error::SyntaxError;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, NetBound, NetRange, UnaryOp};
use coll_grammar::Rule;
use coll_grammar::number::{self, NumberError};
use pest::iterators::Pair;
use smol_str::SmolStr;

/// How deep the tree of one expression may be, so that no later walk runs out of stack: a chain of
/// operators is as deep as it is long.
pub(crate) const MAX_EXPR_DEPTH: u32 = 256;

/// An expression and how deep it is.
struct Built {
    expr: Expr,
    depth: u32,
}

/// An operator that waits for its right operand.
#[derive(Clone, Copy)]
enum Waiting {
    Prefix(UnaryOp, Span),
    Infix(BinaryOp, Span),
}

impl Waiting {
    fn binding(self) -> u8 {
        match self {
            Self::Prefix(UnaryOp::Not, _) => NOT_BINDING,
            Self::Prefix(..) => u8::MAX,
            Self::Infix(op, _) => binding(op),
        }
    }
}

/// `not` takes a whole comparison: it binds tighter than `and`, looser than `==`.
const NOT_BINDING: u8 = 3;

/// How tightly an infix operator binds.
fn binding(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        op if is_comparison(op) => 4,
        BinaryOp::RangeOpen | BinaryOp::RangeClosed => 5,
        BinaryOp::BitOr => 6,
        BinaryOp::BitXor => 7,
        BinaryOp::BitAnd => 8,
        BinaryOp::Shl | BinaryOp::Shr => 9,
        BinaryOp::Add | BinaryOp::Sub => 10,
        _ => 11,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::In
            | BinaryOp::NotIn
    )
}

fn infix(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "or" => BinaryOp::Or,
        "and" => BinaryOp::And,
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "in" => BinaryOp::In,
        "..<" => BinaryOp::RangeOpen,
        "..=" => BinaryOp::RangeClosed,
        "|" => BinaryOp::BitOr,
        "^" => BinaryOp::BitXor,
        "&" => BinaryOp::BitAnd,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        other if other.starts_with("not") => BinaryOp::NotIn,
        _ => return None,
    })
}

impl<'a> Builder<'a> {
    /// An `expr`, `operand` or `weight_expr`.
    pub(super) fn expr(&mut self, pair: Pair<'_, Rule>) -> Option<Expr> {
        Some(self.built(pair)?.expr)
    }

    pub(super) fn next_expr(&mut self, parts: &mut Parts<'_>) -> Option<Expr> {
        let pair = self.next(parts)?;
        self.expr(pair)
    }

    /// The expression inside the next pair, if that is a `rule`.
    pub(super) fn take_inner_expr(&mut self, parts: &mut Parts<'_>, rule: Rule) -> Option<Expr> {
        let pair = self.take(parts, rule)?;
        self.inside(pair, |b, parts| b.next_expr(parts))
    }

    /// The expressions inside the next pair, if that is a `rule`.
    pub(super) fn take_exprs(&mut self, parts: &mut Parts<'_>, rule: Rule) -> Option<Vec<Expr>> {
        let pair = self.take(parts, rule)?;
        self.list(pair, Self::expr)
    }

    fn built(&mut self, pair: Pair<'_, Rule>) -> Option<Built> {
        let form = pair.as_rule();
        let mut parts = Parts::new(pair);
        match form {
            Rule::operand | Rule::weight_operand => {
                let mut waiting = Vec::new();
                let operand = self.operand(&mut parts, &mut waiting)?;
                let mut done = vec![operand];
                self.reduce(&mut waiting, &mut done, 0)?;
                done.pop()
            }
            _ => self.chain(&mut parts),
        }
    }

    /// Operands and operators in turn: one pass with a stack of operators and one of operands.
    fn chain(&mut self, parts: &mut Parts<'_>) -> Option<Built> {
        let mut waiting = Vec::new();
        let mut done = Vec::new();
        loop {
            let operand = self.next(parts)?;
            let operand = self.operand(&mut Parts::new(operand), &mut waiting)?;
            done.push(operand);
            let Some(op) = self.next(parts) else {
                break;
            };
            let (start, end) = (op.as_span().start(), op.as_span().end());
            let op_span = self.at(start, end);
            let op = infix(op.as_str())?;
            let level = binding(op);
            self.reduce(&mut waiting, &mut done, level + 1)?;
            if let Some(&Waiting::Infix(before, before_span)) = waiting.last()
                && binding(before) == level
            {
                if matches!(level, 4 | 5) {
                    self.chained(level, before_span, op_span);
                }
                self.reduce(&mut waiting, &mut done, level)?;
            }
            waiting.push(Waiting::Infix(op, op_span));
        }
        self.reduce(&mut waiting, &mut done, 0)?;
        done.pop()
    }

    fn chained(&mut self, level: u8, before: Span, here: Span) {
        let (message, help) = if level == 4 {
            (
                "comparisons do not chain",
                "compare twice: `a < b and b < c`",
            )
        } else {
            ("ranges do not chain", "a range has one start and one end")
        };
        let mut error = SyntaxError::new(codes::E0101, here, message)
            .here("second operator")
            .help(help);
        error.labels.push((before, "first operator".to_owned()));
        self.report(error);
    }

    /// Applies the operators that bind at least as tightly as `level`.
    fn reduce(
        &mut self,
        waiting: &mut Vec<Waiting>,
        done: &mut Vec<Built>,
        level: u8,
    ) -> Option<()> {
        while let Some(&top) = waiting.last()
            && top.binding() >= level
        {
            waiting.pop();
            let right = done.pop()?;
            let built = match top {
                Waiting::Prefix(op, span) => {
                    let span = span.to(right.expr.span);
                    let operand = Box::new(right.expr);
                    self.deeper(span, right.depth, ExprKind::Unary { op, operand })
                }
                Waiting::Infix(op, op_span) => {
                    let left = done.pop()?;
                    let span = left.expr.span.to(right.expr.span);
                    let depth = left.depth.max(right.depth);
                    let kind = ExprKind::Binary {
                        op,
                        op_span,
                        left: Box::new(left.expr),
                        right: Box::new(right.expr),
                    };
                    self.deeper(span, depth, kind)
                }
            };
            done.push(built);
        }
        Some(())
    }

    /// An expression around parts that are `depth` deep.
    fn deeper(&mut self, span: Span, depth: u32, kind: ExprKind) -> Built {
        if depth < MAX_EXPR_DEPTH {
            let depth = depth + 1;
            return Built {
                expr: Expr { span, kind },
                depth,
            };
        }
        if !std::mem::replace(&mut self.too_deep, true) {
            let message = format!("an expression is nested more than {MAX_EXPR_DEPTH} deep");
            self.report(SyntaxError::new(codes::E0105, span, message).here("too deep").help(
                "name a part of it with `let`; a chain of operators is as deep as it is long",
            ));
        }
        Built {
            expr: Expr {
                span,
                kind: ExprKind::Error,
            },
            depth: 0,
        }
    }

    /// Prefix operators, left in `waiting`, and what they apply to.
    fn operand(&mut self, parts: &mut Parts<'_>, waiting: &mut Vec<Waiting>) -> Option<Built> {
        while let Some(pair) = self.take(parts, Rule::prefix) {
            let op = match pair.as_str() {
                "-" => UnaryOp::Neg,
                "~" => UnaryOp::Complement,
                _ => UnaryOp::Not,
            };
            waiting.push(Waiting::Prefix(op, self.span(&pair)));
        }
        let primary = self.next(parts)?;
        let mut built = self.primary(primary)?;
        while let Some(pair) = self.take(parts, Rule::index) {
            let span = built.expr.span.to(self.span(&pair));
            let mut inner = Parts::new(pair);
            let index = self.next(&mut inner)?;
            let index = self.built(index)?;
            let depth = built.depth.max(index.depth);
            let kind = ExprKind::Index {
                base: Box::new(built.expr),
                index: Box::new(index.expr),
            };
            built = self.deeper(span, depth, kind);
        }
        Some(built)
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> Option<Built> {
        let span = self.span(&pair);
        let text = pair.as_str();
        let leaf = |kind| {
            Some(Built {
                expr: Expr { span, kind },
                depth: 1,
            })
        };
        match pair.as_rule() {
            Rule::number => leaf(self.number(text, span)),
            Rule::shape => leaf(ExprKind::Shape(SmolStr::new(text))),
            Rule::string => leaf(ExprKind::Str(self.string(&pair).text)),
            Rule::net_range => leaf(ExprKind::Net(self.net_range(pair)?)),
            Rule::call_or_path => self.call_or_path(pair, span),
            Rule::paren => {
                let inner = self.next(&mut Parts::new(pair))?;
                let inner = self.built(inner)?;
                let kind = ExprKind::Paren(Box::new(inner.expr));
                Some(self.deeper(span, inner.depth, kind))
            }
            Rule::set => {
                let (items, depth) = self.items(pair)?;
                Some(self.deeper(span, depth, ExprKind::Set(items)))
            }
            Rule::list => {
                let (items, depth) = self.items(pair)?;
                Some(self.deeper(span, depth, ExprKind::List(items)))
            }
            Rule::if_expr => self.if_expr(pair, span),
            _ => None,
        }
    }

    /// The expressions inside a pair and the depth of the deepest.
    fn items(&mut self, pair: Pair<'_, Rule>) -> Option<(Vec<Expr>, u32)> {
        let mut depth = 0;
        let items = self.list(pair, |b, pair| {
            let built = b.built(pair)?;
            depth = depth.max(built.depth);
            Some(built.expr)
        })?;
        Some((items, depth))
    }

    fn call_or_path(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Built> {
        let mut parts = Parts::new(pair);
        let callee = self.next_path(&mut parts)?;
        let Some(args) = self.take(&mut parts, Rule::call_args) else {
            let kind = ExprKind::Path(callee);
            let expr = Expr { span, kind };
            return Some(Built { expr, depth: 1 });
        };
        let (args, depth) = self.items(args)?;
        Some(self.deeper(span, depth, ExprKind::Call { callee, args }))
    }

    fn if_expr(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Built> {
        let (mut parts, depth) = self.items(pair)?;
        let otherwise = Box::new(parts.pop()?);
        let mut branches = Vec::with_capacity(parts.len() / 2);
        let mut parts = parts.into_iter();
        while let (Some(condition), Some(value)) = (parts.next(), parts.next()) {
            branches.push((condition, value));
        }
        let kind = ExprKind::If {
            branches,
            otherwise,
        };
        Some(self.deeper(span, depth, kind))
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        match number::parse(text) {
            Ok(value) => ExprKind::Number {
                value,
                text: SmolStr::new(text),
            },
            Err(reason) => {
                let help = match reason {
                    NumberError::TooLarge => "numbers are exact fractions of 127-bit integers",
                    NumberError::Malformed => "write digits and a unit, such as `64KiB`",
                };
                self.report(
                    SyntaxError::new(
                        codes::E0106,
                        span,
                        format!("`{text}` is no number: {reason}"),
                    )
                    .help(help),
                );
                ExprKind::Error
            }
        }
    }

    /// `net k`, `net a..b`, `net *`.
    pub(super) fn net_range(&mut self, pair: Pair<'_, Rule>) -> Option<NetRange> {
        let span = self.span(&pair);
        let mut bounds = self.list(pair, Self::net_bound)?.into_iter();
        Some(NetRange {
            first: bounds.next()?,
            last: bounds.next(),
            span,
        })
    }

    fn net_bound(&mut self, pair: Pair<'_, Rule>) -> Option<NetBound> {
        let pair = self.next(&mut Parts::new(pair))?;
        let span = self.span(&pair);
        Some(match pair.as_rule() {
            Rule::net_index => match pair.as_str().parse() {
                Ok(index) => NetBound::Number(index, span),
                Err(_) => {
                    let kind = self.number(pair.as_str(), span);
                    NetBound::Expr(Box::new(Expr { span, kind }))
                }
            },
            Rule::star => NetBound::Star(span),
            Rule::name => NetBound::Name(self.name(&pair)),
            _ => {
                let built = self.primary(pair)?;
                NetBound::Expr(Box::new(built.expr))
            }
        })
    }
}
