//! What computes the product: an OpenCL device, or the reference on the CPU.
use crate::failure::Failure;
use crate::output::Messages;
use blockmul::{Device, DeviceInfo, DeviceKind, Element, Error, Matrix, Method, Spgemm, reference};
use std::time::Instant;

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
    pub bands: usize,
    pub peak_device_bytes: u64,
    pub stages: Vec<(&'static str, Option<f64>)>,
    pub total_ms: f64,
}

impl Target {
    /// The device `wanted` names, for elements of type `T`; says on stderr what `auto` takes.
    pub fn choose<T: Element>(wanted: &str, method: Method, messages: &Messages) -> Result<Self, Failure> {
        match wanted {
            REFERENCE if method != Method::Auto => Err(Failure::Usage(format!(
                "--method {} needs an OpenCL device; the reference has one way only",
                method.name()
            ))),
            REFERENCE => Ok(Self::Reference),
            "auto" => Self::auto::<T>(method, messages),
            name => Ok(Self::Device(Device::select(name)?)),
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

    /// C = A·B, and what it took.
    pub fn multiply<M: Matrix>(&self, options: &Spgemm, a: &M, b: &M) -> Result<(M, Run), Failure> {
        match self {
            Self::Device(device) => {
                let (c, report) = options.multiply_host(device, a, b)?;
                let run = Run {
                    method: report.method.name(),
                    products: report.products,
                    bands: report.bands,
                    peak_device_bytes: report.peak_device_bytes,
                    stages: report.stages.iter().map(|stage| (stage.name, stage.ms)).collect(),
                    total_ms: report.total_ms,
                };
                Ok((c, run))
            }
            Self::Reference => {
                let start = Instant::now();
                let c = reference::multiply(a, b)?;
                let total_ms = start.elapsed().as_secs_f64() * 1e3;
                let products = reference::products(a, b);
                let run =
                    Run { method: REFERENCE, products, bands: 1, peak_device_bytes: 0, stages: Vec::new(), total_ms };
                Ok((c, run))
            }
        }
    }
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
