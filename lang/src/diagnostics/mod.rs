//! What is said about a place in the source: one model, several renderings.
//!
//! Everything that finds a fault makes a [`Diagnostic`]; only [`render`] turns it into text.

use crate::source::Place;

pub mod codes;
pub mod pages;
pub mod render;

pub use codes::Code;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The library cannot be used as it is.
    Error,
    /// It can be used, but something is probably not meant.
    Warning,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What; lower case, no full stop.
    pub text: String,
}

/// Replaces the text of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub place: Place,
    /// The new text.
    pub text: String,
}

/// How sure a fix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Applicability {
    /// Certainly what was meant: may be applied without asking.
    Safe,
    /// Plausible: shown, applied on request.
    Suggested,
}

/// An edit of the source that removes the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in the imperative: `replace with nhr`.
    pub title: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
    /// How sure it is.
    pub applicability: Applicability,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a full stop: what is wrong, with the values.
    pub message: String,
    /// The place that has to change.
    pub primary: Label,
    /// Places that explain it.
    pub labels: Vec<Label>,
    /// Further facts, a paragraph each.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// Edits that do it.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// A finding with the severity of its code, at `place`.
    pub fn new(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Label {
                place,
                text: String::new(),
            },
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fixes: Vec::new(),
        }
    }

    /// Says `text` at the primary place.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a place that explains.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
        });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a fix of one edit that the author has to confirm.
    #[must_use]
    pub fn suggest(self, title: impl Into<String>, place: Place, text: impl Into<String>) -> Self {
        self.fix(
            title,
            vec![Edit {
                place,
                text: text.into(),
            }],
            Applicability::Suggested,
        )
    }

    /// Adds a fix.
    #[must_use]
    pub fn fix(
        mut self,
        title: impl Into<String>,
        edits: Vec<Edit>,
        applicability: Applicability,
    ) -> Self {
        self.fixes.push(Fix {
            title: title.into(),
            edits,
            applicability,
        });
        self
    }
}
