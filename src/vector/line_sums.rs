//! A sum for each scalar row or column of a matrix: of its elements times a vector's, or of their
//! squares. Kernels: `cl/vector/line_sums.cl`.
//!
//! The terms of a sum are added in ascending place. A line is cut every [`RUN_PIECE`] entries
//! (blocks) from its start, and the pieces are added left to right. That is the order of a product
//! with a matrix of one column.
//!
//! [`RUN_PIECE`]: crate::primitives::segmented_reduce::RUN_PIECE
use super::lines::{Index, LineTuning, Lines, Side, entries_ahead};
use crate::{
    BlockShape, Element, Result, Semiring,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Scalar, Scratch, Teams, Work, kernel},
    element::Piece,
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

kernel! {
    struct SumLines<T: Element, V: Element> = "sum_lines" in "ptx.cl", "vector/line_sums.cl" {
        line_ptr: In<u32>,
        tile_line: In<u32>,
        order: In<u32>,
        piece: In<Piece>,
        other: In<u32>,
        source: In<u32>,
        values: In<T>,
        x: In<V>,
        arrived: InOut<u32>,
        y: InOut<V>,
        pieces: u32,
        parts: u32,
        stride: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

/// The terms of the sums.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Terms {
    /// Elements times those of a vector, for each scalar line, in a semiring.
    Products(Semiring),
    /// Squares, for each scalar line. The result is the root of the sum.
    Squares,
    /// Squares, for each line of blocks. The result is the root of the sum.
    BlockSquares,
}

/// The values of a matrix of blocks, and the elements from one block to the next.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a, T: Element> {
    pub values: &'a Buffer<T>,
    pub stride: u32,
}

impl<'a, T: Element> From<&'a DeviceCbc<T>> for Stored<'a, T> {
    fn from(a: &'a DeviceCbc<T>) -> Self {
        Self { values: &a.values, stride: a.stride as u32 }
    }
}

/// Sums of a matrix of `T` times vectors of `V`.
pub(crate) struct LineSums<T: Element, V: Element = T> {
    lines: Lines,
    /// Number of sums of a line.
    width: usize,
    kernel: Kernel<SumLines<'static, T, V>>,
    /// How many pieces of each line that is cut have their sums, and these sums as words.
    arrived: Scratch<u32>,
    group_size: usize,
}

impl<T: Element, V: Element> LineSums<T, V> {
    /// Prepares sums over the rows or the columns of `pattern`, with blocks of `shape`.
    pub fn new(
        device: &Device,
        pattern: &Arc<PatternArrays>,
        shape: BlockShape,
        rows: bool,
        terms: Terms,
    ) -> Result<Self> {
        let index = |work: &Work| Index::new(work, pattern, rows);
        let side = if rows { Side::Rows } else { Side::Columns };
        Self::tuned(device, index, shape, side, terms, LineTuning::new(device.info(), shape))
    }

    /// As [`LineSums::new`], for lines whose index is known.
    pub fn over(device: &Device, index: Index, shape: BlockShape, terms: Terms) -> Result<Self> {
        let side = index.side();
        Self::tuned(device, |_| Ok(index), shape, side, terms, LineTuning::new(device.info(), shape))
    }

    fn tuned(
        device: &Device,
        index: impl FnOnce(&Work) -> Result<Index>,
        shape: BlockShape,
        side: Side,
        terms: Terms,
        tuning: LineTuning,
    ) -> Result<Self> {
        device.require::<V>()?;
        let width = match (terms, side) {
            (Terms::BlockSquares, _) => 1,
            (_, Side::Columns) => shape.cols(),
            (_, Side::Rows | Side::Flagged) => shape.rows(),
        };
        let terms_of_sum = shape.area() / width;
        let options = Options::group_size(tuning.group_size);
        let options = match terms {
            Terms::Products(semiring) => options.element_in::<V>(semiring).value_in::<T>(semiring),
            Terms::Squares | Terms::BlockSquares => options.element::<V>().value::<T>(),
        }
        .define("ELEMENT_IS_DOUBLE", u8::from(V::NAME == "f64"))
        .define("ROWS", shape.rows())
        .define("COLS", shape.cols())
        .define("TILE", tuning.tile)
        .define("PIECE", RUN_PIECE)
        .define("HELD", tuning.held)
        .define("AHEAD", tuning.ahead)
        .define("TOGETHER", entries_ahead(tuning.together, terms_of_sum))
        .define("ACROSS", side.across())
        .define("NORMS", u8::from(!matches!(terms, Terms::Products(_))))
        .define("WHOLE_BLOCKS", u8::from(matches!(terms, Terms::BlockSquares)));
        super::ask(device)?;
        let work = Work::new(device, None);
        let lines = Lines::new(&work, index(&work)?, tuning)?;
        let options = options.define("ORDERED", u8::from(lines.order.len() > 0));
        let kernel = Kernel::new(device, &Teams::options_of(device.info(), options))?;
        let words = size_of::<V::Arithmetic>().div_ceil(size_of::<u32>());
        let arrived = Scratch::reserve_zeroed(&work, lines.shares.parts * (1 + width * words))?;
        Ok(Self { kernel, arrived, group_size: tuning.group_size, lines, width })
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.lines.len() * self.width
    }

    /// y = alpha·sums + beta·y, or the roots of the sums of squares, for which x is not read. The
    /// caller has checked that A is on the pattern, and x and y are as long as its sides.
    pub fn run<'a>(
        &self,
        work: &Work,
        a: impl Into<Stored<'a, T>>,
        x: &Buffer<V>,
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
    ) -> Result<()> {
        let Self { lines, group_size, .. } = self;
        let (pattern, source) = (lines.index.pattern(), lines.index.source());
        let (line_ptr, other, Stored { values, stride }) = (&pattern.col_ptr, &pattern.row_idx, a.into());
        let mut arrived = self.arrived.take(work)?;
        let shares = &lines.shares;
        let (tile_line, order, piece) = (&shares.tile_line, &lines.order, &shares.pieces);
        let arrived = &mut *arrived;
        let (pieces, parts) = (piece.len() as u32, shares.parts as u32);
        let args = SumLines {
            line_ptr,
            tile_line,
            order,
            piece,
            other,
            source,
            values,
            x,
            arrived,
            y,
            pieces,
            parts,
            stride,
            alpha,
            beta,
        };
        self.kernel.launch(work, Grid::groups(piece.len() + shares.tiles(), *group_size), args)
    }

    /// Bytes of device memory held beside the pattern, size classes included.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + self.arrived.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cbc, Csc, Matrix, device::test_device, generate::Random, reference};
    use nalgebra::DMatrix;

    /// There are fewer items than sums of a line, as many, or more; lines are in tiles, or all in
    /// pieces. Items load one element or entry at once, or several.
    const TUNINGS: [LineTuning; 6] = [
        tuning(1, 16, 32, [1, 1]),
        tuning(2, 0, 1, [1, 4]),
        tuning(4, 8, 16, [2, 1]),
        tuning(16, 512, 1024, [4, 8]),
        tuning(64, 3, 7, [2, 2]),
        tuning(8, 40, 80, [8, 8]),
    ];

    const fn tuning(group_size: usize, tile: usize, held: usize, [ahead, together]: [usize; 2]) -> LineTuning {
        LineTuning { group_size, tile, held, ahead, together }
    }

    /// A long row and a long column among short and empty ones.
    fn arrow(n: usize, shape: BlockShape) -> Result<Cbc<f32>> {
        let mut random = Random::new(1);
        let block = |random: &mut Random| {
            DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| (2.0 * random.unit() - 1.0) as f32)
        };
        let long = (0..n).map(|k| (1, k)).chain((0..n).filter(|&k| k != 1).map(|k| (k, 2)));
        let short = (0..n).step_by(5).map(|k| (k, k)).filter(|&(i, j)| i != 1 && j != 2);
        Cbc::from_triplets(n, n, shape, long.chain(short).map(|(i, j)| (i, j, block(&mut random))))
    }

    #[test]
    fn small_sums_have_the_bits_of_the_reference_under_every_tuning() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        // A few entries more than a piece.
        for (n, (r, c)) in [(1030, (1, 1)), (1030, (3, 2))] {
            let host = arrow(n, BlockShape::new(r, c)?)?;
            let a = DeviceCbc::upload(&work, host.as_cbc())?;
            for tuning in TUNINGS {
                for rows in [false, true] {
                    let (x, mut want) = if rows { (n * c, vec![9.0; n * r]) } else { (n * r, vec![9.0; n * c]) };
                    let x: Vec<f32> = (0..x).map(|i| (i % 97) as f32 * 0.31 - 15.0).collect();
                    let (dx, mut y) = (work.upload(&x)?, work.upload(&want)?);
                    let sums = LineSums::<f32>::tuned(
                        &device,
                        |work| Index::new(work, &a.pattern, rows),
                        a.shape,
                        if rows { Side::Rows } else { Side::Columns },
                        Terms::Products(Semiring::PlusTimes),
                        tuning,
                    )?;
                    // The second time with what the first has left of arrivals.
                    let mut first = work.upload(&want)?;
                    sums.run(&work, &a, &dx, Scaling { alpha: 0.7, beta: -1.3 }, &mut first)?;
                    sums.run(&work, &a, &dx, Scaling { alpha: 0.7, beta: -1.3 }, &mut y)?;
                    match rows {
                        true => reference::multiply_vector(0.7, &host, &x, -1.3, &mut want)?,
                        false => reference::multiply_vector_transposed(0.7, &host, &x, -1.3, &mut want)?,
                    }
                    let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&y.download(&work)?), bits(&want), "{n} of {r}x{c}, rows {rows}, {tuning:?}");
                    assert_eq!(bits(&first.download(&work)?), bits(&want), "at first: rows {rows}, {tuning:?}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn sums_in_min_plus_are_shortest_paths() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        // The edge from node k to node k + 1 has length k + 1, one from the first to the last 100.
        let steps = (0..4).map(|k| (k + 1, k, k as f64 + 1.0));
        let host = Csc::from_triplets(5, 5, steps.chain([(4, 0, 100.0)]))?;
        let a = DeviceCbc::upload(&work, host.as_cbc())?;
        // Lines in tiles, and in pieces.
        for tuning in [tuning(4, 8, 16, [1, 1]), tuning(2, 0, 1, [4, 4]), tuning(4, 1, 9, [4, 4])] {
            let terms = Terms::Products(Semiring::MinPlus);
            let sums = LineSums::<f64>::tuned(
                &device,
                |work| Index::new(work, &a.pattern, true),
                a.shape,
                Side::Rows,
                terms,
                tuning,
            )?;
            let far = f64::INFINITY;
            let mut lengths = vec![0.0, far, far, far, far];
            // Paths of one edge, then of up to two, and so on. No edge ends at the first node: its
            // sum is EMPTY.
            for want in [
                [0.0, 1.0, far, far, 100.0],
                [0.0, 1.0, 3.0, far, 100.0],
                [0.0, 1.0, 3.0, 6.0, 100.0],
                [0.0, 1.0, 3.0, 6.0, 10.0],
            ] {
                let (x, mut y) = (work.upload(&lengths)?, work.upload(&lengths)?);
                sums.run(&work, &a, &x, Scaling::new(1.0, 1.0), &mut y)?;
                lengths = y.download(&work)?;
                assert_eq!(lengths, want, "{tuning:?}");
            }
            let (x, mut y) = (work.upload(&lengths)?, work.upload(&[7.0; 5])?);
            sums.run(&work, &a, &x, Scaling::plain(), &mut y)?;
            assert_eq!(y.download(&work)?, [far, 1.0, 3.0, 6.0, 10.0], "{tuning:?}");
        }
        Ok(())
    }
}
