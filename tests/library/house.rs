//! Rules of the source tree: which rooms may name which, and the width of comments.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The methods that compute products: folders that do not name one another.
const METHODS: [&str; 3] = ["esc", "masked", "serial"];

/// The rooms that prepare operations, which hold no locks.
const PLANNED: [&str; 6] = ["product", "apply", "vector", "structure", "groups", "solver"];

/// A source file: its path below `src/`, and its code without comments and tests.
struct File {
    path: PathBuf,
    code: String,
}

impl File {
    /// Its room: the folder or file at the crate's root that contains it.
    fn room(&self) -> String {
        let first = self.path.components().next().unwrap().as_os_str().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    }

    /// The names that follow `crate::` anywhere in it, in lists too.
    fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (at, prefix) in self.code.match_indices("crate::") {
            let rest = &self.code[at + prefix.len()..];
            match rest.strip_prefix('{') {
                None => names.extend(leading_name(rest)),
                Some(list) => names.extend(first_names(list)),
            }
        }
        names
    }
}

fn leading_name(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The first name of each item of a list that ends with its brace.
fn first_names(list: &str) -> Vec<String> {
    let (mut depth, mut item, mut names) = (1, String::new(), Vec::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            names.extend(leading_name(item.trim()));
            item.clear();
        } else {
            item.push(c);
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        if entry.is_dir() {
            collect(root, &entry, files);
        } else if name.ends_with(".rs") && !name.starts_with("tests") {
            let text = fs::read_to_string(&entry).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let code = code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
            let path = entry.strip_prefix(root).unwrap().to_owned();
            if !path.components().any(|part| part.as_os_str() == "tests") {
                files.push(File { path, code });
            }
        }
    }
}

fn source() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// The room of each name that the crate's root exports.
fn exports() -> BTreeMap<String, String> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let mut rooms = BTreeMap::new();
    for line in lib.lines().filter(|line| line.contains("use ") && !line.starts_with(' ')) {
        let Some((_, path)) = line.split_once("use ") else { continue };
        let Some((room, names)) = path.trim_end_matches(';').split_once("::") else { continue };
        for name in names.trim_matches(['{', '}']).split(',') {
            rooms.insert(name.trim().to_owned(), room.to_owned());
        }
    }
    rooms
}

#[test]
fn forbidden_arrows_are_not_there() {
    for File { path, code } in source() {
        let (shown, room) = (path.display(), path.components().next().unwrap().as_os_str().to_str().unwrap());
        let refuse = |words: &[&str]| {
            for word in words {
                assert!(!code.contains(word), "src/{shown} names {word}");
            }
        };
        match room {
            "device" => refuse(&["crate::matrix", "crate::resident", "crate::product", "crate::primitives"]),
            "reference" => refuse(&["opencl3", "crate::device", "crate::resident"]),
            _ => refuse(&["opencl3"]),
        }
        if room != "product" {
            METHODS.iter().for_each(|method| refuse(&[&format!("product::{method}")]));
        }
        if PLANNED.contains(&room) {
            refuse(&["Mutex"]); // executions of a plan take scratch, and no turns
        }
        for method in METHODS.iter().filter(|method| path.starts_with(format!("product/{method}"))) {
            for other in METHODS.iter().filter(|other| other != &method) {
                let kernels = format!("\"product/{other}/");
                refuse(&[&format!("product::{other}"), &format!("super::{other}"), &kernels]);
            }
        }
    }
}

#[test]
fn no_two_rooms_name_each_other() {
    let (files, exports) = (source(), exports());
    let rooms: BTreeSet<String> = files.iter().map(File::room).filter(|room| room != "lib").collect();
    let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.room() != "lib") {
        for name in file.names() {
            let room = if rooms.contains(&name) { Some(&name) } else { exports.get(&name) };
            if let Some(room) = room.filter(|room| **room != file.room() && rooms.contains(*room)) {
                let example = format!("src/{}: {name}", file.path.display());
                arrows.entry(file.room()).or_default().entry(room.clone()).or_insert(example);
            }
        }
    }
    assert!(arrows["product"].contains_key("device"), "arrows are found");
    // A room is removed if it names none that remain. Rooms in a circle are never removed.
    let mut left = rooms;
    while let Some(room) =
        left.iter().find(|room| arrows.get(*room).is_none_or(|to| !to.keys().any(|to| left.contains(to)))).cloned()
    {
        left.remove(&room);
    }
    let circle: Vec<_> =
        left.iter().flat_map(|room| arrows[room].iter().filter(|(to, _)| left.contains(*to))).collect();
    assert!(circle.is_empty(), "rooms in a circle: {circle:#?}");
}

/// Folders whose comments end at column 100.
const NARROW: [&str; 7] = ["src", "cl", "tools/blockmul", "tests", "examples", "fuzz", "benches"];

/// The endings of files whose comments begin with two slashes.
const SLASHED: [&str; 4] = ["rs", "cl", "c", "h"];

#[test]
fn comments_end_at_column_100() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = NARROW.iter().map(|folder| root.join(folder)).collect();
    let (mut read, mut long) = (BTreeSet::new(), Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let ending = path.extension().unwrap_or_default().to_str().unwrap();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if SLASHED.contains(&ending) && path.is_file() {
                read.insert(ending.to_owned());
                let text = fs::read_to_string(&path).unwrap();
                let of_file = text
                    .lines()
                    .enumerate()
                    .filter(|(_, line)| line.trim_start().starts_with("//") && line.chars().count() > 100);
                long.extend(of_file.map(|(number, _)| format!("{}:{}", path.display(), number + 1)));
            }
        }
    }
    assert_eq!(read.len(), SLASHED.len(), "files are found");
    assert!(long.is_empty(), "{long:#?}");
}
