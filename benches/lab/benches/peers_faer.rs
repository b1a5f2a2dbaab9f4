//! Times faer's sparse product on block matrices expanded to scalars, on one thread and on two.
//! This benchmark times the whole product ("sorted"), and the numeric part alone, into a kept
//! pattern ("kept pattern").
//!
//! ```text
//! cargo bench -p blockmul-lab --bench peers_faer -- FILE.bsr ... [--json OUT.json] [--rounds N]
//!     [--patience SECONDS]
//! ```
//!
//! `blocks.py` says how a result is checked. No code of blockmul is used.
#[path = "common/mod.rs"]
mod common;

use blockmul_cli::bench::results::cpu_name;
use clap::Parser;
use common::{Anything, Options, median, version};
use faer::sparse::{SparseColMat, SparseColMatMut, SparseColMatRef, SymbolicSparseColMat, linalg::matmul};
use faer::{Accum, Par, dyn_stack};
use serde_json::{Value, json};
use std::path::Path;

const MAGIC: i64 = 0x4253_5231;

/// A matrix of dense blocks by rows.
#[derive(Clone)]
struct Blocks {
    name: String,
    cols: usize,
    height: usize,
    width: usize,
    offsets: Vec<u32>,
    columns: Vec<u32>,
    /// The elements of a block are row-major.
    values: Vec<f64>,
}

impl Blocks {
    fn read(path: &Path) -> Anything<Self> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut rest = &bytes[..];
        let mut take = |count: usize| {
            let (part, after) =
                rest.split_at_checked(count).ok_or_else(|| format!("{}: ends early", path.display()))?;
            rest = after;
            Ok::<_, String>(part)
        };
        let head: Vec<i64> = bytemuck::pod_collect_to_vec(take(48)?);
        if head[0] != MAGIC {
            return Err(format!("{}: not a BSR1 file", path.display()).into());
        }
        let [rows, cols, blocks, height, width] = [1, 2, 3, 4, 5].map(|i| head[i] as usize);
        let offsets = bytemuck::pod_collect_to_vec(take(4 * (rows + 1))?);
        let columns = bytemuck::pod_collect_to_vec(take(4 * blocks)?);
        let values = bytemuck::pod_collect_to_vec(take(8 * blocks * height * width)?);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, cols, height, width, offsets, columns, values })
    }

    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// The other factor of a matrix's product: the matrix itself if it is square, otherwise its
    /// transpose.
    fn partner(&self) -> Self {
        if self.rows() == self.cols && self.height == self.width { self.clone() } else { self.transposed() }
    }

    fn transposed(&self) -> Self {
        let mut order: Vec<(u32, u32, usize)> =
            (0..self.rows()).flat_map(|i| self.row(i).map(move |p| (self.columns[p], i as u32, p))).collect();
        order.sort_unstable();
        let mut offsets = vec![0; self.cols + 1];
        order.iter().for_each(|&(row, ..)| offsets[row as usize + 1] += 1);
        (0..self.cols).for_each(|i| offsets[i + 1] += offsets[i]);
        let (height, width) = (self.height, self.width);
        let block =
            |p: usize| (0..width * height).map(move |k| self.values[(p * height + k % height) * width + k / height]);
        Self {
            name: self.name.clone(),
            cols: self.rows(),
            height: width,
            width: height,
            offsets,
            columns: order.iter().map(|&(_, column, _)| column).collect(),
            values: order.iter().flat_map(|&(.., p)| block(p)).collect(),
        }
    }

    /// Returns the transpose of the matrix as scalars, because faer stores matrices by columns.
    fn for_faer(&self) -> SparseColMat<u32, f64> {
        let (height, width) = (self.height, self.width);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..self.rows() * height {
            for p in self.row(row / height) {
                columns.extend((0..width).map(|k| self.columns[p] * width as u32 + k as u32));
                values.extend_from_slice(&self.values[(p * height + row % height) * width..][..width]);
            }
            offsets.push(columns.len() as u32);
        }
        let [rows, cols] = [self.cols * width, self.rows() * height];
        SparseColMat::new(SymbolicSparseColMat::new_checked(rows, cols, offsets, None, columns), values)
    }

    /// Returns M·x, in which each number of M is first replaced by `of` of that number.
    fn times(&self, x: &[f64], of: fn(f64) -> f64) -> Vec<f64> {
        let (height, width) = (self.height, self.width);
        let row = |row: usize| -> f64 {
            let of_block = |p: usize| {
                let values = &self.values[(p * height + row % height) * width..][..width];
                values.iter().zip(&x[self.columns[p] as usize * width..]).map(|(&a, &x)| of(a) * of(x)).sum::<f64>()
            };
            self.row(row / height).map(of_block).sum()
        };
        (0..self.rows() * height).map(row).collect()
    }

    fn describe(&self) -> Value {
        json!({"rows": self.rows(), "cols": self.cols, "nnz": self.columns.len(), "block": [self.height, self.width]})
    }
}

/// The expected product of two matrices.
struct Truth {
    a: Blocks,
    b: Blocks,
    products: u64,
    c_blocks: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The allowed distance between a row of C·x and `y`.
    bounds: Vec<f64>,
}

impl Truth {
    fn new(a: Blocks) -> Self {
        let b = a.partner();
        let number = |j: u64| ((j.wrapping_mul(2_654_435_761).wrapping_add(12_345) >> 7) & 1023) as f64 - 512.0;
        let x: Vec<f64> = (0..(b.cols * b.width) as u64).map(number).collect();
        let y = a.times(&b.times(&x, |v| v), |v| v);
        let magnitudes = a.times(&b.times(&x, f64::abs), f64::abs);
        let (mut products, mut c_blocks, mut seen, mut bounds) = (0, 0, vec![usize::MAX; b.cols], Vec::new());
        for i in 0..a.rows() {
            let before = products;
            for q in a.row(i).flat_map(|p| b.row(a.columns[p] as usize)) {
                products += 1;
                c_blocks += usize::from(std::mem::replace(&mut seen[b.columns[q] as usize], i) != i);
            }
            let roundings = a.row(i).len() * a.width + (products - before) as usize * a.width * b.width;
            bounds.extend(
                magnitudes[i * a.height..][..a.height].iter().map(|m| 2.0 * roundings as f64 * 2f64.powi(-53) * m),
            );
        }
        Self { a, b, products, c_blocks, x, y, bounds }
    }

    fn flops(&self) -> u64 {
        2 * self.products * (self.a.height * self.a.width * self.b.width) as u64
    }

    /// Returns the fault of C, if there is one. The rows of C are given as columns.
    fn fault(&self, c: SparseColMatRef<'_, u32, f64>) -> Option<String> {
        let right = self.c_blocks * self.a.height * self.b.width;
        if c.val().len() != right {
            return Some(format!("{} values, not {right}", c.val().len()));
        }
        for (i, (&y, &bound)) in self.y.iter().zip(&self.bounds).enumerate() {
            let range = c.col_range(i);
            let columns = &c.row_idx()[range.clone()];
            if !columns.is_sorted_by(|one, next| one < next) {
                return Some(format!("columns of row {i} not ascending"));
            }
            let found: f64 = columns.iter().zip(&c.val()[range]).map(|(&j, v)| v * self.x[j as usize]).sum();
            let near = (found - y).abs() <= bound;
            if !near {
                return Some(format!("row {i} times x is {found}, not {y}"));
            }
        }
        None
    }

    fn record(&self, variant: &str, threads: usize, result: Result<Vec<f64>, String>) -> Value {
        let mut record = json!({
            "library": "faer", "version": version("faer"), "variant": variant, "device": cpu_name().unwrap_or("CPU".into()), "threads": threads, "matrix": self.a.name,
            "a": self.a.describe(), "b": self.b.describe(), "element": "f64", "products": self.products, "c_nnz": self.c_blocks,
            "flops": self.flops(), "verified": result.is_ok(),
        });
        let text = match result {
            Ok(runs) => {
                let ms = median(&runs);
                let rate = self.flops() as f64 / ms / 1e6;
                record["runs_ms"] = json!(runs);
                record["ms"] = json!(ms);
                record["gflops"] = json!(rate);
                format!("{ms:10.3} ms {rate:9.2} Gflop/s")
            }
            Err(reason) => {
                record["reason"] = json!(reason);
                format!("FAILED: {reason}")
            }
        };
        println!("{:<10} {variant:<14} {:<14} f64 {threads} {text}", "faer", self.a.name);
        record
    }
}

fn measure(truth: &Truth, clock: &Options) -> Anything<Vec<Value>> {
    // The product of the transposes by columns is Cᵀ = Bᵀ·Aᵀ.
    let (a, b) = (truth.a.for_faer(), truth.b.for_faer());
    let mut records = Vec::new();
    for (threads, par) in [(1, Par::Seq), (2, Par::rayon(2))] {
        let multiply = || matmul::sparse_sparse_matmul(b.as_ref(), a.as_ref(), 1.0, par);
        let fault = truth.fault(multiply()?.as_ref());
        records.push(truth.record("sorted", threads, fault.map_or_else(|| Ok(clock.time(multiply)), Err)));

        let (pattern, info) = matmul::sparse_sparse_matmul_symbolic(b.symbolic(), a.symbolic())?;
        let mut values = vec![0.0; pattern.row_idx().len()];
        let scratch = matmul::sparse_sparse_matmul_numeric_scratch::<u32, f64>(pattern.as_ref(), par);
        let mut memory = dyn_stack::MemBuffer::new(scratch);
        let mut numeric = |values: &mut Vec<f64>| {
            let (c, stack) = (SparseColMatMut::new(pattern.as_ref(), values), dyn_stack::MemStack::new(&mut memory));
            matmul::sparse_sparse_matmul_numeric(c, Accum::Replace, b.as_ref(), a.as_ref(), 1.0, &info, par, stack);
        };
        numeric(&mut values);
        let fault = truth.fault(SparseColMatRef::new(pattern.as_ref(), &values));
        let runs = fault.map_or_else(|| Ok(clock.time(|| numeric(&mut values))), Err);
        records.push(truth.record("kept pattern", threads, runs));
    }
    Ok(records)
}

/// Time faer's sparse product.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    options: Options,
}

/// Runs the benchmark with the arguments of the command line.
pub fn run(args: impl Iterator<Item = String>) -> Anything<()> {
    let Args { options } = Args::try_parse_from(["peers_faer".into()].into_iter().chain(args))?;
    options.each(|file| measure(&Truth::new(Blocks::read(file)?), &options))
}

fn main() -> Anything<()> {
    run(std::env::args().skip(1))
}

#[test]
fn a_wrong_result_is_found() {
    let columns = vec![0, 1, 1, 2, 0, 2];
    let values = (1..=24).map(f64::from).collect();
    let a = Blocks { name: "A".into(), cols: 3, height: 2, width: 2, offsets: vec![0, 2, 4, 6], columns, values };
    let truth = Truth::new(a);
    let a = truth.a.for_faer();
    let right = matmul::sparse_sparse_matmul(a.as_ref(), a.as_ref(), 1.0, Par::Seq).unwrap();
    assert_eq!((truth.products, truth.c_blocks), (12, 9));
    assert_eq!(truth.fault(right.as_ref()), None);
    for place in 0..right.val().len() {
        let mut wrong = right.clone();
        wrong.val_mut()[place] += 1.0;
        assert!(truth.fault(wrong.as_ref()).is_some_and(|fault| fault.contains("times x is")));
    }
    assert!(truth.fault(a.as_ref()).is_some_and(|fault| fault.contains("values, not 36")));
}
