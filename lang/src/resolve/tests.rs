//! Loading from disk and from memory.

use super::*;
use crate::diagnostics::Code;
use crate::diagnostics::codes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coll-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn load_paths<const N: usize>(paths: [&Path; N]) -> Workspace {
    load(LoadRequest {
        paths: paths.iter().map(|p| p.to_path_buf()).collect(),
        ..LoadRequest::default()
    })
}

/// Codes and messages.
fn found(workspace: &Workspace) -> Vec<(Code, String)> {
    let found = workspace.diagnostics.iter();
    found.map(|d| (d.code, d.message.clone())).collect()
}

fn modules(workspace: &Workspace) -> Vec<&str> {
    let modules = workspace.modules.iter();
    modules
        .map(|m| m.name.as_str())
        .filter(|m| !m.starts_with("std."))
        .collect()
}

fn requested(workspace: &Workspace) -> Vec<&str> {
    let requested = workspace.modules.iter().filter(|m| m.requested);
    requested.map(|m| m.name.as_str()).collect()
}

const MINE: &str = "name = \"mine\"\nversion = \"0.1.0\"\n";
const TOPOLOGY: &str = "topology flat { level L0 = all; }\n";

#[test]
fn std_is_always_there_and_comes_first() {
    let workspace = load(LoadRequest::default());
    assert_eq!(found(&workspace), []);
    assert_eq!(workspace.libraries[0].name, STD);
    let names: Vec<&str> = workspace.modules.iter().map(|m| m.name.as_str()).collect();
    assert!(names.contains(&PRELUDE) && names.contains(&"std.topology"));
    assert!(workspace.modules.iter().all(|m| !m.requested));
}

#[test]
fn a_file_brings_in_its_whole_library() {
    let folder = Folder::new("whole");
    folder.write("coll.toml", MINE);
    folder.write("b.coll", TOPOLOGY);
    let a = folder.write("deep/a.coll", TOPOLOGY);
    let workspace = load_paths([&a]);
    assert_eq!(found(&workspace), []);
    assert_eq!(modules(&workspace), ["mine.b", "mine.deep.a"]);
    assert_eq!(requested(&workspace), ["mine.deep.a"]);
    let both = load_paths([&a, &folder.0.join("b.coll")]);
    assert_eq!(requested(&both), ["mine.b", "mine.deep.a"]);
    assert_eq!(both.libraries.len(), 2);
    let deep = load_paths([&folder.0.join("deep")]);
    assert_eq!(requested(&deep), ["mine.deep.a"]);
    let manifest = load_paths([&folder.0.join("coll.toml")]);
    assert_eq!(requested(&manifest), ["mine.b", "mine.deep.a"]);
}

#[test]
fn single_files_are_libraries_and_equal_names_are_numbered() {
    let folder = Folder::new("single");
    let one = folder.write("one/main.coll", TOPOLOGY);
    let two = folder.write("two/main.coll", TOPOLOGY);
    let odd = folder.write("two/8x4 shapes.coll", TOPOLOGY);
    let workspace = load_paths([&one, &two, &one, &odd]);
    assert_eq!(found(&workspace), []);
    assert_eq!(modules(&workspace), ["main", "main_2", "_8x4_shapes"]);
}

#[test]
fn what_cannot_be_read_says_so() {
    let folder = Folder::new("unreadable");
    let good = folder.write("good.coll", TOPOLOGY);
    let missing = load_paths([&folder.0.join("goood.coll")]);
    assert_eq!(found(&missing)[0].0, codes::E0211);
    let help = missing.diagnostics[0].help.as_deref().unwrap();
    assert!(help.contains("good.coll"), "{help}");
    let empty = folder.0.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(found(&load_paths([&empty]))[0].0, codes::E0211);
    let bytes = folder.write("bytes.coll", b"use a.b;\n// \xFF\n");
    let workspace = load_paths([&bytes]);
    assert_eq!(found(&workspace)[0].0, codes::E0103);
    let (_, at) = workspace
        .sources
        .position(workspace.diagnostics[0].primary.place);
    assert_eq!((at.line, at.column), (2, 4));
    let folder_like = folder.0.join("folder.coll");
    std::fs::create_dir(&folder_like).unwrap();
    let workspace = load_paths([&good, &folder_like]);
    assert_eq!(found(&workspace)[0].0, codes::E0211);
    assert_eq!(modules(&workspace), ["good"]);
    let large = folder.write("large.coll", vec![b' '; (16 << 20) + 1]);
    assert_eq!(found(&load_paths([&large]))[0].0, codes::E0102);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_a_library() {
    use std::os::unix::fs::symlink;
    let outside = Folder::new("outside");
    let secret = outside.write("secret.coll", TOPOLOGY);
    let folder = Folder::new("links");
    folder.write("coll.toml", MINE);
    let inside = folder.write("inside.coll", TOPOLOGY);
    symlink(&secret, folder.0.join("leak.coll")).unwrap();
    symlink(&outside.0, folder.0.join("folder")).unwrap();
    symlink(&inside, folder.0.join("again.coll")).unwrap();
    symlink(&folder.0, folder.0.join("loop")).unwrap();
    symlink("nowhere", folder.0.join("dangling.coll")).unwrap();
    let workspace = load_paths([&folder.0]);
    assert_eq!(modules(&workspace), ["mine.again", "mine.inside"]);
    let found = found(&workspace);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(code, message)| {
        *code == codes::E0211 && message.contains("leads out of the library")
    }));
}

#[test]
fn libraries_are_found_in_their_order() {
    let folder = Folder::new("order");
    folder.write(
        "given/base/coll.toml",
        "name = \"base\"\nversion = \"1.0.0\"\n",
    );
    folder.write("given/base/a.coll", TOPOLOGY);
    folder.write(
        "path/base/coll.toml",
        "name = \"base\"\nversion = \"2.0.0\"\n",
    );
    folder.write(
        "path/more/coll.toml",
        "name = \"more\"\nversion = \"2.0.0\"\n",
    );
    let main = folder.write("main.coll", "use base.a.flat;\n");
    let workspace = load(LoadRequest {
        paths: vec![main],
        libraries: vec![folder.0.join("given")],
        search: vec![folder.0.join("path"), folder.0.join("not there")],
        ..LoadRequest::default()
    });
    // The library of `--lib` wins over the one of `COLL_PATH`, silently.
    assert_eq!(found(&workspace), []);
    let versions: Vec<String> = workspace.libraries[1..]
        .iter()
        .map(|l| format!("{} {}", l.name, l.version))
        .collect();
    assert_eq!(versions, ["main 0.0.0", "base 1.0.0", "more 2.0.0"]);
    let nothing = load(LoadRequest {
        libraries: vec![folder.0.join("given/base/a.coll"), folder.0.clone()],
        ..LoadRequest::default()
    });
    assert_eq!(found(&nothing).len(), 2, "{:?}", found(&nothing));
}

#[test]
fn a_std_library_on_disk_takes_the_place_of_the_embedded_one() {
    let folder = Folder::new("own_std");
    folder.write("coll.toml", "name = \"std\"\nversion = \"7.0.0\"\n");
    folder.write("topology.coll", TOPOLOGY);
    let workspace = load_paths([&folder.0]);
    assert_eq!(found(&workspace), []);
    assert_eq!(workspace.libraries.len(), 1);
    assert_eq!(workspace.libraries[0].version.major, 7);
    assert_eq!(requested(&workspace), ["std.topology"]);
}

#[test]
fn held_texts_stand_in_for_files() {
    let folder = Folder::new("held");
    folder.write("coll.toml", MINE);
    let saved = folder.write("saved.coll", "topology old { level L0 = all; }\n");
    let new = folder.0.join("new/unsaved.coll");
    let mut overlay = BTreeMap::new();
    overlay.insert(saved.clone(), "topology fresh { level L0 = all; }\n".into());
    overlay.insert(new.clone(), TOPOLOGY.into());
    overlay.insert(folder.0.join("notes.txt"), "not a source".into());
    let workspace = load(LoadRequest {
        paths: vec![new],
        overlay,
        ..LoadRequest::default()
    });
    assert_eq!(found(&workspace), []);
    assert_eq!(modules(&workspace), ["mine.new.unsaved", "mine.saved"]);
    let (names, _, _) = resolve(&workspace);
    let mine = names.module_named("mine.saved").unwrap();
    assert!(names.module(mine).own.contains_key("fresh"));
    assert!(!names.module(mine).own.contains_key("old"));
}

#[test]
fn names_are_looked_up_in_the_nearest_scope() {
    let text = "use std.topology as topo;\nuse std.topology.{n_level as many};\n\
                extern template mesh : broadcast;\ntopology here { level L0 = all; }\n";
    let path = std::env::temp_dir().join("scope_test.coll");
    let workspace = load(LoadRequest {
        paths: vec![path.clone()],
        overlay: BTreeMap::from([(path, text.into())]),
        ..LoadRequest::default()
    });
    let (names, _, diagnostics) = resolve(&workspace);
    assert_eq!(diagnostics, []);
    let module = names.module_named("scope_test").unwrap();
    let look_up = |text: &str| {
        let parts: Vec<crate::syntax::ast::Name> = text
            .split('.')
            .map(|part| crate::syntax::ast::Name {
                text: part.into(),
                span: Default::default(),
            })
            .collect();
        names.look_up(module, &parts)
    };
    let full = |text: &str| match look_up(text) {
        Lookup::Symbols { found, .. } => found
            .iter()
            .map(|&s| {
                let symbol = names.symbol(s);
                format!("{}.{}", names.module(symbol.module).name, symbol.name)
            })
            .collect::<Vec<_>>(),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(full("here"), ["scope_test.here"]);
    assert_eq!(full("many"), ["std.topology.n_level"]);
    assert_eq!(full("topo.two_level"), ["std.topology.two_level"]);
    assert_eq!(full("std.topology.two_level"), ["std.topology.two_level"]);
    // A template of the same name for other operations stands beside that of the prelude.
    assert_eq!(full("mesh"), ["scope_test.mesh", "std.templates.mesh"]);
    assert!(matches!(look_up("topo"), Lookup::Module(_)));
    assert!(matches!(
        look_up("two_level"),
        Lookup::Missing { part: 0, .. }
    ));
    assert!(matches!(
        look_up("topo.nothing"),
        Lookup::Missing { part: 1, .. }
    ));
    assert!(matches!(
        look_up("std.nothing.x"),
        Lookup::Missing { part: 1, .. }
    ));
    assert!(matches!(
        look_up("here.L0"),
        Lookup::Missing { part: 0, .. }
    ));
}
