//! Solves on a device, checks residuals on the host, reports, and writes x.
use super::{Args, Preconditioner};
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::report::Report;
use crate::runs::{median_run, repeatedly, timed, timed_on};
use crate::sizes::count;
use crate::target::{Target, select_for};
use crate::{dense, output, vector};
use blockmul::{
    Device, Error, Semiring,
    dense::{AnyDense, DenseShape, Layout, Side},
    element::ElementType,
    matrix::AnyMatrix,
    reference,
    solver::{ConjugateGradients, SolvedColumn},
};
use serde::Serialize;

/// A column has not converged if the residual that `--verify` computes is above this many
/// tolerances. Rounding lets the residual that is updated from step to step drift from b - A·x.
const DRIFT: f64 = 10.0;

#[derive(Serialize)]
struct Fields {
    element: &'static str,
    symmetric: bool,
    preconditioner: Preconditioner,
    tolerance: f64,
    /// The limit of steps.
    limit: u32,
    a: Size,
    b: Size,
    columns: Vec<ColumnFields>,
    /// Milliseconds to copy A and B to the device.
    upload_ms: f64,
    /// Milliseconds to prepare the product, and to request kernels.
    plan_ms: f64,
    /// Milliseconds to solve, in the median run. The milliseconds to solve include the
    /// preconditioner, but not the compilation or loading of kernels.
    total_ms: f64,
    /// `total_ms` for each step of the longest column.
    step_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_ms: Option<Vec<f64>>,
    /// Milliseconds to copy x to the host.
    download_ms: f64,
    /// Milliseconds of `--verify`, or `None` without the option.
    verify_ms: Option<f64>,
}

/// The end of a column in a report.
#[derive(Serialize)]
struct ColumnFields {
    steps: u32,
    converged: bool,
    /// The residual that is updated from step to step, as a share of the right-hand side.
    residual: f64,
    /// The residual that the reference computes, as a share of the right-hand side; `None` without
    /// --verify.
    true_residual: Option<f64>,
    /// The curvature at which the column ended without a solution.
    curvature: Option<f64>,
}

/// Solves, verifies, reports, and writes x.
pub fn run(args: &Args, a: &AnyMatrix, b: &AnyDense, messages: &Messages) -> Result<(), Failure> {
    let device = select_for(a.element(), args.device.as_deref())?;
    messages.show_compiling(&device);
    messages.say(&format!("device: {} ({})", device.info().name, device.info().platform));
    let (x, mut fields) = solved(args, &device, a, b, messages)?;
    let residuals = messages.verifying(args.verify, || timed(|| true_residuals(a, &x, b)))?;
    if let Some((residuals, ms)) = residuals {
        fields.verify_ms = Some(ms);
        fields.columns.iter_mut().zip(residuals).for_each(|(column, residual)| column.true_residual = Some(residual));
    }
    let report = Report::new(&Target::Device(device), fields);
    report.write(&args.report)?;
    output::summary(&text(&report), args.writing.quiet, [&args.output, &args.report], messages)?;
    let columns = &report.of.columns;
    if let Some((at, column)) = columns.iter().enumerate().find(|(_, column)| column.curvature.is_some()) {
        let curvature = column.curvature.unwrap_or(f64::NAN);
        let after = count(column.steps as usize, "step");
        let why = if curvature <= 0.0 {
            "is not positive definite"
        } else {
            "has numbers too large or too small for the type"
        };
        return Err(Failure::Verification(format!(
            "A {why}: for column {} a direction has the curvature {curvature:.3e} after {after}; nothing is written",
            at + 1
        )));
    }
    if x.values().numbers().iter().any(|x| !x.is_finite()) {
        let element = report.of.element;
        return Err(Failure::Verification(format!("x has numbers too large for {element}; nothing is written")));
    }
    let x = x.to_layout(b.shape().layout)?;
    args.output.as_ref().map_or(Ok(()), |path| match x.shape().cols {
        1 => vector::write(path, x.values()),
        _ => dense::write(path, &x),
    })?;
    let drifted = |residual: f64| residual.is_nan() || residual > DRIFT * args.tolerance;
    let unsolved = |column: &&ColumnFields| !column.converged || column.true_residual.is_some_and(drifted);
    match columns.iter().filter(unsolved).count() {
        0 => Ok(()),
        unsolved => {
            let of = if columns.len() > 1 { format!("{unsolved} of {} columns", columns.len()) } else { "x".into() };
            Err(Failure::Verification(format!(
                "{of} not converged to a residual of {:e}: try more --steps, a larger --tolerance, --element f64, or \
                 --block for blocks on the diagonal",
                args.tolerance
            )))
        }
    }
}

/// Returns x, and the report without the fields of `--verify`.
fn solved(
    args: &Args,
    device: &Device,
    a: &AnyMatrix,
    b: &AnyDense,
    messages: &Messages,
) -> Result<(AnyDense, Fields), Failure> {
    let DenseShape { rows, cols, .. } = b.shape();
    let limit = args.steps.map_or(u32::try_from(rows).unwrap_or(u32::MAX), Into::into);
    let upload = || {
        let operands = (device.upload(a)?, device.upload_any_dense(b)?);
        device.finish()?;
        Ok::<_, Error>(operands)
    };
    let ((on_device, b_on_device), upload_ms) = timed(upload)?;
    messages.step("planning");
    let plan = || {
        let plan = ConjugateGradients::of(&on_device, cols)?.limits(args.tolerance, limit);
        let plan = plan.progress(messages.measured("solving", Unit::Steps));
        let plan = if args.preconditioner == Preconditioner::Jacobi { plan.block_jacobi()? } else { plan };
        device.finish()?;
        Ok::<_, Error>(plan)
    };
    let (plan, plan_ms) = timed_on(device, plan)?;
    let solve = || {
        timed_on(device, || {
            let solved = plan.solve(&on_device, &b_on_device)?;
            device.finish()?;
            Ok::<_, Error>(solved)
        })
    };
    let ((x, ends), runs_ms) = repeatedly(args.repeat, solve).map_err(|error| not_positive_definite(error, a))?;
    let (x, download_ms) = timed(|| x.download())?;
    let total_ms = median_run(&runs_ms);
    let most = ends.iter().map(|column| column.steps).max().filter(|&steps| steps > 0);
    let fields = Fields {
        element: a.element().name(),
        symmetric: args.symmetric,
        preconditioner: args.preconditioner,
        tolerance: args.tolerance,
        limit,
        a: Size::of(a),
        b: Size::of_dense(rows, cols),
        columns: ends.into_iter().map(ColumnFields::from).collect(),
        upload_ms,
        plan_ms,
        total_ms,
        step_ms: most.map(|steps| total_ms / f64::from(steps)),
        runs_ms: args.repeat.is_some().then_some(runs_ms),
        download_ms,
        verify_ms: None,
    };
    Ok((x, fields))
}

impl From<SolvedColumn> for ColumnFields {
    fn from(end: SolvedColumn) -> Self {
        let SolvedColumn { steps, converged, residual, curvature, .. } = end;
        Self { steps, converged, residual, true_residual: None, curvature }
    }
}

/// The failure for a block that the preconditioner cannot invert. The message names the block by
/// its rows in the file.
fn not_positive_definite(error: Error, a: &AnyMatrix) -> Failure {
    let Error::NotPositiveDefinite { block, .. } = error else { return error.into() };
    let side = a.shape().rows();
    let place = match side {
        1 => format!("row {}", block + 1),
        _ => format!("rows {} to {}", block * side + 1, (block + 1) * side),
    };
    Failure::Verification(format!(
        "A is not positive definite at {place} of its diagonal, or too near to zero there; nothing is written"
    ))
}

/// Returns for each column the norm of b - A·x divided by the norm of b, by the reference in f64; 0
/// if both norms are 0.
fn true_residuals(a: &AnyMatrix, x: &AnyDense, b: &AnyDense) -> blockmul::Result<Vec<f64>> {
    let [x, b] = [x, b].map(|dense| dense.cast(ElementType::F64));
    let (x, b) = (x.to_layout(Layout::ByColumns)?, b.to_layout(Layout::ByColumns)?);
    let ax = reference::multiply_any_dense(Semiring::PlusTimes, Side::Left, &a.cast(ElementType::F64), &x)?;
    let shape = b.shape();
    let of = |col: usize| {
        let each = (0..shape.rows)
            .map(|row| [b.values().number(shape.at(row, col)), ax.values().number(ax.shape().at(row, col))]);
        // Numbers are divided by the largest, because squares of numbers near the limits of the
        // type would overflow or vanish.
        let largest = each.clone().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
        let scaled = each.map(|pair| pair.map(|value| if largest > 0.0 { value / largest } else { 0.0 }));
        let [above, below] = scaled.fold([0.0; 2], |[above, below], [b, ax]| [above + (b - ax).powi(2), below + b * b]);
        if above == 0.0 { 0.0 } else { (above / below).sqrt() }
    };
    Ok((0..shape.cols).map(of).collect())
}

fn text(report: &Report<Fields>) -> String {
    let (device, Fields { element, a, preconditioner, columns, total_ms, step_ms, .. }) = (report.device(), &report.of);
    let by = match (preconditioner, a.block) {
        (Preconditioner::None, _) => "no preconditioner".to_owned(),
        (Preconditioner::Jacobi, Some([side, _])) if side > 1 => format!("blocks of {side}x{side}"),
        (Preconditioner::Jacobi, _) => "the diagonal".to_owned(),
    };
    let steps = columns.iter().map(|column| column.steps).max().unwrap_or(0);
    let residual = columns.iter().map(|column| column.residual).fold(0.0, f64::max);
    let verified = columns.iter().filter_map(|column| column.true_residual).reduce(f64::max);
    let verified = verified.map(|residual| format!(", {residual:.3e} by the reference")).unwrap_or_default();
    let each = step_ms.map(|ms| format!(", {ms:.4} ms a step")).unwrap_or_default();
    format!(
        "A·x = b in {element} by conjugate gradients with {by} on {device}\n  A  {0} x {0}, {1} {2}; {3}\n  {4}, \
         residual {residual:.3e}{verified}\n{total_ms:.3} ms{each}",
        a.rows(),
        a.nnz(),
        a.entries(),
        count(columns.len(), "right-hand side"),
        count(steps as usize, "step"),
    )
}
