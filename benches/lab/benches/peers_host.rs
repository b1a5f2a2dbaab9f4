//! Times products of scalar matrices on the host, one after the other in one run, on one thread and
//! on several: the reference of blockmul, faer, and nalgebra-sparse, which uses one thread. For
//! block matrices (`--block 3`) only the reference is timed, since the others have no blocks.
//!
//! ```text
//! cargo bench -p blockmul-lab --bench peers_host -- FILE.mtx ... [--threads 1,2] [--block SIDE]
//!     [--rounds N] [--json OUT.json]
//! ```
//!
//! Each file is a square A, and the whole of A·A is timed, with the allocation of C. All results
//! must have the pattern of the reference's result, and its values except for rounding.
#[path = "common/mod.rs"]
mod common;

use blockmul::{BlockShape, Cbc, Csc, Matrix, io, matrix::Pattern, reference};
use clap::Parser;
use common::{Anything, Options, median};
use faer::sparse::{SparseColMat, SymbolicSparseColMat, linalg::matmul};
use nalgebra_sparse::CscMatrix;
use serde_json::{Value, json};
use std::hint::black_box;

/// Time products on the host.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    options: Options,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Multiply square blocks with this many scalars on a side.
    #[arg(long, default_value_t = 1)]
    block: usize,
}

fn main() -> Anything<()> {
    let args = Args::parse();
    args.options.each(|file| {
        let (name, mut results) = (file.file_stem().unwrap_or_default().to_string_lossy(), Vec::new());
        let a = io::read(file, &Default::default())?.matrix;
        match args.block {
            1 => scalars(&a, &name, &args, &mut results)?,
            side => blocks(&a.to_blocks(BlockShape::new(side, side)?)?, &name, &args, &mut results)?,
        }
        Ok(results)
    })
}

fn blocks(a: &Cbc<f64>, name: &str, args: &Args, results: &mut Vec<Value>) -> Anything<()> {
    for &threads in &args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| time("reference", name, threads, a, args, results, || reference::multiply(a, a)));
    }
    Ok(())
}

fn scalars(a: &Csc<f64>, name: &str, args: &Args, results: &mut Vec<Value>) -> Anything<()> {
    let want = reference::multiply(a, a)?;
    let (pattern, values) = (a.pattern(), a.values().to_vec());
    let offsets = pattern.col_ptr().iter().map(|&offset| u32::try_from(offset)).collect::<Result<_, _>>()?;
    let (nrows, ncols) = (a.nrows(), a.ncols());
    let symbolic = SymbolicSparseColMat::new_checked(nrows, ncols, offsets, None, pattern.row_idx().to_vec());
    let of_faer = SparseColMat::<u32, f64>::new(symbolic, values.clone());
    let [offsets, rows] = [
        pattern.col_ptr().iter().map(|&offset| offset as usize).collect(),
        pattern.row_idx().iter().map(|&row| row as usize).collect(),
    ];
    let of_nalgebra = CscMatrix::try_from_csc_data(nrows, ncols, offsets, rows, values).map_err(|e| e.to_string())?;

    let c = matmul::sparse_sparse_matmul(of_faer.as_ref(), of_faer.as_ref(), 1.0, faer::Par::Seq)
        .map_err(|error| format!("faer: {error:?}"))?;
    let col_ptr = c.col_ptr().iter().map(|&offset| offset.into()).collect();
    check("faer", &want, Csc::new(Pattern::new(nrows, ncols, col_ptr, c.row_idx().to_vec())?, c.val().to_vec())?)?;
    let c = &of_nalgebra * &of_nalgebra;
    let (col_ptr, row_idx) = (c.col_offsets().iter(), c.row_indices().iter());
    let (col_ptr, row_idx) = (col_ptr.map(|&offset| offset as u64).collect(), row_idx.map(|&row| row as u32).collect());
    check("nalgebra-sparse", &want, Csc::new(Pattern::new(nrows, ncols, col_ptr, row_idx)?, c.values().to_vec())?)?;
    drop(c);

    for &threads in &args.threads {
        let par = if threads == 1 { faer::Par::Seq } else { faer::Par::rayon(threads) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| {
            time("reference", name, threads, a, args, results, || reference::multiply(a, a));
            time("faer", name, threads, a, args, results, || {
                matmul::sparse_sparse_matmul(of_faer.as_ref(), of_faer.as_ref(), 1.0, par)
            });
        });
    }
    time("nalgebra-sparse", name, 1, a, args, results, || &of_nalgebra * &of_nalgebra);
    Ok(())
}

/// Checks that two matrices have the same pattern, and values that differ at most by the rounding
/// of another order of sums.
fn check(library: &str, want: &Csc<f64>, found: Csc<f64>) -> Anything<()> {
    let near = |(&x, &y): (&f64, &f64)| (x - y).abs() <= 1e-9 * (1.0 + x.abs());
    match want.pattern() == found.pattern() && want.values().iter().zip(found.values()).all(near) {
        true => Ok(()),
        false => Err(format!("{library} computes another product").into()),
    }
}

/// Times a product; prints and keeps the median and the least time.
fn time<M: Matrix, R>(
    library: &str,
    name: &str,
    threads: usize,
    a: &M,
    args: &Args,
    results: &mut Vec<Value>,
    multiply: impl Fn() -> R,
) {
    let runs = args.options.time(|| black_box(multiply()));
    let (ms, least) = (median(&runs), runs.iter().copied().fold(f64::MAX, f64::min));
    let products = reference::products(a, a);
    let flops = 2 * products * args.block.pow(3) as u64;
    println!(
        "{library:<16} {name:<12} {threads} {ms:10.2} ms, least {least:10.2}, {:7.2} Gflop/s",
        flops as f64 / ms / 1e6
    );
    results.push(json!({
        "library": library, "variant": "host", "device": "host", "threads": threads, "matrix": name, "element": "f64",
        "block": args.block, "products": products, "flops": flops, "runs_ms": runs, "ms": ms, "verified": true,
    }));
}
