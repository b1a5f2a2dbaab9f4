//! Products of a sparse matrix with a dense one, for `apply` with several vectors, and for
//! `multiply` if one operand is dense.
mod operand;

pub use operand::{DenseOperand, of_file, read, write};

use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::overflow::{Converted, Named, Overflow};
use crate::report::{Executed, Report, over};
use crate::runs::{RunArgs, repeatedly, timed};
use crate::target::Target;
use crate::{input, output};
use blockmul::{
    BlockShape, Device, Method, Planned, Semiring,
    dense::{AnyDense, DenseProduct, DenseShape, Side},
    matrix::AnyMatrix,
    plan::{ApplyDense, DenseMethod},
    product::Factor,
    reference::{self, IntegerSums, verify},
};
use serde::Serialize;
use std::{num::NonZero, path::PathBuf, time::Instant};

/// A sparse matrix from a file, and the shape of its blocks before transposition.
pub struct SparseOperand {
    pub matrix: AnyMatrix,
    pub converted: Converted,
    pub block: BlockShape,
}

/// The options of a product with a dense matrix.
pub struct Request<'a> {
    pub side: Side,
    pub transposed: bool,
    pub semiring: Semiring,
    /// The way in which work-groups share the entries of the sparse matrix, if `--sharing` names
    /// one.
    pub sharing: Option<DenseMethod>,
    pub run: &'a RunArgs,
    /// Maximum number of bytes of device memory that are held at once.
    pub memory_limit: Option<u64>,
    pub explain: bool,
    pub quiet: bool,
    pub output: &'a Option<PathBuf>,
}

#[derive(Serialize)]
struct Fields {
    /// `None` for the reference.
    sharing: Option<DenseMethod>,
    why: Option<String>,
    element: &'static str,
    semiring: Semiring,
    /// Whether the sparse matrix is the second factor.
    from_right: bool,
    transposed: bool,
    sparse: Size,
    dense: Size,
    layout: &'static str,
    c: Size,
    /// Bands of columns of the dense matrix, or of its rows if the sparse one is the second factor.
    bands: usize,
    /// Device memory in use during the multiplication, operands included.
    peak_device_bytes: u64,
    /// Finite values that became infinite.
    overflowed: Overflow,
    #[serde(flatten)]
    executed: Executed,
}

/// A product, with its times and memory.
struct Run {
    c: AnyDense,
    sharing: Option<(DenseMethod, String)>,
    bands: usize,
    convert_ms: Option<f64>,
    device_bytes: u64,
    peak_device_bytes: u64,
    runs_ms: Vec<f64>,
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
    SparseOperand { matrix: a, converted, block }: SparseOperand,
    d: &DenseOperand,
    messages: &Messages,
) -> Result<(), Failure> {
    let overflow = match request.side {
        Side::Left => Overflow::of_operands(converted, d.converted),
        Side::Right => Overflow::of_operands(d.converted, converted),
    };
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
    let by_reference = || reference::multiply_any_dense(request.semiring, request.side, factor, &d.matrix);
    let run = match &target {
        Target::Device(device) => match request.memory_limit {
            None => on_device(request, device, a, &d.matrix)?,
            Some(limit) => in_bands(request, device, limit, a, &d.matrix)?,
        },
        Target::Reference if request.sharing.is_some() => {
            return Err(Failure::Usage("--sharing is for an OpenCL device, and the reference multiplies".into()));
        }
        Target::Reference => {
            let (c, runs_ms) = repeatedly(request.run.repeat, || timed(|| by_reference().map_err(Failure::from)))?;
            Run { c, sharing: None, bands: 1, convert_ms: None, device_bytes: 0, peak_device_bytes: 0, runs_ms }
        }
    };
    let want = messages.verifying(request.run.verify, by_reference)?;
    let different = want.map(|want| verify::different(run.c.values(), want.values()));
    let overflowed = match (IntegerSums::of(a.element(), request.semiring), request.semiring) {
        (Some(sums), _) => {
            let (side, d) = (request.side, &d.matrix);
            let count = || request.run.verify.then(|| sums.wrapped_of_dense(side, factor, d).ok()).flatten();
            let bound = sums.bound_of_dense(side, factor, d);
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
    let flops = 2 * (sparse.nnz() * sparse.area() * n) as u64;
    let executed =
        Executed::new(flops, run.convert_ms, run.device_bytes, run.runs_ms, request.run.repeat.is_some(), different);
    let fields = Fields {
        sharing: run.sharing.as_ref().map(|(sharing, _)| *sharing),
        why: run.sharing.as_ref().map(|(_, why)| why.clone()),
        element: a.element().name(),
        semiring: request.semiring,
        from_right: request.side == Side::Right,
        transposed: request.transposed,
        sparse,
        dense: Size::of_dense(d_shape.rows, d_shape.cols),
        layout: d_shape.layout.name(),
        c: Size::of_dense(c_shape.rows, c_shape.cols),
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

/// Prepares the sparse matrix, multiplies, and reads C back.
fn on_device(request: &Request<'_>, device: &Device, a: &AnyMatrix, d: &AnyDense) -> Result<Run, Failure> {
    let (a, on_device, DenseShape { rows, cols, layout, .. }) =
        (device.upload(a)?, device.upload_any_dense(d)?, d.shape());
    device.finish()?;
    let clock = Instant::now();
    let n = if request.side == Side::Left { cols } else { rows };
    let options = ApplyDense::of(&a, n).semiring(request.semiring);
    let options = options.layouts(layout, layout).method(request.sharing.unwrap_or(DenseMethod::Auto));
    let options = if request.explain { options.explained() } else { options };
    let options = if request.transposed { options.transposed() } else { options };
    let packed = if request.side == Side::Right { options.from_right() } else { options }.pack(&a)?;
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    let mut c = packed.output()?;
    let run = || Ok::<_, Failure>(((), packed.execute_with_report(&on_device, &mut c)?.total_ms));
    let ((), runs_ms) = repeatedly(request.run.repeat, run)?;
    let sharing = Some((packed.method(), packed.why().to_owned()));
    let device_bytes = packed.cost().device_bytes;
    // Executions allocate no memory.
    let peak_device_bytes = a.device_bytes() + on_device.device_bytes() + c.device_bytes() + device_bytes;
    Ok(Run { c: c.download()?, sharing, bands: 1, convert_ms, device_bytes, peak_device_bytes, runs_ms })
}

/// Multiplies as many columns of D at a time as fit a limit.
fn in_bands(request: &Request<'_>, device: &Device, limit: u64, a: &AnyMatrix, d: &AnyDense) -> Result<Run, Failure> {
    let a = device.upload(a)?;
    let a = Factor { operand: &a, transposed: request.transposed };
    let product = if request.side == Side::Left { DenseProduct::of(a, d) } else { DenseProduct::by(d, a) };
    let product =
        product.semiring(request.semiring).method(request.sharing.unwrap_or(DenseMethod::Auto)).memory_limit(limit);
    let product = if request.explain { product.explained() } else { product };
    let (mut c, report) = product.run_to_host()?;
    let (mut last, mut runs_ms) = (report, Vec::new());
    if request.run.repeat.is_none() {
        runs_ms.push(last.total_ms);
    }
    // The product above was the warm-up for the repeated products.
    for _ in 0..request.run.repeat.map_or(0, NonZero::get) {
        last = product.run_into(&mut c)?;
        runs_ms.push(last.total_ms);
    }
    Ok(Run {
        c,
        sharing: Some((last.method, last.why)),
        bands: last.bands,
        convert_ms: Some(last.plan_ms),
        device_bytes: last.peak_device_bytes,
        peak_device_bytes: last.peak_device_bytes,
        runs_ms,
    })
}

fn tell(request: &Request<'_>, report: &Report<Fields>, messages: &Messages) -> Result<(), Failure> {
    report.write(&request.run.report)?;
    let (device, report) = (report.device(), &report.of);
    let op = if report.transposed { "Aᵀ" } else { "A" };
    let product = if report.from_right { format!("D·{op}") } else { format!("{op}·D") };
    let by = report.sharing.map_or("the reference", DenseMethod::name);
    let over = over(report.semiring);
    let bands = if report.bands > 1 { format!(" in {} bands", report.bands) } else { String::new() };
    let text = format!(
        "C = {product}{over} in {} by {by} on {device}\n  {} {} times {} x {} by {}{bands}, {}",
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
