//! Rows and columns of the matrices in a product with dense matrices, and the checks of every
//! execution.
use super::Request;
use crate::{
    Error, Pattern, Result, Semiring,
    matrix::{DenseShape, Layout, Side},
};

/// The sides of a product op(A)·D or D·op(A).
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    side: Side,
    transposed: bool,
    semiring: Semiring,
    /// Columns of D, or its rows if A is on the right.
    n: usize,
    /// The expected layout of C.
    layout: Layout,
    /// Scalar rows and columns of op(A).
    a: (usize, usize),
}

impl Sides {
    /// The sides of a product with an A of `rows` x `cols` scalars. Also returns the request for
    /// the equivalent product with the sparse matrix on the left.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more columns than a dense matrix can have.
    pub fn new(
        side: Side,
        transposed: bool,
        (rows, cols): (usize, usize),
        mut request: Request,
    ) -> Result<(Self, Request)> {
        let (semiring, n, layout) = (request.semiring, request.n, request.layouts[1]);
        if n as u64 > Pattern::MAX_LINES {
            let what = if side == Side::Left { "columns of D" } else { "rows of D" };
            return Err(Error::TooLarge { what, value: n as u64, limit: Pattern::MAX_LINES });
        }
        let a = if transposed { (cols, rows) } else { (rows, cols) };
        // D·A is the transpose of Aᵀ·Dᵀ.
        if side == Side::Right {
            request.semiring = semiring.mirrored();
            request.layouts = request.layouts.map(Layout::transposed);
        }
        Ok((Self { side, transposed, semiring, n, layout, a }, request))
    }

    /// Rows and columns of D.
    pub fn d(&self) -> (usize, usize) {
        let (rows, cols) = self.a;
        if self.side == Side::Left { (cols, self.n) } else { (self.n, rows) }
    }

    /// Rows and columns of C.
    pub fn c(&self) -> (usize, usize) {
        let (rows, cols) = self.a;
        if self.side == Side::Left { (rows, self.n) } else { (self.n, cols) }
    }

    /// The expected shape of C.
    pub fn c_shape(&self) -> DenseShape {
        let (rows, cols) = self.c();
        DenseShape::new(rows, cols, self.layout)
    }

    /// The shape of a dense matrix in the equivalent product with the sparse matrix on the left.
    pub fn of_left(&self, shape: DenseShape) -> DenseShape {
        if self.side == Side::Left { shape } else { shape.transposed() }
    }

    /// Columns of D in the product with the sparse matrix on the left.
    pub fn n(&self) -> usize {
        self.n
    }

    pub fn semiring(&self) -> Semiring {
        self.semiring
    }

    /// Refuses a matrix that is not `rows` x `cols`. `name` is the name of the matrix in the
    /// message.
    pub fn check_sides(&self, name: &str, shape: DenseShape, (rows, cols): (usize, usize)) -> Result<()> {
        let DenseShape { rows: of_rows, cols: of_cols, .. } = shape;
        if (of_rows, of_cols) == (rows, cols) {
            return Ok(());
        }
        let (a_rows, a_cols) = self.a;
        let op = if self.transposed { "Aᵀ" } else { "A" };
        let product = if self.side == Side::Left { "on the left" } else { "on the right" };
        Err(Error::Argument(format!(
            "{name} is {of_rows}x{of_cols}, {rows}x{cols} expected: {op} is {a_rows}x{a_cols} scalars {product}, \
             planned for {}",
            self.n
        )))
    }
}

/// Shows the sides as plans print them.
impl std::fmt::Display for Sides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let transposed = if self.transposed { "transposed, " } else { "" };
        write!(f, "{transposed}{:?}, {} columns", self.side, self.n)
    }
}
