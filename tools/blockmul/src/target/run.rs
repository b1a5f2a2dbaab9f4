//! Products that were computed: methods, times, launches, memory, and the device.
use blockmul::{
    device::StageTime,
    product::{Bin, Report},
};
use serde::Serialize;

/// A product that was computed.
#[derive(Default)]
pub struct Run {
    /// The requested method.
    pub method: &'static str,
    /// The methods that ran on a device.
    pub bins: Vec<Bin>,
    pub products: u64,
    /// Number of entries left out of C, if dropping was requested.
    pub dropped: Option<u64>,
    pub took: Took,
}

impl Run {
    /// A product on a device, without --drop.
    pub fn of(report: Report) -> Self {
        Self {
            method: report.method.name(),
            products: report.products,
            dropped: None,
            took: Took {
                bands: report.bands,
                peak_device_bytes: report.peak_device_bytes,
                held_device_bytes: report.held_device_bytes,
                launches: report.launches,
                stages: report.stages.iter().map(Stage::of).collect(),
                total_ms: report.total_ms,
                kernels_ms: report.kernels_ms,
            },
            bins: report.bins,
        }
    }
}

/// The times, launches and memory of a product.
#[derive(Default, Serialize)]
pub struct Took {
    pub bands: usize,
    pub peak_device_bytes: u64,
    pub held_device_bytes: u64,
    /// Number of kernels launched.
    pub launches: u32,
    pub stages: Vec<Stage>,
    pub total_ms: f64,
    /// Milliseconds spent waiting until kernels are compiled or loaded, which `total_ms` does not
    /// include.
    pub kernels_ms: f64,
}

/// A stage of a product, and its busy time.
#[derive(Serialize, Clone, Copy)]
pub struct Stage {
    pub name: &'static str,
    pub ms: Option<f64>,
    /// Whether the stage computed or enqueued anything.
    #[serde(skip)]
    pub ran: bool,
}

impl Stage {
    pub fn of(time: &StageTime) -> Self {
        // The host computes without OpenCL commands.
        Self { name: time.name, ms: time.ms, ran: time.commands > 0 || time.ms > Some(0.0) }
    }

    /// Whether the host computed a product with these stages.
    pub fn are_of_host(stages: &[Self]) -> bool {
        stages.iter().any(|stage| stage.name == "multiply")
    }
}

/// The device or the reference that computed a product.
#[derive(Serialize)]
pub struct DeviceName {
    pub name: String,
    pub platform: String,
    pub driver: String,
}
