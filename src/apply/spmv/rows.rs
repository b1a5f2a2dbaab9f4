//! The rows of op(A), and the blocks in them.
use super::{Layout, PackedOrder, Request, RowNumbers, terms::RowTerms};
use crate::{
    BlockShape, Device, Result, Semiring,
    device::{Buffer, Options, Teams, Work},
    element::{ElementType, WordType},
    primitives::{
        segmented_reduce::RUN_PIECE,
        transpose::{Transpose, Transposed},
    },
    resident::PatternArrays,
    vector::{
        line_sums::Stored,
        lines::{Side, entries_ahead},
    },
};
use std::sync::Arc;

/// The element types of A and of the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elements {
    pub matrix: ElementType,
    pub vector: ElementType,
}

impl Elements {
    /// Uses `element` for the matrix and for the vectors.
    pub const fn both(element: ElementType) -> Self {
        Self { matrix: element, vector: element }
    }

    /// The type of sums.
    pub const fn sum(self) -> WordType {
        self.vector.arithmetic().word()
    }
}

/// The position of A's blocks in the rows of op(A).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Scalar rows of a row of blocks. Each has a sum.
    pub sums: usize,
    /// Number of terms that a block contributes to each sum.
    pub depth: usize,
    /// Whether a scalar row is a row or a column of the column-major blocks.
    pub side: Side,
}

impl Block {
    pub const SCALAR: Self = Self { sums: 1, depth: 1, side: Side::Columns };

    /// Blocks of `shape`. The rows of the blocks are rows of op(A) if `of_rows` is set, otherwise
    /// the columns are.
    pub fn new(shape: BlockShape, of_rows: bool) -> Self {
        match of_rows {
            _ if shape == BlockShape::SCALAR => Self::SCALAR,
            true => Self { sums: shape.rows(), depth: shape.cols(), side: Side::Rows },
            false => Self { sums: shape.cols(), depth: shape.rows(), side: Side::Columns },
        }
    }

    /// Square blocks. A bit of each block's index says whether it is transposed.
    pub fn flagged(shape: BlockShape) -> Self {
        match Self::new(shape, true) {
            Self::SCALAR => Self::SCALAR,
            block => Self { side: Side::Flagged, ..block },
        }
    }

    pub fn area(self) -> usize {
        self.sums * self.depth
    }

    /// Number of sums of a block, and number of terms that the block contributes to each sum.
    pub fn sides(self) -> [u64; 2] {
        [self.sums as u64, self.depth as u64]
    }

    /// The shape of the blocks if their columns are rows of op(A).
    pub fn by_columns(self) -> Result<BlockShape> {
        BlockShape::new(self.depth, self.sums)
    }

    /// Adds the macros of `cl/apply/spmv/values.cl`.
    pub fn options(self, options: Options) -> Options {
        let across = self.side.across();
        options.define("SUMS", self.sums).define("DEPTH", self.depth).define("ACROSS", across)
    }
}

/// The rows of op(A), held as the columns of `pattern`.
pub(super) struct Rows {
    pub pattern: Arc<PatternArrays>,
    /// The index of each entry in A's values, or `None` if the entries are in the order of A's
    /// values.
    pub source: Option<Buffer<u32>>,
    pub packed: bool,
    pub elements: Elements,
    /// The algebra of the sums.
    pub semiring: Semiring,
    pub block: Block,
    /// Entries of a row of scalars that an item loads before it adds their terms.
    pub ahead: usize,
    /// Entries of the longest row, if they have been counted.
    pub longest: Option<u64>,
}

impl Rows {
    /// Takes the columns of `arrays`, or finds its rows by a stable sort.
    pub fn new(
        work: &Work,
        arrays: &Arc<PatternArrays>,
        block: Block,
        of_rows: bool,
        Request { elements, packed, semiring, .. }: Request,
    ) -> Result<Self> {
        let RowNumbers { row_ahead: ahead, .. } = work.device().info().numbers();
        if !of_rows {
            let (pattern, longest) = (arrays.clone(), arrays.lengths.map(|of| of.longest.into()));
            return Ok(Self { pattern, source: None, packed, elements, semiring, block, ahead, longest });
        }
        let Transposed { pattern, source, longest } = Transpose::new(work.device())?.run(work, arrays)?;
        let longest = longest.map(|longest| longest as u64);
        Ok(Self { pattern, source: Some(source), packed, elements, semiring, block, ahead, longest })
    }

    /// Rows of `f32` scalars in the order of A's values.
    #[cfg(test)]
    pub fn of_scalars(pattern: Arc<PatternArrays>) -> Self {
        let (elements, semiring) = (Elements::both(ElementType::F32), Semiring::PlusTimes);
        Self { pattern, source: None, packed: false, elements, semiring, block: Block::SCALAR, ahead: 1, longest: None }
    }

    pub fn device(&self) -> &Device {
        &self.pattern.device
    }

    /// Number of rows of blocks.
    pub fn len(&self) -> usize {
        self.pattern.ncols
    }

    /// Number of sums.
    pub fn sums(&self) -> usize {
        self.len() * self.block.sums
    }

    /// Bytes of the values of a block.
    pub fn value_bytes(&self) -> u64 {
        (self.block.area() * self.elements.matrix.bytes()) as u64
    }

    /// The start of each row, and the end of the last.
    pub fn row_ptr(&self) -> &Buffer<u32> {
        &self.pattern.col_ptr
    }

    /// The terms of the entries for the values `a` and the vector `x`.
    pub fn terms<'a>(&'a self, a: Stored<'a>, x: &'a Buffer) -> RowTerms<'a> {
        RowTerms { col: &self.pattern.row_idx, source: self.source.as_ref(), a, x }
    }

    /// The order in which the rows hold their entries.
    pub fn order(&self) -> PackedOrder<'_> {
        PackedOrder { places: self.pattern.nnz(), source: self.source.as_ref(), layout: Layout::PLAIN }
    }

    /// Options of kernels that read values in the order of the rows, or through `source` if there
    /// is one.
    pub fn options(&self, options: Options) -> Options {
        self.options_through(options, self.source.is_some())
    }

    /// Options of kernels that read values through an index if `index` is set.
    pub fn options_through(&self, options: Options, index: bool) -> Options {
        self.options_of(self.elements, options, index)
    }

    /// Makes the options of [`Rows::options_through`] for the given element types.
    pub fn options_of(&self, Elements { matrix, vector }: Elements, options: Options, index: bool) -> Options {
        let through = u8::from(index && !self.packed);
        let options = self.block.options(options.element_in(vector, self.semiring).value_in(matrix, self.semiring));
        options.define("THROUGH", through).define("PACKED", u8::from(self.packed))
    }

    /// Adds the macros of `cl/apply/spmv/row.cl`, with which an item adds a row of at most
    /// `longest` entries. Consecutive entries are `apart` places from each other, and there are
    /// `places` places in all. With `near`, columns have 16 bits.
    pub fn by_item(&self, options: Options, places: u64, apart: usize, longest: u64, near: bool) -> Options {
        let ahead = entries_ahead(self.ahead, self.block.depth);
        let is_small = ahead > 1 && places + (ahead * apart) as u64 <= u32::MAX.into();
        Teams::options_of(self.device().info(), options)
            .define("PIECE", RUN_PIECE)
            .define("AHEAD", ahead)
            .define("PLACE", if is_small { "uint" } else { "ulong" })
            .define("CUT", u8::from(longest > RUN_PIECE as u64))
            .define("STREAMED", u8::from(apart > 1))
            .define("NEAR", u8::from(near))
    }

    /// Adds the macros of `cl/apply/spmv/pieces.cl` for pieces of rows of scalars, and of
    /// `cl/vector/terms.cl`. A group holds `held` terms.
    pub fn in_pieces(&self, options: Options, held: usize, together: usize) -> Options {
        let fits = |elements: usize, bytes: usize| (elements as u64).saturating_mul(bytes as u64) <= u32::MAX.into();
        let of_floats = self.elements == Elements::both(ElementType::F32);
        let [entries, columns] =
            [self.pattern.nnz(), self.pattern.nrows].map(|n| fits(n, self.elements.vector.bytes()));
        let narrow = self.packed && of_floats && entries && columns;
        options.define("HELD", held).define("NARROW", u8::from(narrow)).define("AT_ONCE", together)
    }

    /// Bytes of device memory held in addition to A's pattern.
    pub fn bytes(&self) -> u64 {
        self.source.as_ref().map_or(0, |source| source.bytes() + self.pattern.bytes())
    }
}
