//! Guards: typed conditions and values over facts, flat and ready to be evaluated often.

use super::facts::{Fact, Facts, NetError, NetFact};
use super::value::{Arithmetic, ArithmeticError, Function, Value, is_power_of_two, show};
use crate::library::{LevelRef, TopologyId};
use crate::source::Place;
use coll_grammar::number::Quantity;
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A checked condition or value over facts: operations in postfix order on a stack of values, typed
/// when it was made.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    pub(super) ops: Vec<Op>,
    /// Where each operation stands in the source.
    pub(super) places: Vec<Place>,
}

/// An operation of a guard. Jumps lead forwards only, so evaluation ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// Pushes a constant.
    Push(Value),
    /// Pushes a fact.
    Fact(Fact),
    /// Pushes a fact that the cluster declares.
    Declared(SmolStr),
    /// Replaces the number of a layer by a fact about it.
    Net(NetFact),
    /// Pushes whether a topology matches.
    Matches(TopologyId, SmolStr),
    /// Pushes the ports on a level's plane.
    Ports(LevelRef, SmolStr),
    /// Replaces two numbers by one.
    Arithmetic(Arithmetic),
    /// Replaces a number.
    Function(Function),
    /// Replaces a number by whether it is a power of two.
    IsPowerOfTwo,
    /// Replaces yes by no and no by yes.
    Not,
    /// Replaces two values by the outcome of comparing them. `operands` are the operations that
    /// made them.
    Compare {
        test: Comparison,
        operands: [u32; 2],
    },
    /// Replaces a value and `count` more by whether it is among them.
    InSet {
        count: u32,
        negated: bool,
        subject: u32,
    },
    /// Replaces a value and two ends by whether it lies between them.
    InRange {
        closed: bool,
        negated: bool,
        subject: u32,
    },
    /// Jumps with `no` left on the stack if it is there; else goes on to the right operand.
    SkipUnless(u32),
    /// Jumps with `yes` left on the stack if it is there.
    SkipIf(u32),
    /// Replaces both operands of `and`.
    And,
    /// Replaces both operands of `or`.
    Or,
    /// Takes a condition and jumps to `otherwise` if it is no, to `end` if it is unknown.
    Branch { otherwise: u32, end: u32 },
    /// Jumps.
    Jump(u32),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// The comparison with its sides exchanged.
    pub(super) const fn mirrored(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    fn holds(self, a: &Value, b: &Value) -> bool {
        let order = match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.value.cmp(&b.value),
            (Value::Word(a), Value::Word(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            // Never made: operands have one type.
            _ => return self == Self::NotEqual,
        };
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Why a guard has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A fact is not known.
    #[error("`{fact}` is not known here")]
    Unknown {
        /// How it is written.
        fact: String,
    },
    /// A layer that the cluster does not have.
    #[error("`{fact}` asks about a layer that is not there: the cluster has {nets}")]
    NoLayer {
        /// How the fact is written.
        fact: String,
        /// How many layers there are.
        nets: u64,
    },
    /// The size of an uneven layer.
    #[error("`{fact}` has no single value: the groups of this layer have different sizes")]
    Uneven {
        /// How the fact is written.
        fact: String,
    },
    /// Arithmetic without a result.
    #[error("{error}")]
    Arithmetic {
        /// Why.
        error: ArithmeticError,
        /// Where.
        place: Place,
    },
}

/// What a guard was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds, whatever the unknown facts are.
    Yes,
    /// It does not hold, whatever the unknown facts are.
    No,
    /// It depends on facts that are not known.
    Unknown,
}

/// A fact that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// How it is written.
    pub fact: String,
    /// Its value.
    pub value: Value,
}

/// A comparison that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// The side that is a fact, or the left one.
    pub subject: Place,
    /// Its value.
    pub value: Value,
    /// What it would have to be: `>= 4`, `not in {u64, f64}`.
    pub needs: String,
}

/// What an evaluation went through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The facts that were asked for, in that order, each once.
    pub seen: Vec<Seen>,
    /// Comparisons that do not hold, in the order of evaluation.
    pub failed: Vec<Failed>,
    /// Whether a failed comparison means a failed guard: nothing in it is negated or chosen.
    pub direct: bool,
}

impl Explanation {
    /// `nets is 3, needs 4`; `text` gives the source of a place.
    pub fn words(&self, text: impl Fn(Place) -> String) -> String {
        if self.direct && !self.failed.is_empty() {
            let parts = self.failed.iter().map(|f| {
                let needs = f.needs.strip_prefix("== ").unwrap_or(&f.needs);
                format!("`{}` is {}, needs {needs}", text(f.subject), show(&f.value))
            });
            return parts.collect::<Vec<_>>().join("; ");
        }
        let parts = self
            .seen
            .iter()
            .map(|s| format!("`{}` is {}", s.fact, show(&s.value)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// A value on the stack; unknown only in lenient evaluation.
type Slot = Option<Value>;

struct Machine<'a> {
    guard: &'a Guard,
    facts: &'a dyn Facts,
    lenient: bool,
    stack: SmallVec<[Slot; 8]>,
    trace: Option<Explanation>,
}

impl Guard {
    /// The value for these facts.
    ///
    /// # Errors
    /// When a fact that matters is not known or has no value, or arithmetic has no result.
    pub fn eval(&self, facts: &dyn Facts) -> Result<Value, EvalError> {
        let mut machine = Machine::new(self, facts, false);
        let value = machine.run()?;
        Ok(value.unwrap_or(Value::Bool(false)))
    }

    /// Whether the condition holds.
    ///
    /// # Errors
    /// As [`Guard::eval`].
    pub fn holds(&self, facts: &dyn Facts) -> Result<bool, EvalError> {
        Ok(self.eval(facts)? == Value::Bool(true))
    }

    /// What can be said of the condition when only some facts are known.
    pub fn possible(&self, facts: &dyn Facts) -> Truth {
        match Machine::new(self, facts, true).run() {
            Ok(Some(Value::Bool(true))) => Truth::Yes,
            Ok(Some(_)) | Err(EvalError::Arithmetic { .. }) => Truth::No,
            Ok(None) | Err(_) => Truth::Unknown,
        }
    }

    /// What evaluation goes through, for a person to read.
    pub fn explain(&self, facts: &dyn Facts) -> (Result<Value, EvalError>, Explanation) {
        let mut machine = Machine::new(self, facts, false);
        machine.trace = Some(Explanation {
            direct: !self
                .ops
                .iter()
                .any(|op| matches!(op, Op::Not | Op::Branch { .. })),
            ..Explanation::default()
        });
        let value = machine
            .run()
            .map(|value| value.unwrap_or(Value::Bool(false)));
        (value, machine.trace.unwrap_or_default())
    }

    /// The value, if the guard asks for no fact.
    pub fn constant(&self) -> Option<&Value> {
        match self.ops.as_slice() {
            [Op::Push(value)] => Some(value),
            _ => None,
        }
    }

    /// The same guard about other levels: `f` is asked for each.
    #[must_use]
    pub fn map_levels(&self, f: impl Fn(LevelRef) -> LevelRef) -> Self {
        let mut guard = self.clone();
        for op in &mut guard.ops {
            if let Op::Ports(level, _) = op {
                *level = f(*level);
            }
        }
        guard
    }

    /// Where the whole guard stands.
    pub fn place(&self) -> Option<Place> {
        self.places.last().copied()
    }
}

impl<'a> Machine<'a> {
    fn new(guard: &'a Guard, facts: &'a dyn Facts, lenient: bool) -> Self {
        Self {
            guard,
            facts,
            lenient,
            stack: SmallVec::new(),
            trace: None,
        }
    }

    fn run(&mut self) -> Result<Slot, EvalError> {
        let mut at = 0;
        while let Some(op) = self.guard.ops.get(at) {
            at = self.step(op, at)?;
        }
        Ok(self.pop())
    }

    fn pop(&mut self) -> Slot {
        self.stack.pop().flatten()
    }

    /// Carries out one operation; returns the next.
    fn step(&mut self, op: &Op, at: usize) -> Result<usize, EvalError> {
        match op {
            Op::Push(value) => self.stack.push(Some(value.clone())),
            Op::Fact(fact) => self.fact(fact.as_str(), self.facts.fact(*fact))?,
            Op::Declared(name) => self.fact(name, self.facts.declared(name))?,
            Op::Net(fact) => self.net(fact)?,
            Op::Matches(topology, name) => {
                let value = self.facts.matches(*topology).map(Value::Bool);
                self.fact(&format!("matches({name})"), value)?;
            }
            Op::Ports(level, name) => {
                let ports = self.facts.ports(*level);
                let value = ports.map(|p| Value::Number(Quantity::count(i128::from(p))));
                self.fact(&format!("ports({name})"), value)?;
            }
            Op::Arithmetic(op) => {
                let (b, a) = (self.pop(), self.pop());
                let value = numbers(a, b).map(|(a, b)| op.apply(a, b));
                self.number(value, at)?;
            }
            Op::Function(function) => {
                let value = number(self.pop()).map(|a| function.apply(a));
                self.number(value, at)?;
            }
            Op::IsPowerOfTwo => {
                let value = number(self.pop()).map(|a| Value::Bool(is_power_of_two(a)));
                self.stack.push(value);
            }
            Op::Not => {
                let value = truth(&self.pop()).map(|b| Value::Bool(!b));
                self.stack.push(value);
            }
            Op::Compare { test, operands } => self.compare(*test, *operands),
            Op::InSet {
                count,
                negated,
                subject,
            } => self.in_set(*count as usize, *negated, *subject),
            Op::InRange {
                closed,
                negated,
                subject,
            } => self.in_range(*closed, *negated, *subject),
            Op::SkipUnless(end) if self.top() == Some(false) => return Ok(*end as usize),
            Op::SkipIf(end) if self.top() == Some(true) => return Ok(*end as usize),
            Op::SkipUnless(_) | Op::SkipIf(_) => {}
            Op::And => self.combine(false),
            Op::Or => self.combine(true),
            Op::Branch { otherwise, end } => match truth(&self.pop()) {
                Some(true) => {}
                Some(false) => return Ok(*otherwise as usize),
                None => {
                    self.stack.push(None);
                    return Ok(*end as usize);
                }
            },
            Op::Jump(end) => return Ok(*end as usize),
        }
        Ok(at + 1)
    }

    fn top(&self) -> Option<bool> {
        self.stack.last().and_then(truth)
    }

    /// Pushes a fact's value; an unknown one ends a strict evaluation.
    fn fact(&mut self, name: &str, value: Slot) -> Result<(), EvalError> {
        if value.is_none() && !self.lenient {
            return Err(EvalError::Unknown {
                fact: name.to_owned(),
            });
        }
        if let (Some(trace), Some(value)) = (&mut self.trace, &value) {
            trace.see(name, value);
        }
        self.stack.push(value);
        Ok(())
    }

    fn net(&mut self, fact: &NetFact) -> Result<(), EvalError> {
        let Some(index) = number(self.pop()) else {
            self.stack.push(None);
            return Ok(());
        };
        // A layer with no valid number is no layer.
        let net = index.to_u64().unwrap_or(u64::MAX);
        let text = || match index.to_u64() {
            Some(net) => fact.text(net),
            None => fact.text(0).replacen('0', &index.to_string(), 1),
        };
        match self.facts.net(fact, net) {
            Ok(value) => self.fact(&text(), Some(value)),
            Err(NetError::Unknown) => self.fact(&text(), None),
            Err(NetError::Missing { nets }) => Err(EvalError::NoLayer { fact: text(), nets }),
            Err(NetError::Uneven) => Err(EvalError::Uneven { fact: text() }),
        }
    }

    fn number(
        &mut self,
        value: Option<Result<Quantity, ArithmeticError>>,
        at: usize,
    ) -> Result<(), EvalError> {
        let value = value.transpose().map_err(|error| EvalError::Arithmetic {
            error,
            place: self.guard.places[at],
        })?;
        self.stack.push(value.map(Value::Number));
        Ok(())
    }

    fn compare(&mut self, test: Comparison, operands: [u32; 2]) {
        let (b, a) = (self.pop(), self.pop());
        let (Some(a), Some(b)) = (a, b) else {
            return self.stack.push(None);
        };
        let outcome = test.holds(&a, &b);
        if !outcome && self.trace.is_some() {
            let constant = |ix: u32| matches!(self.guard.ops[ix as usize], Op::Push(_));
            let mirror = constant(operands[0]) && !constant(operands[1]);
            let (subject, value, test, other) = match mirror {
                true => (operands[1], b, test.mirrored(), a),
                false => (operands[0], a, test, b),
            };
            let needs = format!("{} {}", test.as_str(), show(&other));
            self.fail(subject, value, needs);
        }
        self.stack.push(Some(Value::Bool(outcome)));
    }

    fn in_set(&mut self, count: usize, negated: bool, subject: u32) {
        let first = self.stack.len().saturating_sub(count);
        let elements: SmallVec<[Slot; 8]> = self.stack.drain(first..).collect();
        let Some(value) = self.pop() else {
            return self.stack.push(None);
        };
        let found = elements
            .iter()
            .flatten()
            .any(|e| Comparison::Equal.holds(&value, e));
        let unknown = elements.iter().any(Option::is_none);
        let outcome = match (found, unknown) {
            (true, _) => Some(!negated),
            (false, true) => None,
            (false, false) => Some(negated),
        };
        if outcome == Some(false) && self.trace.is_some() {
            let listed: Vec<String> = elements.iter().flatten().map(show).collect();
            let word = if negated { "not in" } else { "one of" };
            let needs = format!("{word} {{{}}}", listed.join(", "));
            self.fail(subject, value, needs);
        }
        self.stack.push(outcome.map(Value::Bool));
    }

    fn in_range(&mut self, closed: bool, negated: bool, subject: u32) {
        let (last, first, value) = (self.pop(), self.pop(), self.pop());
        let (Some(value), Some(first), Some(last)) = (value, first, last) else {
            return self.stack.push(None);
        };
        let end = match closed {
            true => Comparison::LessOrEqual,
            false => Comparison::Less,
        };
        let inside = Comparison::LessOrEqual.holds(&first, &value) && end.holds(&value, &last);
        let outcome = inside != negated;
        if !outcome && self.trace.is_some() {
            let dots = if closed { "..=" } else { "..<" };
            let word = if negated { "not in" } else { "in" };
            let needs = format!("{word} {} {dots} {}", show(&first), show(&last));
            self.fail(subject, value, needs);
        }
        self.stack.push(Some(Value::Bool(outcome)));
    }

    fn fail(&mut self, subject: u32, value: Value, needs: String) {
        let subject = self.guard.places[subject as usize];
        if let Some(trace) = &mut self.trace {
            trace.failed.push(Failed {
                subject,
                value,
                needs,
            });
        }
    }

    /// Replaces both operands of `or` (when `winner` is yes) or `and` (when it is no).
    fn combine(&mut self, winner: bool) {
        let (b, a) = (truth(&self.pop()), truth(&self.pop()));
        let outcome = match (a, b) {
            (Some(a), Some(b)) => Some(if winner { a || b } else { a && b }),
            (Some(known), None) | (None, Some(known)) if known == winner => Some(winner),
            _ => None,
        };
        self.stack.push(outcome.map(Value::Bool));
    }
}

impl Explanation {
    fn see(&mut self, fact: &str, value: &Value) {
        if self.seen.iter().all(|s| s.fact != fact) {
            self.seen.push(Seen {
                fact: fact.to_owned(),
                value: value.clone(),
            });
        }
    }
}

fn number(slot: Slot) -> Option<Quantity> {
    match slot {
        Some(Value::Number(q)) => Some(q),
        _ => None,
    }
}

fn numbers(a: Slot, b: Slot) -> Option<(Quantity, Quantity)> {
    number(a).zip(number(b))
}

fn truth(slot: &Slot) -> Option<bool> {
    match slot {
        Some(Value::Bool(b)) => Some(*b),
        _ => None,
    }
}
