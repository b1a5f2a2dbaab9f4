//! Evtushenko: Sparse matrix-vector multiplication on GPUs, 2019: the formats of A·x. Tables 1 to 8
//! and figure 7; `tables` writes them, beside the figures of `published`.
mod published;
mod tables;

use super::super::matrices::{Input, Source};
use super::super::measure::same_bits;
use super::super::record::median;
use super::models;
use super::peers::{DenseWork, Peer};
use super::report::Report;
use super::{ElementName, Setting};
use crate::failure::Failure;
use crate::messages::Unit;
use crate::vector::{beyond_rounding, magnitudes, matrix_of_magnitudes};
use blockmul::{
    BlockShape, Csc, Csr, Device, DeviceMatrix, Error, Matrix, Planned, Result,
    element::Length,
    plan::{Apply, Format, Packed},
    reference,
};
use serde::Serialize;
use std::{hint::black_box, time::Instant};

/// Executions for which a conversion has to pay.
const USES: [u64; 3] = [1, 10, 1000];
/// Executions that are enqueued together: the paper's times are means of so many. Fewer if they
/// would take longer than [`TURN_MS`].
const TOGETHER: u32 = 30;
const TURN_MS: f64 = 100.0;

/// The times of a matrix in one element type.
#[derive(Serialize)]
pub struct Subject {
    matrix: String,
    element: &'static str,
    rows: usize,
    entries: usize,
    longest_row: usize,
    /// Milliseconds of compressed rows on one thread of the host.
    serial_ms: f64,
    formats: Vec<Time>,
    /// Formats that the matrix has not, and why.
    left_out: Vec<LeftOut>,
    choices: Vec<Choice>,
    /// Other libraries, each by its fastest variant.
    peers: Vec<Peer>,
}

/// The times of a format.
#[derive(Serialize)]
struct Time {
    format: Format,
    /// Milliseconds of the conversion, its kernels compiled.
    convert_ms: f64,
    /// Milliseconds of an execution, the mean of those that are enqueued together.
    ms: f64,
    runs_ms: Vec<f64>,
}

#[derive(Serialize)]
struct LeftOut {
    format: Format,
    why: String,
}

/// What `auto` chose for a number of executions, by the times that the formats took.
#[derive(Serialize)]
struct Choice {
    uses: u64,
    chosen: Format,
    /// The format whose conversion and executions took least, of those of the same bits.
    best: Format,
    /// How much longer the chosen one took, as a part of the best.
    regret: f64,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    let mut subjects: Vec<Subject> = Vec::new();
    for (name, a) in matrices(setting, report)? {
        for element in [ElementName::F32, ElementName::F64] {
            let found = match element {
                ElementName::F32 => measured::<f32>(setting, report, &name, &a),
                _ => measured::<f64>(setting, report, &name, &a),
            };
            match found {
                Ok(subject) => subjects.push(subject),
                Err(error) => setting.note(report, &format!("{name} in {}", element.name()), error),
            }
        }
        report.keep("matrices", &subjects);
        report.save(setting.folder)?;
    }
    tables::write(setting, report, &subjects)
}

/// The files, or generated matrices, as scalars. What cannot be read is reported.
fn matrices(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<Vec<(String, Csc<f64>)>, Failure> {
    if setting.args.inputs.is_empty() {
        let made = models::evtushenko(setting.most as usize)?;
        return Ok(made.into_iter().map(|(name, a)| (name.to_owned(), a)).collect());
    }
    let matrix = |input: &Input| -> std::result::Result<Csc<f64>, Failure> {
        let source = Source::open(input, None, setting.bench.messages)?;
        Ok(source.matrix::<f64>(BlockShape::SCALAR)?.to_scalars())
    };
    let mut found = Vec::new();
    for input in &setting.args.inputs {
        match matrix(input) {
            Ok(a) => found.push((input.matrix_name(), a)),
            Err(Failure::Library(error)) => setting.note(report, &input.name(), error),
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

/// Times one matrix in one element type.
fn measured<T: Length>(setting: &Setting<'_>, report: &mut Report, name: &str, a: &Csc<f64>) -> Result<Subject> {
    let values = a.values().iter().map(|&value| T::from_f64(value)).collect();
    let a = Csr::from_transpose(Csc::<T>::new(a.pattern().clone(), values)?.try_transpose()?);
    let by_rows = a.as_cbc().pattern;
    let lengths = (0..by_rows.ncols()).map(|row| by_rows.entries(row).len());
    let x: Vec<T> = (0..by_rows.nrows()).map(|i| T::from_f64((i * 37 % 1001) as f64 * 0.002 - 1.0)).collect();
    let mut subject = Subject {
        matrix: name.to_owned(),
        element: T::NAME,
        rows: by_rows.ncols(),
        entries: by_rows.nnz(),
        longest_row: lengths.max().unwrap_or(0),
        serial_ms: 0.0,
        formats: Vec::new(),
        left_out: Vec::new(),
        choices: Vec::new(),
        peers: setting.peers.with_dense(DenseWork::Vector, name, T::NAME).into_iter().cloned().collect(),
    };
    let progress = setting.bench.messages.measured(format!("{name} in {}", T::NAME), Unit::Runs);
    let mut y = vec![T::from_f64(0.0); subject.rows];
    let serial = setting.bench.patience.rounds(&progress, &mut || {
        let clock = Instant::now();
        serial(&a, &x, black_box(&mut y));
        Ok(ms_since(clock))
    })?;
    subject.serial_ms = median(&serial).unwrap_or(0.0);

    let device = setting.device;
    let (on_device, dx) = (device.upload(&a)?, device.upload_vector(&x)?);
    let sizes = sizes(&a, &x)?;
    for &format in Format::ALL {
        let packed = match packed(device, &on_device, format).and_then(|_| packed(device, &on_device, format)) {
            Ok(packed) => packed,
            Err(error @ (Error::Argument(_) | Error::Unsupported { .. } | Error::Memory { .. })) => {
                subject.left_out.push(LeftOut { format, why: error.to_string() });
                continue;
            }
            Err(error) => return Err(error),
        };
        let (packed, convert_ms) = packed;
        let mut y = packed.output()?;
        packed.execute(&dx, &mut y)?;
        let mut want = vec![T::from_f64(0.0); subject.rows];
        reference::multiply_vector_in(format.order(), false, (1.0, &a, &x[..]), (0.0, &mut want))?;
        let found = y.download()?;
        let right = match format.reproducible() {
            true => same_bits(&found, &want),
            false => beyond_rounding(&found, &want, &sizes, x.len()) == 0,
        };
        if !right {
            report.wrong += 1;
            continue;
        }
        let mut run = |together: u32| {
            device.finish()?;
            let clock = Instant::now();
            (0..together).try_for_each(|_| packed.execute(&dx, &mut y).map(drop))?;
            device.finish()?;
            Ok(ms_since(clock) / f64::from(together))
        };
        let together = (TURN_MS / run(1)?).clamp(1.0, f64::from(TOGETHER)) as u32;
        let runs_ms = setting.bench.patience.rounds(&progress, &mut || run(together))?;
        let ms = median(&runs_ms).unwrap_or(0.0);
        subject.formats.push(Time { format, convert_ms, ms, runs_ms });
    }
    for uses in USES {
        let chosen = Apply::<Csr<T>>::with(&on_device.pattern()).uses(uses).pack(&on_device)?.format();
        subject.choices.extend(subject.choice(uses, chosen));
    }
    Ok(subject)
}

impl Subject {
    fn time(&self, format: Format) -> Option<&Time> {
        self.formats.iter().find(|time| time.format == format)
    }

    /// The milliseconds of another library.
    fn peer_ms(&self, library: &str) -> Option<f64> {
        self.peers.iter().find(|peer| peer.library == library).and_then(Peer::right_ms)
    }

    /// Compares a choice with the best of the formats of the same bits.
    fn choice(&self, uses: u64, chosen: Format) -> Option<Choice> {
        let cost = |time: &Time| time.convert_ms + uses as f64 * time.ms;
        let same_bits = self.formats.iter().filter(|time| time.format.order() == Format::Csr.order());
        let best = same_bits.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        let regret = cost(self.time(chosen)?) / cost(best) - 1.0;
        Some(Choice { uses, chosen, best: best.format, regret })
    }
}

/// A matrix in a format, and the milliseconds of the conversion.
fn packed<T: Length>(device: &Device, a: &DeviceMatrix<Csr<T>>, format: Format) -> Result<(Packed<Csr<T>>, f64)> {
    device.finish()?;
    let clock = Instant::now();
    let packed = Apply::<Csr<T>>::with(&a.pattern()).format(format).pack(a)?;
    device.finish()?;
    Ok((packed, ms_since(clock)))
}

/// y = A·x of compressed rows, on this thread.
fn serial<T: Length>(a: &Csr<T>, x: &[T], y: &mut [T]) {
    let (pattern, values) = (a.as_cbc().pattern, a.values());
    for (row, y) in y.iter_mut().enumerate() {
        let entries = pattern.entries(row);
        let columns = &pattern.row_idx()[entries.clone()];
        let terms = columns.iter().zip(&values[entries]);
        *y = terms.fold(T::from_f64(0.0), |sum, (&col, &value)| sum.plus(value.times(x[col as usize])));
    }
}

/// The sums of the sizes of all terms.
fn sizes<T: Length>(a: &Csr<T>, x: &[T]) -> Result<Vec<T>> {
    let mut sizes = vec![T::from_f64(0.0); a.as_cbc().pattern.ncols()];
    reference::multiply_vector(1.0, &matrix_of_magnitudes(a)?, &magnitudes(x)[..], 0.0, &mut sizes)?;
    Ok(sizes)
}

fn ms_since(clock: Instant) -> f64 {
    clock.elapsed().as_secs_f64() * 1e3
}
