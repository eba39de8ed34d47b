//! The formatter: the one layout of a file.
//!
//! Four spaces a step, lines of 100 columns, an empty line between items, every block on lines of its
//! own, a tree on one line where it fits and one child per line where it does not. Comments keep their
//! order and their place between tokens. An item with syntax errors stays as it is, and so does a whole
//! file whose braces do not balance, for then nobody knows where its items end.

mod expr;
mod item;
mod layout;
mod template;
mod test;
mod tree;
mod verify;

use crate::parse::{self, ItemCache, ParsedFile, ParsedItem};
use coll_grammar::split::{self, Chunk, Comment, LexProblem, Split};
use layout::Layout;
use pretty::Arena;
use std::borrow::Cow;

/// Why a file was not formatted. Whoever asked keeps the text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The text cannot be parsed at all: see the errors that [`parse::parse_file`] reports.
    #[error("the file is too large, or nested too deeply, to be formatted")]
    Unparsable,
    /// Formatting would have changed more than the layout. This is a fault of the formatter.
    #[error("formatting would have changed the meaning of the text; nothing was done")]
    Changed,
}

/// The one layout of a file. Its line ends stay what its first line has.
///
/// # Errors
/// [`FormatError`] when the text should stay as it is.
pub fn format_file(text: &str) -> Result<String, FormatError> {
    let unix = unix_lines(text);
    let formatted = format_unix(&unix)?;
    let windows = text
        .find('\n')
        .is_some_and(|end| text[..end].ends_with('\r'));
    Ok(if windows {
        formatted.replace('\n', "\r\n")
    } else {
        formatted
    })
}

/// The one layout of the text of one item, without a newline at the end. Text with syntax errors
/// stays as it is.
///
/// # Errors
/// [`FormatError`] when the text should stay as it is.
pub fn format_item(text: &str) -> Result<String, FormatError> {
    let mut formatted = format_unix(&unix_lines(text))?;
    formatted.truncate(formatted.trim_end().len());
    Ok(formatted)
}

fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn format_unix(text: &str) -> Result<String, FormatError> {
    if text.len() > split::MAX_FILE_BYTES {
        return Err(FormatError::Unparsable);
    }
    let split = split::split(text);
    let unbalanced =
        |fault: &LexProblem| matches!(fault, LexProblem::UnclosedBrace | LexProblem::ExtraBrace);
    if split.problems.iter().any(|(fault, _)| unbalanced(fault)) {
        return Ok(text.to_owned());
    }
    let print = || {
        let file = parse::parse_split(text, &split, &mut ItemCache::default());
        let formatted = print_file(text, &split, &file)?;
        if formatted != text {
            verify::same(text, &split, &file, &formatted)?;
        }
        Ok(formatted)
    };
    parse::with_stack(split.deepest(), print).unwrap_or(Err(FormatError::Unparsable))
}

fn print_file(text: &str, split: &Split, file: &ParsedFile) -> Result<String, FormatError> {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    push_comments(&mut out, text, &split.comments[..split.header_comments]);
    let mut before: Option<(&Chunk, bool)> = None;
    for (chunk, placed) in split.chunks.iter().zip(&file.items) {
        let printed = print_chunk(text, split, chunk, &placed.item)?;
        let one_line = !printed.contains('\n');
        match before {
            Some((last, true)) if one_line && stand_together(text, last, chunk) => {}
            // At the very start this would be a mark of the byte order, and no text.
            _ if out.is_empty() && printed.starts_with('\u{FEFF}') => out.push('\n'),
            _ if out.is_empty() => {}
            _ => out.push('\n'),
        }
        out.push_str(&printed);
        out.push('\n');
        before = Some((chunk, one_line));
    }
    let tail = &split.comments[split.tail_comments.clone()];
    if let Some(first) = tail.first()
        && !out.is_empty()
        && is_paragraph(text, first.start as usize)
    {
        out.push('\n');
    }
    push_comments(&mut out, text, tail);
    Ok(out)
}

/// Whether two items on one line each may stand on lines that follow each other.
fn stand_together(text: &str, first: &Chunk, second: &Chunk) -> bool {
    let gap = &text[first.range.end..second.range.start];
    first.keyword.is_some()
        && first.keyword == second.keyword
        && gap.bytes().filter(|&b| b == b'\n').count() < 2
}

/// Whether an empty line stands in front of byte `at`.
fn is_paragraph(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t', '\r']);
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.trim_end_matches([' ', '\t', '\r']).ends_with('\n')
}

/// Comments on lines of their own, with the empty lines between them.
fn push_comments(out: &mut String, text: &str, comments: &[Comment]) {
    for (i, comment) in comments.iter().enumerate() {
        if i > 0 && is_paragraph(text, comment.start as usize) {
            out.push('\n');
        }
        let comment = &text[comment.start as usize..comment.end as usize];
        out.push_str(comment.trim_end());
        out.push('\n');
    }
}

fn print_chunk<'t>(
    text: &'t str,
    split: &Split,
    chunk: &Chunk,
    item: &ParsedItem,
) -> Result<Cow<'t, str>, FormatError> {
    let source = &text[chunk.range.clone()];
    if !item.is_sound() {
        return Ok(Cow::Borrowed(source));
    }
    let own = &split.comments[chunk.comments.clone()];
    let code = split::blank_comments(source, chunk.range.start, own);
    let arena = Arena::new();
    let mut layout = Layout::new(&arena, source, &code, &item.comments);
    layout.item(&item.item);
    let printed = layout.finish().ok_or(FormatError::Changed)?;
    Ok(Cow::Owned(printed))
}
