//! From text to syntax trees. Nothing in here fails: what does not parse becomes an `Error` variant
//! of the tree and a [`SyntaxError`].
//!
//! A file is cut into items first (`coll_grammar::split`); each item is parsed alone, with spans that
//! count from its first byte, so that an item whose text did not change keeps its result.

mod build;
mod bytes;
mod chunk;
mod error;
mod expected;
mod explain;
mod lexical;
mod mistakes;

pub use bytes::{NotUtf8, decode};
pub use error::{SyntaxError, SyntaxFix};

use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{Item, ItemKind};
use coll_grammar::split::{self, Comment, CommentKind, LexProblem, Split};
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
        self.errors.is_empty() && !matches!(self.item.kind, ItemKind::Error { .. })
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
    let mut items = parse_file(text).items.into_iter();
    match (items.next(), items.next()) {
        (Some(only), None) => Arc::unwrap_or_clone(only.item),
        _ => chunk::not_one_item(text, hash(text)),
    }
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
            _ => Arc::new(chunk::parse(text, split, chunk, &own, hash)),
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
    let header = &split.comments[..split.header_comments];
    let tail = &split.comments[split.tail_comments.clone()];
    let docs = header.iter().chain(tail);
    for doc in docs.filter(|c| c.kind == CommentKind::Doc) {
        file.errors
            .push(lexical::stray_docs(Span::new(doc.start, doc.end)));
    }
    file.errors.sort_by_key(|e| (e.span.start, e.span.end));
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
