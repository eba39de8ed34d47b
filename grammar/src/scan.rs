//! Finds the words, brackets, strings and comments of a text; all that [`crate::split`] looks at.

use crate::words::ITEM_KEYWORDS;

/// Block comments may be nested this deeply.
pub const MAX_COMMENT_DEPTH: usize = 64;

/// The forms of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommentKind {
    /// `// …`
    Line,
    /// `/* … */`
    Block,
    /// `/// …`: documents the item below.
    Doc,
    /// `//! …`: documents the file.
    ModuleDoc,
}

impl CommentKind {
    /// Whether the comment ends with its line.
    pub const fn is_line(self) -> bool {
        !matches!(self, Self::Block)
    }
}

/// What is wrong with a block comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommentFault {
    Unclosed,
    TooDeep,
}

/// What a token is, as far as cutting a file into items needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme {
    /// A run of letters, digits and underscores.
    Word,
    /// `{`, `(` or `[`.
    Open(u8),
    /// `}`, `)` or `]`.
    Close(u8),
    /// `<` that is no part of a longer operator.
    Less,
    /// `>` that is no part of `>=`, `->` or `=>`. `>>` gives two.
    Greater,
    /// `;`
    Semi,
    /// `=` that is no part of a longer operator.
    Assign,
    Comment(CommentKind, Option<CommentFault>),
    Str {
        closed: bool,
    },
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) lexeme: Lexeme,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Bytes between the start of the line and its first token.
    pub(crate) line_indent: usize,
    /// Whether nothing stands before it on its line.
    pub(crate) first_on_line: bool,
}

/// Walks over a text token by token.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    from: usize,
    pos: usize,
    line_indent: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner that begins at byte `from`.
    pub(crate) fn new(text: &'a str, from: usize) -> Self {
        Self {
            text,
            from,
            pos: from,
            line_indent: 0,
        }
    }

    /// Skips white space. The start of the line that the next token stands on, if it is a new one.
    fn skip_space(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut line_start = None;
        while let Some(&b) = bytes.get(self.pos) {
            match b {
                b'\n' => line_start = Some(self.pos + 1),
                // Other control characters are reported apart and are space for everybody else.
                0..=b' ' => {}
                _ => break,
            }
            self.pos += 1;
        }
        line_start
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.pos + ahead)
            .copied()
            .unwrap_or(0)
    }

    fn word_end(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        bytes[from..]
            .iter()
            .position(|b| !is_word(b))
            .map_or(bytes.len(), |n| from + n)
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        let end = rest
            .iter()
            .position(|&b| b == b'\n')
            .map_or(self.text.len(), |n| from + n);
        let carriage_return = end > from && self.text.as_bytes()[end - 1] == b'\r';
        end - usize::from(carriage_return)
    }

    fn comment_kind(&self) -> CommentKind {
        match (self.peek(2), self.peek(3)) {
            (b'!', _) => CommentKind::ModuleDoc,
            (b'/', b'/') => CommentKind::Line,
            (b'/', _) => CommentKind::Doc,
            _ => CommentKind::Line,
        }
    }

    /// The end of the string that begins here, and whether it is closed on its line.
    fn string(&self) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let mut at = self.pos + 1;
        while let Some(&b) = bytes.get(at) {
            match b {
                b'"' => return (at + 1, true),
                b'\n' => break,
                b'\\' if bytes.get(at + 1).is_some_and(|&b| b != b'\n') => at += 1,
                _ => {}
            }
            at += 1;
        }
        // An escape may have skipped the first byte of a longer character.
        let end = self.line_end(self.pos).max(self.pos + 1);
        (end, false)
    }

    /// The end of the block comment that begins here. One that is not closed, or nested too deeply,
    /// ends before the next line that begins with an item keyword, so that it hides no item.
    fn block_comment(&self) -> (usize, Option<CommentFault>) {
        let bytes = self.text.as_bytes();
        let mut depth = 1;
        let mut at = self.pos + 2;
        while at + 1 < bytes.len() {
            match (bytes[at], bytes[at + 1]) {
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return (at, None);
                    }
                }
                (b'/', b'*') => {
                    depth += 1;
                    at += 2;
                    if depth > MAX_COMMENT_DEPTH {
                        return (self.next_margin_item(), Some(CommentFault::TooDeep));
                    }
                }
                _ => at += 1,
            }
        }
        (self.next_margin_item(), Some(CommentFault::Unclosed))
    }

    /// The end of the text before the next line that begins with an item keyword.
    fn next_margin_item(&self) -> usize {
        let bytes = self.text.as_bytes();
        let begins_item =
            |line: usize| ITEM_KEYWORDS.contains(&&self.text[line + 1..self.word_end(line + 1)]);
        let end = (self.line_end(self.pos)..bytes.len())
            .find(|&at| bytes[at] == b'\n' && begins_item(at))
            .unwrap_or(bytes.len());
        self.pos + self.text[self.pos..end].trim_end().len()
    }

    /// What begins here and where it ends.
    fn lexeme(&self) -> (Lexeme, usize) {
        let plain = |lexeme, len| (lexeme, self.pos + len);
        match (self.peek(0), self.peek(1)) {
            (b'/', b'/') => (
                Lexeme::Comment(self.comment_kind(), None),
                self.line_end(self.pos),
            ),
            (b'/', b'*') => {
                let (end, fault) = self.block_comment();
                (Lexeme::Comment(CommentKind::Block, fault), end)
            }
            (b'"', _) => {
                let (end, closed) = self.string();
                (Lexeme::Str { closed }, end)
            }
            (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_', _) => {
                (Lexeme::Word, self.word_end(self.pos))
            }
            (open @ (b'{' | b'(' | b'['), _) => plain(Lexeme::Open(open), 1),
            (close @ (b'}' | b')' | b']'), _) => plain(Lexeme::Close(close), 1),
            (b';', _) => plain(Lexeme::Semi, 1),
            (b'.', b'.') if matches!(self.peek(2), b'<' | b'=') => plain(Lexeme::Other, 3),
            (b'-' | b'=', b'>') | (b'=' | b'!' | b'<' | b'>', b'=') | (b'<', b'<') => {
                plain(Lexeme::Other, 2)
            }
            (b'=', _) => plain(Lexeme::Assign, 1),
            (b'<', _) => plain(Lexeme::Less, 1),
            (b'>', _) => plain(Lexeme::Greater, 1),
            _ => {
                let rest = &self.text[self.pos..];
                plain(Lexeme::Other, rest.chars().next().map_or(1, char::len_utf8))
            }
        }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let at_start = self.pos == self.from;
        let new_line = self.skip_space();
        if self.pos >= self.text.len() {
            return None;
        }
        let first_on_line = at_start || new_line.is_some();
        if first_on_line {
            self.line_indent = self.pos - new_line.unwrap_or(self.from);
        }
        let start = self.pos;
        let (lexeme, end) = self.lexeme();
        self.pos = end;
        Some(Token {
            lexeme,
            start,
            end,
            line_indent: self.line_indent,
            first_on_line,
        })
    }
}
