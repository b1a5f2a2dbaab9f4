//! Wall-clock time without the time spent waiting for kernels. Kernels are compiled in the first
//! run on a machine and loaded in later runs.
use crate::Device;
use std::time::Instant;

/// A wall clock, started by [`Clock::start`].
pub struct Clock<'d> {
    device: &'d Device,
    start: Instant,
    waited: u64,
}

impl<'d> Clock<'d> {
    /// Starts a clock for work on `device`.
    pub fn start(device: &'d Device) -> Self {
        Self { device, start: Instant::now(), waited: device.counters().kernel_wait_ns }
    }

    /// Milliseconds since the start, without [`Clock::kernels_ms`].
    pub fn ms(&self) -> f64 {
        (self.start.elapsed().as_secs_f64() * 1e3 - self.kernels_ms()).max(0.0)
    }

    /// Milliseconds spent waiting for kernels.
    pub fn kernels_ms(&self) -> f64 {
        (self.device.counters().kernel_wait_ns - self.waited) as f64 / 1e6
    }
}
