//! One layer of a cluster: which ranks form its groups.

use coll_lang::library::Sizes;

/// The groups of one layer. A *part* of a group is a group of the layer below; the parts of the
/// innermost layer are the ranks themselves.
#[derive(Clone, Debug)]
pub(crate) enum Layer {
    /// All groups are alike.
    Even {
        /// Ranks of a group.
        ranks: u32,
        /// Parts of a group.
        parts: u32,
    },
    /// Groups differ, in this layer or in one below.
    Uneven {
        /// First rank of each group, and one past the last rank.
        ranks: Vec<u32>,
        /// First part of each group, and one past the last part.
        parts: Vec<u32>,
        /// Ranks of a group where all have the same number all the same.
        same: Option<u32>,
    },
}

impl Layer {
    /// The layer whose groups have `sizes` parts, above `below` (none: the ranks), with `groups`
    /// groups.
    pub(crate) fn above(below: Option<&Layer>, sizes: &Sizes, groups: u32) -> Self {
        let ranks_of_part = match below {
            None => Some(1),
            Some(Self::Even { ranks, .. }) => Some(*ranks),
            Some(Self::Uneven { .. }) => None,
        };
        if let (Some(part), Some(parts)) = (ranks_of_part, even(sizes)) {
            return Self::Even {
                ranks: part * parts,
                parts,
            };
        }
        let size = |g: u32| match sizes {
            Sizes::Even(n) => *n,
            Sizes::Uneven(list) => list[g as usize],
        };
        let mut parts = Vec::with_capacity(groups as usize + 1);
        let mut first = 0;
        for g in 0..groups {
            parts.push(first);
            first += size(g);
        }
        parts.push(first);
        let ranks: Vec<u32> = parts
            .iter()
            .map(|&p| below.map_or(p, |below| below.first_rank(p)))
            .collect();
        let length = |w: &[u32]| w[1] - w[0];
        let same = ranks.windows(2).map(length).next();
        let same = same.filter(|&n| ranks.windows(2).all(|w| length(w) == n));
        Self::Uneven { ranks, parts, same }
    }

    /// The first rank of group `group`; for the number of groups, one past the last rank.
    pub(crate) fn first_rank(&self, group: u32) -> u32 {
        match self {
            Self::Even { ranks, .. } => group * ranks,
            Self::Uneven { ranks, .. } => ranks[group as usize],
        }
    }

    /// The first part of group `group`.
    pub(crate) fn first_part(&self, group: u32) -> u32 {
        match self {
            Self::Even { parts, .. } => group * parts,
            Self::Uneven { parts, .. } => parts[group as usize],
        }
    }

    /// How many parts group `group` has.
    pub(crate) fn parts(&self, group: u32) -> u32 {
        match self {
            Self::Even { parts, .. } => *parts,
            Self::Uneven { parts, .. } => parts[group as usize + 1] - parts[group as usize],
        }
    }

    /// The group that `rank` is in.
    pub(crate) fn group_of(&self, rank: u32) -> u32 {
        match self {
            Self::Even { ranks, .. } => rank / ranks,
            // Groups are not empty, so firsts ascend strictly and the first one is 0.
            Self::Uneven { ranks, .. } => ranks.partition_point(|&first| first <= rank) as u32 - 1,
        }
    }

    /// Ranks of a group, where all groups have the same number.
    pub(crate) fn even_ranks(&self) -> Option<u32> {
        match self {
            Self::Even { ranks, .. } => Some(*ranks),
            Self::Uneven { same, .. } => *same,
        }
    }
}

/// The size that all groups have, if it is one.
pub(crate) fn even(sizes: &Sizes) -> Option<u32> {
    match sizes {
        Sizes::Even(n) => Some(*n),
        Sizes::Uneven(list) => list
            .first()
            .copied()
            .filter(|n| list.iter().all(|m| m == n)),
    }
}
