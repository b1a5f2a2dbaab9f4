//! Reads every input of the fuzzing corpora, with the checks of the fuzz targets; see
//! `fuzz/README.md`.
#[path = "../../fuzz/readers.rs"]
mod readers;

use std::{path::Path, process::Command};

/// The environment variable that is set in the process that reads the corpora.
const ALONE: &str = "BLOCKMUL_TEST_ALONE";

/// Reads all corpora in a separate process: the checks count the memory of their process, in which
/// no other test may run at the same time.
#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    if std::env::var_os(ALONE).is_some() {
        return replay();
    }
    let this = ["--exact", "fuzz_corpus::what_fuzzing_kept_is_read_or_refused", "--nocapture"];
    let program = std::env::current_exe().unwrap();
    let ran = Command::new(program).args(this).env(ALONE, "yes").output().unwrap();
    let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

fn replay() {
    type Check = fn(&[u8]);
    let targets: [(&str, Check); 14] = [
        ("matrix_market", readers::matrix_market),
        ("edge_list", readers::edge_list),
        ("npz", readers::npz),
        ("binary", readers::binary),
        ("bla", readers::bla),
        ("by_name", readers::by_name),
        ("bal", readers::bal),
        ("g2o", readers::g2o),
        ("isam", readers::isam),
        ("mesh", readers::mesh),
        ("npy", readers::npy),
        ("tuning", readers::tuning),
        ("gcoo_file", readers::gcoo_file),
        ("gcoo", readers::gcoo),
    ];
    let corpus = Path::new(crate::ROOT).join("fuzz/corpus");
    for (target, check) in targets {
        let files = std::fs::read_dir(corpus.join(target)).unwrap().map(|file| file.unwrap().path());
        let mut read = 0;
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let outcome = std::panic::catch_unwind(|| check(&bytes));
            assert!(outcome.is_ok(), "{}", file.display());
            read += 1;
        }
        assert!(read > 0, "{target} has no corpus");
    }
    // The inputs written here are too slow for fuzzing.
    readers::long_meshes();
}
