//! Operators in expressions.

use super::{Compiler, Env, Failed, Typed};
use crate::check::facts::Fact;
use crate::check::guard::{Comparison, Op};
use crate::check::value::{Arithmetic, ArithmeticError, Function, Type, Value};
use crate::diagnostics::{Diagnostic, codes};
use crate::resolve::{Lookup, SymbolKind};
use crate::source::Place;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use coll_grammar::number::{Dimension, Quantity};

/// The two sides of an operator.
#[derive(Clone, Copy)]
pub(super) struct Sides<'e> {
    pub(super) left: &'e Expr,
    pub(super) right: &'e Expr,
    /// The whole expression.
    pub(super) place: Place,
    /// The operator.
    pub(super) between: Place,
}

impl Sides<'_> {
    /// Both sides have types that do not go together.
    fn differ(&self, message: String, left: &Type, right: &Type, env: &Env<'_>) -> Diagnostic {
        Diagnostic::new(codes::E0506, self.between, message)
            .label(env.place(self.left.span), left.to_string())
            .label(env.place(self.right.span), right.to_string())
    }
}

impl Compiler<'_, '_> {
    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        operand: &Expr,
        place: Place,
        env: &Env<'_>,
    ) -> Typed {
        match op {
            UnaryOp::Not => {
                self.condition(operand, env)?;
                self.emit(Op::Not, place);
                Ok(Type::Bool)
            }
            UnaryOp::Neg => {
                let start = self.here();
                let dimension = self.number(operand, env)?;
                self.emit_function(Function::Neg, start, place)?;
                Ok(Type::Number(dimension))
            }
            UnaryOp::Complement => {
                let start = self.here();
                self.count(operand, env)?;
                self.emit_function(Function::Complement, start, place)?;
                Ok(Type::COUNT)
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        use BinaryOp as B;
        let arithmetic = match op {
            B::And | B::Or => return self.logic(op == B::And, sides, env),
            B::Eq => return self.compare(Comparison::Equal, sides, env),
            B::Ne => return self.compare(Comparison::NotEqual, sides, env),
            B::Lt => return self.compare(Comparison::Less, sides, env),
            B::Le => return self.compare(Comparison::LessOrEqual, sides, env),
            B::Gt => return self.compare(Comparison::Greater, sides, env),
            B::Ge => return self.compare(Comparison::GreaterOrEqual, sides, env),
            B::In | B::NotIn => return self.membership(op == B::NotIn, sides, env),
            B::RangeOpen | B::RangeClosed => {
                return self.misplaced(sides.place, "a range", "a range stands right of `in`");
            }
            B::BitOr => Arithmetic::Or,
            B::BitXor => Arithmetic::Xor,
            B::BitAnd => Arithmetic::And,
            B::Shl => Arithmetic::Shl,
            B::Shr => Arithmetic::Shr,
            B::Add => Arithmetic::Add,
            B::Sub => Arithmetic::Sub,
            B::Mul => Arithmetic::Mul,
            B::Div => Arithmetic::Div,
        };
        self.arithmetic(arithmetic, sides, env)
    }

    pub(super) fn arithmetic(&mut self, op: Arithmetic, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        use Arithmetic as A;
        let start = self.here();
        let a = self.number(sides.left, env)?;
        let between = self.here();
        let b = self.number(sides.right, env)?;
        let fits = match op {
            A::Mul | A::Div => true,
            A::Add | A::Sub | A::Min | A::Max => a == b,
            A::Shl => b == Dimension::NONE,
            A::Shr | A::And | A::Or | A::Xor | A::Gcd | A::Pow => {
                a == Dimension::NONE && b == Dimension::NONE
            }
        };
        if !fits {
            let message = match op {
                A::Add | A::Sub | A::Min | A::Max => {
                    format!("{a} and {b} do not go together")
                }
                _ => format!("only counts can stand here, and these are {a} and {b}"),
            };
            let (a, b) = (Type::Number(a), Type::Number(b));
            let diagnostic = sides.differ(message, &a, &b, env);
            return self.fail(
                diagnostic
                    .help("numbers are written with their units: `64 KiB`, `56 GB/s`, `1.5 us`"),
            );
        }
        self.emit_arithmetic(op, start, between, sides.place)?;
        Ok(Type::Number(op.dimension(a, b)))
    }

    /// Applies an operator to two operands, of which the first begins at operation `start` and the
    /// second at `between`; at once if both are constants.
    pub(super) fn emit_arithmetic(
        &mut self,
        op: Arithmetic,
        start: u32,
        between: u32,
        place: Place,
    ) -> Result<(), Failed> {
        let single = between == start + 1 && self.here() == between + 1;
        let operands = match self.guard.ops.as_slice() {
            [.., Op::Push(Value::Number(a)), Op::Push(Value::Number(b))] if single => {
                Some((*a, *b))
            }
            _ => None,
        };
        let Some((a, b)) = operands else {
            self.emit(Op::Arithmetic(op), place);
            return Ok(());
        };
        let value = op.apply(a, b);
        self.replace_constant(start, value, place)
    }

    /// Applies a function to the operand that begins at operation `start`; at once if it is a
    /// constant.
    pub(super) fn emit_function(
        &mut self,
        function: Function,
        start: u32,
        place: Place,
    ) -> Result<(), Failed> {
        match self.guard.ops.last() {
            Some(Op::Push(Value::Number(a))) if self.here() == start + 1 => {
                let value = function.apply(*a);
                self.replace_constant(start, value, place)
            }
            _ => {
                self.emit(Op::Function(function), place);
                Ok(())
            }
        }
    }

    /// Replaces everything from operation `start` by a constant.
    pub(super) fn replace_constant(
        &mut self,
        start: u32,
        value: Result<Quantity, ArithmeticError>,
        place: Place,
    ) -> Result<(), Failed> {
        match value {
            Ok(value) => {
                self.guard.ops.truncate(start as usize);
                self.guard.places.truncate(start as usize);
                self.emit(Op::Push(Value::Number(value)), place);
                Ok(())
            }
            Err(error) => self.fail(Diagnostic::new(codes::E0505, place, error.to_string())),
        }
    }

    pub(super) fn logic(&mut self, and: bool, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        self.condition(sides.left, env)?;
        let skip = self.here();
        self.emit(Op::Jump(0), sides.place);
        self.condition(sides.right, env)?;
        self.emit(if and { Op::And } else { Op::Or }, sides.place);
        let end = self.here();
        self.guard.ops[skip as usize] = match and {
            true => Op::SkipUnless(end),
            false => Op::SkipIf(end),
        };
        Ok(Type::Bool)
    }

    /// Compiles two sides that have one type. A side that is a bare word takes its meaning from the
    /// other.
    pub(super) fn compare(&mut self, test: Comparison, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        let Sides { left, right, .. } = sides;
        let left_is_word = self.is_bare_word(left, env) && !self.is_bare_word(right, env);
        let (first, second, test) = match left_is_word {
            true => (right, left, test.mirrored()),
            false => (left, right, test),
        };
        let a = self.expr(first, env, None)?;
        let made_first = self.last();
        let b = self.expr(second, env, a.vocabulary())?;
        let made_second = self.last();
        if a != b {
            let (a, b) = if left_is_word { (b, a) } else { (a, b) };
            let message = format!("{a} cannot be compared with {b}");
            let diagnostic = sides.differ(message, &a, &b, env);
            return self.fail(diagnostic);
        }
        let ordered = !matches!(test, Comparison::Equal | Comparison::NotEqual);
        if ordered && !matches!(a, Type::Number(_)) {
            let message = format!("{a} has no order: compare with `==`, `!=` or `in`");
            return self.fail(Diagnostic::new(codes::E0506, sides.place, message));
        }
        let operands = [made_first, made_second];
        self.emit(Op::Compare { test, operands }, sides.place);
        Ok(Type::Bool)
    }

    /// Whether an expression is a name that stands for nothing but, perhaps, a word.
    pub(super) fn is_bare_word(&self, expr: &Expr, env: &Env<'_>) -> bool {
        match &expr.kind {
            ExprKind::Paren(inner) => self.is_bare_word(inner, env),
            ExprKind::Path(path) => path.as_name().is_some_and(|name| {
                let text = name.text.as_str();
                let constant = matches!(text, "true" | "false");
                !constant
                    && env.param(text).is_none()
                    && Fact::parse(text).is_none()
                    && !self.cx.facts.contains_key(text)
                    && !matches!(
                        self.cx.names.look_up(env.module, &path.parts),
                        Lookup::Symbols { found, .. }
                            if self.cx.names.symbol(found[0]).kind == SymbolKind::Let
                    )
            }),
            _ => false,
        }
    }

    pub(super) fn membership(&mut self, negated: bool, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        let ty = self.expr(sides.left, env, None)?;
        let subject = self.last();
        self.right_of_in(negated, subject, &ty, sides.right, sides.place, env)?;
        Ok(Type::Bool)
    }

    /// What stands right of `in`: a set, a range, or the name of one.
    pub(super) fn right_of_in(
        &mut self,
        negated: bool,
        subject: u32,
        ty: &Type,
        right: &Expr,
        place: Place,
        env: &Env<'_>,
    ) -> Result<(), Failed> {
        match &right.kind {
            ExprKind::Paren(inner) => self.right_of_in(negated, subject, ty, inner, place, env),
            ExprKind::Set(elements) => {
                for element in elements {
                    let found = self.expr(element, env, ty.vocabulary())?;
                    self.expect_type(ty, &found, env.place(element.span))?;
                }
                let count = elements.len() as u32;
                let op = Op::InSet {
                    count,
                    negated,
                    subject,
                };
                self.emit(op, place);
                Ok(())
            }
            ExprKind::Binary {
                op: op @ (BinaryOp::RangeOpen | BinaryOp::RangeClosed),
                left,
                right,
                ..
            } => {
                for end in [left, right] {
                    let found = Type::Number(self.number(end, env)?);
                    self.expect_type(ty, &found, env.place(end.span))?;
                }
                let closed = *op == BinaryOp::RangeClosed;
                let op = Op::InRange {
                    closed,
                    negated,
                    subject,
                };
                self.emit(op, place);
                Ok(())
            }
            ExprKind::Path(path) => match env.param(&path.parts[0].text) {
                Some((arg, outer)) if path.parts.len() == 1 => {
                    self.right_of_in(negated, subject, ty, arg, place, outer)
                }
                _ => match self.let_named(path, env) {
                    Some(symbol) => self.inline(
                        symbol,
                        &[],
                        env.place(path.span()),
                        env,
                        |this, body, env| this.right_of_in(negated, subject, ty, body, place, env),
                    ),
                    None => self.no_set(right, env),
                },
            },
            ExprKind::Error => Err(Failed),
            _ => self.no_set(right, env),
        }
    }

    pub(super) fn no_set(&mut self, expr: &Expr, env: &Env<'_>) -> Result<(), Failed> {
        self.fail(
            Diagnostic::new(
                codes::E0506,
                env.place(expr.span),
                "a set or a range is needed right of `in`",
            )
            .help("write `{a, b}`, `a ..< b` or `a ..= b`"),
        )
    }
}
