//! Wings: the modules of a room or of the command, which name one another in one direction. The
//! words of a product, in `product/terms`, name no other module of it.
use super::{File, Text, circle, exports, exports_of, files_of, rooms, source};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Rooms with modules that name each other: a matrix of each format is made from those of the
/// others, and the tables are constants of the type whose functions read them.
const IN_CIRCLES: [&str; 2] = ["matrix", "tuning"];

/// The modules that a module names, each with an example.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

/// What is known of a room, or of a whole package: its modules, and where names come from.
struct Wings {
    /// `None` for a package.
    room: Option<String>,
    modules: BTreeSet<String>,
    /// The module of each name that the room uses or exports.
    exports: BTreeMap<String, String>,
    /// The room of each name that the crate's root exports.
    of_crate: BTreeMap<String, String>,
}

impl Wings {
    fn new(files: &[File], room: Option<&str>) -> Self {
        let room = room.map(str::to_owned);
        let of_crate = if room.is_some() { exports() } else { BTreeMap::new() };
        let mut wings = Self { room, modules: BTreeSet::new(), exports: BTreeMap::new(), of_crate };
        wings.modules = files.iter().filter_map(|file| wings.module_of(file)).collect();
        let front = wings.room.as_ref().map_or("lib.rs".into(), |room| format!("{room}/mod.rs"));
        if let Some(front) = files.iter().find(|file| file.path == Path::new(&front)) {
            wings.exports = exports_of(&front.code);
            wings.exports.retain(|_, module| wings.modules.contains(module));
        }
        wings
    }

    /// The module that a file belongs to. The front of all, `mod.rs` or `lib.rs`, is none.
    fn module_of(&self, file: &File) -> Option<String> {
        let path = self.room.as_ref().map_or(Ok(&*file.path), |room| file.path.strip_prefix(room)).ok()?;
        let name = path.components().next()?.as_os_str().to_str().unwrap().trim_end_matches(".rs");
        (!["mod", "lib", "main"].contains(&name)).then(|| name.to_owned())
    }

    /// The other modules that a file names, with one path of each.
    fn named_by(&self, file: &File) -> BTreeMap<String, String> {
        let (own, mut named) = (self.module_of(file), BTreeMap::new());
        for path in file.paths() {
            let names = absolute(file, &path);
            let name = match (&self.room, names.first()) {
                (Some(room), Some(first)) if first == room => names.get(1),
                (Some(room), Some(first)) => (self.of_crate.get(first) == Some(room)).then_some(first),
                (None, first) => first,
                (Some(_), None) => None,
            };
            let module = name.and_then(|name| match name.strip_suffix('!') {
                Some(of_macro) => self.exports.get(of_macro),
                None => self.modules.get(name).or_else(|| self.exports.get(name)),
            });
            if let Some(module) = module.filter(|module| Some(*module) != own.as_ref()) {
                named.insert(module.clone(), path);
            }
        }
        named
    }

    /// All arrows among the modules.
    fn arrows(&self, files: &[File]) -> Arrows {
        let mut arrows = Arrows::new();
        for (module, file) in files.iter().filter_map(|file| Some((self.module_of(file)?, file))) {
            for (to, path) in self.named_by(file) {
                let example = format!("{}: {path}", file.path.display());
                arrows.entry(module.clone()).or_default().entry(to).or_insert(example);
            }
        }
        arrows
    }

    /// The arrows that are in a circle.
    fn circle(&self, files: &[File]) -> Vec<(String, String)> {
        circle(&self.arrows(files), self.modules.clone())
    }
}

/// The names of a path from the crate's root on.
fn absolute(file: &File, path: &str) -> Vec<String> {
    let names: Vec<_> = path.split("::").map(str::to_owned).collect();
    let above = names.iter().take_while(|name| *name == "super").count();
    if above == 0 {
        return names[1..].to_vec();
    }
    let module = file.path.with_extension("");
    let parts = module.components().map(|part| part.as_os_str().to_str().unwrap().to_owned());
    let mut here: Vec<_> = parts.filter(|part| part != "mod").collect();
    here.truncate(here.len().saturating_sub(above));
    here.into_iter().chain(names[above..].iter().cloned()).collect()
}

fn file((path, code): Text) -> File {
    File { path, code }
}

#[test]
fn words_of_a_product_name_no_other_module_of_it() {
    let files = source();
    let wings = Wings::new(&files, Some("product"));
    let of_terms: Vec<_> = files.iter().filter(|file| wings.module_of(file).as_deref() == Some("terms")).collect();
    assert!(of_terms.len() > 10 && wings.modules.len() > 30);
    for file in of_terms {
        let named = wings.named_by(file);
        assert!(named.is_empty(), "src/{} names {named:?}", file.path.display());
    }
    for (path, code, module) in [
        ("product/terms/spec.rs", "use crate::{Part, product::{terms::Sizes, tuning::Tuning}};", Some("tuning")),
        ("product/terms/spec.rs", "use super::super::choose;", Some("choose")),
        ("product/terms/mod.rs", "use super::{\n    esc::Esc,\n    terms::Spec,\n};", Some("esc")),
        ("product/terms/spec.rs", "fn f(plan: &crate::product::Plan) {}", Some("plan")),
        ("product/terms/spec.rs", "fn f(plan: &crate::Plan) {}", Some("plan")),
        ("product/terms/spec.rs", "use super::{Method, sizes::Sizes};", None),
        ("product/terms/spec.rs", "use crate::{Method, device::Options, product::Bin};", None),
    ] {
        let named = wings.named_by(&file((path.into(), code.into())));
        assert_eq!(named.keys().next().map(String::as_str), module, "{path}: {code}");
    }
}

#[test]
fn no_two_modules_of_a_room_name_each_other() {
    let files = source();
    let rooms: Vec<_> = rooms(&files).into_iter().filter(|room| !IN_CIRCLES.contains(&&**room)).collect();
    assert!(rooms.len() > 20, "{rooms:?}");
    for room in &rooms {
        let circle = Wings::new(&files, Some(room)).circle(&files);
        assert!(circle.is_empty(), "modules of {room} in a circle: {circle:#?}");
    }
}

#[test]
fn no_two_modules_of_the_command_name_each_other() {
    let files = files_of("tools/blockmul/src");
    let circle = Wings::new(&files, None).circle(&files);
    assert!(circle.is_empty(), "modules of the command in a circle: {circle:#?}");
}

#[test]
fn modules_that_name_each_other_are_seen() {
    let command = "tools/blockmul/src";
    for (folder, room, path, code, circle) in [
        ("src", Some("product"), "product/ranges/mod.rs", "use super::dispatch::OneShot;", ["dispatch", "ranges"]),
        ("src", Some("device"), "device/queue.rs", "use super::{cl::check, work::Work};", ["queue", "work"]),
        ("src", Some("device"), "device/pool/memory.rs", "use crate::device::Buffer;", ["buffer", "pool"]),
        ("src", Some("device"), "device/handle.rs", "use crate::{Result, Device, Marker};", ["handle", "marker"]),
        (command, None, "target/run.rs", "use crate::{failure::Failure, report::Report};", ["report", "target"]),
        (command, None, "matrix_size.rs", "use super::overflow::Extent;", ["matrix_size", "overflow"]),
    ] {
        let mut files = files_of(folder);
        let wings = Wings::new(&files, room);
        files.push(file((path.into(), code.into())));
        let found: BTreeSet<_> = wings.circle(&files).into_iter().map(|(to, _)| to).collect();
        assert!(circle.iter().all(|module| found.contains(*module)), "{path}: {code}: {found:?}");
    }
    let files = files_of("src");
    let macros = file(("device/parameters.rs".into(), "$crate::device::kernel! {}".into()));
    assert!(Wings::new(&files, Some("device")).named_by(&macros).is_empty(), "a macro is no module");
}
