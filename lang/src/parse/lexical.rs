//! What is said about faults that are found before anything is parsed.

use super::error::SyntaxError;
use crate::diagnostics::codes;
use crate::source::Span;
use coll_grammar::split::{
    LexProblem, MAX_BRACKET_DEPTH, MAX_COMMENT_DEPTH, MAX_FILE_BYTES, MAX_TREE_DEPTH,
};

/// The message for a fault at `place` of `text`.
pub(super) fn error(text: &str, problem: LexProblem, place: Span) -> SyntaxError {
    match problem {
        LexProblem::FileTooLarge => SyntaxError::new(
            codes::E0102,
            place,
            format!(
                "the file has {} bytes; {} are allowed",
                text.len(),
                MAX_FILE_BYTES
            ),
        )
        .help("cut it into several files of the same library"),
        LexProblem::ControlCharacter(c) => SyntaxError::new(
            codes::E0104,
            place,
            format!(
                "the control character U+{:04X} cannot stand in a file",
                c as u32
            ),
        )
        .help("remove it; inside a string write it as `\\u{…}`")
        .suggest("remove the character", place, ""),
        LexProblem::LoneCarriageReturn => SyntaxError::new(
            codes::E0104,
            place,
            "a carriage return stands without a newline",
        )
        .help("lines end with a newline, or with a carriage return and a newline")
        .safe_fix("replace with a newline", place, "\n"),
        LexProblem::BracketsTooDeep => {
            too_deep(place, "brackets", MAX_BRACKET_DEPTH).help("name parts of it with `let`")
        }
        LexProblem::TreesTooDeep => {
            too_deep(place, "trees", MAX_TREE_DEPTH).help("name parts of it with `tree`")
        }
        LexProblem::CommentsTooDeep => {
            too_deep(place, "comments", MAX_COMMENT_DEPTH).help("close the comments, or use `//`")
        }
        LexProblem::UnclosedComment => {
            SyntaxError::new(codes::E0107, place, "this comment is never closed")
                .here("begins here")
                .help("add `*/`; comments nest, so every `/*` needs its own")
        }
        LexProblem::UnclosedString => {
            let end = Span::new(place.end, place.end);
            SyntaxError::new(codes::E0107, place, "this string is not closed on its line")
                .here("begins here")
                .help("add `\"`; a newline inside a string is `\\n`")
                .suggest("insert `\"` at the end of the line", end, "\"")
        }
        LexProblem::UnclosedBrace => {
            SyntaxError::new(codes::E0107, place, "this `{` is never closed")
                .here("begins here")
                .help("add `}` where the block ends")
        }
        LexProblem::ExtraBrace => SyntaxError::new(codes::E0101, place, "this `}` closes too much")
            .here("one `}` more than `{`")
            .help("remove it, or open the block that it shall close")
            .suggest("remove the `}`", place, ""),
        LexProblem::StrayModuleDocs => SyntaxError::new(
            codes::E0109,
            place,
            "`//!` documents the file, and stands above all items",
        )
        .here("stands below an item")
        .help("move it to the top, or write `///` to document the next item, or `//`"),
    }
}

fn too_deep(place: Span, what: &str, limit: usize) -> SyntaxError {
    let message = format!("{what} are nested more than {limit} deep");
    SyntaxError::new(codes::E0105, place, message).here("too deep from here")
}

/// The message for a `///` line that no item follows.
pub(super) fn stray_docs(place: Span) -> SyntaxError {
    let slash = Span::new(place.start + 2, place.start + 3);
    SyntaxError::new(
        codes::E0109,
        place,
        "`///` documents an item, and none follows",
    )
    .here("belongs to nothing")
    .help("write `//` for a comment")
    .safe_fix("make it a comment", slash, "")
}

/// The message for the text `found` behind the end of an item.
pub(super) fn trailing(found: &str, place: Span) -> SyntaxError {
    if found == ";" {
        return SyntaxError::new(codes::E0101, place, "this `;` ends nothing")
            .here("no `;` follows a block")
            .help("remove it")
            .safe_fix("remove `;`", place, "");
    }
    SyntaxError::new(codes::E0101, place, "the item has ended before this text")
        .here("belongs to no item")
        .help("remove it, or look for what ends the item too early")
}
