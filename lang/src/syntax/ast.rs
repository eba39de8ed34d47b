//! The syntax tree of one item.
//!
//! Spans count from the item's first byte. A part that did not parse is an `Error` variant; whoever
//! meets one stays silent, because the parser has reported it.

use crate::source::Span;
use coll_grammar::number::Quantity;
use smol_str::SmolStr;

/// An identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The text.
    pub text: SmolStr,
    /// Where it stands.
    pub span: Span,
}

/// A dotted name.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The parts; at least one.
    pub parts: Vec<Name>,
}

impl Path {
    /// From the first part to the last.
    pub fn span(&self) -> Span {
        let first = self.parts.first().map_or(Span::default(), |n| n.span);
        self.parts.last().map_or(first, |n| first.to(n.span))
    }

    /// The only part, if there is one part.
    pub fn as_name(&self) -> Option<&Name> {
        match self.parts.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }
}

/// A string literal, its escapes resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Str {
    /// The contents.
    pub text: SmolStr,
    /// The literal with its quotes.
    pub span: Span,
}

/// One item of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The text of the `///` lines above, joined by newlines, without the slashes and one space.
    pub docs: Option<SmolStr>,
    /// Lint codes that `allow(…)` silences inside the item.
    pub allow: Vec<Name>,
    /// Whether `private` stands before it.
    pub private: bool,
    /// From the first word (attributes included) to the last byte; comments around it excluded.
    pub span: Span,
    /// What it is.
    pub kind: ItemKind,
}

/// What an item declares.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `use std.topology.four_level;`
    Use(Use),
    /// `let NAME(params) = EXPR;`
    Let(Let),
    /// `cluster NAME { … }`
    Cluster(Cluster),
    /// `topology NAME { … }`
    Topology(Topology),
    /// `algorithm NAME : OP on T using E = TREE;`
    Algorithm(Algorithm),
    /// `tree NAME(params) = TREE;`
    Tree(NamedTree),
    /// `template NAME : OP, … { … }`, `= reverse …;` or `extern template …;`
    Template(Template),
    /// `fallback a -> b;`
    Fallback(Fallback),
    /// `select OP using E { … }`
    Select(Select),
    /// `cost TEMPLATE : OP on E { … }`
    Cost(Cost),
    /// `curve NAME step up { … }`
    Curve(Curve),
    /// `util KIND on E = EXPR;`
    Util(Util),
    /// `test "…" { … }`
    Test(Test),
    /// Text that is no item. Its keyword and name, where they could be read, keep other items from
    /// reporting an unknown name.
    Error {
        /// The item keyword it begins with.
        keyword: Option<SmolStr>,
        /// The name it would have declared.
        name: Option<Name>,
    },
}

/// `use PATH;`, `use PATH as NAME;`, `use PATH.{a, b as c};`
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The path in front of the group, or the whole path.
    pub path: Path,
    /// What the path's last part is called here, if renamed. Only without a group.
    pub alias: Option<Name>,
    /// The names in braces.
    pub group: Option<Vec<UseName>>,
}

/// One name of a `use` group.
#[derive(Clone, Debug, PartialEq)]
pub struct UseName {
    /// The name in the module.
    pub name: Name,
    /// Its name here, if renamed.
    pub alias: Option<Name>,
}

/// `let NAME(params) = EXPR;`
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The name.
    pub name: Name,
    /// Parameters; none when there are no parentheses.
    pub params: Option<Vec<Name>>,
    /// The value.
    pub value: Expr,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number with its unit. `text` is how it was written.
    Number {
        /// The exact value.
        value: Quantity,
        /// The spelling.
        text: SmolStr,
    },
    /// `8x4x2`, `[8,8,7]x3`.
    Shape(SmolStr),
    /// A string.
    Str(SmolStr),
    /// A name, dotted or not.
    Path(Path),
    /// `NAME(args)`.
    Call {
        /// What is called.
        callee: Path,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `tmp[i]`.
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `net k`, `net a..b`, `net *`.
    Net(NetRange),
    /// A prefix operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An infix operator.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where it stands.
        op_span: Span,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `if c { a } else if d { b } else { e }`.
    If {
        /// Conditions and their values, in order.
        branches: Vec<(Expr, Expr)>,
        /// The last value.
        otherwise: Box<Expr>,
    },
    /// `{a, b}`.
    Set(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `(e)`.
    Paren(Box<Expr>),
    /// Something that did not parse.
    Error,
}

/// `net k` or `net a..b`, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct NetRange {
    /// The first layer.
    pub first: NetBound,
    /// The last layer of a range.
    pub last: Option<NetBound>,
    /// The whole form.
    pub span: Span,
}

/// One end of a range of layers.
#[derive(Clone, Debug, PartialEq)]
pub enum NetBound {
    /// A number.
    Number(u32, Span),
    /// `*`.
    Star(Span),
    /// A name such as `top` or a parameter.
    Name(Name),
    /// A parenthesised expression.
    Expr(Box<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `~`
    Complement,
    /// `not`
    Not,
}

/// Infix operators, from the loosest to the tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `a ..< b`
    RangeOpen,
    /// `a ..= b`
    RangeClosed,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
}

/// `cluster NAME { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The name.
    pub name: Name,
    /// The statements in order.
    pub body: Vec<ClusterStmt>,
}

/// One statement of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum ClusterStmt {
    /// `device NAME;`
    Device(Name),
    /// `net K "label": SIZE { planes }`
    Net(Net),
    /// `memory on E { … }`
    Memory(Memory),
    /// `fact NAME = EXPR;`
    Fact {
        /// The name.
        name: Name,
        /// The value.
        value: Expr,
    },
    /// Did not parse.
    Error(Span),
}

/// One physical layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// Its number, innermost 0.
    pub index: Expr,
    /// Its label.
    pub label: Option<Str>,
    /// How many groups of the layer below each of its groups joins: a number or a list of them.
    pub size: Expr,
    /// Its planes.
    pub planes: Vec<PlaneStmt>,
    /// The whole statement.
    pub span: Span,
}

/// One plane of a net, or what did not parse.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaneStmt {
    /// A plane.
    Plane(Box<Plane>),
    /// Did not parse.
    Error(Span),
}

/// `plane NAME = KIND BANDWIDTH LATENCY [ports N] [protocol P] [on host];`
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// The name.
    pub name: Name,
    /// `mesh1d` or `clos`.
    pub kind: Name,
    /// One direction.
    pub bandwidth: Expr,
    /// Of one transfer.
    pub latency: Expr,
    /// Ports per rank.
    pub ports: Option<Expr>,
    /// Protocol.
    pub protocol: Option<Name>,
    /// Whether it ends at the host.
    pub on_host: bool,
    /// The whole statement.
    pub span: Span,
}

/// `memory on E { copy R; reduce R; buffer B; }`
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The engine it applies to; all when absent.
    pub engine: Option<Name>,
    /// Key and value of each entry.
    pub entries: Vec<(Name, Expr)>,
    /// Entries that did not parse.
    pub errors: Vec<Span>,
    /// The whole statement.
    pub span: Span,
}

/// `topology NAME { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// The name.
    pub name: Name,
    /// The statements in order.
    pub body: Vec<TopologyStmt>,
}

/// One statement of a topology.
#[derive(Clone, Debug, PartialEq)]
pub enum TopologyStmt {
    /// `level NAME = FORM via P;`
    Level(Level),
    /// `require …;`
    Require(Require),
    /// Did not parse.
    Error(Span),
}

/// `[optional] level NAME = FORM [via PLANE];`
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The name, without a star.
    pub name: Name,
    /// Whether the name has a star: one level per layer.
    pub star: bool,
    /// Whether the level may be absent.
    pub optional: bool,
    /// What it joins.
    pub form: LevelForm,
    /// The plane it uses.
    pub via: Option<Name>,
    /// The whole statement.
    pub span: Span,
}

/// What a level joins.
#[derive(Clone, Debug, PartialEq)]
pub enum LevelForm {
    /// `net k`, `net a..b`, `net *`.
    Net(NetRange),
    /// `gcd(net k)`.
    Gcd(NetRange, Span),
    /// `rest`.
    Rest(Span),
    /// `all`.
    All(Span),
}

/// `require EXPR [else "TEXT"];`
#[derive(Clone, Debug, PartialEq)]
pub struct Require {
    /// What must hold.
    pub condition: Expr,
    /// What to say when it does not.
    pub message: Option<Str>,
    /// The whole statement.
    pub span: Span,
}

/// `algorithm NAME : OP on TOPOLOGY using ENGINES …`
#[derive(Clone, Debug, PartialEq)]
pub struct Algorithm {
    /// The name.
    pub name: Name,
    /// The operation as written.
    pub op: Name,
    /// The topology.
    pub topology: Option<Path>,
    /// The engines as written.
    pub engines: Vec<Name>,
    /// Whether the body is a block; else it is one tree behind `=`.
    pub block: bool,
    /// The statements in order.
    pub body: Vec<AlgorithmStmt>,
}

/// One statement of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub enum AlgorithmStmt {
    /// `require …;`
    Require(Require),
    /// `prefer …;`
    Prefer {
        /// What should hold.
        condition: Expr,
        /// The whole statement.
        span: Span,
    },
    /// `tree …;` or the tree behind `=`.
    Tree(Tree),
    /// `native`.
    Native(Span),
    /// `cost { … }`
    Cost(CostBlock),
    /// Did not parse.
    Error(Span),
}

/// `tree NAME(params) = TREE;`
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTree {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub params: Vec<Param>,
    /// The tree.
    pub tree: Tree,
}

/// `NAME: KIND`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// What may be passed: `level`, `template`, `int`, …
    pub kind: Option<Name>,
}

/// A node of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: TreeKind,
}

/// The forms of tree nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeKind {
    /// `[OP.]TEMPLATE[(args)]@LEVEL`
    Leaf {
        /// The operation and template, as one dotted name: the first part of two or more may be an
        /// operation.
        name: Path,
        /// Arguments of the template.
        args: Option<Vec<Expr>>,
        /// The level.
        level: Name,
    },
    /// `NAME(args)`: a named tree.
    Call {
        /// Its name.
        name: Path,
        /// Its arguments; none when there are no parentheses.
        args: Option<Vec<Expr>>,
    },
    /// `sequence < … >`
    Sequence(Vec<Tree>),
    /// `parallel < … >`
    Parallel(Vec<Child>),
    /// `omnipipe < … >`
    OmniPipe(Vec<Child>),
    /// `for l in L1..=top: TREE`
    For {
        /// The variable.
        var: Name,
        /// Whether it runs downwards.
        reverse: bool,
        /// First level.
        first: Name,
        /// Last level.
        last: Name,
        /// Whether `last` is included.
        inclusive: bool,
        /// What is repeated.
        body: Box<Tree>,
    },
    /// `assert all(L2), own(L0)`
    Assert(Vec<StateSet>),
    /// Did not parse.
    Error,
}

/// A child of a parallel or omnipipe node, with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The weight.
    pub weight: Option<Expr>,
    /// The child.
    pub tree: Tree,
}

/// `STATE(LEVELS)`
#[derive(Clone, Debug, PartialEq)]
pub struct StateSet {
    /// The state as written.
    pub state: Name,
    /// The levels.
    pub levels: Vec<Name>,
}

/// `[extern] template NAME(params) : OPS …`
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub params: Vec<Param>,
    /// The operations as written.
    pub ops: Vec<Name>,
    /// How it works.
    pub body: TemplateBody,
}

/// How a template works.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateBody {
    /// Planned by the program.
    Extern,
    /// `= reverse OP.TEMPLATE;`
    Reverse(TemplateRef),
    /// `{ … }`
    Block(Vec<TemplateStmt>),
}

/// `[OP.]TEMPLATE[(args)]`
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateRef {
    /// The dotted name.
    pub name: Path,
    /// Arguments.
    pub args: Option<Vec<Expr>>,
    /// The whole form.
    pub span: Span,
}

/// One statement of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateStmt {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: TemplateStmtKind,
}

/// The forms of template statements.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateStmtKind {
    /// `require …;`
    Require(Require),
    /// `let NAME = EXPR;`
    Let {
        /// The name.
        name: Name,
        /// The value.
        value: Expr,
    },
    /// `step [NAME in RANGE] { … }`
    Step {
        /// Variable and range.
        range: Option<(Name, Expr)>,
        /// What is done.
        body: Vec<TemplateStmt>,
    },
    /// `for NAME in SET { … }`
    For {
        /// The variable.
        var: Name,
        /// What it runs over.
        set: Expr,
        /// What is repeated.
        body: Vec<TemplateStmt>,
    },
    /// `if … { … } else if … { … } else { … }`
    If {
        /// Conditions and bodies.
        branches: Vec<(Expr, Vec<TemplateStmt>)>,
        /// The last body.
        otherwise: Option<Vec<TemplateStmt>>,
    },
    /// `send PAYLOAD to PEER;`
    Send {
        /// What.
        payload: Payload,
        /// To whom.
        peer: Expr,
    },
    /// `recv [reduce] PAYLOAD from PEER [into BUFFER];`
    Recv {
        /// Whether it is added to what is there.
        reduce: bool,
        /// What.
        payload: Payload,
        /// From whom.
        peer: Expr,
        /// Where to.
        into: Option<BufferRef>,
    },
    /// `scratch NAME[SIZE];`
    Scratch {
        /// The name.
        name: Name,
        /// Number of slots.
        size: Expr,
    },
    /// `copy A to B;`
    Copy {
        /// Source.
        from: BufferRef,
        /// Destination.
        to: BufferRef,
    },
    /// `reduce A into B;`
    Reduce {
        /// Source.
        from: BufferRef,
        /// Destination.
        into: BufferRef,
    },
    /// `do OP.TEMPLATE;`
    Do(TemplateRef),
    /// Did not parse.
    Error,
}

/// What is sent or received.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    /// Which slots or blocks.
    pub kind: PayloadKind,
    /// Which part of each.
    pub piece: Option<Box<Piece>>,
    /// The whole form.
    pub span: Span,
}

/// Which slots or blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum PayloadKind {
    /// `slot E`
    Slot(Expr),
    /// `slots {a, b}`
    Slots(Vec<Expr>),
    /// `slots { E for i in R if C }`
    Comprehension {
        /// The slot.
        element: Box<Expr>,
        /// The variable.
        var: Name,
        /// What it runs over.
        set: Box<Expr>,
        /// Which ones are kept.
        condition: Option<Box<Expr>>,
    },
    /// `slots held`
    Held,
    /// `slots all`
    All,
    /// `block (s, d)`
    Block(Box<Expr>, Box<Expr>),
}

/// `piece I of N [align B]`
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Which piece, from 0.
    pub index: Expr,
    /// Of how many.
    pub of: Expr,
    /// Boundaries are multiples of this many bytes.
    pub align: Option<Expr>,
}

/// A slot or a place in scratch.
#[derive(Clone, Debug, PartialEq)]
pub enum BufferRef {
    /// Slots of the level.
    Payload(Payload),
    /// `tmp[i]`
    Scratch {
        /// The scratch's name.
        name: Name,
        /// Which slot of it.
        index: Box<Expr>,
    },
}

/// `fallback a -> b -> c;`
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// The engines in order.
    pub chain: Vec<Name>,
}

/// `select OP using ENGINES { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// The operation.
    pub op: Name,
    /// The engines.
    pub engines: Vec<Name>,
    /// The rules in order.
    pub rules: Vec<Rule>,
}

/// One rule, or what did not parse.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: RuleKind,
}

/// The forms of rules.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleKind {
    /// `when EXPR => TARGET;`
    When {
        /// The guard.
        condition: Expr,
        /// Where it leads.
        target: Target,
    },
    /// `when EXPR { … }`
    Block {
        /// The guard.
        condition: Expr,
        /// The inner rules.
        rules: Vec<Rule>,
    },
    /// `otherwise => TARGET;`
    Otherwise(Target),
    /// Did not parse.
    Error,
}

/// Where a rule leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A named algorithm.
    Algorithm(Path),
    /// `cheapest`, perhaps of some.
    Cheapest(Option<Vec<Path>>, Span),
    /// `next`, perhaps to a named engine.
    Next(Option<Name>, Span),
    /// `refuse "why"`.
    Refuse(Str, Span),
}

/// `cost TEMPLATE : OPS on ENGINE { a = …; … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The template.
    pub template: Path,
    /// The operations.
    pub ops: Vec<Name>,
    /// The engine.
    pub engine: Option<Name>,
    /// The terms.
    pub entries: Vec<(Name, Expr)>,
    /// Entries that did not parse.
    pub errors: Vec<Span>,
}

/// `cost { … }` in an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct CostBlock {
    /// The statements.
    pub body: Vec<CostStmt>,
    /// The whole block.
    pub span: Span,
}

/// One statement of a cost block.
#[derive(Clone, Debug, PartialEq)]
pub enum CostStmt {
    /// `segment OP.TEMPLATE(share) on L via P;`
    Segment {
        /// Template and share.
        template: TemplateRef,
        /// Level.
        level: Name,
        /// Plane.
        via: Option<Name>,
        /// The whole statement.
        span: Span,
    },
    /// `max { … }`
    Max(Vec<CostStmt>, Span),
    /// `sum { … }`
    Sum(Vec<CostStmt>, Span),
    /// `floor EXPR;`
    Floor(Expr, Span),
    /// Did not parse.
    Error(Span),
}

/// `curve NAME step up { X: Y; … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name.
    pub name: Name,
    /// Breakpoints and values.
    pub points: Vec<(Expr, Expr)>,
    /// Entries that did not parse.
    pub errors: Vec<Span>,
}

/// `util KIND [on ENGINE] = EXPR;`
#[derive(Clone, Debug, PartialEq)]
pub struct Util {
    /// The plane's kind or name.
    pub target: Name,
    /// The engine.
    pub engine: Option<Name>,
    /// The curve.
    pub value: Expr,
}

/// `test "NAME" { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name.
    pub name: Str,
    /// The statements.
    pub body: Vec<TestStmt>,
}

/// One statement of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestStmt {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: TestStmtKind,
}

/// The forms of test statements.
#[derive(Clone, Debug, PartialEq)]
pub enum TestStmtKind {
    /// `for NAME in SET STMT` or `{ … }`
    For {
        /// The variable.
        var: Name,
        /// What it runs over.
        set: Expr,
        /// What is repeated.
        body: Vec<TestStmt>,
        /// Whether braces stand around the body.
        braces: bool,
    },
    /// `run ALGORITHM on CLUSTER … expect …;`
    Run {
        /// An algorithm or operation.
        target: Path,
        /// The request.
        request: Vec<TestOption>,
        /// What must come out.
        expect: Expectation,
    },
    /// `select OP on CLUSTER … expect …;`
    Select {
        /// The operation.
        op: Name,
        /// The request.
        request: Vec<TestOption>,
        /// What must come out.
        expect: Expectation,
    },
    /// `prove TEMPLATE for n in RANGE;`
    Prove {
        /// The template.
        template: TemplateRef,
        /// Variable and range.
        range: Option<(Name, Expr)>,
        /// What must come out; success when absent.
        expect: Option<Expectation>,
    },
    /// `check { items } expect CODE;`
    Check {
        /// The items.
        items: Vec<Item>,
        /// Parts that did not parse.
        errors: Vec<Span>,
        /// What must come out.
        expect: Expectation,
    },
    /// Did not parse.
    Error,
}

/// One part of a test's request.
#[derive(Clone, Debug, PartialEq)]
pub enum TestOption {
    /// `on CLUSTER`
    On(Expr),
    /// `using E, …`
    Using(Vec<Name>),
    /// `only`
    Only(Span),
    /// `dtype W` and `reduce W`
    Word(Name, Name),
    /// `count E`, `bytes E`, `root E`, `buffer E`, `seed E`
    Value(Name, Expr),
}

/// What a test expects.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The whole form.
    pub span: Span,
    /// What it is.
    pub kind: ExpectationKind,
}

/// The forms of expectations.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectationKind {
    /// Equal to the reference in every bit.
    Exact,
    /// Within a relative distance.
    Within(Expr),
    /// Refused, perhaps with a code.
    Refused(Option<Name>),
    /// `error CODE`: a diagnostic with this code.
    ErrorCode(Name),
    /// An algorithm's name or a bare code.
    Name(Path),
}
