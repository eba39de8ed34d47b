//! From the text of one item to its tree and what is wrong with it.

use super::build::Builder;
use super::error::SyntaxError;
use super::{ParsedItem, explain, lexical};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{Item, ItemKind, Name};
use coll_grammar::split::{self, Chunk, Comment, CommentKind, LexProblem, Split};
use coll_grammar::words::RESERVED;
use coll_grammar::{Parser, Rule};
use pest::Parser as _;
use smol_str::SmolStr;
use std::ops::Range;

/// Parses one chunk of a split text; `problems` are those inside it, `hash` is that of its text.
pub(super) fn parse(
    text: &str,
    split: &Split,
    chunk: &Chunk,
    problems: &[&(LexProblem, Range<usize>)],
    hash: u64,
) -> ParsedItem {
    let start = chunk.range.start;
    let item_text = &text[chunk.range.clone()];
    let relative = |at: u32| at - start as u32;
    let own = &split.comments[chunk.comments.clone()];
    let comments: Vec<Comment> = own
        .iter()
        .map(|c| Comment {
            start: relative(c.start),
            end: relative(c.end),
            kind: c.kind,
        })
        .collect();
    let lexical: Vec<(LexProblem, Span)> = problems
        .iter()
        .map(|(problem, place)| {
            (
                *problem,
                Span::new(relative(place.start as u32), relative(place.end as u32)),
            )
        })
        .collect();
    let base = (chunk.code.start - start) as u32;
    let code = split::blank_comments(&text[chunk.code.clone()], chunk.code.start, own);
    let docs = comments
        .iter()
        .filter(|c| c.kind == CommentKind::Doc)
        .copied()
        .collect();
    let source = Source {
        code: &code,
        base,
        item_text,
        hash,
        keyword: chunk.keyword,
        lexical: &lexical,
    };
    let mut parsed = if chunk.too_deep {
        source.broken(Vec::new())
    } else {
        source.parse(docs)
    };
    parsed.comments = comments;
    parsed.errors.sort_by_key(|e| (e.span.start, e.span.end));
    let mut faults = lexical;
    if let Some(braces) = faults.iter().position(|(fault, _)| is_of_braces(*fault)) {
        // Behind the brace nothing is what it seems; the first thing said is enough, and it is more
        // than that a brace is too many when it is about that brace.
        parsed.errors.truncate(1);
        let (_, place) = faults[braces];
        if let Some(first) = parsed.errors.first()
            && first.span.start <= place.start
            && place.start < first.span.end
        {
            faults.remove(braces);
        }
    }
    let said = |&(fault, place): &(LexProblem, Span)| lexical::error(item_text, fault, place);
    parsed.errors.extend(faults.iter().map(said));
    parsed.errors.sort_by_key(|e| (e.span.start, e.span.end));
    parsed
}

fn is_of_braces(fault: LexProblem) -> bool {
    matches!(fault, LexProblem::UnclosedBrace | LexProblem::ExtraBrace)
}

/// The text of one item, ready to be parsed.
struct Source<'a> {
    /// Its code; comments inside it are spaces.
    code: &'a str,
    /// Where the code begins in the item.
    base: u32,
    item_text: &'a str,
    hash: u64,
    keyword: Option<&'static str>,
    lexical: &'a [(LexProblem, Span)],
}

impl Source<'_> {
    fn parse(&self, docs: Vec<Comment>) -> ParsedItem {
        if self.keyword.is_none() {
            let known = self
                .lexical
                .iter()
                .any(|(_, place)| place.start == self.base);
            let stray = (!known).then(|| explain::stray_text(self.code, self.base));
            return self.broken(stray.into_iter().collect());
        }
        let mut builder = Builder::new(self.code, self.base, self.item_text, docs);
        let item = match Parser::parse(Rule::one_item, self.code) {
            Ok(mut pairs) => pairs.next().and_then(|pair| builder.one_item(pair)),
            Err(error) => {
                let span = self.span();
                return self.broken(if self.hides(span) {
                    Vec::new()
                } else {
                    vec![explain::explain(self.code, self.base, &error)]
                });
            }
        };
        let Some(item) = item else {
            return self.broken(vec![explain::unexplained(self.span())]);
        };
        let broken = std::mem::take(&mut builder.broken);
        for part in &broken {
            if builder.is_full() {
                break;
            }
            if !self.hides(part.span) {
                builder.report(explain::reparse(self.code, self.base, part));
            }
        }
        let in_broken = |doc: &Span| {
            let next = broken.partition_point(|part| part.span.end < doc.end);
            broken
                .get(next)
                .is_some_and(|part| part.span.start <= doc.start)
        };
        let stray: Vec<Span> = builder.stray_docs().filter(|d| !in_broken(d)).collect();
        for place in stray {
            builder.report(lexical::stray_docs(place));
        }
        if self.lexical.iter().any(|&(fault, _)| is_of_braces(fault)) {
            // Where it is not closed has been found by the look of the text.
            builder.errors.retain(|e| e.code != codes::E0107);
        } else if let Some(place) = builder.trailing
            && builder.errors.is_empty()
        {
            let found = self.item_text.get(place.range()).unwrap_or("");
            builder.report(lexical::trailing(found, place));
        }
        self.finish(item, builder.errors)
    }

    fn span(&self) -> Span {
        Span::new(self.base, self.base + self.code.len() as u32)
    }

    /// Whether a part has a lexical fault, so that what its grammar says is of no use.
    fn hides(&self, span: Span) -> bool {
        self.lexical.iter().any(|&(fault, at)| {
            !is_of_braces(fault)
                && fault != LexProblem::StrayModuleDocs
                && at.start < span.end
                && span.start < at.end
        })
    }

    fn broken(&self, errors: Vec<SyntaxError>) -> ParsedItem {
        let kind = ItemKind::Error {
            keyword: self.keyword.map(SmolStr::new_static),
            name: declared_name(self.code, self.base, self.keyword),
        };
        let item = Item {
            docs: None,
            allow: Vec::new(),
            private: false,
            span: self.span(),
            kind,
        };
        self.finish(item, errors)
    }

    fn finish(&self, item: Item, errors: Vec<SyntaxError>) -> ParsedItem {
        ParsedItem {
            item,
            comments: Vec::new(),
            errors,
            len: self.item_text.len() as u32,
            text_hash: self.hash,
        }
    }
}

/// What is known of a text that is no single item.
pub(super) fn not_one_item(text: &str, hash: u64) -> ParsedItem {
    let code = text.trim_end();
    let source = Source {
        code,
        base: 0,
        item_text: text,
        hash,
        keyword: None,
        lexical: &[],
    };
    let message = "expected one item";
    source.broken(vec![SyntaxError::new(codes::E0101, source.span(), message)])
}

/// The name behind the keyword of an item that does not parse.
fn declared_name(code: &str, base: u32, keyword: Option<&str>) -> Option<Name> {
    let keyword = match keyword? {
        "extern" => "template",
        declares @ ("let" | "cluster" | "topology" | "algorithm" | "tree" | "template"
        | "curve") => declares,
        _ => return None,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let behind = code.find(keyword)? + keyword.len();
    let rest = code[behind..].trim_start();
    let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) || RESERVED.contains(&word)
    {
        return None;
    }
    let start = base + (code.len() - rest.len()) as u32;
    Some(Name {
        text: SmolStr::new(word),
        span: Span::new(start, start + word.len() as u32),
    })
}
