//! Words for names that mean nothing, or not what is needed.

use super::load::Workspace;
use super::names::{Lookup, Names, SymbolId, SymbolKind, Target};
use crate::diagnostics::{Applicability, Diagnostic, Edit, codes};
use crate::library::ModuleId;
use crate::nearest::{nearest, nearest_or_list};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{ItemKind, Name};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How many names are compared for suggestions in a whole workspace, shared among its modules; a
/// module may always compare [`LEAST_WORK`].
const WORK: usize = 1_000_000;
const LEAST_WORK: usize = 10_000;

/// Makes diagnostics about names.
pub struct Reporter<'a> {
    workspace: &'a Workspace,
    names: &'a Names,
    /// How many names may still be compared.
    work: Cell<usize>,
    suggestions: RefCell<FxHashMap<(ModuleId, SmolStr, SymbolKind), Suggestion>>,
    scopes: RefCell<FxHashMap<(ModuleId, SymbolKind), SortedNames<'a>>>,
}

/// Names in alphabetical order, each once.
pub type SortedNames<'a> = Rc<[&'a str]>;

/// What was probably meant by a name that means nothing.
#[derive(Clone)]
enum Suggestion {
    /// The same name of another module, which is not imported.
    Import(String),
    /// A name in scope.
    InScope(SmolStr),
    /// A name of another module, with that module's.
    Elsewhere(String),
    Nothing,
}

impl<'a> Reporter<'a> {
    /// For the names of a workspace.
    pub fn new(workspace: &'a Workspace, names: &'a Names) -> Self {
        Self {
            workspace,
            names,
            work: Cell::new((WORK / names.modules.len().max(1)).max(LEAST_WORK)),
            suggestions: RefCell::default(),
            scopes: RefCell::default(),
        }
    }

    /// An import that names nothing: `lookup` is what its path means.
    pub(super) fn import(
        &self,
        module: ModuleId,
        item: ItemId,
        path: &[Name],
        lookup: &Lookup,
    ) -> Option<Diagnostic> {
        let at = |part: usize| Place {
            item,
            span: path[part.min(path.len() - 1)].span,
        };
        let diagnostic = match lookup {
            Lookup::Symbols { .. } | Lookup::Module(_) | Lookup::Broken => return None,
            Lookup::Private(symbol) => self.private(*symbol, at(path.len() - 1)),
            Lookup::NotRequired { library } => self.not_required(module, library, at(0)),
            Lookup::Missing { part: 0, .. } => {
                let name = &path[0].text;
                let libraries = self.workspace.libraries.iter().map(|l| l.name.as_str());
                let mut diagnostic =
                    Diagnostic::new(codes::E0204, at(0), format!("there is no library `{name}`"));
                let own = &self.names.libraries[self.names.module(module).library].name;
                diagnostic.help = match self.names.module_named(&format!("{own}.{name}")) {
                    Some(_) => Some(format!(
                        "an import begins with the library: `use {own}.{name}…`"
                    )),
                    None => nearest_or_list(name, "libraries", libraries),
                };
                diagnostic
            }
            Lookup::Missing {
                part,
                within: Some(within),
            } => self.no_member(*within, &path[*part].text, at(*part)),
            Lookup::Missing { part, within: None } => self.no_module(path, *part, at(*part)),
        };
        Some(diagnostic)
    }

    fn no_member(&self, within: ModuleId, name: &str, place: Place) -> Diagnostic {
        let module = &self.names.module(within).name;
        let mut diagnostic = Diagnostic::new(
            codes::E0204,
            place,
            format!("the module `{module}` has nothing called `{name}`"),
        );
        if !self.may_compare(self.names.module(within).own.len()) {
            return diagnostic;
        }
        let mut all: Vec<&str> = self.names.public_names(within).collect();
        all.sort_unstable();
        if let Some(near) = nearest(name, all.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?")).suggest(
                format!("replace with `{near}`"),
                place,
                near,
            );
        } else if let Some(other) = self.declared_elsewhere(name, |_| true) {
            diagnostic = diagnostic.help(format!("there is one in `{other}`"));
        } else {
            diagnostic.help = nearest_or_list(name, "it has", all.iter().copied());
        }
        diagnostic
    }

    fn no_module(&self, path: &[Name], part: usize, place: Place) -> Diagnostic {
        let join = |parts: &[Name]| {
            parts
                .iter()
                .map(|p| p.text.as_str())
                .collect::<Vec<_>>()
                .join(".")
        };
        let shown = join(&path[..path.len().min(part + 1)]);
        if part >= path.len() || !self.names.folders.contains(join(&path[..part]).as_str()) {
            let whole = join(&path[..part.min(path.len())]);
            return Diagnostic::new(
                codes::E0204,
                place,
                format!("`{whole}` is not a module and has no members"),
            );
        }
        let prefix = join(&path[..part]);
        let mut below: Vec<&str> = self
            .workspace
            .modules
            .iter()
            .filter_map(|m| m.name.strip_prefix(prefix.as_str())?.strip_prefix('.'))
            .map(|rest| rest.split('.').next().unwrap_or(rest))
            .collect();
        below.dedup();
        let mut diagnostic =
            Diagnostic::new(codes::E0204, place, format!("there is no module `{shown}`"));
        let Some(name) = path.get(part).map(|n| n.text.as_str()) else {
            return diagnostic;
        };
        match nearest(name, below.iter().copied()) {
            Some(near) => {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?")).suggest(
                    format!("replace with `{near}`"),
                    place,
                    near,
                );
            }
            None => {
                let what = format!("`{prefix}` has");
                diagnostic.help = nearest_or_list(name, &what, below.iter().copied());
            }
        }
        diagnostic
    }

    fn private(&self, symbol: SymbolId, place: Place) -> Diagnostic {
        let symbol = self.names.symbol(symbol);
        Diagnostic::new(
            codes::E0205,
            place,
            format!(
                "`{}` is private to `{}`",
                symbol.name,
                self.names.module(symbol.module).name
            ),
        )
        .label(symbol.place, "declared private here")
        .help("remove `private` there, or declare one of your own")
    }

    fn not_required(&self, module: ModuleId, library: &str, place: Place) -> Diagnostic {
        let own = &self.workspace.libraries[self.names.module(module).library];
        let known = self.workspace.libraries.iter().find(|l| l.name == library);
        let help = match known {
            Some(known) if known.requires.is_some() => format!(
                "add `{library} = \"{}\"` to `requires` in the manifest",
                known.version
            ),
            _ => format!("give `{library}` a manifest, so that it can be required"),
        };
        Diagnostic::new(
            codes::E0204,
            place,
            format!("`{}` does not require the library `{library}`", own.name),
        )
        .label(own.place, "its manifest")
        .help(help)
    }

    /// A name that means nothing where `wanted` is needed, as `lookup` says; nothing if that is
    /// reported elsewhere.
    pub fn unknown(
        &self,
        module: ModuleId,
        item: ItemId,
        path: &[Name],
        wanted: SymbolKind,
        lookup: &Lookup,
    ) -> Option<Diagnostic> {
        if let ([name], Lookup::Missing { .. }) = (path, lookup) {
            return Some(self.unknown_name(module, item, name, wanted));
        }
        let mut diagnostic = self.import(module, item, path, lookup)?;
        if diagnostic.code == codes::E0204 {
            diagnostic.code = codes::E0201;
        }
        Some(diagnostic)
    }

    fn unknown_name(
        &self,
        module: ModuleId,
        item: ItemId,
        name: &Name,
        wanted: SymbolKind,
    ) -> Diagnostic {
        let place = Place {
            item,
            span: name.span,
        };
        let text = name.text.as_str();
        let message = format!("there is no {} `{text}`", wanted.noun());
        let diagnostic = Diagnostic::new(codes::E0201, place, message);
        match self.suggestion(module, &name.text, wanted) {
            Suggestion::Nothing => diagnostic,
            Suggestion::InScope(near) => diagnostic
                .help(format!("did you mean `{near}`?"))
                .suggest(format!("replace with `{near}`"), place, near),
            Suggestion::Elsewhere(near) => diagnostic.help(format!("did you mean `{near}`?")),
            Suggestion::Import(full) => {
                let help = format!("there is one in another module: add `use {full};`");
                self.with_import(diagnostic.help(help), module, &full)
            }
        }
    }

    /// What was probably meant; looked for once.
    fn suggestion(&self, module: ModuleId, name: &SmolStr, wanted: SymbolKind) -> Suggestion {
        let key = (module, name.clone(), wanted);
        if let Some(known) = self.suggestions.borrow().get(&key) {
            return known.clone();
        }
        let found = self.look_for(module, name, wanted);
        self.suggestions.borrow_mut().insert(key, found.clone());
        found
    }

    fn look_for(&self, module: ModuleId, name: &str, wanted: SymbolKind) -> Suggestion {
        if let Some(full) = self.declared_elsewhere(name, |kind| kind == wanted) {
            return Suggestion::Import(full);
        }
        let in_scope = self.in_scope(module, wanted);
        if self.may_compare(in_scope.len())
            && let Some(near) = nearest(name, in_scope.iter().copied())
        {
            return Suggestion::InScope(near.into());
        }
        if self.may_compare(self.names.symbols.len())
            && let Some(full) = self.nearest_elsewhere(name, wanted)
        {
            return Suggestion::Elsewhere(full);
        }
        Suggestion::Nothing
    }

    /// Names of a kind that can be used in a module as they are, sorted.
    pub fn in_scope(&self, module: ModuleId, wanted: SymbolKind) -> SortedNames<'a> {
        if let Some(known) = self.scopes.borrow().get(&(module, wanted)) {
            return known.clone();
        }
        let names: SortedNames<'a> = self.collect_scope(module, wanted).into();
        self.scopes
            .borrow_mut()
            .insert((module, wanted), names.clone());
        names
    }

    fn collect_scope(&self, module: ModuleId, wanted: SymbolKind) -> Vec<&'a str> {
        let scope = self.names.module(module);
        let is_wanted = |symbols: &[SymbolId]| self.names.symbol(symbols[0]).kind == wanted;
        let prelude = self.names.prelude.map(|p| self.names.module(p).own.iter());
        let declared = scope
            .own
            .iter()
            .chain(prelude.into_iter().flatten())
            .filter(|(_, symbols)| is_wanted(symbols))
            .map(|(name, _)| name.as_str());
        let imported = scope.imports.iter().filter_map(|i| match &i.target {
            Target::Symbols(symbols) if is_wanted(symbols) => Some(i.name.as_str()),
            _ => None,
        });
        let mut names: Vec<&str> = declared.chain(imported).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether so many names may be compared; if so, they are counted.
    fn may_compare(&self, names: usize) -> bool {
        let left = self.work.get().checked_sub(names);
        self.work.set(left.unwrap_or(self.work.get()));
        left.is_some()
    }

    /// The full name of a public item of some module that is called `name`.
    fn declared_elsewhere(&self, name: &str, fits: impl Fn(SymbolKind) -> bool) -> Option<String> {
        self.names
            .modules
            .iter()
            .filter_map(|m| Some((m, self.names.symbol(*m.own.get(name)?.first()?))))
            .find(|(_, symbol)| !symbol.private && fits(symbol.kind))
            .map(|(m, _)| format!("{}.{name}", m.name))
    }

    fn nearest_elsewhere(&self, name: &str, wanted: SymbolKind) -> Option<String> {
        let all = self
            .names
            .symbols
            .iter()
            .filter(|s| !s.private && s.kind == wanted);
        let near = nearest(name, all.clone().map(|s| s.name.as_str()))?;
        let symbol = all.clone().find(|s| s.name == near)?;
        Some(format!("{}.{near}", self.names.module(symbol.module).name))
    }

    /// Adds a fix that imports `full`.
    fn with_import(&self, diagnostic: Diagnostic, module: ModuleId, full: &str) -> Diagnostic {
        let loaded = &self.workspace.modules[module.index()];
        let items = &self.workspace.items[loaded.items.start as usize..loaded.items.end as usize];
        let last_use = items
            .iter()
            .rev()
            .find(|i| matches!(i.parsed.item.kind, ItemKind::Use(_)));
        let (place, text) = match (last_use, items.first()) {
            (Some(it), _) => (end_of(it.id, it.parsed.item.span), format!("\nuse {full};")),
            (None, Some(it)) => (
                Place {
                    item: it.id,
                    span: Span::default(),
                },
                format!("use {full};\n\n"),
            ),
            (None, None) => return diagnostic,
        };
        diagnostic.fix(
            format!("import `{full}`"),
            vec![Edit { place, text }],
            Applicability::Suggested,
        )
    }

    /// A name that stands for something of another kind than `wanted`.
    pub fn wrong_kind(&self, symbol: SymbolId, place: Place, wanted: SymbolKind) -> Diagnostic {
        let symbol = self.names.symbol(symbol);
        Diagnostic::new(
            codes::E0203,
            place,
            format!(
                "`{}` is {}, and {wanted} is needed here",
                symbol.name, symbol.kind
            ),
        )
        .label(symbol.place, "declared here")
    }

    /// A module that stands where `wanted` is needed.
    pub fn is_module(&self, module: ModuleId, place: Place, wanted: SymbolKind) -> Diagnostic {
        Diagnostic::new(
            codes::E0203,
            place,
            format!(
                "`{}` is a module, and {wanted} is needed here",
                self.names.module(module).name
            ),
        )
    }
}

fn end_of(item: ItemId, span: Span) -> Place {
    Place {
        item,
        span: Span::new(span.end, span.end),
    }
}
