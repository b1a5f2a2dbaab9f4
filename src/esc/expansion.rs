//! Stage 2 of 6, expansion (Polok 2015, Algorithm 2, lines 15-38): the row, and the value or the pair of operands, of each product.
//! Kernels: `cl/esc/expansion.cl`.
use super::{Operands, Tuning, bands::Band, setup::BEntries, tuning::TileTuning};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
};

type ValuesSignature<T, V> = (
    In<u32>,
    In<u32>,
    In<T>,
    In<u32>,
    In<u32>,
    In<T>,
    In<u64>,
    In<u32>,
    Out<u32>,
    Out<V>,
    Out<u32>,
    u64,
    u32,
    u32,
    u32,
);
type PairsSignature =
    (In<u32>, In<u32>, In<u32>, In<u32>, In<u64>, In<u32>, Out<u32>, Out<OperandPair>, Out<u32>, u64, u32, u32, u32);

pub(crate) struct Expansion<T: Element> {
    kernel: Expand<T>,
    tiles: TileTuning,
}

enum Expand<T: Element> {
    Values(Kernel<ValuesSignature<T, T::Arithmetic>>),
    Pairs(Kernel<PairsSignature>),
}

/// What travels with the rows through the sort.
pub(crate) enum Payload<T: Element> {
    /// The products themselves: for scalars.
    Values(Buffer<T::Arithmetic>),
    /// Their operands, multiplied at compression: for blocks.
    Pairs(Buffer<OperandPair>),
}

/// The expansion of a band.
pub(crate) struct Expanded<T: Element> {
    pub rows: Buffer<u32>,
    pub payload: Payload<T>,
    /// Segment of the first product of each tile; one more, that of the last product.
    pub tile_segment: Buffer<u32>,
}

/// Whether products are of scalars, whose values are cheaper to carry than their operands.
pub(crate) fn scalar(a: BlockShape, b: BlockShape) -> bool {
    a == BlockShape::SCALAR && b == BlockShape::SCALAR
}

impl<T: Element> Expansion<T> {
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape) -> Result<Self> {
        let options = Options::group_size(tuning.tiles.group_size).define("TILE", tuning.tiles.products);
        let expansion = source!("esc/expansion.cl");
        let kernel = match scalar(a, b) {
            true => Expand::Values(device.kernel(expansion, &options.element::<T>(), "expand_values")?),
            false => Expand::Pairs(device.kernel(expansion, &options, "expand_pairs")?),
        };
        Ok(Self { kernel, tiles: tuning.tiles })
    }

    /// Expands a band of at least one product.
    pub fn run(&self, work: &Work, operands: &Operands<'_, T>, entries: &BEntries, band: &Band) -> Result<Expanded<T>> {
        work.stage("expansion");
        let (a, b) = (operands.a, operands.b);
        let products = band.sizes.products as u32;
        let tiles = self.tiles.count(products);
        let grid = Grid::groups(tiles, self.tiles.group_size);
        let (mut rows, mut tile_segment) = (work.buffer(products as usize)?, work.buffer(tiles + 1)?);
        let (start, first_col, cols) = (band.first_product, band.columns.start, band.columns.len() as u32);
        let payload = match &self.kernel {
            Expand::Values(kernel) => {
                let mut values = work.buffer(products as usize)?;
                kernel.launch(
                    work,
                    grid,
                    (
                        &a.col_ptr,
                        &a.row_idx,
                        &a.values,
                        &b.col_ptr,
                        &b.row_idx,
                        &b.values,
                        &entries.prods,
                        &entries.cols,
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
            Expand::Pairs(kernel) => {
                let mut pairs = work.buffer(products as usize)?;
                kernel.launch(
                    work,
                    grid,
                    (
                        &a.col_ptr,
                        &a.row_idx,
                        &b.col_ptr,
                        &b.row_idx,
                        &entries.prods,
                        &entries.cols,
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
        };
        Ok(Expanded { rows, payload, tile_segment })
    }
}
