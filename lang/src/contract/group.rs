//! Groups and the shares of a slot that they cover.

use super::{Dims, MAX_DIMS, States};
use crate::library::TreeIx;
use smallvec::{SmallVec, smallvec};

/// One cut of every slot by a parallel node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The parallel.
    pub node: TreeIx,
    /// Which child's share, from 0.
    pub child: u16,
}

/// A contiguous share of every slot: the whole, cut again and again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Share(pub SmallVec<[Cut; 2]>);

impl Share {
    /// The share of child `child` when `node` cuts this one.
    pub(super) fn cut(&self, node: TreeIx, child: usize) -> Self {
        let mut cuts = self.0.clone();
        cuts.push(Cut {
            node,
            child: child as u16,
        });
        Self(cuts)
    }

    /// The least share that covers both.
    pub(super) fn join(&self, other: &Self) -> Self {
        Self(
            self.0
                .iter()
                .zip(&other.0)
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| *a)
                .collect(),
        )
    }
}

/// No node has changed the dimension yet.
pub(super) const FROM_START: u32 = u32::MAX;

/// What one part of every slot is known to be, at one point of a tree.
#[derive(Clone, Debug)]
pub struct Group {
    /// The state along every dimension.
    pub states: States,
    /// The part of every slot it covers.
    pub share: Share,
    /// For each dimension the leaf that brought it into its state, or [`FROM_START`].
    pub(super) since: [u32; MAX_DIMS as usize],
    /// Dimensions about which something wrong was reported already: they are not checked again.
    pub(super) poisoned: Dims,
}

impl Group {
    /// A group that covers the whole of every slot.
    pub fn whole(states: States) -> Self {
        Self {
            states,
            share: Share::default(),
            since: [FROM_START; MAX_DIMS as usize],
            poisoned: Dims::EMPTY,
        }
    }

    /// The leaf that brought dimension `d` into its state; none if it has been so from the start.
    pub fn changed_by(&self, d: u32) -> Option<TreeIx> {
        let node = self.since[d as usize];
        (node != FROM_START).then_some(TreeIx(node))
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.states == other.states && self.share == other.share
    }
}

impl Eq for Group {}

/// What is known at one point of a tree: groups whose shares are ascending and tile the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The groups; at least one.
    pub groups: SmallVec<[Group; 1]>,
}

impl Contract {
    /// One group that covers everything.
    pub fn one(group: Group) -> Self {
        Self {
            groups: smallvec![group],
        }
    }

    /// The only group, if there is one.
    pub fn single(&self) -> Option<&Group> {
        match self.groups.as_slice() {
            [group] => Some(group),
            _ => None,
        }
    }
}
