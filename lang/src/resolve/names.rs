//! What names mean.

use crate::library::ModuleId;
use crate::source::Place;
use crate::syntax::ast;
use coll_grammar::words::Operation;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::fmt;

/// The module whose templates are in scope everywhere.
pub const PRELUDE: &str = "std.templates";

/// Something that an item declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// Symbols that one name stands for: one, or several templates.
pub type Symbols = SmallVec<[SymbolId; 2]>;

/// What an item declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A named expression.
    Let,
    /// A cluster.
    Cluster,
    /// A topology.
    Topology,
    /// An algorithm.
    Algorithm,
    /// A named tree.
    Tree,
    /// A template.
    Template,
    /// A curve.
    Curve,
}

impl SymbolKind {
    /// `topology`, `named tree`.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Let => "named expression",
            Self::Cluster => "cluster",
            Self::Topology => "topology",
            Self::Algorithm => "algorithm",
            Self::Tree => "named tree",
            Self::Template => "template",
            Self::Curve => "curve",
        }
    }
}

impl fmt::Display for SymbolKind {
    /// With its article: `an algorithm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = match self {
            Self::Algorithm => "an",
            _ => "a",
        };
        write!(f, "{article} {}", self.noun())
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ops(u32);

impl Ops {
    /// The set with `op` in it.
    #[must_use]
    pub const fn with(self, op: Operation) -> Self {
        Self(self.0 | 1 << op as u32)
    }

    /// Whether `op` is in the set.
    pub const fn contains(self, op: Operation) -> bool {
        self.0 >> op as u32 & 1 == 1
    }

    /// Those in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The operations, in the order of the vocabulary.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL
            .iter()
            .copied()
            .filter(move |&op| self.contains(op))
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Operation> for Ops {
    fn from_iter<I: IntoIterator<Item = Operation>>(ops: I) -> Self {
        ops.into_iter().fold(Self::default(), Self::with)
    }
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name.
    pub name: SmolStr,
    /// What it is.
    pub kind: SymbolKind,
    /// The module it is declared in.
    pub module: ModuleId,
    /// Its item, as an index of [`super::Workspace::items`].
    pub item: u32,
    /// Where the name stands.
    pub place: Place,
    /// Whether it may be used in its own file alone.
    pub private: bool,
    /// The operations of a template; empty for everything else.
    pub ops: Ops,
}

/// What an import brings in.
#[derive(Clone, Debug)]
pub enum Target {
    /// Declared things.
    Symbols(Symbols),
    /// A module.
    Module(ModuleId),
    /// Nothing that is known; reported already.
    Broken,
}

/// A name that a `use` item binds.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name as it is known here.
    pub name: SmolStr,
    /// Where that name stands.
    pub place: Place,
    /// The `use` item, as an index of [`super::Workspace::items`].
    pub item: u32,
    /// What it stands for.
    pub target: Target,
}

/// The names of a module.
#[derive(Clone, Debug, Default)]
pub struct ModuleNames {
    /// Its full name.
    pub name: SmolStr,
    /// Its library, as an index.
    pub library: usize,
    /// What its items declare, by name.
    pub own: FxHashMap<SmolStr, Symbols>,
    /// What its `use` items bind, in the order of the text.
    pub imports: Vec<Import>,
    pub(super) imports_by_name: FxHashMap<SmolStr, SmallVec<[u32; 1]>>,
    /// Names of items that did not parse.
    pub(super) broken: FxHashSet<SmolStr>,
    /// Whether some item did not parse that may have declared or imported any name.
    pub(super) incomplete: bool,
}

/// All names of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub(super) symbols: Vec<Symbol>,
    pub(super) modules: Vec<ModuleNames>,
    pub(super) modules_by_name: FxHashMap<SmolStr, ModuleId>,
    /// Dotted names below which modules lie.
    pub(super) folders: FxHashSet<SmolStr>,
    pub(super) libraries: Vec<LibraryNames>,
    pub(super) prelude: Option<ModuleId>,
}

/// A library as far as names are concerned.
#[derive(Clone, Debug)]
pub(super) struct LibraryNames {
    pub(super) name: SmolStr,
    /// The libraries it may use besides itself and std; any if it has no manifest.
    pub(super) requires: Option<Vec<SmolStr>>,
}

/// What a name means at some place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Declared things, the nearest first: several only if they are templates.
    Symbols {
        /// What was found.
        found: Symbols,
        /// Whether items that did not parse may have declared more.
        incomplete: bool,
    },
    /// A module.
    Module(ModuleId),
    /// Something that did not parse or that an import did not find; reported already.
    Broken,
    /// Declared, but private to another file.
    Private(SymbolId),
    /// Nothing. `part` of the dotted name is not in `within`.
    Missing {
        /// Index of the part that means nothing.
        part: usize,
        /// The module in which that part was looked for; the scope of the use when absent.
        within: Option<ModuleId>,
    },
    /// A library that the manifest does not require.
    NotRequired {
        /// Its name.
        library: SmolStr,
    },
}

impl Names {
    /// A symbol.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// All symbols, in the order of modules and text.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = (SymbolId, &Symbol)> {
        self.symbols
            .iter()
            .enumerate()
            .map(|(i, s)| (SymbolId(i as u32), s))
    }

    /// What an item declares; the item is an index of [`super::Workspace::items`].
    pub fn declared_by(&self, item: u32) -> Option<&Symbol> {
        // Symbols are in the order of their items, and an item declares at most one.
        let at = self.symbols.binary_search_by_key(&item, |s| s.item).ok()?;
        self.symbols.get(at)
    }

    /// A module's names.
    pub fn module(&self, id: ModuleId) -> &ModuleNames {
        &self.modules[id.index()]
    }

    /// The module with this full name.
    pub fn module_named(&self, name: &str) -> Option<ModuleId> {
        self.modules_by_name.get(name).copied()
    }

    /// What a dotted name means in a module, apart from parameters and variables around it.
    pub fn look_up(&self, module: ModuleId, parts: &[ast::Name]) -> Lookup {
        match parts {
            [] => Lookup::Broken,
            [name] => self.look_up_name(module, &name.text),
            [head, ..] => {
                let scope = self.module(module);
                let start = match scope.imports(&head.text).next() {
                    Some(Target::Module(alias)) => Some(*alias),
                    Some(Target::Broken) => return Lookup::Broken,
                    _ => None,
                };
                self.visible_from(module, self.look_up_path(scope.library, start, parts))
            }
        }
    }

    fn look_up_name(&self, module: ModuleId, name: &str) -> Lookup {
        let scope = self.module(module);
        let mut found = scope.own.get(name).cloned().unwrap_or_default();
        let mut unknown_import = None;
        if self.may_join(&found) {
            for target in scope.imports(name) {
                match target {
                    Target::Symbols(symbols) => self.join(&mut found, symbols),
                    Target::Module(m) => unknown_import = Some(Lookup::Module(*m)),
                    Target::Broken => unknown_import = Some(Lookup::Broken),
                }
            }
        }
        if self.may_join(&found) {
            let prelude = self.prelude.and_then(|p| self.module(p).own.get(name));
            self.join(&mut found, prelude.map_or(&[], |p| p.as_slice()));
        }
        let incomplete = scope.incomplete || scope.broken.contains(name);
        match (found.is_empty(), unknown_import) {
            (false, _) => Lookup::Symbols { found, incomplete },
            (true, Some(lookup)) => lookup,
            (true, None) if incomplete => Lookup::Broken,
            (true, None) => Lookup::Missing {
                part: 0,
                within: None,
            },
        }
    }

    /// Whether further symbols of the same name may stand beside these.
    fn may_join(&self, found: &[SymbolId]) -> bool {
        found
            .iter()
            .all(|&s| self.symbol(s).kind == SymbolKind::Template)
    }

    fn join(&self, found: &mut Symbols, more: &[SymbolId]) {
        for &symbol in more {
            let joins = found.is_empty() || self.symbol(symbol).kind == SymbolKind::Template;
            if joins && !found.contains(&symbol) {
                found.push(symbol);
            }
        }
    }

    /// What a full name means for a library. The first part stands for `start`, or names a library.
    pub(super) fn look_up_path(
        &self,
        library: usize,
        start: Option<ModuleId>,
        parts: &[ast::Name],
    ) -> Lookup {
        let Some((first, rest)) = parts.split_first() else {
            return Lookup::Broken;
        };
        let (mut path, mut within) = match start {
            Some(module) => (self.module(module).name.to_string(), Some(module)),
            None => match self.library_check(library, &first.text) {
                Some(refused) => return refused,
                None => (first.text.to_string(), self.module_named(&first.text)),
            },
        };
        for (i, part) in rest.iter().enumerate() {
            let (index, last) = (i + 1, i + 1 == rest.len());
            path.push('.');
            path.push_str(&part.text);
            match (self.module_named(&path), within) {
                (Some(module), _) => within = Some(module),
                (None, _) if !last && self.folders.contains(path.as_str()) => within = None,
                (None, Some(module)) => return self.member(module, index, &part.text, last),
                (None, None) => {
                    return Lookup::Missing {
                        part: index,
                        within: None,
                    };
                }
            }
        }
        within.map_or(
            Lookup::Missing {
                part: parts.len() - 1,
                within: None,
            },
            Lookup::Module,
        )
    }

    fn member(&self, module: ModuleId, part: usize, name: &str, last: bool) -> Lookup {
        let names = self.module(module);
        match names.own.get(name) {
            Some(found) if last => Lookup::Symbols {
                found: found.clone(),
                incomplete: names.incomplete || names.broken.contains(name),
            },
            Some(_) => Lookup::Missing {
                part: part + 1,
                within: None,
            },
            None if names.incomplete || names.broken.contains(name) => Lookup::Broken,
            None => Lookup::Missing {
                part,
                within: Some(module),
            },
        }
    }

    /// A refusal if `name` is no library or one that `library` may not use.
    fn library_check(&self, library: usize, name: &str) -> Option<Lookup> {
        let known = self.libraries.iter().position(|l| l.name == name);
        let Some(known) = known else {
            return Some(Lookup::Missing {
                part: 0,
                within: None,
            });
        };
        let requires = self.libraries[library].requires.as_ref()?;
        let usable = known == library || name == super::STD || requires.iter().any(|r| r == name);
        (!usable).then(|| Lookup::NotRequired {
            library: name.into(),
        })
    }

    /// Hides what is private to other files.
    pub(super) fn visible_from(&self, module: ModuleId, lookup: Lookup) -> Lookup {
        let Lookup::Symbols { found, incomplete } = lookup else {
            return lookup;
        };
        let hidden = |&s: &SymbolId| self.symbol(s).private && self.symbol(s).module != module;
        match found.iter().copied().find(hidden) {
            Some(symbol) if found.iter().all(hidden) => Lookup::Private(symbol),
            _ => Lookup::Symbols {
                found: found.into_iter().filter(|s| !hidden(s)).collect(),
                incomplete,
            },
        }
    }

    /// The public names of a module, in no particular order, for suggestions.
    pub fn public_names(&self, module: ModuleId) -> impl Iterator<Item = &str> + Clone {
        self.module(module)
            .own
            .values()
            .filter_map(|s| s.first())
            .map(|&s| self.symbol(s))
            .filter(|s| !s.private)
            .map(|s| s.name.as_str())
    }
}

impl ModuleNames {
    /// What the imports of this name stand for.
    pub fn imports(&self, name: &str) -> impl Iterator<Item = &Target> {
        self.imports_by_name
            .get(name)
            .into_iter()
            .flatten()
            .map(|&i| &self.imports[i as usize].target)
    }
}
