//! The vocabulary of a product: its factors, the part of C to make, and its sizes.
mod counts;
mod payload;

use super::method::Method;
pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
use crate::{
    BlockShape, Result, Semiring,
    device::{Buffer, Device, Work},
    element::ElementType,
    error::Dimensions,
    primitives::{
        drop_entries::DropMemory,
        segmented_sort::SortTuning,
        transpose::{self, Transpose},
    },
    resident::{DeviceCbc, PatternArrays},
};
pub use counts::Bin;
pub(crate) use counts::{Counts, Pipeline};
use std::sync::Arc;

/// The pattern of a factor, for a plan.
#[derive(Clone)]
pub(crate) struct FactorPattern {
    pub pattern: Arc<PatternArrays>,
    pub shape: BlockShape,
    /// Whether the transpose is multiplied.
    pub transposed: bool,
}

impl FactorPattern {
    /// Whether the inner sizes of a product with `right` agree.
    pub fn meets(&self, right: &Self) -> bool {
        let (left, right) = (self.dimensions(), right.dimensions());
        (left.ncols, left.block_cols) == (right.nrows, right.block_rows)
    }

    /// Grid and block shape of the factor, after a transpose.
    pub fn dimensions(&self) -> Dimensions {
        let (shape, (nrows, ncols)) = (self.op_shape(), (self.pattern.nrows, self.pattern.ncols));
        let (nrows, ncols) = if self.transposed { (ncols, nrows) } else { (nrows, ncols) };
        Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() }
    }

    /// Shape of the factor's blocks, after a transpose.
    pub fn op_shape(&self) -> BlockShape {
        if self.transposed { self.shape.transpose() } else { self.shape }
    }

    /// Requests the kernels of [`FactorPattern::transpose`].
    pub(super) fn ask_transpose(&self, device: &Device) -> Result<()> {
        if self.transposed { Transpose::ask(device, self.pattern.nrows, self.pattern.nnz()) } else { Ok(()) }
    }

    /// The transposed pattern, if the transpose is multiplied.
    pub(super) fn transpose(&self, work: &Work) -> Result<Option<transpose::Transposed>> {
        match self.transposed {
            true => Ok(Some(Transpose::new(work.device())?.run(work, &self.pattern)?)),
            false => Ok(None),
        }
    }

    /// The pattern that is multiplied, `transpose` if there is one, and then the stored entry
    /// behind each of its entries.
    pub(super) fn multiplied<'a>(
        &'a self,
        transpose: Option<&'a transpose::Transposed>,
    ) -> (&'a PatternArrays, Option<&'a Buffer<u32>>) {
        transpose.map_or((&self.pattern, None), |transpose| (&transpose.pattern, Some(&transpose.source)))
    }
}

/// Whether the stored blocks of A and of B are the transposes of the factors' blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Transposed {
    pub a: bool,
    pub b: bool,
}

/// Takes the columns of C, band after band.
pub(super) type Place<'p> = &'p mut dyn FnMut(DeviceCbc) -> Result<()>;

/// How the sums of a product are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct How {
    pub method: Method,
    /// The algebra, of which the first factor is A's.
    pub semiring: Semiring,
}

impl How {
    /// The same of the product of the factors swapped.
    pub fn mirrored(self) -> Self {
        Self { semiring: self.semiring.mirrored(), ..self }
    }
}

impl From<Method> for How {
    fn from(method: Method) -> Self {
        Self { method, ..Self::default() }
    }
}

/// The properties of a product for which kernels are compiled, besides numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    pub element: ElementType,
    /// Shape of A's blocks, after a transpose.
    pub a: BlockShape,
    /// Shape of B's blocks, after a transpose.
    pub b: BlockShape,
    pub part: Part,
    pub transposed: Transposed,
    /// Whether the entries of A and of B have explicit numbers, given to [`Factors::of_pairs`].
    pub sourced: Transposed,
    /// Bits needed for the number of rows of C.
    pub row_bits: u32,
    /// The algebra of the sums, of which the first factor is A's.
    pub semiring: Semiring,
}

impl Spec {
    /// The whole A·B, with `nrows` rows in C.
    pub fn new(element: ElementType, a: BlockShape, b: BlockShape, nrows: usize) -> Self {
        let row_bits = usize::BITS - nrows.leading_zeros();
        let (part, plain, semiring) = (Part::Full, Transposed::default(), Semiring::PlusTimes);
        Self { element, a, b, part, transposed: plain, sourced: plain, row_bits, semiring }
    }

    /// The same product over a semiring.
    pub fn over(self, semiring: Semiring) -> Self {
        Self { semiring, ..self }
    }

    /// The product op(A)·op(B), or a part of it.
    pub fn of_factors(element: ElementType, a: &FactorPattern, b: &FactorPattern, part: Part) -> Self {
        let transposed = Transposed { a: a.transposed, b: b.transposed };
        let whole = Self::new(element, a.op_shape(), b.op_shape(), a.dimensions().nrows);
        Self { part, transposed, sourced: transposed, ..whole }
    }

    /// A part of A·Aᵀ, of an A that is stored.
    pub fn of_square(element: ElementType, a: BlockShape, nrows: usize, part: Part) -> Self {
        let transposed = Transposed { a: false, b: true };
        Self { part, transposed, sourced: transposed, ..Self::new(element, a, a.transpose(), nrows) }
    }
}

/// The patterns of A and B, and the words that are read for their entries.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub a: &'a PatternArrays,
    pub b: &'a PatternArrays,
    pub a_operand: &'a Buffer,
    pub b_operand: &'a Buffer,
}

impl<'a> Factors<'a> {
    /// Factors of products whose values are formed in the expansion.
    pub fn of_values(a: &'a DeviceCbc, b: &'a DeviceCbc) -> Self {
        Self { a: &a.pattern, b: &b.pattern, a_operand: &a.values, b_operand: &b.values }
    }

    /// Factors of products that are pairs of entries. Each pattern may come with a source, which
    /// gives the number of the stored entry for each entry; without it an entry has its own number.
    pub fn of_pairs(
        (a, a_source): (&'a PatternArrays, Option<&'a Buffer<u32>>),
        (b, b_source): (&'a PatternArrays, Option<&'a Buffer<u32>>),
    ) -> Self {
        // Without a source the kernels do not read this array.
        Self { a, b, a_operand: a_source.unwrap_or(&a.row_idx), b_operand: b_source.unwrap_or(&b.row_idx) }
    }
}

/// The operands of a product, and the layout of C.
pub(crate) struct Operands<'a> {
    pub a: &'a DeviceCbc,
    pub b: &'a DeviceCbc,
    /// Elements from one block of C to the next.
    pub c_stride: usize,
    /// Extra device memory that the consumer of a band needs while it holds that band.
    pub consumer: Option<DropMemory>,
}

impl Operands<'_> {
    /// The type of all elements.
    pub fn element(&self) -> ElementType {
        self.a.element()
    }

    /// Makes C, or a band of it, from its arrays.
    pub fn product(&self, col_ptr: Buffer<u32>, row_idx: Buffer<u32>, values: Buffer) -> DeviceCbc {
        let (nrows, ncols) = (self.a.nrows, col_ptr.len() - 1);
        self.on(PatternArrays::new(&self.a.device, nrows, ncols, col_ptr, row_idx), values)
    }

    /// Elements from one block to the next of A, B and C.
    pub fn strides(&self) -> [usize; 3] {
        [self.a.stride, self.b.stride, self.c_stride]
    }

    /// Makes C, or a band of it, from a pattern and values.
    pub fn on(&self, pattern: Arc<PatternArrays>, values: Buffer) -> DeviceCbc {
        DeviceCbc { pattern, shape: self.a.shape.product(self.b.shape), stride: self.c_stride, values }
    }

    /// `ncols` columns of C without entries, the result of an empty expansion.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer_of(self.element().word(), 0)?))
    }
}

/// The sizes of the products of some columns, from which allocations and launches follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    /// Expansion size.
    pub products: u64,
    /// Products of the longest segment.
    pub longest: u64,
    /// Chunks into which the sort cuts long segments.
    pub chunks: u64,
    /// Non-empty segments that the sort does not cut.
    pub shorts: u64,
    /// Products of the longest of these.
    pub longest_short: u64,
    /// Products of the shortest segment that the sort cuts, 0 if there is none.
    pub shortest_long: u64,
    /// Products of segments of more than one chunk.
    pub in_chunks: u64,
}

impl Sizes {
    /// Adds a column with `products` products.
    pub fn add(&mut self, products: u64, sort: &SortTuning) {
        let (short_max, chunk) = (sort.short_max as u64, sort.chunk as u64);
        self.products += products;
        self.longest = self.longest.max(products);
        self.chunks += if products > short_max { products.div_ceil(chunk) } else { 0 };
        if products > 0 && products <= short_max {
            self.shorts += 1;
            self.longest_short = self.longest_short.max(products);
        } else if products > 0 && (self.shortest_long == 0 || products < self.shortest_long) {
            self.shortest_long = products;
        }
        self.in_chunks += if products > chunk { products } else { 0 };
    }
}

/// The destination of a product.
pub(crate) struct Destination<'a> {
    pub values: &'a mut Buffer,
    /// Elements from one block to the next.
    pub stride: usize,
    /// Block to which the first entry of C is written.
    pub first: usize,
}

/// The blocks of a matrix on the pattern of C.
impl<'a> From<&'a mut DeviceCbc> for Destination<'a> {
    fn from(c: &'a mut DeviceCbc) -> Self {
        Self { values: &mut c.values, stride: c.stride, first: 0 }
    }
}
