//! Times nalgebra-sparse's reader of Matrix Market files, from the page cache to compressed
//! columns.
//!
//! ```text
//! cargo bench -p blockmul-lab --bench peers_nalgebra -- FILE.mtx ...
//!     [--json OUT.json] [--rounds N] [--patience SECONDS]
//! ```
//!
//! `lab bench --operation read FILE.mtx ...` times blockmul's reader; both must give the same
//! matrix before a time counts. `read.py` times SciPy's and fast_matrix_market's.
#[path = "common/mod.rs"]
mod common;

use blockmul::{Csc, io};
use clap::Parser;
use common::{Anything, Options, median, version};
use nalgebra_sparse::{CscMatrix, io::load_coo_from_matrix_market_file};
use serde_json::{Value, json};
use std::path::Path;

/// Time nalgebra-sparse's reader of Matrix Market files.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    options: Options,
}

fn main() -> Anything<()> {
    let Args { options } = Args::parse();
    options.each(|file| Ok(vec![measure(file, &options)?]))
}

fn measure(path: &Path, options: &Options) -> Anything<Value> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (matrix, bytes) = (io::read(path, &Default::default())?.matrix, std::fs::metadata(path)?.len());
    let mut record = json!({
        "library": "nalgebra-sparse", "version": version("nalgebra-sparse"), "variant": "read", "device": "host", "threads": 1,
        "matrix": name, "element": "f64", "products": 0, "flops": 0, "bytes": bytes,
        "a": {"rows": matrix.nrows(), "cols": matrix.ncols(), "nnz": matrix.nnz(), "block": [1, 1]},
    });
    let fault = match read(path) {
        Ok(peer) => (!same(&matrix, &peer)).then(|| "not the matrix that blockmul reads".to_owned()),
        Err(reason) => Some(reason),
    };
    record["verified"] = json!(fault.is_none());
    if let Some(reason) = fault {
        println!("nalgebra-sparse {name:<20} FAILED: {reason}");
        record["reason"] = json!(reason);
        return Ok(record);
    }
    let runs = options.time(|| read(path));
    let ms = median(&runs);
    println!("nalgebra-sparse {name:<20} {ms:10.1} ms {:9.1} MB/s", bytes as f64 / ms / 1e3);
    (record["runs_ms"], record["ms"]) = (json!(runs), json!(ms));
    Ok(record)
}

fn read(path: &Path) -> Result<CscMatrix<f64>, String> {
    let coo = load_coo_from_matrix_market_file::<f64, _>(path).map_err(|error| error.to_string())?;
    Ok(CscMatrix::from(&coo))
}

/// Checks that two matrices have the same pattern and the same bits.
fn same(ours: &Csc<f64>, theirs: &CscMatrix<f64>) -> bool {
    let pattern = ours.pattern();
    let col_ptr = pattern.col_ptr().iter().map(|&end| end as usize).eq(theirs.col_offsets().iter().copied());
    let row_idx = pattern.row_idx().iter().map(|&row| row as usize).eq(theirs.row_indices().iter().copied());
    let bits = |value: &f64| value.to_bits();
    col_ptr && row_idx && ours.values().iter().map(bits).eq(theirs.values().iter().map(bits))
}
