//! Expansion (Polok 2015, Algorithm 2, lines 15-38). Expansion writes the row of each product, and
//! its value or its pair of operands. Kernel: `cl/product/esc/expansion.cl`.
use super::analysis::BandSegments;
use super::{Columns, Products};
use crate::{
    Result,
    device::{Device, Grid, In, Kernel, Options, Out, Payload, Work, kernel},
    element::WordType,
    primitives::segmented_sort::SegmentedSort,
    product::{
        terms::{InOperands, Part, Spec},
        tuning::{TileTuning, Tuning},
    },
};

kernel! {
    struct Expand = "expand" in "product/terms/payload.cl", "product/esc/expansion.cl" {
        factors: InOperands<'static>,
        b_prods: In<u64>,
        row: Out<u32>,
        payload: Out<Payload>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
        from_end: u32,
    }
}

/// Expansion and segmented sort in global memory: all products are written, and then sorted.
pub(crate) struct InGlobalMemory {
    expand: Kernel<Expand<'static>>,
    sort: SegmentedSort,
    payload: WordType,
    tiles: TileTuning,
    part: Part,
}

impl InGlobalMemory {
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let options = tuning
            .payload
            .define(Options::group_size(tuning.tiles.group_size), spec)
            .define("TILE", tuning.tiles.products);
        let payload = tuning.payload.word(spec.element);
        let sort = SegmentedSort::new(device, tuning.sort, payload)?;
        Ok(Self { expand: Kernel::new(device, &options)?, sort, payload, tiles: tuning.tiles, part: spec.part })
    }

    /// Expands columns that have at least one product.
    pub fn expand(&self, work: &Work, task: &Columns<'_>) -> Result<Products> {
        work.stage("expansion");
        let (factors, band) = (task.factors, task.band);
        let products = band.sizes.products as u32;
        let tiles = self.tiles.count(products);
        let (mut rows, mut tile_segment) = (work.buffer(products as usize)?, work.buffer(tiles + 1)?);
        let mut payload = work.buffer_of(self.payload, products as usize)?;
        let args = Expand {
            factors: factors.into(),
            b_prods: &task.analysis.prods,
            row: &mut rows,
            payload: &mut payload,
            tile_segment: &mut tile_segment,
            first_product: band.first_product,
            products,
            first_col: band.columns.start,
            cols: band.columns.len() as u32,
            from_end: u32::from(self.part == Part::Lower),
        };
        self.expand.launch(work, Grid::groups(tiles, self.tiles.group_size), args)?;
        Ok(Products { rows, payload, tile_segment })
    }

    pub fn sort(&self, work: &Work, segments: &BandSegments, expanded: Products) -> Result<Products> {
        work.stage("segmented_sort");
        let Products { rows, payload, tile_segment } = expanded;
        let (rows, payload) = self.sort.run(work, segments.for_sort(), rows, payload)?;
        Ok(Products { rows, payload, tile_segment })
    }
}

#[cfg(test)]
mod tests;
