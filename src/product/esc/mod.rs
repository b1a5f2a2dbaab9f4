//! The blockwise expand-sort-compress product of Polok, Ila and Smrz (2015), on one page: six stages, two round trips.
//!
//! Stage by stage, what is passed on: products of each entry of B and segments (one per column of C); rows and payloads of all
//! products; the same, sorted; run ends per tile; the columns, run ends and values of C; its rows. A payload is a product's value for scalars and
//! the pair of its operands for blocks. Empty columns of A, B and C take no path of their own.
mod compression;
pub(super) mod expansion;
pub(super) mod gather;
mod segmented_sort;
pub(super) mod setup;
mod sorted_expansion;
mod tail_counts;

use super::{
    bands::{Band, Bands},
    blocks::Transposed,
    limits::{EntryMemory, Limits},
    tuning::Tuning,
};
use crate::{
    BlockShape, Element, Result,
    device::{Device, Options, Work},
    resident::DeviceCbc,
};
use compression::Compression;
pub(crate) use compression::Operands;
use expansion::{Expansion, Factors, Payload};
use gather::{Gather, Gathered};
use segmented_sort::SortStage;
use setup::{Counted, Setup};
use tail_counts::TailCounts;

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
    /// Products that the sort merges after the expansion.
    pub merged: u64,
}

/// What of C is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Part {
    /// All of it.
    #[default]
    Full,
    /// Entries on and below the diagonal.
    Lower,
    /// Entries on and above the diagonal.
    Upper,
}

/// What kernels are compiled for beside shapes and element type; A·B in full unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    pub part: Part,
    /// Of the operands that are stored transposed the pairs hold what [`Factors::a_source`] says.
    pub transposed: Transposed,
    /// Bits that hold the number of rows of C.
    pub row_bits: u32,
}

impl Kind {
    /// What the expansion is compiled with.
    fn defined(self, options: Options) -> Options {
        options
            .define("FROM_END", u8::from(self.part == Part::Lower))
            .define("A_TRANSPOSED", u8::from(self.transposed.a))
            .define("B_TRANSPOSED", u8::from(self.transposed.b))
    }
}

/// Bits that hold a number of rows.
pub(super) fn row_bits(rows: usize) -> u32 {
    usize::BITS - rows.leading_zeros()
}

/// The product, compiled: the kernels of the six stages for one pair of block shapes and one element type.
pub(crate) struct Esc<T: Element> {
    pub(super) tuning: Tuning,
    setup: Setup,
    expansion: Expansion<T>,
    sort: SortStage<T>,
    tail_counts: TailCounts,
    compression: Compression<T>,
    gather: Gather,
}

impl<T: Element> Esc<T> {
    /// For operands of the shapes, strides and number of rows of these.
    pub fn new(device: &Device, operands: &Operands<'_, T>) -> Result<Self> {
        let (a, b) = (operands.a.shape, operands.b.shape);
        let tuning = Tuning::new(device.info(), a, b).with_strides(operands.strides());
        let kind = Kind { row_bits: row_bits(operands.a.nrows), ..Kind::default() };
        Self::tuned(device, a, b, tuning, kind)
    }

    pub(super) fn tuned(device: &Device, a: BlockShape, b: BlockShape, tuning: Tuning, kind: Kind) -> Result<Self> {
        Ok(Self {
            setup: Setup::new(device, &tuning, kind.part)?,
            expansion: Expansion::new(device, &tuning, kind)?,
            sort: SortStage::new(device, &tuning)?,
            tail_counts: TailCounts::new(device, &tuning)?,
            compression: Compression::new(device, &tuning, a, b, kind)?,
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
        let area = operands.a.shape.product(operands.b.shape).area();
        let entry_bytes = operands.c_stride * size_of::<T>();
        let entries = EntryMemory::new::<T>(&self.tuning, operands.a.nrows, entry_bytes, area);
        let entries = EntryMemory { consumer: operands.consumer, ..entries };
        self.in_bands(work, operands.factors(), entries, |counted, band| {
            if band.sizes.products == 0 {
                return place(operands.empty_product(work, band.columns.len())?).map(|()| 0);
            }
            let (payload, gathered, longest) = self.find_runs(work, operands.factors(), counted, band)?;
            let values = self.compression.sums(work, operands, &payload, &gathered)?;
            drop(payload);
            let (col_ptr, row_idx) = gathered.into_pattern();
            place(operands.product(col_ptr, row_idx, values))?;
            Ok(longest)
        })
    }

    /// Stages 2 to 6 but for the sums: the sorted payloads of a band, its runs, and the longest of
    /// them.
    pub(super) fn find_runs(
        &self,
        work: &Work,
        factors: Factors<'_, T>,
        counted: &mut Counted,
        band: &Band,
    ) -> Result<(Payload<T>, Gathered, u32)> {
        let segments = self.setup.segments(work, factors.b, counted, band)?;
        let expanded = self.expansion.run(work, factors, &counted.entries, &segments, band)?;
        let sorted = self.sort.run(work, &segments, expanded)?;
        let tails = self.tail_counts.run(work, &sorted, &segments)?; // round trip 2
        let longest = tails.longest;
        let gathered = self.gather.run(work, &sorted.rows, &segments, tails)?;
        Ok((sorted.payload, gathered, longest))
    }

    /// Stage 1, and `multiply` for each band, which tells its longest run.
    pub(super) fn in_bands(
        &self,
        work: &Work,
        factors: Factors<'_, T>,
        entries: EntryMemory,
        mut multiply: impl FnMut(&mut Counted, &Band) -> Result<u32>,
    ) -> Result<Done> {
        let mut counted = self.setup.run(work, factors.a, factors.b)?; // round trip 1
        let mut bands = Bands::new(factors.b.ncols, counted.sizes);
        let limits = || Limits::now(work, &self.tuning, entries);
        let mut done = Done { products: counted.sizes.products, ..Done::default() };
        while let Some(band) = bands.next(limits, || self.setup.column_products(work, &mut counted))? {
            let (number, columns, products) = (done.bands, band.columns.len(), band.sizes.products);
            let free_bytes = work.limit().saturating_sub(work.used_bytes());
            tracing::debug!(target: "blockmul::esc", number, columns, products, free_bytes, "band");
            let longest = multiply(&mut counted, &band).map_err(|error| band.explain(error))?;
            done.longest_run = done.longest_run.max(longest);
            done.bands += 1;
            done.merged += self.expansion.leaves_to_merge(band.sizes);
        }
        let Done { products, bands, longest_run, .. } = done;
        tracing::debug!(target: "blockmul::esc", products, bands, longest_run, peak_bytes = work.peak_bytes(), "product");
        Ok(done)
    }
}

#[cfg(test)]
pub(super) mod tests;
