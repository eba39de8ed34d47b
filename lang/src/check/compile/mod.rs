//! From expressions to guards: names, types, and which facts may be asked where.

mod functions;
mod names;
mod operators;

use operators::Sides;

pub(in crate::check) use functions::{is_built_in, is_function};

use super::context::{Context, Fault};
use super::facts::NoFacts;
use super::guard::{EvalError, Guard, Op};
use super::value::{Type, Value, Vocabulary};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{LevelRef, ModuleId};
use crate::resolve::{Ops, Reporter};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{Expr, ExprKind, Name};
use coll_grammar::number::Dimension;
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
pub(in crate::check) type LevelOf<'a> = &'a dyn Fn(&Name) -> Result<LevelRef, Fault>;

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
pub(in crate::check) fn compile<'a>(
    cx: &Context<'a>,
    reporter: &Reporter<'a>,
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
