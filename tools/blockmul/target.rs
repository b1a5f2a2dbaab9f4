//! What computes the product: an OpenCL device, or the reference on the CPU.
use crate::failure::Failure;
use crate::messages::Messages;
use blockmul::{Device, DeviceInfo, DeviceKind, Element, Error, Matrix, Method, Spgemm, matrix, reference};
use std::{num::NonZero, time::Instant};

/// `--device reference`, and what `auto` falls back to.
pub const REFERENCE: &str = "reference";

pub enum Target {
    Device(Device),
    Reference,
}

/// What a product took.
pub struct Run {
    pub method: &'static str,
    pub products: u64,
    /// Entries left out of C, where some were to be.
    pub dropped: Option<u64>,
    pub bands: usize,
    pub peak_device_bytes: u64,
    pub launches: u32,
    pub stages: Vec<(&'static str, Option<f64>)>,
    pub total_ms: f64,
}

impl Target {
    /// The device of `--device`, else of [`Device::VARIABLE`], else `auto`, for elements of type `T`; says on stderr what `auto` takes.
    pub fn choose<T: Element>(wanted: Option<&str>, method: Method, messages: &Messages) -> Result<Self, Failure> {
        let variable = std::env::var_os(Device::VARIABLE).unwrap_or_default();
        let variable = variable.to_string_lossy();
        let by_default = if variable.is_empty() { "auto" } else { &variable };
        match wanted.unwrap_or(by_default).to_lowercase().as_str() {
            REFERENCE if method != Method::Auto => Err(Failure::Usage(format!(
                "--method {} needs an OpenCL device; the reference has one way only",
                method.name()
            ))),
            REFERENCE => Ok(Self::Reference),
            "auto" => Self::auto::<T>(method, messages),
            _ => Ok(Self::Device(select(wanted)?)),
        }
    }

    fn auto<T: Element>(method: Method, messages: &Messages) -> Result<Self, Failure> {
        let devices = match Device::list() {
            Err(error @ Error::NoOpenCl { .. }) if method == Method::Auto => {
                messages.say(&format!("{error}\ndevice: the built-in reference, on the CPU"));
                return Ok(Self::Reference);
            }
            devices => devices?,
        };
        match best::<T>(&devices) {
            Some(info) => {
                messages.say(&format!("device: {} ({})", info.name, info.platform));
                Ok(Self::Device(Device::open(info)?))
            }
            // The error of a product on the first device says what it lacks.
            None if method != Method::Auto => Ok(Self::Device(Device::open(&devices[0])?)),
            None => {
                messages
                    .say(&format!("device: the built-in reference, on the CPU (no device here computes {})", T::NAME));
                messages.hint(&format!("--element f32 would run on {}", devices[0].name));
                Ok(Self::Reference)
            }
        }
    }

    /// Name, platform and driver for the report.
    pub fn describe(&self) -> (&str, &str, &str) {
        match self {
            Self::Device(device) => (&device.info().name, &device.info().platform, &device.info().driver),
            Self::Reference => (REFERENCE, "CPU", env!("CARGO_PKG_VERSION")),
        }
    }

    /// C = A·B from host to host, and what it took; C need not fit the device.
    pub fn multiply<M: Matrix>(&self, options: &Spgemm, a: &M, b: &M) -> Result<(M, Run), Failure> {
        let Self::Device(device) = self else { return by_reference(options, a, b) };
        let (c, report) = options.multiply_host(device, a, b)?;
        Ok((c, Run::on_device(options, &report)))
    }

    /// C = A·B `repeat` times after a warm-up, and what each took; `step` is told the number of each. Operands go to the device
    /// once, C stays there until the last.
    pub fn multiply_repeatedly<M: Matrix>(
        &self,
        options: &Spgemm,
        (a, b): (&M, &M),
        repeat: NonZero<u32>,
        step: impl Fn(u32),
    ) -> Result<(M, Vec<Run>), Failure> {
        let Self::Device(device) = self else { return repeatedly(repeat, step, || by_reference(options, a, b)) };
        let on_device = device.upload(a)?;
        let other = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
        let (c, runs) = repeatedly(repeat, step, || {
            let (c, report) = options.multiply_with_report(&on_device, other.as_ref().unwrap_or(&on_device))?;
            Ok((c, Run::on_device(options, &report)))
        })?;
        Ok((c.download()?, runs))
    }
}

impl Run {
    fn on_device(options: &Spgemm, report: &blockmul::Report) -> Self {
        Self {
            method: report.method.name(),
            products: report.products,
            dropped: options.threshold().map(|_| report.dropped),
            bands: report.bands,
            peak_device_bytes: report.peak_device_bytes,
            launches: report.launches,
            stages: report.stages.iter().map(|stage| (stage.name, stage.ms)).collect(),
            total_ms: report.total_ms,
        }
    }
}

/// A warm-up and `repeat` products, of which one at a time is kept: two may not fit.
fn repeatedly<C>(
    repeat: NonZero<u32>,
    step: impl Fn(u32),
    multiply: impl Fn() -> Result<(C, Run), Failure>,
) -> Result<(C, Vec<Run>), Failure> {
    step(0);
    let (mut c, _) = multiply()?;
    let mut runs = Vec::new();
    for number in 1..=repeat.get() {
        step(number);
        drop(c);
        let (again, run) = multiply()?;
        c = again;
        runs.push(run);
    }
    Ok((c, runs))
}

fn by_reference<M: Matrix>(options: &Spgemm, a: &M, b: &M) -> Result<(M, Run), Failure> {
    let start = Instant::now();
    let mut c = reference::multiply(a, b)?;
    let mut dropped = None;
    if let Some(threshold) = options.threshold() {
        let whole = c.as_cbc().pattern.nnz();
        c = matrix::drop_below(&c, threshold)?;
        dropped = Some((whole - c.as_cbc().pattern.nnz()) as u64);
    }
    let total_ms = start.elapsed().as_secs_f64() * 1e3;
    let products = reference::products(a, b);
    let (bands, peak_device_bytes, launches, stages) = (1, 0, 0, Vec::new());
    Ok((c, Run { method: REFERENCE, products, dropped, bands, peak_device_bytes, launches, stages, total_ms }))
}

/// The device of `--device`, else of [`Device::VARIABLE`], else any.
pub fn select(wanted: Option<&str>) -> blockmul::Result<Device> {
    wanted.map_or_else(Device::auto, Device::select)
}

/// A GPU, else a CPU, else whatever there is, that can compute with `T`.
fn best<T: Element>(devices: &[DeviceInfo]) -> Option<&DeviceInfo> {
    let rank = |info: &&DeviceInfo| match info.kind {
        DeviceKind::Gpu => 0,
        DeviceKind::Cpu => 1,
        _ => 2,
    };
    devices.iter().filter(|info| info.fp64 || T::NAME != f64::NAME).min_by_key(rank)
}
