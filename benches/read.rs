//! Times the Matrix Market reader against nalgebra-sparse's, from the page cache to finished compressed columns.
//!
//! `cargo bench --bench read -- FILE...`; without a file one of 120 MB is generated. Both must give the same matrix before
//! either is timed. `benches/peers/read.py` prints the same columns for SciPy and fast_matrix_market.
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blockmul::generate::{Values, uniform};
use blockmul::{BlockShape, Csc, io};
use nalgebra_sparse::{CscMatrix, io::load_coo_from_matrix_market_file};

const ROUNDS: usize = 7;
/// A reader this slow is read once.
const PATIENCE: Duration = Duration::from_secs(5);

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    // Cargo adds `--bench`.
    let mut files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).map(Into::into).collect();
    if files.is_empty() {
        files.push(folder.path().join("uniform.mtx"));
        let matrix = uniform(400_000, 400_000, 9, BlockShape::SCALAR, Values::Real, 1)?;
        io::write(&files[0], &matrix, &Default::default())?;
    }
    println!(
        "{:<20} {:>7} {:<26} {:>7} {:>9} {:>9} {:>9}",
        "file", "MB", "reader", "threads", "min ms", "median ms", "MB/s/core"
    );
    files.iter().try_for_each(|path| compare(path))
}

fn compare(path: &Path) -> Result<(), Failure> {
    let matrix = io::read(path, &Default::default())?.matrix;
    let peer = nalgebra(path);
    match &peer {
        Ok(peer) if !same(&matrix, peer) => return Err(format!("{}: the readers differ", path.display()).into()),
        Ok(_) => {}
        Err(reason) => println!("{}: nalgebra-sparse: {reason}", path.display()),
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = vec![1, 2, all];
    counts.dedup();
    counts.retain(|&threads| threads <= all);
    for threads in counts {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        time(path, "blockmul", threads, || pool.install(|| io::read(path, &Default::default())).map(drop))?;
    }
    if peer.is_ok() {
        time(path, "nalgebra-sparse", 1, || nalgebra(path).map(drop))?;
    }
    Ok(())
}

fn nalgebra(path: &Path) -> Result<CscMatrix<f64>, String> {
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

fn time<E>(path: &Path, reader: &str, threads: usize, read: impl Fn() -> Result<(), E>) -> Result<(), E> {
    let timed = || {
        let start = Instant::now();
        read().map(|()| start.elapsed())
    };
    let mut times = vec![timed()?];
    if times[0] < PATIENCE {
        times = (0..ROUNDS).map(|_| timed()).collect::<Result<_, _>>()?;
    }
    times.sort();
    let (low, middle) = (times[0].as_secs_f64(), times[times.len() / 2].as_secs_f64());
    let megabytes = std::fs::metadata(path).map_or(0.0, |file| file.len() as f64 / 1e6);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    println!(
        "{name:<20} {megabytes:>7.1} {reader:<26} {threads:>7} {:>9.1} {:>9.1} {:>9.1}",
        low * 1e3,
        middle * 1e3,
        megabytes / low / threads as f64
    );
    Ok(())
}
