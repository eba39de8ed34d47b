//! Reads and parses libraries.

use super::find::{EXTENSION, Found, FoundFile, FoundLibrary, LoadRequest, Origin, Source, find};
use super::manifest::{MANIFEST, Manifest, Requirement, parse_manifest};
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::library::ModuleId;
use crate::nearest::nearest_or_list;
use crate::parse::{ParsedFile, ParsedItem, PlacedItem, parse_file};
use crate::source::{FileId, ItemId, Place, SourceMap, Span};
use coll_grammar::split::MAX_FILE_BYTES;
use include_dir::{Dir, include_dir};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use semver::Version;
use smol_str::{SmolStr, format_smolstr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the embedded library.
pub const STD: &str = "std";

static STD_FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../stdlib-algos");

/// Libraries that were read and parsed, before names are resolved.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The files, manifests included.
    pub sources: SourceMap,
    /// The libraries, std first.
    pub libraries: Vec<LoadedLibrary>,
    /// The modules of all libraries, in the order of their libraries, then of their paths.
    pub modules: Vec<LoadedModule>,
    /// The items of all modules, in the order of the modules, then of the text.
    pub items: Vec<LoadedItem>,
    /// What was wrong so far: files, manifests, syntax.
    pub diagnostics: Vec<Diagnostic>,
}

/// A library of a [`Workspace`].
#[derive(Clone, Debug)]
pub struct LoadedLibrary {
    /// Its name, unique in the workspace.
    pub name: SmolStr,
    /// Its version.
    pub version: Version,
    /// What its manifest requires; none if it has no manifest, and then it may use any library.
    pub requires: Option<Vec<Requirement>>,
    /// Where its name stands: the manifest, or the file.
    pub place: Place,
}

/// A module of a [`Workspace`].
#[derive(Clone, Debug)]
pub struct LoadedModule {
    /// Its full name.
    pub name: SmolStr,
    /// Its library, as an index.
    pub library: usize,
    /// Its file.
    pub file: FileId,
    /// The whole file as an item.
    pub whole: ItemId,
    /// The `//!` text.
    pub docs: Option<SmolStr>,
    /// Whether the user named it.
    pub requested: bool,
    /// Its items in [`Workspace::items`].
    pub items: std::ops::Range<u32>,
}

/// An item of a [`Workspace`].
#[derive(Clone, Debug)]
pub struct LoadedItem {
    /// Its number in the source map.
    pub id: ItemId,
    /// Its module.
    pub module: ModuleId,
    /// What it says.
    pub parsed: Arc<ParsedItem>,
}

/// Finds, reads and parses everything a request names, the std library, and what is on the search
/// paths. Never fails: what is wrong is in the diagnostics of the result.
pub fn load(request: LoadRequest) -> Workspace {
    let Found {
        mut libraries,
        unreadable,
    } = find(&request);
    let mut loader = Loader {
        names: FxHashMap::default(),
        workspace: Workspace::default(),
    };
    for missing in unreadable {
        let place = loader.empty_file(missing.shown);
        let mut diagnostic = Diagnostic::new(codes::E0211, place, missing.message);
        diagnostic.help = missing.help;
        loader.workspace.diagnostics.push(diagnostic);
    }
    libraries.insert(0, embedded_std());
    let read: Vec<ReadLibrary> = libraries.into_par_iter().map(ReadLibrary::read).collect();
    loader.add_all(read);
    loader.check_requirements();
    loader.workspace
}

/// The std library as this program holds it.
fn embedded_std() -> FoundLibrary {
    let mut found = FoundLibrary {
        origin: Origin::Embedded,
        fallback: STD.to_owned(),
        manifest: None,
        files: Vec::new(),
    };
    add_embedded(&STD_FILES, &mut found);
    found.files.sort_by(|a, b| a.shown.cmp(&b.shown));
    found
}

fn add_embedded(dir: &'static Dir<'static>, found: &mut FoundLibrary) {
    for file in dir.files() {
        let path = file.path();
        let is_manifest = path == Path::new(MANIFEST);
        let is_source = path.extension().is_some_and(|e| e == EXTENSION);
        let Some(text) = file.contents_utf8().filter(|_| is_manifest || is_source) else {
            continue;
        };
        let entry = FoundFile {
            shown: format_smolstr!("{STD}/{}", path.display()),
            module: super::find::module_name(path),
            requested: false,
            source: Source::Embedded(text),
        };
        match is_manifest {
            true => found.manifest = Some(entry),
            false => found.files.push(entry),
        }
    }
    for dir in dir.dirs() {
        add_embedded(dir, found);
    }
}

/// A file that was read, and what was wrong with that.
struct ReadFile {
    shown: SmolStr,
    path: Option<PathBuf>,
    text: Arc<str>,
    fault: Option<Fault>,
}

/// Why a file is not as it must be.
struct Fault {
    code: Code,
    message: String,
    help: Option<&'static str>,
}

impl ReadFile {
    fn read(file: &FoundFile) -> Self {
        let (path, text) = match &file.source {
            Source::Embedded(text) => (None, Ok((*text).into())),
            Source::Held(path, text) => (Some(path.clone()), Ok(text.clone())),
            Source::Disk(path) => (Some(path.clone()), read_text(path)),
        };
        let (text, fault) = match text {
            Ok(text) => (text, None),
            Err((text, fault)) => (text, Some(fault)),
        };
        Self {
            shown: file.shown.clone(),
            path,
            text,
            fault,
        }
    }
}

/// The text of a file; with a fault, the text before it.
fn read_text(path: &Path) -> Result<Arc<str>, (Arc<str>, Fault)> {
    let unreadable = |message: String| {
        let fault = Fault {
            code: codes::E0211,
            message: format!("the file cannot be read: {message}"),
            help: None,
        };
        ("".into(), fault)
    };
    let metadata = path.metadata().map_err(|e| unreadable(e.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    if metadata.len() > MAX_FILE_BYTES as u64 {
        let fault = Fault {
            code: codes::E0102,
            message: format!(
                "the file has {} bytes; at most {MAX_FILE_BYTES} are read",
                metadata.len()
            ),
            help: Some("split it into several files of one library"),
        };
        return Err(("".into(), fault));
    }
    let bytes = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
    String::from_utf8(bytes).map(Arc::from).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let fault = Fault {
            code: codes::E0103,
            message: format!(
                "the file is not UTF-8: byte 0x{:02x} cannot stand here",
                bytes[good]
            ),
            help: Some("save the file as UTF-8"),
        };
        (String::from_utf8_lossy(&bytes[..good]).into(), fault)
    })
}

struct ReadLibrary {
    found: FoundLibrary,
    manifest: Option<ReadFile>,
    files: Vec<(ReadFile, ParsedFile)>,
}

impl ReadLibrary {
    fn read(found: FoundLibrary) -> Self {
        let manifest = found.manifest.as_ref().map(ReadFile::read);
        let files = found
            .files
            .par_iter()
            .map(|file| {
                let file = ReadFile::read(file);
                let parsed = match &file.fault {
                    None => parse_file(&file.text),
                    Some(_) => parse_file(""),
                };
                (file, parsed)
            })
            .collect();
        Self {
            found,
            manifest,
            files,
        }
    }
}

struct Loader {
    names: FxHashMap<SmolStr, usize>,
    workspace: Workspace,
}

impl Loader {
    /// Adds libraries whose names differ: the first of each name, except that a library that was
    /// named or given takes the place of the embedded one.
    fn add_all(&mut self, read: Vec<ReadLibrary>) {
        let is_std = |r: &ReadLibrary| {
            r.found.origin != Origin::Embedded
                && r.manifest.as_ref().is_some_and(|m| {
                    parse_manifest(&m.text, ItemId(0), &r.found.fallback).0.name == STD
                })
        };
        let own_std = read.iter().position(is_std);
        let mut order: Vec<usize> = (0..read.len()).collect();
        if let Some(own) = own_std {
            order.retain(|&i| i != 0 && i != own);
            order.insert(0, own);
        }
        let mut read: Vec<Option<ReadLibrary>> = read.into_iter().map(Some).collect();
        for i in order {
            if let Some(library) = read[i].take() {
                self.add(library);
            }
        }
    }

    fn add(&mut self, read: ReadLibrary) {
        let index = self.workspace.libraries.len();
        let (manifest, place) = match &read.manifest {
            Some(file) => {
                let (place, diagnostics, manifest) = self.manifest(file, &read.found.fallback);
                if let Some(&other) = self.names.get(&manifest.name) {
                    if read.found.origin != Origin::Search {
                        self.report_duplicate(&manifest.name, place, other);
                    }
                    return;
                }
                self.workspace.diagnostics.extend(diagnostics);
                (Some(manifest), Some(place))
            }
            None => (None, None),
        };
        let name = match &manifest {
            Some(manifest) => manifest.name.clone(),
            None => self.free_name(&read.found.fallback),
        };
        self.names.insert(name.clone(), index);
        let mut taken = FxHashSet::default();
        for (found, (file, parsed)) in read.found.files.iter().zip(read.files) {
            let module = match found.module.is_empty() {
                true => name.clone(),
                false => format_smolstr!("{name}.{}", found.module),
            };
            let whole = self.add_module(module.clone(), index, found.requested, file, parsed);
            if !taken.insert(module.clone()) {
                let diagnostic = Diagnostic::new(
                    codes::E0202,
                    start_of(whole),
                    format!("another file of this library is the module `{module}` too"),
                );
                self.workspace
                    .diagnostics
                    .push(diagnostic.help("rename one of the files"));
            }
        }
        let place = place
            .or_else(|| self.workspace.modules.last().map(|m| start_of(m.whole)))
            .unwrap_or_else(|| self.empty_file(name.clone()));
        self.workspace.libraries.push(LoadedLibrary {
            name,
            version: manifest
                .as_ref()
                .map_or(Version::new(0, 0, 0), |m| m.version.clone()),
            requires: manifest.map(|m| m.requires),
            place,
        });
    }

    fn manifest(&mut self, file: &ReadFile, fallback: &str) -> (Place, Vec<Diagnostic>, Manifest) {
        let whole = self.add_file(file);
        let (manifest, mut diagnostics) = parse_manifest(&file.text, whole, fallback);
        if let Some(fault) = &file.fault {
            diagnostics = vec![fault.diagnostic(whole, &file.text)];
        }
        (start_of(whole), diagnostics, manifest)
    }

    fn report_duplicate(&mut self, name: &str, place: Place, other: usize) {
        let other = self.workspace.libraries[other].place;
        let diagnostic = Diagnostic::new(
            codes::E0210,
            place,
            format!("there are two libraries with the name `{name}`"),
        )
        .label(other, "the first one, which is used")
        .help("rename one of them in its manifest");
        self.workspace.diagnostics.push(diagnostic);
    }

    /// A name for a library without a manifest that no other library has.
    fn free_name(&self, wanted: &str) -> SmolStr {
        let taken = |name: &str| self.names.contains_key(name);
        if !taken(wanted) {
            return wanted.into();
        }
        (2u32..)
            .map(|i| format_smolstr!("{wanted}_{i}"))
            .find(|name| !taken(name))
            .expect("there are fewer than 2^32 libraries")
    }

    fn add_file(&mut self, file: &ReadFile) -> ItemId {
        let sources = &mut self.workspace.sources;
        let id = sources.add_file(file.shown.clone(), file.path.clone(), file.text.clone());
        sources.add_item(id, 0)
    }

    fn empty_file(&mut self, shown: SmolStr) -> Place {
        start_of(self.add_file(&ReadFile {
            shown,
            path: None,
            text: "".into(),
            fault: None,
        }))
    }

    fn add_module(
        &mut self,
        name: SmolStr,
        library: usize,
        requested: bool,
        file: ReadFile,
        parsed: ParsedFile,
    ) -> ItemId {
        let whole = self.add_file(&file);
        let workspace = &mut self.workspace;
        let id = workspace.sources.file_of(whole);
        if let Some(fault) = &file.fault {
            workspace
                .diagnostics
                .push(fault.diagnostic(whole, &file.text));
        }
        workspace
            .diagnostics
            .extend(parsed.errors.iter().map(|e| e.diagnostic(whole)));
        let module = ModuleId(workspace.modules.len() as u32);
        let first = workspace.items.len() as u32;
        for PlacedItem { offset, item } in parsed.items {
            let id = workspace.sources.add_item(id, offset);
            workspace
                .diagnostics
                .extend(item.errors.iter().map(|e| e.diagnostic(id)));
            workspace.items.push(LoadedItem {
                id,
                module,
                parsed: item,
            });
        }
        workspace.modules.push(LoadedModule {
            name,
            library,
            file: id,
            whole,
            docs: parsed.docs,
            requested,
            items: first..workspace.items.len() as u32,
        });
        whole
    }

    /// Reports libraries that are required and are not there in a version that will do.
    fn check_requirements(&mut self) {
        let workspace = &mut self.workspace;
        for library in &workspace.libraries {
            for required in library.requires.iter().flatten() {
                let found = self.names.get(&required.name);
                match found.map(|&i| &workspace.libraries[i]) {
                    None => {
                        let names = workspace.libraries.iter().map(|l| l.name.as_str());
                        let mut diagnostic = Diagnostic::new(
                            codes::E0209,
                            required.place,
                            format!("there is no library `{}`", required.name),
                        )
                        .note("libraries are looked for in the folders of `--lib` and `COLL_PATH`");
                        diagnostic.help = nearest_or_list(&required.name, "there are", names);
                        workspace.diagnostics.push(diagnostic);
                    }
                    Some(found) if !required.versions.matches(&found.version) => {
                        let diagnostic = Diagnostic::new(
                            codes::E0209,
                            required.place,
                            format!(
                                "`{}` is here in version {}, and `{}` is required",
                                found.name, found.version, required.versions
                            ),
                        )
                        .label(found.place, "the library that was found");
                        workspace.diagnostics.push(diagnostic);
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

impl Fault {
    /// Points behind the last byte that was read.
    fn diagnostic(&self, whole: ItemId, text: &str) -> Diagnostic {
        let end = text.len() as u32;
        let place = Place {
            item: whole,
            span: Span::new(end, end),
        };
        let mut diagnostic = Diagnostic::new(self.code, place, self.message.clone());
        diagnostic.help = self.help.map(str::to_owned);
        diagnostic
    }
}

fn start_of(item: ItemId) -> Place {
    Place {
        item,
        span: Span::default(),
    }
}
