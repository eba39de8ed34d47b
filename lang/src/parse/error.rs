//! What is wrong with the text of an item.

use crate::diagnostics::{Applicability, Code, Diagnostic, Edit, Fix, Label};
use crate::source::{ItemId, Place, Span};

/// One finding of the parser. Its spans count from the first byte of the item, or of the file where
/// it belongs to no item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Its code, of the family E01.
    pub code: Code,
    /// The place that has to change.
    pub span: Span,
    /// One sentence without a full stop.
    pub message: String,
    /// A few words for the place itself; may be empty.
    pub label: String,
    /// Places that explain it.
    pub labels: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
    /// An edit that does it.
    pub fix: Option<SyntaxFix>,
}

/// An edit that removes a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFix {
    /// What it does, in the imperative.
    pub title: String,
    /// Replacements, in order; they do not overlap.
    pub edits: Vec<(Span, String)>,
    /// How sure it is.
    pub applicability: Applicability,
}

impl SyntaxError {
    pub(super) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            span,
            message: message.into(),
            label: String::new(),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    pub(super) fn here(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn safe_fix(self, title: impl Into<String>, span: Span, text: &str) -> Self {
        self.with_fix(title, span, text, Applicability::Safe)
    }

    pub(super) fn suggest(self, title: impl Into<String>, span: Span, text: &str) -> Self {
        self.with_fix(title, span, text, Applicability::Suggested)
    }

    fn with_fix(
        mut self,
        title: impl Into<String>,
        span: Span,
        text: &str,
        applicability: Applicability,
    ) -> Self {
        self.fix = Some(SyntaxFix {
            title: title.into(),
            edits: vec![(span, text.to_owned())],
            applicability,
        });
        self
    }

    /// The finding as a diagnostic of `item`.
    pub fn diagnostic(&self, item: ItemId) -> Diagnostic {
        let place = |span| Place { item, span };
        let mut diagnostic =
            Diagnostic::new(self.code, place(self.span), self.message.clone()).here(&*self.label);
        diagnostic.labels = self
            .labels
            .iter()
            .map(|(span, text)| Label {
                place: place(*span),
                text: text.clone(),
            })
            .collect();
        diagnostic.help.clone_from(&self.help);
        diagnostic.fixes = self
            .fix
            .iter()
            .map(|fix| Fix {
                title: fix.title.clone(),
                edits: fix
                    .edits
                    .iter()
                    .map(|(span, text)| Edit {
                        place: place(*span),
                        text: text.clone(),
                    })
                    .collect(),
                applicability: fix.applicability,
            })
            .collect();
        diagnostic
    }
}
