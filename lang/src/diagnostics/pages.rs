//! The pages of the codes, embedded in the program.

use super::Code;
use include_dir::{Dir, include_dir};

static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/diagnostics/codes");

/// The Markdown page of a code: what it means, a wrong and a corrected example.
pub fn page(code: Code) -> Option<&'static str> {
    PAGES.get_file(format!("{code}.md"))?.contents_utf8()
}
