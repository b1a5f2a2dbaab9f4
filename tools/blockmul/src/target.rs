//! Targets that compute products: an OpenCL device, or the reference on the CPU.
mod groups;
mod run;

use crate::failure::Failure;
use crate::mask::Mask;
use crate::messages::Messages;
use crate::overflow::Extent;
use blockmul::{
    Device, DeviceMatrix, DevicePattern, Error, Method, Product, Semiring,
    device::{DeviceInfo, DeviceKind},
    element::ElementType,
    extra::host::Progress,
    matrix::{AnyMatrix, Threshold},
    product, reference,
};
pub use groups::{GroupsTask, multiply_groups, multiply_groups_repeatedly};
pub use run::{DeviceName, Run, Stage, Took};
use std::{num::NonZero, panic::resume_unwind, thread::ScopedJoinHandle, time::Instant};

type AnyDeviceMatrix = DeviceMatrix<AnyMatrix>;

/// The value of `--device` for the reference, which `auto` chooses if there is no device.
pub const REFERENCE: &str = "reference";

pub enum Target {
    Device(Device),
    Reference,
}

/// A target, and the messages about it.
pub struct Opened {
    target: Target,
    lines: Option<String>,
    hint: Option<String>,
}

impl From<Target> for Opened {
    fn from(target: Target) -> Self {
        Self { target, lines: None, hint: None }
    }
}

impl Opened {
    /// Prints the messages about the choice of the target.
    pub fn announce(self, messages: &Messages) -> Target {
        self.lines.iter().for_each(|text| messages.say_lines(text));
        self.hint.iter().for_each(|text| messages.hint(text));
        if let Target::Device(device) = &self.target {
            messages.show_compiling(device);
        }
        self.target
    }
}

/// A product to compute.
pub struct Task<'a> {
    pub a: &'a AnyMatrix,
    /// The factor B; the same reference as `a` if B is A.
    pub b: &'a AnyMatrix,
    /// The places of C to compute; `None` means all places.
    pub mask: Option<&'a Mask>,
    pub method: Method,
    pub semiring: Semiring,
    pub memory_limit: Option<u64>,
    /// Maximum number of columns of a band.
    pub band_columns: Option<usize>,
    /// Each block of C begins at a multiple of this many bytes.
    pub align: Option<usize>,
    pub threshold: Option<Threshold>,
    pub progress: Option<Progress>,
    /// Whether to measure the time of each bin.
    pub explain: bool,
}

impl Target {
    /// Chooses the device that `--device` names, else [`Device::ENVIRONMENT_VARIABLE`], else
    /// `auto`, for elements of this type. Prints the choice of `auto` on stderr.
    pub fn choose(
        wanted: Option<&str>,
        element: ElementType,
        method: Method,
        messages: &Messages,
    ) -> Result<Self, Failure> {
        Ok(Self::open(wanted, element, method)?.announce(messages))
    }

    /// Chooses as [`Target::choose`] does, but prints nothing until [`Opened::announce`]. The
    /// choice can be made on another thread.
    pub fn open(wanted: Option<&str>, element: ElementType, method: Method) -> Result<Opened, Failure> {
        match name(wanted).as_str() {
            REFERENCE if method != Method::Auto => Err(Failure::Usage(format!(
                "--method {} needs an OpenCL device; the reference has one way only",
                method.name()
            ))),
            REFERENCE => Ok(Self::Reference.into()),
            "auto" => Self::auto(element, method),
            _ => Ok(Self::Device(select(wanted)?).into()),
        }
    }

    fn auto(element: ElementType, method: Method) -> Result<Opened, Failure> {
        let reference = "device: the built-in reference, on the CPU";
        let devices = match Device::list() {
            Err(error @ Error::NoOpenCl { .. }) if method == Method::Auto => {
                return Ok(Opened { lines: Some(format!("{error}\n{reference}")), ..Self::Reference.into() });
            }
            devices => devices?,
        };
        match best(element, &devices) {
            Some(info) => {
                let lines = Some(format!("device: {} ({})", info.name, info.platform));
                Ok(Opened { lines, ..Self::Device(Device::open(info)?).into() })
            }
            // If no device is suitable, the first one is returned, and a product on it fails with
            // an error that says what the device lacks.
            None if method != Method::Auto => Ok(Self::Device(Device::open(&devices[0])?).into()),
            None => Ok(Opened {
                target: Self::Reference,
                lines: Some(format!("{reference} (no device here computes {element})")),
                hint: Some(format!("--element f32 would run on {}", devices[0].name)),
            }),
        }
    }

    /// Returns the name, the platform and the driver for the report.
    pub fn name(&self) -> DeviceName {
        let (name, platform, driver) = match self {
            Self::Device(device) => (&*device.info().name, &*device.info().platform, &*device.info().driver),
            Self::Reference => (REFERENCE, "CPU", env!("CARGO_PKG_VERSION")),
        };
        DeviceName { name: name.into(), platform: platform.into(), driver: driver.into() }
    }

    /// Computes C = A·B, with A, B and C on the host; if there is a mask, only on its places.
    /// Without a mask, C need not fit the device.
    pub fn multiply(&self, task: &Task<'_>) -> Result<(AnyMatrix, Run), Failure> {
        let Self::Device(device) = self else { return task.by_reference() };
        let operands = OnDevice::new(device, task)?;
        let (c, report) = operands.product().run_to_host()?;
        Ok((c, operands.run(report)))
    }

    /// Multiplies as [`Target::multiply`] does, but returns only the [`Extent`] of C. Without a
    /// mask C need not fit the host either: each band is dropped before the next one.
    pub fn multiply_and_drop(&self, task: &Task<'_>) -> Result<(Extent, Run), Failure> {
        let Self::Device(device) = self else {
            let (c, run) = task.by_reference()?;
            return Ok((Extent::of(&c), run));
        };
        let operands = OnDevice::new(device, task)?;
        let mut extent: Option<Extent> = None;
        let report = operands.product().run_in_bands(|band| {
            let band = Extent::of(&band.download()?);
            extent = Some(extent.map_or(band, |before| before.and(band)));
            Ok(())
        })?;
        let nothing = || Error::Contradiction("a product without a band".into());
        Ok((extent.ok_or_else(nothing)?, operands.run(report)))
    }

    /// Computes C = A·B `repeat` times after a warm-up, with the costs of each run. `step` is
    /// called with the number of each run. Operands are uploaded once, and C stays on the device
    /// until the last run has ended.
    pub fn multiply_repeatedly(
        &self,
        task: &Task<'_>,
        repeat: NonZero<u32>,
        step: impl Fn(u32),
    ) -> Result<(AnyMatrix, Vec<Run>), Failure> {
        let Self::Device(device) = self else { return repeatedly(repeat, step, || task.by_reference()) };
        let operands = OnDevice::new(device, task)?;
        let (c, runs) = repeatedly(repeat, step, || {
            let (c, report) = operands.product().run_with_report()?;
            Ok((c, operands.run(report)))
        })?;
        Ok((c.download()?, runs))
    }
}

/// A product, with its operands on a device.
struct OnDevice<'a> {
    task: &'a Task<'a>,
    a: AnyDeviceMatrix,
    /// The factor B, or `None` if B is A.
    b: Option<AnyDeviceMatrix>,
    mask: Option<DevicePattern>,
}

impl<'a> OnDevice<'a> {
    fn new(device: &Device, task: &'a Task<'a>) -> Result<Self, Failure> {
        let &Task { a, b, mask, .. } = task;
        Ok(Self {
            task,
            a: device.upload(a)?,
            b: if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) },
            mask: mask.map(|mask| device.upload(mask)).transpose()?.map(|mask| mask.pattern()),
        })
    }

    fn product(&self) -> Product<'_, AnyDeviceMatrix> {
        let task = self.task;
        let product = Product::of(&self.a, self.b.as_ref().unwrap_or(&self.a));
        let product = product.method(task.method).semiring(task.semiring);
        let product = task.memory_limit.into_iter().fold(product, Product::memory_limit);
        let product = task.band_columns.into_iter().fold(product, Product::band_columns);
        let product = task.align.into_iter().fold(product, Product::alignment);
        let product = task.threshold.into_iter().fold(product, Product::drop_below);
        let product = task.progress.iter().cloned().fold(product, Product::progress);
        let product = if task.explain { product.explained() } else { product };
        self.mask.iter().fold(product, Product::mask)
    }

    fn run(&self, mut report: product::Report) -> Run {
        if self.mask.is_some() {
            // A masked product skips some stages, such as the sort.
            report.stages.retain(|stage| stage.commands > 0);
        }
        Run { dropped: self.task.threshold.map(|_| report.dropped), ..Run::of(report) }
    }
}

impl Task<'_> {
    fn by_reference(&self) -> Result<(AnyMatrix, Run), Failure> {
        let (&Self { a, b, mask, .. }, start) = (self, Instant::now());
        let mut c = match mask {
            Some(mask) => reference::multiply_masked_over(self.semiring, a, b, mask)?,
            None => reference::multiply_over(self.semiring, a, b)?,
        };
        let mut dropped = None;
        if let Some(threshold) = self.threshold {
            let whole = c.nnz();
            c = c.drop_below(threshold)?;
            dropped = Some((whole - c.nnz()) as u64);
        }
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        let products = match mask {
            Some(mask) => reference::products_masked(a, b, mask)?,
            None => reference::products(a, b),
        };
        let took = Took { bands: 1, total_ms, ..Took::default() };
        Ok((c, Run { method: REFERENCE, bins: Vec::new(), products, dropped, took }))
    }
}

/// Runs a warm-up and `repeat` products. Only one product is kept at a time, because two may not
/// fit. Only the warm-up waits until kernels are compiled. The report of each run contains the time
/// of this wait.
fn repeatedly<C>(
    repeat: NonZero<u32>,
    step: impl Fn(u32),
    multiply: impl Fn() -> Result<(C, Run), Failure>,
) -> Result<(C, Vec<Run>), Failure> {
    step(0);
    let (mut c, first) = multiply()?;
    let mut runs = Vec::new();
    for number in 1..=repeat.get() {
        step(number);
        drop(c);
        let (again, mut run) = multiply()?;
        c = again;
        run.took.kernels_ms += first.took.kernels_ms;
        runs.push(run);
    }
    Ok((c, runs))
}

/// Returns the result of a thread. If the thread panicked, the process has already ended.
pub fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Opens the device that `--device` names, else [`Device::ENVIRONMENT_VARIABLE`], else any device.
pub fn select(wanted: Option<&str>) -> blockmul::Result<Device> {
    wanted.map_or_else(Device::auto, Device::select)
}

/// Opens the device that is named, as [`select`] does; if none is named, the best one that can
/// compute with elements of this type.
pub fn select_for(element: ElementType, wanted: Option<&str>) -> blockmul::Result<Device> {
    if name(wanted) != "auto" {
        return select(wanted);
    }
    let devices = Device::list()?;
    // The error of the first device says what it lacks.
    Device::open(best(element, &devices).unwrap_or(&devices[0]))
}

/// The name that `--device` gives, else [`Device::ENVIRONMENT_VARIABLE`], else `auto`. The name is
/// in lower case.
fn name(wanted: Option<&str>) -> String {
    let variable = std::env::var_os(Device::ENVIRONMENT_VARIABLE).unwrap_or_default();
    let variable = variable.to_string_lossy();
    let by_default = if variable.is_empty() { "auto" } else { &variable };
    wanted.unwrap_or(by_default).to_lowercase()
}

/// The best device that can compute with elements of this type: a GPU, else a CPU, else any other.
fn best(element: ElementType, devices: &[DeviceInfo]) -> Option<&DeviceInfo> {
    let rank = |info: &&DeviceInfo| match info.kind {
        DeviceKind::Gpu => 0,
        DeviceKind::Cpu => 1,
        _ => 2,
    };
    devices.iter().filter(|info| info.fp64 || element != ElementType::F64).min_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_double_precision_is_chosen_for_other_types_only() {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into())).unwrap();
        let of = |index, kind, fp64| {
            let mut info = device.info().clone();
            (info.index, info.kind, info.fp64) = (index, kind, fp64);
            info
        };
        let devices = [of(0, DeviceKind::Cpu, true), of(1, DeviceKind::Gpu, false)];
        let chosen = |element| best(element, &devices).map(|info| info.index);
        assert_eq!(ElementType::ALL.iter().filter(|&&element| chosen(element) == Some(0)).count(), 1);
        assert_eq!((chosen(ElementType::F64), chosen(ElementType::F32)), (Some(0), Some(1)));
        assert!(best(ElementType::F64, &devices[1..]).is_none());
    }
}
