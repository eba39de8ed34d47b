//! Trees of algorithms.

use super::{Builder, Parts};
use crate::syntax::ast::{Child, NamedTree, Param, StateSet, Tree, TreeKind};
use coll_grammar::Rule;
use pest::iterators::Pair;

impl Builder<'_> {
    pub(super) fn tree_item(&mut self, parts: &mut Parts<'_>) -> Option<NamedTree> {
        Some(NamedTree {
            name: self.next_name(parts)?,
            params: self.params(parts)?,
            tree: self.next_tree(parts)?,
        })
    }

    /// The parameters of a tree or template, if they come next.
    pub(super) fn params(&mut self, parts: &mut Parts<'_>) -> Option<Vec<Param>> {
        let Some(pair) = self.take(parts, Rule::params) else {
            return Some(Vec::new());
        };
        self.list(pair, |b, pair| {
            b.inside(pair, |b, parts| {
                Some(Param {
                    name: b.next_name(parts)?,
                    kind: b.take_name(parts, Rule::kind),
                })
            })
        })
    }

    /// A `tree` or `error_tree`.
    pub(super) fn next_tree(&mut self, parts: &mut Parts<'_>) -> Option<Tree> {
        let pair = self.next(parts)?;
        self.tree(pair)
    }

    pub(super) fn tree(&mut self, pair: Pair<'_, Rule>) -> Option<Tree> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::tree => {
                let pair = self.next(&mut Parts::new(pair))?;
                self.tree_kind(pair)?
            }
            _ => {
                self.broken(Rule::one_tree, &pair);
                TreeKind::Error
            }
        };
        Some(Tree { span, kind })
    }

    fn tree_kind(&mut self, pair: Pair<'_, Rule>) -> Option<TreeKind> {
        match pair.as_rule() {
            Rule::sequence => Some(TreeKind::Sequence(self.list(pair, Self::tree)?)),
            Rule::parallel => Some(TreeKind::Parallel(self.list(pair, Self::child)?)),
            Rule::omnipipe => Some(TreeKind::OmniPipe(self.list(pair, Self::child)?)),
            Rule::for_tree => self.inside(pair, Self::for_tree),
            Rule::assert_tree => Some(TreeKind::Assert(self.list(pair, Self::state_set)?)),
            _ => self.inside(pair, Self::leaf),
        }
    }

    fn child(&mut self, pair: Pair<'_, Rule>) -> Option<Child> {
        if pair.as_rule() == Rule::error_tree {
            let span = self.broken(Rule::one_child, &pair);
            let kind = TreeKind::Error;
            return Some(Child {
                weight: None,
                tree: Tree { span, kind },
            });
        }
        self.inside(pair, |b, parts| {
            Some(Child {
                weight: b.take_inner_expr(parts, Rule::weight),
                tree: b.next_tree(parts)?,
            })
        })
    }

    fn for_tree(&mut self, parts: &mut Parts<'_>) -> Option<TreeKind> {
        let var = self.next_name(parts)?;
        let reverse = self.take(parts, Rule::reverse).is_some();
        let first = self.next_name(parts)?;
        let inclusive = self.take(parts, Rule::level_range)?.as_str() == "..=";
        Some(TreeKind::For {
            var,
            reverse,
            first,
            inclusive,
            last: self.next_name(parts)?,
            body: Box::new(self.next_tree(parts)?),
        })
    }

    fn state_set(&mut self, pair: Pair<'_, Rule>) -> Option<StateSet> {
        self.inside(pair, |b, parts| {
            Some(StateSet {
                state: b.next_name(parts)?,
                levels: b.names(parts)?,
            })
        })
    }

    fn leaf(&mut self, parts: &mut Parts<'_>) -> Option<TreeKind> {
        let name = self.next_path(parts)?;
        let args = self.take_exprs(parts, Rule::call_args);
        Some(match self.take_inner_name(parts, Rule::at_level) {
            Some(level) => TreeKind::Leaf { name, args, level },
            None => TreeKind::Call { name, args },
        })
    }
}
