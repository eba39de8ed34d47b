//! What is said about a part that does not parse: the part is parsed once more, alone, and how far
//! that came says what was expected where.

use super::build::Broken;
use super::error::SyntaxError;
use super::expected::{Expectations, Expected};
use super::mistakes;
use crate::diagnostics::codes;
use crate::source::Span;
use coll_grammar::words::ITEM_KEYWORDS;
use coll_grammar::{Parser, Rule};
use pest::Parser as _;
use pest::error::{Error, ErrorVariant, InputLocation};

/// The point at which parsing stopped.
pub(super) struct Stop<'a> {
    /// The whole code of the item; comments are spaces.
    pub(super) code: &'a str,
    /// Where the code begins in the item.
    base: u32,
    /// The byte of `code` at which the first unexpected thing begins.
    pub(super) at: usize,
    pub(super) expected: Expectations,
}

impl<'a> Stop<'a> {
    /// What stands there: a word, a number, an operator; empty at the end of the text.
    pub(super) fn found(&self) -> &'a str {
        token_at(self.code, self.at)
    }

    /// What stands before it.
    pub(super) fn before(&self) -> &'a str {
        self.code[..self.at].trim_end()
    }

    /// Bytes of the code as a span of the item.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// Where the unexpected thing stands; at the end of the text, the last thing that stands there.
    pub(super) fn found_span(&self) -> Span {
        let found = self.found();
        if !found.is_empty() {
            return self.span(self.at, self.at + found.len());
        }
        let before = self.before();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        self.span(before.len() - last, before.len())
    }
}

/// The word, number, string, operator or character at byte `at`.
pub(super) fn token_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Some(first) = rest.chars().next() else {
        return "";
    };
    if is_word(first) {
        return &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    }
    if first == '"' {
        let end = rest[1..].find(['"', '\n']).map_or(rest.len(), |n| n + 2);
        return rest.get(..end).unwrap_or(rest).trim_end();
    }
    const LONG: [&str; 17] = [
        "..<", "..=", "..", "->", "=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", ":=", "+=",
        "::", "**",
    ];
    let long = LONG.iter().find(|op| rest.starts_with(**op));
    &rest[..long.map_or(first.len_utf8(), |op| op.len())]
}

/// The message for a broken part of an item.
pub(super) fn reparse(code: &str, base: u32, broken: &Broken) -> SyntaxError {
    let start = (broken.span.start - base) as usize;
    let end = (broken.span.end - base) as usize;
    match Parser::parse(broken.rule, &code[start..end]) {
        Ok(_) => unexplained(broken.span),
        Err(error) => explain_from(code, base, start, broken.rule, &error),
    }
}

/// The message for an item that does not parse at all.
pub(super) fn explain(code: &str, base: u32, error: &Error<Rule>) -> SyntaxError {
    explain_from(code, base, 0, Rule::one_item, error)
}

/// The message where nothing better is known.
pub(super) fn unexplained(span: Span) -> SyntaxError {
    SyntaxError::new(codes::E0101, span, "this cannot stand here").here("not expected here")
}

fn explain_from(
    code: &str,
    base: u32,
    start: usize,
    rule: Rule,
    error: &Error<Rule>,
) -> SyntaxError {
    let whole = Span::new(base + start as u32, base + code.len() as u32);
    let positives = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { message } if message.starts_with("stack") => {
            return SyntaxError::new(codes::E0105, whole, "this is nested too deeply")
                .help("name parts of it with `let` or `tree`");
        }
        ErrorVariant::CustomError { .. } => {
            return SyntaxError::new(codes::E0105, whole, "this takes too long to parse")
                .help("name parts of it with `let` or `tree`, or cut the item in two");
        }
    };
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => start + at,
    };
    // A part that is parsed alone ends before the space behind it.
    let at = code.len() - code[at..].trim_start().len();
    let stop = Stop {
        code,
        base,
        at,
        expected: Expectations::new(rule, positives),
    };
    mistakes::find(&stop).unwrap_or_else(|| plain(&stop))
}

/// "expected …, found …".
fn plain(stop: &Stop<'_>) -> SyntaxError {
    let expected = stop.expected.list();
    let found = match stop.found() {
        "" => "the end".to_owned(),
        found => format!("`{found}`"),
    };
    let error = SyntaxError::new(
        codes::E0101,
        stop.found_span(),
        format!("expected {expected}, found {found}"),
    )
    .here("not expected here");
    match nearest(stop.found(), stop.expected.keywords()) {
        Some(word) => error.help(format!("did you mean `{word}`?")).suggest(
            format!("replace with `{word}`"),
            stop.found_span(),
            word,
        ),
        None => match stop.expected.first() {
            Some(Expected::Statement(help)) => error.help(*help),
            _ => error,
        },
    }
}

/// The word that `text` is a slip of, if there is one.
pub(super) fn nearest<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let letters = text.chars().count();
    if letters < 2 || !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    words
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&lower, word), word))
        .filter(|&(distance, word)| {
            distance <= (letters.min(word.len()) / 3).max(1) && word != text
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

/// The message for text that begins with no item keyword.
pub(super) fn stray_text(code: &str, base: u32) -> SyntaxError {
    let found = token_at(code, 0);
    let whole = Span::new(base, base + code.len() as u32);
    let first = Span::new(base, base + found.len() as u32);
    if ["allow", "private"].contains(&found) {
        return SyntaxError::new(codes::E0101, whole, format!("no item follows `{found}`"))
            .help("write an item behind it, or remove it");
    }
    let error = SyntaxError::new(
        codes::E0101,
        first,
        format!("expected an item, found `{found}`"),
    )
    .here("begins no item");
    match nearest(found, ITEM_KEYWORDS.iter().copied()) {
        Some(word) => error
            .help(format!("did you mean `{word}`?"))
            .suggest(format!("replace with `{word}`"), first, word),
        None => error.help(
            "items begin with `use`, `let`, `cluster`, `topology`, `algorithm`, `tree`, `template`, \
             `fallback`, `select`, `cost`, `curve`, `util` or `test`",
        ),
    }
}
