//! What a product took: [`Report`].
use super::{Bin, Counts, FloorSizes, Method, Operands};
use crate::{Element, device::StageTime};

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
    /// Entries (blocks) left out of it: see [`Product::drop_below`](super::Product::drop_below).
    pub dropped: u64,
    /// Products that sum to one entry (block) of C, at most.
    pub longest_run: u32,
    /// Bands of columns the product was cut into.
    pub bands: usize,
    /// Most bytes of device memory held from the driver at once: what was in use, and what the
    /// device's pool kept for later meanwhile. Never above [`Product::memory_limit`](super::Product::memory_limit).
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
    pub(super) fn with_floors<T: Element>(mut self, operands: &Operands<'_, T>, counts: &Counts) -> Self {
        let floors = FloorSizes::new(operands, self.products, counts.merged, self.c_nnz + self.dropped).floors();
        for (stage, floor) in self.stages.iter_mut().zip(floors) {
            (stage.bytes, stage.flops) = (Some(floor.bytes), Some(floor.flops));
        }
        self
    }
}
