//! States and contracts in words.

use super::{Contract, Dims, States};
use crate::library::FlatLevel;
use coll_grammar::words::StateWord;

/// `own everywhere`, `L0: all, others own`, `L0: all, L1: own`: states by the names of levels.
pub fn describe_states(states: States, levels: &[FlatLevel]) -> String {
    let named = named_dims(states, levels);
    let Some(first) = named.first() else {
        return "no data moves".to_owned();
    };
    if named.iter().all(|n| n.1 == first.1) {
        return format!("{} everywhere", first.1);
    }
    let commonest = StateWord::ALL
        .iter()
        .copied()
        .max_by_key(|&s| named.iter().filter(|n| n.1 == s).count())
        .filter(|&s| named.iter().filter(|n| n.1 == s).count() > 1);
    let mut parts: Vec<String> = named
        .iter()
        .filter(|n| Some(n.1) != commonest)
        .map(|(name, state)| format!("{name}: {state}"))
        .collect();
    if let Some(state) = commonest {
        parts.push(format!("others {state}"));
    }
    parts.join(", ")
}

/// All groups of a contract: one as its states, several numbered.
pub fn describe_contract(contract: &Contract, levels: &[FlatLevel]) -> String {
    match contract.single() {
        Some(group) => describe_states(group.states, levels),
        None => contract
            .groups
            .iter()
            .enumerate()
            .map(|(i, g)| format!("[{}] {}", i + 1, describe_states(g.states, levels)))
            .collect::<Vec<_>>()
            .join("  "),
    }
}

/// The names of dimensions: levels where they fit, layers elsewhere: `L0, L1`, `net 2`.
pub(super) fn describe_dims(dims: Dims, levels: &[FlatLevel]) -> String {
    let mut rest = dims;
    let mut names = Vec::new();
    for level in levels {
        if !level.dims.is_empty() && level.dims.without(rest).is_empty() {
            names.push(level.name.to_string());
            rest = rest.without(level.dims);
        }
    }
    names.extend(rest.iter().map(|d| format!("net {d}")));
    names.join(", ")
}

/// Every dimension once, under the name of a level whose dimensions are all in one state, else under
/// its layer's.
fn named_dims(states: States, levels: &[FlatLevel]) -> Vec<(String, StateWord)> {
    let mut rest = Dims::first(states.len());
    let mut named = Vec::new();
    for level in levels {
        let Some(d) = level.dims.iter().next() else {
            continue;
        };
        let state = states.get(d);
        if level.dims.without(rest).is_empty() && level.dims.iter().all(|e| states.get(e) == state)
        {
            named.push((level.name.to_string(), state));
            rest = rest.without(level.dims);
        }
    }
    named.extend(rest.iter().map(|d| (format!("net {d}"), states.get(d))));
    named
}
