//! The walk over the tree: what all ranks do, in which order, on which share of the data.
//!
//! The walk is the same for all ranks and for all loops, so it is done once. Its result is a flat
//! list of events; shares are kept as how they are cut, and get their numbers for each shape of loop.

use crate::cut::Weights;
use crate::error::ExecError;
use crate::holding::Holding;
use crate::op::Buffer;
use coll_cluster::Matched;
use coll_lang::contract::Dims;
use coll_lang::library::{FlatKind, FlatTree, NodeId, TemplateArg, TemplateId, TreeIx};
use coll_lang::words::Operation;
use std::rc::Rc;

/// A part of the data: which share of every slot, who holds it, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Who holds what.
    pub holding: Holding,
    /// The share, by its number among the shares of the walk.
    pub share: u32,
    /// The buffer it lies in.
    pub at: Buffer,
}

/// A leaf as executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The leaf in the source.
    pub node: NodeId,
    /// The leaf in the tree.
    pub tree: TreeIx,
    /// Its operation.
    pub op: Operation,
    /// Its template.
    pub template: TemplateId,
    /// The templates passed to it.
    pub args: Vec<TemplateArg>,
    /// Its level.
    pub level: u32,
    /// The stream it runs on.
    pub stream: u32,
    /// What it takes.
    pub input: Group,
    /// What it leaves. Where its level has one member nothing moves, unless the data must get into
    /// the user's output.
    pub output: Group,
}

/// How a share comes about. Shares only refer to earlier ones.
#[derive(Clone, Debug)]
enum Share {
    Whole,
    Cut {
        of: u32,
        by: Rc<Weights>,
        child: usize,
    },
    /// Neighbouring shares as one.
    Join(Vec<u32>),
}

/// The numbers of a share in one shape of loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Elements of every slot that come before it.
    pub(crate) offset: u64,
    /// Its elements of every slot.
    pub(crate) count: u64,
    /// Its further elements of the last slot.
    pub(crate) tail: u64,
}

/// What happens next, on all ranks.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A leaf moves data.
    Run(usize),
    /// Each rank copies what it holds of a group to another of its buffers.
    Bring {
        node: NodeId,
        stream: u32,
        group: Group,
        to: Buffer,
    },
    /// Stream `then` goes on when stream `first` has come here.
    Order { node: NodeId, first: u32, then: u32 },
}

/// The groups before and after a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGroups {
    /// Before it.
    pub input: Vec<Group>,
    /// After it.
    pub output: Vec<Group>,
}

/// The result of the walk.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) events: Vec<Event>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) streams: u32,
    /// By position in the tree; none for assertions.
    pub(crate) nodes: Vec<Option<NodeGroups>>,
    shares: Vec<Share>,
}

impl Script {
    /// Walks `tree` for an algorithm of operation `op`.
    pub(crate) fn new(
        tree: &FlatTree,
        matched: &Matched,
        op: Operation,
    ) -> Result<Self, ExecError> {
        let all = Dims::first(matched.dims().len() as u32);
        let (Some(before), Some(promised)) = (Holding::before(op, all), Holding::promised(op, all))
        else {
            return Err(crate::request::RequestError::Operation { op }.into());
        };
        let mut walk = Walk {
            tree,
            matched,
            script: Self {
                events: Vec::new(),
                stages: Vec::new(),
                streams: 0,
                nodes: vec![None; tree.nodes.len()],
                shares: vec![Share::Whole],
            },
        };
        let start = Group {
            holding: before,
            share: 0,
            at: Buffer::Input,
        };
        let (end, streams) = walk.node(FlatTree::ROOT, vec![start], Buffer::Output, 0)?;
        match end.as_slice() {
            [group] if group.holding == promised => {}
            _ => return Err(ExecError::WrongEnd { op }),
        }
        walk.script.streams = streams;
        Ok(walk.script)
    }

    /// The numbers of all shares in a loop with slots of `slot` elements and `tail` more on the last.
    pub(crate) fn extents(&self, slot: u64, tail: u64) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::with_capacity(self.shares.len());
        for share in &self.shares {
            let extent = match share {
                Share::Whole => Extent {
                    offset: 0,
                    count: slot,
                    tail,
                },
                Share::Cut { of, by, child } => {
                    let parent = extents[*of as usize];
                    let (before, count) = by.cut(parent.count, *child);
                    Extent {
                        offset: parent.offset + before,
                        count,
                        tail: if child + 1 == by.len() {
                            parent.tail
                        } else {
                            0
                        },
                    }
                }
                Share::Join(parts) => Extent {
                    offset: extents[parts[0] as usize].offset,
                    count: parts.iter().map(|&p| extents[p as usize].count).sum(),
                    tail: parts.iter().map(|&p| extents[p as usize].tail).sum(),
                },
            };
            extents.push(extent);
        }
        extents
    }
}

struct Walk<'a> {
    tree: &'a FlatTree,
    matched: &'a Matched,
    script: Script,
}

/// The groups that a node leaves, and one past the last stream it uses.
type Left = (Vec<Group>, u32);

impl Walk<'_> {
    /// Executes node `ix` on `input` from stream `stream` on; its data is to end up in `to`.
    fn node(
        &mut self,
        ix: TreeIx,
        input: Vec<Group>,
        to: Buffer,
        stream: u32,
    ) -> Result<Left, ExecError> {
        let node = self.tree.node(ix);
        let id = node.id;
        let left = match &node.kind {
            FlatKind::Leaf { .. } => (vec![self.leaf(ix, &input, to, stream)?], stream + 1),
            FlatKind::Sequence(children) => {
                let children = self.running(self.tree.children(children));
                self.sequence(id, &children, input.clone(), to, stream)?
            }
            FlatKind::Parallel { children, weights } => {
                let children = self.running(self.tree.children(children));
                if children.is_empty() {
                    return Err(ExecError::NoChildren { node: id });
                }
                let weights = match weights {
                    Some(w) if w.len() != children.len() => {
                        return Err(ExecError::WeightCount {
                            node: id,
                            children: children.len(),
                            weights: w.len(),
                        });
                    }
                    Some(w) => Some(
                        Weights::of_tree(w)
                            .map_err(|error| ExecError::Weights { node: id, error })?,
                    ),
                    None => None,
                };
                self.parallel(id, &children, weights, &input, to, stream)?
            }
            FlatKind::OmniPipe { .. } => return Err(ExecError::OmniPipe { node: id }),
            // Assertions were checked; they run nothing and nothing reaches them here but a tree
            // that is an assertion alone.
            FlatKind::Assert(_) => return Err(ExecError::NoChildren { node: id }),
        };
        self.script.nodes[ix.index()] = Some(NodeGroups {
            input,
            output: left.0.clone(),
        });
        Ok(left)
    }

    /// The children that are not assertions.
    fn running(&self, children: &[TreeIx]) -> Vec<TreeIx> {
        let asserts = |&ix: &TreeIx| matches!(self.tree.node(ix).kind, FlatKind::Assert(_));
        children.iter().copied().filter(|ix| !asserts(ix)).collect()
    }

    fn sequence(
        &mut self,
        node: NodeId,
        children: &[TreeIx],
        mut groups: Vec<Group>,
        to: Buffer,
        stream: u32,
    ) -> Result<Left, ExecError> {
        let Some((&last, before)) = children.split_last() else {
            return Err(ExecError::NoChildren { node });
        };
        let mut end = stream;
        for &child in before {
            let (left, streams) = self.node(child, groups, Buffer::Ccl, stream)?;
            groups = left;
            end = end.max(streams);
        }
        let (left, streams) = self.node(last, groups, to, stream)?;
        Ok((left, end.max(streams)))
    }

    fn parallel(
        &mut self,
        node: NodeId,
        children: &[TreeIx],
        weights: Option<Weights>,
        input: &[Group],
        to: Buffer,
        stream: u32,
    ) -> Result<Left, ExecError> {
        let inputs = match (input, children.len()) {
            (_, 1) => vec![input.to_vec()],
            (&[group], _) => self.cut(node, group, weights, children.len())?,
            (_, n) if n != input.len() => {
                return Err(ExecError::Deal {
                    node,
                    groups: input.len(),
                    children: n,
                });
            }
            _ if weights.is_some() => return Err(ExecError::WeightsOfDealt { node }),
            _ => input.iter().map(|&group| vec![group]).collect(),
        };
        let mut lefts = Vec::with_capacity(children.len());
        let mut next = stream;
        for (&child, groups) in children.iter().zip(inputs) {
            let own = next;
            self.order(node, stream, own);
            let (left, end) = self.node(child, groups, to, own)?;
            lefts.push((left, own));
            next = end;
        }
        for &(_, own) in &lefts {
            self.order(node, own, stream);
        }
        let lefts = lefts.into_iter().map(|(left, _)| left).collect();
        Ok((self.merge(node, lefts, stream), next))
    }

    /// Lets stream `then` wait for stream `first`.
    fn order(&mut self, node: NodeId, first: u32, then: u32) {
        if first != then {
            self.script.events.push(Event::Order { node, first, then });
        }
    }

    /// One share of `group` for each of `children` children.
    fn cut(
        &mut self,
        node: NodeId,
        group: Group,
        weights: Option<Weights>,
        children: usize,
    ) -> Result<Vec<Vec<Group>>, ExecError> {
        let weights = match weights {
            Some(weights) => weights,
            None => Weights::equal(children).map_err(|error| ExecError::Weights { node, error })?,
        };
        let by = Rc::new(weights);
        let share = |child| {
            vec![Group {
                share: self.share(Share::Cut {
                    of: group.share,
                    by: Rc::clone(&by),
                    child,
                }),
                ..group
            }]
        };
        Ok((0..children).map(share).collect())
    }

    fn share(&mut self, share: Share) -> u32 {
        self.script.shares.push(share);
        self.script.shares.len() as u32 - 1
    }

    /// Children that each leave one group, all of one holding, leave one together.
    fn merge(&mut self, node: NodeId, lefts: Vec<Vec<Group>>, stream: u32) -> Vec<Group> {
        let each_one = lefts.iter().all(|left| left.len() == 1);
        let mut groups: Vec<Group> = lefts.into_iter().flatten().collect();
        let first = groups[0];
        if groups.len() == 1 || !each_one || groups.iter().any(|g| g.holding != first.holding) {
            return groups;
        }
        // Where some have moved and others not, one group must still lie in one buffer.
        if groups.iter().any(|g| g.at != first.at) {
            for group in groups.iter_mut().filter(|g| g.at == Buffer::Input) {
                self.bring(node, stream, *group, Buffer::Ccl);
                group.at = Buffer::Ccl;
            }
        }
        let share = self.share(Share::Join(groups.iter().map(|g| g.share).collect()));
        vec![Group { share, ..groups[0] }]
    }

    fn bring(&mut self, node: NodeId, stream: u32, group: Group, to: Buffer) {
        self.script.events.push(Event::Bring {
            node,
            stream,
            group,
            to,
        });
    }

    fn leaf(
        &mut self,
        ix: TreeIx,
        input: &[Group],
        to: Buffer,
        stream: u32,
    ) -> Result<Group, ExecError> {
        let flat = self.tree.node(ix);
        let node = flat.id;
        let FlatKind::Leaf {
            op,
            template,
            args,
            level,
        } = &flat.kind
        else {
            unreachable!("only called for leaves")
        };
        let &[group] = input else {
            return Err(ExecError::ManyGroups {
                node,
                groups: input.len(),
            });
        };
        let levels = self.matched.levels();
        let Some(joined) = levels.get(*level as usize) else {
            return Err(ExecError::NoSuchLevel {
                node,
                level: *level,
                levels: levels.len(),
            });
        };
        let holding = match group.holding.after(*op, joined.dims) {
            None => return Err(ExecError::Operation { node, op: *op }),
            Some(Err(dims)) => {
                return Err(ExecError::State {
                    node,
                    op: *op,
                    dims,
                });
            }
            Some(Ok(holding)) => holding,
        };
        let moves = joined.size > 1;
        let left = Group {
            holding,
            at: if moves || to == Buffer::Output {
                to
            } else {
                group.at
            },
            ..group
        };
        if moves {
            self.script
                .events
                .push(Event::Run(self.script.stages.len()));
        } else if left.at != group.at {
            self.bring(node, stream, Group { holding, ..group }, to);
        }
        self.script.stages.push(Stage {
            node,
            tree: ix,
            op: *op,
            template: *template,
            args: args.clone(),
            level: *level,
            stream,
            input: group,
            output: left,
        });
        Ok(left)
    }
}
