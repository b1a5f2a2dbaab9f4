//! A sum for each scalar row or column of a matrix: of its elements times a vector's, or of their
//! squares. Kernels: `cl/vector/line_sums.cl`, behind `line_terms.cl` and `line_pieces.cl`.
//!
//! The terms of a sum are added in ascending place. A line is cut every [`RUN_PIECE`] entries
//! (blocks) from its start, and the pieces are added left to right. That is the order of a product
//! with a matrix of one column.
//!
//! [`RUN_PIECE`]: crate::primitives::segmented_reduce::RUN_PIECE
use super::lines::{Index, LineTuning, Lines, STRETCHES, Side, entries_ahead};
use crate::{
    BlockShape, Element, Result, Semiring,
    device::{
        Buffer, Device, DeviceInfo, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Scratch, Teams, Work, kernel,
    },
    element::Piece,
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

kernel! {
    struct SumLines<T: Element, V: Element> = "sum_lines" in "ptx.cl", "once.cl", "vector/parts.cl", "vector/terms.cl", "vector/guesses.cl", "vector/line_terms.cl", "vector/line_pieces.cl", "vector/line_sums.cl" {
        line_ptr: In<u32>,
        task: In<Piece>,
        other: In<u32>,
        source: Maybe<u32>,
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

/// Elements of a line of several pieces that an item loads at once, at most: they take registers.
const MOST_AHEAD: usize = 8;

/// Entries that an item loads for each round of a guessed sum of blocks. With one `pose6_100k`
/// takes 27.4 us on an H200, with two 24.9, with three 30.8.
const ROUND_ENTRIES: usize = 2;

/// Sums of a matrix of `T` times vectors of `V`.
pub(crate) struct LineSums<T: Element, V: Element = T> {
    lines: Lines,
    /// Number of sums of a line.
    width: usize,
    kernel: Kernel<SumLines<'static, T, V>>,
    /// How many pieces of each line that is cut have their sums, and these sums as words.
    arrived: Scratch<u32>,
    group_size: usize,
    /// Groups of a piece: one, or one for each sum.
    splits: usize,
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
        Self::tuned(device, index, (shape, false), side, terms, LineTuning::new(device.info(), shape))
    }

    /// As [`LineSums::new`], for products of lines whose index is known, with values that are
    /// packed or not.
    pub fn over(device: &Device, index: Index, shape: BlockShape, semiring: Semiring, packed: bool) -> Result<Self> {
        let (side, info) = (index.side(), device.info());
        let tuning = match packed && side == Side::Columns {
            true => Self::of_packed(info, shape),
            false => LineTuning::new(info, shape),
        };
        let pattern = index.pattern();
        let tuning = match shape {
            BlockShape::SCALAR => tuning.of(info, pattern.nnz() + pattern.ncols),
            _ if Self::sums_are_wide(shape) => tuning.of_blocks(info, shape, [pattern.ncols, pattern.nnz()]),
            _ => tuning,
        };
        Self::tuned(device, |_| Ok(index), (shape, packed), side, Terms::Products(semiring), tuning)
    }

    /// For packed values. Items load pairs of elements, of 4 bytes each at least.
    fn of_packed(info: &DeviceInfo, shape: BlockShape) -> LineTuning {
        match T::NAME != "f16" && V::NAME != "f16" {
            true => LineTuning::packed(info, shape),
            false => LineTuning::new(info, shape),
        }
    }

    /// Whether a block's terms of a sum are more than an item loads at once. Tiles with a sum for
    /// each item took an H200 up to 28 % longer for blocks of 4x4 in `f32`, up to 60 % less for
    /// larger ones.
    fn sums_are_wide(shape: BlockShape) -> bool {
        shape.rows() * size_of::<T>() > 16
    }

    /// Entries of a line of packed blocks that an item loads by itself, at least, if there are
    /// enough of them; `None` if groups load lines together, see
    /// [`lines::longest_of_item`](super::lines::longest_of_item).
    pub fn longest_of_item(info: &DeviceInfo, shape: BlockShape) -> Option<usize> {
        let tuning = Self::of_packed(info, shape);
        (tuning.direct > 0 && Self::sums_are_wide(shape)).then_some(tuning.longest)
    }

    fn tuned(
        device: &Device,
        index: impl FnOnce(&Work) -> Result<Index>,
        (shape, packed): (BlockShape, bool),
        side: Side,
        terms: Terms,
        tuning: LineTuning,
    ) -> Result<Self> {
        device.require(V::TYPE)?;
        let width = match (terms, side) {
            (Terms::BlockSquares, _) => 1,
            (_, Side::Columns) => shape.cols(),
            (_, Side::Rows | Side::Flagged) => shape.rows(),
        };
        let terms_of_sum = shape.area() / width;
        // The comparison of patterns is the first step of an execution.
        PatternArrays::ask(device)?;
        let work = Work::new(device, None);
        let lines = Lines::new(&work, index(&work)?, tuning)?;
        let pieces = lines.pieces;
        let (group_size, least) = if pieces > 0 { tuning.skewed } else { (tuning.group_size, tuning.ahead) };
        // The items of a group load a line of several pieces at once.
        let ahead = match pieces > 0 && tuning.whole > RUN_PIECE {
            true => tuning.whole.div_ceil(group_size).clamp(least, MOST_AHEAD.max(least)),
            false => least,
        };
        let split = width > 1 && group_size > 1 && pieces > 0 && pieces * width <= tuning.apart;
        // In `f64` pieces in such rounds gained 2 to 5 % on an H200 and lost 3 to 4 % on an H100.
        let has_rounds = split && tuning.direct > 0 && size_of::<V::Arithmetic>() == 4;
        let guessed = match width {
            1 if pieces > 0 => tuning.guessed_by(group_size),
            _ if has_rounds => tuning.guessed_in_rounds(group_size),
            _ => 0,
        };
        let held = match guessed {
            1.. if has_rounds => (ROUND_ENTRIES * group_size).div_ceil(width),
            _ => tuning.held,
        };
        let options = Options::group_size(group_size);
        let options = match terms {
            Terms::Products(semiring) => options.element_in::<V>(semiring).value_in(T::TYPE, semiring),
            Terms::Squares | Terms::BlockSquares => options.element::<V>().value(T::TYPE),
        }
        .define("ELEMENT_IS_DOUBLE", u8::from(V::NAME == "f64"))
        .define("ROWS", shape.rows())
        .define("COLS", shape.cols())
        // Items that load lines by themselves take tiles of any size: one kernel for all.
        .define("TILE", if tuning.direct > 0 { 0 } else { tuning.tile })
        .define("PIECE", RUN_PIECE)
        .define("HELD", held)
        .define("AHEAD", ahead)
        .define("LEAST", least)
        .define("AT_ONCE", tuning.together)
        .define("GUESSED", guessed)
        .define("ROUND_ENTRIES", ROUND_ENTRIES)
        .define("STRETCHES", STRETCHES)
        .define("TOGETHER", entries_ahead(tuning.together, terms_of_sum))
        .define("ACROSS", side.across())
        // With 8 elements ahead such loads took 34 us on `rmat18_e8`, not 22.
        .define("STREAMED", u8::from(shape == BlockShape::SCALAR && pieces > 0))
        .define("STRIDE", if packed { shape.area().to_string() } else { "stride".into() })
        .define("DIRECT", tuning.direct)
        .define("LONGEST", tuning.longest)
        .define("VALUE_PAIR", format!("{}2", T::CL_NAME))
        .define("ELEMENT_PAIR", format!("{}2", V::CL_NAME))
        .define("SPLIT", u8::from(split))
        .define("NORMS", u8::from(!matches!(terms, Terms::Products(_))))
        .define("WHOLE_BLOCKS", u8::from(matches!(terms, Terms::BlockSquares)));
        let kernel = Kernel::new(device, &Teams::options_of(device.info(), options))?;
        let words = size_of::<V::Arithmetic>().div_ceil(size_of::<u32>());
        let arrived = Scratch::reserve_zeroed(&work, lines.parts * (1 + width * words))?;
        let splits = if split { width } else { 1 };
        Ok(Self { kernel, arrived, group_size, lines, width, splits })
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
        let Self { lines, group_size, splits, .. } = self;
        let (pattern, source) = (lines.index.pattern(), lines.index.source());
        let (line_ptr, other, Stored { values, stride }) = (&pattern.col_ptr, &pattern.row_idx, a.into());
        let mut arrived = self.arrived.take(work)?;
        let (arrived, task) = (&mut *arrived, &lines.tasks);
        let (pieces, parts) = (lines.pieces as u32, lines.parts as u32);
        let args =
            SumLines { line_ptr, task, other, source, values, x, arrived, y, pieces, parts, stride, alpha, beta };
        self.kernel.launch(work, Grid::groups(task.len() + lines.pieces * (splits - 1), *group_size), args)
    }

    /// Bytes of device memory held beside the pattern, size classes included.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + self.arrived.bytes()
    }
}

#[cfg(test)]
mod tests;
