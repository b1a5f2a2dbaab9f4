//! A·B in one shot, in bands of columns or on a mask: the execution of a
//! [`Product`](super::Product) of two factors.
use super::{
    Counts, Method, Operands, Report,
    bands::HostColumns,
    dispatch::{self, Prepared},
    masked,
    plan::check_mask,
    terms::{BandConsumer, How},
};
use crate::{
    DevicePattern, Error, Result, Semiring,
    device::{Clock, Device, DeviceInfo, StageTime, Work, pool_bytes},
    element::ElementType,
    host::Progress,
    matrix::{AnyMatrix, MatrixKind, Threshold, aligned_stride},
    planned::prepared::same_device,
    primitives::drop_entries::DropMemory,
    resident::{DeviceCbc, DeviceView},
    tuning::MethodCosts,
};
use std::time::{Duration, Instant};

/// Options of a product that do not depend on its factors.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub method: Method,
    pub semiring: Semiring,
    pub memory_limit: Option<u64>,
    /// The largest number of columns that a band may have.
    pub band_columns: Option<usize>,
    pub alignment: Option<usize>,
    pub progress: Option<Progress>,
    pub threshold: Option<Threshold>,
    /// Whether the time of each bin is measured.
    pub explained: bool,
    /// Whether times of stages are left out of the report.
    pub untimed: bool,
    /// Costs by which methods are chosen, or `None` for the costs of the device.
    pub costs: Option<MethodCosts>,
}

/// A product C, with the counts and the clock of its computation for the report.
pub(super) struct Measured<'w, C> {
    pub c: C,
    /// A clock that started once the kernels were loaded. The device was then idle or busy with
    /// earlier work.
    pub clock: Clock<'w>,
    pub counts: Counts,
    /// Number of entries dropped.
    pub dropped: u64,
}

impl Options {
    /// Computes C = A·B and downloads it band by band. C need not fit the device.
    pub fn to_host(&self, a: DeviceView<'_>, b: DeviceView<'_>) -> Result<(AnyMatrix, Report)> {
        let (kind, (x, y)) = (a.type_of().times(b.type_of())?.kind, in_column_order(a, b));
        let (device, operands) = (&x.device, self.operands(x, y)?);
        if self.threshold.is_none() {
            HostColumns::check_product(&operands)?;
        }
        let mut columns = HostColumns::new(&operands);
        let report = self.arrays_in_bands(&operands, self.how(kind), &mut |band| {
            columns.check_fits(&band)?;
            columns.append(&band, &Work::new(device, None))
        })?;
        Ok((columns.finish(kind), report))
    }

    /// Computes C = A·B and gives it to `take` band by band, in order. C need fit neither the
    /// device nor the host.
    pub fn in_bands(
        &self,
        a: DeviceView<'_>,
        b: DeviceView<'_>,
        take: &mut dyn FnMut(DeviceCbc) -> Result<()>,
    ) -> Result<Report> {
        let (x, y) = in_column_order(a, b);
        self.arrays_in_bands(&self.operands(x, y)?, self.how(a.kind), take)
    }

    fn arrays_in_bands(
        &self,
        operands: &Operands<'_>,
        how: How,
        take: &mut dyn FnMut(DeviceCbc) -> Result<()>,
    ) -> Result<Report> {
        let (x, y) = (operands.a, operands.b);
        let work = self.reported(&x.device)?;
        let mut filter = self.drop_filter_of(&x.device, operands)?;
        let held = HeldOperands::count(&work, x, y)?;
        let (prepared, clock) = self.prepare(&work, operands, how).map_err(|error| held.explain(error))?;
        let (mut columns, mut entries, mut transfers) = (0, 0, Duration::ZERO);
        let multiplied = prepared.multiply(&work, operands, &mut |band| {
            let band = filter.keep(&work, band)?;
            work.wait()?;
            (columns, entries) = (columns + band.ncols as u64, entries + band.nnz() as u64);
            let transfer = Instant::now();
            take(band)?;
            transfers += transfer.elapsed();
            self.tell(columns, y.ncols as u64);
            Ok(())
        });
        let counts = multiplied.map_err(|error| held.explain(error))?;
        let ran = Measured { c: (), clock, counts, dropped: filter.dropped };
        let mut report = self.report(&work, &ran, entries, ran.counts.stages())?;
        report.total_ms -= transfers.as_secs_f64() * 1e3;
        Ok(report.with_floors(operands, &ran.counts))
    }

    /// The method and the algebra for the product of the stored arrays. If matrices are row-major,
    /// the arrays' factors are swapped.
    pub fn how(&self, kind: MatrixKind) -> How {
        let how = How { method: self.method, semiring: self.semiring };
        if kind.is_row_major() { how.mirrored() } else { how }
    }

    /// Makes the [`Work`] of a product with a report. The [`Work`] measures times unless the
    /// product is untimed.
    pub fn reported(&self, device: &Device) -> Result<Work> {
        match self.untimed {
            true => Ok(Work::new(device, self.memory_limit)),
            false => Work::timed(device, self.memory_limit),
        }
    }

    /// Prepares the host's product or the kernels of A·B, and starts a clock when they are loaded.
    pub fn prepare<'o, 'w: 'o>(
        &self,
        work: &'w Work,
        operands: &Operands<'o>,
        how: How,
    ) -> Result<(Prepared<'o>, Clock<'w>)> {
        if self.explained {
            work.in_turn();
        }
        dispatch::prepare(work, operands, how, self.costs)
    }

    /// Computes C = A·B at the places where `mask` has entries.
    pub fn on_mask<'w>(
        &self,
        work: &'w Work,
        (a, b): (DeviceView<'_>, DeviceView<'_>),
        mask: &DevicePattern,
    ) -> Result<Measured<'w, DeviceCbc>> {
        let ((x, y), semiring) = (in_column_order(a, b), self.how(a.kind).semiring);
        let stride = self.operands(x, y)?.c_stride;
        check_mask(mask, work.device(), (x.nrows, y.ncols), a.kind.is_row_major())?;
        let held = HeldOperands::count(work, x, y)?;
        work.count_operand(mask.device_bytes());
        let (c, clock, counts) = masked::multiply_masked(work, (x, y), &mask.arrays, semiring, stride)
            .map_err(|error| held.explain(error))?;
        self.tell(y.ncols as u64, y.ncols as u64);
        Ok(Measured { c, clock, counts, dropped: 0 })
    }

    /// Reports the number of complete columns of C.
    pub fn tell(&self, columns: u64, all: u64) {
        if let Some(progress) = &self.progress {
            progress.tell(columns, all);
        }
    }

    /// Checks that A and B are on one device and that their inner sizes agree.
    pub fn operands<'a>(&self, a: &'a DeviceCbc, b: &'a DeviceCbc) -> Result<Operands<'a>> {
        same_device(&a.device, &b.device)?;
        if a.ncols != b.nrows || a.shape.cols() != b.shape.rows() {
            return Err(Error::Dimensions { a: a.dimensions(), b: b.dimensions() });
        }
        let shape = a.shape.product(b.shape);
        let c_stride = self.alignment.map_or(Ok(shape.area()), |bytes| aligned_stride(a.element(), shape, bytes))?;
        Ok(Operands { a, b, c_stride, consumer: self.band_consumer(a.device.info(), a.element(), c_stride)? })
    }

    /// The limits that these options set for the bands of a product. Entries of C are `c_stride`
    /// elements apart.
    pub fn band_consumer(&self, info: &DeviceInfo, element: ElementType, c_stride: usize) -> Result<BandConsumer> {
        if self.band_columns == Some(0) {
            return Err(Error::Argument("a band has at least 1 column".into()));
        }
        let drop = self.threshold.map(|threshold| DropMemory::new(info, element, c_stride, threshold));
        Ok(BandConsumer { drop, most_columns: self.band_columns.map_or(u64::MAX, |columns| columns as u64) })
    }

    /// Waits for C and makes the report.
    pub fn report<C>(&self, work: &Work, ran: &Measured<'_, C>, c_nnz: u64, stages: &[&'static str]) -> Result<Report> {
        work.wait()?;
        let total_ms = ran.clock.elapsed().as_secs_f64() * 1e3;
        let mut stages: Vec<StageTime> = match stages {
            [] => work.all_stage_times()?,
            names => work.stage_times(names)?,
        };
        if self.threshold.is_some() && stages.iter().all(|stage| stage.name != "drop") {
            stages.extend(work.stage_times(&["drop"])?);
        }
        Ok(Report {
            method: self.method,
            bins: if self.explained { ran.counts.measured_bins(work)? } else { ran.counts.bins.clone() },
            products: ran.counts.products,
            c_nnz,
            dropped: ran.dropped,
            longest_run: ran.counts.longest_run,
            bands: ran.counts.bands,
            peak_device_bytes: work.most_used_bytes(),
            held_device_bytes: work.peak_bytes(),
            stages,
            total_ms,
            kernels_ms: work.kernel_wait().as_secs_f64() * 1e3,
            launches: work.launches(),
            read_backs: work.read_backs(),
        })
    }

    /// Makes the report of a product in bands of columns, with the lower bounds of each stage.
    pub fn report_of_bands(
        &self,
        work: &Work,
        ran: &Measured<'_, DeviceCbc>,
        a: DeviceView<'_>,
        b: DeviceView<'_>,
    ) -> Result<Report> {
        let (x, y) = in_column_order(a, b);
        let report = self.report(work, ran, ran.c.nnz() as u64, ran.counts.stages())?;
        Ok(report.with_floors(&self.operands(x, y)?, &ran.counts))
    }
}

/// The operands in the order in which their arrays are multiplied. The arrays of row-major matrices
/// store the transposes, so A and B are swapped: Cᵀ = BᵀAᵀ.
pub(super) fn in_column_order<'a>(a: DeviceView<'a>, b: DeviceView<'a>) -> (&'a DeviceCbc, &'a DeviceCbc) {
    if a.kind.is_row_major() { (b.cbc, a.cbc) } else { (a.cbc, b.cbc) }
}

/// The device memory of the operands of a product. C has to fit the remaining memory.
pub(super) struct HeldOperands {
    bytes: u64,
    /// Whether A and B are the same matrix.
    one: bool,
}

impl HeldOperands {
    /// Counts the operands as memory of the work.
    ///
    /// # Errors
    /// [`Error::Memory`] if the operands and the offsets of C do not fit the device together.
    pub fn count(work: &Work, a: &DeviceCbc, b: &DeviceCbc) -> Result<Self> {
        let one = std::ptr::eq(a, b);
        let held = Self { bytes: a.bytes() + if one { 0 } else { b.bytes() }, one };
        work.count_operand(held.bytes);
        let (needed, available) = (held.bytes + pool_bytes(4 * (b.ncols as u64 + 1)), work.limit_bytes());
        if needed > available {
            let what = format!("{} and the offsets of C", held.names());
            let place =
                format!("device memory within a limit of {available} bytes; {} {} bytes", held.take(), held.bytes);
            return Err(Error::Memory { what, needed, available, place });
        }
        Ok(held)
    }

    /// Adds the memory of the operands to an error of device memory.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Memory { what, needed, available, place } if place != "host" => {
                let place = format!("{place}; {} {} bytes", self.take(), self.bytes);
                Error::Memory { what, needed, available, place }
            }
            error => error,
        }
    }

    fn names(&self) -> &'static str {
        if self.one { "A" } else { "A, B" }
    }

    fn take(&self) -> &'static str {
        if self.one { "A takes" } else { "A and B take" }
    }
}
