//! From text to syntax trees. Nothing in here fails: what does not parse becomes an `Error` variant
//! of the tree and a [`SyntaxError`].
//!
//! A file is cut into items first (`coll_grammar::split`); each item is parsed alone, with spans that
//! count from its first byte, so that an item whose text did not change keeps its result.

mod build;
mod bytes;
mod error;
mod expected;
mod explain;
mod lexical;
mod mistakes;

pub use bytes::{NotUtf8, decode};
pub use error::{SyntaxError, SyntaxFix};

use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{Item, ItemKind, Name};
use build::Builder;
use coll_grammar::split::{self, Chunk, Comment, CommentKind, LexProblem, Split};
use coll_grammar::words::RESERVED;
use coll_grammar::{Parser, Rule};
use pest::Parser as _;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Once};

/// Nesting from which on a file is parsed on a thread with [`DEEP_STACK_BYTES`] of stack. What is
/// flatter fits every stack that a thread has by default.
const DEEP_NESTING: usize = 24;
/// Stack for the deepest nesting that the language allows.
const DEEP_STACK_BYTES: usize = 64 << 20;
/// Calls of grammar rules in one parse; a text of [`split::MAX_FILE_BYTES`] needs fewer. Reaching it
/// means that the grammar backtracks without end, and ends it.
const MAX_RULE_CALLS: usize = 2_000_000_000;

/// A parsed file.
#[derive(Clone, Debug, Default)]
pub struct ParsedFile {
    /// The items in order, broken ones too.
    pub items: Vec<PlacedItem>,
    /// The text of the `//!` lines at the top.
    pub docs: Option<SmolStr>,
    /// What is wrong outside all items; spans count from the start of the file.
    pub errors: Vec<SyntaxError>,
}

/// An item and where it begins.
#[derive(Clone, Debug)]
pub struct PlacedItem {
    /// First byte of the item's text in the file; the item's spans count from here.
    pub offset: u32,
    /// The item.
    pub item: Arc<ParsedItem>,
}

/// What is known of the text of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedItem {
    /// The syntax tree.
    pub item: Item,
    /// The comments above and inside it, and behind it on its last line.
    pub comments: Vec<Comment>,
    /// What is wrong with it, by place.
    pub errors: Vec<SyntaxError>,
    /// Bytes of its text, comments included.
    pub len: u32,
    /// A hash of its text.
    pub text_hash: u64,
}

impl ParsedItem {
    /// Whether the whole item parsed.
    pub fn is_sound(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Items by the hash of their text, so that a file is parsed again only where it changed.
#[derive(Clone, Debug, Default)]
pub struct ItemCache {
    items: FxHashMap<u64, Arc<ParsedItem>>,
}

/// Parses a file.
pub fn parse_file(text: &str) -> ParsedFile {
    parse_file_cached(text, &mut ItemCache::default())
}

/// Parses a file, taking items whose text did not change from `cache`. Afterwards the cache holds
/// the items of this text.
pub fn parse_file_cached(text: &str, cache: &mut ItemCache) -> ParsedFile {
    let split = split::split(text);
    let parse = || parse_split(text, &split, cache);
    with_stack(split.deepest(), parse).unwrap_or_else(|| {
        let message = "the file is nested too deeply for the memory that is left";
        ParsedFile {
            errors: vec![SyntaxError::new(codes::E0105, Span::default(), message)],
            ..ParsedFile::default()
        }
    })
}

/// Runs `work` with enough stack for text that is nested `depth` deep; none if there is no memory.
pub(crate) fn with_stack<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if depth <= DEEP_NESTING {
        return Some(work());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        let handle = thread.spawn_scoped(scope, work).ok()?;
        let done = handle.join();
        Some(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Parses `text` as one item, whatever it holds.
pub fn parse_item(text: &str) -> ParsedItem {
    let file = parse_file(text);
    let mut items = file.items.into_iter();
    if let (Some(only), None) = (items.next(), items.next()) {
        return Arc::unwrap_or_clone(only.item);
    }
    let end = text.trim_end().len();
    let error = SyntaxError::new(codes::E0101, at(&(0..end)), "expected one item");
    broken_item(text, None, at(&(0..end)), vec![error])
}

fn at(range: &Range<usize>) -> Span {
    Span::new(range.start as u32, range.end as u32)
}

/// Parses a text that is cut into items.
pub(crate) fn parse_split(text: &str, split: &Split, cache: &mut ItemCache) -> ParsedFile {
    set_call_limit();
    let mut file = ParsedFile {
        items: Vec::with_capacity(split.chunks.len()),
        docs: module_docs(text, split),
        errors: Vec::new(),
    };
    let mut seen = FxHashMap::default();
    let mut problems = split.problems.iter().peekable();
    for chunk in &split.chunks {
        let before = |p: &&(LexProblem, Range<usize>)| p.1.start < chunk.range.start;
        while let Some((problem, place)) = problems.next_if(|p| before(p)) {
            file.errors.push(lexical::error(text, *problem, at(place)));
        }
        let mut own = Vec::new();
        while let Some(problem) = problems.next_if(|p| p.1.start < chunk.range.end) {
            own.push(problem);
        }
        let hash = hash(&text[chunk.range.clone()]);
        let cached = cache.items.get(&hash).filter(|_| own.is_empty());
        let item = match cached {
            Some(item) if item.len as usize == chunk.range.len() => Arc::clone(item),
            _ => Arc::new(parse_chunk(text, split, chunk, &own)),
        };
        if own.is_empty() {
            seen.insert(hash, Arc::clone(&item));
        }
        file.items.push(PlacedItem {
            offset: chunk.range.start as u32,
            item,
        });
    }
    for (problem, place) in problems {
        file.errors.push(lexical::error(text, *problem, at(place)));
    }
    for doc in split.comments[split.tail_comments.clone()]
        .iter()
        .filter(|c| c.kind == CommentKind::Doc)
    {
        file.errors
            .push(lexical::stray_docs(Span::new(doc.start, doc.end)));
    }
    cache.items = seen;
    file
}

/// Pest's limit is one for the whole process, and so is this.
fn set_call_limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| pest::set_call_limit(NonZeroUsize::new(MAX_RULE_CALLS)));
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn module_docs(text: &str, split: &Split) -> Option<SmolStr> {
    let docs: Vec<Comment> = split.comments[..split.header_comments]
        .iter()
        .filter(|c| c.kind == CommentKind::ModuleDoc)
        .copied()
        .collect();
    build::doc_text(text, &docs)
}

/// Parses one chunk of a split text; `problems` are those inside it.
fn parse_chunk(
    text: &str,
    split: &Split,
    chunk: &Chunk,
    problems: &[&(LexProblem, Range<usize>)],
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
        let name = declared_name(self.code, self.base, self.keyword);
        let mut parsed = broken_item(self.item_text, self.keyword, self.span(), errors);
        if let ItemKind::Error { name: slot, .. } = &mut parsed.item.kind {
            *slot = name;
        }
        parsed
    }

    fn finish(&self, item: Item, errors: Vec<SyntaxError>) -> ParsedItem {
        ParsedItem {
            item,
            comments: Vec::new(),
            errors,
            len: self.item_text.len() as u32,
            text_hash: hash(self.item_text),
        }
    }
}

fn broken_item(
    text: &str,
    keyword: Option<&'static str>,
    span: Span,
    errors: Vec<SyntaxError>,
) -> ParsedItem {
    let item = Item {
        docs: None,
        allow: Vec::new(),
        private: false,
        span,
        kind: ItemKind::Error {
            keyword: keyword.map(SmolStr::new_static),
            name: None,
        },
    };
    ParsedItem {
        item,
        comments: Vec::new(),
        errors,
        len: text.len() as u32,
        text_hash: hash(text),
    }
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
