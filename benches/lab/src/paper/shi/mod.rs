//! Shi, Wang, Chu: Efficient Sparse-Dense Matrix-Matrix Multiplication on GPUs Using the Customized
//! Sparse Storage Format, 2020. Products A·D with a dense D that has as many columns as A, and
//! conversions of A from a dense matrix. `matrices` has the inputs, `operand` the measurements of
//! one input, `tables` and `figures` the report, `ways` the methods that are compared.
mod figures;
mod matrices;
mod operand;
mod tables;
mod ways;

use super::peers::Peer;
use super::report::Report;
use super::{ByRows, Setting};
use blockmul::{BlockShape, Csr, Result, plan::DenseMethod};
use blockmul_cli::failure::Failure;
use matrices::{CONVERTED, shown, squares};
pub use matrices::{Square, TABLE_III};
use operand::{Kept, measured};
use serde::Serialize;
use std::collections::BTreeSet;

/// The times of a matrix in one element type.
#[derive(Serialize)]
pub struct Subject {
    matrix: String,
    kind: Kind,
    element: &'static str,
    rows: usize,
    /// Columns of A, which are the rows of D.
    inner: usize,
    entries: usize,
    /// The fraction of A's elements that is zero.
    zeros: f64,
    /// Columns of D.
    columns: usize,
    /// Columns of each result that were compared with the reference. All columns were compared with
    /// the result of the first method, if that result is correct.
    compared: usize,
    methods: Vec<Time>,
    /// Milliseconds to convert the dense A to groups of rows (GCOO): count, scan, allocate, fill.
    conversion_ms: Option<f64>,
    /// Bytes on the device of A in CSR and in groups, not measured for random squares.
    bytes: Option<Bytes>,
    /// Records of other libraries: for the product with A stored sparse, for the product with A
    /// stored as a dense matrix, and for the conversion of A.
    products: Vec<Peer>,
    gemm: Vec<Peer>,
    conversions: Vec<Peer>,
}

/// The times of a method.
#[derive(Serialize)]
struct Time {
    method: DenseMethod,
    /// Milliseconds to make the plan and to sort A's values in its order, without compilation of
    /// kernels.
    plan_ms: f64,
    /// Milliseconds of an execution, or `None` if the result is wrong.
    ms: Option<f64>,
}

/// Bytes of a matrix on the device.
#[derive(Clone, Copy, Serialize)]
struct Bytes {
    csr: u64,
    gcoo: u64,
}

/// The origin of a matrix.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Random,
    Model,
    File,
}

/// A matrix to be measured.
struct Job {
    name: String,
    kind: Kind,
    /// Whether it is also converted from a dense matrix.
    convert: bool,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    let mut subjects = Vec::new();
    let (mut of_f32, mut of_f64) = (Kept::default(), Kept::default());
    let mut both = |report: &mut Report, job: Job, a: Result<Csr<f64>>| -> std::result::Result<(), Failure> {
        setting.lab.messages.step(format!("{}: A", job.name));
        let Some(a) = setting.made(report, &job.name, a) else { return Ok(()) };
        let found = [
            measured::<f32>(setting, report, &job, &a, &mut of_f32),
            measured::<f64>(setting, report, &job, &a, &mut of_f64),
        ];
        for (element, found) in ["f32", "f64"].iter().zip(found) {
            subjects.extend(setting.kept(report, &format!("{} in {element}", job.name), found));
        }
        report.keep("matrices", &subjects);
        report.save(setting.folder)
    };
    let wanted = &setting.args.squares;
    if setting.args.models || setting.args.study.inputs.is_empty() && wanted.is_empty() {
        for model in &TABLE_III {
            let job = Job { name: model.name.into(), kind: Kind::Model, convert: false };
            both(report, job, model.matrix(setting.most))?;
        }
    }
    for input in &setting.args.study.inputs {
        let job = Job { name: input.matrix_name(), kind: Kind::File, convert: false };
        let source = match setting.lab.open(input) {
            Ok(source) => source.matrix::<f64>(BlockShape::SCALAR),
            Err(Failure::Library(error)) => Err(error),
            Err(failure) => return Err(failure),
        };
        both(report, job, source.and_then(|a| a.to_scalars().by_rows()))?;
    }
    let (squares, sides) = match &wanted[..] {
        [] => {
            let squares = squares(setting.most);
            let sides = shown(&squares);
            (squares, sides)
        }
        wanted => (wanted.to_vec(), BTreeSet::from_iter(wanted.iter().map(|square| square.side)).into_iter().collect()),
    };
    for square @ Square { side, zeros } in squares {
        let convert = !wanted.is_empty() || sides.contains(&side) && CONVERTED.contains(&zeros);
        both(report, Job { name: square.name(), kind: Kind::Random, convert }, square.matrix())?;
    }
    setting.lab.messages.step(format!("measuring how fast {} copies", setting.device.info().name));
    let copy_gb_s = setting.device.copy_bandwidth()? / 1e9;
    report.keep("copy_gb_s", copy_gb_s);
    tables::write(setting, report, &subjects, copy_gb_s, &sides)
}

impl Subject {
    fn ms(&self, method: DenseMethod) -> Option<f64> {
        self.methods.iter().find(|time| time.method == method)?.ms
    }

    /// The fraction of A's elements that are entries, or `None` if A has no entries.
    fn density(&self) -> Option<f64> {
        (self.entries > 0).then_some(1.0 - self.zeros)
    }

    /// GFLOP/s of a time, counted for the entries alone, or `None` if A has no entries: formula 2
    /// of the paper.
    fn rate(&self, ms: Option<f64>) -> Option<f64> {
        let flops = 2.0 * self.entries as f64 * self.columns as f64;
        ms.filter(|_| self.entries > 0).map(|ms| flops / ms / 1e6)
    }

    /// The time of a library for the same product.
    fn peer_ms(&self, library: &str) -> Option<f64> {
        self.products.iter().find(|peer| peer.library == library)?.right_ms()
    }

    /// Bytes of an element.
    fn element_bytes(&self) -> f64 {
        if self.element == "f32" { 4.0 } else { 8.0 }
    }

    /// Bytes of D and C.
    fn dense_bytes(&self) -> f64 {
        (self.inner + self.rows) as f64 * self.columns as f64 * self.element_bytes()
    }

    /// Operations divided by the bytes of A in compressed rows, D and C, each of which is read or
    /// written once. Operations with zeros do not count.
    fn intensity(&self) -> f64 {
        let a = self.entries as f64 * (self.element_bytes() + 4.0) + 4.0 * self.rows as f64;
        2.0 * self.entries as f64 * self.columns as f64 / (a + self.dense_bytes())
    }

    /// Operations for each byte, and GFLOP/s, of the product in which A is stored as a dense
    /// matrix.
    fn gemm_point(&self) -> Option<[f64; 2]> {
        let elements = self.rows as f64 * self.inner as f64;
        let flops = 2.0 * elements * self.columns as f64;
        Some([flops / (elements * self.element_bytes() + self.dense_bytes()), flops / self.gemm_ms()? / 1e6])
    }

    /// The time of the fastest product in which A is stored as a dense matrix.
    fn gemm_ms(&self) -> Option<f64> {
        self.gemm.iter().filter_map(Peer::right_ms).reduce(f64::min)
    }
}
