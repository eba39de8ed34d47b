//! What `collc run` says.

use super::leaves;
use crate::cli::Format;
use crate::output::Output;
use coll_executor::{Prepared, Request};
use coll_lang::contract::{Contract, check_tree, describe_contract};
use coll_lang::library::{Algorithm, Library};
use coll_local::Outcome;
use serde_json::{Value, json};

/// A finished run.
pub(super) struct Report<'a> {
    pub(super) library: &'a Library,
    pub(super) algorithm: &'a Algorithm,
    pub(super) prepared: &'a Prepared,
    pub(super) request: &'a Request,
    pub(super) on: &'a str,
    pub(super) outcome: &'a Outcome,
}

impl Report<'_> {
    pub(super) fn print(&self, output: &mut Output) {
        match output.format() {
            Format::Json => output.json(&self.to_json()),
            _ => self.print_human(output),
        }
    }

    fn print_human(&self, output: &mut Output) {
        let outcome = self.outcome;
        output.line(format_args!(
            "{} ({}) on {}: {}, {} {} each, {}",
            self.algorithm.declared.name,
            self.algorithm.op,
            self.on,
            plural(u64::from(self.ranks()), "rank"),
            grouped(self.request.count),
            self.request.dtype,
            plural(outcome.loops, "loop"),
        ));
        let contracts = self.contracts();
        for (i, (stage, (before, after))) in outcome.stages.iter().zip(&contracts).enumerate() {
            let name = if stage.op == self.algorithm.op {
                stage.template.to_string()
            } else {
                format!("{}.{}", stage.op, stage.template)
            };
            output.line(format_args!(
                "  stage {:<2} level {:<4} {:<20} {:>5} ranks  moved {}",
                i + 1,
                stage.level,
                name,
                stage.ranks,
                size(stage.bytes)
            ));
            output.line(format_args!("           {before}  ->  {after}"));
        }
        for mismatch in &outcome.mismatches {
            output.line(format_args!(
                "  rank {} slot {} element {}: expected {}, got {}",
                mismatch.rank, mismatch.slot, mismatch.element, mismatch.expected, mismatch.got
            ));
        }
        output.line(format_args!(
            "{} moved in {}, {}",
            size(outcome.bytes_moved),
            seconds(outcome.seconds),
            rate(outcome.bytes_moved, outcome.seconds)
        ));
        let verdict = if outcome.exact {
            "exact".to_owned()
        } else {
            format!("{} elements wrong", grouped(outcome.wrong))
        };
        output.line(format_args!(
            "{}, {} elements each: {verdict}",
            plural(u64::from(self.ranks()), "rank"),
            grouped(self.output_elements())
        ));
    }

    fn to_json(&self) -> Value {
        let outcome = self.outcome;
        let stages: Vec<Value> = outcome
            .stages
            .iter()
            .zip(self.contracts())
            .map(|(stage, (before, after))| {
                json!({
                    "level": stage.level.as_str(),
                    "template": stage.template.as_str(),
                    "op": stage.op.as_str(),
                    "ranks": stage.ranks,
                    "bytes": stage.bytes,
                    "groups_in": before,
                    "groups_out": after,
                })
            })
            .collect();
        let mismatches: Vec<Value> = outcome
            .mismatches
            .iter()
            .map(|m| {
                json!({
                    "rank": m.rank,
                    "slot": m.slot,
                    "element": m.element,
                    "expected": m.expected.to_string(),
                    "got": m.got.to_string(),
                })
            })
            .collect();
        json!({
            "schema": "collc/1",
            "command": "run",
            "algorithm": self.algorithm.declared.name.as_str(),
            "module": self.library.modules[self.algorithm.declared.module.index()].name.as_str(),
            "op": self.algorithm.op.as_str(),
            "ranks": self.ranks(),
            "count": self.request.count,
            "dtype": self.request.dtype.as_str(),
            "exact": outcome.exact,
            "wrong": outcome.wrong,
            "mismatches": mismatches,
            "seconds": outcome.seconds,
            "bytes_moved": outcome.bytes_moved,
            "loops": outcome.loops,
            "stages": stages,
        })
    }

    fn ranks(&self) -> u32 {
        self.prepared.matched.ranks()
    }

    /// Elements of each rank's output.
    fn output_elements(&self) -> u64 {
        let bytes = self
            .request
            .user_bytes(self.ranks())
            .map_or(0, |(_, output)| output);
        bytes / self.request.dtype.size()
    }

    /// The contract before and after each leaf.
    fn contracts(&self) -> Vec<(String, String)> {
        let tree = &self.prepared.tree;
        let trace = check_tree(tree, self.algorithm.op);
        let words = |contract: &Option<Contract>| {
            contract
                .as_ref()
                .map_or_else(String::new, |c| describe_contract(c, &tree.levels))
        };
        leaves(self.prepared)
            .map(|ix| {
                (
                    words(&trace.before[ix.index()]),
                    words(&trace.after[ix.index()]),
                )
            })
            .collect()
    }
}

fn plural(n: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `3,200,000`
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.8 MB`
fn size(bytes: u64) -> String {
    let units = [
        (1_000_000_000_000, "TB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
        (1_000, "kB"),
    ];
    match units.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, unit)) => format!("{:.1} {unit}", bytes as f64 / *factor as f64),
        None => format!("{bytes} B"),
    }
}

/// `1.3 ms`
fn seconds(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    match units.iter().find(|(factor, _)| seconds >= *factor) {
        Some((factor, unit)) => format!("{:.1} {unit}", seconds / factor),
        None => format!("{:.0} ns", seconds * 1e9),
    }
}

fn rate(bytes: u64, seconds: f64) -> String {
    if seconds > 0.0 {
        format!("{}/s", size((bytes as f64 / seconds) as u64))
    } else {
        "0 B/s".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(3_200_000), "3,200,000");
        assert_eq!(size(12_800_000), "12.8 MB");
        assert_eq!(size(999), "999 B");
        assert_eq!(seconds(0.0013), "1.3 ms");
        assert_eq!(seconds(2e-8), "20 ns");
    }
}
