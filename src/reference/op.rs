//! op(A), a matrix A or its transpose, as an operand of the reference's loops.
use crate::{
    element::ElementType,
    matrix::{AnyView, HostMatrix},
    product::Factor,
};

/// The arrays of a matrix A, and whether op(A) is its transpose.
#[derive(Clone, Copy)]
pub(super) struct Op<'a> {
    pub arrays: AnyView<'a>,
    pub transposed: bool,
}

impl<'a> Op<'a> {
    pub fn of<M: HostMatrix>(factor: impl Into<Factor<'a, M>>) -> Self {
        let Factor { operand, transposed } = factor.into();
        Self { arrays: operand.view(), transposed }
    }

    pub fn element(self) -> ElementType {
        self.arrays.element()
    }

    pub fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    /// Whether the rows of op(A) are rows of A's arrays, instead of columns.
    pub fn of_rows(self) -> bool {
        self.transposed == self.arrays.kind.is_row_major()
    }

    /// Scalar rows and columns of op(A).
    pub fn scalar_sides(self) -> (usize, usize) {
        let (rows, cols) = self.arrays.scalar_sides();
        if self.transposed { (cols, rows) } else { (rows, cols) }
    }
}
