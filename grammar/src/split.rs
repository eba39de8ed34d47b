//! Cuts a file into items, before anything is parsed.
//!
//! One linear pass by hand: it knows strings, comments, brackets and the words that open an item,
//! and finds what only the whole text shows (limits, comments and braces that are not closed). A
//! second pass runs only where braces do not balance: then the left margin says where items begin.

use crate::splitter::Splitter;
use std::borrow::Cow;
use std::ops::Range;

pub use crate::scan::{CommentKind, MAX_COMMENT_DEPTH};

/// Files may be this long, in bytes.
pub const MAX_FILE_BYTES: usize = 16 << 20;
/// Brackets may be nested this deeply.
pub const MAX_BRACKET_DEPTH: usize = 256;
/// `sequence <`, `parallel <` and `omnipipe <` may be nested this deeply.
pub const MAX_TREE_DEPTH: usize = 64;
/// What is reported of one file before the rest is left unsaid.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comment {
    /// First byte.
    pub start: u32,
    /// One past the last byte; the end of the line is not part of the comment.
    pub end: u32,
    /// Its form.
    pub kind: CommentKind,
}

/// The text of one item, or text that is no item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// With the documentation and comments above and a comment behind on the last line.
    pub range: Range<usize>,
    /// From the first word to the last token.
    pub code: Range<usize>,
    /// Its comments, as indices of [`Split::comments`].
    pub comments: Range<usize>,
    /// The item keyword behind `allow(…)` and `private`; none for text that is no item.
    pub keyword: Option<&'static str>,
    /// The deepest nesting of brackets and trees.
    pub depth: usize,
    /// Whether it is nested more deeply than the language allows and must not be parsed.
    pub too_deep: bool,
}

/// What is wrong with a text, whatever its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexProblem {
    /// The file is longer than [`MAX_FILE_BYTES`].
    FileTooLarge,
    /// A control character, one that reverses the direction of text, or a mark of the byte order that
    /// is not at the start.
    ControlCharacter(char),
    /// A carriage return without a newline.
    LoneCarriageReturn,
    /// Brackets nested deeper than [`MAX_BRACKET_DEPTH`].
    BracketsTooDeep,
    /// Trees nested deeper than [`MAX_TREE_DEPTH`].
    TreesTooDeep,
    /// Comments nested deeper than [`MAX_COMMENT_DEPTH`].
    CommentsTooDeep,
    /// A block comment without its end.
    UnclosedComment,
    /// A string without its closing quote on the line.
    UnclosedString,
    /// A brace without its partner.
    UnclosedBrace,
    /// A closing brace without its partner.
    ExtraBrace,
    /// `//!` below the first item.
    StrayModuleDocs,
}

/// A file cut into items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// The items and stray texts in order. They do not overlap; between them is white space only.
    pub chunks: Vec<Chunk>,
    /// From the first byte to the end of the last `//!` line above all items.
    pub header: Option<Range<usize>>,
    /// All comments in order.
    pub comments: Vec<Comment>,
    /// How many comments belong to the header.
    pub header_comments: usize,
    /// The comments behind the last chunk, as indices of `comments`.
    pub tail_comments: Range<usize>,
    /// What is wrong, by place.
    pub problems: Vec<(LexProblem, Range<usize>)>,
}

impl Split {
    /// The deepest nesting of brackets and trees in any chunk that may be parsed.
    pub fn deepest(&self) -> usize {
        let may_be_parsed = self.chunks.iter().filter(|c| !c.too_deep);
        may_be_parsed.map(|c| c.depth).max().unwrap_or(0)
    }
}

/// Cuts `text` into items.
pub fn split(text: &str) -> Split {
    if text.len() > MAX_FILE_BYTES {
        return Split {
            problems: vec![(LexProblem::FileTooLarge, 0..0)],
            ..Split::default()
        };
    }
    let balanced = Splitter::new(text, false).run();
    let at_margin = || Splitter::new(text, true).run();
    let mut split = balanced.or_else(at_margin).unwrap_or_default();
    find_control_characters(text, &mut split.problems);
    split.problems.sort_by_key(|(_, at)| (at.start, at.end));
    split.problems.truncate(MAX_PROBLEMS);
    split
}

/// `text`, which begins at byte `offset` of its file, with spaces in place of `comments`.
pub fn blank_comments<'a>(text: &'a str, offset: usize, comments: &[Comment]) -> Cow<'a, str> {
    let inside = |c: &&Comment| {
        c.start as usize >= offset && (c.end as usize).saturating_sub(offset) <= text.len()
    };
    let mut comments = comments.iter().filter(inside).peekable();
    if comments.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    for comment in comments {
        let (start, end) = (
            comment.start as usize - offset,
            comment.end as usize - offset,
        );
        blanked.push_str(&text[blanked.len()..start]);
        blanked.extend(text[start..end].bytes().map(|_| ' '));
    }
    blanked.push_str(&text[blanked.len()..]);
    Cow::Owned(blanked)
}

/// Reports control characters other than tab, newline and the carriage return before a newline, and
/// those that make text run the other way, so that what is read is what is compiled.
fn find_control_characters(text: &str, problems: &mut Vec<(LexProblem, Range<usize>)>) {
    let bytes = text.as_bytes();
    let suspicious = |b: u8| (b < b' ' && b != b'\t' && b != b'\n') || b >= 0x7F;
    let mut at = 0;
    let limit = problems.len() + MAX_PROBLEMS;
    while let Some(ahead) = bytes[at..].iter().position(|&b| suspicious(b)) {
        at += ahead;
        let Some(c) = text[at..].chars().next() else {
            return;
        };
        let end = at + c.len_utf8();
        let problem = match c {
            '\r' if bytes.get(end) == Some(&b'\n') => None,
            '\r' => Some(LexProblem::LoneCarriageReturn),
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
                Some(LexProblem::ControlCharacter(c))
            }
            c if c.is_control() => Some(LexProblem::ControlCharacter(c)),
            '\u{FEFF}' if at > 0 => Some(LexProblem::ControlCharacter(c)),
            _ => None,
        };
        problems.extend(problem.map(|p| (p, at..end)));
        if problems.len() >= limit {
            return;
        }
        at = end;
    }
}
