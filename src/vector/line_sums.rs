//! A sum for each scalar row or column of a matrix. The terms of a sum are the line's elements
//! times elements of a vector, or the squares of the line's elements. Kernels:
//! `cl/vector/line_sums.cl`, preceded by `line_terms.cl` and `line_pieces.cl`.
//!
//! The terms of a sum are added in ascending order of their places. A line is cut every
//! [`RUN_PIECE`] entries (blocks) from its start, and the sums of the pieces are added left to
//! right. A product with a matrix of one column has the same order.
//!
//! [`RUN_PIECE`]: crate::primitives::segmented_reduce::RUN_PIECE
use super::{
    InOutScaled, ScaledInto,
    lines::{Index, LineTuning, Lines, STRETCHES, Side, entries_ahead},
};
use crate::{
    BlockShape, Result, Semiring,
    device::{
        Buffer, Device, DeviceInfo, Elem, Grid, In, InOut, Kernel, Maybe, Options, Scratch, Teams, Value, Work, kernel,
    },
    element::{ElementType, Piece, Scaling},
    primitives::segmented_reduce::RUN_PIECE,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

kernel! {
    struct SumLines = "sum_lines" in "ptx.cl", "once.cl", "vector/parts.cl", "vector/terms.cl", "vector/guesses.cl", "vector/line_terms.cl", "vector/line_pieces.cl", "vector/line_sums.cl" {
        line_ptr: In<u32>,
        task: In<Piece>,
        other: In<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        arrived: InOut<u32>,
        y: InOutScaled,
        pieces: u32,
        parts: u32,
        stride: u32,
    }
}

/// The terms that are added up in each line of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Terms {
    /// Elements times elements of a vector, for each scalar line, in a semiring.
    Products(Semiring),
    /// Squares of elements, for each scalar line. The result is the root of the sum.
    Squares,
    /// Squares of elements, for each line of blocks. The result is the root of the sum.
    BlockSquares,
}

/// The description of the sums, apart from the pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summed {
    /// The element types of the matrix and of the vectors.
    pub types: [ElementType; 2],
    /// The shape of the blocks as they are stored.
    pub shape: BlockShape,
    /// Whether the blocks are stored without gaps.
    pub packed: bool,
    pub terms: Terms,
}

/// The values of a matrix of blocks, and the number of elements from one block to the next.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub values: &'a Buffer,
    pub stride: u32,
}

impl<'a> From<&'a DeviceCbc> for Stored<'a> {
    fn from(a: &'a DeviceCbc) -> Self {
        Self { values: &a.values, stride: a.stride as u32 }
    }
}

/// Maximum number of elements that an item loads at once, for a line in several pieces. Loaded
/// elements take registers.
const MOST_AHEAD: usize = 8;

/// Number of entries that an item loads in each round of a sum of blocks that is added by guesses.
/// On an H200 `pose6_100k` takes 27.4 us with one entry, 24.9 us with two and 30.8 us with three.
const ROUND_ENTRIES: usize = 2;

/// Prepared sums of the elements of a matrix times the elements of a vector, which may have another
/// type.
pub(crate) struct LineSums {
    lines: Lines,
    /// Number of sums of a line.
    width: usize,
    kernel: Kernel<SumLines<'static>>,
    /// For each line that is cut, the number of its finished pieces. After these numbers come the
    /// sums of the pieces, as words.
    arrived: Scratch<u32>,
    group_size: usize,
    /// Number of work-groups that add a piece: one, or one for each sum of its line.
    splits: usize,
}

impl Summed {
    /// The tuning for packed values. Items load elements in pairs, so each element must have at
    /// least 4 bytes.
    fn packed_tuning(&self, info: &DeviceInfo) -> LineTuning {
        match self.types.contains(&ElementType::F16) {
            true => LineTuning::new(info, self.shape),
            false => LineTuning::packed(info, self.shape),
        }
    }

    /// Whether a block has more terms for a sum than an item loads at once. Only for blocks with
    /// more terms are tiles chosen so that each item of a work-group computes one sum. Tiles with
    /// one sum for each item took up to 60 % less time on an H200 for blocks with many terms, but
    /// up to 28 % longer for blocks of 4x4 in `f32`, which have fewer terms.
    fn has_wide_sums(&self) -> bool {
        self.shape.rows() * self.types[0].bytes() > 16
    }

    /// The least number of entries of a line of packed blocks that an item loads by itself, if
    /// there are enough lines, or `None` if groups load lines together, see
    /// [`lines::longest_of_item`](super::lines::longest_of_item).
    pub fn longest_of_item(&self, info: &DeviceInfo) -> Option<usize> {
        let tuning = self.packed_tuning(info);
        (tuning.direct > 0 && self.has_wide_sums()).then_some(tuning.longest)
    }
}

impl LineSums {
    /// Prepares sums over the rows or the columns of `pattern`.
    pub fn new(device: &Device, pattern: &Arc<PatternArrays>, rows: bool, summed: Summed) -> Result<Self> {
        let index = |work: &Work| Index::new(work, pattern, rows);
        let side = if rows { Side::Rows } else { Side::Columns };
        Self::tuned(device, index, side, summed, LineTuning::new(device.info(), summed.shape))
    }

    /// Like [`LineSums::new`], for products with lines whose index is known.
    pub fn over(device: &Device, index: Index, summed: Summed) -> Result<Self> {
        let (side, info, shape) = (index.side(), device.info(), summed.shape);
        let tuning = match summed.packed && side == Side::Columns {
            true => summed.packed_tuning(info),
            false => LineTuning::new(info, shape),
        };
        let pattern = index.pattern();
        let tuning = match shape {
            BlockShape::SCALAR => tuning.of(info, pattern.nnz() + pattern.ncols),
            _ if summed.has_wide_sums() => tuning.of_blocks(info, shape, [pattern.ncols, pattern.nnz()]),
            _ => tuning,
        };
        Self::tuned(device, |_| Ok(index), side, summed, tuning)
    }

    fn tuned(
        device: &Device,
        index: impl FnOnce(&Work) -> Result<Index>,
        side: Side,
        summed: Summed,
        tuning: LineTuning,
    ) -> Result<Self> {
        let Summed { types: [of_matrix, of_vectors], shape, packed, terms } = summed;
        device.require(of_vectors)?;
        let sum_bytes = of_vectors.arithmetic().bytes();
        let width = match (terms, side) {
            (Terms::BlockSquares, _) => 1,
            (_, Side::Columns) => shape.cols(),
            (_, Side::Rows | Side::Flagged) => shape.rows(),
        };
        let terms_of_sum = shape.area() / width;
        // An execution first compares patterns.
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
        // In `f64`, adding pieces in rounds saved 2 to 5 % of the time on an H200, and cost 3 to 4
        // % on an H100.
        let has_rounds = split && tuning.direct > 0 && sum_bytes == 4;
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
            Terms::Products(semiring) => options.element_in(of_vectors, semiring).value_in(of_matrix, semiring),
            Terms::Squares | Terms::BlockSquares => options.element(of_vectors).value(of_matrix),
        }
        .define("ELEMENT_IS_DOUBLE", u8::from(of_vectors == ElementType::F64))
        .define("ROWS", shape.rows())
        .define("COLS", shape.cols())
        // If items load lines by themselves, one kernel serves tiles of any size.
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
        // Streamed values leave the first-level cache to x. With 8 elements ahead, `rmat18_e8` took
        // 34 us with streamed loads, and 22 us without.
        .define("STREAMED", u8::from(shape == BlockShape::SCALAR && pieces > 0))
        .define("STRIDE", if packed { shape.area().to_string() } else { "stride".into() })
        .define("DIRECT", tuning.direct)
        .define("LONGEST", tuning.longest)
        .define("VALUE_PAIR", format!("{}2", of_matrix.word().name()))
        .define("ELEMENT_PAIR", format!("{}2", of_vectors.word().name()))
        .define("SPLIT", u8::from(split))
        .define("NORMS", u8::from(!matches!(terms, Terms::Products(_))))
        .define("WHOLE_BLOCKS", u8::from(matches!(terms, Terms::BlockSquares)));
        let kernel = Kernel::new(device, &Teams::options_of(device.info(), options))?;
        let words = sum_bytes.div_ceil(size_of::<u32>());
        let arrived = Scratch::reserve_zeroed(&work, lines.parts * (1 + width * words))?;
        let splits = if split { width } else { 1 };
        Ok(Self { kernel, arrived, group_size, lines, width, splits })
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.lines.len() * self.width
    }

    /// y = alpha·sums + beta·y. For squares y becomes the roots of the sums, and x is not read. The
    /// caller has checked that A has the pattern, and that x and y have the right lengths.
    pub fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, scaling: Scaling, y: &mut Buffer) -> Result<()> {
        let Self { lines, group_size, splits, .. } = self;
        let pattern = lines.index.pattern();
        let args = SumLines {
            line_ptr: &pattern.col_ptr,
            task: &lines.tasks,
            other: &pattern.row_idx,
            source: lines.index.source(),
            values: a.values,
            x,
            arrived: &mut *self.arrived.take(work)?,
            y: ScaledInto { values: y, scaling },
            pieces: lines.pieces as u32,
            parts: lines.parts as u32,
            stride: a.stride,
        };
        self.kernel.launch(work, Grid::groups(lines.tasks.len() + lines.pieces * (splits - 1), *group_size), args)
    }

    /// Bytes of device memory held in addition to the pattern, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + self.arrived.bytes()
    }
}

#[cfg(test)]
mod tests;
