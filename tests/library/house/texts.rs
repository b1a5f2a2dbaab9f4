//! Checks which source files have unsafe code, and how wide comments are.
use super::{collect, is_source};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Returns the files and folders that SECURITY.md lists for unsafe code.
fn places_of_unsafe_code() -> Vec<PathBuf> {
    let text = fs::read_to_string(Path::new(crate::ROOT).join("SECURITY.md")).unwrap();
    let (_, list) = text.split_once("* **Unsafe code**").expect("SECURITY.md has a list of unsafe code");
    let list = list.split("\n* ").next().unwrap();
    list.split('`').skip(1).step_by(2).filter(|word| word.contains('/')).map(PathBuf::from).collect()
}

/// Whether a text contains the word `unsafe`, also in tests and strings, but not in comments that
/// have a line of their own.
fn is_unsafe(text: &str) -> bool {
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let is_word = |at: usize| {
        let (before, after) = (&code[..at], &code[at + "unsafe".len()..]);
        let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '"' || c == '`';
        !before.ends_with(of_name) && !after.starts_with(of_name)
    };
    code.match_indices("unsafe").any(|(at, _)| is_word(at))
}

#[test]
fn unsafe_code_is_where_the_page_says_and_nowhere_else() {
    let (root, named) = (Path::new(crate::ROOT), places_of_unsafe_code());
    let mut files = Vec::new();
    ["src", "tools/blockmul/src", "benches/lab", "bindings/python/src"]
        .iter()
        .for_each(|folder| collect(root, &root.join(folder), &mut files));
    let found: Vec<_> = files.iter().filter(|(_, text)| is_unsafe(text)).map(|(path, _)| path).collect();
    assert!(found.len() > 10, "{found:?}");
    for path in &found {
        assert!(named.iter().any(|named| path.starts_with(named)), "{}: SECURITY.md does not name it", path.display());
    }
    for place in &named {
        let has = found.iter().any(|path| path.starts_with(place));
        assert!(has, "{}: SECURITY.md names it, and it has no unsafe code", place.display());
    }
    for (code, seen) in [
        ("unsafe { f() }", true),
        ("#[unsafe(no_mangle)]", true),
        ("an_unsafe_one()", false),
        ("\"unsafe\"", false),
        ("f();\n    // unsafe code is elsewhere", false),
        ("get(\"http://x\", unsafe { f() })", true),
        ("#[cfg(test)]\nmod tests {\n}\nunsafe fn f() {}", true),
    ] {
        assert_eq!(is_unsafe(code), seen, "{code}");
    }
    for (path, read) in [
        ("src/tests_util.rs", true),
        ("src/io/tests.rs", false),
        ("src/io/tests/zip.rs", false),
        ("tools/blockmul/src/lib.rs", true),
        ("src/io/tests.txt", false),
    ] {
        assert_eq!(is_source(Path::new(path)), read, "{path}");
    }
}

/// Folders whose comments have at most 100 columns.
const NARROW: [&str; 7] = ["src", "cl", "tools/blockmul", "tests", "examples", "fuzz", "benches"];

/// The extensions of files whose comments begin with two slashes.
const SLASHED: [&str; 4] = ["rs", "cl", "c", "h"];

#[test]
fn comments_end_at_column_100() {
    let root = Path::new(crate::ROOT);
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
