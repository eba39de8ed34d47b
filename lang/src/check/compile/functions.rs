//! Functions in expressions.

use super::{Compiler, Env, Failed, Purpose, Sides, Typed, counted};
use crate::check::facts::{CLOSED, Fact, Known, NetFact};
use crate::check::guard::Op;
use crate::check::value::{Arithmetic, Function, Type, Value, Vocabulary};
use crate::diagnostics::{Diagnostic, codes};
use crate::nearest::nearest;
use crate::resolve::{Lookup, SymbolKind};
use crate::source::Place;
use crate::syntax::ast::{Expr, ExprKind, Name, NetBound, NetRange, Path};
use coll_grammar::number::Quantity;

impl Compiler<'_, '_> {
    pub(super) fn call(
        &mut self,
        callee: &Path,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
        want: Option<&Vocabulary>,
    ) -> Typed {
        if let Some(symbol) = self.let_named(callee, env) {
            return self.named(symbol, args, place, env, want);
        }
        let Some(name) = callee.as_name() else {
            return self.unknown_path(callee, env);
        };
        match name.text.as_str() {
            "size" => self.net_fact(NetFact::Size, name, args, place, env),
            "shape" => self.net_fact(NetFact::Shape, name, args, place, env),
            "protocol" => self.net_fact(NetFact::Protocol, name, args, place, env),
            "has" => self.has(name, args, place, env),
            "sizes" => self.misplaced(
                place,
                "a list of sizes",
                "take `min(sizes(net k))`, `max(sizes(net k))` or `gcd(sizes(net k))`",
            ),
            "matches" => self.matches(name, args, place, env),
            "ports" => self.ports(name, args, place, env),
            "min" => self.fold(Arithmetic::Min, NetFact::LeastSize, name, args, place, env),
            "max" => self.fold(
                Arithmetic::Max,
                NetFact::GreatestSize,
                name,
                args,
                place,
                env,
            ),
            "gcd" => self.fold(Arithmetic::Gcd, NetFact::CommonSize, name, args, place, env),
            "pow" => match args {
                [left, right] => {
                    let sides = Sides {
                        left,
                        right,
                        place,
                        between: env.place(name.span),
                    };
                    self.arithmetic(Arithmetic::Pow, sides, env)
                }
                _ => self.arity(name, "two numbers", args.len(), place),
            },
            "abs" => {
                let start = self.here();
                let dimension = match args {
                    [arg] => self.number(arg, env)?,
                    _ => return self.arity(name, "one number", args.len(), place),
                };
                self.emit_function(Function::Abs, start, place)?;
                Ok(Type::Number(dimension))
            }
            "ceil_log2" => self.function(Function::CeilLog2, name, args, place, env),
            "floor_log2" => self.function(Function::FloorLog2, name, args, place, env),
            "log2" => self.function(Function::Log2, name, args, place, env),
            "is_power_of_two" => {
                let [arg] = args else {
                    return self.arity(name, "one count", args.len(), place);
                };
                self.count(arg, env)?;
                self.emit(Op::IsPowerOfTwo, place);
                Ok(Type::Bool)
            }
            text => self.unknown_function(text, callee, place, env),
        }
    }

    fn unknown_function(
        &mut self,
        text: &str,
        callee: &Path,
        place: Place,
        env: &Env<'_>,
    ) -> Typed {
        match self.cx.names.look_up(env.module, &callee.parts) {
            Lookup::Broken => return Err(Failed),
            Lookup::Symbols { found, .. } => {
                let diagnostic = self.reporter.wrong_kind(found[0], place, SymbolKind::Let);
                return self.fail(diagnostic);
            }
            _ => {}
        }
        let lets = self.reporter.in_scope(env.module, SymbolKind::Let);
        let near = nearest(text, FUNCTIONS.iter().copied().chain(lets.iter().copied()));
        let place = env.place(callee.span());
        let mut diagnostic = Diagnostic::new(
            codes::E0601,
            place,
            format!("there is no function `{text}`"),
        );
        match near {
            Some(near) => {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?")).suggest(
                    format!("replace with `{near}`"),
                    place,
                    near,
                );
            }
            None => diagnostic.help = Some(format!("functions: {}", FUNCTIONS.join(", "))),
        }
        self.fail(diagnostic)
    }

    fn arity<T>(
        &mut self,
        name: &Name,
        takes: &str,
        given: usize,
        place: Place,
    ) -> Result<T, Failed> {
        self.fail(Diagnostic::new(
            codes::E0213,
            place,
            format!(
                "`{}` takes {takes}, and gets {}",
                name.text,
                counted(given, "argument")
            ),
        ))
    }

    fn function(
        &mut self,
        function: Function,
        name: &Name,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
    ) -> Typed {
        let [arg] = args else {
            return self.arity(name, "one count", args.len(), place);
        };
        let start = self.here();
        self.count(arg, env)?;
        self.emit_function(function, start, place)?;
        Ok(Type::COUNT)
    }

    /// `min`, `max` or `gcd` of some numbers, or of the sizes of a layer.
    fn fold(
        &mut self,
        op: Arithmetic,
        of_sizes: NetFact,
        name: &Name,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
    ) -> Typed {
        match args {
            [only] => match sizes_of(only) {
                Some((callee, inner)) => self.net_fact(of_sizes, callee, inner, place, env),
                None => self.arity(name, "two or more numbers, or `sizes(net k)`", 1, place),
            },
            [first, rest @ ..] if !rest.is_empty() => {
                let start = self.here();
                let dimension = self.number(first, env)?;
                for arg in rest {
                    let between = self.here();
                    let next = Type::Number(self.number(arg, env)?);
                    self.expect_type(&Type::Number(dimension), &next, env.place(arg.span))?;
                    self.emit_arithmetic(op, start, between, place)?;
                }
                Ok(Type::Number(dimension))
            }
            _ => self.arity(name, "two or more numbers, or `sizes(net k)`", 0, place),
        }
    }

    fn net_fact(
        &mut self,
        fact: NetFact,
        name: &Name,
        args: &[Expr],
        place: Place,
        env: &Env<'_>,
    ) -> Typed {
        let [arg] = args else {
            return self.arity(name, "one layer", args.len(), place);
        };
        self.ask(&name.text, Known::Cluster, place)?;
        self.layer(name, arg, env)?;
        let ty = fact.ty();
        self.emit(Op::Net(fact), place);
        Ok(ty)
    }

    /// The number of a layer, from `net k`.
    fn layer(&mut self, name: &Name, arg: &Expr, env: &Env<'_>) -> Result<(), Failed> {
        let place = env.place(arg.span);
        let bound = match &arg.kind {
            ExprKind::Net(NetRange {
                first, last: None, ..
            }) => first,
            ExprKind::Error => return Err(Failed),
            _ => {
                let message = format!("`{}` takes one layer", name.text);
                let mut before = place;
                before.span.end = before.span.start;
                return self.fail(
                    Diagnostic::new(codes::E0213, place, message)
                        .help(format!("write `{}(net 0)`", name.text))
                        .suggest("name a layer", before, "net "),
                );
            }
        };
        match bound {
            NetBound::Number(k, _) => {
                let number = Value::Number(Quantity::count(i128::from(*k)));
                self.emit(Op::Push(number), place);
                Ok(())
            }
            NetBound::Name(top) if top.text == "top" && env.param("top").is_none() => {
                self.emit(Op::Fact(Fact::Nets), place);
                self.emit(Op::Push(Value::Number(Quantity::count(1))), place);
                self.emit(Op::Arithmetic(Arithmetic::Sub), place);
                Ok(())
            }
            NetBound::Name(name) => {
                let expr = Expr {
                    span: name.span,
                    kind: ExprKind::Path(Path {
                        parts: vec![name.clone()],
                    }),
                };
                self.count(&expr, env)
            }
            NetBound::Expr(expr) => self.count(expr, env),
            NetBound::Star(_) => {
                let message = format!("`{}` takes one layer, not all of them", name.text);
                self.fail(Diagnostic::new(codes::E0213, place, message))
            }
        }
    }

    fn has(&mut self, name: &Name, args: &[Expr], place: Place, env: &Env<'_>) -> Typed {
        let takes = "a layer and the name of a plane";
        let [net, plane] = args else {
            return self.arity(name, takes, args.len(), place);
        };
        self.ask("has", Known::Cluster, place)?;
        let plane = match &plane.kind {
            ExprKind::Path(path) => path.as_name(),
            ExprKind::Error => return Err(Failed),
            _ => None,
        };
        let Some(plane) = plane else {
            return self.arity(name, takes, args.len(), place);
        };
        self.layer(name, net, env)?;
        self.emit(Op::Net(NetFact::Has(plane.text.clone())), place);
        Ok(Type::Bool)
    }

    fn matches(&mut self, name: &Name, args: &[Expr], place: Place, env: &Env<'_>) -> Typed {
        let path = match args {
            [arg] => match &arg.kind {
                ExprKind::Path(path) => path,
                ExprKind::Error => return Err(Failed),
                _ => return self.arity(name, "the name of a topology", 1, place),
            },
            _ => return self.arity(name, "the name of a topology", args.len(), place),
        };
        self.ask("matches", Known::Cluster, place)?;
        if self.asker.purpose == Purpose::Topology {
            return self.misplaced(
                place,
                "a question about another topology",
                "write the requirement out",
            );
        }
        let (parts, outer) = match path.as_name().and_then(|n| env.param(&n.text)) {
            Some((
                Expr {
                    kind: ExprKind::Path(path),
                    ..
                },
                outer,
            )) => (&path.parts, outer),
            _ => (&path.parts, env),
        };
        let found = self.cx.resolve(
            self.reporter,
            outer.module,
            outer.item,
            parts,
            SymbolKind::Topology,
        );
        match found {
            Ok(symbol) => {
                let name = self.cx.names.symbol(symbol).name.clone();
                self.emit(Op::Matches(self.cx.topology_id(symbol), name), place);
                Ok(Type::Bool)
            }
            Err(diagnostic) => {
                self.diagnostics.extend(diagnostic.map(|fault| *fault));
                Err(Failed)
            }
        }
    }

    fn ports(&mut self, name: &Name, args: &[Expr], place: Place, env: &Env<'_>) -> Typed {
        let level = match args {
            [arg] => match &arg.kind {
                ExprKind::Path(path) => path.as_name(),
                ExprKind::Error => return Err(Failed),
                _ => None,
            },
            _ => None,
        };
        let Some(level) = level else {
            return self.arity(name, "the name of a level", args.len(), place);
        };
        self.ask("ports", Known::Cluster, place)?;
        let Some(levels) = self.asker.levels else {
            if self.asker.purpose == Purpose::Anything {
                self.emit(Op::Push(Value::Number(Quantity::count(1))), place);
                return Ok(Type::COUNT);
            }
            return self.misplaced(place, "a question about a level", "only trees have levels");
        };
        let level = match env.param(&level.text) {
            Some((
                Expr {
                    kind: ExprKind::Path(path),
                    ..
                },
                _,
            )) if path.parts.len() == 1 => &path.parts[0],
            _ => level,
        };
        match levels(level) {
            Ok(found) => {
                self.emit(Op::Ports(found, level.text.clone()), place);
                Ok(Type::COUNT)
            }
            Err(diagnostic) => {
                self.diagnostics.extend(diagnostic.map(|fault| *fault));
                Err(Failed)
            }
        }
    }
}

/// The functions of expressions.
const FUNCTIONS: &[&str] = &[
    "abs",
    "ceil_log2",
    "floor_log2",
    "gcd",
    "has",
    "is_power_of_two",
    "log2",
    "matches",
    "max",
    "min",
    "ports",
    "pow",
    "protocol",
    "shape",
    "size",
    "sizes",
];

/// Whether `name` is a function of expressions.
pub(in crate::check) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Whether `name` means something in every expression, so that nothing else may be called so.
pub(in crate::check) fn is_built_in(name: &str) -> bool {
    FUNCTIONS.contains(&name)
        || matches!(name, "true" | "false" | "bytes")
        || Fact::parse(name).is_some_and(|f| f.known() != Known::Level)
        || CLOSED.iter().any(|v| v.has(name))
}

/// The argument list of `sizes(…)`.
fn sizes_of(expr: &Expr) -> Option<(&Name, &[Expr])> {
    match &expr.kind {
        ExprKind::Paren(inner) => sizes_of(inner),
        ExprKind::Call { callee, args } => callee
            .as_name()
            .filter(|name| name.text == "sizes")
            .map(|name| (name, args.as_slice())),
        _ => None,
    }
}
