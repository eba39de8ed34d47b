//! `use` items: what they bind, and what they hide.

use super::load::Workspace;
use super::names::{Import, Lookup, Names, Symbol, SymbolKind, Symbols, Target};
use super::report::Reporter;
use crate::diagnostics::{Diagnostic, codes};
use crate::library::ModuleId;
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{ItemKind, Name, Use};
use rayon::prelude::*;

/// Binds the imports of all modules, with what is wrong about them.
pub(super) fn import(workspace: &Workspace, names: &mut Names) -> Vec<Diagnostic> {
    let bound: Vec<(Vec<Import>, Vec<Diagnostic>)> = (0..workspace.modules.len())
        .into_par_iter()
        .map(|i| {
            let mut binder = Binder {
                workspace,
                names,
                module: ModuleId(i as u32),
                reporter: Reporter::new(workspace, names),
                imports: Vec::new(),
                diagnostics: Vec::new(),
            };
            binder.module();
            (binder.imports, binder.diagnostics)
        })
        .collect();
    let mut diagnostics = Vec::new();
    for (i, (imports, faults)) in bound.into_iter().enumerate() {
        diagnostics.extend(faults);
        let module = &mut names.modules[i];
        for (k, import) in imports.iter().enumerate() {
            module
                .imports_by_name
                .entry(import.name.clone())
                .or_default()
                .push(k as u32);
        }
        module.imports = imports;
    }
    for i in 0..names.modules.len() {
        hidden(workspace, names, ModuleId(i as u32), &mut diagnostics);
    }
    diagnostics
}

struct Binder<'a> {
    workspace: &'a Workspace,
    names: &'a Names,
    module: ModuleId,
    reporter: Reporter<'a>,
    imports: Vec<Import>,
    diagnostics: Vec<Diagnostic>,
}

impl Binder<'_> {
    fn module(&mut self) {
        let workspace = self.workspace;
        for item in workspace.modules[self.module.index()].items.clone() {
            if let ItemKind::Use(it) = &workspace.items[item as usize].parsed.item.kind {
                self.use_item(item, it);
            }
        }
    }

    fn use_item(&mut self, item: u32, it: &Use) {
        let Some(group) = &it.group else {
            let Some(last) = it.path.parts.last() else {
                return;
            };
            let bound = it.alias.as_ref().unwrap_or(last);
            return self.bind(item, &it.path.parts, bound);
        };
        let mut path = it.path.parts.clone();
        for member in group {
            path.push(member.name.clone());
            let bound = member.alias.as_ref().unwrap_or(&member.name);
            let known = self.diagnostics.len();
            self.bind(item, &path, bound);
            path.pop();
            // A wrong path in front of the group is one fault, not one for each name.
            let about_path = self.diagnostics[known..]
                .iter()
                .any(|d| d.primary.place.span.start < member.name.span.start);
            if about_path && member.name.span != group[0].name.span {
                self.diagnostics.truncate(known);
            }
        }
    }

    fn bind(&mut self, item: u32, path: &[Name], bound: &Name) {
        let id = self.workspace.items[item as usize].id;
        let library = self.names.module(self.module).library;
        if let [only] = path
            && self.names.libraries.iter().any(|l| l.name == only.text)
        {
            self.diagnostics.push(library_alone(id, only));
            return;
        }
        let found = self.names.look_up_path(library, None, path);
        let found = self.names.visible_from(self.module, found);
        let target = match &found {
            Lookup::Symbols { found, .. } => Target::Symbols(found.clone()),
            Lookup::Module(module) => Target::Module(*module),
            Lookup::Broken => Target::Broken,
            _ => {
                self.diagnostics
                    .extend(self.reporter.import(self.module, id, path, &found));
                Target::Broken
            }
        };
        self.imports.push(Import {
            name: bound.text.clone(),
            place: Place {
                item: id,
                span: bound.span,
            },
            item,
            target,
        });
    }
}

/// An import of a library's name, which is in scope anyway.
fn library_alone(item: ItemId, name: &Name) -> Diagnostic {
    let place = Place {
        item,
        span: name.span,
    };
    let message = format!(
        "`{}` is a library, and its name is in scope as it is",
        name.text
    );
    Diagnostic::new(codes::E0204, place, message).help(format!(
        "name what you need of it: `use {}.MODULE.NAME;`",
        name.text
    ))
}

/// Reports names that hide others: imports that bind a name which the file binds otherwise, and items
/// that take the place of templates of the prelude.
fn hidden(
    workspace: &Workspace,
    names: &Names,
    module: ModuleId,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let scope = names.module(module);
    for (k, import) in scope.imports.iter().enumerate() {
        let earlier = scope.imports_by_name[&import.name]
            .iter()
            .take_while(|&&i| (i as usize) < k)
            .map(|&i| &scope.imports[i as usize]);
        for other in earlier {
            diagnostics.extend(import_clash(names, import, other));
        }
        let own = scope.own.get(&import.name);
        if let Some(own) = own.filter(|own| !may_share(names, own, &import.target)) {
            let symbol = names.symbol(own[0]);
            diagnostics.push(
                Diagnostic::new(
                    codes::E0212,
                    import.place,
                    format!(
                        "this import has the name of an item of this file, `{}`",
                        import.name
                    ),
                )
                .label(symbol.place, format!("{} of this file", symbol.kind))
                .help(format!(
                    "give the import another name: `{} as OTHER`",
                    import.name
                )),
            );
        }
    }
    hidden_prelude(workspace, names, module, diagnostics);
}

/// Reports items that take the place of a template which is in scope everywhere.
fn hidden_prelude(
    workspace: &Workspace,
    names: &Names,
    module: ModuleId,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(prelude) = names.prelude.filter(|&p| p != module) else {
        return;
    };
    let own = &names.module(module).own;
    let mut hiding: Vec<(&Symbol, &Symbol)> = Vec::new();
    for (name, templates) in &names.module(prelude).own {
        for &symbol in own.get(name).into_iter().flatten() {
            let symbol = names.symbol(symbol);
            let hides = |std: &&Symbol| {
                symbol.kind != SymbolKind::Template || !symbol.ops.and(std.ops).is_empty()
            };
            let templates = templates.iter().map(|&s| names.symbol(s));
            hiding.extend(templates.filter(hides).map(|std| (symbol, std)));
        }
    }
    hiding.sort_by_key(|(symbol, std)| (symbol.item, std.item));
    for (symbol, std) in hiding {
        let name = &symbol.name;
        let message = match symbol.ops.and(std.ops).iter().next() {
            Some(op) => {
                format!("in this file `{name}` hides the template of std that plans `{op}`")
            }
            None => format!(
                "in this file {} hides the template `{name}` of std",
                symbol.kind
            ),
        };
        diagnostics.push(
            Diagnostic::new(codes::W0203, symbol.place, message)
                .label(std.place, "the template of std")
                .help("give it another name, or `allow(W0203)` if this is meant")
                .suggest(
                    "allow it",
                    start_of_item(workspace, symbol.item),
                    "allow(W0203)\n",
                ),
        );
    }
}

/// Where the first word of an item stands, behind its comments.
fn start_of_item(workspace: &Workspace, item: u32) -> Place {
    let loaded = &workspace.items[item as usize];
    let start = loaded.parsed.item.span.start;
    Place {
        item: loaded.id,
        span: Span::new(start, start),
    }
}

fn import_clash(names: &Names, import: &Import, other: &Import) -> Option<Diagnostic> {
    let name = &import.name;
    let same = match (&import.target, &other.target) {
        (Target::Symbols(a), Target::Symbols(b)) => a == b,
        (Target::Module(a), Target::Module(b)) => a == b,
        _ => false,
    };
    if same {
        let diagnostic = Diagnostic::new(
            codes::E0202,
            import.place,
            format!("`{name}` is imported twice"),
        );
        return Some(diagnostic.label(other.place, "first imported here"));
    }
    let share = match &other.target {
        Target::Symbols(symbols) => may_share(names, symbols, &import.target),
        Target::Broken => true,
        Target::Module(_) => matches!(import.target, Target::Broken),
    };
    (!share).then(|| {
        Diagnostic::new(
            codes::E0212,
            import.place,
            format!("this import hides another with the name `{name}`"),
        )
        .label(other.place, "the other import")
        .help(format!("give one of them another name: `{name} as OTHER`"))
    })
}

/// Whether what is declared and what is imported can both have one name: templates for different
/// operations.
fn may_share(names: &Names, own: &Symbols, target: &Target) -> bool {
    let imported = match target {
        Target::Broken => return true,
        Target::Module(_) => return false,
        Target::Symbols(symbols) => symbols,
    };
    own.iter().all(|&a| {
        imported.iter().all(|&b| {
            let (a, b) = (names.symbol(a), names.symbol(b));
            a.kind == SymbolKind::Template
                && b.kind == SymbolKind::Template
                && a.ops.and(b.ops).is_empty()
        })
    })
}
