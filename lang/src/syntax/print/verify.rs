//! Whether formatting changed the layout and nothing else.

use super::FormatError;
use crate::parse::{self, ItemCache, ParsedFile};
use coll_grammar::split::{self, Comment, Split};

/// Checks that two texts have the same items, made of the same tokens, the same comments, and that the
/// same items parse. What parses is made of tokens alone, so the syntax trees are the same too, apart
/// from places.
pub(super) fn same(
    before: &str,
    split_before: &Split,
    file_before: &ParsedFile,
    after: &str,
) -> Result<(), FormatError> {
    let split_after = split::split(after);
    let file_after = parse::parse_split(after, &split_after, &mut ItemCache::default());
    let keywords = |split: &Split| -> Vec<_> { split.chunks.iter().map(|c| c.keyword).collect() };
    let sound =
        |file: &ParsedFile| -> Vec<_> { file.items.iter().map(|i| i.item.is_sound()).collect() };
    let same = keywords(split_before) == keywords(&split_after)
        && comments(before, split_before).eq(comments(after, &split_after))
        && sound(file_before) == sound(&file_after)
        && same_code(before, split_before, after, &split_after);
    if same {
        Ok(())
    } else {
        Err(FormatError::Changed)
    }
}

fn comments<'t>(text: &'t str, split: &'t Split) -> impl Iterator<Item = &'t str> {
    let comment = |c: &Comment| text[c.start as usize..c.end as usize].trim_end();
    split.comments.iter().map(comment)
}

fn same_code(before: &str, split_before: &Split, after: &str, split_after: &Split) -> bool {
    split_before
        .chunks
        .iter()
        .zip(&split_after.chunks)
        .all(|(a, b)| {
            let code = |text, split: &Split, chunk: &split::Chunk| {
                let comments = &split.comments[chunk.comments.clone()];
                let code: &str = text;
                split::blank_comments(&code[chunk.code.clone()], chunk.code.start, comments)
                    .into_owned()
            };
            let (a, b) = (code(before, split_before, a), code(after, split_after, b));
            Tokens::new(&a).eq(Tokens::new(&b))
        })
}

/// The tokens of code without comments. A separator in front of the closing bracket is none: lists may
/// or may not have one there.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn new(code: &'t str) -> Self {
        Self { rest: code }
    }

    fn take(&mut self) -> Option<&'t str> {
        self.rest = self.rest.trim_start_matches(|c| c <= ' ');
        let end = token_end(self.rest)?;
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(token)
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let token = self.take()?;
        let closes = |rest: &str| {
            let rest = rest.trim_start_matches(|c| c <= ' ');
            match token {
                "," => rest.starts_with([')', ']', '}']),
                ";" => rest.starts_with('>'),
                _ => false,
            }
        };
        if closes(self.rest) {
            return self.take();
        }
        Some(token)
    }
}

/// Where the token at the start of `code` ends.
fn token_end(code: &str) -> Option<usize> {
    let first = code.chars().next()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if is_word(first) {
        return Some(code.find(|c| !is_word(c)).unwrap_or(code.len()));
    }
    if first == '"' {
        let mut escaped = false;
        let end = code[1..].find(|c| {
            let ends = c == '\n' || c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return Some(end.map_or(code.len(), |n| n + 2).min(code.len()));
    }
    const LONG: [&str; 13] = [
        "..<", "..=", "..", "->", "=>", "==", "!=", "<=", ">=", "<<", "&&", "||", ":=",
    ];
    let long = LONG.iter().find(|op| code.starts_with(**op));
    Some(long.map_or(first.len_utf8(), |op| op.len()))
}
