//! The factors of a product, and where C is written.
use super::BandConsumer;
use crate::{
    BlockShape, Result,
    device::{Buffer, Elem, In, Operand, Work, arguments},
    element::ElementType,
    error::Dimensions,
    primitives::transpose,
    resident::{DeviceCbc, InPattern, PatternArrays},
};
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

    /// The pattern that is multiplied: the pattern of `transpose` if there is one, or else the
    /// factor's own.
    pub fn multiplied<'a>(&'a self, transpose: Option<&'a transpose::Transposed>) -> NumberedPattern<'a> {
        transpose.map_or(NumberedPattern::of(&self.pattern), |transpose| NumberedPattern {
            pattern: &transpose.pattern,
            source: Some(&transpose.source),
        })
    }
}

/// The pattern of a factor whose values are stored in another order, if there is a source.
#[derive(Clone, Copy)]
pub(crate) struct NumberedPattern<'a> {
    pub pattern: &'a PatternArrays,
    /// The number of the stored entry for each entry. Without a source, entries are numbered in
    /// their order.
    pub source: Option<&'a Buffer<u32>>,
}

impl<'a> NumberedPattern<'a> {
    /// A pattern whose entries are stored in its order.
    pub fn of(pattern: &'a PatternArrays) -> Self {
        Self { pattern, source: None }
    }

    /// The words that kernels read for the entries. If there is no source, kernels do not read the
    /// words.
    fn operand(&self) -> &'a Buffer {
        self.source.unwrap_or(&self.pattern.row_idx)
    }
}

/// The patterns of A and of B.
pub(crate) type PatternPair<'a> = (&'a PatternArrays, &'a PatternArrays);
/// Patterns of two factors, each of which may be transposed.
pub(crate) type FactorPair<'a> = (&'a FactorPattern, &'a FactorPattern);

/// The patterns of A and B, and the words that kernels read for their entries.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub a: &'a PatternArrays,
    pub b: &'a PatternArrays,
    pub a_operand: &'a Buffer,
    pub b_operand: &'a Buffer,
}

impl<'a> Factors<'a> {
    /// The factors, if the expansion computes the values of products.
    pub fn of_values(a: &'a DeviceCbc, b: &'a DeviceCbc) -> Self {
        Self { a: &a.pattern, b: &b.pattern, a_operand: &a.values, b_operand: &b.values }
    }

    /// The factors, if products are pairs of entries.
    pub fn of_pairs(a: NumberedPattern<'a>, b: NumberedPattern<'a>) -> Self {
        Self { a: a.pattern, b: b.pattern, a_operand: a.operand(), b_operand: b.operand() }
    }
}

arguments! {
    /// The patterns and values of both factors.
    pub(in crate::product) struct InFactors {
        a: InPattern,
        a_values: In<Elem>,
        b: InPattern,
        b_values: In<Elem>,
    }
}

arguments! {
    /// The patterns of both factors, and the words of their entries.
    pub(in crate::product) struct InOperands {
        a: InPattern,
        a_operand: In<Operand>,
        b: InPattern,
        b_operand: In<Operand>,
    }
}

impl<'a> From<Factors<'a>> for InFactors<'a> {
    fn from(Factors { a, b, a_operand, b_operand }: Factors<'a>) -> Self {
        Self { a, a_values: a_operand, b, b_values: b_operand }
    }
}

impl<'a> From<Factors<'a>> for InOperands<'a> {
    fn from(Factors { a, b, a_operand, b_operand }: Factors<'a>) -> Self {
        Self { a, a_operand, b, b_operand }
    }
}

/// The operands of a product, and the layout of C.
pub(crate) struct Operands<'a> {
    pub a: &'a DeviceCbc,
    pub b: &'a DeviceCbc,
    /// Elements from one block of C to the next.
    pub c_stride: usize,
    pub consumer: BandConsumer,
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

    /// Makes `ncols` columns of C without entries, for a product with an empty expansion.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer_of(self.element().word(), 0)?))
    }

    /// Elements from one block to the next, in A, B and C.
    pub fn strides(&self) -> [usize; 3] {
        [self.a.stride, self.b.stride, self.c_stride]
    }

    /// Makes C, or a band of it, from a pattern and values.
    pub fn on(&self, pattern: Arc<PatternArrays>, values: Buffer) -> DeviceCbc {
        DeviceCbc { pattern, shape: self.a.shape.product(self.b.shape), stride: self.c_stride, values }
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

/// Takes the columns of C, band after band.
pub(crate) type Place<'p> = &'p mut dyn FnMut(DeviceCbc) -> Result<()>;
