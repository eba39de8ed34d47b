//! From expressions to guards: names, types, and which facts may be asked where.

mod functions;
mod names;

pub(in crate::check) use functions::{is_built_in, is_function};

use super::context::Context;
use super::facts::{Fact, NoFacts};
use super::guard::{Comparison, EvalError, Guard, Op};
use super::value::{Arithmetic, ArithmeticError, Function, Type, Value, Vocabulary};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{LevelRef, ModuleId};
use crate::resolve::{Lookup, Ops, Reporter, SymbolKind};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use coll_grammar::number::{Dimension, Quantity};
use coll_grammar::words::Operation;
use smol_str::SmolStr;

/// Named expressions may stand in one another this deep.
const MAX_INLINED: u32 = 64;

/// Expressions may be nested this deep once named ones are written out.
const MAX_DEPTH: u32 = 512;

/// Expressions may have this many parts once named ones are written out.
const MAX_PARTS: u32 = 1 << 14;

/// What an expression is for, which decides what it may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Purpose {
    /// Nothing: it must have a value as it stands.
    Constant,
    /// A requirement of a topology, matched before there is a call.
    Topology,
    /// A share of a tree's child.
    Weight,
    /// A condition of an algorithm of this operation.
    Algorithm(Operation),
    /// A condition of a template for these operations.
    Template(Ops),
    /// A named expression: where it is used decides.
    Anything,
}

/// What a name inside `ports(…)` is: a level, or an error that was reported.
pub(in crate::check) type LevelOf<'a> = &'a dyn Fn(&Name) -> Result<LevelRef, Option<Diagnostic>>;

/// Where an expression stands and what it may ask.
#[derive(Clone, Copy)]
pub(in crate::check) struct Asker<'a> {
    /// The module whose names it sees.
    pub(in crate::check) module: ModuleId,
    /// The item its spans count in.
    pub(in crate::check) item: ItemId,
    /// What it is for.
    pub(in crate::check) purpose: Purpose,
    /// The levels it can name, if it can.
    pub(in crate::check) levels: Option<LevelOf<'a>>,
    /// Values of parameters around it.
    pub(in crate::check) values: &'a [(SmolStr, Value)],
}

/// Compiles an expression. What is wrong is added to `diagnostics`, and then there is no result;
/// parts that did not parse give no result either, silently.
pub(in crate::check) fn compile(
    cx: &Context<'_>,
    reporter: &Reporter<'_>,
    asker: Asker<'_>,
    expr: &Expr,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Guard, Type)> {
    let mut compiler = Compiler {
        cx,
        reporter,
        asker,
        guard: Guard::default(),
        diagnostics: Vec::new(),
        depth: 0,
        parts: 0,
        inlined: 0,
    };
    let env = Env {
        module: asker.module,
        item: asker.item,
        params: &[],
        args: &[],
        outer: None,
    };
    let ty = compiler.expr(expr, &env, None);
    let guard = ty.and_then(|ty| compiler.finish().map(|guard| (guard, ty)));
    diagnostics.append(&mut compiler.diagnostics);
    guard.ok()
}

/// Something was wrong; it was reported.
#[derive(Debug)]
struct Failed;

type Typed = Result<Type, Failed>;

/// Names around an expression: the parameters of a named expression and what they stand for.
#[derive(Clone, Copy)]
struct Env<'e> {
    module: ModuleId,
    item: ItemId,
    params: &'e [Name],
    args: &'e [Expr],
    /// Where the arguments stand.
    outer: Option<&'e Env<'e>>,
}

/// The two sides of an operator.
#[derive(Clone, Copy)]
struct Sides<'e> {
    left: &'e Expr,
    right: &'e Expr,
    /// The whole expression.
    place: Place,
    /// The operator.
    between: Place,
}

impl Sides<'_> {
    /// Both sides have types that do not go together.
    fn differ(&self, message: String, left: &Type, right: &Type, env: &Env<'_>) -> Diagnostic {
        Diagnostic::new(codes::E0506, self.between, message)
            .label(env.place(self.left.span), left.to_string())
            .label(env.place(self.right.span), right.to_string())
    }
}

struct Compiler<'c, 'a> {
    cx: &'c Context<'a>,
    reporter: &'c Reporter<'a>,
    asker: Asker<'c>,
    guard: Guard,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
    parts: u32,
    inlined: u32,
}

impl Compiler<'_, '_> {
    /// Replaces a guard that asks nothing by its value.
    fn finish(&mut self) -> Result<Guard, Failed> {
        let asks = |op: &Op| {
            matches!(
                op,
                Op::Fact(_) | Op::Declared(_) | Op::Net(_) | Op::Matches(..) | Op::Ports(..)
            )
        };
        let guard = std::mem::take(&mut self.guard);
        if guard.ops.iter().any(asks) {
            return Ok(guard);
        }
        match guard.eval(&NoFacts) {
            Ok(value) => Ok(Guard {
                ops: vec![Op::Push(value)],
                places: guard.places.last().copied().into_iter().collect(),
            }),
            Err(EvalError::Arithmetic { error, place }) => {
                self.report(Diagnostic::new(codes::E0505, place, error.to_string()));
                Err(Failed)
            }
            Err(error) => {
                if let Some(place) = guard.place() {
                    self.report(Diagnostic::new(codes::E0505, place, error.to_string()));
                }
                Err(Failed)
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Failed> {
        self.report(diagnostic);
        Err(Failed)
    }

    fn emit(&mut self, op: Op, place: Place) {
        self.guard.ops.push(op);
        self.guard.places.push(place);
    }

    fn here(&self) -> u32 {
        self.guard.ops.len() as u32
    }

    /// The operation that made the value on top.
    fn last(&self) -> u32 {
        self.here().saturating_sub(1)
    }

    fn expr(&mut self, expr: &Expr, env: &Env<'_>, want: Option<&Vocabulary>) -> Typed {
        let place = env.place(expr.span);
        self.parts += 1;
        if self.depth >= MAX_DEPTH || self.parts > MAX_PARTS {
            return self.fail(
                Diagnostic::new(
                    codes::E0505,
                    place,
                    "the expression is too large once named expressions are written out",
                )
                .note(format!(
                    "at most {MAX_PARTS} parts, nested at most {MAX_DEPTH} deep"
                )),
            );
        }
        self.depth += 1;
        let ty = self.form(expr, place, env, want);
        self.depth -= 1;
        ty
    }

    fn form(
        &mut self,
        expr: &Expr,
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        match &expr.kind {
            ExprKind::Error => Err(Failed),
            ExprKind::Paren(inner) => self.expr(inner, env, want),
            ExprKind::Number { value, .. } => {
                self.emit(Op::Push(Value::Number(*value)), place);
                Ok(Type::Number(value.dimension))
            }
            ExprKind::Path(path) => self.path(path, place, env, want),
            ExprKind::Call { callee, args } => self.call(callee, args, place, env, want),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, place, env),
            ExprKind::Binary {
                op,
                op_span,
                left,
                right,
            } => {
                let sides = Sides {
                    left,
                    right,
                    place,
                    between: env.place(*op_span),
                };
                self.binary(*op, sides, env)
            }
            ExprKind::If {
                branches,
                otherwise,
            } => self.choice(branches, otherwise, place, env, want),
            ExprKind::Shape(text) => {
                self.misplaced(place, &format!("the shape `{text}`"), "name a number")
            }
            ExprKind::Str(_) => self.misplaced(place, "a text", "write the word without quotes"),
            ExprKind::Index { .. } => self.misplaced(place, "an element", "name a value"),
            ExprKind::Net(_) => self.misplaced(
                place,
                "a layer",
                "ask about it: `size(net k)`, `shape(net k)`, `protocol(net k)`, `has(net k, plane)`",
            ),
            ExprKind::Set(_) => self.misplaced(place, "a set", "a set stands right of `in`"),
            ExprKind::List(_) => self.misplaced(place, "a list", "name a single value"),
        }
    }

    fn misplaced(&mut self, place: Place, what: &str, help: &str) -> Typed {
        let message = format!("{what} cannot stand here");
        self.fail(Diagnostic::new(codes::E0506, place, message).help(help))
    }

    fn expect_type(&mut self, expected: &Type, found: &Type, place: Place) -> Result<(), Failed> {
        if expected == found {
            return Ok(());
        }
        let message = format!("this is {found}, and {expected} is needed here");
        self.fail(Diagnostic::new(codes::E0506, place, message))
    }

    fn condition(&mut self, expr: &Expr, env: &Env<'_>) -> Result<(), Failed> {
        let ty = self.expr(expr, env, None)?;
        self.expect_type(&Type::Bool, &ty, env.place(expr.span))
    }

    fn number(&mut self, expr: &Expr, env: &Env<'_>) -> Result<Dimension, Failed> {
        match self.expr(expr, env, None)? {
            Type::Number(dimension) => Ok(dimension),
            other => {
                let message = format!("this is {other}, and a number is needed here");
                self.fail(Diagnostic::new(codes::E0506, env.place(expr.span), message))
            }
        }
    }

    fn count(&mut self, expr: &Expr, env: &Env<'_>) -> Result<(), Failed> {
        let dimension = self.number(expr, env)?;
        let found = Type::Number(dimension);
        self.expect_type(&Type::COUNT, &found, env.place(expr.span))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, place: Place, env: &Env<'_>) -> Typed {
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

    fn binary(&mut self, op: BinaryOp, sides: Sides<'_>, env: &Env<'_>) -> Typed {
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

    fn arithmetic(&mut self, op: Arithmetic, sides: Sides<'_>, env: &Env<'_>) -> Typed {
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
    fn emit_arithmetic(
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
    fn emit_function(
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
    fn replace_constant(
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

    fn logic(&mut self, and: bool, sides: Sides<'_>, env: &Env<'_>) -> Typed {
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
    fn compare(&mut self, test: Comparison, sides: Sides<'_>, env: &Env<'_>) -> Typed {
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
    fn is_bare_word(&self, expr: &Expr, env: &Env<'_>) -> bool {
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

    fn membership(&mut self, negated: bool, sides: Sides<'_>, env: &Env<'_>) -> Typed {
        let ty = self.expr(sides.left, env, None)?;
        let subject = self.last();
        self.right_of_in(negated, subject, &ty, sides.right, sides.place, env)?;
        Ok(Type::Bool)
    }

    /// What stands right of `in`: a set, a range, or the name of one.
    fn right_of_in(
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

    fn no_set(&mut self, expr: &Expr, env: &Env<'_>) -> Result<(), Failed> {
        self.fail(
            Diagnostic::new(
                codes::E0506,
                env.place(expr.span),
                "a set or a range is needed right of `in`",
            )
            .help("write `{a, b}`, `a ..< b` or `a ..= b`"),
        )
    }

    fn choice(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        let mut ty: Option<Type> = None;
        let (mut conditions, mut ends) = (Vec::new(), Vec::new());
        for (condition, value) in branches {
            self.condition(condition, env)?;
            let branch = self.here();
            self.emit(Op::Jump(0), place);
            let found = self.expr(value, env, want)?;
            match &ty {
                None => ty = Some(found),
                Some(ty) => self.expect_type(ty, &found, env.place(value.span))?,
            }
            ends.push(self.here());
            self.emit(Op::Jump(0), place);
            conditions.push((branch, self.here()));
        }
        let found = self.expr(otherwise, env, want)?;
        if let Some(ty) = &ty {
            self.expect_type(ty, &found, env.place(otherwise.span))?;
        }
        let end = self.here();
        for (branch, otherwise) in conditions {
            self.guard.ops[branch as usize] = Op::Branch { otherwise, end };
        }
        for jump in ends {
            self.guard.ops[jump as usize] = Op::Jump(end);
        }
        Ok(ty.unwrap_or(found))
    }
}

impl<'e> Env<'e> {
    fn place(&self, span: Span) -> Place {
        Place {
            item: self.item,
            span,
        }
    }

    /// The argument for a parameter, and where it stands.
    fn param(&self, name: &str) -> Option<(&'e Expr, &'e Env<'e>)> {
        let at = self.params.iter().position(|p| p.text == name)?;
        self.args.get(at).zip(self.outer)
    }
}

/// `1 argument`, `2 arguments`.
pub(in crate::check) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
