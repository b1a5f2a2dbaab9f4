//! Products of a sparse matrix with dense matrices, prepared.
use super::{DenseMethod, DenseOptions, Spmm};
use crate::{
    Device, DeviceDense, DeviceMatrix, DevicePattern, Error, Matrix, Result, Semiring,
    device::Work,
    element::Scaling,
    matrix::{DenseShape, Layout, Side},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, same_device},
    },
    vector::line_sums::Stored,
};
use std::marker::PhantomData;

/// A product of a sparse matrix, or of its transpose, with dense matrices, prepared for the sparse
/// matrix's pattern and the number of columns of the dense ones.
///
/// Column j of A·D has the bits of [`Apply`](crate::plan::Apply) with column j, on every device,
/// and so the bits of [`reference::multiply_dense`](crate::reference::multiply_dense). Long rows
/// are divided among many work-items.
///
/// D and C are by rows or by columns, with any leading dimension. D by rows is read where it is.
/// One that is stored by columns is copied first, which takes as much memory again.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, ApplyDense};
/// use blockmul::{BlockShape, Cbc, Device, Planned, generate::{Values, bundle_adjustment}};
/// use nalgebra::DMatrix;
/// let device = Device::auto()?;
/// let j: Cbc<f64> = bundle_adjustment(20, 300, 4, BlockShape::new(2, 3)?, Values::Real, 1)?;
/// let x = device.upload_dense(&DMatrix::from_element(j.scalar_rows(), 4, 1.0))?;
/// let j = device.upload(&j)?;
///
/// // Jᵀ times four vectors: structure, once
/// let plan = ApplyDense::<Cbc<f64>>::with(&j.pattern(), 4).transposed().plan()?;
/// let mut y = plan.output()?;
/// plan.execute((&j, &x), Accum::into(&mut y).alpha(-1.0))?; // values, many times
/// assert_eq!(y.download()?.shape(), (300 * 3, 4));
/// # Ok(())
/// # }
/// ```
pub struct ApplyDense<M: Matrix> {
    a: DevicePattern,
    side: Side,
    transposed: bool,
    semiring: Semiring,
    /// Columns of D; its rows if A is on the right.
    n: usize,
    layout: Layout,
    spmm: Spmm<M::Element>,
    matrix: PhantomData<fn() -> M>,
}

impl<M: Matrix> ApplyDense<M> {
    /// Prepares C = A·D for matrices D of n columns by rows.
    ///
    /// # Errors
    /// As [`DenseOptions::plan`].
    pub fn new(a: &DevicePattern, n: usize) -> Result<Self> {
        Self::with(a, n).plan()
    }

    /// A product with matrices of n columns that is to be prepared, with options.
    pub fn with(a: &DevicePattern, n: usize) -> DenseOptions<'_, M> {
        DenseOptions::new(a, n)
    }

    pub(super) fn prepared(options: &DenseOptions<'_, M>) -> Result<Self> {
        let &DenseOptions { a, side, transposed, mut request, .. } = options;
        request.semiring.check::<M::Element>()?;
        check_patterns::<M>(a.device(), [a])?;
        let semiring = request.semiring;
        let layout = request.layouts[1];
        // Rows of op(A) are the lines if A is on the left. They are rows of the arrays if both or
        // neither are transposed.
        let left = side == Side::Left;
        if !left {
            request.semiring = semiring.mirrored();
            request.layouts = request.layouts.map(Layout::transposed);
        }
        let rows = (transposed == M::ROW_MAJOR) == left;
        let spmm = Spmm::new(&a.arrays, a.array_shape, rows, request)?;
        Ok(Self { a: a.clone(), side, transposed, semiring, n: request.n, layout, spmm, matrix: PhantomData })
    }

    /// How the entries of A are shared out.
    pub fn method(&self) -> DenseMethod {
        self.spmm.choice.method
    }

    /// The reason for it, in a sentence.
    pub fn why(&self) -> &str {
        &self.spmm.choice.why
    }

    /// Rows and columns of D.
    pub fn d_sides(&self) -> (usize, usize) {
        let (rows, cols) = self.sides();
        if self.side == Side::Left { (cols, self.n) } else { (self.n, rows) }
    }

    /// Rows and columns of C.
    pub fn c_sides(&self) -> (usize, usize) {
        let (rows, cols) = self.sides();
        if self.side == Side::Left { (rows, self.n) } else { (self.n, cols) }
    }

    /// Scalar rows and columns of op(A).
    fn sides(&self) -> (usize, usize) {
        let (rows, cols) = self.a.scalar_sides();
        if self.transposed { (cols, rows) } else { (rows, cols) }
    }

    pub(super) fn spmm(&self) -> &Spmm<M::Element> {
        &self.spmm
    }

    /// Elements of a block.
    pub(super) fn area(&self) -> usize {
        self.a.shape().area()
    }

    /// Entries of A, in blocks.
    pub(super) fn nnz(&self) -> usize {
        self.a.nnz()
    }

    /// Refuses a matrix, called `name`, of another pattern.
    pub(super) fn check(&self, name: &str, a: &DeviceMatrix<M>) -> Result<()> {
        self.a.check(name, &a.cbc)
    }

    /// Multiplies with values in the order that the plan wants.
    pub(super) fn multiply(
        &self,
        work: &Work,
        a: Stored<'_, M::Element>,
        d: &DeviceDense<M::Element>,
        into: Accum<'_, DeviceDense<M::Element>>,
    ) -> Result<()> {
        self.semiring.check_factors::<M::Element>(into.alpha, into.beta)?;
        self.check_dense("D", d, self.d_sides())?;
        self.check_dense("C", into.c, self.c_sides())?;
        work.stage("apply");
        let of_left = |shape: DenseShape| if self.side == Side::Left { shape } else { shape.transposed() };
        let (d_shape, c_shape) = (of_left(d.shape()), of_left(into.c.shape()));
        let scaling = Scaling::new(into.alpha, into.beta);
        self.spmm.run(work, a, (d_shape, &d.values), scaling, (c_shape, &mut into.c.values))
    }

    fn check_dense(&self, name: &str, dense: &DeviceDense<M::Element>, (rows, cols): (usize, usize)) -> Result<()> {
        same_device(self.device(), dense.device())?;
        let DenseShape { rows: of_rows, cols: of_cols, .. } = dense.shape();
        if (of_rows, of_cols) == (rows, cols) {
            return Ok(());
        }
        let (a_rows, a_cols) = self.sides();
        let op = if self.transposed { "Aᵀ" } else { "A" };
        let product = if self.side == Side::Left { "on the left" } else { "on the right" };
        Err(Error::Argument(format!(
            "{name} is {of_rows}x{of_cols}, {rows}x{cols} expected: {op} is {a_rows}x{a_cols} scalars {product}, \
             planned for {}",
            self.n
        )))
    }
}

impl<M: Matrix> Planned for ApplyDense<M> {
    /// The matrix A and the dense matrix D.
    type Inputs<'a> = (&'a DeviceMatrix<M>, &'a DeviceDense<M::Element>);
    /// The dense matrix C.
    type Output = DeviceDense<M::Element>;

    fn device(&self) -> &Device {
        self.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        let (rows, cols) = self.c_sides();
        self.device().zero_dense(DenseShape::new(rows, cols, self.layout))
    }

    fn cost(&self) -> Cost {
        let terms = self.nnz() as u64 * self.area() as u64 * self.n as u64;
        Cost { products: 0, flops: 2 * terms, device_bytes: self.spmm.bytes() }
    }

    fn enqueue(&self, On(work): On<'_>, (a, d): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.check("A", a)?;
        self.multiply(work, (&a.cbc).into(), d, into)
    }
}

impl<M: Matrix> std::fmt::Debug for ApplyDense<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let transposed = if self.transposed { "transposed " } else { "" };
        let bytes = self.cost().device_bytes;
        write!(f, "ApplyDense({transposed}{:?}, {:?}, {} columns, {bytes} bytes)", self.a, self.side, self.n)
    }
}
