//! Times of one matrix in every format.
use super::blocks::of_blocks;
use super::kinds::HYB;
use super::{Choice, Cut, Matrix as Input, OfBlocks, RULES, Setting, Subject, Time, Times, formats};
use crate::paper::of_type;
use crate::paper::peers::DenseWork;
use crate::paper::report::Report;
use crate::regret::formats::{USES, longest_column, tried};
use blockmul::{
    BlockShape, Bsr, Csc, Csr, DeviceMatrix, DeviceVector, Error, Matrix, Planned, Result,
    element::{AnyValues, Length},
    extra::host::Progress,
    matrix::AnyMatrix,
    plan::{Apply, Format, Packed, Split},
    reference::{self, verify},
};
use blockmul_cli::bench::measure::same_bits;
use blockmul_cli::bench::record::median;
use std::{hint::black_box, time::Instant};

/// Number of executions that are enqueued together, as in the paper. Fewer executions are enqueued
/// together if they would take longer than [`TURN_MS`]. A time is the mean of the executions that
/// are enqueued together. A single execution that takes longer than [`TURN_MS`] is not repeated.
pub const TOGETHER: u32 = 30;
const TURN_MS: f64 = 100.0;

/// A matrix and a vector, on the host and on the device.
struct Operands<M: Matrix> {
    a: M,
    x: Vec<M::Element>,
    on_device: DeviceMatrix<M>,
    dx: DeviceVector<M::Element>,
    /// For each row, the sum of the absolute values of its terms.
    sizes: Vec<M::Element>,
}

/// Times one matrix in one element type.
pub fn measured<T: Length>(setting: &Setting<'_>, report: &mut Report, matrix: &Input) -> Result<Subject>
where
    AnyValues: From<Vec<T>>,
{
    let name = &matrix.name;
    let values = matrix.a.values().iter().map(|&value| T::from_f64(value)).collect();
    let transposed = Csc::<T>::new(matrix.a.pattern().clone(), values)?.try_transpose()?;
    let shape = BlockShape::new(matrix.block, matrix.block)?;
    let blocks = if matrix.block > 1 { Some(Bsr::from_transpose(transposed.to_blocks(shape)?)) } else { None };
    let a = Csr::from_transpose(transposed);
    let by_rows = a.as_cbc().pattern;
    let x = of_type::<T>(by_rows.nrows());
    let mut subject = Subject {
        matrix: name.clone(),
        kind: matrix.kind.clone(),
        element: T::NAME,
        rows: by_rows.ncols(),
        entries: by_rows.nnz(),
        longest_row: longest_column(by_rows),
        serial_ms: 0.0,
        times: Times { formats: Vec::new(), left_out: Vec::new() },
        of_blocks: None,
        cuts: Vec::new(),
        choices: Vec::new(),
        peers: setting.peers.with_dense(DenseWork::Vector, name, T::NAME).into_iter().cloned().collect(),
    };
    let progress = setting.lab.progress(format!("{name} in {}", T::NAME));
    let mut y = vec![T::from_f64(0.0); subject.rows];
    let serial = setting.lab.patience.rounds(&progress, &mut || {
        let clock = Instant::now();
        serial(&a, &x, black_box(&mut y));
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    })?;
    subject.serial_ms = median(&serial).unwrap_or(0.0);

    let sizes = sizes(&a, &x)?;
    if let Some(blocks) = blocks {
        let of = Operands::new(setting, blocks, x.clone(), sizes.clone())?;
        let times = of.times(setting, report, of_blocks(), &progress)?;
        subject.of_blocks = Some(OfBlocks { side: matrix.block, times });
    }
    let of = Operands::new(setting, a, x, sizes)?;
    subject.times = of.times(setting, report, formats(), &progress)?;
    for (format, rule) in HYB.into_iter().flat_map(|of| RULES.map(|rule| (of, rule))) {
        if subject.time(format).is_none() {
            continue;
        }
        match of.timed(setting, format, rule, &progress) {
            Ok(Some(time)) => subject.cuts.push(Cut { rule: rule.to_string(), time }),
            Ok(None) => report.wrong += 1,
            // HYB is refused if the rule makes its dense part so wide that it is mostly padding.
            Err(Error::Argument(_) | Error::Memory { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for uses in USES {
        let chosen = Apply::<Csr<T>>::with(&of.on_device.pattern()).uses(uses).pack(&of.on_device)?.format();
        subject.choices.extend(subject.choice(uses, chosen));
    }
    Ok(subject)
}

impl<T: Length, M: Matrix<Element = T> + Clone> Operands<M>
where
    AnyValues: From<Vec<T>>,
    AnyMatrix: From<M>,
{
    fn new(setting: &Setting<'_>, a: M, x: Vec<T>, sizes: Vec<T>) -> Result<Self> {
        let device = setting.device;
        Ok(Self { on_device: device.upload(&a)?, dx: device.upload_vector(&x)?, a, x, sizes })
    }

    /// Times A·x in the given formats. A format whose y is wrong has no time, and is counted.
    fn times(
        &self,
        setting: &Setting<'_>,
        report: &mut Report,
        formats: impl Iterator<Item = Format>,
        progress: &Progress,
    ) -> Result<Times> {
        let mut times = Times { formats: Vec::new(), left_out: Vec::new() };
        for format in formats {
            match tried(format, setting.device, || self.timed(setting, format, Split::default(), progress))? {
                Ok(Some(time)) => times.formats.push(time),
                Ok(None) => report.wrong += 1,
                Err(reason) => times.left_out.push(reason),
            }
        }
        Ok(times)
    }

    /// Times a format. `rule` cuts the rows of HYB. Returns `None` if y is wrong.
    fn timed(&self, setting: &Setting<'_>, format: Format, rule: Split, progress: &Progress) -> Result<Option<Time>> {
        self.packed(setting, format, rule)?;
        let (packed, convert_ms) = self.packed(setting, format, rule)?;
        let mut y = packed.output()?;
        packed.execute(&self.dx, &mut y)?;
        let mut want = vec![T::from_f64(0.0); self.sizes.len()];
        reference::multiply_vector_in(format.order(), &self.a, &self.x, (1.0, 0.0), &mut want)?;
        let found = y.download()?;
        let right = match format.reproducible() {
            true => same_bits(&found, &want),
            false => {
                let [found, want, sizes] = [&found, &want, &self.sizes].map(|values| AnyValues::from(values.clone()));
                let terms = verify::most_terms(&self.a.clone().into());
                verify::beyond_rounding(&found, &want, &sizes, (terms, 1)) == 0
            }
        };
        if !right {
            return Ok(None);
        }
        let mut run = |times| setting.lab.together(times, &mut || packed.execute(&self.dx, &mut y).map(drop));
        let alone = run(1)?;
        let together = (TURN_MS / alone).clamp(1.0, f64::from(TOGETHER)) as u32;
        let runs_ms = match alone > TURN_MS {
            true => vec![alone],
            false => setting.lab.patience.rounds(progress, &mut || run(together))?,
        };
        Ok(Some(Time { format, convert_ms, ms: median(&runs_ms).unwrap_or(0.0), runs_ms }))
    }

    /// The matrix in a format, and the milliseconds of the conversion.
    fn packed(&self, setting: &Setting<'_>, format: Format, rule: Split) -> Result<(Packed<M>, f64)> {
        setting.lab.timed(|| {
            let pattern = self.on_device.pattern();
            Apply::<M>::with(&pattern).format(format).split(rule).pack(&self.on_device)
        })
    }
}

impl Subject {
    /// Compares the chosen format with the fastest one, among the formats that `auto` may choose
    /// and whose results have the same bits.
    fn choice(&self, uses: u64, chosen: Format) -> Option<Choice> {
        let cost = |time: &Time| time.convert_ms + uses as f64 * time.ms;
        let same_bits = |of: &&Time| Format::ALL.contains(&of.format) && of.format.order() == Format::Csr.order();
        let same_bits = self.times.formats.iter().filter(same_bits);
        let best = same_bits.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        let regret = cost(self.time(chosen)?) / cost(best) - 1.0;
        Some(Choice { uses, chosen, best: best.format, regret })
    }
}

/// Computes y = A·x from compressed rows, on this thread.
fn serial<T: Length>(a: &Csr<T>, x: &[T], y: &mut [T]) {
    let (pattern, values) = (a.as_cbc().pattern, a.values());
    for (row, y) in y.iter_mut().enumerate() {
        let entries = pattern.entries(row);
        let columns = &pattern.row_idx()[entries.clone()];
        let terms = columns.iter().zip(&values[entries]);
        *y = terms.fold(T::from_f64(0.0), |sum, (&col, &value)| sum.plus(value.times(x[col as usize])));
    }
}

/// For each row, the sum of the absolute values of its terms.
fn sizes<T: Length>(a: &Csr<T>, x: &[T]) -> Result<Vec<T>> {
    let mut sizes = vec![T::from_f64(0.0); a.as_cbc().pattern.ncols()];
    let sized = AnyMatrix::from(a.clone()).map(f64::abs).typed::<Csr<T>>()?;
    let x: Vec<T> = x.iter().map(|x| T::from_f64(x.to_f64().abs())).collect();
    reference::multiply_vector(1.0, &sized, &x, 0.0, &mut sizes)?;
    Ok(sizes)
}
