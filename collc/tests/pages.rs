//! The pages of the codes that only a command shows: their transcripts are what the command prints.
//!
//! They are tried in copies, so a page that is not up to date is mended by hand.

#[path = "../../lang/tests/common/page.rs"]
mod page;

use coll_lang::diagnostics::{Code, codes, pages};
use page::Page;
use std::fs;
use std::path::Path;

#[test]
fn transcripts_of_pages_are_what_the_command_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = 0;
    for &code in codes::ALL {
        let text = pages::page(code).unwrap();
        let page = Page::parse(text).unwrap();
        if page.sections().iter().all(|s| s.transcripts().count() == 0) {
            continue;
        }
        assert!(
            page.prose.len() > 100 && page.title.contains(code.id()),
            "{code}"
        );
        for transcript in page.wrong.transcripts() {
            assert!(transcript.contains(code.id()), "{transcript}");
            assert!(
                transcript.contains("\n? "),
                "{code} ends well: {transcript}"
            );
        }
        for transcript in page.right.transcripts() {
            assert!(!transcript.contains("\n? "), "{code} fails: {transcript}");
        }
        fs::write(folder.path().join(format!("{code}.md")), text).unwrap();
        let beside = folder.path().join(format!("{code}.in"));
        fs::create_dir(&beside).unwrap();
        for (path, text) in page.sections().iter().flat_map(|s| s.files()) {
            fs::write(beside.join(path), text).unwrap();
        }
        prepare(code, &beside);
        written += 1;
    }
    assert!(written > 5, "only {written} pages have transcripts");
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .case(folder.path().join("*.md").to_str().unwrap())
        .run();
}

/// Writes those files that cannot stand on a page, from the right ones beside them.
fn prepare(code: Code, folder: &Path) {
    let right = || fs::read_to_string(folder.join("right.coll")).expect("the right file is there");
    let wrong = match code.id() {
        "E0102" => vec![b'\n'; (16 << 20) + 1],
        "E0103" => right()
            .chars()
            .map(|c| u8::try_from(u32::from(c)).expect("it is Latin-1"))
            .collect(),
        "E0104" => right().replacen(';', ";\u{c}", 1).into_bytes(),
        _ => return,
    };
    fs::write(folder.join("wrong.coll"), wrong).expect("the wrong file can be written");
}
