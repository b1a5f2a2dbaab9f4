//! Names of types. A name that is visible outside of its file must be unique in its room, and a
//! public name in the library.
use super::{File, expand, source};
use std::collections::{BTreeMap, BTreeSet};

/// The room of the reference implementations. The types of the reference have the same names as the
/// types that it checks.
const ORACLES: &str = "reference/";

/// The files that declare each name.
type Declared = BTreeMap<String, BTreeSet<String>>;

/// Returns the type that a line declares, and whether it is public. The function returns `None` if
/// the type is private.
fn declared(line: &str) -> Option<(&str, bool)> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let (rest, is_public) = match rest.strip_prefix('(') {
        Some(rest) => (rest.split_once(") ")?.1, false),
        None => (rest.strip_prefix(' ')?, true),
    };
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let name = name.split(|c: char| !c.is_alphanumeric()).next()?;
    (!name.is_empty()).then_some((name, is_public)) // a macro's `$name` is not a name
}

/// Returns the names that are declared in several files.
fn twins(declared: Declared) -> Declared {
    declared.into_iter().filter(|(_, files)| files.len() > 1).collect()
}

fn twins_of_room(files: &[File], room: &str) -> Declared {
    let mut found = Declared::new();
    for file in files.iter().filter(|file| file.room() == room) {
        for (name, _) in file.code.lines().filter_map(declared) {
            found.entry(name.to_owned()).or_default().insert(file.path.display().to_string());
        }
    }
    twins(found)
}

/// The modules of the library by their paths. The crate's root has an empty path.
struct Library<'f>(BTreeMap<Vec<String>, &'f File>);

impl<'f> Library<'f> {
    fn new(files: &'f [File]) -> Self {
        let path_of = |file: &File| {
            let path = file.path.with_extension("");
            let names = path.iter().map(|name| name.to_str().unwrap().to_owned());
            names.filter(|name| name != "mod" && name != "lib").collect()
        };
        Self(files.iter().map(|file| (path_of(file), file)).collect())
    }

    /// Returns the module at a path, and the module's own path: `extra::x` leads to the room `x`.
    fn module(&self, path: &[String]) -> Option<(Vec<String>, &'f File)> {
        let path = path.strip_prefix(&["extra".to_owned()]).filter(|rest| !rest.is_empty()).unwrap_or(path);
        self.0.get(path).map(|file| (path.to_vec(), *file))
    }

    /// Returns the paths, from the crate's root, of the names that a module imports or, if
    /// `is_public`, exports.
    fn uses(module: &[String], file: &File, is_public: bool) -> Vec<Vec<String>> {
        let mut paths = BTreeSet::new();
        for (at, _) in file.code.match_indices("use ") {
            let before = file.code[..at].rsplit('\n').next().unwrap().trim_start();
            if before == "pub " || (!is_public && (before.is_empty() || before.starts_with("pub("))) {
                expand(&file.code[at + 4..], "", &mut paths);
            }
        }
        let absolute = |path: String| {
            let names: Vec<_> = path.split("::").map(str::to_owned).collect();
            let above = names.iter().take_while(|name| *name == "super").count();
            let from = if names[0] == "crate" { &[] } else { &module[..module.len().saturating_sub(above)] };
            let names = names.into_iter().skip_while(|name| name == "super" || name == "crate" || name == "self");
            from.iter().cloned().chain(names).collect()
        };
        paths.into_iter().map(absolute).collect()
    }

    /// Returns the file that declares the type at a path.
    fn declares(&self, path: &[String]) -> Option<&'f File> {
        self.declares_unless(path, &mut BTreeSet::new())
    }

    /// Works like [`Library::declares`], but does not follow the paths in `seen`, which may lead
    /// back to this path.
    fn declares_unless(&self, path: &[String], seen: &mut BTreeSet<Vec<String>>) -> Option<&'f File> {
        let (name, module) = path.split_last().filter(|_| seen.insert(path.to_vec()))?;
        let (module, file) = self.module(module)?;
        if file.code.lines().filter_map(declared).any(|(found, _)| found == name) {
            return Some(file);
        }
        let uses = Self::uses(&module, file, false);
        uses.iter().filter(|used| used.last() == Some(name)).find_map(|used| self.declares_unless(used, seen))
    }

    /// Adds the public types of a module, and of the modules that it exports.
    fn visit(&self, path: &[String], seen: &mut BTreeSet<Vec<String>>, found: &mut Declared) {
        let Some((path, file)) = self.module(path).filter(|(path, _)| seen.insert(path.clone())) else { return };
        let mut add = |name: &str, of: &File| {
            found.entry(name.to_owned()).or_default().insert(of.path.display().to_string());
        };
        for line in file.code.lines() {
            declared(line).filter(|(_, is_public)| *is_public).iter().for_each(|(name, _)| add(name, file));
        }
        let exported = Self::uses(&path, file, true);
        for of in &exported {
            self.declares(of).into_iter().for_each(|file| add(of.last().unwrap(), file));
        }
        let modules = file.code.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        let modules = modules.map(|name| [&path[..], &[name.to_owned()]].concat());
        modules.chain(exported).for_each(|path| self.visit(&path, seen, found));
    }
}

/// Returns the public types of the library, except those of the reference.
fn public(files: &[File]) -> Declared {
    let mut found = Declared::new();
    Library::new(files).visit(&[], &mut BTreeSet::new(), &mut found);
    found.values_mut().for_each(|files| files.retain(|file| !file.starts_with(ORACLES)));
    found
}

#[test]
fn a_name_seen_outside_its_file_stands_once_in_its_room() {
    let mut files = source();
    let rooms: BTreeSet<_> = files.iter().map(File::room).collect();
    for room in &rooms {
        let twins = twins_of_room(&files, room);
        assert!(twins.is_empty(), "types of {room} with one name: {twins:#?}");
    }
    for (code, seen) in [
        ("pub(in crate::graph) enum Balance {}", true),
        ("kernel! {\n    pub(super) struct Balance = \"balance\" in \"graph/balance.cl\" {}\n}", true),
        ("struct Balance {}", false),
        ("pub(super) fn f() -> Balance {}", false),
    ] {
        files.push(File { path: "graph/planted.rs".into(), code: code.into() });
        assert_eq!(twins_of_room(&files, "graph").contains_key("Balance"), seen, "{code}");
        files.pop();
    }
}

#[test]
fn a_public_name_stands_once_in_the_library() {
    let mut files = source();
    let names = public(&files);
    for (name, file) in [
        ("Csc", "matrix/csc.rs"),
        ("ExecutionReport", "planned/mod.rs"),
        ("Mesh", "mesh/mod.rs"),
        ("BundleAdjustment", "solver/problem/file/bal.rs"),
        ("DenseProduct", "apply/spmm/product.rs"),
        ("Counters", "device/counters.rs"),
    ] {
        assert!(names.get(name).is_some_and(|files| files.contains(file)), "{name}: {:?}", names.get(name));
    }
    assert!(names.len() > 200 && !names.contains_key("DeviceCbc"), "{}", names.len());
    let found = twins(names);
    assert!(found.is_empty(), "public types with one name: {found:#?}");
    // If a second public `Format` is added, the check must find it.
    let room = files.iter_mut().find(|file| file.path.ends_with("io/mod.rs")).unwrap();
    room.code += "\npub enum Format {}\n";
    assert!(twins(public(&files)).contains_key("Format"));
}
