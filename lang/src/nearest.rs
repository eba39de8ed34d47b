//! The nearest of some names: "did you mean".

/// The candidate that `name` was most likely meant to be: one that differs in case alone, else the
/// one with the fewest typing errors, at most one per three characters, so that names of one or two
/// are not taken for one another. The first wins a tie.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count() / 3;
    let lower = name.to_ascii_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        // A distance is never less than the difference in length.
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let distance = match candidate.eq_ignore_ascii_case(name) {
            true => 0,
            false => strsim::osa_distance(&lower, &candidate.to_ascii_lowercase()),
        };
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean …?` for the nearest candidate, else the list of them, as long as it is short.
pub fn nearest_or_list<'a>(
    name: &str,
    what: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(near) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    match all.as_slice() {
        [] => None,
        list => Some(format!("{what}: {}", listed(list))),
    }
}

/// `a, b, c`, with the end cut off a long list.
pub fn listed(names: &[&str]) -> String {
    const MOST: usize = 12;
    let mut text = names
        .iter()
        .take(MOST)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_wins_over_distance_and_distance_is_bounded() {
        assert_eq!(nearest("MESH", ["mesx", "mesh"]), Some("mesh"));
        assert_eq!(nearest("mehs", ["nhr", "mesh", "ring"]), Some("mesh"));
        assert_eq!(nearest("L9", ["L0", "L1"]), None);
        assert_eq!(nearest("l1", ["L0", "L1"]), Some("L1"));
        assert_eq!(nearest("mesh", ["optical_ring"]), None);
        assert_eq!(nearest("mesh", ["mesh"]), None);
        assert_eq!(nearest("", ["a"]), None);
    }

    #[test]
    fn without_a_near_name_the_names_are_listed() {
        let text = nearest_or_list("zzzz", "levels", ["L0", "L1"]);
        assert_eq!(text.as_deref(), Some("levels: L0, L1"));
        assert_eq!(nearest_or_list("zzzz", "levels", []), None);
        let many: Vec<String> = (0..20).map(|i| format!("name{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(listed(&many).ends_with("name11 and 8 more"));
    }
}
