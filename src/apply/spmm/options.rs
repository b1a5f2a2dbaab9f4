//! Options of products of sparse and dense matrices.
use super::{ApplyDense, DenseMethod, PackedDense, Request, prepared::Wanted};
use crate::{
    DeviceMatrix, DevicePattern, Result, Semiring,
    device::Work,
    matrix::{HostMatrix, Layout, MatrixType, Side},
    planned::prepared::check_patterns,
};

/// Options of a product of a sparse matrix with dense ones, before it is prepared; see
/// [`ApplyDense::with`].
#[derive(Debug, Clone)]
pub struct DenseOptions<M: HostMatrix> {
    pub(super) wanted: Wanted,
    pub(super) of: MatrixType<M>,
}

impl<M: HostMatrix> DenseOptions<M> {
    pub(crate) fn new(a: DevicePattern, of: MatrixType<M>, n: usize) -> Self {
        let request = Request::new(a.device(), of.element, n);
        Self { wanted: Wanted { a, side: Side::Left, transposed: false, request }, of }
    }

    /// Multiplies from the right: C = D·A. In D·A, the number that was given to the plan as D's
    /// columns is the number of D's rows.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::plan::ApplyDense;
    /// use blockmul::{Csc, Device, Planned};
    /// use nalgebra::dmatrix;
    /// let device = Device::auto()?;
    /// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
    /// let plan = ApplyDense::<Csc<f64>>::with(&a.pattern(), 1).from_right().plan()?;
    /// let (d, mut c) = (device.upload_dense(&dmatrix![1.0, 10.0])?, plan.output()?);
    /// plan.execute((&a, &d), &mut c)?;
    /// assert_eq!(c.download()?, dmatrix![32.0, 50.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::wrong_self_convention)] // the side that A stands on
    pub fn from_right(mut self) -> Self {
        self.wanted.side = Side::Right;
        self
    }

    /// Multiplies with Aᵀ, without forming it.
    pub fn transposed(mut self) -> Self {
        self.wanted.transposed = true;
        self
    }

    /// Adds and multiplies in a [`Semiring`]. The factors of a product keep the order of the
    /// matrices. Every element of a block counts as an entry.
    pub fn semiring(mut self, semiring: Semiring) -> Self {
        self.wanted.request.semiring = semiring;
        self
    }

    /// Sets how the entries of A are divided among work-items.
    pub fn method(mut self, method: DenseMethod) -> Self {
        self.wanted.request.method = method;
        self
    }

    /// Makes the reason for the method say how often groups would use a row of D, even if groups
    /// are not considered. Groups may then be made only to be counted, which takes as long as
    /// making an index of A.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::plan::{ApplyDense, DenseMethod};
    /// use blockmul::{Csc, Device};
    /// let device = Device::auto()?;
    /// // Four equal rows: a group of them would use each row of D four times.
    /// let a = Csc::from_triplets(4, 2, (0..8).map(|i| (i % 4, i / 4, 1.0)))?;
    /// let a = device.upload(&a)?.pattern();
    /// let options = ApplyDense::<Csc<f64>>::with(&a, 3).method(DenseMethod::Rows);
    /// let plan = options.explained().plan()?;
    /// assert!(plan.why().starts_with("rows, as asked for; groups of "));
    /// # Ok(())
    /// # }
    /// ```
    pub fn explained(mut self) -> Self {
        self.wanted.request.explained = true;
        self
    }

    /// Sets the layouts of D and C. The default is by rows.
    /// [`Planned::output`](crate::Planned::output) has the layout of C. Executions take any layout.
    /// Kernels and memory for the layouts set here are ready before the first execution.
    pub fn layouts(mut self, d: Layout, c: Layout) -> Self {
        self.wanted.request.layouts = [d, c];
        self
    }

    /// Refuses an element type that the semiring or the device does not support, and the pattern of
    /// another kind of matrix than M.
    pub(super) fn check(&self) -> Result<()> {
        self.wanted.request.semiring.check_type(self.of.element)?;
        check_patterns(self.wanted.a.device(), self.of, [&self.wanted.a])
    }

    /// Prepares the product for every matrix that has the pattern. The values of A are read in
    /// place.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the pattern belongs to another kind of matrix
    /// than M, or if the semiring does not support the element type;
    /// [`Error::Memory`](crate::Error::Memory), [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn plan(self) -> Result<ApplyDense<M>> {
        ApplyDense::within(&Work::new(self.wanted.a.device(), None), &self)
    }

    /// Prepares the product for one matrix, whose values are copied in the order in which
    /// executions read them.
    ///
    /// # Errors
    /// See [`DenseOptions::plan`].
    pub fn pack(mut self, a: &DeviceMatrix<M>) -> Result<PackedDense<M>> {
        self.wanted.request.packed = true;
        PackedDense::new(&self, a)
    }
}
