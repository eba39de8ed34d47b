//! Trees: names are resolved, named trees written out.

mod calls;
mod env;
mod levels;
mod weights;

use super::context::{Fault, ModuleChecker};
use super::topologies::CheckedTopology;
use crate::diagnostics::{Applicability, Diagnostic, Edit, codes};
use crate::library::{Children, Node, NodeKind, Tree, TreeIx};
use crate::resolve::{LoadedItem, split_operation};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{self, Child, Expr, Name, Path, TreeKind};
use coll_grammar::number::Dimension;
use coll_grammar::words::Operation;
use env::{Bound, Env};

pub(super) use levels::find_level;

/// A tree has at most this many nodes once named trees are written out.
const MAX_NODES: usize = 1 << 16;

/// It is nested at most this deep once named trees are written out.
const MAX_DEPTH: u32 = 256;

/// A tree that was built.
pub(super) struct Built {
    pub(super) tree: Tree,
    /// Whether something in it is wrong or did not parse: then nothing may follow from it.
    pub(super) broken: bool,
}

/// Builds one tree.
pub(super) struct Builder<'b, 'c, 'a> {
    checker: &'b mut ModuleChecker<'c, 'a>,
    /// Whose levels the tree names; none if that is not known.
    topology: Option<&'c CheckedTopology>,
    /// The operation of leaves that name none; none if that is not known.
    op: Option<Operation>,
    /// The item of the algorithm or of the named tree.
    item: ItemId,
    /// Whether named trees are written out.
    expand: bool,
    tree: Tree,
    broken: bool,
    vars: u32,
    depth: u32,
    /// How many named trees are being written out, one in another.
    calls: u32,
    /// The call in `item` that is being written out.
    call: Option<Place>,
}

impl<'c, 'a> ModuleChecker<'c, 'a> {
    /// Checks a named tree by itself: all that does not depend on its arguments and on the topology.
    pub(super) fn named_tree(&mut self, item: &LoadedItem, ast: &ast::NamedTree) -> bool {
        let known = self.diagnostics.len();
        let params = self.parameters(item.id, &ast.params);
        let mut env = Env::new(self.module, item.id);
        for param in &ast.params {
            let kind = params.iter().find(|p| p.name == param.name.text);
            let bound = kind.map_or(Bound::Broken, |p| Bound::Any(p.kind));
            env.bound.push((param.name.text.clone(), bound));
        }
        let mut builder = Builder::new(self, None, None, item.id);
        builder.expand = false;
        // Whether a loop can stand outermost shows where the tree is called.
        builder.node(&ast.tree, &mut env, true);
        self.diagnostics.len() == known && item.parsed.is_sound()
    }

    /// Builds the tree of an algorithm.
    pub(super) fn tree(
        &mut self,
        item: ItemId,
        topology: Option<&'c CheckedTopology>,
        op: Option<Operation>,
        ast: &ast::Tree,
    ) -> Built {
        let mut env = Env::new(self.module, item);
        let mut builder = Builder::new(self, topology, op, item);
        builder.node(ast, &mut env, false);
        Built {
            broken: builder.broken,
            tree: builder.tree,
        }
    }
}

impl<'b, 'c, 'a> Builder<'b, 'c, 'a> {
    fn new(
        checker: &'b mut ModuleChecker<'c, 'a>,
        topology: Option<&'c CheckedTopology>,
        op: Option<Operation>,
        item: ItemId,
    ) -> Self {
        Self {
            checker,
            topology,
            op,
            item,
            expand: true,
            tree: Tree {
                nodes: Vec::new(),
                children: Vec::new(),
            },
            broken: false,
            vars: 0,
            depth: 0,
            calls: 0,
            call: None,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.broken = true;
        self.checker.report(diagnostic);
    }

    /// Reports what there is to report of something wrong.
    fn fault(&mut self, fault: Fault) {
        self.broken = true;
        self.checker.report_fault(fault);
    }

    /// Adds the node of a tree and those below it. `in_sequence` tells whether loops and assertions
    /// can stand here.
    fn node(&mut self, tree: &ast::Tree, env: &mut Env, in_sequence: bool) -> TreeIx {
        if let TreeKind::Call { name, args } = &tree.kind {
            return self.call(tree, name, args.as_deref(), env, in_sequence);
        }
        let place = env.place(tree.span);
        let ix = TreeIx(self.tree.nodes.len() as u32);
        let id = self.checker.add_node(place, self.call);
        self.tree.nodes.push(Node {
            id,
            kind: NodeKind::Assert(Vec::new()),
        });
        if self.tree.nodes.len() > MAX_NODES {
            if self.tree.nodes.len() == MAX_NODES + 1 {
                self.report(Diagnostic::new(
                    codes::E1003,
                    self.call.unwrap_or(place),
                    format!(
                        "the tree has more than {MAX_NODES} nodes once named trees are written out"
                    ),
                ));
            }
            return ix;
        }
        if self.depth >= MAX_DEPTH {
            self.report(Diagnostic::new(
                codes::E0105,
                self.call.unwrap_or(place),
                format!(
                    "the tree is nested more than {MAX_DEPTH} deep once named trees are written out"
                ),
            ));
            return ix;
        }
        self.depth += 1;
        if let Some(kind) = self.kind(tree, env, in_sequence) {
            self.tree.nodes[ix.index()].kind = kind;
        }
        self.depth -= 1;
        ix
    }

    fn kind(&mut self, tree: &ast::Tree, env: &mut Env, in_sequence: bool) -> Option<NodeKind> {
        match &tree.kind {
            TreeKind::Error => {
                self.broken = true;
                None
            }
            TreeKind::Leaf { name, args, level } => self.leaf(name, args.as_deref(), level, env),
            TreeKind::Call { .. } => None,
            TreeKind::Sequence(children) => {
                let list: Vec<TreeIx> = children.iter().map(|c| self.node(c, env, true)).collect();
                Some(NodeKind::Sequence(self.add_children(&list)))
            }
            TreeKind::Parallel(children) => {
                let weights = self.weights(children, env, Dimension::NONE, tree.span);
                Some(NodeKind::Parallel {
                    children: self.shares(children, env),
                    weights,
                })
            }
            TreeKind::OmniPipe(children) => {
                let weights = self.weights(children, env, Dimension::RATE, tree.span);
                Some(NodeKind::OmniPipe {
                    children: self.shares(children, env),
                    weights,
                })
            }
            TreeKind::For {
                var,
                reverse,
                first,
                last,
                inclusive,
                body,
            } => {
                if !in_sequence {
                    self.only_in_sequence("a loop over levels", tree.span, env);
                }
                self.for_levels(var, [first, last], (*reverse, *inclusive), body, env)
            }
            TreeKind::Assert(states) => {
                if !in_sequence {
                    self.only_in_sequence("an assertion", tree.span, env);
                }
                self.assertion(states, env)
            }
        }
    }

    fn only_in_sequence(&mut self, what: &str, span: Span, env: &Env) {
        let place = env.place(span);
        let at = |offset: u32| env.place(Span::new(offset, offset));
        let edits = vec![
            Edit {
                place: at(span.start),
                text: "sequence < ".to_owned(),
            },
            Edit {
                place: at(span.end),
                text: " >".to_owned(),
            },
        ];
        self.report(
            Diagnostic::new(
                codes::E0317,
                place,
                format!("{what} stands inside a sequence"),
            )
            .help("write `sequence < … >` around it")
            .fix(
                "write a sequence around it",
                edits,
                Applicability::Suggested,
            ),
        );
    }

    fn add_children(&mut self, list: &[TreeIx]) -> Children {
        let start = self.tree.children.len() as u32;
        self.tree.children.extend_from_slice(list);
        Children {
            start,
            end: self.tree.children.len() as u32,
        }
    }

    fn shares(&mut self, children: &[Child], env: &mut Env) -> Children {
        let list: Vec<TreeIx> = children
            .iter()
            .map(|c| self.node(&c.tree, env, false))
            .collect();
        self.add_children(&list)
    }

    fn leaf(
        &mut self,
        name: &Path,
        args: Option<&[Expr]>,
        level: &Name,
        env: &Env,
    ) -> Option<NodeKind> {
        let (op, path) = split_operation(name);
        let level = self.level(level, env);
        let symbols = self.templates(path, env);
        let (Some(symbols), Some(op)) = (symbols, op.or(self.op)) else {
            self.fault(level.err().flatten());
            return None;
        };
        let checker = &mut *self.checker;
        if !checker.check_plans(env.module, env.item, path, &symbols, op) {
            self.broken = true;
        }
        let level = match level {
            Ok(level) => level,
            Err(diagnostic) => {
                self.fault(diagnostic);
                return None;
            }
        };
        let cx = self.checker.cx;
        let template = cx.templates(&symbols).for_op(op, &cx.templates)?;
        let declared = &cx.templates[template.index()];
        self.broken |= !declared.declared.sound;
        let place = env.place(name.span());
        let args = self.template_args(&declared.params, args, place, env)?;
        Some(NodeKind::Leaf {
            op,
            template,
            args,
            level,
        })
    }
}
