//! The blockwise expand-sort-compress product of Polok, Ila and Smrz (2015), on one page: six stages, two round trips.
//!
//! Stage by stage, what is passed on: products of each entry of B and segments (one per column of C); rows and payloads of all
//! products; the same, sorted; run ends per tile; the columns, run ends and values of C; its rows. A payload is a product's value for scalars and
//! the pair of its operands for blocks. Empty columns of A, B and C take no path of their own.
mod bands;
mod block_sums;
mod compression;
mod estimate;
mod expansion;
mod gather;
mod join;
mod segmented_sort;
mod setup;
mod tail_counts;
mod tuning;

use crate::{
    BlockShape, Element, Result,
    device::{Device, DeviceCbc, Work},
};
use bands::{Band, Bands, Limits};
use compression::Compression;
pub(crate) use compression::Operands;
pub use estimate::Estimate;
pub(crate) use estimate::estimate;
use expansion::Expansion;
use gather::Gather;
pub(crate) use join::join;
use segmented_sort::SortStage;
use setup::{Counted, Setup};
use tail_counts::TailCounts;
use tuning::Tuning;

/// The stages, in order, as the report names them.
pub(crate) const STAGES: [&str; 6] = ["setup", "expansion", "segmented_sort", "tail_counts", "compression", "gather"];

/// What a product was.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// Expansion size.
    pub products: u64,
    /// Products of the longest run.
    pub longest_run: u32,
    pub bands: usize,
}

/// The product, compiled: the kernels of the six stages for one pair of block shapes and one element type.
pub(crate) struct Esc<T: Element> {
    tuning: Tuning,
    setup: Setup,
    expansion: Expansion<T>,
    sort: SortStage<T>,
    tail_counts: TailCounts,
    compression: Compression<T>,
    gather: Gather,
}

impl<T: Element> Esc<T> {
    pub fn new(device: &Device, a: BlockShape, b: BlockShape) -> Result<Self> {
        Self::tuned(device, a, b, Tuning::new::<T>(device.info(), a, b))
    }

    fn tuned(device: &Device, a: BlockShape, b: BlockShape, tuning: Tuning) -> Result<Self> {
        Ok(Self {
            setup: Setup::new(device, &tuning)?,
            expansion: Expansion::new(device, &tuning, a, b)?,
            sort: SortStage::new(device, &tuning, a, b)?,
            tail_counts: TailCounts::new(device, &tuning)?,
            compression: Compression::new(device, &tuning, a, b)?,
            gather: Gather::new(device, &tuning)?,
            tuning,
        })
    }

    /// C = A·B, band after band; `place` takes the columns of C of each band, in order.
    pub fn multiply(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        mut place: impl FnMut(DeviceCbc<T>) -> Result<()>,
    ) -> Result<Done> {
        let mut counted = self.setup.run(work, operands.a, operands.b)?; // round trip 1
        let mut bands = Bands::new(operands.b.ncols, counted.sizes);
        let limits = || Limits::new(work, &self.tuning, operands);
        let mut done = Done { products: counted.sizes.products, ..Done::default() };
        while let Some(band) = bands.next(&limits(), || self.setup.column_products(work, &mut counted))? {
            let (columns, longest_run) = self.multiply_band(work, operands, &mut counted, &band)?;
            done.bands += 1;
            done.longest_run = done.longest_run.max(longest_run);
            place(columns)?;
        }
        Ok(done)
    }

    fn multiply_band(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        counted: &mut Counted,
        band: &Band,
    ) -> Result<(DeviceCbc<T>, u32)> {
        if band.sizes.products == 0 {
            return Ok((operands.empty_product(work, band.columns.len())?, 0));
        }
        let segments = self.setup.segments(work, operands.b, counted, band)?;
        let expanded = self.expansion.run(work, operands, &counted.entries, band)?;
        let sorted = self.sort.run(work, &segments, expanded)?;
        let tails = self.tail_counts.run(work, &sorted, &segments)?; // round trip 2
        let compressed = self.compression.run(work, operands, &sorted, &segments, &tails)?;
        Ok((self.gather.run(work, operands, &sorted.rows, compressed)?, tails.longest))
    }
}

#[cfg(test)]
mod tests;
