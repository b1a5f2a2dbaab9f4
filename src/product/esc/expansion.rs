//! Expansion (Polok 2015, Algorithm 2, lines 15-38). Expansion writes the row of each product, and
//! its value or its pair of operands. Kernel: `cl/product/esc/expansion.cl`.
use super::analysis::BandSegments;
use super::{Columns, Products};
use crate::{
    Result,
    device::{Device, Grid, In, Kernel, Options, Out, Payload, Work, arguments, kernel},
    element::WordType,
    primitives::segmented_sort::SegmentedSort,
    product::{
        terms::{Band, InOperands, Part, Spec},
        tuning::{TileTuning, Tuning},
    },
};

arguments! {
    /// The arrays to which products are written, and the columns of the band.
    pub(super) struct InExpanded {
        row: Out<u32>,
        payload: Out<Payload>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
    }
}

impl<'a> InExpanded<'a> {
    pub fn of(band: &Band, Products { rows: row, payload, tile_segment }: &'a mut Products) -> Self {
        let (products, cols) = (band.sizes.products as u32, band.columns.len() as u32);
        let (first_product, first_col) = (band.first_product, band.columns.start);
        Self { row, payload, tile_segment, first_product, products, first_col, cols }
    }
}

kernel! {
    struct Expand = "expand" in "product/terms/payload.cl", "product/esc/expansion.cl" {
        factors: InOperands<'static>,
        b_prods: In<u64>,
        expanded: InExpanded<'static>,
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
        let (rows, tile_segment) = (work.buffer(products as usize)?, work.buffer(tiles + 1)?);
        let mut made = Products { rows, payload: work.buffer_of(self.payload, products as usize)?, tile_segment };
        let args = Expand {
            factors: factors.into(),
            b_prods: &task.analysis.prods,
            expanded: InExpanded::of(band, &mut made),
            from_end: u32::from(self.part == Part::Lower),
        };
        self.expand.launch(work, Grid::groups(tiles, self.tiles.group_size), args)?;
        Ok(made)
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
