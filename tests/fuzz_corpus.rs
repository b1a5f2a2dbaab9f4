//! Every input that fuzzing found worth keeping, through the checks of the fuzz targets; see `fuzz/README.md`.
#[path = "../fuzz/readers.rs"]
mod readers;

use std::path::Path;

/// One test for all, so that memory is that of one reader: see `readers`.
#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    type Check = fn(&[u8]);
    let targets: [(&str, Check); 9] = [
        ("matrix_market", readers::matrix_market),
        ("edge_list", readers::edge_list),
        ("npz", readers::npz),
        ("binary", readers::binary),
        ("bla", readers::bla),
        ("by_name", readers::by_name),
        ("bal", readers::bal),
        ("g2o", readers::g2o),
        ("isam", readers::isam),
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
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
}
