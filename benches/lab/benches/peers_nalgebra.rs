//! Times nalgebra-sparse's reader of Matrix Market files, from the page cache to compressed
//! columns.
//!
//! ```text
//! cargo bench -p blockmul-lab --bench peers_nalgebra -- FILE.mtx ...
//!     [--json OUT.json] [--rounds N] [--patience SECONDS]
//! ```
//!
//! `blockmul bench --operation read FILE.mtx ...` times blockmul's reader; both must give the same
//! matrix before either counts. `read.py` times SciPy's and fast_matrix_market's.
use blockmul::{Csc, io};
use clap::Parser;
use nalgebra_sparse::{CscMatrix, io::load_coo_from_matrix_market_file};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

const FEWEST_ROUNDS: usize = 3;

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

/// Time nalgebra-sparse's reader of Matrix Market files.
#[derive(Parser)]
struct Args {
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write every time as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Timed rounds of each file.
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// End the rounds of a file after so many seconds, but not before the third.
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// Cargo adds it.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Anything<()> {
    let args = Args::parse();
    let mut results = Vec::new();
    for file in &args.files {
        results.push(measure(file, &args)?);
        if let Some(path) = &args.json {
            let host = json!({"threads": std::thread::available_parallelism()?.get()});
            let whole = json!({"schema": "blockmul-bench/1", "host": host, "results": results});
            std::fs::write(path, serde_json::to_string_pretty(&whole)?)?;
        }
    }
    Ok(())
}

fn measure(path: &Path, args: &Args) -> Anything<Value> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (matrix, bytes) = (io::read(path, &Default::default())?.matrix, std::fs::metadata(path)?.len());
    let mut record = json!({
        "library": "nalgebra-sparse", "version": version(), "variant": "read", "device": "host", "threads": 1,
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
    let (mut runs, began) = (Vec::new(), Instant::now());
    while runs.len() < args.rounds && (runs.len() < FEWEST_ROUNDS || began.elapsed().as_secs_f64() < args.patience) {
        let start = Instant::now();
        let matrix = read(path);
        runs.push(start.elapsed().as_secs_f64() * 1e3);
        drop(matrix);
    }
    let mut sorted = runs.clone();
    sorted.sort_by(f64::total_cmp);
    let ms = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0;
    println!("nalgebra-sparse {name:<20} {ms:10.1} ms {:9.1} MB/s", bytes as f64 / ms / 1e3);
    (record["runs_ms"], record["ms"]) = (json!(runs), json!(ms));
    Ok(record)
}

/// The version of nalgebra-sparse that is locked.
fn version() -> &'static str {
    let locked = include_str!("../../../Cargo.lock").split_once("name = \"nalgebra-sparse\"\nversion = \"");
    locked.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("unknown")
}

fn read(path: &Path) -> Result<CscMatrix<f64>, String> {
    let coo = load_coo_from_matrix_market_file::<f64, _>(path).map_err(|error| error.to_string())?;
    Ok(CscMatrix::from(&coo))
}

/// The same pattern, the same bits.
fn same(ours: &Csc<f64>, theirs: &CscMatrix<f64>) -> bool {
    let pattern = ours.pattern();
    let col_ptr = pattern.col_ptr().iter().map(|&end| end as usize).eq(theirs.col_offsets().iter().copied());
    let row_idx = pattern.row_idx().iter().map(|&row| row as usize).eq(theirs.row_indices().iter().copied());
    let bits = |value: &f64| value.to_bits();
    col_ptr && row_idx && ours.values().iter().map(bits).eq(theirs.values().iter().map(bits))
}
