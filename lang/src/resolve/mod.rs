//! Libraries, modules and names.
//!
//! [`load`] reads and parses files into a [`Workspace`]; [`Names`] is what [`resolve`] makes of it:
//! which names each module declares and imports. What a name means at a place is answered by
//! [`Names::look_up`], for the checker and for editors alike.

mod cycles;
mod declare;
mod find;
mod imports;
mod load;
mod manifest;
mod names;
mod report;
#[cfg(test)]
mod tests;
mod unused;
mod uses;

use crate::diagnostics::Diagnostic;

pub use cycles::Cyclic;
pub use find::LoadRequest;
pub use load::{LoadedItem, LoadedLibrary, LoadedModule, STD, Workspace, load};
pub use manifest::{EDITIONS, MANIFEST, Manifest, Requirement, is_identifier, parse_manifest};
pub use names::{
    Import, Lookup, ModuleNames, Names, Ops, PRELUDE, Symbol, SymbolId, SymbolKind, Symbols, Target,
};
pub use report::{Reporter, SortedNames};
pub use unused::unused;
pub use uses::{Use, UseKind, split_operation, visit_own_uses, visit_uses, visit_values};

/// Finds out what every module declares and imports, and which definitions depend on themselves.
pub fn resolve(workspace: &Workspace) -> (Names, Cyclic, Vec<Diagnostic>) {
    let (mut names, mut diagnostics) = declare::declare(workspace);
    diagnostics.extend(imports::import(workspace, &mut names));
    let (cyclic, cycles) = cycles::find_cycles(workspace, &names);
    diagnostics.extend(cycles);
    (names, cyclic, diagnostics)
}
