//! The product: [`multiply`], and [`Spgemm`] for a choice of method, a memory limit, aligned blocks, a report.
mod analysis;
mod bands;
mod blocks;
mod choose;
mod column_lists;
mod combine;
mod compression;
mod drop;
mod engine;
mod esc;
mod estimate;
mod floors;
mod host_columns;
mod join;
mod limits;
mod mask;
mod masked;
mod method;
mod onto;
pub(crate) mod plan;
mod planned;
mod problem;
mod runs;
#[cfg(test)]
mod serial;
mod tuning;

pub use estimate::Estimate;
pub(crate) use floors::Extent;
pub(crate) use join::join_patterns;
pub use method::Method;
pub(crate) use planned::PlannedProduct;
pub use problem::{Bin, Part};
pub(crate) use problem::{Done, Operands, Room, STAGES, Scaling, Side};

use crate::{
    Device, DeviceMatrix, Element, Error, Matrix, Progress, Result,
    device::{Clock, StageTime, Work},
    matrix::{Threshold, aligned_stride},
    reference,
    resident::DeviceCbc,
};
use engine::OneShot;
use host_columns::Columns;
use std::time::{Duration, Instant};

/// C = A·B on the device that holds A and B; C stays there. Blocks of A are r x k, of B k x c, of C r x c.
///
/// Rows ascend in every column of C (columns in every row, for row-major matrices). An entry whose value comes out 0 is kept.
/// The result is the same to the bit in every run, on every device and for every memory limit.
///
/// # Errors
/// [`Error::Dimensions`] when the inner sizes differ, [`Error::DeviceMismatch`], [`Error::Memory`], [`Error::TooLarge`].
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device};
/// let device = Device::auto()?;
/// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
/// let c = blockmul::multiply(&a, &a)?.download()?;
/// assert_eq!(c.values(), [4.0, 21.0, 25.0]);
/// # Ok(())
/// # }
/// ```
pub fn multiply<M: Matrix>(a: &DeviceMatrix<M>, b: &DeviceMatrix<M>) -> Result<DeviceMatrix<M>> {
    Spgemm::new().multiply(a, b)
}

/// What a product took.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The method asked for.
    pub method: Method,
    /// What ran: each method, with the columns of C and the products that it had.
    pub bins: Vec<Bin>,
    /// Products of entries (blocks): the expansion size.
    pub products: u64,
    /// Entries (blocks) of C.
    pub c_nnz: u64,
    /// Entries (blocks) left out of it: see [`Spgemm::drop_below`].
    pub dropped: u64,
    /// Products that sum to one entry (block) of C, at most.
    pub longest_run: u32,
    /// Bands of columns the product was cut into.
    pub bands: usize,
    /// Most bytes of device memory held from the driver at once: what was in use, and what the
    /// device's pool kept for later meanwhile. Never above [`Spgemm::memory_limit`].
    pub peak_device_bytes: u64,
    /// Most bytes in use at once, operands and size classes included.
    pub used_device_bytes: u64,
    /// Device time of each stage, and what it has to move and to compute at least.
    pub stages: Vec<StageTime>,
    /// Wall-clock milliseconds from operands on the device to C complete on the device; neither
    /// transfers nor the loading of kernels are counted.
    pub total_ms: f64,
    /// Milliseconds spent waiting for kernels to be compiled, or loaded from the cache of kernels.
    pub kernels_ms: f64,
    /// Kernels launched.
    pub launches: u32,
    /// Blocking reads from the device.
    pub read_backs: u32,
}

impl Report {
    /// Declares for each stage of A·B what it has to move and to compute.
    fn with_floors<T: Element>(mut self, operands: &Operands<'_, T>, done: &Done) -> Self {
        let floors = Extent::new(operands, self.products, done.merged, self.c_nnz + self.dropped).floors();
        for (stage, floor) in self.stages.iter_mut().zip(floors) {
            (stage.bytes, stage.flops) = (Some(floor.bytes), Some(floor.flops));
        }
        self
    }
}

/// A product with options.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// # let (device, a) = (blockmul::Device::auto()?, blockmul::Csc::<f64>::from_triplets(2, 2, [])?);
/// use blockmul::{Method, Spgemm};
/// let (c, report) = Spgemm::new().method(Method::Esc).memory_limit(2 << 30).multiply_host(&device, &a, &a)?;
/// println!("{} products in {} ms, {} bands", report.products, report.total_ms, report.bands);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Spgemm {
    method: Method,
    memory_limit: Option<u64>,
    alignment: Option<usize>,
    progress: Option<Progress>,
    threshold: Option<Threshold>,
}

impl Spgemm {
    /// The defaults: [`Method::Auto`], all of the device's memory, blocks of C without padding.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Most bytes of device memory the product may hold at once, operands included; it is cut into bands to keep it.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Starts each block of C on a multiple of so many bytes, for SIMD consumers: 16, 32 or 64 (the paper's last open point).
    /// For block matrices.
    pub fn alignment(mut self, bytes: usize) -> Self {
        self.alignment = Some(bytes);
        self
    }

    /// Tells columns (of blocks) of C that have reached the host, after each band of [`Spgemm::multiply_host`].
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// C = A·B, device to device. Does not wait for the device to finish C.
    ///
    /// # Errors
    /// As [`multiply`]; [`Error::Argument`] for an alignment that is not 16, 32 or 64.
    pub fn multiply<M: Matrix>(&self, a: &DeviceMatrix<M>, b: &DeviceMatrix<M>) -> Result<DeviceMatrix<M>> {
        let work = Work::new(&a.cbc.device, self.memory_limit);
        self.on_device(&work, a, b).map(|(c, ..)| c)
    }

    /// As [`Spgemm::multiply`], waits for C and tells what it took.
    ///
    /// # Errors
    /// As [`Spgemm::multiply`].
    pub fn multiply_with_report<M: Matrix>(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
    ) -> Result<(DeviceMatrix<M>, Report)> {
        let work = Work::new(&a.cbc.device, self.memory_limit);
        let (c, clock, done, dropped) = self.on_device(&work, a, b)?;
        let (x, y) = in_column_order::<M>(&a.cbc, &b.cbc);
        let report = self.report(&work, &clock, &done, (c.nnz() as u64, dropped))?;
        let report = report.with_floors(&self.operands(x, y)?, &done);
        Ok((c, report))
    }

    /// C = A·B, host to host, band by band: C needs not fit the device. `a` and `b` may be the same matrix, which is then uploaded once.
    ///
    /// # Errors
    /// As [`Spgemm::multiply`].
    pub fn multiply_host<M: Matrix>(&self, device: &Device, a: &M, b: &M) -> Result<(M, Report)> {
        let (x, y) = if M::ROW_MAJOR { (b, a) } else { (a, b) };
        reference::check_fits(x.as_cbc(), y.as_cbc())?;
        let a_device = device.upload(a)?;
        let b_device = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
        let (x, y) = in_column_order::<M>(&a_device.cbc, b_device.as_ref().map_or(&a_device.cbc, |b| &b.cbc));
        let operands = self.operands(x, y)?;
        let (esc, mut thinning) = (OneShot::new(device, &operands, self.method)?, self.thinning(device, &operands)?);
        let work = Work::new(device, self.memory_limit);
        count_operands(&work, x, y);
        let clock = work.clock();
        let (mut columns, mut transfers) = (Columns::new(&operands), Duration::ZERO);
        let done = esc.multiply(&work, &operands, |band| {
            let band = thinning.thin(&work, band)?;
            work.wait()?;
            let transfer = Instant::now();
            columns.check_fits(&band)?;
            columns.append(band.download(&Work::new(device, None))?);
            transfers += transfer.elapsed();
            if let Some(progress) = &self.progress {
                progress.tell(columns.count(), y.ncols as u64);
            }
            Ok(())
        })?;
        let c = columns.finish()?;
        let mut report = self.report(&work, &clock, &done, (c.nnz() as u64, thinning.dropped))?;
        report.total_ms -= transfers.as_secs_f64() * 1e3;
        Ok((M::from_cbc(c)?, report.with_floors(&operands, &done)))
    }

    /// C, the clock that was started when the kernels were there (the device idle or busy with what was asked before), what was done, entries
    /// dropped.
    fn on_device<'w, M: Matrix>(
        &self,
        work: &'w Work,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
    ) -> Result<(DeviceMatrix<M>, Clock<'w>, Done, u64)> {
        let (x, y) = in_column_order::<M>(&a.cbc, &b.cbc);
        let operands = self.operands(x, y)?;
        let (esc, mut thinning) =
            (OneShot::new(work.device(), &operands, self.method)?, self.thinning(work.device(), &operands)?);
        count_operands(work, x, y);
        let clock = work.clock();
        let mut bands = Vec::new();
        let done = esc.multiply(work, &operands, |band| {
            bands.push(thinning.thin(work, band)?);
            Ok(())
        })?;
        Ok((DeviceMatrix::new(join::join(work, &operands, bands)?), clock, done, thinning.dropped))
    }

    fn operands<'a, T: Element>(&self, a: &'a DeviceCbc<T>, b: &'a DeviceCbc<T>) -> Result<Operands<'a, T>> {
        if !a.device.same_as(&b.device) {
            return Err(Error::DeviceMismatch { a: a.device.info().name.clone(), b: b.device.info().name.clone() });
        }
        if a.ncols != b.nrows || a.shape.cols() != b.shape.rows() {
            return Err(Error::Dimensions { a: a.dimensions(), b: b.dimensions() });
        }
        let shape = a.shape.product(b.shape);
        let c_stride = self.alignment.map_or(Ok(shape.area()), |bytes| aligned_stride::<T>(shape, bytes))?;
        Ok(Operands { a, b, c_stride, consumer: self.drop_memory::<T>(a.device.info(), c_stride) })
    }

    fn report(&self, work: &Work, clock: &Clock<'_>, done: &Done, (c_nnz, dropped): (u64, u64)) -> Result<Report> {
        work.wait()?;
        let total_ms = clock.elapsed().as_secs_f64() * 1e3;
        let mut stages = work.stage_times(&STAGES)?;
        if self.threshold.is_some() {
            stages.extend(work.stage_times(&["drop"])?);
        }
        Ok(Report {
            method: self.method,
            bins: done.bins.clone(),
            products: done.products,
            c_nnz,
            dropped,
            longest_run: done.longest_run,
            bands: done.bands,
            peak_device_bytes: work.peak_bytes(),
            used_device_bytes: work.most_used_bytes(),
            stages,
            total_ms,
            kernels_ms: work.kernel_wait().as_secs_f64() * 1e3,
            launches: work.launches(),
            read_backs: work.read_backs(),
        })
    }
}

/// The arrays of row-major matrices are those of the transposes, and Cᵀ = BᵀAᵀ.
fn in_column_order<'a, M: Matrix>(
    a: &'a DeviceCbc<M::Element>,
    b: &'a DeviceCbc<M::Element>,
) -> (&'a DeviceCbc<M::Element>, &'a DeviceCbc<M::Element>) {
    if M::ROW_MAJOR { (b, a) } else { (a, b) }
}

fn count_operands<T: Element>(work: &Work, a: &DeviceCbc<T>, b: &DeviceCbc<T>) {
    work.count_operand(a.bytes());
    if !std::ptr::eq(a, b) {
        work.count_operand(b.bytes());
    }
}
