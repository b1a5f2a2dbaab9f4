//! The data that kernels read and write in an execution: A's entries, the factors, and C.
use crate::{
    device::{Buffer, Elem, In, InOut, Maybe, Scalar, Sum, arguments},
    element::Scaling,
    matrix::{DenseShape, Layout},
    vector::line_sums::Stored,
};

/// The entries of lines in the order of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub line_ptr: &'a Buffer<u32>,
    /// The row of D that each entry multiplies, counted in blocks.
    pub other: &'a Buffer<u32>,
    /// The index of each entry in A's values, or `None` if the values are in the order of the
    /// entries.
    pub source: Option<&'a Buffer<u32>>,
}

/// The values of A, the matrix D, and the factors alpha and beta of a product.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub a: Stored<'a>,
    pub d: ByRows<'a>,
    pub scaling: Scaling,
}

/// A matrix D stored by rows.
#[derive(Clone, Copy)]
pub(super) struct ByRows<'a> {
    pub values: &'a Buffer,
    pub leading: usize,
    pub rows: usize,
    pub cols: usize,
}

/// A dense matrix as kernels take it.
pub(super) struct Dense<V> {
    pub values: V,
    pub leading: usize,
    pub by_columns: bool,
}

impl<V> Dense<V> {
    /// Describes a matrix for kernels. A single column counts as a matrix by rows.
    pub fn new(shape: DenseShape, values: V) -> Self {
        match shape.layout {
            Layout::ByColumns if shape.cols == 1 => Self { values, leading: 1, by_columns: false },
            layout => Self { values, leading: shape.leading, by_columns: layout == Layout::ByColumns },
        }
    }
}

impl Dense<&mut Buffer> {
    /// Borrows the matrix again, for one of several launches.
    pub fn again(&mut self) -> Dense<&mut Buffer> {
        Dense { values: &mut *self.values, ..*self }
    }
}

/// The operands and the result of an execution.
pub(super) struct Execution<'a> {
    pub entries: Entries<'a>,
    pub operands: Operands<'a>,
    pub c: Dense<&'a mut Buffer>,
}

impl Execution<'_> {
    /// Borrows the result again, for one of several steps.
    pub fn again(&mut self) -> Execution<'_> {
        Execution { entries: self.entries, operands: self.operands, c: self.c.again() }
    }
}

arguments! {
    /// Entries as kernel arguments: the parameters ENTRIES_OF of `cl/apply/spmm/vectors.cl`.
    pub(super) struct InEntries: for<'a> Entries<'a> = |of| {
        line_ptr: In<u32> = of.line_ptr,
        other: In<u32> = of.other,
        source: Maybe<u32> = of.source,
    }
}

arguments! {
    /// Operands as kernel arguments: the parameters OPERANDS_OF of `cl/apply/spmm/vectors.cl`.
    pub(super) struct InOperands: for<'a> Operands<'a> = |of| {
        values: In<Elem> = of.a.values,
        stride: u32 = of.a.stride,
        d: In<Elem> = of.d.values,
        d_leading: u32 = of.d.leading as u32,
        alpha: Scalar<Sum> = of.scaling.alpha,
        beta: Scalar<Sum> = of.scaling.beta,
    }
}

arguments! {
    /// C as kernel arguments: the parameters C_OF of `cl/apply/spmm/vectors.cl`.
    pub(super) struct InOutC: for<'a> Dense<&'a mut Buffer> = |of| {
        c: InOut<Elem> = of.values,
        c_leading: u32 = of.leading as u32,
    }
}
