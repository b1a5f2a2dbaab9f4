//! The measurements of a matrix A: its product with a dense matrix by every method, and its
//! conversion from a dense matrix.
use super::super::peers::DenseWork;
use super::{Bytes, Job, Kind, Report, Setting, Subject, Time};
use crate::paper::of_type;
use blockmul::{
    Csc, Csr, DeviceMatrix, Element, Matrix, Planned, Result,
    dense::{DenseShape, DenseView, DenseViewMut, DeviceDense, DeviceGcoo, Grouping, Layout, Side},
    plan::{ApplyDense, DenseMethod},
    reference,
};
use blockmul_cli::bench::{
    measure::{same, same_bits},
    plans::planned,
};
use std::borrow::Cow;

/// Maximum number of elements of D, unless A is a random square. D has fewer columns than A if it
/// would otherwise exceed this number. `benches/peers/dense.h` has the same number.
const LARGEST_DENSE: usize = 1 << 26;
/// The reference computes at most this many products of entries for one result, so it computes only
/// some of the columns if the matrix is large.
pub const REFERENCE_PRODUCTS: usize = 1 << 29;
/// If an execution takes fewer than `SHORT_MS` milliseconds, `TOGETHER` executions are enqueued
/// together, so that the time of a launch does not count.
const SHORT_MS: f64 = 5.0;
const TOGETHER: u32 = 5;

/// The D of the previous matrix, which is used again if the next matrix needs a D of the same
/// shape.
pub type Kept<T> = Option<Operand<T>>;

/// The dense matrix D, stored by rows.
pub struct Operand<T: Element> {
    shape: DenseShape,
    values: Vec<T>,
    on_device: DeviceDense<T>,
    /// The results of the first method and of another method. The memory of both results is kept,
    /// because the first touch of new memory takes as long as a copy from the device.
    results: [Vec<T>; 2],
}

impl<T: Element> Operand<T> {
    fn new(setting: &Setting<'_>, rows: usize, columns: usize) -> Result<Self> {
        let shape = DenseShape::new(rows, columns, Layout::ByRows);
        let values = of_type::<T>(shape.len());
        let on_device = setting.device.upload_dense(DenseView::new(shape, &values)?)?;
        Ok(Self { shape, values, on_device, results: [Vec::new(), Vec::new()] })
    }

    /// Returns the given columns of D.
    fn sample(&self, columns: &[usize]) -> Cow<'_, [T]> {
        if columns.len() == self.shape.cols {
            return Cow::Borrowed(&self.values);
        }
        let rows = self.values.chunks(self.shape.cols);
        rows.flat_map(|row| columns.iter().map(|&column| row[column])).collect()
    }
}

/// Verifies and times a matrix in one element type.
pub fn measured<T: Element>(
    setting: &Setting<'_>,
    report: &mut Report,
    job: &Job,
    a: &Csr<f64>,
    kept: &mut Kept<T>,
) -> Result<Subject> {
    let (name, view) = (&job.name, a.as_cbc());
    let values = view.values.iter().map(|&value| T::from_f64(value)).collect();
    let a = Csr::from_transpose(Csc::<T>::new(view.pattern.clone(), values)?);
    let (rows, inner, entries) = (a.nrows(), a.ncols(), a.values().len());
    let columns = match job.kind {
        Kind::Random => inner,
        // The programs of `benches/peers` use the same number of columns if they get `--columns
        // all`.
        Kind::File | Kind::Model => inner.min((LARGEST_DENSE / inner.max(1)).max(1)),
    };
    if kept.as_ref().is_none_or(|d| (d.shape.rows, d.shape.cols) != (inner, columns)) {
        // The memory of the previous D is freed before a new D is made.
        *kept = None;
    }
    let d = match kept {
        Some(d) => d,
        None => kept.insert(Operand::new(setting, inner, columns)?),
    };
    let compared = (REFERENCE_PRODUCTS / entries.max(1)).clamp(1, columns.max(1)).min(columns);
    let sample: Vec<usize> = (0..compared).map(|at| at * (columns - 1) / (compared - 1).max(1)).collect();
    setting.lab.messages.step(format!("{name} in {}: the reference", T::NAME));
    let of_sample = d.sample(&sample);
    let mut want = vec![T::from_f64(0.0); rows * compared];
    let by_rows = |rows| DenseShape::new(rows, compared, Layout::ByRows);
    let (of_d, into) = (DenseView::new(by_rows(inner), &of_sample)?, DenseViewMut::new(by_rows(rows), &mut want)?);
    reference::multiply_dense(Side::Left, &a, of_d, (1.0, 0.0), into)?;

    let on_device = setting.device.upload(&a)?;
    let pattern = on_device.pattern();
    drop(of_sample);
    let mut methods = Vec::new();
    let mut first_is_right = false;
    for (number, &method) in DenseMethod::ALL.iter().enumerate() {
        setting.lab.messages.step(format!("{name} in {} by {method}", T::NAME));
        let (packed, plan_ms) = planned(setting.device, || {
            let options = ApplyDense::<Csr<T>>::with(&pattern, columns).method(method);
            options.layouts(Layout::ByRows, Layout::ByRows).pack(&on_device)
        })?;
        let mut c = packed.output()?;
        packed.execute(&d.on_device, &mut c)?;
        let at = number.min(1);
        d.results[at].resize(rows * columns, T::from_f64(0.0));
        c.values_into(&mut d.results[at])?;
        let [first, other] = &d.results;
        let found = if at == 0 { first } else { other };
        let of_columns = found.chunks(columns.max(1)).zip(want.chunks(compared.max(1)));
        let right = of_columns.into_iter().all(|(row, want)| {
            let of_sample: Vec<T> = sample.iter().map(|&column| row[column]).collect();
            same_bits(&of_sample, want)
        }) && (at == 0 || !first_is_right || same_bits(other, first));
        first_is_right |= at == 0 && right;
        report.wrong += usize::from(!right);
        let mut execute = || packed.execute(&d.on_device, &mut c).map(drop);
        let mut together = |times| setting.lab.together(times, &mut execute);
        let times = if together(1)? < SHORT_MS { TOGETHER } else { 1 };
        methods.push(Time { method, plan_ms, ms: setting.median(right, || together(times))? });
    }
    let bytes = match job.kind {
        Kind::Random => None,
        Kind::File | Kind::Model => Some(bytes(setting, &on_device)?),
    };
    drop(on_device);
    let peers = |work| setting.peers.with_dense(work, name, T::NAME).into_iter().cloned().collect();
    let conversion_ms = match job.convert {
        true => {
            let what = format!("{name} in {} from a dense matrix", T::NAME);
            setting.lab.messages.step(what.clone());
            // If the conversion fails, the times of the product are kept.
            let found = conversion(setting, report, &a);
            setting.kept(report, &what, found).flatten()
        }
        false => None,
    };
    Ok(Subject {
        matrix: name.clone(),
        kind: job.kind,
        element: T::NAME,
        rows,
        inner,
        entries,
        zeros: 1.0 - entries as f64 / (rows as f64 * inner as f64),
        columns,
        compared,
        methods,
        conversion_ms,
        bytes,
        products: peers(DenseWork::Product(columns)),
        gemm: peers(DenseWork::Gemm(columns)),
        conversions: peers(DenseWork::Conversion),
    })
}

/// The groups of rows that `gcoo` uses on this device.
fn grouping(setting: &Setting<'_>) -> Grouping {
    Grouping::Rows(setting.device.info().numbers_by_name()["dense_group_lines"])
}

/// Bytes of A in compressed rows and in groups. The groups are made from arrays, because groups
/// that are converted from compressed rows also store the index of each value in the compressed
/// rows.
fn bytes<T: Element>(setting: &Setting<'_>, a: &DeviceMatrix<Csr<T>>) -> Result<Bytes> {
    let grouped = DeviceGcoo::from_matrix(a, grouping(setting))?;
    let sides = (a.nrows(), a.ncols());
    let alone = DeviceGcoo::from_arrays(setting.device, sides, a.shape(), grouping(setting), &grouped.download()?)?;
    Ok(Bytes { csr: a.device_bytes(), gcoo: alone.device_bytes() })
}

/// Times the conversion of a dense matrix on the device to groups. The function returns `None` if
/// the groups are wrong.
fn conversion<T: Element>(setting: &Setting<'_>, report: &mut Report, a: &Csr<T>) -> Result<Option<f64>> {
    let grouping = grouping(setting);
    let shape = DenseShape::new(a.nrows(), a.ncols(), Layout::ByRows);
    let mut values = vec![T::from_f64(0.0); shape.len()];
    let view = a.as_cbc();
    for row in 0..shape.rows {
        for entry in view.pattern.entries(row) {
            values[shape.at(row, view.pattern.row_idx()[entry] as usize)] = view.values[entry];
        }
    }
    let dense = setting.device.upload_dense(DenseView::new(shape, &values)?)?;
    drop(values);
    let right = same(&DeviceGcoo::from_dense(&dense, grouping)?.to_rows()?.download()?, a);
    report.wrong += usize::from(!right);
    setting.median(right, || Ok(setting.lab.timed(|| DeviceGcoo::from_dense(&dense, grouping))?.1))
}
