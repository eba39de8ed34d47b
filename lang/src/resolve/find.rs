//! Where libraries and their files are on disk.

use super::manifest::{MANIFEST, is_identifier};
use crate::nearest::nearest;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extension of source files.
pub(super) const EXTENSION: &str = "coll";

/// Folders deeper than this below a library's root are not read.
const MAX_DEPTH: usize = 32;

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// Files and folders that the user named.
    pub paths: Vec<PathBuf>,
    /// Folders of `--lib`: libraries, or folders of libraries.
    pub libraries: Vec<PathBuf>,
    /// Folders of `COLL_PATH`, with the same meaning; names found before win.
    pub search: Vec<PathBuf>,
    /// Texts that stand in for files, saved or not: what an editor holds. By absolute path.
    pub overlay: BTreeMap<PathBuf, Arc<str>>,
}

/// Where a text comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A file.
    Disk(PathBuf),
    /// What an editor holds for this path.
    Held(PathBuf, Arc<str>),
    /// Part of this program.
    Embedded(&'static str),
}

/// A source file of a library.
#[derive(Clone, Debug)]
pub(super) struct FoundFile {
    /// The name to show.
    pub(super) shown: SmolStr,
    /// The module's name behind the library's: `topology.levels`; empty for a single file.
    pub(super) module: String,
    /// Whether the user named it.
    pub(super) requested: bool,
    /// Where its text is.
    pub(super) source: Source,
}

/// How a library came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user named it or something in it.
    Named,
    /// By `--lib`.
    Lib,
    /// By `COLL_PATH`.
    Search,
    /// Part of this program.
    Embedded,
}

/// A library as found.
#[derive(Clone, Debug)]
pub(super) struct FoundLibrary {
    /// How it came in.
    pub(super) origin: Origin,
    /// Its name if it has no manifest or the manifest has none.
    pub(super) fallback: String,
    /// Its manifest; none for files and folders without one.
    pub(super) manifest: Option<FoundFile>,
    /// Its files in order of their paths.
    pub(super) files: Vec<FoundFile>,
}

/// What cannot be read, and why.
#[derive(Clone, Debug)]
pub(super) struct Unreadable {
    /// The path to show.
    pub(super) shown: SmolStr,
    /// The whole sentence.
    pub(super) message: String,
    /// What to do.
    pub(super) help: Option<String>,
}

/// Everything found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Libraries in the order in which they were asked for.
    pub(super) libraries: Vec<FoundLibrary>,
    /// What could not be read.
    pub(super) unreadable: Vec<Unreadable>,
}

/// Finds all libraries of a request except the embedded one.
pub(super) fn find(request: &LoadRequest) -> Found {
    let mut finder = Finder {
        overlay: &request.overlay,
        here: std::env::current_dir().unwrap_or_default(),
        roots: BTreeMap::new(),
        singles: BTreeSet::new(),
        found: Found::default(),
    };
    for path in &request.paths {
        finder.named(path);
    }
    for path in &request.libraries {
        finder.folder_of_libraries(path, Origin::Lib);
    }
    for path in &request.search {
        finder.folder_of_libraries(path, Origin::Search);
    }
    finder.found
}

struct Finder<'a> {
    overlay: &'a BTreeMap<PathBuf, Arc<str>>,
    here: PathBuf,
    /// Folders of libraries that were found, and which.
    roots: BTreeMap<PathBuf, usize>,
    /// Single files that were found.
    singles: BTreeSet<PathBuf>,
    found: Found,
}

/// A folder that is walked.
struct Walk<'a> {
    /// The folder, as it was named.
    root: &'a Path,
    /// The folder with links resolved: nothing outside it is read.
    real: PathBuf,
    /// Source files below it, by path.
    files: BTreeMap<PathBuf, Source>,
    /// Folders below it that are libraries of their own.
    nested: Vec<PathBuf>,
}

impl Finder<'_> {
    /// A file or folder that the user named.
    fn named(&mut self, path: &Path) {
        let absolute = absolute(path);
        let held = self.overlay.contains_key(&absolute);
        if !held && absolute.is_dir() {
            return self.named_folder(path, &absolute);
        }
        if !held && !absolute.exists() {
            return self.missing(path, &absolute);
        }
        if absolute.file_name().is_some_and(|n| n == MANIFEST)
            && let Some(folder) = absolute.parent()
        {
            let folder = folder.to_owned();
            return self.named_folder(path, &folder);
        }
        let is_source = absolute.extension().is_some_and(|e| e == EXTENSION);
        match absolute.parent().and_then(|p| self.root_above(p)) {
            Some(root) if is_source => {
                self.library(&root, Origin::Named, |file| file == absolute);
            }
            _ => self.single(path, &absolute),
        }
    }

    fn named_folder(&mut self, path: &Path, absolute: &Path) {
        if let Some(root) = self.root_above(absolute) {
            self.library(&root, Origin::Named, |file| file.starts_with(absolute));
            return;
        }
        let known = self.found.libraries.len();
        let nested = self.implied(absolute);
        for folder in nested {
            self.library(&folder, Origin::Named, |_| true);
        }
        if self.found.libraries.len() == known && self.found.unreadable.is_empty() {
            self.found.unreadable.push(Unreadable {
                shown: self.shown(absolute),
                message: format!("there is no `.coll` file in `{}`", path.display()),
                help: None,
            });
        }
    }

    fn missing(&mut self, path: &Path, absolute: &Path) {
        let siblings: Vec<String> = absolute
            .parent()
            .and_then(|folder| std::fs::read_dir(folder).ok())
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        let near = absolute
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| nearest(name, siblings.iter().map(String::as_str)));
        self.found.unreadable.push(Unreadable {
            shown: self.shown(absolute),
            message: format!("there is no file or folder `{}`", path.display()),
            help: near
                .map(|near| format!("did you mean `{}`?", path.with_file_name(near).display())),
        });
    }

    /// A library or a folder of libraries.
    fn folder_of_libraries(&mut self, path: &Path, origin: Origin) {
        let folder = absolute(path);
        if self.has_manifest(&folder) {
            self.library(&folder, origin, |_| false);
            return;
        }
        let folders: BTreeSet<PathBuf> = match std::fs::read_dir(&folder) {
            Ok(entries) => entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|p| p.is_dir() && self.has_manifest(p))
                .collect(),
            Err(_) if origin == Origin::Search => return,
            Err(error) => return self.unreadable(&folder, &error),
        };
        if folders.is_empty() && origin == Origin::Lib {
            self.found.unreadable.push(Unreadable {
                shown: self.shown(&folder),
                message: format!("`{}` holds no library", path.display()),
                help: Some(format!(
                    "a library is a folder with a `{MANIFEST}` file in it"
                )),
            });
        }
        for folder in folders {
            self.library(&folder, origin, |_| false);
        }
    }

    /// The nearest folder, from `folder` upwards, that has a manifest.
    fn root_above(&self, folder: &Path) -> Option<PathBuf> {
        folder
            .ancestors()
            .find(|f| self.has_manifest(f))
            .map(Path::to_owned)
    }

    fn has_manifest(&self, folder: &Path) -> bool {
        let manifest = folder.join(MANIFEST);
        self.overlay.contains_key(&manifest) || manifest.is_file()
    }

    /// Adds the library in `root`, or marks more of its files as requested if it is known.
    fn library(&mut self, root: &Path, origin: Origin, requested: impl Fn(&Path) -> bool) {
        let real = real(root);
        if let Some(&known) = self.roots.get(&real) {
            if origin == Origin::Named {
                self.found.libraries[known].origin = origin;
            }
            for file in &mut self.found.libraries[known].files {
                if let Source::Disk(path) | Source::Held(path, _) = &file.source {
                    file.requested |= requested(path);
                }
            }
            return;
        }
        let mut walk = Walk::new(root, real);
        self.walk(&mut walk, root, 0);
        self.add_held(&mut walk);
        let manifest = root.join(MANIFEST);
        let manifest = FoundFile {
            shown: self.shown(&manifest),
            module: String::new(),
            requested: false,
            source: self.source(manifest),
        };
        self.add(walk, origin, Some(manifest), requested);
    }

    /// Adds the files of a folder without a manifest as a library named like the folder; returns the
    /// libraries below it.
    fn implied(&mut self, root: &Path) -> Vec<PathBuf> {
        let mut walk = Walk::new(root, real(root));
        self.walk(&mut walk, root, 0);
        self.add_held(&mut walk);
        let nested = std::mem::take(&mut walk.nested);
        if !walk.files.is_empty() && !self.roots.contains_key(&walk.real) {
            self.add(walk, Origin::Named, None, |_| true);
        }
        nested
    }

    fn add(
        &mut self,
        walk: Walk<'_>,
        origin: Origin,
        manifest: Option<FoundFile>,
        requested: impl Fn(&Path) -> bool,
    ) {
        let files = walk
            .files
            .into_iter()
            .map(|(path, source)| FoundFile {
                shown: self.shown(&path),
                module: module_name(path.strip_prefix(walk.root).unwrap_or(&path)),
                requested: requested(&path),
                source,
            })
            .collect();
        self.roots.insert(walk.real, self.found.libraries.len());
        self.found.libraries.push(FoundLibrary {
            origin,
            fallback: identifier_of(walk.root.file_name()),
            manifest,
            files,
        });
    }

    /// A file that belongs to no library.
    fn single(&mut self, path: &Path, absolute: &Path) {
        if !self.singles.insert(real(absolute)) {
            return;
        }
        let shown = self.shown(path);
        let file = FoundFile {
            shown,
            module: String::new(),
            requested: true,
            source: self.source(absolute.to_owned()),
        };
        self.found.libraries.push(FoundLibrary {
            origin: Origin::Named,
            fallback: identifier_of(absolute.file_stem()),
            manifest: None,
            files: vec![file],
        });
    }

    fn source(&self, path: PathBuf) -> Source {
        match self.overlay.get(&path) {
            Some(text) => Source::Held(path, text.clone()),
            None => Source::Disk(path),
        }
    }

    /// Collects the source files below `folder`, in which `depth` folders of the walk lie.
    fn walk(&mut self, walk: &mut Walk<'_>, folder: &Path, depth: usize) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(_) if !folder.exists() => return,
            Err(error) => return self.unreadable(folder, &error),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let hidden = path
                .file_name()
                .is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
            let Ok(kind) = path.symlink_metadata().map(|m| m.file_type()) else {
                continue;
            };
            if hidden {
                continue;
            }
            if kind.is_symlink() {
                self.link(walk, path);
            } else if kind.is_dir() {
                if self.has_manifest(&path) {
                    walk.nested.push(path);
                } else if depth < MAX_DEPTH {
                    self.walk(walk, &path, depth + 1);
                } else {
                    self.found.unreadable.push(Unreadable {
                        shown: self.shown(&path),
                        message: format!("folders are nested more than {MAX_DEPTH} deep"),
                        help: None,
                    });
                }
            } else if path.extension().is_some_and(|e| e == EXTENSION) {
                let source = self.source(path.clone());
                walk.files.insert(path, source);
            }
        }
    }

    /// A symbolic link: one that leads to a source file of the same folder is followed. A folder of
    /// the same library is found where it really is.
    fn link(&mut self, walk: &mut Walk<'_>, path: PathBuf) {
        let Ok(target) = path.canonicalize() else {
            return;
        };
        let is_source = path.extension().is_some_and(|e| e == EXTENSION);
        if target.starts_with(&walk.real) {
            if is_source && target.is_file() {
                let source = self.source(path.clone());
                walk.files.insert(path, source);
            }
        } else if is_source || target.is_dir() {
            self.found.unreadable.push(Unreadable {
                shown: self.shown(&path),
                message: format!("the link leads out of the library, to `{}`", target.display()),
                help: Some(
                    "a library reads only what lies in its own folder: copy it, or make it a library \
                     of its own and require it"
                        .to_owned(),
                ),
            });
        }
    }

    /// Adds what an editor holds and has not yet saved.
    fn add_held(&self, walk: &mut Walk<'_>) {
        for (path, text) in self.overlay.range(walk.root.to_owned()..) {
            if !path.starts_with(walk.root) {
                break;
            }
            let below_nested = path
                .ancestors()
                .skip(1)
                .take_while(|f| *f != walk.root)
                .any(|f| self.has_manifest(f));
            if path.extension().is_some_and(|e| e == EXTENSION) && !below_nested {
                walk.files
                    .insert(path.clone(), Source::Held(path.clone(), text.clone()));
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.found.unreadable.push(Unreadable {
            shown: self.shown(path),
            message: format!("`{}` cannot be read: {error}", path.display()),
            help: None,
        });
    }

    /// A path as the user would write it.
    fn shown(&self, path: &Path) -> SmolStr {
        let shorter = path.strip_prefix(&self.here).unwrap_or(path);
        match shorter.as_os_str().is_empty() {
            true => ".".into(),
            false => shorter.to_string_lossy().into(),
        }
    }
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path, real: PathBuf) -> Self {
        Self {
            root,
            real,
            files: BTreeMap::new(),
            nested: Vec::new(),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// `topology/levels.coll` is the module `topology.levels`.
pub(super) fn module_name(relative: &Path) -> String {
    relative
        .with_extension("")
        .components()
        .map(|c| identifier_of(Some(c.as_os_str())))
        .collect::<Vec<_>>()
        .join(".")
}

/// A file's name as an identifier.
fn identifier_of(name: Option<&std::ffi::OsStr>) -> String {
    let name = name.map_or_else(|| "library".into(), |n| n.to_string_lossy());
    let mut text: String = name
        .chars()
        .map(|c| match c.is_ascii_alphanumeric() {
            true => c,
            false => '_',
        })
        .collect();
    if !is_identifier(&text) {
        text.insert(0, '_');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_after_their_files() {
        assert_eq!(
            module_name(Path::new("topology/levels.coll")),
            "topology.levels"
        );
        assert_eq!(module_name(Path::new("my-file.v2.coll")), "my_file_v2");
        assert_eq!(identifier_of(Some("8x4".as_ref())), "_8x4");
    }
}
