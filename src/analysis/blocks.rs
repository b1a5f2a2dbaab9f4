//! Finds the block shapes that suit a matrix.
//!
//! The *fill* of a block shape is the fraction of entries among the elements of the stored blocks.
//! If blocks are cut into smaller blocks, some of the small blocks have no entry and are not
//! stored. So the fill of a shape is at most the fill of every shape whose sides divide its sides.
//! The blocks of a shape are counted only if all these smaller shapes are full enough.
use crate::{BlockShape, Pattern};
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;

/// The number and the fill of the blocks of one shape that cover the entries of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BlockFit {
    /// Rows of a block.
    pub rows: usize,
    /// Columns of a block.
    pub cols: usize,
    /// Number of blocks with an entry.
    pub blocks: u64,
    /// Number of entries divided by the number of elements of the blocks that have an entry, from 0
    /// to 1; 1 for an empty matrix.
    pub fill: f64,
    /// Number of bytes of the row indices and of the elements, in `f64`.
    pub bytes: u64,
}

impl BlockFit {
    /// The shape of a block.
    pub fn shape(&self) -> BlockShape {
        BlockShape::new(self.rows, self.cols).unwrap_or(BlockShape::SCALAR)
    }

    /// Number of elements of a block.
    pub fn area(&self) -> usize {
        self.rows * self.cols
    }
}

/// Least fill at which blocks can save memory. A scalar entry takes 12 bytes, 4 of them for its
/// index. A block takes 8 bytes for each element, which is 8 / fill for each entry. So blocks save
/// no memory if 8 / fill >= 12.
const WORTHWHILE: f64 = 8.0 / 12.0;

/// Counts the blocks of `shape`, or returns `None` if a side of the shape does not divide the side
/// of the matrix.
///
/// ```
/// use blockmul::extra::analysis::block_fit;
/// use blockmul::{BlockShape, Csc};
/// let a = Csc::from_triplets(4, 4, [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.0), (3, 3, 1.0)])?;
/// let fit = block_fit(a.pattern(), BlockShape::new(2, 2)?).unwrap();
/// assert_eq!((fit.blocks, fit.fill), (2, 0.5));
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn block_fit(pattern: &Pattern, shape: BlockShape) -> Option<BlockFit> {
    let (rows, cols) = (shape.rows(), shape.cols());
    if !pattern.nrows().is_multiple_of(rows) || !pattern.ncols().is_multiple_of(cols) {
        return None;
    }
    let blocks = if shape == BlockShape::SCALAR { pattern.nnz() as u64 } else { count_blocks(pattern, shape) };
    let elements = blocks * shape.area() as u64;
    let fill = if blocks == 0 { 1.0 } else { pattern.nnz() as f64 / elements as f64 };
    Some(BlockFit { rows, cols, blocks, fill, bytes: 4 * blocks + 8 * elements })
}

/// The shapes to consider, by area: 1x1, the square shapes that divide the matrix, and other shapes
/// for which all smaller shapes that divide them are more than two thirds full. No other shape can
/// take less memory than scalars.
pub fn block_fits(pattern: &Pattern) -> Vec<BlockFit> {
    let sides = |lines: usize| (1..=BlockShape::MAX_SIDE).filter(move |&side| lines.is_multiple_of(side));
    let shapes = sides(pattern.nrows()).flat_map(|rows| sides(pattern.ncols()).map(move |cols| (rows, cols)));
    // Shapes with fewer prime factors come first, so all shapes that divide a shape are in earlier
    // waves.
    let mut waves: Vec<Vec<(usize, usize)>> = Vec::new();
    for (rows, cols) in shapes {
        let wave = prime_factors(rows).len() + prime_factors(cols).len();
        waves.resize(waves.len().max(wave + 1), Vec::new());
        waves[wave].push((rows, cols));
    }
    let mut fits: Vec<BlockFit> = Vec::new();
    for wave in waves {
        let full = |rows, cols| fits.iter().any(|fit| (fit.rows, fit.cols) == (rows, cols) && fit.fill > WORTHWHILE);
        let worth = |&(rows, cols): &(usize, usize)| {
            prime_factors(rows).into_iter().all(|p| full(rows / p, cols))
                && prime_factors(cols).into_iter().all(|p| full(rows, cols / p))
        };
        let chosen: Vec<_> = wave.into_iter().filter(|&shape| shape.0 == shape.1 || worth(&shape)).collect();
        let fit = |(rows, cols)| BlockShape::new(rows, cols).ok().and_then(|shape| block_fit(pattern, shape));
        fits.extend(chosen.into_par_iter().filter_map(fit).collect::<Vec<_>>());
    }
    fits.sort_by_key(|fit| (fit.area(), fit.rows));
    fits
}

/// The shape that takes the fewest bytes. If two shapes take the same number of bytes, the smaller
/// shape is returned.
pub fn tightest(fits: &[BlockFit]) -> Option<&BlockFit> {
    fits.iter().min_by_key(|fit| (fit.bytes, fit.area()))
}

/// Prime factors with multiplicity, ascending.
fn prime_factors(mut number: usize) -> Vec<usize> {
    let (mut factors, mut p) = (Vec::new(), 2);
    while number > 1 {
        match number.is_multiple_of(p) {
            true => {
                factors.push(p);
                number /= p;
            }
            false => p += 1,
        }
    }
    factors
}

/// Counts the blocks with an entry. Block columns are counted in parallel.
fn count_blocks(pattern: &Pattern, shape: BlockShape) -> u64 {
    let block_cols = pattern.ncols() / shape.cols();
    // Each parallel part initialises marks for all block rows, so there are only about 4 parts for
    // each thread.
    let part = block_cols.div_ceil(4 * rayon::current_num_threads()).max(1);
    let parts = (0..block_cols.div_ceil(part)).into_par_iter();
    let columns = |number: usize| number * part..block_cols.min((number + 1) * part);
    // If there are more rows than entries, initialising marks would take most of the time.
    match pattern.nnz() < pattern.nrows() / shape.rows() {
        true => parts.map(|number| count_sorted(pattern, shape, columns(number))).sum(),
        false => parts.map(|number| count_marked(pattern, shape, columns(number))).sum(),
    }
}

/// The block row of each entry in a block column.
fn block_rows(pattern: &Pattern, shape: BlockShape, block_col: usize) -> impl Iterator<Item = u32> {
    let ends = [block_col, block_col + 1].map(|end| pattern.col_ptr()[end * shape.cols()] as usize);
    let rows = shape.rows() as u32;
    pattern.row_idx()[ends[0]..ends[1]].iter().map(move |row| row / rows)
}

/// Counts a block at its first entry and marks the block row with the number of the block column.
fn count_marked(pattern: &Pattern, shape: BlockShape, block_cols: Range<usize>) -> u64 {
    let mut seen = vec![u32::MAX; pattern.nrows() / shape.rows()];
    let mut count = 0;
    for block_col in block_cols {
        for row in block_rows(pattern, shape, block_col) {
            let mark = &mut seen[row as usize];
            count += u64::from(*mark != block_col as u32);
            *mark = block_col as u32;
        }
    }
    count
}

fn count_sorted(pattern: &Pattern, shape: BlockShape, block_cols: Range<usize>) -> u64 {
    let (mut rows, mut count) = (Vec::new(), 0);
    for block_col in block_cols {
        rows.clear();
        rows.extend(block_rows(pattern, shape, block_col));
        rows.sort_unstable();
        rows.dedup();
        count += rows.len() as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, Result};
    use proptest::prelude::*;

    fn shape(rows: usize, cols: usize) -> BlockShape {
        BlockShape::new(rows, cols).unwrap()
    }

    /// A matrix of `grid` x `grid` blocks of `shape`. The blocks at `places` are dense, and all
    /// others are empty.
    fn of_blocks(grid: usize, shape: BlockShape, places: &[(usize, usize)]) -> Result<Csc<f64>> {
        let block = nalgebra::DMatrix::from_element(shape.rows(), shape.cols(), 1.0);
        let blocks = places.iter().map(|&(row, col)| (row, col, block.clone()));
        Ok(crate::Cbc::from_triplets(grid, grid, shape, blocks)?.to_scalars())
    }

    #[test]
    fn the_blocks_a_matrix_is_made_of_are_the_tightest() -> Result<()> {
        for sides in [shape(1, 1), shape(3, 3), shape(6, 3), shape(2, 9), shape(1, 8), shape(32, 32)] {
            // No two blocks are neighbours, because they would form a larger block.
            let a = of_blocks(7, sides, &[(0, 0), (2, 1), (4, 4), (6, 5), (0, 6)])?;
            let fits = block_fits(a.pattern());
            let best = tightest(&fits).unwrap();
            assert_eq!((best.shape(), best.blocks, best.fill), (sides, 5, 1.0));
        }
        Ok(())
    }

    #[test]
    fn squares_are_always_listed_and_poor_rectangles_never() -> Result<()> {
        let a = Csc::from_triplets(12, 12, (0..12).map(|i| (i, i, 1.0)))?;
        let found: Vec<_> = block_fits(a.pattern()).iter().map(|fit| (fit.rows, fit.cols, fit.blocks)).collect();
        // Shapes such as 1x2 and 1x3 are counted because all shapes that divide them are full.
        // Larger shapes that are not squares are not counted.
        let squares = [(1, 1, 12), (2, 2, 6), (3, 3, 4), (4, 4, 3), (6, 6, 2), (12, 12, 1)];
        assert!(squares.iter().all(|square| found.contains(square)), "{found:?}");
        assert!(!found.contains(&(2, 4, 6)) && !found.contains(&(1, 4, 12)), "{found:?}");
        let empty = Csc::<f64>::from_triplets(0, 6, [])?;
        assert!(block_fits(empty.pattern()).iter().all(|fit| fit.blocks == 0 && fit.fill == 1.0));
        assert_eq!(block_fit(a.pattern(), shape(5, 1)), None);
        Ok(())
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_block_matrix_and_nothing_tighter_is_missed(
            // Fewer entries than rows, and more entries than rows.
            places in prop_oneof![
                prop::collection::btree_set((0usize..12, 0usize..24), 0..9),
                prop::collection::btree_set((0usize..12, 0usize..24), 9..200),
            ]
        ) {
            let a = Csc::from_triplets(12, 24, places.iter().map(|&(i, j)| (i, j, 1.0))).unwrap();
            let fits = block_fits(a.pattern());
            let mut least = u64::MAX;
            for rows in [1, 2, 3, 4, 6, 12] {
                for cols in [1, 2, 3, 4, 6, 8, 12, 24] {
                    let fit = block_fit(a.pattern(), shape(rows, cols)).unwrap();
                    prop_assert_eq!(fit.blocks, a.to_blocks(shape(rows, cols)).unwrap().nnz() as u64);
                    prop_assert!(fits.iter().all(|f| (f.rows, f.cols) != (rows, cols) || *f == fit));
                    least = least.min(fit.bytes);
                }
            }
            prop_assert_eq!(tightest(&fits).unwrap().bytes, least);
        }
    }
}
