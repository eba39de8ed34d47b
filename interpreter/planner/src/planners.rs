//! Finding the planner of a template.

use crate::native::Native;
use crate::schedule::Schedule;
use coll_lang::diagnostics::codes::{self, Code};
use coll_lang::library::{Library, TemplateArg, TemplateBody, TemplateId};
use coll_lang::words::Operation;
use smol_str::SmolStr;

/// What a planner is asked: the part of one member in one operation on one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The operation of this stage.
    pub op: Operation,
    /// Members of the level.
    pub n: u32,
    /// The index of the member that is asked for; below `n`.
    pub me: u32,
    /// The index of the member with the root's coordinates; 0 for operations without a root.
    pub root: u32,
}

/// Why a planner has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The template does not plan this operation.
    #[error("template {template} does not plan {op}")]
    Operation {
        /// The template's name.
        template: SmolStr,
        /// The operation.
        op: Operation,
    },
    /// No planner goes by the template's name.
    #[error(
        "template {template} has no planner; native planners are {}",
        Native::names()
    )]
    NoPlanner {
        /// The template's name.
        template: SmolStr,
    },
    /// The member does not exist in its level.
    #[error("member {me} is asked for in a level of {n}")]
    NoSuchMember {
        /// The index asked for.
        me: u32,
        /// Members of the level.
        n: u32,
    },
}

impl PlanError {
    /// The code of the diagnostic that says so.
    pub fn code(&self) -> Code {
        match self {
            Self::Operation { .. } => codes::E0801,
            Self::NoPlanner { .. } => codes::E0802,
            Self::NoSuchMember { .. } => codes::E1002,
        }
    }
}

/// The planners of a library's templates.
pub trait Planners {
    /// The template's name.
    fn name(&self, template: TemplateId) -> SmolStr;

    /// Plans one member's part by `template`, to which `args` are passed.
    ///
    /// # Errors
    /// [`PlanError`] when the template cannot plan this.
    fn plan(
        &self,
        template: TemplateId,
        args: &[TemplateArg],
        task: Task,
    ) -> Result<Schedule, PlanError>;
}

/// Planners of templates that are planned natively, by template number.
#[derive(Clone, Debug, Default)]
pub struct NativePlanners {
    templates: Vec<(SmolStr, Option<Native>)>,
}

impl NativePlanners {
    /// The native planners of a library's templates.
    pub fn of(library: &Library) -> Self {
        let entry = |template: &coll_lang::library::Template| {
            let name = template.declared.name.clone();
            let native = match template.body {
                TemplateBody::Native => Native::find(&name),
                TemplateBody::Written => None,
            };
            (name, native)
        };
        Self {
            templates: library.templates.iter().map(entry).collect(),
        }
    }

    /// Templates numbered in the order of `names`.
    pub fn named(names: &[&str]) -> Self {
        let entry = |&name: &&str| (name.into(), Native::find(name));
        Self {
            templates: names.iter().map(entry).collect(),
        }
    }
}

impl Planners for NativePlanners {
    fn name(&self, template: TemplateId) -> SmolStr {
        self.templates
            .get(template.index())
            .map_or_else(|| SmolStr::new_static("?"), |(name, _)| name.clone())
    }

    fn plan(
        &self,
        template: TemplateId,
        _args: &[TemplateArg],
        task: Task,
    ) -> Result<Schedule, PlanError> {
        let native = self.templates.get(template.index()).and_then(|t| t.1);
        let native = native.ok_or_else(|| PlanError::NoPlanner {
            template: self.name(template),
        })?;
        native.plan(task)
    }
}
