//! The formatter: one layout, stable, nothing lost.

mod common;

use coll_lang::syntax::print::{format_file, format_item};
use common::{check_format, corpus};

#[test]
fn every_corpus_file_keeps_its_meaning_and_comments() {
    for (name, text) in corpus() {
        let formatted = format_file(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            formatted.ends_with('\n') && !formatted.ends_with("\n\n"),
            "{name}"
        );
        check_format(&text);
        check_format(&text.replace('\n', "\r\n"));
        check_format(&text.split_whitespace().collect::<Vec<_>>().join("\n"));
    }
}
