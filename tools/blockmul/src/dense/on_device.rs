//! Products on a device: with values copied into the order of the sums, with stored groups, or in
//! bands.
use super::{Added, Request};
use crate::choice::Sharing;
use crate::failure::Failure;
use crate::runs::{repeatedly, timed_on};
use blockmul::{
    BlockShape, Device, DeviceMatrix, Error, Planned,
    dense::{AnyDense, AnyGcoo, DenseProduct, DenseShape, DeviceDense, DeviceGcoo, Grouping, Side},
    element::Any,
    matrix::AnyMatrix,
    plan::{Accum, ApplyDense, ApplyGcoo, DenseMethod},
    product::Factor,
};
use std::{num::NonZero, time::Instant};

/// A product, with its times and memory.
pub struct Run {
    pub c: AnyDense,
    pub sharing: Option<(Sharing, String)>,
    pub bands: usize,
    pub group_ms: Option<f64>,
    pub convert_ms: Option<f64>,
    pub device_bytes: u64,
    pub peak_device_bytes: u64,
    pub runs_ms: Vec<f64>,
}

/// Copies the values of the sparse matrix into the order of the sums, multiplies, and reads C back.
pub fn packed(request: &Request<'_>, device: &Device, a: &AnyMatrix, d: &AnyDense) -> Result<Run, Failure> {
    let (a, on_device, DenseShape { layout, .. }) = (device.upload(a)?, device.upload_any_dense(d)?, d.shape());
    device.finish()?;
    let clock = Instant::now();
    let options = ApplyDense::of(&a, request.columns(d)).semiring(request.semiring);
    let options = options.layouts(layout, layout).method(request.method());
    let options = if request.explain { options.explained() } else { options };
    let options = if request.transposed { options.transposed() } else { options };
    let packed = if request.side == Side::Right { options.from_right() } else { options }.pack(&a)?;
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    let sharing = Some((Sharing::By(packed.method()), packed.why().to_owned()));
    let device_bytes = packed.cost().device_bytes;
    let (c, runs_ms) = executed(request, &packed, || &on_device)?;
    // Executions allocate no memory.
    let peak_device_bytes = a.device_bytes() + on_device.device_bytes() + c.device_bytes() + device_bytes;
    let c = c.download()?;
    Ok(Run { c, sharing, bands: 1, group_ms: None, convert_ms, device_bytes, peak_device_bytes, runs_ms })
}

/// Multiplies the groups of the file, or those to which the matrix is converted, and reads C back.
pub fn stored(
    request: &Request<'_>,
    device: &Device,
    a: &AnyMatrix,
    groups: Option<AnyGcoo>,
    d: &AnyDense,
) -> Result<Run, Failure> {
    let (on_device, DenseShape { layout, .. }) = (device.upload_any_dense(d)?, d.shape());
    let from_file = groups.map(|groups| DeviceGcoo::upload(device, &groups)).transpose()?;
    let compressed = from_file.is_none().then(|| device.upload(a)).transpose()?;
    device.finish()?;
    let clock = Instant::now();
    let convert = |a: &DeviceMatrix<AnyMatrix>| {
        timed_on(device, || {
            let of_columns = (request.side == Side::Right) != request.transposed;
            let groups = DeviceGcoo::from_matrix(a, grouping(device, a.shape(), of_columns))?;
            device.finish()?;
            Ok::<_, Error>(groups)
        })
    };
    let (converted, group_ms) = compressed.as_ref().map(convert).transpose()?.unzip();
    drop(compressed);
    let a = from_file.or(converted).expect("a matrix without groups is converted");
    let options = ApplyGcoo::with(&a, request.columns(d)).method(DenseMethod::Gcoo).semiring(request.semiring);
    let options = options.layouts(layout, layout);
    let options = if request.transposed { options.transposed() } else { options };
    let plan = if request.side == Side::Right { options.from_right() } else { options }.plan()?;
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    let (c, runs_ms) = executed(request, &plan, || (&a, &on_device))?;
    let sharing = Some((Sharing::Stored, plan.why().to_owned()));
    let device_bytes = a.device_bytes() + plan.cost().device_bytes;
    let peak_device_bytes = on_device.device_bytes() + c.device_bytes() + device_bytes;
    let c = c.download()?;
    Ok(Run { c, sharing, bands: 1, group_ms, convert_ms, device_bytes, peak_device_bytes, runs_ms })
}

/// The number of rows or columns of scalars in a group is a tuning number of the device. For blocks
/// this number is divided by the side of a block and rounded up.
pub fn grouping(device: &Device, shape: BlockShape, of_columns: bool) -> Grouping {
    let side = if of_columns { shape.cols() } else { shape.rows() };
    let lines = device.info().numbers_by_name()["dense_group_lines"].div_ceil(side);
    if of_columns { Grouping::Columns(lines) } else { Grouping::Rows(lines) }
}

/// C, and the milliseconds of each run.
fn executed<'i, P: Planned<Output = DeviceDense<Any>>>(
    request: &Request<'_>,
    plan: &P,
    inputs: impl Fn() -> P::Inputs<'i>,
) -> Result<(DeviceDense<Any>, Vec<f64>), Failure> {
    let Some(Added { beta, old }) = &request.added else {
        let mut c = plan.output()?;
        let run = || Ok::<_, Failure>(((), plan.execute_with_report(inputs(), &mut c)?.total_ms));
        let ((), runs_ms) = repeatedly(request.run.repeat, run)?;
        return Ok((c, runs_ms));
    };
    let mut c = None;
    let run = || {
        // The C of the previous run is freed first. Each run begins with the old contents of C.
        c = None;
        let fresh = c.insert(plan.device().upload_any_dense(old)?);
        Ok::<_, Failure>(((), plan.execute_with_report(inputs(), Accum::into(fresh).beta(*beta))?.total_ms))
    };
    let ((), runs_ms) = repeatedly(request.run.repeat, run)?;
    Ok((c.expect("a run has made it"), runs_ms))
}

/// Multiplies as many columns of D at a time as fit a limit.
pub fn in_bands(
    request: &Request<'_>,
    device: &Device,
    limit: u64,
    a: &AnyMatrix,
    d: &AnyDense,
) -> Result<Run, Failure> {
    let a = device.upload(a)?;
    let a = Factor { operand: &a, transposed: request.transposed };
    let product = if request.side == Side::Left { DenseProduct::of(a, d) } else { DenseProduct::by(d, a) };
    let product = product.semiring(request.semiring).method(request.method()).memory_limit(limit);
    let product = if request.explain { product.explained() } else { product };
    let (mut c, report) = product.run_to_host()?;
    let (mut last, mut runs_ms) = (report, Vec::new());
    if request.run.repeat.is_none() {
        runs_ms.push(last.total_ms);
    }
    // The product by `run_to_host` was the warm-up for the repeated products.
    for _ in 0..request.run.repeat.map_or(0, NonZero::get) {
        last = product.run_into(&mut c)?;
        runs_ms.push(last.total_ms);
    }
    Ok(Run {
        c,
        sharing: Some((Sharing::By(last.method), last.why)),
        bands: last.bands,
        group_ms: None,
        convert_ms: Some(last.plan_ms),
        device_bytes: last.peak_device_bytes,
        peak_device_bytes: last.peak_device_bytes,
        runs_ms,
    })
}
