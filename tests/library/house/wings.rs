//! Wings: the modules of `product`. Neither the wings nor the modules in a wing depend on each
//! other in circles. `product/terms`, the types that all wings use, depends on no other wing. The
//! methods of columns do not depend on one another.
use super::{File, circle, exports, exports_of, source};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The modules of a folder, and the modules from which names come.
pub(super) struct Modules {
    /// The path of the folder from the crate's root. The path is empty for a whole package.
    folder: Vec<String>,
    modules: BTreeSet<String>,
    /// The module of each name that the folder exports.
    exports: BTreeMap<String, String>,
    /// The names of the folder that the crate's root exports.
    of_crate: BTreeSet<String>,
}

impl Modules {
    /// Finds the modules of a folder, such as `product/esc`, or of a package if `folder` is empty.
    pub fn new(files: &[File], folder: &str) -> Self {
        let front = Path::new(folder).join(if folder.is_empty() { "lib.rs" } else { "mod.rs" });
        let of_crate = exports().into_iter().filter(|(_, room)| room == folder).map(|(name, _)| name).collect();
        let folder = folder.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let mut modules = Self { folder, modules: BTreeSet::new(), exports: BTreeMap::new(), of_crate };
        modules.modules = files.iter().filter_map(|file| modules.module(file)).collect();
        let front = files.iter().find(|file| file.path == front);
        modules.exports = front.map(|front| exports_of(&front.code)).unwrap_or_default();
        modules.exports.retain(|_, module| modules.modules.contains(module));
        modules
    }

    /// Returns the module of the folder that contains a file. `mod.rs` and `lib.rs` belong to no
    /// module.
    pub fn module(&self, file: &File) -> Option<String> {
        let below = file.path.strip_prefix(self.folder.join("/")).ok()?.components().next()?;
        let name = below.as_os_str().to_str().unwrap().trim_end_matches(".rs");
        (!["mod", "lib", "main"].contains(&name)).then(|| name.to_owned())
    }

    /// Returns the other modules that a file of the folder names, with one path for each.
    pub fn named_by(&self, file: &File) -> BTreeMap<String, String> {
        let (own, mut named) = (self.module(file), BTreeMap::new());
        for path in file.paths() {
            let names = absolute(file, &path);
            let name = match names.strip_prefix(&*self.folder) {
                Some(below) => below.first(),
                None => names.first().filter(|name| self.of_crate.contains(*name)),
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

    /// Returns the dependencies among the modules that are part of a circle.
    pub fn circle(&self, files: &[File]) -> Vec<(String, String)> {
        let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (module, file) in files.iter().filter_map(|file| Some((self.module(file)?, file))) {
            for (to, path) in self.named_by(file) {
                arrows
                    .entry(module.clone())
                    .or_default()
                    .entry(to)
                    .or_insert(format!("{}: {path}", file.path.display()));
            }
        }
        circle(&arrows, self.modules.clone())
    }
}

/// Returns the names of a path from the crate's root.
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

pub(super) fn file(path: &str, code: &str) -> File {
    File { path: path.into(), code: code.to_owned() }
}

/// Wings that must exist, so that the tests check something.
const WINGS: [&str; 8] = ["bands", "columns", "cpu", "esc", "estimate", "masked", "plan", "terms"];

#[test]
fn words_of_a_product_name_no_other_module_of_it() {
    let files = source();
    let wings = Modules::new(&files, "product");
    let of_terms: Vec<_> = files.iter().filter(|file| wings.module(file).as_deref() == Some("terms")).collect();
    assert!(of_terms.len() > 10 && WINGS.iter().all(|wing| wings.modules.contains(*wing)));
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
        let named = wings.named_by(&file(path, code));
        assert_eq!(named.keys().next().map(String::as_str), module, "{path}: {code}");
    }
}

#[test]
fn no_two_modules_of_product_or_of_a_wing_name_each_other() {
    let mut files = source();
    for wing in WINGS {
        let arrows = Modules::new(&files, &format!("product/{wing}")).circle(&files);
        assert!(arrows.is_empty(), "modules of product/{wing} in a circle: {arrows:#?}");
    }
    let wings = Modules::new(&files, "product");
    let arrows = wings.circle(&files);
    assert!(arrows.is_empty(), "modules of product in a circle: {arrows:#?}");
    // The check must find two circles: an engine that names the dispatch, although the dispatch
    // uses engines, and a stage that names its engine.
    files.push(file("product/cpu/ranges/mod.rs", "use crate::product::dispatch::Prepared;"));
    let modules: BTreeSet<_> = wings.circle(&files).into_iter().map(|(to, _)| to).collect();
    assert!(modules.contains("dispatch") && modules.contains("cpu"), "{modules:?}");
    files.push(file("product/esc/analysis.rs", "use super::engine::Engine;"));
    let modules: BTreeSet<_> =
        Modules::new(&files, "product/esc").circle(&files).into_iter().map(|(to, _)| to).collect();
    assert!(modules.contains("analysis") && modules.contains("engine"), "{modules:?}");
}

/// Returns the methods of columns that a file of another method names, also as paths of kernels.
fn other_methods(file: &File, columns: &Modules) -> Vec<String> {
    let named = columns.named_by(file);
    let own = columns.module(file).filter(|own| METHODS.contains(&&**own));
    let others = METHODS.iter().filter(|_| own.is_some()).filter(|method| own.as_deref() != Some(method));
    let of_kernels = |method: &str| file.code.contains(&format!("product/columns/{method}/"));
    others
        .filter(|method| named.contains_key(**method) || of_kernels(method))
        .map(|&method| method.to_owned())
        .collect()
}

/// The methods of columns: folders of `product/columns` that do not name one another.
const METHODS: [&str; 4] = ["dense", "direct", "hash", "hub"];

#[test]
fn methods_of_columns_do_not_name_one_another() {
    let files = source();
    let columns = Modules::new(&files, "product/columns");
    assert!(METHODS.iter().all(|method| columns.modules.contains(*method)));
    for file in &files {
        let others = other_methods(file, &columns);
        assert!(others.is_empty(), "src/{} names {others:?}", file.path.display());
    }
    for (path, code, names) in [
        ("product/columns/hub/mod.rs", "use super::hash::HashCounts;", true),
        ("product/columns/dense/count.rs", "use crate::product::columns::{hash::HashCounts, tasks::Tasks};", true),
        ("product/columns/hash/mod.rs", "\"product/columns/dense/count.cl\"", true),
        ("product/columns/adaptive/find.rs", "use super::super::hash::HashCounts;", false),
    ] {
        assert_eq!(!other_methods(&file(path, code), &columns).is_empty(), names, "{path}: {code}");
    }
}
