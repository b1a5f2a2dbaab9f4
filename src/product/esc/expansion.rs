//! Stage 2 of 6, expansion (Polok 2015, Algorithm 2, lines 15-38): the row, and the value or the pair of operands, of each product.
//! Kernels: `cl/product/esc/expansion.cl`.
use super::{
    Kind,
    setup::{BEntries, BandSegments, Sizes},
    sorted_expansion::SortedExpansion,
};
use crate::{
    Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    product::{
        bands::Band,
        tuning::{PayloadKind, TileTuning, Tuning},
    },
    resident::PatternArrays,
};

type ValuesSignature<T, V> =
    (In<u32>, In<u32>, In<T>, In<u32>, In<u32>, In<T>, In<u64>, Out<u32>, Out<V>, Out<u32>, u64, u32, u32, u32);
type PairsSignature = (
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u64>,
    Out<u32>,
    Out<OperandPair>,
    Out<u32>,
    u64,
    u32,
    u32,
    u32,
);

pub(crate) struct Expansion<T: Element> {
    kernel: Expand<T>,
    tiles: TileTuning,
}

enum Expand<T: Element> {
    Values(Kernel<ValuesSignature<T, T::Arithmetic>>),
    Pairs(Kernel<PairsSignature>),
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
        let expansion = source!("product/esc/expansion.cl");
        let kernel = match tuning.payload {
            _ if !tuning.sort.serial => Expand::Sorted(SortedExpansion::new(device, tuning, kind)?),
            PayloadKind::Values => {
                Expand::Values(device.kernel(expansion, &options.element::<T>(), "expand_values")?)
            }
            PayloadKind::Pairs => Expand::Pairs(device.kernel(expansion, &options, "expand_pairs")?),
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
        let (start, first_col, cols) = (band.first_product, band.columns.start, band.columns.len() as u32);
        let payload = match (&self.kernel, factors.values) {
            (Expand::Values(kernel), Some((a_values, b_values))) => {
                let mut values = work.buffer(products as usize)?;
                kernel.launch(
                    work,
                    grid,
                    (
                        &a.col_ptr,
                        &a.row_idx,
                        a_values,
                        &b.col_ptr,
                        &b.row_idx,
                        b_values,
                        &entries.prods,
                        &mut rows,
                        &mut values,
                        &mut tile_segment,
                        start,
                        products,
                        first_col,
                        cols,
                    ),
                )?;
                Payload::Values(values)
            }
            (Expand::Pairs(kernel), _) => {
                let mut pairs = work.buffer(products as usize)?;
                kernel.launch(
                    work,
                    grid,
                    (
                        &a.col_ptr,
                        &a.row_idx,
                        factors.a_source.unwrap_or(&a.row_idx),
                        &b.col_ptr,
                        &b.row_idx,
                        factors.b_source.unwrap_or(&b.row_idx),
                        &entries.prods,
                        &mut rows,
                        &mut pairs,
                        &mut tile_segment,
                        start,
                        products,
                        first_col,
                        cols,
                    ),
                )?;
                Payload::Pairs(pairs)
            }
            _ => unreachable!("a plan keeps pairs, and what is sorted at once has returned"),
        };
        Ok(Expanded { rows, payload, tile_segment, between: None })
    }
}

#[cfg(test)]
mod tests;
