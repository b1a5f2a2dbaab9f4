//! Wings: the modules of `product`, which name one another in one direction. The words of a
//! product, in `product/terms`, name none of them.
use super::{File, Text, circle, exports, exports_of, source};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// What is known of `product`: its modules, and where names come from.
struct Wings {
    modules: BTreeSet<String>,
    /// The module of each name that `product` exports.
    exports: BTreeMap<String, String>,
    /// The room of each name that the crate's root exports.
    of_crate: BTreeMap<String, String>,
}

impl Wings {
    fn new(files: &[File]) -> Self {
        let front = files.iter().find(|file| file.path == Path::new("product/mod.rs")).unwrap();
        let modules: BTreeSet<_> = files.iter().filter_map(wing).collect();
        let mut exports_of_product = exports_of(&front.code);
        exports_of_product.retain(|_, module| modules.contains(module));
        Self { modules, exports: exports_of_product, of_crate: exports() }
    }

    /// The other modules that a file of `product` names, with one path of each.
    fn named_by(&self, file: &File) -> BTreeMap<String, String> {
        let (own, mut named) = (wing(file), BTreeMap::new());
        for path in file.paths() {
            let names = absolute(file, &path);
            let name = match names.first().map(String::as_str) {
                Some("product") => names.get(1),
                Some(first) if self.of_crate.get(first).is_some_and(|room| room == "product") => names.first(),
                _ => None,
            };
            let module = name.and_then(|name| self.modules.get(name).or_else(|| self.exports.get(name)));
            if let Some(module) = module.filter(|module| Some(*module) != own.as_ref()) {
                named.insert(module.clone(), path);
            }
        }
        named
    }

    /// The arrows among the modules that are in a circle.
    fn circle(&self, files: &[File]) -> Vec<(String, String)> {
        let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (module, file) in files.iter().filter_map(|file| Some((wing(file)?, file))) {
            for (to, path) in self.named_by(file) {
                arrows
                    .entry(module.clone())
                    .or_default()
                    .entry(to)
                    .or_insert(format!("src/{}: {path}", file.path.display()));
            }
        }
        assert!(arrows["dispatch"].contains_key("engine"), "arrows are found");
        circle(&arrows, self.modules.clone())
    }
}

/// The module of `product` that a file belongs to. `product/mod.rs` is the front of all.
fn wing(file: &File) -> Option<String> {
    let below = file.path.strip_prefix("product").ok()?.components().next()?;
    let name = below.as_os_str().to_str().unwrap().trim_end_matches(".rs");
    (name != "mod").then(|| name.to_owned())
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
    let wings = Wings::new(&files);
    let of_terms: Vec<_> = files.iter().filter(|file| wing(file).as_deref() == Some("terms")).collect();
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
fn no_two_modules_of_product_name_each_other() {
    let mut files = source();
    let wings = Wings::new(&files);
    let arrows = wings.circle(&files);
    assert!(arrows.is_empty(), "modules of product in a circle: {arrows:#?}");
    // An engine names the dispatch, which is above it.
    files.push(file(("product/ranges/mod.rs".into(), "use super::dispatch::OneShot;".into())));
    let modules: BTreeSet<_> = wings.circle(&files).into_iter().map(|(to, _)| to).collect();
    assert!(modules.contains("dispatch") && modules.contains("ranges"), "{modules:?}");
}
