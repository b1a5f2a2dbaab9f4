//! Tuning numbers of stages. `tuning` reads the list of stages in `src/lib.rs`, which names rooms
//! that depend on `tuning`. The names of rooms in the list are no circle, because the files that
//! declare numbers depend only on `tuning`.
use super::{File, code_of, source};
use std::{fs, path::Path};

/// Returns the paths in a file that are not in `tuning`.
fn others(file: &File) -> Vec<String> {
    let code = file.code.replace("pub(in crate::product)", "pub");
    let file = File { path: file.path.clone(), code };
    let is_of_tuning = |path: &String| path.starts_with("crate::tuning::") || file.room() == "tuning";
    file.paths().into_iter().filter(|path| !is_of_tuning(path)).collect()
}

#[test]
fn files_that_declare_numbers_name_tuning_alone() {
    let files = source();
    let declares: Vec<_> = files.iter().filter(|file| file.code.contains("\nnumbers! {")).collect();
    for file in &declares {
        assert!(others(file).is_empty(), "src/{} names {:?}", file.path.display(), others(file));
    }
    let root = code_of(&fs::read_to_string(Path::new(crate::ROOT).join("src/lib.rs")).unwrap());
    assert_eq!(root.matches("Stage::of::<").count(), declares.len(), "each stage is in the list");
    let code = "use crate::{primitives::scan::Scan, tuning::numbers};\nuse super::Slot;\n";
    let planted = File { path: "apply/spmm/numbers.rs".into(), code: code.into() };
    assert_eq!(others(&planted), ["crate::primitives::scan::Scan", "super::Slot"]);
}
