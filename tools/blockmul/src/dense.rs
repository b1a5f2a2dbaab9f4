//! Products of a sparse matrix with a dense one, for `apply` with several vectors, and for
//! `multiply` if one operand is dense.
mod on_device;
mod operand;

pub use on_device::grouping;
pub use operand::{DenseOperand, SparseOperand, of_file, read, write};

use crate::choice::Sharing;
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::overflow::{Named, Overflow};
use crate::report::{Executed, Report, onto, over};
use crate::runs::{RunArgs, repeatedly, timed};
use crate::target::Target;
use crate::{input, output};
use blockmul::{
    Method, Semiring,
    dense::{AnyDense, DenseShape, Side},
    matrix::AnyMatrix,
    plan::DenseMethod,
    product::Factor,
    reference::{self, IntegerSums, Onto, verify},
};
use on_device::{Run, in_bands, packed, stored};
use serde::Serialize;
use std::path::PathBuf;

/// The options of a product with a dense matrix.
pub struct Request<'a> {
    pub side: Side,
    pub transposed: bool,
    pub semiring: Semiring,
    /// The way in which work-groups share the entries of the sparse matrix, if `--sharing` names
    /// one.
    pub sharing: Option<Sharing>,
    /// The old contents of C to which the product is added.
    pub added: Option<Added>,
    pub run: &'a RunArgs,
    /// Maximum number of bytes of device memory that are held at once.
    pub memory_limit: Option<u64>,
    pub explain: bool,
    pub quiet: bool,
    pub output: &'a Option<PathBuf>,
}

/// Old contents of C, in the layout of D.
pub struct Added {
    /// The factor of the old contents.
    pub beta: f64,
    pub old: AnyDense,
}

impl Added {
    fn onto(&self) -> Onto<'_> {
        Onto { beta: self.beta, old: self.old.values() }
    }
}

impl Request<'_> {
    fn method(&self) -> DenseMethod {
        match self.sharing {
            Some(Sharing::By(method)) => method,
            _ => DenseMethod::Auto,
        }
    }

    /// Columns of D, or its rows if it is the first factor.
    fn columns(&self, d: &AnyDense) -> usize {
        if self.side == Side::Left { d.shape().cols } else { d.shape().rows }
    }
}

#[derive(Serialize)]
struct Fields {
    /// How work-items share the entries, or `None` if the reference multiplies.
    sharing: Option<&'static str>,
    why: Option<String>,
    element: &'static str,
    semiring: Semiring,
    /// Whether the sparse matrix is the second factor.
    from_right: bool,
    transposed: bool,
    /// The factor of the old contents of C, or `None` if the product is not added to old contents.
    beta: Option<f64>,
    sparse: Size,
    dense: Size,
    layout: &'static str,
    c: Size,
    /// Milliseconds to convert the sparse matrix to groups on the device, or `None` if it was not
    /// converted.
    group_ms: Option<f64>,
    /// Bands of columns of the dense matrix, or of its rows if the sparse one is the second factor.
    bands: usize,
    /// Device memory in use during the multiplication, operands included.
    peak_device_bytes: u64,
    /// Finite values that became infinite.
    overflowed: Overflow,
    #[serde(flatten)]
    executed: Executed,
}

/// A product and its checks.
struct Outcome {
    run: Run,
    /// With `--verify`, the number of elements of C that differ from the reference's.
    different: Option<usize>,
    overflowed: Overflow,
}

/// Multiplies, verifies, reports, and writes C in the layout of D.
pub fn run(
    request: &Request<'_>,
    SparseOperand { matrix: a, converted, block, groups }: SparseOperand,
    d: &DenseOperand,
    messages: &Messages,
) -> Result<(), Failure> {
    let overflow = match request.side {
        Side::Left => Overflow::of_operands(converted, d.converted),
        Side::Right => Overflow::of_operands(d.converted, converted),
    };
    if request.sharing == Some(Sharing::Stored) && request.memory_limit.is_some() {
        let why = "which cuts D into bands";
        return Err(Failure::Usage(format!("--sharing stored multiplies D whole, without --memory-limit, {why}")));
    }
    let target = Target::choose(request.run.device.as_deref(), a.element(), Method::Auto, messages)?;
    let a = &input::cut(a, Some(block))?;
    let (size, d_shape) = (Size::of(a), d.matrix.shape());
    let (rows, cols) = if request.transposed { (size.cols(), size.rows()) } else { (size.rows(), size.cols()) };
    let inner = match request.side {
        Side::Left => d_shape.rows == cols,
        Side::Right => d_shape.cols == rows,
    };
    if !inner {
        let sparse = format!("{rows} x {cols} (sparse)");
        let dense = format!("{} x {} (dense)", d_shape.rows, d_shape.cols);
        let (first, second) = if request.side == Side::Left { (sparse, dense) } else { (dense, sparse) };
        return Err(Failure::Usage(format!("cannot multiply {first} with {second}")));
    }
    messages.step("multiplying");
    let factor = Factor { operand: a, transposed: request.transposed };
    let onto = request.added.as_ref().map(Added::onto);
    let by_reference = || match onto {
        Some(onto) => reference::multiply_any_dense_onto(request.semiring, request.side, factor, &d.matrix, onto),
        None => reference::multiply_any_dense(request.semiring, request.side, factor, &d.matrix),
    };
    let run = match &target {
        Target::Device(device) => match request.memory_limit {
            None if request.sharing == Some(Sharing::Stored) => stored(request, device, a, groups, &d.matrix)?,
            None => packed(request, device, a, &d.matrix)?,
            Some(limit) => in_bands(request, device, limit, a, &d.matrix)?,
        },
        Target::Reference if request.sharing.is_some() => {
            return Err(Failure::Usage("--sharing is for an OpenCL device, and the reference multiplies".into()));
        }
        Target::Reference => {
            let (c, runs_ms) = repeatedly(request.run.repeat, || timed(|| by_reference().map_err(Failure::from)))?;
            let (group_ms, convert_ms) = (None, None);
            Run { c, sharing: None, bands: 1, group_ms, convert_ms, device_bytes: 0, peak_device_bytes: 0, runs_ms }
        }
    };
    let want = messages.verifying(request.run.verify, by_reference)?;
    let different = want.map(|want| verify::different(run.c.values(), want.values()));
    let overflowed = match (IntegerSums::of(a.element(), request.semiring), request.semiring) {
        (Some(sums), _) => {
            let (side, d) = (request.side, &d.matrix);
            let count = || request.run.verify.then(|| sums.wrapped_of_dense(side, factor, d, onto).ok()).flatten();
            let of_old = onto.map_or(0.0, |onto| onto.beta.abs() * onto.old.magnitude());
            let bound = sums.bound_of_dense(side, factor, d) + of_old;
            overflow.of_integers(Named::of("C", run.c.values()), bound, count, messages)
        }
        (None, Semiring::PlusTimes) => overflow.of_values("C", run.c.values(), messages),
        (None, _) => overflow,
    };
    let outcome = Outcome { run, different, overflowed };
    let c = finish(request, &target, a, d_shape, outcome, messages)?;
    request.output.as_ref().map_or(Ok(()), |path| write(path, &c))
}

/// Reports a product and returns C. Fails if elements of C differ from the reference's.
fn finish(
    request: &Request<'_>,
    target: &Target,
    a: &AnyMatrix,
    d_shape: DenseShape,
    Outcome { run, different, overflowed }: Outcome,
    messages: &Messages,
) -> Result<AnyDense, Failure> {
    if let (true, Some((_, why))) = (request.explain, &run.sharing) {
        messages.say_lines(why);
    }
    let (sparse, c_shape) = (Size::of(a), run.c.shape());
    let n = if request.side == Side::Left { d_shape.cols } else { d_shape.rows };
    let flops = 2 * (sparse.elements() * n) as u64;
    let executed =
        Executed::new(flops, run.convert_ms, run.device_bytes, run.runs_ms, request.run.repeat.is_some(), different);
    let fields = Fields {
        sharing: run.sharing.as_ref().map(|(sharing, _)| sharing.name()),
        why: run.sharing.as_ref().map(|(_, why)| why.clone()),
        element: a.element().name(),
        semiring: request.semiring,
        from_right: request.side == Side::Right,
        transposed: request.transposed,
        beta: request.added.as_ref().map(|added| added.beta),
        sparse,
        dense: Size::of_dense(d_shape.rows, d_shape.cols),
        layout: d_shape.layout.name(),
        c: Size::of_dense(c_shape.rows, c_shape.cols),
        group_ms: run.group_ms,
        bands: run.bands,
        peak_device_bytes: run.peak_device_bytes,
        overflowed,
        executed,
    };
    tell(request, &Report::new(target, fields), messages)?;
    match different {
        Some(count) if count > 0 => Err(Failure::Verification(format!(
            "{count} of {} elements of C have not the reference's bits; nothing is written",
            c_shape.len()
        ))),
        _ => Ok(run.c),
    }
}

fn tell(request: &Request<'_>, report: &Report<Fields>, messages: &Messages) -> Result<(), Failure> {
    report.write(&request.run.report)?;
    let (device, report) = (report.device(), &report.of);
    let op = if report.transposed { "Aᵀ" } else { "A" };
    let product = if report.from_right { format!("D·{op}") } else { format!("{op}·D") };
    let onto = onto("C", report.beta);
    let by = match report.sharing {
        Some("stored") => "stored groups",
        sharing => sharing.unwrap_or("the reference"),
    };
    let over = over(report.semiring);
    let bands = if report.bands > 1 { format!(" in {} bands", report.bands) } else { String::new() };
    let groups = report.group_ms.map(|ms| format!(", converted to groups in {ms:.3} ms")).unwrap_or_default();
    let text = format!(
        "C = {product}{onto}{over} in {} by {by} on {device}\n  {} {} times {} x {} by {}{bands}{groups}, {}",
        report.element,
        report.sparse.nnz(),
        report.sparse.entries(),
        report.dense.rows(),
        report.dense.cols(),
        report.layout,
        report.executed.text()
    );
    output::summary(&text, request.quiet, [request.output, &request.run.report], messages)
}
