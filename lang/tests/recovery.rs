//! How much of a file one edit breaks, measured over all files of the corpus.

mod common;

use coll_lang::parse::{ParsedFile, parse_file};
use common::{corpus, findings};
use std::ops::Range;

/// An edit as it happens while typing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edit {
    DeleteToken,
    Insert(&'static str),
    CutLine,
}

const EDITS: [Edit; 7] = [
    Edit::DeleteToken,
    Edit::CutLine,
    Edit::Insert(";"),
    Edit::Insert("@"),
    Edit::Insert("x "),
    Edit::Insert("{"),
    Edit::Insert("}"),
];

/// Places of the tokens outside comments.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let split = coll_grammar::split::split(text);
    let code = coll_grammar::split::blank_comments(text, 0, &split.comments);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(ahead) = code[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + ahead;
        let rest = &code[start..];
        let len = match rest.chars().next() {
            Some('"') => rest[1..].find('"').map_or(1, |n| n + 2),
            Some(c) if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            Some(c) => c.len_utf8(),
            None => break,
        };
        tokens.push(start..start + len);
        at = start + len;
    }
    tokens
}

fn apply(text: &str, token: &Range<usize>, edit: Edit) -> String {
    let (from, to, by) = match edit {
        Edit::DeleteToken => (token.start, token.end, ""),
        Edit::Insert(piece) => (token.start, token.start, piece),
        Edit::CutLine => {
            let end = text[token.start..]
                .find('\n')
                .map_or(text.len(), |n| token.start + n);
            (token.start, end, "")
        }
    };
    format!("{}{by}{}", &text[..from], &text[to..])
}

/// How many of the items outside `edited` are still there, whole, and how many there were.
fn intact(text: &str, before: &ParsedFile, edited: usize, after: &str) -> (usize, usize) {
    let now = parse_file(after);
    let text_of = |text: &str, offset: u32, len: u32| {
        text[offset as usize..(offset + len) as usize].to_owned()
    };
    let sound: Vec<String> = now
        .items
        .iter()
        .filter(|i| i.item.is_sound())
        .map(|i| text_of(after, i.offset, i.item.len))
        .collect();
    let others = before.items.iter().filter(|i| {
        let range = i.offset as usize..(i.offset + i.item.len) as usize;
        !(range.start..=range.end).contains(&edited)
    });
    let mut total = 0;
    let mut kept = 0;
    for item in others {
        total += 1;
        kept += usize::from(sound.contains(&text_of(text, item.offset, item.item.len)));
    }
    (kept, total)
}

#[test]
fn one_edit_breaks_one_item_and_is_said_about_once() {
    let mut summary = String::new();
    for edit in EDITS {
        let (mut kept, mut others, mut broken, mut reports, mut worst) = (0, 0, 0, 0, 0);
        for (_, text) in corpus() {
            let before = parse_file(&text);
            for token in tokens(&text).iter().step_by(3) {
                let after = apply(&text, token, edit);
                let found = findings(&parse_file(&after)).len();
                let (k, n) = intact(&text, &before, token.start, &after);
                (kept, others) = (kept + k, others + n);
                reports += found;
                broken += usize::from(found > 0);
                worst = worst.max(found);
            }
        }
        let share = kept as f64 / others as f64;
        let each = reports as f64 / broken as f64;
        summary += &format!(
            "{edit:?}: {broken} edits break the text, {:.3} % of the other items intact, \
             {each:.2} reports (at most {worst})\n",
            share * 100.0
        );
        let braces = matches!(edit, Edit::Insert("{" | "}"));
        let limit = if braces { 3.0 } else { 1.5 };
        assert!(broken > 300 && share >= 0.99 && each <= limit, "{summary}");
    }
    println!("{summary}");
}
