//! [`Report`]: time, memory and commands of a product.
use super::{Bin, Counts, FloorSizes, Method, Operands, terms::Pipeline};
use crate::{
    Result,
    device::{StageTime, Work},
};

/// Time, memory and commands of a product.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The method that was requested.
    pub method: Method,
    /// The columns of C that each method computed together, their products and times.
    pub bins: Vec<Bin>,
    /// Products of entries (blocks): the expansion size.
    pub products: u64,
    /// Entries (blocks) of C.
    pub c_nnz: u64,
    /// Entries (blocks) dropped from C: see [`Product::drop_below`](super::Product::drop_below).
    pub dropped: u64,
    /// Most products that sum to one entry (block) of C, or `None` if a method ran that does not
    /// count them, such as a method of scalars.
    pub longest_run: Option<u32>,
    /// Bands of columns into which the product was cut.
    pub bands: usize,
    /// Most bytes of device memory in use at once, including operands, rounded up to the pool's
    /// size classes. The number never exceeds
    /// [`Estimate::peak_device_bytes`](super::Estimate::peak_device_bytes).
    pub peak_device_bytes: u64,
    /// Most bytes held from the driver at once: the memory in use, and what the device's pool kept
    /// for later use. The number never exceeds
    /// [`Product::memory_limit`](super::Product::memory_limit).
    pub held_device_bytes: u64,
    /// Device time of each stage, and lower bounds of the bytes it moves and the operations it
    /// computes. Kernels that overlap on several queues count in full: the time of a stage is busy
    /// time, and the times of all stages together may exceed `total_ms`. Measuring the times of
    /// stages takes time too: see [`Product::untimed`](super::Product::untimed).
    pub stages: Vec<StageTime>,
    /// Wall-clock milliseconds from operands on the device to C complete on the device. Transfers
    /// and the loading of kernels are not counted.
    pub total_ms: f64,
    /// Milliseconds spent waiting for kernels to be compiled, or loaded from the cache of kernels.
    pub kernels_ms: f64,
    /// Kernels launched.
    pub launches: u32,
    /// Blocking reads from the device.
    pub read_backs: u32,
}

impl Report {
    /// Adds the lower bounds of each stage of A·B.
    pub(super) fn with_floors(mut self, operands: &Operands<'_>, counts: &Counts) -> Self {
        let sizes = FloorSizes::new(operands, self.products, counts.merged, self.c_nnz + self.dropped);
        let direct = counts.bins.iter().find(|bin| bin.method == Method::Direct);
        let floors: &[_] = match counts.pipeline {
            Pipeline::Esc => &sizes.floors(),
            Pipeline::Adaptive => &sizes.adaptive_floors(direct),
            Pipeline::Host => &sizes.host_floors(),
            Pipeline::Ranges(way) => &sizes.range_floors(direct, way),
            // No lower bounds are known for a part of C.
            Pipeline::Masked | Pipeline::Planned => &[],
        };
        for (stage, floor) in self.stages.iter_mut().zip(floors) {
            (stage.bytes, stage.flops) = (Some(floor.bytes), Some(floor.flops));
        }
        self
    }
}

impl Counts {
    /// The bins with the busy time of their commands in `work`. If commands compute several bins,
    /// their time is divided among the bins in proportion to their products. A product by ESC, on
    /// the host or on a mask has only one time for all its bins.
    pub fn measured_bins(&self, work: &Work) -> Result<Vec<Bin>> {
        let mut bins = self.bins.clone();
        let Some(times) = work.bin_times()? else { return Ok(bins) };
        if matches!(self.pipeline, Pipeline::Esc | Pipeline::Host | Pipeline::Masked) {
            if let [bin] = &mut bins[..] {
                bin.measured_ms = Some(times.values().sum());
            }
            return Ok(bins);
        }
        bins.iter_mut().for_each(|bin| bin.measured_ms = Some(0.0));
        let numbers: Vec<u64> = match self.pipeline {
            // A plan has one bin for each method.
            Pipeline::Planned => bins.iter().map(|bin| bin.method.number()).collect(),
            _ => (0..bins.len() as u64).collect(),
        };
        for (bits, ms) in times {
            let counts = |number: usize| bits >> numbers[number] & 1 == 1;
            let products = (0..bins.len()).filter(|&bin| counts(bin)).map(|bin| bins[bin].products).sum::<u64>();
            for (_, bin) in bins.iter_mut().enumerate().filter(|(number, _)| counts(*number)) {
                let part = ms * bin.products as f64 / products.max(1) as f64;
                bin.measured_ms = bin.measured_ms.map(|ms| ms + part);
            }
        }
        Ok(bins)
    }
}
