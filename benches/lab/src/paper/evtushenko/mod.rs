//! Evtushenko: Sparse matrix-vector multiplication on GPUs, 2019. Formats of A·x: tables 1 to 9 and
//! figures 4 to 8. `measure` times a matrix. `tables`, `kinds`, `blocks`, `selected` and `figures`
//! write the results, beside the numbers of `published`.
mod blocks;
mod figures;
mod kinds;
mod measure;
mod published;
mod selected;
mod tables;

use super::Setting;
use super::models::{self, Sample};
use super::peers::Peer;
use super::report::Report;
use crate::regret::left_out::{self, LeftOut};
use blockmul::{
    BlockShape, Csc,
    plan::{Format, Split},
};
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;
use measure::measured;
use serde::Serialize;

/// The rules that cut rows for HYB, besides the cut with the fewest bytes: the rules of the paper's
/// program, of Bell and Garland, and of Ginkgo.
const RULES: [Split; 6] = [
    Split::Fraction(0.0),
    Split::Fraction(0.35),
    Split::Fraction(0.7),
    Split::Filled,
    Split::Quantile(0.8),
    Split::Capped,
];

/// The formats that the study times, which are all formats.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.iter().chain(Format::COMPARED).copied()
}

/// A matrix to be timed.
pub struct Matrix {
    pub name: String,
    /// The kind of a generated matrix, or the name of a file.
    kind: String,
    /// The side of the square blocks of the matrix; 1 for scalars.
    block: usize,
    pub a: Csc<f64>,
}

/// The times of a matrix in one element type.
#[derive(Serialize)]
pub struct Subject {
    matrix: String,
    kind: String,
    element: &'static str,
    rows: usize,
    entries: usize,
    longest_row: usize,
    /// Milliseconds of A·x from compressed rows on one thread of the host.
    serial_ms: f64,
    #[serde(flatten)]
    times: Times,
    /// The times of the matrix stored as blocks, if the matrix consists of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_blocks: Option<OfBlocks>,
    /// The times of HYB with rows cut by each rule of [`RULES`].
    cuts: Vec<Cut>,
    choices: Vec<Choice>,
    /// The times of other libraries, each with its fastest variant.
    peers: Vec<Peer>,
}

/// The times of a matrix in the formats that support the matrix.
#[derive(Serialize)]
struct Times {
    formats: Vec<Time>,
    /// Formats that do not support the matrix, and why.
    #[serde(serialize_with = "left_out::formats")]
    left_out: Vec<LeftOut>,
}

/// The times of a matrix of square blocks.
#[derive(Serialize)]
struct OfBlocks {
    /// The side of a block.
    side: usize,
    #[serde(flatten)]
    times: Times,
}

/// The times of a format.
#[derive(Serialize)]
struct Time {
    format: Format,
    /// Milliseconds to convert the matrix to the format, without compilation of kernels.
    convert_ms: f64,
    /// Milliseconds of an execution: the mean of executions that are enqueued together.
    ms: f64,
    runs_ms: Vec<f64>,
}

/// The times of HYB with rows cut by a rule.
#[derive(Serialize)]
struct Cut {
    rule: String,
    #[serde(flatten)]
    time: Time,
}

/// The choice of `auto` for a number of executions, judged by the times of the formats.
#[derive(Serialize)]
struct Choice {
    uses: u64,
    chosen: Format,
    /// The format whose conversion and executions took the least time, among those whose results
    /// have the same bits.
    best: Format,
    /// The extra time of the chosen format, divided by the best time.
    regret: f64,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> Result<(), Failure> {
    let (mut subjects, mut rows): (Vec<Subject>, Vec<selected::Row>) = (Vec::new(), Vec::new());
    for matrix in matrices(setting, report)? {
        rows.extend(selected::Row::of(&matrix)?);
        let found = [measured::<f32>(setting, report, &matrix), measured::<f64>(setting, report, &matrix)];
        for (element, found) in ["f32", "f64"].iter().zip(found) {
            subjects.extend(setting.kept(report, &format!("{} in {element}", matrix.name), found));
        }
        report.keep("matrices", &subjects);
        report.save(setting.folder)?;
    }
    tables::write(setting, report, &subjects, rows)
}

/// The generated matrices, with at most about `most` entries: each kind in two sizes (in one if
/// both are equal), and the models of the matrices of Table 9.
pub fn generated(most: u64) -> blockmul::Result<Vec<Matrix>> {
    let named =
        |Sample { kind, block, a }| Matrix { name: format!("{kind}, {}", a.nnz()), kind: kind.into(), block, a };
    let mut made: Vec<Matrix> = Vec::new();
    for matrix in models::evtushenko(most as usize)?.into_iter().map(named) {
        if made.iter().all(|other| other.name != matrix.name) {
            made.push(matrix);
        }
    }
    made.extend(selected::stand_ins(most as usize)?);
    Ok(made)
}

/// The generated matrices and the files, as scalars. A file that cannot be read is reported.
fn matrices(setting: &Setting<'_>, report: &mut Report) -> Result<Vec<Matrix>, Failure> {
    let read = |input: &Input| -> Result<Csc<f64>, Failure> {
        let source = setting.lab.open(input)?;
        Ok(source.matrix::<f64>(BlockShape::SCALAR)?.to_scalars())
    };
    let mut found = if setting.with_models() { generated(setting.most)? } else { Vec::new() };
    let files: Vec<String> = setting.args.study.inputs.iter().map(Input::matrix_name).collect();
    found.retain(|matrix| !selected::is_replaced(matrix, &files));
    for input in &setting.args.study.inputs {
        match read(input) {
            Ok(a) => found.push(Matrix { name: input.matrix_name(), kind: input.matrix_name(), block: 1, a }),
            Err(Failure::Library(error)) => setting.note(report, &input.name(), error),
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

impl Times {
    fn of(&self, format: Format) -> Option<&Time> {
        self.formats.iter().find(|time| time.format == format)
    }

    /// The fastest format.
    fn fastest(&self) -> Option<&Time> {
        self.formats.iter().min_by(|one, other| one.ms.total_cmp(&other.ms))
    }
}

impl Subject {
    fn time(&self, format: Format) -> Option<&Time> {
        self.times.of(format)
    }

    /// The speedup of a format over one thread.
    fn speedup(&self, format: Format) -> Option<f64> {
        Some(self.serial_ms / self.time(format)?.ms)
    }

    /// The speedup of another library over one thread.
    fn peer_speedup(&self, library: &str) -> Option<f64> {
        Some(self.serial_ms / self.peer_ms(library)?)
    }

    /// The milliseconds of HYB (`format`) with rows cut by a rule.
    fn cut_ms(&self, format: Format, rule: Split) -> Option<f64> {
        if rule == Split::default() {
            return self.time(format).map(|time| time.ms);
        }
        let rule = rule.to_string();
        self.cuts.iter().find(|cut| cut.rule == rule && cut.time.format == format).map(|cut| cut.time.ms)
    }

    /// The milliseconds of another library.
    fn peer_ms(&self, library: &str) -> Option<f64> {
        self.peers.iter().find(|peer| peer.library == library).and_then(Peer::right_ms)
    }
}
