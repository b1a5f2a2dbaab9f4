//! Stage 2 of 6, expansion (Polok 2015, Algorithm 2, lines 15-38): the row, and the value or the pair of operands, of each product.
//! Kernels: `cl/esc/expansion.cl`.
use super::{
    Kind, Part, Tuning,
    bands::Band,
    setup::BEntries,
    tuning::{PayloadKind, TileTuning},
};
use crate::{
    Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, PatternArrays, Work, source},
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
type PairsSignature = (
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u32>,
    In<u64>,
    In<u32>,
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
}

impl<T: Element> Expansion<T> {
    pub fn new(device: &Device, tuning: &Tuning, kind: Kind) -> Result<Self> {
        let options = Options::group_size(tuning.tiles.group_size)
            .define("TILE", tuning.tiles.products)
            .define("FROM_END", u8::from(kind.part == Part::Lower))
            .define("A_TRANSPOSED", u8::from(kind.transposed.a))
            .define("B_TRANSPOSED", u8::from(kind.transposed.b));
        let expansion = source!("esc/expansion.cl");
        let kernel = match tuning.payload {
            PayloadKind::Values => {
                Expand::Values(device.kernel(expansion, &options.element::<T>(), "expand_values")?)
            }
            PayloadKind::Pairs => Expand::Pairs(device.kernel(expansion, &options, "expand_pairs")?),
        };
        Ok(Self { kernel, tiles: tuning.tiles })
    }

    /// Expands a band of at least one product.
    pub fn run(&self, work: &Work, factors: Factors<'_, T>, entries: &BEntries, band: &Band) -> Result<Expanded<T>> {
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
            (Expand::Values(_), None) => unreachable!("a plan keeps pairs"),
        };
        Ok(Expanded { rows, payload, tile_segment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape,
        device::test_device,
        esc::{
            setup::{Setup, Sizes},
            tests::{Case, edge_cases, tunings, with_segments},
        },
    };

    /// The row and the value of each product, and the segment of every sixteenth and of the last.
    fn model(case: &Case) -> (Vec<u32>, Vec<f64>, Vec<u32>) {
        let (a, b) = &case.host;
        let value = |pair: OperandPair| a.values()[pair.a as usize] * b.values()[pair.b as usize];
        let segments = case.products.iter().step_by(16).chain(case.products.last()).map(|&(segment, ..)| segment);
        let rows = case.products.iter().map(|&(_, row, _)| row).collect();
        (rows, case.products.iter().map(|&(.., pair)| value(pair)).collect(), segments.collect())
    }

    #[test]
    fn small_agrees_with_its_model_for_values_and_for_pairs() -> Result<()> {
        for case in edge_cases()? {
            for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
                let counted = Setup::new(&test_device(), &tuning)?.run(&case.work, &case.a, &case.b, Part::Full)?;
                let band = case.band(counted.sizes);
                let (rows, values, segments) = model(&case);
                for tuning in [tuning.clone(), tuning.keeping_pairs()] {
                    let stage = Expansion::new(&test_device(), &tuning, Kind::default())?;
                    let expanded = stage.run(&case.work, case.operands().factors(), &counted.entries, &band)?;
                    assert_eq!(expanded.rows.download(&case.work)?, rows);
                    assert_eq!(expanded.tile_segment.download(&case.work)?, segments);
                    match expanded.payload {
                        Payload::Values(got) => assert_eq!(got.download(&case.work)?, values),
                        Payload::Pairs(got) => {
                            let pairs: Vec<_> = case.products.iter().map(|&(.., pair)| pair).collect();
                            assert_eq!(got.download(&case.work)?, pairs);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The paper's lines 19-21 form exp_size * i in 32 bits, and divide by the number of threads, which may be 0.
    #[test]
    fn small_products_are_counted_beyond_32_bits() -> Result<()> {
        let case = with_segments(&[3, 0, 20, 9], 4)?;
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
            let mut entries =
                Setup::new(&test_device(), &tuning)?.run(&case.work, &case.a, &case.b, Part::Full)?.entries;
            // As if 2^33 products were expanded in bands before: the band begins there.
            let before = 1u64 << 33;
            let prods: Vec<u64> = entries.prods.download(&case.work)?.into_iter().map(|p| p + before).collect();
            entries.prods = case.work.upload(&prods)?;
            let sizes = Sizes { products: 32, ..Sizes::default() };
            let band = Band { first_product: before, ..case.band(sizes) };
            let stage = Expansion::new(&test_device(), &tuning, Kind::default())?;
            let expanded = stage.run(&case.work, case.operands().factors(), &entries, &band)?;
            assert_eq!(expanded.rows.download(&case.work)?, model(&case).0);
        }
        Ok(())
    }

    #[test]
    fn entries_of_very_different_weight_are_found() -> Result<()> {
        // A few huge columns of A among thousands of tiny and empty ones: where pure interpolation takes thousands of steps.
        let n = 3000;
        let length = |k: usize| match k % 1000 {
            999 => 2000,
            x if x % 3 == 0 => 0,
            _ => 1,
        };
        let a = crate::Csc::from_triplets(2000, n, (0..n).flat_map(|k| (0..length(k)).map(move |i| (i, k, 1.0))))?;
        let b = crate::Csc::from_triplets(n, 1, (0..n).map(|k| (k, 0, 1.0)))?;
        let case = Case::new(a, b)?;
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
            let counted = Setup::new(&test_device(), &tuning)?.run(&case.work, &case.a, &case.b, Part::Full)?;
            let stage = Expansion::new(&test_device(), &tuning, Kind::default())?;
            let expanded =
                stage.run(&case.work, case.operands().factors(), &counted.entries, &case.band(counted.sizes))?;
            assert!(expanded.rows.download(&case.work)? == model(&case).0);
        }
        Ok(())
    }
}
