//! The rendering for people, made by miette over our file database.

use super::push;
use crate::diagnostics::{Diagnostic, Severity};
use crate::source::{FileId, SourceFile, SourceMap};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};
use std::fmt;

/// How the text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HumanOptions {
    /// Whether colours are used.
    pub color: bool,
    /// Whether box-drawing characters are used.
    pub unicode: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for HumanOptions {
    fn default() -> Self {
        Self {
            color: false,
            unicode: true,
            width: 80,
        }
    }
}

pub(super) fn render(
    out: &mut String,
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    options: HumanOptions,
) {
    let theme = match (options.unicode, options.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(options.width)
        .with_links(false)
        .with_context_lines(1);
    let (file, _) = sources.locate(diagnostic.primary.place);
    let report = Report::new(diagnostic, sources, file);
    if handler.render_report(out, &report).is_err() {
        push(
            out,
            format_args!("{}: {}\n", diagnostic.code, diagnostic.message),
        );
    }
    out.push('\n');
}

/// A diagnostic, as miette asks for it: the labels of one file, those of others as related reports.
struct Report<'a> {
    severity: miette::Severity,
    code: Option<String>,
    message: &'a str,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: FileSource<'a>,
    related: Vec<Report<'a>>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap, file: FileId) -> Self {
        let mut labels = Vec::new();
        let mut related: Vec<(FileId, Self)> = Vec::new();
        let all = std::iter::once(&diagnostic.primary).chain(&diagnostic.labels);
        for (i, label) in all.enumerate() {
            let (at, span) = sources.locate(label.place);
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let range: SourceSpan = (span.start as usize, (span.end - span.start) as usize).into();
            let labeled = match i {
                0 => LabeledSpan::new_primary_with_span(text, range),
                _ => LabeledSpan::new_with_span(text, range),
            };
            if at == file {
                labels.push(labeled);
            } else if let Some((_, report)) = related.iter_mut().find(|r| r.0 == at) {
                report.labels.push(labeled);
            } else {
                let text = match label.text.as_str() {
                    "" => "see here",
                    text => text,
                };
                let labeled = LabeledSpan::new_with_span(None, range);
                related.push((at, Self::elsewhere(text, labeled, sources.file(at))));
            }
        }
        let mut help: Vec<String> = diagnostic.notes.clone();
        help.extend(diagnostic.help.clone());
        Self {
            severity: match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            },
            code: Some(format!("{} {}", diagnostic.code, diagnostic.code.name())),
            message: &diagnostic.message,
            help: (!help.is_empty()).then(|| help.join("\n")),
            labels,
            source: FileSource(sources.file(file)),
            related: related.into_iter().map(|r| r.1).collect(),
        }
    }

    /// What is said at a place of another file.
    fn elsewhere(text: &'a str, label: LabeledSpan, file: &'a SourceFile) -> Self {
        Self {
            severity: miette::Severity::Advice,
            code: None,
            message: text,
            help: None,
            labels: vec![label],
            source: FileSource(file),
            related: Vec::new(),
        }
    }
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.code
            .as_ref()
            .map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help
            .as_ref()
            .map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related(&self) -> Option<Box<dyn Iterator<Item = &dyn miette::Diagnostic> + '_>> {
        Some(Box::new(
            self.related.iter().map(|r| r as &dyn miette::Diagnostic),
        ))
    }
}

/// A file as miette asks for it: found by our line index instead of a scan from the first byte.
struct FileSource<'a>(&'a SourceFile);

impl SourceCode for FileSource<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let file = self.0;
        if span.offset() + span.len() > file.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let starts = file.line_starts();
        let first = file.line_index(span.offset() as u32);
        let last = file.line_index((span.offset() + span.len().saturating_sub(1)) as u32);
        let from = first.saturating_sub(before);
        let line_end = |line: usize| {
            starts
                .get(line + 1)
                .map_or(file.text.len(), |&s| s as usize)
        };
        let start = if before == 0 {
            span.offset()
        } else {
            starts[from] as usize
        };
        let end = line_end((last + after).min(starts.len() - 1));
        let column = match before {
            0 => file.line_column(span.offset() as u32).column as usize - 1,
            _ => 0,
        };
        Ok(Box::new(MietteSpanContents::new_named(
            file.name.to_string(),
            &file.text.as_bytes()[start..end],
            (start, end - start).into(),
            from,
            column,
            starts.len(),
        )))
    }
}
