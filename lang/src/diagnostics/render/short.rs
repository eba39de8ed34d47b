//! The one-line rendering, made by codespan-reporting over our file database.

use super::push;
use crate::diagnostics::{Diagnostic, Severity};
use crate::source::{FileId, SourceMap};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, Config, DisplayStyle};
use std::ops::Range;

pub(super) fn render(out: &mut String, diagnostic: &Diagnostic, sources: &SourceMap) {
    let (file, span) = sources.locate(diagnostic.primary.place);
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let converted = codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code.id())
        .with_message(diagnostic.message.replace('\n', " "))
        .with_label(codespan::Label::primary(file, span.range()));
    let config = Config {
        display_style: DisplayStyle::Short,
        ..Config::default()
    };
    if let Err(error) = term::emit_to_string(out, &config, &Adapter(sources), &converted) {
        push(out, format_args!("{}: {error}\n", diagnostic.code));
    }
}

/// Our files, as codespan-reporting asks for them.
struct Adapter<'a>(&'a SourceMap);

impl<'a> Files<'a> for Adapter<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.file(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.file(id).text)
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        Ok(self.0.file(id).line_index(byte as u32))
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, Error> {
        let file = self.0.file(id);
        let starts = file.line_starts();
        let start = *starts.get(line).ok_or(Error::LineTooLarge {
            given: line,
            max: starts.len().saturating_sub(1),
        })?;
        let end = starts
            .get(line + 1)
            .map_or(file.text.len(), |&end| end as usize);
        Ok(start as usize..end)
    }
}
