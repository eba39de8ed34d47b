//! The pages of the codes: every code has one, and its examples show what they say.
//!
//! The index `docs/errors.md` is written anew with `COLL_UPDATE=1`.

#[path = "common/page.rs"]
mod page;

use coll_grammar::split::{MAX_BRACKET_DEPTH, MAX_COMMENT_DEPTH, MAX_FILE_BYTES, MAX_TREE_DEPTH};
use coll_lang::check::check;
use coll_lang::diagnostics::{Code, codes, pages};
use coll_lang::resolve::{LoadRequest, load};
use coll_lang::syntax::print::{FormatError, format_file};
use page::{Page, Section};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Columns of a page, transcripts aside.
const WIDTH: usize = 100;

/// Codes that no file of a page shows when it is checked, and why. Those with transcripts are tried
/// by the tests of the command.
const NOT_BY_CHECKING: &[(&str, Shown, &str)] = &[
    ("E0102", Shown::ByCommand, "a file of 16 MiB fits no page"),
    ("E0103", Shown::ByCommand, "a page is UTF-8 itself"),
    (
        "E0104",
        Shown::ByCommand,
        "a control character would not show on the page either",
    ),
    (
        "E0404",
        Shown::ByCommand,
        "shows when a topology meets a cluster",
    ),
    (
        "E0408",
        Shown::ByCommand,
        "shows when a topology meets a cluster",
    ),
    (
        "E0802",
        Shown::ByCommand,
        "shows when a template is planned",
    ),
    (
        "E0902",
        Shown::ByCommand,
        "shapes stand on the command line",
    ),
    (
        "E1001",
        Shown::ByCommand,
        "depends on the buffer of the request",
    ),
    ("E1002", Shown::ByCommand, "is about a request"),
    ("E1004", Shown::InWords, "only a wrong planner leads to it"),
    ("W0501", Shown::InWords, "is not reported yet"),
];

/// How a page shows its code if not by an example that is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// By transcripts.
    ByCommand,
    /// By its text alone.
    InWords,
}

fn exception(code: Code) -> Option<Shown> {
    let listed = NOT_BY_CHECKING.iter().find(|e| e.0 == code.id());
    listed.map(|e| e.1)
}

fn text_of(code: Code) -> &'static str {
    pages::page(code).unwrap_or_else(|| panic!("{code} has no page"))
}

fn page_of(code: Code) -> Page<'static> {
    Page::parse(text_of(code)).unwrap_or_else(|e| panic!("{code}: {e}"))
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diagnostics/codes");
    let entries = std::fs::read_dir(folder).expect("the pages can be listed");
    let names = entries.map(|e| e.expect("a page has a name").file_name());
    let found: BTreeSet<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    let wanted: BTreeSet<String> = codes::ALL.iter().map(|c| format!("{c}.md")).collect();
    assert_eq!(found, wanted);
    for (id, _, why) in NOT_BY_CHECKING {
        assert!(Code::find(id).is_some(), "{id} is an exception and no code");
        assert!(!why.is_empty());
    }
}

#[test]
fn every_page_has_the_same_form() {
    for &code in codes::ALL {
        let page = page_of(code);
        assert_eq!(page.title, format!("# {code}: {}", code.title()));
        let paragraphs = page.prose.trim().split("\n\n").count();
        assert!(
            (1..=3).contains(&paragraphs),
            "{code}: {paragraphs} paragraphs"
        );
        for section in page.sections() {
            let runs = section.transcripts().count() > 0;
            assert_eq!(runs, exception(code) == Some(Shown::ByCommand), "{code}");
        }
        let mut transcript = false;
        for line in text_of(code).lines() {
            transcript = match line.strip_prefix("```") {
                Some(info) => info == "console",
                None => transcript,
            };
            let width = line.chars().count();
            assert!(
                transcript || width <= WIDTH,
                "{code}: {width} columns: {line}"
            );
            assert!(transcript || line == line.trim_end(), "{code}: {line:?}");
        }
        assert!(text_of(code).ends_with('\n'), "{code}");
        for other in codes_in(text_of(code)) {
            assert!(Code::find(&other).is_some(), "{code} names {other}");
        }
    }
}

/// Words that look like codes.
fn codes_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_code = |word: &&str| {
        let digits = word.strip_prefix(['E', 'W']);
        digits.is_some_and(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_digit()))
    };
    words.filter(is_code).map(str::to_owned).collect()
}

#[test]
fn wrong_examples_show_their_code_and_right_ones_nothing() {
    let mut faults = String::new();
    for &code in codes::ALL {
        let page = page_of(code);
        let mut expected = BTreeSet::new();
        if exception(code).is_none() {
            expected = also_reported(page.prose);
            expected.insert(code.id().to_owned());
            for section in page.sections() {
                assert!(section.files().count() > 0, "{code} has no example");
            }
        }
        for (section, expected) in page.sections().into_iter().zip([expected, BTreeSet::new()]) {
            let found = findings(section);
            let found_codes: BTreeSet<String> = found.iter().map(|f| f.0.clone()).collect();
            if found_codes != expected {
                let _ = writeln!(faults, "{code}: expected {expected:?}, found {found:?}");
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// The codes that the prose names behind `also reports`, up to the end of the sentence.
fn also_reported(prose: &str) -> BTreeSet<String> {
    let behind = prose.split_once("also reports").map_or("", |p| p.1);
    codes_in(behind.split('.').next().unwrap_or(""))
}

/// Code and message of what is found in the files of an example.
fn findings(section: &Section<'_>) -> Vec<(String, String)> {
    let files: Vec<(&str, &str)> = section.files().collect();
    if files.is_empty() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("there is a place for the example");
    let root = folder.path().join("example");
    for (path, text) in &files {
        let path = root.join(path);
        let parent = path.parent().expect("the root is above it");
        std::fs::create_dir_all(parent).expect("the example can be written");
        std::fs::write(&path, text).expect("the example can be written");
    }
    let (_, diagnostics) = check(load(request(&root, &files)));
    diagnostics
        .into_iter()
        .map(|d| (d.code.id().to_owned(), d.message))
        .collect()
}

/// What is checked: the only file; with libraries below `lib`, the folder `main`; else all.
fn request(root: &Path, files: &[(&str, &str)]) -> LoadRequest {
    let (mut named, mut libraries): (PathBuf, Vec<PathBuf>) = (root.to_owned(), Vec::new());
    if files.iter().any(|f| f.0.starts_with("lib/")) {
        named.push("main");
        libraries.push(root.join("lib"));
    } else if let [(path, _)] = files
        && path.ends_with(".coll")
    {
        named.push(path);
    }
    LoadRequest {
        paths: vec![named],
        libraries,
        ..LoadRequest::default()
    }
}

#[test]
fn examples_are_in_the_one_layout() {
    for &code in codes::ALL {
        let page = page_of(code);
        for block in page.sections().into_iter().flat_map(|s| &s.blocks) {
            if block.kind != "coll" {
                continue;
            }
            match format_file(block.text) {
                Ok(formatted) => assert_eq!(formatted, block.text, "{code}"),
                Err(FormatError::Unparsable) => assert!(code.id().starts_with("E01"), "{code}"),
                Err(error) => panic!("{code}: {error}"),
            }
        }
    }
}

/// The limits that pages state are those that hold.
#[test]
fn pages_state_the_limits() {
    let has = |code, text: String| {
        let prose = page_of(code).prose.replace('\n', " ");
        assert!(prose.contains(&text), "{code} does not say {text:?}");
    };
    has(codes::E0102, format!("{} MiB", MAX_FILE_BYTES >> 20));
    has(
        codes::E0105,
        format!(
            "brackets and expressions may be nested {MAX_BRACKET_DEPTH} deep, trees \
             {MAX_TREE_DEPTH} deep, comments {MAX_COMMENT_DEPTH} deep"
        ),
    );
}

#[test]
fn the_index_lists_every_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let wanted = index();
    if std::env::var_os("COLL_UPDATE").is_some() {
        std::fs::write(&path, &wanted).expect("the index can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found, wanted,
        "write it anew: COLL_UPDATE=1 cargo test -p coll-lang --test pages"
    );
}

/// What the codes of a family have in common.
const FAMILIES: &[(&str, &str)] = &[
    ("E01", "Syntax"),
    ("E02", "Names and libraries"),
    ("E03", "Ownership"),
    ("E04", "Topologies, levels, matching"),
    ("E05", "Weights and cutting"),
    ("E06", "Selection and conditions"),
    ("E08", "Templates"),
    ("E09", "Clusters"),
    ("E10", "Plans and limits"),
    ("W02", "Warnings about names"),
    ("W03", "Warnings about ownership"),
    ("W05", "Warnings about weights and cutting"),
];

/// The text of `docs/errors.md`.
fn index() -> String {
    let mut text = "# Diagnostics\n\n\
        Every finding has a code, which is never reused for something else. Codes that begin with\n\
        `E` are errors, those with `W` warnings. `collc explain CODE` prints the page of a code, by\n\
        its number or its name; `allow(CODE)` above an item silences a warning there.\n"
        .to_owned();
    let mut family = "";
    for &code in codes::ALL {
        if &code.id()[..3] != family {
            let known = FAMILIES.iter().find(|f| code.id().starts_with(f.0));
            let (prefix, title) = known.unwrap_or_else(|| panic!("{code} has no family"));
            family = prefix;
            let _ = write!(text, "\n## {prefix}: {title}\n\n");
            text.push_str("| code | name | meaning |\n|---|---|---|\n");
        }
        let (name, title) = (code.name(), code.title());
        let link = format!("../lang/src/diagnostics/codes/{code}.md");
        let _ = writeln!(text, "| [{code}]({link}) | `{name}` | {title} |");
    }
    text
}
