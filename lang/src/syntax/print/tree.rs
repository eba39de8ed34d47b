//! How trees are printed.

use super::layout::Layout;
use crate::syntax::ast::{Child, Expr, NamedTree, Param, Tree, TreeKind};

impl Layout<'_> {
    pub(super) fn named_tree(&mut self, tree: &NamedTree) {
        self.group(|l| {
            l.keyword("tree");
            l.name(&tree.name);
            l.params(&tree.params);
            l.defined_as(|l| l.tree(&tree.tree));
        });
    }

    /// `= …;`, on a line of its own where it does not fit.
    pub(super) fn defined_as(&mut self, print: impl FnOnce(&mut Self)) {
        self.nest(|l| {
            l.line();
            l.keyword("=");
            print(l);
            l.close(";");
        });
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        if params.is_empty() && !self.at("(") {
            return;
        }
        self.list(("(", ")"), params, |l, param| {
            l.name(&param.name);
            if let Some(kind) = &param.kind {
                l.close(":");
                l.space();
                l.name(kind);
            }
        });
    }

    pub(super) fn args(&mut self, args: Option<&Vec<Expr>>) {
        if let Some(args) = args {
            self.list(("(", ")"), args, |l, arg| l.expr(arg));
        }
    }

    pub(super) fn tree(&mut self, tree: &Tree) {
        match &tree.kind {
            TreeKind::Leaf { name, args, level } => {
                self.path(name);
                self.args(args.as_ref());
                self.token("@");
                self.name(level);
            }
            TreeKind::Call { name, args } => {
                self.path(name);
                self.args(args.as_ref());
            }
            TreeKind::Sequence(children) => self.children("sequence", children, Self::tree),
            TreeKind::Parallel(children) => self.children("parallel", children, Self::child),
            TreeKind::OmniPipe(children) => self.children("omnipipe", children, Self::child),
            TreeKind::For {
                var,
                reverse,
                first,
                last,
                inclusive,
                body,
            } => {
                self.keyword("for");
                self.name(var);
                self.space();
                self.keyword("in");
                if *reverse {
                    self.keyword("reverse");
                }
                self.name(first);
                self.token(if *inclusive { "..=" } else { "..<" });
                self.name(last);
                self.close(":");
                self.space();
                self.tree(body);
            }
            TreeKind::Assert(states) => {
                self.keyword("assert");
                for (i, set) in states.iter().enumerate() {
                    if i > 0 {
                        self.close(",");
                        self.space();
                    }
                    self.name(&set.state);
                    self.list(("(", ")"), &set.levels, |l, level| l.name(level));
                }
            }
            TreeKind::Error => self.fail(),
        }
    }

    fn child(&mut self, child: &Child) {
        if let Some(weight) = &child.weight {
            self.expr(weight);
            self.close(":");
            self.space();
        }
        self.tree(&child.tree);
    }

    fn children<T>(&mut self, keyword: &str, children: &[T], mut print: impl FnMut(&mut Self, &T)) {
        self.group(|l| {
            l.keyword(keyword);
            l.token("<");
            l.nest(|l| {
                l.line();
                for (i, child) in children.iter().enumerate() {
                    if i > 0 {
                        l.close(";");
                        l.line();
                    }
                    print(l, child);
                }
                l.leave_out(";");
                l.comments_here();
            });
            l.line();
            l.token(">");
        });
    }
}
