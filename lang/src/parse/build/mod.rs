//! From the pairs of the grammar to the syntax tree.
//!
//! The grammar guarantees which pairs follow which. Where a builder still meets another one it gives
//! `None`, and its caller puts the `Error` variant in its place: there is no panic in here.

mod expr;
mod item;
mod select;
mod template;
mod test;
mod tree;

pub(super) use item::doc_text;

use super::error::SyntaxError;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{Name, Path, Str};
use coll_grammar::Rule;
use coll_grammar::split::Comment;
use pest::iterators::{Pair, Pairs};
use smol_str::SmolStr;

/// Findings kept of one item.
const MAX_ERRORS: usize = 50;

/// Part of the text that does not parse, and the rule that it should follow.
pub(super) struct Broken {
    /// The rule that reads one such part alone.
    pub(super) rule: Rule,
    pub(super) span: Span,
}

/// The pairs inside a pair.
pub(super) struct Parts<'i> {
    pairs: Pairs<'i, Rule>,
    peeked: Option<Pair<'i, Rule>>,
}

/// Builds the tree of one item.
pub(super) struct Builder<'a> {
    /// The text that was parsed; comments are spaces.
    text: &'a str,
    /// Where it begins in the item.
    base: u32,
    /// The item's text and its documentation comments, relative to it.
    item_text: &'a str,
    docs: Vec<Comment>,
    /// How many of `docs` have found their item.
    claimed: Vec<bool>,
    pub(super) errors: Vec<SyntaxError>,
    pub(super) broken: Vec<Broken>,
    /// Text behind the end of the item.
    pub(super) trailing: Option<Span>,
    /// Where something was found to be left out, so that it is said once.
    missing_at: Option<u32>,
    /// Whether it was said that an expression is nested too deeply.
    too_deep: bool,
}

/// Whether a rule is there for its place only: keywords and punctuation.
fn is_quiet(rule: Rule) -> bool {
    (Rule::kw_algorithm as u16..=Rule::eoi as u16).contains(&(rule as u16))
}

impl<'i> Parts<'i> {
    fn new(pair: Pair<'i, Rule>) -> Self {
        Self {
            pairs: pair.into_inner(),
            peeked: None,
        }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str, base: u32, item_text: &'a str, docs: Vec<Comment>) -> Self {
        Self {
            text,
            base,
            item_text,
            claimed: vec![false; docs.len()],
            docs,
            errors: Vec::new(),
            broken: Vec::new(),
            trailing: None,
            missing_at: None,
            too_deep: false,
        }
    }

    /// Whether nothing more will be reported.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub(super) fn report(&mut self, error: SyntaxError) {
        if !self.is_full() {
            self.errors.push(error);
        }
    }

    /// Bytes of the parsed text as a span of the item.
    fn at(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// Where a pair stands, without the white space that a repetition may have taken at its end.
    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        let text = span.as_str().trim_end_matches(|c| c <= ' ');
        self.at(span.start(), span.start() + text.len())
    }

    /// The next pair that says something. Reports what is left out on the way.
    fn next<'i>(&mut self, parts: &mut Parts<'i>) -> Option<Pair<'i, Rule>> {
        if let Some(pair) = parts.peeked.take() {
            return Some(pair);
        }
        loop {
            let pair = parts.pairs.next()?;
            match pair.as_rule() {
                Rule::missing_semi
                | Rule::missing_brace
                | Rule::missing_open
                | Rule::missing_angle => self.missing(&pair),
                rule if is_quiet(rule) => {}
                _ => return Some(pair),
            }
        }
    }

    fn peek(&mut self, parts: &mut Parts<'_>) -> Option<Rule> {
        if parts.peeked.is_none() {
            parts.peeked = self.next(parts);
        }
        parts.peeked.as_ref().map(Pair::as_rule)
    }

    /// The next pair, if it is a `rule`.
    fn take<'i>(&mut self, parts: &mut Parts<'i>, rule: Rule) -> Option<Pair<'i, Rule>> {
        if self.peek(parts) == Some(rule) {
            parts.peeked.take()
        } else {
            None
        }
    }

    /// Builds from the pairs inside `pair`, then looks whether its end is left out.
    fn inside<'i, T>(
        &mut self,
        pair: Pair<'i, Rule>,
        build: impl FnOnce(&mut Self, &mut Parts<'i>) -> Option<T>,
    ) -> Option<T> {
        let mut parts = Parts::new(pair);
        let built = build(self, &mut parts);
        while built.is_some() && self.next(&mut parts).is_some() {}
        built
    }

    /// Everything that `build` makes of the pairs inside `pair`.
    fn list<'i, T>(
        &mut self,
        pair: Pair<'i, Rule>,
        mut build: impl FnMut(&mut Self, Pair<'i, Rule>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut parts = Parts::new(pair);
        self.rest(&mut parts, &mut build)
    }

    /// Everything that `build` makes of the pairs that are left.
    fn rest<'i, T>(
        &mut self,
        parts: &mut Parts<'i>,
        mut build: impl FnMut(&mut Self, Pair<'i, Rule>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        while let Some(pair) = self.next(parts) {
            all.push(build(self, pair)?);
        }
        Some(all)
    }

    /// Notes a part that did not parse.
    fn broken(&mut self, rule: Rule, pair: &Pair<'_, Rule>) -> Span {
        let span = self.span(pair);
        let base = self.base as usize;
        let text = self.text;
        // Text that was given up in the middle of a statement broke for the same reason.
        let goes_on = |last: &Broken| {
            let (end, start) = (last.span.end as usize - base, span.start as usize - base);
            !text[..end].ends_with([';', '}']) && text[end..start].trim().is_empty()
        };
        match self.broken.last_mut() {
            Some(last) if goes_on(last) => last.span.end = span.end,
            _ => self.broken.push(Broken { rule, span }),
        }
        span
    }

    fn missing(&mut self, pair: &Pair<'_, Rule>) {
        let before = self.text[..pair.as_span().start()].trim_end_matches(|c| c <= ' ');
        let end = before.len();
        let insert = self.base + end as u32;
        if self.missing_at.replace(insert) == Some(insert) {
            return;
        }
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        let here = self.at(end - last, end);
        let at = Span::new(insert, insert);
        let error = match pair.as_rule() {
            Rule::missing_semi => SyntaxError::new(codes::E0101, here, "`;` is missing")
                .here("the statement ends here")
                .help("end the statement with `;`")
                .safe_fix("insert `;`", at, ";"),
            Rule::missing_open => SyntaxError::new(codes::E0101, here, "`<` is missing")
                .here("children in `< >` follow")
                .help("open the list of children with `<`")
                .safe_fix("insert `<`", at, " <"),
            Rule::missing_angle => {
                let list_ends = before.ends_with(';');
                let at = if list_ends {
                    Span::new(insert - 1, insert - 1)
                } else {
                    at
                };
                SyntaxError::new(codes::E0107, here, "`>` is missing")
                    .here("the children end here")
                    .help("close the list of children with `>`")
                    .suggest("insert `>`", at, " >")
            }
            _ => SyntaxError::new(codes::E0107, here, "`}` is missing")
                .here("the block ends here")
                .help("close the block with `}`")
                .suggest("insert `}`", at, "\n}"),
        };
        self.report(error);
    }

    fn name(&mut self, pair: &Pair<'_, Rule>) -> Name {
        let span = pair.as_span();
        Name {
            text: SmolStr::new(span.as_str()),
            span: self.at(span.start(), span.end()),
        }
    }

    /// The next pair as a name.
    fn next_name(&mut self, parts: &mut Parts<'_>) -> Option<Name> {
        let pair = self.next(parts)?;
        Some(self.name(&pair))
    }

    /// The next pair as a name, if it is a `rule`.
    fn take_name(&mut self, parts: &mut Parts<'_>, rule: Rule) -> Option<Name> {
        let pair = self.take(parts, rule)?;
        Some(self.name(&pair))
    }

    /// The name inside the next pair, if that is a `rule`.
    fn take_inner_name(&mut self, parts: &mut Parts<'_>, rule: Rule) -> Option<Name> {
        let pair = self.take(parts, rule)?;
        self.inside(pair, |b, parts| b.next_name(parts))
    }

    /// The names that are left.
    fn names(&mut self, parts: &mut Parts<'_>) -> Option<Vec<Name>> {
        self.rest(parts, |b, pair| Some(b.name(&pair)))
    }

    /// A dotted name.
    fn path(&mut self, pair: &Pair<'_, Rule>) -> Path {
        let span = pair.as_span();
        let mut start = span.start();
        let parts = span
            .as_str()
            .split('.')
            .map(|part| {
                let name = Name {
                    text: SmolStr::new(part),
                    span: self.at(start, start + part.len()),
                };
                start += part.len() + 1;
                name
            })
            .collect();
        Path { parts }
    }

    fn next_path(&mut self, parts: &mut Parts<'_>) -> Option<Path> {
        let pair = self.next(parts)?;
        Some(self.path(&pair))
    }

    /// A string literal.
    fn string(&mut self, pair: &Pair<'_, Rule>) -> Str {
        let span = self.span(pair);
        let literal = pair.as_str();
        let inner = &literal[1..literal.len().max(2) - 1];
        Str {
            text: self.unescape(inner, span.start + 1),
            span,
        }
    }

    /// Resolves the escapes of a string's contents, which begin at byte `start` of the item.
    fn unescape(&mut self, inner: &str, start: u32) -> SmolStr {
        if !inner.contains('\\') {
            return SmolStr::new(inner);
        }
        let mut text = String::with_capacity(inner.len());
        let mut rest = inner;
        while let Some(at) = rest.find('\\') {
            text.push_str(&rest[..at]);
            let escape = &rest[at..];
            let (value, len) = escaped(escape);
            if value.is_none() {
                let from = start + (inner.len() - escape.len()) as u32;
                let span = Span::new(from, from + len as u32);
                let message = format!("`{}` is no escape", &escape[..len]);
                self.report(
                    SyntaxError::new(codes::E0110, span, message)
                        .here("unknown escape")
                        .help(r#"the escapes are `\"`, `\\`, `\n`, `\t` and `\u{…}` with a code point in hexadecimal; a backslash itself is `\\`"#),
                );
            }
            text.extend(value);
            rest = &escape[len..];
        }
        text.push_str(rest);
        SmolStr::new(text)
    }
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escaped(text: &str) -> (Option<char>, usize) {
    let Some(second) = text[1..].chars().next() else {
        return (None, 1);
    };
    let simple = match second {
        '"' => '"',
        '\\' => '\\',
        'n' => '\n',
        't' => '\t',
        'u' => return escaped_code_point(text),
        other => return (None, 1 + other.len_utf8()),
    };
    (Some(simple), 2)
}

fn escaped_code_point(text: &str) -> (Option<char>, usize) {
    let digits = text
        .strip_prefix("\\u{")
        .and_then(|rest| rest.split_once('}'))
        .map(|(digits, _)| digits)
        .filter(|d| d.len() <= 6 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    let Some(digits) = digits else {
        return (None, 2);
    };
    let value = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    (value, digits.len() + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_punctuation_are_quiet_and_nothing_else() {
        for rule in [
            Rule::kw_algorithm,
            Rule::kw_within,
            Rule::semi,
            Rule::net_to,
            Rule::eoi,
        ] {
            assert!(is_quiet(rule), "{rule:?}");
        }
        for rule in [
            Rule::private,
            Rule::star,
            Rule::path,
            Rule::template_name,
            Rule::missing_semi,
        ] {
            assert!(!is_quiet(rule), "{rule:?}");
        }
    }

    #[test]
    fn escapes() {
        assert_eq!(escaped(r"\n…"), (Some('\n'), 2));
        assert_eq!(escaped(r"\u{e9}x"), (Some('é'), 6));
        assert_eq!(escaped(r"\u{110000}"), (None, 10));
        assert_eq!(escaped(r"\u{}"), (None, 4));
        assert_eq!(escaped(r"\u12"), (None, 2));
        assert_eq!(escaped(r"\é"), (None, 3));
        assert_eq!(escaped("\\"), (None, 1));
    }
}
