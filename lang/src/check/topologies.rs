//! Topologies: their levels, their requirements, and the depths of clusters they fit.

use super::compile::{Asker, Purpose};
use super::context::ModuleChecker;
use super::instantiate::{Instance, MAX_DEPTH, Unfit, instances};
use crate::contract::Dims;
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{LevelDef, LevelForm, Topology};
use crate::resolve::{LoadedItem, Symbol};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{self, Expr, ExprKind, Level, NetBound, NetRange, TopologyStmt};
use coll_grammar::number::Dimension;

/// A topology and its levels at every depth at which it is checked.
#[derive(Clone, Debug)]
pub(super) struct CheckedTopology {
    pub(super) topology: Topology,
    /// Empty if the topology is wrong.
    pub(super) instances: Vec<Instance>,
    /// Whether some of its statements did not parse or have errors: unknown levels are then not
    /// reported.
    pub(super) incomplete: bool,
}

/// Layers from `0` or the first to the last, none for the outermost.
type Range = (Option<u32>, Option<u32>);

impl ModuleChecker<'_, '_> {
    pub(super) fn topology(
        &mut self,
        item: &LoadedItem,
        symbol: &Symbol,
        ast: &ast::Topology,
    ) -> CheckedTopology {
        let known = self.diagnostics.len();
        let mut levels: Vec<LevelDef> = Vec::new();
        let mut requires = Vec::new();
        let mut incomplete = !item.parsed.is_sound();
        let asker = Asker {
            module: self.module,
            item: item.id,
            purpose: Purpose::Topology,
            levels: None,
            values: &[],
        };
        for stmt in &ast.body {
            match stmt {
                TopologyStmt::Level(level) => match self.level(item.id, level) {
                    Some(level) => self.add_level(&mut levels, level),
                    None => incomplete = true,
                },
                TopologyStmt::Require(require) => requires.extend(self.require(require, asker)),
                TopologyStmt::Error(_) => incomplete = true,
            }
        }
        self.check_forms(&levels, symbol.place, incomplete);
        let mut topology = Topology {
            declared: self.declared(item, symbol, known),
            levels,
            requires,
        };
        let mut instances = Vec::new();
        if topology.declared.sound {
            instances = self::instances(&topology);
            if instances.is_empty() {
                let diagnostic = fits_nothing(&topology);
                self.report(diagnostic);
                topology.declared.sound = false;
            }
        }
        CheckedTopology {
            topology,
            instances,
            incomplete,
        }
    }

    fn add_level(&mut self, levels: &mut Vec<LevelDef>, level: LevelDef) {
        let clash = levels.iter().find(|other| {
            other.name == level.name
                || other.family && is_member(&level, other)
                || level.family && is_member(other, &level)
        });
        if let Some(other) = clash {
            let message = match other.name == level.name {
                true => format!("the level `{}` is declared twice", level.name),
                false => format!("`{}` is a level of a family too", shorter(&level, other)),
            };
            let diagnostic = Diagnostic::new(codes::E0405, level.place, message)
                .label(other.place, "first declared here");
            self.report(diagnostic);
        }
        levels.push(level);
    }

    fn level(&mut self, item: ItemId, level: &Level) -> Option<LevelDef> {
        let place = Self::place(item, level.name.span);
        if level.name.text == "top" {
            self.report(Diagnostic::new(
                codes::E0407,
                place,
                "a level cannot be called `top`: that is the last level of a family",
            ));
            return None;
        }
        let form = match &level.form {
            ast::LevelForm::Rest(_) => LevelForm::Rest,
            ast::LevelForm::All(_) => LevelForm::All,
            ast::LevelForm::Gcd(range, span) => {
                let (first, last) = self.layers(item, range)?;
                match (first, last) {
                    (Some(net), Some(same)) if net == same && range.last.is_none() => {
                        LevelForm::Gcd(net)
                    }
                    _ => {
                        let place = Self::place(item, *span);
                        self.report(
                            Diagnostic::new(codes::E0407, place, "`gcd` cuts one numbered layer")
                                .help("write `gcd(net 0)`"),
                        );
                        return None;
                    }
                }
            }
            ast::LevelForm::Net(range) if matches!(range.first, NetBound::Star(_)) => {
                LevelForm::EachNet
            }
            ast::LevelForm::Net(range) => {
                let (first, last) = self.layers(item, range)?;
                LevelForm::Nets { first, last }
            }
        };
        self.check_star(item, level, form)?;
        Some(LevelDef {
            name: level.name.text.clone(),
            place,
            family: level.star,
            optional: level.optional,
            form,
            via: level.via.as_ref().map(|v| v.text.clone()),
        })
    }

    /// `L* = net *`: both stars or none.
    fn check_star(&mut self, item: ItemId, level: &Level, form: LevelForm) -> Option<()> {
        let name = &level.name.text;
        let (message, help) = match (level.star, form == LevelForm::EachNet) {
            (true, true) if level.optional => (
                "a family has as many levels as there are layers, so it cannot be optional"
                    .to_owned(),
                "remove `optional`".to_owned(),
            ),
            (true, true) | (false, false) => return Some(()),
            (true, false) => (
                format!("`{name}*` is a family, which has one level per layer"),
                format!("write `level {name}* = net *;`, or remove the star"),
            ),
            (false, true) => (
                "`net *` makes one level per layer, so the level needs a name for each".to_owned(),
                format!("write `level {name}* = net *;`, or `all` for one level of all layers"),
            ),
        };
        let place = Self::place(item, level.span);
        let mut diagnostic = Diagnostic::new(codes::E0407, place, message).help(help);
        let behind = Self::place(item, Span::new(level.name.span.end, level.name.span.end));
        let form = match &level.form {
            ast::LevelForm::Net(range) => Some(Self::place(item, range.span)),
            _ => None,
        };
        if !level.star {
            diagnostic = diagnostic.suggest("make it a family", behind, "*");
        } else if let (false, Some(form)) = (level.optional, form) {
            diagnostic = diagnostic.suggest("name all layers", form, "net *");
        }
        self.report(diagnostic);
        None
    }

    /// The layers of a range, in order.
    fn layers(&mut self, item: ItemId, range: &NetRange) -> Option<Range> {
        let first = self.layer(item, &range.first)?;
        let last = match &range.last {
            Some(last) => self.layer(item, last)?,
            None => first,
        };
        let backwards = match (first, last) {
            (Some(a), Some(b)) => a > b,
            (None, Some(_)) => true,
            _ => false,
        };
        if backwards {
            let place = Self::place(item, range.span);
            self.report(
                Diagnostic::new(
                    codes::E0407,
                    place,
                    "the layers run from the inner to the outer",
                )
                .help("exchange the two ends"),
            );
            return None;
        }
        Some((first, last))
    }

    /// The number of a layer; none for `top`.
    fn layer(&mut self, item: ItemId, bound: &NetBound) -> Option<Option<u32>> {
        let (value, span) = match bound {
            NetBound::Number(number, span) => (u64::from(*number), *span),
            NetBound::Name(name) if name.text == "top" => return Some(None),
            NetBound::Star(span) => {
                let place = Self::place(item, *span);
                self.report(
                    Diagnostic::new(
                        codes::E0407,
                        place,
                        "`*` stands for all layers, not for one",
                    )
                    .help("write `top` for the outermost layer"),
                );
                return None;
            }
            NetBound::Name(name) => {
                let parts = vec![name.clone()];
                let expr = Expr {
                    span: name.span,
                    kind: ExprKind::Path(ast::Path { parts }),
                };
                (self.layer_number(item, &expr)?, name.span)
            }
            NetBound::Expr(expr) => (self.layer_number(item, expr)?, expr.span),
        };
        if value >= u64::from(MAX_DEPTH) {
            let place = Self::place(item, span);
            let message = format!("there is no layer {value}: clusters have at most {MAX_DEPTH}");
            self.report(Diagnostic::new(codes::E0407, place, message).help("layers count from 0"));
            return None;
        }
        Some(Some(value as u32))
    }

    fn layer_number(&mut self, item: ItemId, expr: &Expr) -> Option<u64> {
        let code = codes::E0506;
        let number = self.quantity(
            item,
            expr,
            Dimension::NONE,
            "a layer's number",
            "net 0",
            code,
        )?;
        let whole = number.to_u64();
        if whole.is_none() {
            let message =
                format!("a layer's number is a whole number from 0, and this is {number}");
            let place = Self::place(item, expr.span);
            self.report(Diagnostic::new(codes::E0407, place, message));
        }
        whole
    }

    /// Rules between levels.
    fn check_forms(&mut self, levels: &[LevelDef], topology: Place, incomplete: bool) {
        if levels.is_empty() && !incomplete {
            self.report(
                Diagnostic::new(codes::E0407, topology, "the topology has no levels")
                    .help("declare one, such as `level L0 = all;`"),
            );
        }
        for form in ["gcd", "rest"] {
            let mut same = levels.iter().filter(|l| match l.form {
                LevelForm::Gcd(_) => form == "gcd",
                LevelForm::Rest => form == "rest",
                _ => false,
            });
            if let (Some(first), Some(second)) = (same.next(), same.next()) {
                self.report(
                    Diagnostic::new(
                        codes::E0407,
                        second.place,
                        format!("a topology has at most one level with `{form}`"),
                    )
                    .label(first.place, "the first one"),
                );
            }
        }
        let gcd = levels.iter().find_map(|l| match l.form {
            LevelForm::Gcd(net) => Some((l, net)),
            _ => None,
        });
        let Some((gcd, net)) = gcd else { return };
        for level in levels {
            let reaches = match level.form {
                LevelForm::EachNet => true,
                LevelForm::Nets { last, .. } => last.is_none_or(|last| last >= net),
                _ => false,
            };
            if reaches {
                self.report(
                    Diagnostic::new(
                        codes::E0406,
                        level.place,
                        format!(
                            "`{}` names layers from {net} on, which `{}` cuts into chunks",
                            level.name, gcd.name
                        ),
                    )
                    .label(
                        gcd.place,
                        format!("layer {net} and those above become two dimensions"),
                    )
                    .help("join what is left over by `rest`"),
                );
            }
        }
    }
}

/// Whether `level` has the name of a member of `family`.
fn is_member(level: &LevelDef, family: &LevelDef) -> bool {
    member_number(&family.name, &level.name).is_some()
}

/// The number behind the name of a family: 2 for `L2` in `L*`.
pub(super) fn member_number(family: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(family)?;
    let plain = digits == "0" || !digits.starts_with('0');
    let digits = digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(digits)
        .filter(|_| plain)?;
    digits.parse().ok()
}

fn shorter<'a>(a: &'a LevelDef, b: &'a LevelDef) -> &'a str {
    if a.family { &b.name } else { &a.name }
}

/// Why a topology matches no cluster at all.
fn fits_nothing(topology: &Topology) -> Diagnostic {
    let place = topology.declared.place;
    let outcomes: Vec<(u32, Result<Instance, Unfit>)> = (1..=MAX_DEPTH)
        .map(|depth| (depth, Instance::new(topology, depth)))
        .collect();
    let uncovered = outcomes.iter().find_map(|(_, o)| o.as_ref().ok());
    if let Some(instance) = uncovered {
        let open = Dims::first(instance.dims).without(instance.covered());
        let gcd = topology.levels.iter().find_map(|l| match l.form {
            LevelForm::Gcd(net) => Some(net),
            _ => None,
        });
        let names: Vec<String> = open
            .iter()
            .map(|d| match gcd {
                Some(net) if d == net + 1 => format!("the chunks of net {net}"),
                _ => format!("net {d}"),
            })
            .collect();
        let names = names.join(", ");
        return Diagnostic::new(codes::E0402, place, format!("no level joins {names}"))
            .note("every dimension of a cluster must be joined by some level")
            .help(match gcd {
                Some(_) => "add a level such as `level L1 = rest;`".to_owned(),
                None => format!(
                    "add a level such as `level L = {};`",
                    names.replace(", ", "..")
                ),
            });
    }
    let mut diagnostic = Diagnostic::new(
        codes::E0403,
        place,
        format!("no cluster of 1 to {MAX_DEPTH} layers matches this topology"),
    );
    let mut said = Vec::new();
    for (depth, outcome) in &outcomes {
        let (place, text) = match outcome {
            Err(Unfit::Requirement { clause }) => (
                topology.requires[*clause as usize].place,
                format!("does not hold with {depth} {}", layers_word(*depth)),
            ),
            Err(Unfit::NoLayer { level, layer }) => (
                topology.levels[*level as usize].place,
                format!(
                    "needs layer {layer}, which is not there with {depth} {}",
                    layers_word(*depth)
                ),
            ),
            _ => continue,
        };
        if !said.contains(&place) {
            said.push(place);
            diagnostic = diagnostic.label(place, text);
        }
    }
    diagnostic
}

fn layers_word(count: u32) -> &'static str {
    if count == 1 { "layer" } else { "layers" }
}
