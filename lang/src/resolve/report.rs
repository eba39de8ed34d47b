//! Words for names that mean nothing, or not what is needed.

use super::load::Workspace;
use super::names::{Lookup, Names, SymbolId, SymbolKind, Target};
use crate::diagnostics::{Applicability, Diagnostic, Edit, codes};
use crate::library::ModuleId;
use crate::nearest::{nearest, nearest_or_list};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{ItemKind, Name};
use std::cell::Cell;

/// How many suggestions are looked for in one module: each costs a walk over all names of all
/// libraries.
const MOST_SEARCHES: u32 = 100;

/// Makes diagnostics about names.
pub struct Reporter<'a> {
    workspace: &'a Workspace,
    names: &'a Names,
    searches: Cell<u32>,
}

impl<'a> Reporter<'a> {
    /// For the names of a workspace.
    pub fn new(workspace: &'a Workspace, names: &'a Names) -> Self {
        Self {
            workspace,
            names,
            searches: Cell::new(0),
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
        if !self.may_search() {
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
        if !self.may_search() {
            return diagnostic;
        }
        let fits = |kind| kind == wanted;
        if let Some(found) = self.declared_elsewhere(text, fits) {
            let diagnostic = diagnostic.help(format!(
                "there is one in another module: add `use {found};`"
            ));
            return self.with_import(diagnostic, module, &found);
        }
        let in_scope = self.in_scope(module, wanted);
        if let Some(near) = nearest(text, in_scope.iter().copied()) {
            return diagnostic.help(format!("did you mean `{near}`?")).suggest(
                format!("replace with `{near}`"),
                place,
                near,
            );
        }
        match self.nearest_elsewhere(text, wanted) {
            Some(found) => diagnostic.help(format!("did you mean `{found}`?")),
            None => diagnostic,
        }
    }

    /// Names of a kind that can be used in a module as they are, sorted.
    pub fn in_scope(&self, module: ModuleId, wanted: SymbolKind) -> Vec<&str> {
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

    /// Whether another suggestion may be looked for.
    fn may_search(&self) -> bool {
        self.searches.set(self.searches.get() + 1);
        self.searches.get() <= MOST_SEARCHES
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
