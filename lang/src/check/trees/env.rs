//! The names around a tree.

use crate::check::value::Value;
use crate::library::{LevelRef, ModuleId, ParameterKind};
use crate::resolve::Symbols;
use crate::source::{ItemId, Place, Span};
use smol_str::SmolStr;

pub(super) enum Bound {
    Level(LevelRef),
    Templates(Symbols),
    Value(Value),
    /// A parameter of a tree that is checked by itself: nothing is known but its kind.
    Any(ParameterKind),
    /// Wrong, and reported.
    Broken,
}

/// The names around a tree: parameters and loop variables.
pub(super) struct Env {
    pub(super) module: ModuleId,
    pub(super) item: ItemId,
    pub(super) bound: Vec<(SmolStr, Bound)>,
}

impl Env {
    pub(super) fn new(module: ModuleId, item: ItemId) -> Self {
        Self {
            module,
            item,
            bound: Vec::new(),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Bound> {
        self.bound.iter().rev().find(|b| b.0 == name).map(|b| &b.1)
    }

    /// The values among the names.
    pub(super) fn values(&self) -> Vec<(SmolStr, Value)> {
        let values = self.bound.iter().filter_map(|(name, bound)| match bound {
            Bound::Value(value) => Some((name.clone(), value.clone())),
            _ => None,
        });
        values.collect()
    }

    /// The names among them that stand for levels.
    pub(super) fn levels(&self) -> impl Iterator<Item = &str> {
        self.bound.iter().filter_map(|(name, bound)| match bound {
            Bound::Level(_) | Bound::Any(ParameterKind::Level) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether a name is a parameter without a value: its tree is checked by itself, or the argument
    /// was wrong.
    pub(super) fn is_unknown(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Bound::Any(_) | Bound::Broken))
    }

    pub(super) fn place(&self, span: Span) -> Place {
        Place {
            item: self.item,
            span,
        }
    }
}

impl Bound {
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Level(_) | Self::Any(ParameterKind::Level) => "a level",
            Self::Templates(_) | Self::Any(ParameterKind::Template) => "a template",
            Self::Value(_) | Self::Any(ParameterKind::Int) => "a number",
            Self::Broken => "wrong",
        }
    }
}
