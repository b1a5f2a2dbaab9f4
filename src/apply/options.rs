//! Options of products of matrices with vectors.
use super::{
    Format, Split,
    spmv::{Elements, Request},
};
use crate::{
    DevicePattern, Matrix, Result, Semiring,
    element::{ElementType, VectorElement},
    matrix::{AnyMatrix, HostMatrix, MatrixType},
};
use std::marker::PhantomData;

/// Options of a product of a matrix with vectors, before it is prepared; see
/// [`Apply::with`](super::Apply::with).
#[derive(Debug, Clone)]
pub struct ApplyOptions<M: HostMatrix, V = <M as HostMatrix>::Word> {
    pub(super) a: DevicePattern,
    pub(super) of: MatrixType<M>,
    pub(super) transposed: bool,
    pub(super) request: Request,
    vectors: PhantomData<fn() -> V>,
}

impl<M: HostMatrix> ApplyOptions<M> {
    /// Number of executions among which [`Format::Auto`] divides the cost of a conversion, unless
    /// [`ApplyOptions::uses`] sets another. A solver has about `USES` iterations.
    const USES: u64 = 100;

    pub(crate) fn new(a: DevicePattern, of: MatrixType<M>) -> Self {
        let request = Request::auto(Elements::both(of.element), Self::USES);
        Self { a, of, transposed: false, request, vectors: PhantomData }
    }
}

impl<M: Matrix> ApplyOptions<M> {
    /// Takes vectors of another element type than A's. Sums are computed in the vectors'
    /// arithmetic. A matrix stored in `f32` has half the bytes, and its products with `f64` vectors
    /// lose no accuracy except by the rounding of A's values.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csr, Device, Planned, plan::Apply};
    /// let device = Device::auto()?;
    /// let a = device.upload(&Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![1.0f32, 0.5])?)?;
    /// let plan = Apply::<Csr<f32>>::with(&a.pattern()).vectors::<f64>().plan()?;
    /// let (x, mut y) = (device.upload_vector(&[1e9, 1.0])?, plan.output()?);
    /// plan.execute((&a, &x), &mut y)?;
    /// assert_eq!(y.download()?, [1_000_000_000.5]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn vectors<W: VectorElement<M::Element>>(self) -> ApplyOptions<M, W> {
        let Self { a, of, transposed, mut request, .. } = self;
        request.elements.vector = W::TYPE;
        ApplyOptions { a, of, transposed, request, vectors: PhantomData }
    }
}

impl ApplyOptions<AnyMatrix> {
    /// Takes vectors of another element type than A's; [`VectorElement`] lists the pairs.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the pair is not listed.
    pub fn vectors_of(mut self, element: ElementType) -> Result<Self> {
        self.of.element.check_vectors(element)?;
        self.request.elements.vector = element;
        Ok(self)
    }
}

impl<M: HostMatrix, V: 'static> ApplyOptions<M, V> {
    /// Applies Aᵀ, without forming it.
    pub fn transposed(mut self) -> Self {
        self.transposed = true;
        self
    }

    /// A holds one triangle of a symmetric matrix, lower or upper, with its diagonal. The product
    /// is computed with the whole matrix, and has the same bits as if the matrix were stored whole.
    /// Blocks on the diagonal are stored whole. An index of the whole matrix's entries is made
    /// once, and [`ApplyOptions::pack`] copies their values from the triangle.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, plan::Apply};
    /// let device = Device::auto()?;
    /// // [2 3; 3 5], of which the lower triangle is stored
    /// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
    /// let packed = Apply::with(&a.pattern()).symmetric().pack(&a)?;
    /// let (x, mut y) = (device.upload_vector(&[1.0, 10.0])?, packed.output()?);
    /// packed.execute(&x, &mut y)?;
    /// assert_eq!(y.download()?, [32.0, 53.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn symmetric(mut self) -> Self {
        self.request.symmetric = true;
        self
    }

    /// Sets the format of A's rows.
    pub fn format(mut self, format: Format) -> Self {
        self.request.format = format;
        self
    }

    /// Adds and multiplies in a semiring. The first factor of a product is A's.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::plan::{Accum, Apply};
    /// use blockmul::{Csc, Device, Planned, Semiring};
    /// let device = Device::auto()?;
    /// // Edges 0 to 1 and 1 to 2, of lengths 2 and 3: column j has the edges that leave j.
    /// let g = device.upload(&Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 1, 3.0)])?)?;
    /// let step = Apply::<Csc<f64>>::with(&g.pattern()).semiring(Semiring::MinPlus).plan()?;
    /// let from = device.upload_vector(&[0.0, f64::INFINITY, f64::INFINITY])?;
    /// let mut to = device.upload_vector(&[0.0, f64::INFINITY, f64::INFINITY])?;
    /// step.execute((&g, &from), Accum::into(&mut to).beta(1.0))?; // the smaller of old and new
    /// assert_eq!(to.download()?, [0.0, 2.0, f64::INFINITY]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn semiring(mut self, semiring: Semiring) -> Self {
        self.request.semiring = semiring;
        self
    }

    /// Lets [`Format::Auto`] also choose formats that add terms in another order than
    /// [`reference::multiply_vector`](crate::reference::multiply_vector).
    pub fn any_order(mut self) -> Self {
        self.request.any_order = true;
        self
    }

    /// Sets the rule by which [`Format::Hyb`] cuts rows.
    pub fn split(mut self, split: Split) -> Self {
        self.request.split = split;
        self
    }

    /// Sets the number of executions with one set of values, 100 by default. [`Format::Auto`]
    /// converts a matrix only if there are many executions. For a single execution on a CPU of few
    /// cores, [`ApplyOptions::plan`] leaves scalars in the rows or columns in which they are
    /// stored.
    pub fn uses(mut self, n: u64) -> Self {
        self.request.uses = n;
        self
    }
}
