//! Stage 2 of 6, expansion (Polok 2015, Algorithm 2, lines 15-38): the row, and the value or the pair of operands, of each product.
//! Kernels: `cl/product/esc/expansion.cl`.
use super::{
    Kind,
    setup::{BEntries, BandSegments, Sizes},
    sorted_expansion::SortedExpansion,
};
use crate::{
    Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    product::{
        bands::Band,
        tuning::{PayloadKind, TileTuning, Tuning},
    },
    resident::{InPattern, PatternArrays},
};

kernel! {
    struct ExpandValues<T: Element> = "expand_values" in "product/esc/expansion.cl" {
        a: InPattern,
        a_values: In<T>,
        b: InPattern,
        b_values: In<T>,
        b_prods: In<u64>,
        row: Out<u32>,
        value: Out<T::Arithmetic>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
    }
}

kernel! {
    struct ExpandPairs = "expand_pairs" in "product/esc/expansion.cl" {
        a: InPattern,
        a_source: In<u32>,
        b: InPattern,
        b_source: In<u32>,
        b_prods: In<u64>,
        row: Out<u32>,
        pair: Out<OperandPair>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
    }
}

pub(crate) struct Expansion<T: Element> {
    kernel: Expand<T>,
    tiles: TileTuning,
}

enum Expand<T: Element> {
    Values(Kernel<ExpandValues<'static, T>>),
    Pairs(Kernel<ExpandPairs<'static>>),
    Sorted(SortedExpansion<T>),
}

/// What travels with the rows through the sort.
pub(crate) enum Payload<T: Element> {
    /// The products themselves: for scalars.
    Values(Buffer<T::Arithmetic>),
    /// Their operands, multiplied at compression: for blocks.
    Pairs(Buffer<OperandPair>),
}

/// What is expanded: the patterns of A and B.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a, T> {
    pub a: &'a PatternArrays,
    pub b: &'a PatternArrays,
    /// What stands in the pairs for an entry of A, of B, where that is not its number: for a transpose, the entry it comes from.
    pub a_source: Option<&'a Buffer<u32>>,
    pub b_source: Option<&'a Buffer<u32>>,
    /// The values, where products are made at once.
    pub values: Option<(&'a Buffer<T>, &'a Buffer<T>)>,
}

/// The expansion of a band.
pub(crate) struct Expanded<T: Element> {
    pub rows: Buffer<u32>,
    pub payload: Payload<T>,
    /// Segment of the first product of each tile; one more, that of the last product.
    pub tile_segment: Buffer<u32>,
    /// Where short segments and the chunks of long ones are sorted: what those are merged by way of.
    pub between: Option<(Buffer<u32>, Payload<T>)>,
}

impl<T: Element> Expansion<T> {
    pub fn new(device: &Device, tuning: &Tuning, kind: Kind) -> Result<Self> {
        let options = kind.defined(Options::group_size(tuning.tiles.group_size)).define("TILE", tuning.tiles.products);
        let kernel = match tuning.payload {
            _ if !tuning.sort.serial => Expand::Sorted(SortedExpansion::new(device, tuning, kind)?),
            PayloadKind::Values => Expand::Values(Kernel::new(device, &options.element::<T>())?),
            PayloadKind::Pairs => Expand::Pairs(Kernel::new(device, &options)?),
        };
        Ok(Self { kernel, tiles: tuning.tiles })
    }

    /// Of a band, the products that it leaves unsorted, or sorted by chunks.
    pub fn leaves_to_merge(&self, sizes: Sizes) -> u64 {
        match self.kernel {
            Expand::Sorted(_) => sizes.in_chunks,
            _ => sizes.products,
        }
    }

    /// Expands a band of at least one product.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_, T>,
        entries: &BEntries,
        segments: &BandSegments,
        band: &Band,
    ) -> Result<Expanded<T>> {
        if let Expand::Sorted(expansion) = &self.kernel {
            return expansion.run(work, factors, entries, segments, band);
        }
        work.stage("expansion");
        let (a, b) = (factors.a, factors.b);
        let products = band.sizes.products as u32;
        let tiles = self.tiles.count(products);
        let grid = Grid::groups(tiles, self.tiles.group_size);
        let (mut rows, mut tile_segment) = (work.buffer(products as usize)?, work.buffer(tiles + 1)?);
        let payload = match (&self.kernel, factors.values) {
            (Expand::Values(kernel), Some((a_values, b_values))) => {
                let mut values = work.buffer(products as usize)?;
                let args = ExpandValues {
                    a,
                    a_values,
                    b,
                    b_values,
                    b_prods: &entries.prods,
                    row: &mut rows,
                    value: &mut values,
                    tile_segment: &mut tile_segment,
                    first_product: band.first_product,
                    products,
                    first_col: band.columns.start,
                    cols: band.columns.len() as u32,
                };
                kernel.launch(work, grid, args)?;
                Payload::Values(values)
            }
            (Expand::Pairs(kernel), _) => {
                let mut pairs = work.buffer(products as usize)?;
                let args = ExpandPairs {
                    a,
                    a_source: factors.a_source.unwrap_or(&a.row_idx),
                    b,
                    b_source: factors.b_source.unwrap_or(&b.row_idx),
                    b_prods: &entries.prods,
                    row: &mut rows,
                    pair: &mut pairs,
                    tile_segment: &mut tile_segment,
                    first_product: band.first_product,
                    products,
                    first_col: band.columns.start,
                    cols: band.columns.len() as u32,
                };
                kernel.launch(work, grid, args)?;
                Payload::Pairs(pairs)
            }
            _ => unreachable!("a plan keeps pairs, and what is sorted at once has returned"),
        };
        Ok(Expanded { rows, payload, tile_segment, between: None })
    }
}

#[cfg(test)]
mod tests;
