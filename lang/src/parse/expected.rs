//! The rules that could have followed, in words.

use coll_grammar::Rule;

/// Alternatives that one message names.
const MAX_NAMED: usize = 4;

/// One thing that could have followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A keyword, written so.
    Keyword(&'static str),
    /// Punctuation or a construct, in words.
    Thing(&'static str),
    /// What continues an expression: an operator, an index, arguments.
    More(&'static str),
    /// A statement; which ones there are.
    Statement(&'static str),
}

/// What could have followed at the point where parsing stopped.
pub(super) struct Expectations {
    context: Rule,
    rules: Vec<Rule>,
    named: Vec<Expected>,
}

impl Expectations {
    /// From what pest tried last, while it parsed `context`.
    pub(super) fn new(context: Rule, tried: &[Rule]) -> Self {
        let tried = &with_values(tried);
        let mut named: Vec<Expected> = Vec::new();
        for expected in tried.iter().filter_map(|&rule| in_words(rule)) {
            if !named.contains(&expected) {
                named.push(expected);
            }
        }
        // That an expression could go on is only worth saying when nothing else is expected.
        if named.iter().any(|e| !matches!(e, Expected::More(_))) {
            named.retain(|e| !matches!(e, Expected::More(_)));
        }
        Self {
            context,
            rules: tried.to_vec(),
            named,
        }
    }

    /// The rule that was being parsed.
    pub(super) fn context(&self) -> Rule {
        self.context
    }

    /// Whether one of `rules` could have followed.
    pub(super) fn any(&self, rules: &[Rule]) -> bool {
        self.rules.iter().any(|rule| rules.contains(rule))
    }

    pub(super) fn first(&self) -> Option<&Expected> {
        self.named.first()
    }

    /// The keywords that could have followed.
    pub(super) fn keywords(&self) -> impl Iterator<Item = &'static str> {
        let own = self.named.iter().filter_map(|e| match e {
            Expected::Keyword(word) => Some(*word),
            _ => None,
        });
        let statement = self
            .named
            .iter()
            .any(|e| matches!(e, Expected::Statement(_)));
        let statements = if statement {
            statement_words(self.context)
        } else {
            &[]
        };
        own.chain(statements.iter().copied())
    }

    /// "`a`, `b` or a name".
    pub(super) fn list(&self) -> String {
        let mut words: Vec<String> = self
            .named
            .iter()
            .take(MAX_NAMED)
            .map(|expected| match expected {
                Expected::Keyword(word) => format!("`{word}`"),
                Expected::Thing(text) | Expected::More(text) => (*text).to_owned(),
                Expected::Statement(_) => "a statement".to_owned(),
            })
            .collect();
        match (words.pop(), words.is_empty()) {
            (None, _) => "something else".to_owned(),
            (Some(last), true) => last,
            (Some(last), false) => format!("{} or {last}", words.join(", ")),
        }
    }
}

/// `tried`, with the forms of a value as one rule where most of them were tried: behind a prefix
/// operator pest names them one by one.
fn with_values(tried: &[Rule]) -> Vec<Rule> {
    const FORMS: [Rule; 15] = [
        Rule::number,
        Rule::paren,
        Rule::lparen,
        Rule::path,
        Rule::call_or_path,
        Rule::kw_net,
        Rule::net_range,
        Rule::kw_if,
        Rule::if_expr,
        Rule::string,
        Rule::set,
        Rule::lbrace,
        Rule::shape,
        Rule::list,
        Rule::lbracket,
    ];
    let is_form = |rule: &&Rule| FORMS.contains(rule);
    if tried.iter().filter(is_form).count() < 5 {
        return tried.to_vec();
    }
    let others = tried.iter().filter(|rule| !is_form(rule)).copied();
    std::iter::once(Rule::operand).chain(others).collect()
}

/// The words that begin a statement where `context` stands.
fn statement_words(context: Rule) -> &'static [&'static str] {
    match context {
        Rule::one_cluster_stmt => &["net", "device", "memory", "fact"],
        Rule::one_plane_stmt => &["plane"],
        Rule::one_memory_entry => &["copy", "reduce", "buffer"],
        Rule::one_topology_stmt => &["level", "optional", "require"],
        Rule::one_algorithm_stmt => &["require", "prefer", "tree", "cost"],
        Rule::one_tmpl_stmt => &[
            "send", "recv", "step", "let", "for", "if", "do", "require", "scratch", "copy",
            "reduce",
        ],
        Rule::one_rule => &["when", "otherwise"],
        Rule::one_cost_stmt => &["segment", "max", "sum", "floor"],
        Rule::one_test_stmt => &["run", "select", "for", "prove", "check"],
        Rule::one_check_item => coll_grammar::words::ITEM_KEYWORDS,
        _ => &[],
    }
}

/// How a rule is called in a message; none for rules that are there for recovery alone.
fn in_words(rule: Rule) -> Option<Expected> {
    use Expected::{Keyword, More, Statement, Thing};
    Some(match rule {
        Rule::semi => Thing("`;`"),
        Rule::comma => Thing("`,`"),
        Rule::lbrace | Rule::algorithm_block | Rule::template_block => Thing("`{`"),
        Rule::rbrace => Thing("`}`"),
        Rule::lparen | Rule::call_args => More("`(`"),
        Rule::let_params | Rule::params => Thing("`(`"),
        Rule::rparen => Thing("`)`"),
        Rule::lbracket => More("`[`"),
        Rule::rbracket => Thing("`]`"),
        Rule::open_tree => Thing("`<`"),
        Rule::close_tree => Thing("`>`"),
        Rule::assign => Thing("`=`"),
        Rule::op_colon => Thing("`:` and the operation"),
        Rule::size_colon => Thing("`:` and the size"),
        Rule::kind_colon => Thing("`:` and the kind"),
        Rule::tree_colon => Thing("`:` and the tree"),
        Rule::value_colon => Thing("`:` and the value"),
        Rule::at | Rule::at_level => Thing("`@` and the level"),
        Rule::arrow => Thing("`->`"),
        Rule::target_arrow | Rule::target => Thing("`=>`"),
        Rule::level_range => Thing("`..=` or `..<`"),
        Rule::net_to => More("`..`"),
        Rule::group_dot | Rule::use_group => Thing("`.{`"),
        Rule::eoi | Rule::EOI => Thing("the end"),
        Rule::infix | Rule::weight_infix | Rule::index => More("an operator"),
        Rule::star => Thing("`*`"),
        Rule::word => Thing("a word"),
        Rule::code => Thing("a code such as `E0301`"),
        Rule::name | Rule::path | Rule::use_path | Rule::use_name | Rule::param => Thing("a name"),
        Rule::level => Thing("the name of a level"),
        Rule::engine => Thing("an engine"),
        Rule::op | Rule::op_list => Thing("an operation"),
        Rule::state | Rule::state_set => Thing("a state such as `all(…)`"),
        Rule::kind => Thing("`template`, `level` or `int`"),
        Rule::template_name | Rule::template_ref => Thing("a template"),
        Rule::expr
        | Rule::operand
        | Rule::weight_operand
        | Rule::weight_expr
        | Rule::call_or_path
        | Rule::number
        | Rule::paren
        | Rule::prefix => Thing("a value"),
        Rule::net_range => Keyword("net"),
        Rule::net_bound => Thing("the number of a layer"),
        Rule::string => Thing("a text in quotes"),
        Rule::tree | Rule::one_tree | Rule::child | Rule::one_child | Rule::leaf => Thing("a tree"),
        Rule::level_form => Thing("`net`, `gcd(net …)`, `rest` or `all`"),
        Rule::payload => Thing("`slot`, `slots` or `block`"),
        Rule::slots_payload | Rule::comprehension => Thing("`{`"),
        Rule::buffer_ref => Thing("`slot`, `slots` or a scratch"),
        Rule::scratch_ref => Thing("a scratch"),
        Rule::private => Keyword("private"),
        Rule::optional => Keyword("optional"),
        Rule::reverse => Keyword("reverse"),
        Rule::native => Keyword("native"),
        Rule::rest => Keyword("rest"),
        Rule::all => Keyword("all"),
        Rule::held => Keyword("held"),
        Rule::next_word | Rule::next => Keyword("next"),
        Rule::refuse_word | Rule::refuse => Keyword("refuse"),
        Rule::cheapest_word | Rule::cheapest => Keyword("cheapest"),
        Rule::exact => Keyword("exact"),
        Rule::refused_word | Rule::refused => Keyword("refused"),
        Rule::only => Keyword("only"),
        Rule::expectation => Keyword("expect"),
        Rule::one_cluster_stmt => Statement("a cluster holds `net`, `device`, `memory` and `fact`"),
        Rule::one_plane_stmt => {
            Statement("a net holds planes: `plane NAME = KIND BANDWIDTH LATENCY;`")
        }
        Rule::memory_key | Rule::one_memory_entry => {
            Statement("a memory block holds `copy`, `reduce` and `buffer`")
        }
        Rule::one_topology_stmt => Statement("a topology holds `level` and `require`"),
        Rule::one_algorithm_stmt => {
            Statement("an algorithm holds `require`, `prefer`, `tree` and `cost`")
        }
        Rule::one_tmpl_stmt => Statement(
            "a template holds `step`, `send`, `recv`, `for`, `if`, `let`, `do`, `require`, `scratch`, \
             `copy` and `reduce`",
        ),
        Rule::one_rule => Statement("a selection holds `when` and `otherwise`"),
        Rule::one_cost_entry | Rule::cost_entry => Statement("terms are written `NAME = VALUE;`"),
        Rule::one_cost_stmt => Statement("a cost block holds `segment`, `max`, `sum` and `floor`"),
        Rule::one_curve_entry | Rule::curve_entry => Statement("points are written `SIZE: VALUE;`"),
        Rule::one_test_stmt => {
            Statement("a test holds `run`, `select`, `for`, `prove` and `check`")
        }
        Rule::one_check_item | Rule::item => Statement("`check` holds items"),
        Rule::opt_on => Keyword("on"),
        Rule::opt_using | Rule::using => Keyword("using"),
        Rule::word_key | Rule::opt_word => Thing("`dtype`"),
        Rule::value_key | Rule::opt_value => Thing("`count`"),
        rule => return keyword(rule),
    })
}

/// The keyword of a `kw_…` rule.
fn keyword(rule: Rule) -> Option<Expected> {
    KEYWORDS
        .iter()
        .find(|(keyword, _)| *keyword == rule)
        .map(|&(_, text)| Expected::Keyword(text))
}

macro_rules! keywords {
    ($($rule:ident $text:literal,)+) => {
        const KEYWORDS: &[(Rule, &str)] = &[$((Rule::$rule, $text)),+];
    };
}

keywords! {
    kw_algorithm "algorithm", kw_align "align", kw_allow "allow", kw_as "as", kw_assert "assert",
    kw_block "block", kw_check "check", kw_cluster "cluster", kw_copy "copy", kw_cost "cost",
    kw_curve "curve", kw_device "device", kw_do "do", kw_else "else", kw_error "error",
    kw_expect "expect", kw_extern "extern", kw_fact "fact", kw_fallback "fallback",
    kw_floor "floor", kw_for "for", kw_from "from", kw_gcd "gcd", kw_host "host", kw_if "if",
    kw_in "in", kw_into "into", kw_let "let", kw_level "level", kw_max "max", kw_memory "memory",
    kw_net "net", kw_of "of", kw_omnipipe "omnipipe", kw_on "on", kw_otherwise "otherwise",
    kw_parallel "parallel", kw_piece "piece", kw_plane "plane", kw_ports "ports",
    kw_prefer "prefer", kw_protocol "protocol", kw_prove "prove", kw_recv "recv",
    kw_reduce "reduce", kw_require "require", kw_run "run", kw_scratch "scratch",
    kw_segment "segment", kw_select "select", kw_send "send", kw_sequence "sequence",
    kw_slot "slot", kw_slots "slots", kw_step "step", kw_sum "sum", kw_template "template",
    kw_test "test", kw_to "to", kw_topology "topology", kw_tree "tree", kw_up "up", kw_use "use",
    kw_using "using", kw_util "util", kw_via "via", kw_when "when", kw_within "within",
}
