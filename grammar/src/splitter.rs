//! The pass that cuts a text into items; see [`crate::split`].

use crate::scan::{CommentFault, Lexeme, Scanner, Token};
use crate::split::{
    Chunk, Comment, CommentKind, LexProblem, MAX_BRACKET_DEPTH, MAX_PROBLEMS, MAX_TREE_DEPTH, Split,
};
use crate::words::{ITEM_KEYWORDS, MARGIN_KEYWORDS};
use std::ops::Range;

const TREE_KEYWORDS: [&str; 3] = ["sequence", "parallel", "omnipipe"];
const PREFIX_KEYWORDS: [&str; 3] = ["allow", "private", "extern"];

/// How an item ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With `;`.
    Semi,
    /// With the closing brace of its block.
    Block,
    /// As a block, unless `=` comes first.
    Either,
    /// With the next item.
    Never,
}

fn ending(keyword: &str) -> Ending {
    match keyword {
        "cluster" | "cost" | "curve" | "select" | "test" | "topology" => Ending::Block,
        "algorithm" | "template" => Ending::Either,
        _ => Ending::Semi,
    }
}

/// The keyword, unless it stands in front of the one that says what an item is.
fn declares(keyword: &'static str) -> Option<&'static str> {
    (keyword != "allow" && keyword != "private").then_some(keyword)
}

/// A bracket or tree that is open.
#[derive(Clone, Copy)]
struct Open {
    kind: u8,
    at: usize,
    line_indent: usize,
}

/// The chunk that is being read.
struct Current {
    start: usize,
    code: Range<usize>,
    first_comment: usize,
    keyword: Option<&'static str>,
    ending: Ending,
    /// Behind `allow`, `private` or `extern`: the next item keyword belongs to this item.
    behind_prefix: bool,
    depth: usize,
    too_deep: bool,
    /// Whether it has come to its end.
    complete: bool,
    line_indent: usize,
    /// Whether a line of it stands further in than the margin.
    indented: bool,
    /// An opening brace that a brace further out seems to have closed.
    suspect_open: Option<usize>,
    /// A closing brace that stands further in than what it closed.
    suspect_close: Option<usize>,
    extra: Option<usize>,
}

/// Reads a text token by token and cuts it into chunks.
pub(crate) struct Splitter<'a> {
    text: &'a str,
    /// Whether the left margin decides where items begin, because braces do not.
    margin: bool,
    stack: Vec<Open>,
    brackets: usize,
    braces: usize,
    /// Whether the last word opens a tree.
    tree_word: bool,
    /// Whether nothing but braces and comments stands on this line so far.
    only_braces_on_line: bool,
    current: Option<Current>,
    out: Split,
}

impl<'a> Splitter<'a> {
    pub(crate) fn new(text: &'a str, margin: bool) -> Self {
        Self {
            text,
            margin,
            stack: Vec::new(),
            brackets: 0,
            braces: 0,
            tree_word: false,
            only_braces_on_line: false,
            current: None,
            out: Split::default(),
        }
    }

    /// Cuts the text. None, at once, when braces do not balance and nobody has said that the margin
    /// decides.
    pub(crate) fn run(mut self) -> Option<Split> {
        let bom = self.text.len() - self.text.trim_start_matches('\u{FEFF}').len();
        // One mark of the byte order is allowed; a second one is text.
        let from = bom.min('\u{FEFF}'.len_utf8());
        for token in Scanner::new(self.text, from) {
            let is_comment = matches!(token.lexeme, Lexeme::Comment(..));
            if let Lexeme::Comment(kind, fault) = token.lexeme {
                self.comment(token, kind, fault);
            } else if !self.token(token) && !self.margin {
                return None;
            }
            self.only_braces_on_line = (token.first_on_line || self.only_braces_on_line)
                && (is_comment || matches!(token.lexeme, Lexeme::Open(b'{') | Lexeme::Close(b'}')));
        }
        if self.braces > 0 && !self.margin {
            return None;
        }
        self.finish_current();
        let tail = lead_comment(&mut self.out, self.text);
        self.out.tail_comments = tail..self.out.comments.len();
        Some(self.out)
    }

    fn problem(&mut self, problem: LexProblem, at: Range<usize>) {
        if self.out.problems.len() < MAX_PROBLEMS {
            self.out.problems.push((problem, at));
        }
    }

    fn comment(&mut self, token: Token, kind: CommentKind, fault: Option<CommentFault>) {
        let (start, end) = (token.start, token.end);
        match fault {
            Some(CommentFault::Unclosed) => {
                self.problem(LexProblem::UnclosedComment, start..start + 2);
            }
            Some(CommentFault::TooDeep) => {
                self.problem(LexProblem::CommentsTooDeep, start..start + 2);
            }
            None => {}
        }
        let code_began = self.current.is_some() || !self.out.chunks.is_empty();
        if kind == CommentKind::ModuleDoc && code_began {
            self.problem(LexProblem::StrayModuleDocs, start..end);
        }
        self.out.comments.push(Comment {
            start: start as u32,
            end: end as u32,
            kind,
        });
    }

    /// Takes one token; false where a closing brace has no partner.
    fn token(&mut self, token: Token) -> bool {
        let mut balanced = true;
        // `<` follows; where it is left out, what follows is a list of children all the same.
        let opens_tree = std::mem::take(&mut self.tree_word);
        if opens_tree {
            self.open(b'<', token);
        }
        if token.lexeme == Lexeme::Word {
            self.word(token);
        }
        self.leave_complete(token);
        let ending = self.current(token).ending;
        match token.lexeme {
            Lexeme::Open(kind) => self.open(kind, token),
            Lexeme::Greater if self.top() == Some(b'<') => {
                self.stack.pop();
            }
            Lexeme::Close(b'}') => balanced = self.close_brace(token),
            Lexeme::Close(kind) => self.close_bracket(kind),
            Lexeme::Semi => self.close_left_open(),
            Lexeme::Assign if self.stack.is_empty() && ending == Ending::Either => {
                self.current(token).ending = Ending::Semi;
            }
            Lexeme::Str { closed: false } => {
                self.problem(LexProblem::UnclosedString, token.start..token.end);
            }
            _ => {}
        }
        let ends = match token.lexeme {
            Lexeme::Semi => ending != Ending::Never,
            Lexeme::Close(b'}') => matches!(ending, Ending::Block | Ending::Either),
            _ => false,
        };
        let complete = ends && self.stack.is_empty();
        let current = self.current(token);
        current.code.end = token.end;
        current.complete = complete;
        balanced
    }

    /// Before a token that begins no item: text behind a complete item belongs to it when it stands on
    /// its line, or further in on the next, for then the item is not what it should be; else it is
    /// stray text. Where braces do not balance, an empty line says nothing.
    fn leave_complete(&mut self, token: Token) {
        let closes = matches!(token.lexeme, Lexeme::Close(_));
        let leaves = |c: &Current| {
            if !c.complete || !token.first_on_line {
                return false;
            }
            let documented = self.out.comments.last().is_some_and(|comment| {
                comment.kind == CommentKind::Doc && comment.start as usize >= c.code.end
            });
            let apart = has_empty_line(&self.text[c.code.end..token.start]);
            if token.line_indent > c.line_indent {
                documented || apart && !self.margin
            } else {
                documented || apart || !closes
            }
        };
        if self.current.as_ref().is_some_and(leaves) {
            self.finish_current();
        }
    }

    /// Begins an item at an item keyword, where one can begin.
    fn word(&mut self, token: Token) {
        let word = &self.text[token.start..token.end];
        self.tree_word = TREE_KEYWORDS.contains(&word);
        let Ok(index) = ITEM_KEYWORDS.binary_search(&word) else {
            return;
        };
        let keyword = ITEM_KEYWORDS[index];
        let is_prefix = PREFIX_KEYWORDS.contains(&keyword);
        if let Some(current) = &mut self.current
            && current.behind_prefix
            && self.brackets == 0
        {
            current.behind_prefix = is_prefix;
            current.keyword = declares(keyword);
            current.ending = ending(keyword);
            return;
        }
        if !self.can_begin(token, keyword) {
            return;
        }
        self.finish_current();
        let current = self.current(token);
        current.keyword = declares(keyword);
        current.behind_prefix = is_prefix;
        current.ending = ending(keyword);
    }

    fn can_begin(&self, token: Token, keyword: &str) -> bool {
        let dotted = token.start > 0 && self.text.as_bytes()[token.start - 1] == b'.';
        let Some(current) = self.current.as_ref().filter(|_| !dotted) else {
            return !dotted;
        };
        let begins_line = token.first_on_line || self.only_braces_on_line;
        if !self.margin {
            // No bracket but a brace holds a keyword at the start of a line.
            let left_open = self.braces == 0 && token.line_indent <= current.line_indent;
            return self.brackets == 0 || left_open && begins_line;
        }
        let holds_keywords = matches!(
            current.keyword,
            None | Some("algorithm" | "extern" | "template" | "test")
        );
        begins_line
            && token.line_indent == 0
            && (self.brackets == 0
                || current.indented
                || !holds_keywords
                || MARGIN_KEYWORDS.contains(&keyword))
    }

    /// The chunk that `token` belongs to; a new one where there is none.
    fn current(&mut self, token: Token) -> &mut Current {
        let (out, text) = (&mut self.out, self.text);
        let current = self.current.get_or_insert_with(|| {
            let first_comment = lead_comment(out, text);
            let start = out
                .comments
                .get(first_comment)
                .map_or(token.start, |c| c.start as usize);
            Current {
                start,
                code: token.start..token.end,
                first_comment,
                keyword: None,
                ending: Ending::Never,
                behind_prefix: false,
                depth: 0,
                too_deep: false,
                complete: false,
                line_indent: token.line_indent,
                indented: false,
                suspect_open: None,
                suspect_close: None,
                extra: None,
            }
        });
        current.indented |= token.line_indent > 0;
        current
    }

    fn top(&self) -> Option<u8> {
        self.stack.last().map(|open| open.kind)
    }

    fn open(&mut self, kind: u8, token: Token) {
        self.stack.push(Open {
            kind,
            at: token.start,
            line_indent: token.line_indent,
        });
        self.brackets += usize::from(kind != b'<');
        self.braces += usize::from(kind == b'{');
        let (brackets, trees) = (self.brackets, self.stack.len() - self.brackets);
        let depth = self.stack.len();
        let current = self.current(token);
        current.depth = current.depth.max(depth);
        let problem = if trees > MAX_TREE_DEPTH {
            LexProblem::TreesTooDeep
        } else if brackets > MAX_BRACKET_DEPTH {
            LexProblem::BracketsTooDeep
        } else {
            return;
        };
        if !std::mem::replace(&mut current.too_deep, true) {
            self.problem(problem, token.start..token.end);
        }
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.stack.pop()?;
        self.brackets -= usize::from(open.kind != b'<');
        self.braces -= usize::from(open.kind == b'{');
        Some(open)
    }

    /// Closes everything up to the innermost open brace. False when there is none.
    fn close_brace(&mut self, token: Token) -> bool {
        if self.braces == 0 {
            self.current(token).extra.get_or_insert(token.start);
            return false;
        }
        let mut open = self.pop();
        while open.is_some_and(|o| o.kind != b'{') {
            open = self.pop();
        }
        if let Some(open) = open
            && token.first_on_line
        {
            let indent = token.line_indent;
            let current = self.current(token);
            if indent < open.line_indent {
                current.suspect_open.get_or_insert(open.at);
            } else if indent > open.line_indent {
                current.suspect_close.get_or_insert(token.start);
            }
        }
        true
    }

    /// Closes a `(` or `[` of the innermost brace; does nothing where there is none.
    fn close_bracket(&mut self, kind: u8) {
        let partner = if kind == b')' { b'(' } else { b'[' };
        let inner = self.stack.iter().rev().take_while(|o| o.kind != b'{');
        let Some(above) = inner.map(|o| o.kind).position(|k| k == partner) else {
            return;
        };
        for _ in 0..=above {
            self.pop();
        }
    }

    /// At a `;`, which can stand inside no `(` or `[`.
    fn close_left_open(&mut self) {
        while matches!(self.top(), Some(b'(' | b'[')) {
            self.pop();
        }
    }

    /// Completes the chunk that is being read.
    fn finish_current(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        let innermost = self.stack.iter().rev().find(|o| o.kind == b'{');
        if let Some(open) = current.suspect_open.filter(|_| innermost.is_some()) {
            self.problem(LexProblem::UnclosedBrace, open..open + 1);
        } else if let Some(at) = innermost.map(|o| o.at) {
            self.problem(LexProblem::UnclosedBrace, at..at + 1);
        }
        if let Some(extra) = current.extra {
            let at = current.suspect_close.unwrap_or(extra);
            self.problem(LexProblem::ExtraBrace, at..at + 1);
        }
        self.stack.clear();
        (self.brackets, self.braces, self.tree_word) = (0, 0, false);
        self.out.chunks.push(Chunk {
            range: current.start..current.code.end,
            code: current.code,
            comments: current.first_comment..self.out.comments.len(),
            keyword: current.keyword,
            depth: current.depth,
            too_deep: current.too_deep,
        });
    }
}

/// The first comment that does not belong to the last chunk (or to the header, when there is no chunk
/// yet). The last chunk's range grows over the comments on its last line.
fn lead_comment(out: &mut Split, text: &str) -> usize {
    let Some(last) = out.chunks.last_mut() else {
        let header = out
            .comments
            .iter()
            .rposition(|c| c.kind == CommentKind::ModuleDoc);
        if let Some(last) = header {
            out.header = Some(0..out.comments[last].end as usize);
            out.header_comments = last + 1;
        }
        return out.header_comments;
    };
    let mut index = out
        .comments
        .partition_point(|c| (c.start as usize) < last.code.end);
    while let Some(comment) = out.comments.get(index) {
        if !is_behind(text, last.range.end, comment) {
            break;
        }
        last.range.end = comment.end as usize;
        index += 1;
    }
    last.comments.end = index;
    index
}

fn has_empty_line(text: &str) -> bool {
    let mut lines = text.split('\n').skip(1).peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() && lines.peek().is_some() {
            return true;
        }
    }
    false
}

/// Whether `comment` stands on the line of the code that ends at `end`, with no code behind it.
fn is_behind(text: &str, end: usize, comment: &Comment) -> bool {
    if comment.kind == CommentKind::Doc || text[end..comment.start as usize].contains('\n') {
        return false;
    }
    let rest = text[comment.end as usize..].trim_start_matches([' ', '\t', '\r']);
    rest.is_empty() || rest.starts_with(['\n', '/'])
}
