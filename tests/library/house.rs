//! Rules of the source tree. A room is a folder or a file directly under `src/`. This file checks
//! which rooms may use names of which others. The modules of this file check the other rules:
//! `circles` modules that depend on each other, `doors` the files with generic items, `names` names
//! of types, `numbers` files that declare numbers of stages, `texts` unsafe code and the width of
//! comments, `tuples` parameters, `wings` the modules of `product`.
mod circles;
mod doors;
mod names;
mod numbers;
mod texts;
mod tuples;
mod wings;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The rooms that prepare operations for given patterns. Rooms that prepare operations hold no
/// locks.
const PLANNED: [&str; 6] = ["product", "apply", "vector", "structure", "groups", "solver"];

/// A source file: its path below `src/`, and its code without comments and tests.
struct File {
    path: PathBuf,
    code: String,
}

impl File {
    /// Returns the room of the file: the folder or file directly under `src/` that contains it.
    fn room(&self) -> String {
        let first = self.path.components().next().unwrap().as_os_str().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    }

    /// Returns the paths in the code that begin at the crate's root or at a module above. Lists of
    /// `use` are expanded: `crate::{a::B, c}` becomes `crate::a::B` and `crate::c`.
    fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        for root in ["crate::", "super::"] {
            for (at, _) in self.code.match_indices(root) {
                if !self.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                    expand(&self.code[at..], "", &mut paths);
                }
            }
        }
        paths
    }

    /// Returns the first names after `crate::`.
    fn names(&self) -> BTreeSet<String> {
        let paths = self.paths();
        let of_crate = paths.iter().filter_map(|path| path.strip_prefix("crate::"));
        of_crate.map(|path| path.split("::").next().unwrap().to_owned()).collect()
    }

    /// Returns the rooms from which the given names come, with one of the names for each room.
    fn rooms(&self, exports: &BTreeMap<String, String>, rooms: &BTreeSet<String>) -> BTreeMap<String, String> {
        let names = self.names().into_iter();
        names
            .filter_map(|name| {
                let room = if rooms.contains(&name) { Some(&name) } else { exports.get(&name) };
                Some((room?.clone(), name))
            })
            .collect()
    }
}

/// Adds the paths of a tree of names at the beginning of `text` to `paths`, each after `prefix`.
/// The name of a macro ends with `!`. Returns the text after the tree.
fn expand<'t>(text: &'t str, prefix: &str, paths: &mut BTreeSet<String>) -> &'t str {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (path, mut rest) = (format!("{prefix}{}", &text[..end]), &text[end..]);
    if !(path.ends_with("::") && rest.starts_with('{')) {
        let of_macro = if rest.starts_with("!") { "!" } else { "" };
        paths.insert(format!("{}{of_macro}", path.trim_end_matches(':')));
        return rest;
    }
    loop {
        rest = rest[1..].trim_start();
        if !rest.starts_with('}') {
            rest = expand(rest, &path, paths).trim_start();
        }
        match rest.chars().next() {
            Some(',') => {}
            Some('}') => return &rest[1..],
            _ => return rest, // `as`, or the end of the path
        }
    }
}

/// A source file without tests: its path below the root, and its text.
type Text = (PathBuf, String);

fn collect(root: &Path, folder: &Path, files: &mut Vec<Text>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            collect(root, &entry, files);
        } else if is_source(entry.strip_prefix(root).unwrap()) {
            files.push((entry.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&entry).unwrap()));
        }
    }
}

/// Whether a file is a Rust source file outside of modules `tests`.
fn is_source(path: &Path) -> bool {
    let is_of_tests = path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
    path.extension().is_some_and(|ending| ending == "rs") && !is_of_tests
}

/// Returns the code of a text without comments and tests.
fn code_of(text: &str) -> String {
    let code = text.split("\nmod tests {").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn source() -> Vec<File> {
    let files = files_of("src");
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// Returns the source files in a folder of the repository.
fn files_of(folder: &str) -> Vec<File> {
    let root = Path::new(crate::ROOT).join(folder);
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.into_iter().map(|(path, text)| File { path, code: code_of(&text) }).collect()
}

/// Returns the room of each name that the crate's root exports.
fn exports() -> BTreeMap<String, String> {
    exports_of(&code_of(&fs::read_to_string(Path::new(crate::ROOT).join("src/lib.rs")).unwrap()))
}

/// Returns the module of each name that a file imports or exports from its modules.
fn exports_of(code: &str) -> BTreeMap<String, String> {
    let mut paths = BTreeSet::new();
    for line in ["use ", "pub use ", "pub(crate) use ", "pub(super) use ", "pub(in crate::product) use "] {
        for (at, _) in code.match_indices(&format!("\n{line}")) {
            expand(&code[at + 1 + line.len()..], "", &mut paths);
        }
    }
    let export = |path: String| {
        let (names, name) = (path.split("::").collect::<Vec<_>>(), path.rsplit("::").next()?.to_owned());
        (names.len() > 1).then(|| (name, names[0].to_owned()))
    };
    paths.into_iter().filter_map(export).collect()
}

/// Returns the rooms that contain these source files.
fn rooms(files: &[File]) -> BTreeSet<String> {
    files.iter().map(File::room).filter(|room| room != "lib").collect()
}

/// Returns the names in a file that its room must not use.
fn forbidden(file: &File, exports: &BTreeMap<String, String>, rooms: &BTreeSet<String>) -> Vec<String> {
    let (room, named, mut wrong) = (file.room(), file.rooms(exports, rooms), Vec::new());
    let of_room: &[&str] = match room.as_str() {
        "device" => &["matrix", "resident", "product", "primitives"],
        "reference" => &["device", "resident"],
        _ => &[],
    };
    wrong.extend(of_room.iter().filter_map(|other| named.get(*other)).cloned());
    wrong.extend((room != "device" && file.code.contains("opencl3")).then(|| "opencl3".to_owned()));
    // A plan takes scratch memory for each execution, so that executions need no lock.
    wrong.extend((PLANNED.contains(&&*room) && file.code.contains("Mutex")).then(|| "Mutex".to_owned()));
    wrong
}

#[test]
fn forbidden_arrows_are_not_there() {
    let (files, exports) = (source(), exports());
    let rooms = rooms(&files);
    for file in &files {
        let wrong = forbidden(file, &exports, &rooms);
        assert!(wrong.is_empty(), "src/{} names {wrong:?}", file.path.display());
    }
}

#[test]
fn forbidden_arrows_are_seen() {
    let (files, exports) = (source(), exports());
    let rooms = rooms(&files);
    for (path, code, name) in [
        ("device/work.rs", "use crate::{Error, matrix::Pattern};", Some("matrix")),
        ("device/work.rs", "use crate::DeviceMatrix;", Some("DeviceMatrix")),
        ("device/work.rs", "use crate::{Error, host::memory};", None),
        ("reference/mod.rs", "fn f(device: &crate::device::Device) {}", Some("device")),
        ("vector/mod.rs", "use std::sync::Mutex;", Some("Mutex")),
        ("vector/mod.rs", "use opencl3::event::Event;", Some("opencl3")),
    ] {
        let wrong = forbidden(&File { path: path.into(), code: code.to_owned() }, &exports, &rooms);
        let seen = name.map_or(wrong.is_empty(), |name| wrong.iter().any(|wrong| wrong == name));
        assert!(seen, "{path}: {code}: {wrong:?}");
    }
}

#[test]
fn no_two_rooms_name_each_other() {
    let (files, exports) = (source(), exports());
    let rooms = rooms(&files);
    let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.room() != "lib") {
        for (room, name) in file.rooms(&exports, &rooms).into_iter().filter(|(room, _)| *room != file.room()) {
            let example = format!("src/{}: {name}", file.path.display());
            arrows.entry(file.room()).or_default().entry(room).or_insert(example);
        }
    }
    assert!(arrows["product"].contains_key("device"), "arrows are found");
    let circle = circle(&arrows, rooms);
    assert!(circle.is_empty(), "rooms in a circle: {circle:#?}");
}

/// Finds the dependencies that are part of a circle or lead to one, each with an example. The
/// function repeatedly removes a room from `left` that depends on no other room in `left`.
fn circle(arrows: &BTreeMap<String, BTreeMap<String, String>>, mut left: BTreeSet<String>) -> Vec<(String, String)> {
    while let Some(room) =
        left.iter().find(|room| arrows.get(*room).is_none_or(|to| !to.keys().any(|to| left.contains(to)))).cloned()
    {
        left.remove(&room);
    }
    let among = |(to, _): &(&String, &String)| left.contains(*to);
    let of_circle = left.iter().flat_map(|room| arrows[room].iter().filter(among));
    of_circle.map(|(to, example)| (to.clone(), example.clone())).collect()
}
