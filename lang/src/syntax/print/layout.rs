//! The page under the printer: a cursor on the source, comments, separators, groups.
//!
//! Tokens are copied from the source one after the other, so none can be lost, changed or invented.
//! Between two of them the printer asks for a separator; the comments that stand there decide what
//! becomes of it. Line breaking is the work of the `pretty` crate.

use crate::source::Span;
use coll_grammar::split::{Comment, CommentKind};
use pretty::{Arena, Doc, DocAllocator, RefDoc};

/// Columns that a line may have.
const WIDTH: usize = 100;
/// Columns of one step of indentation.
const INDENT: isize = 4;

/// What stands between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Nothing,
    Space,
    /// A space, or a new line where the group does not fit.
    Line,
    /// Nothing, or a new line where the group does not fit.
    SoftLine,
    NewLine,
    /// A new line, and an empty line before it where the source has one.
    Paragraph,
}

/// Documents of the `pretty` crate, built in the order of the text.
pub(super) struct Layout<'a> {
    arena: &'a Arena<'a>,
    /// The item's text.
    source: &'a str,
    /// The same with spaces for comments.
    code: &'a str,
    comments: &'a [Comment],
    next_comment: usize,
    /// Byte of the source behind the last token.
    pos: usize,
    docs: Vec<RefDoc<'a>>,
    separator: Separator,
    /// Whether the next thing has to stand on a new line, because of a comment.
    broken: bool,
    /// Whether an empty line may not come next.
    tight: bool,
    /// Whether nothing is printed yet.
    at_start: bool,
    /// Whether the tree did not fit the text.
    failed: bool,
    hard_line: RefDoc<'a>,
    line: RefDoc<'a>,
    soft_line: RefDoc<'a>,
    space: RefDoc<'a>,
    empty_line: RefDoc<'a>,
}

impl<'a> Layout<'a> {
    /// A page for the item with text `source`; `code` is the same with spaces for its comments.
    pub(super) fn new(
        arena: &'a Arena<'a>,
        source: &'a str,
        code: &'a str,
        comments: &'a [Comment],
    ) -> Self {
        let hard_line = arena.alloc(Doc::Hardline);
        let space = arena.alloc(Doc::BorrowedText(" "));
        let nil = arena.alloc(Doc::Nil);
        let newline = arena.alloc(Doc::BorrowedText("\n"));
        Self {
            arena,
            source,
            code,
            comments,
            next_comment: 0,
            pos: 0,
            docs: Vec::new(),
            separator: Separator::Paragraph,
            broken: false,
            tight: false,
            at_start: true,
            failed: false,
            hard_line,
            line: arena.alloc(Doc::FlatAlt(hard_line, space)),
            soft_line: arena.alloc(Doc::FlatAlt(hard_line, nil)),
            space,
            // A hard line would indent the empty line.
            empty_line: arena.alloc(Doc::RenderLen(0, newline)),
        }
    }

    /// The printed text; none if the tree and the text did not fit each other.
    pub(super) fn finish(mut self) -> Option<String> {
        self.separator = Separator::Nothing;
        self.comments_before(self.source.len());
        let complete =
            self.next_comment == self.comments.len() && self.code[self.pos..].trim_end().is_empty();
        if self.failed || !complete {
            return None;
        }
        let mut text = String::with_capacity(self.source.len() + self.source.len() / 8);
        let doc = self.concat(0);
        doc.0.render_fmt(WIDTH, &mut text).ok()?;
        Some(text)
    }

    // ---- separators -------------------------------------------------------------------------------

    pub(super) fn space(&mut self) {
        self.separator = Separator::Space;
    }

    pub(super) fn line(&mut self) {
        self.separator = Separator::Line;
    }

    pub(super) fn soft_line(&mut self) {
        self.separator = Separator::SoftLine;
    }

    pub(super) fn new_line(&mut self) {
        self.separator = Separator::NewLine;
    }

    pub(super) fn paragraph(&mut self) {
        self.separator = Separator::Paragraph;
    }

    /// Prints a line break; with an empty line where `blank` says so and one may come.
    fn break_line(&mut self, blank: bool) {
        if blank && !self.tight {
            self.docs.push(self.empty_line);
        }
        self.docs.push(self.hard_line);
    }

    /// Prints what stands between the last token and the one at byte `at`.
    fn separate(&mut self, at: usize) {
        self.comments_before(at);
        let separator = std::mem::replace(&mut self.separator, Separator::Nothing);
        if self.at_start {
            // Nothing stands before the first token.
        } else if self.broken || matches!(separator, Separator::NewLine | Separator::Paragraph) {
            let blank = separator == Separator::Paragraph && lines_before(self.source, at) > 1;
            self.break_line(blank);
        } else {
            match separator {
                Separator::Space => self.docs.push(self.space),
                Separator::Line => self.docs.push(self.line),
                Separator::SoftLine => self.docs.push(self.soft_line),
                _ => {}
            }
        }
        (self.broken, self.tight, self.at_start) = (false, false, false);
    }

    // ---- comments ---------------------------------------------------------------------------------

    /// Prints the comments that stand before byte `at` and are not printed yet.
    fn comments_before(&mut self, at: usize) {
        while let Some(&comment) = self.comments.get(self.next_comment)
            && (comment.start as usize) < at
        {
            self.comment(comment);
            self.next_comment += 1;
        }
    }

    fn comment(&mut self, comment: Comment) {
        let start = comment.start as usize;
        let own_line = self.broken || start == 0 || lines_before(self.source, start) > 0;
        if self.at_start {
            // Nothing stands before the first comment.
        } else if own_line {
            let paragraph = self.separator == Separator::Paragraph;
            self.break_line(paragraph && lines_before(self.source, start) > 1);
        } else if comment.kind.is_line() {
            self.docs.extend([self.space, self.space]);
        } else if !self.opens(start) {
            self.docs.push(self.space);
        }
        self.at_start = false;
        self.comment_text(comment);
        // Documentation stands directly above what it documents.
        self.tight = comment.kind == CommentKind::Doc;
        // A comment that begins a line has it for itself.
        self.broken = own_line || comment.kind.is_line();
        self.separator = match self.separator {
            Separator::Nothing if !self.broken => Separator::Space,
            Separator::SoftLine if !self.broken => Separator::Line,
            other => other,
        };
    }

    /// Whether the last token is an opening bracket and nothing but space follows up to byte `at`.
    fn opens(&self, at: usize) -> bool {
        let token = self.code[..self.pos].chars().next_back();
        matches!(token, Some('(' | '[')) && self.source[self.pos..at].trim().is_empty()
    }

    fn comment_text(&mut self, comment: Comment) {
        let text = &self.source[comment.start as usize..comment.end as usize];
        let text = if comment.kind.is_line() {
            text.trim_end()
        } else {
            text
        };
        // Comments have no width: a long one behind a line does not break the line.
        let text = self.arena.alloc(Doc::BorrowedText(text));
        self.docs.push(self.arena.alloc(Doc::RenderLen(0, text)));
    }

    // ---- tokens -----------------------------------------------------------------------------------

    /// The byte at which the next token begins.
    fn next_token(&self) -> usize {
        let rest = &self.code[self.pos..];
        self.pos + rest.len() - rest.trim_start_matches(|c| c <= ' ').len()
    }

    /// Whether the next token begins with `text`.
    pub(super) fn at(&self, text: &str) -> bool {
        self.code[self.next_token()..].starts_with(text)
    }

    /// Prints the next token, which is `text`.
    pub(super) fn token(&mut self, text: &str) {
        let start = self.next_token();
        if !self.code[start..].starts_with(text) {
            self.failed = true;
            return;
        }
        self.separate(start);
        self.copy(start, start + text.len());
    }

    /// Prints the next token, which is `text`, and a space behind it.
    pub(super) fn keyword(&mut self, text: &str) {
        self.token(text);
        self.space();
    }

    /// Prints the next token, which is the punctuation `text`, directly behind the last one. A comment
    /// that stands behind the last one comes behind both, if it can.
    pub(super) fn close(&mut self, text: &str) {
        let start = self.next_token();
        let end = start + text.len();
        let comments = &self.comments[self.next_comment..];
        let (before, behind) =
            comments.split_at(comments.partition_point(|c| (c.start as usize) < start));
        let own_line = |c: &Comment| lines_before(self.source, c.start as usize) > 0;
        let line_ends = before.iter().any(|c| c.kind.is_line());
        let goes_on = behind.first().is_some_and(|c| {
            lines_before(self.source, c.start as usize) == 0
                && self.code[end.min(c.start as usize)..c.start as usize]
                    .trim()
                    .is_empty()
        });
        if before.iter().any(own_line) || line_ends && goes_on {
            self.token(text);
            return;
        }
        if !self.code[start..].starts_with(text) {
            self.failed = true;
            return;
        }
        self.copy(start, end);
    }

    /// Prints the closing bracket `text`, without space before it.
    pub(super) fn close_bracket(&mut self, text: &str) {
        self.comments_here();
        self.separator = Separator::Nothing;
        self.token(text);
    }

    /// Leaves the next token out if it is the separator `text`, which lists may have at their end.
    pub(super) fn leave_out(&mut self, text: &str) {
        if self.at(text) {
            self.pos = self.next_token() + text.len();
        }
    }

    /// Prints the source of `span`, which comes next, as it is.
    pub(super) fn verbatim(&mut self, span: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        if self.next_token() != start || end > self.code.len() {
            self.failed = true;
            return;
        }
        self.separate(start);
        self.copy(start, end);
    }

    fn copy(&mut self, start: usize, end: usize) {
        self.pos = end;
        let Some(text) = self.source.get(start..end) else {
            self.failed = true;
            return;
        };
        let doc = self.arena.alloc(Doc::BorrowedText(text));
        let doc = if text.is_ascii() {
            doc
        } else {
            self.arena.alloc(Doc::RenderLen(text.chars().count(), doc))
        };
        self.docs.push(doc);
        // A comment may stand between a number and its unit.
        while let Some(comment) = self.comments.get(self.next_comment)
            && (start..end).contains(&(comment.start as usize))
        {
            self.next_comment += 1;
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Gives up: the tree says what cannot be printed.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    // ---- groups -----------------------------------------------------------------------------------

    /// What `print` prints, on one line if it fits. What was asked to stand before it stays outside.
    pub(super) fn group(&mut self, print: impl FnOnce(&mut Self)) {
        if self.separator != Separator::Nothing {
            let at = self.next_token();
            self.separate(at);
        }
        let from = self.docs.len();
        print(self);
        let group = Doc::Group(self.concat(from));
        self.docs.push(self.arena.alloc(group));
    }

    /// What `print` prints, one step further in.
    pub(super) fn nest(&mut self, print: impl FnOnce(&mut Self)) {
        let from = self.docs.len();
        print(self);
        let nest = Doc::Nest(INDENT, self.concat(from));
        self.docs.push(self.arena.alloc(nest));
    }

    /// The documents from `from` on as one.
    fn concat(&mut self, from: usize) -> RefDoc<'a> {
        let arena = self.arena;
        self.docs
            .drain(from..)
            .reduce(|left, right| arena.alloc(Doc::Append(left, right)))
            .unwrap_or_else(|| arena.alloc(Doc::Nil))
    }

    /// `{ … }` with everything that `print` prints on lines of its own, one step further in.
    pub(super) fn block(&mut self, print: impl FnOnce(&mut Self)) {
        self.token("{");
        self.tight = true;
        let mut empty = true;
        self.nest(|l| {
            let printed = l.docs.len();
            l.paragraph();
            print(l);
            l.comments_here();
            empty = l.docs.len() == printed;
        });
        self.separator = if empty {
            Separator::Nothing
        } else {
            Separator::NewLine
        };
        self.token("}");
    }

    /// Prints the comments before the next token, so that they stand where the last token stands.
    pub(super) fn comments_here(&mut self) {
        let at = self.next_token();
        self.comments_before(at);
    }

    /// `OPEN items CLOSE` without space inside; where it does not fit, one item per line.
    pub(super) fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        items: &[T],
        mut print: impl FnMut(&mut Self, &T),
    ) {
        self.group(|l| {
            l.token(open);
            l.nest(|l| {
                l.soft_line();
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        l.close(",");
                        l.line();
                    }
                    print(l, item);
                }
                l.leave_out(",");
                l.comments_here();
            });
            l.soft_line();
            l.token(close);
        });
    }
}

/// Line ends in the white space before byte `at`.
fn lines_before(text: &str, at: usize) -> usize {
    let space = |b: &&u8| **b <= b' ';
    let before = text.as_bytes()[..at].iter().rev().take_while(space);
    before.filter(|&&b| b == b'\n').take(2).count()
}
