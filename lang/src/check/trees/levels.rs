//! Levels in trees: loops over them, assertions about them, and what their names mean.

use super::{Bound, Builder, Env};
use crate::check::context::{Fault, fault, unknown_word};
use crate::check::topologies::{CheckedTopology, member_number};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{LevelRef, NodeKind, ParameterKind};
use crate::nearest::{listed, nearest};
use crate::source::Place;
use crate::syntax::ast::{self, Name};
use coll_grammar::words::StateWord;

impl Builder<'_, '_, '_> {
    pub(super) fn for_levels(
        &mut self,
        var: &Name,
        ends: [&Name; 2],
        (reverse, inclusive): (bool, bool),
        body: &ast::Tree,
        env: &mut Env,
    ) -> Option<NodeKind> {
        if env.find(&var.text).is_some() {
            let message = format!("the variable `{}` hides another", var.text);
            self.report(
                Diagnostic::new(codes::E0212, env.place(var.span), message)
                    .help("rename one of them"),
            );
        } else if self.call.is_none() {
            let known = self.checker.diagnostics.len();
            self.checker.check_hides(env.item, var, "variable");
            self.broken |= self.checker.diagnostics.len() > known;
        }
        let number = self.vars;
        self.vars += 1;
        let range = self.range(ends, env);
        env.bound
            .push((var.text.clone(), Bound::Level(LevelRef::Var(number))));
        let body = self.node(body, env, true);
        env.bound.pop();
        let [first, last] = range?;
        Some(NodeKind::For {
            var: number,
            first,
            last,
            exclusive: !inclusive,
            reverse,
            body,
        })
    }

    /// The two ends of a loop, which belong to one family, or are declared one by one.
    pub(super) fn range(&mut self, ends: [&Name; 2], env: &Env) -> Option<[LevelRef; 2]> {
        let mut found = Vec::new();
        for end in ends {
            match self.level(end, env) {
                Ok(level) => found.push(level),
                Err(diagnostic) => self.fault(diagnostic),
            }
        }
        let [first, last] = found.try_into().ok()?;
        let family = |level: LevelRef| match level {
            LevelRef::Member { family, .. } | LevelRef::Top(family) => Ok(Some(family)),
            LevelRef::Declared(_) => Ok(None),
            LevelRef::Var(_) | LevelRef::Flat(_) => Err(()),
        };
        if matches!((family(first), family(last)), (Ok(a), Ok(b)) if a == b) {
            return Some([first, last]);
        }
        let [a, b] = ends;
        let message = format!(
            "`{}` and `{}` are not ends of one range of levels",
            a.text, b.text
        );
        self.report(
            Diagnostic::new(codes::E0401, env.place(a.span.to(b.span)), message)
                .help("a loop runs over the levels of one family, or over levels in the order in which they are declared"),
        );
        None
    }

    pub(super) fn assertion(&mut self, states: &[ast::StateSet], env: &Env) -> Option<NodeKind> {
        let mut asserted = Vec::new();
        let mut complete = true;
        for set in states {
            let state = StateWord::parse(&set.state.text);
            if state.is_none() {
                let place = env.place(set.state.span);
                let words = StateWord::SPELLINGS;
                let diagnostic = unknown_word(place, &set.state.text, "a state of data", words);
                self.report(diagnostic);
            }
            let mut levels = Vec::new();
            for level in &set.levels {
                match self.level(level, env) {
                    Ok(level) => levels.push(level),
                    Err(diagnostic) => {
                        complete = false;
                        self.fault(diagnostic);
                    }
                }
            }
            asserted.extend(state.map(|state| (state, levels)));
        }
        complete.then_some(NodeKind::Assert(asserted))
    }

    /// The level that a name in a tree stands for.
    ///
    /// # Errors
    /// What is wrong with it; nothing if it is not known which levels there are.
    pub(super) fn level(&self, name: &Name, env: &Env) -> Result<LevelRef, Fault> {
        match env.find(&name.text) {
            None => {}
            Some(Bound::Level(level)) => return Ok(*level),
            Some(Bound::Broken | Bound::Any(ParameterKind::Level)) => return Err(None),
            Some(other) => {
                let message = format!(
                    "`{}` is {}, and a level is needed here",
                    name.text,
                    other.noun()
                );
                let place = env.place(name.span);
                return Err(fault(Diagnostic::new(codes::E0203, place, message)));
            }
        }
        let Some(topology) = self.topology else {
            return Err(None);
        };
        let place = env.place(name.span);
        find_level(topology, name, place, env.levels())
    }

    /// The names that levels have here.
    pub(super) fn level_names(&self, env: &Env) -> Vec<String> {
        self.topology
            .map(|topology| level_names(topology, env.levels()))
            .unwrap_or_default()
    }
}

/// The level of a topology that `name` at `place` stands for: a declared one, a member of a family, or
/// `top`. `around` are names of levels that could stand there too.
///
/// # Errors
/// That there is none; nothing where the topology itself is wrong.
pub(in crate::check) fn find_level<'n>(
    topology: &CheckedTopology,
    name: &Name,
    place: Place,
    around: impl Iterator<Item = &'n str>,
) -> Result<LevelRef, Fault> {
    let text = name.text.as_str();
    if let Some(level) = level_named(topology, text) {
        return Ok(level);
    }
    if topology.incomplete {
        return Err(None);
    }
    let declared = &topology.topology.declared;
    let message = match text {
        "top" => format!(
            "`top` is the last level of a family, and `{}` has none",
            declared.name
        ),
        _ => format!("the topology `{}` has no level `{text}`", declared.name),
    };
    let all = level_names(topology, around);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let diagnostic = Diagnostic::new(codes::E0401, place, message)
        .label(declared.place, format!("its levels are {}", listed(&all)));
    Err(fault(match nearest(text, all.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).suggest(
            format!("replace with `{near}`"),
            place,
            near,
        ),
        None => diagnostic.help(format!("levels: {}", listed(&all))),
    }))
}

/// Names of a topology's levels, of families the first two and the last, and those `around`.
fn level_names<'n>(
    topology: &CheckedTopology,
    around: impl Iterator<Item = &'n str>,
) -> Vec<String> {
    let declared = topology
        .topology
        .levels
        .iter()
        .flat_map(|level| match level.family {
            true => vec![
                format!("{}0", level.name),
                format!("{}1", level.name),
                "top".to_owned(),
            ],
            false => vec![level.name.to_string()],
        });
    declared.chain(around.map(str::to_owned)).collect()
}

fn level_named(topology: &CheckedTopology, name: &str) -> Option<LevelRef> {
    let levels = || topology.topology.levels.iter().zip(0u32..);
    if name == "top" {
        let family = levels().find(|(level, _)| level.family);
        return family.map(|(_, family)| LevelRef::Top(family));
    }
    let declared = levels().find(|(level, _)| !level.family && level.name == name);
    if let Some((_, declared)) = declared {
        return Some(LevelRef::Declared(declared));
    }
    levels()
        .filter(|(level, _)| level.family)
        .find_map(|(level, family)| {
            let net = member_number(&level.name, name)?;
            Some(LevelRef::Member { family, net })
        })
}
