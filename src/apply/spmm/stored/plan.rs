//! Prepared products of matrices in groups with dense ones.
use super::{DeviceGcoo, groups::Groups, way::Way};
use crate::{
    Device, DeviceDense, Error, Result, Semiring,
    apply::spmm::{DenseMethod, Request, plan::check, sides::Sides},
    device::Work,
    element::{ElementType, Scaling},
    matrix::{Layout, Side},
    planned::{Accum, Cost, On, Planned},
    resident::{DenseBuffer, DenseBufferMut},
};
use std::{marker::PhantomData, sync::Arc};

/// A product of a matrix in groups with dense matrices, prepared for the places of the matrix's
/// entries and the number of columns of the dense matrices. The results have the bits of
/// [`ApplyDense`](crate::plan::ApplyDense).
///
/// A·D and D·Aᵀ read groups of rows as they are; D·A and Aᵀ·D read groups of columns as they are.
/// The plan counts the reuse: how often the entries of a group use each row of D that the group
/// loads (for D·A, each column). The plan converts the groups to compressed lines in three cases:
/// the reuse is too low, the groups lie across the lines of the product, or a line has more than
/// 1024 entries. The values are read in place in all cases. [`ApplyGcoo::why`] says which way was
/// chosen.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Device, Planned, dense::{DeviceGcoo, Grouping}, plan::ApplyGcoo};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// let a = device.upload_dense(&dmatrix![2.0, 0.0; 3.0, 5.0])?;
/// let mut a = DeviceGcoo::from_dense(&a, Grouping::Rows(4))?;
/// let plan = ApplyGcoo::new(&a, 1)?; // places, once
/// let (d, mut c) = (device.upload_dense(&dmatrix![1.0; 10.0])?, plan.output()?);
/// plan.execute((&a, &d), &mut c)?; // values, many times
/// assert_eq!(c.download()?, dmatrix![2.0; 53.0]);
/// a.write_values(&[4.0, 3.0, 5.0])?;
/// plan.execute((&a, &d), &mut c)?;
/// assert_eq!(c.download()?, dmatrix![4.0; 53.0]);
/// # Ok(())
/// # }
/// ```
pub struct ApplyGcoo<T: 'static> {
    a: Arc<Groups>,
    sides: Sides,
    way: Way,
    element: ElementType,
    named: PhantomData<fn() -> T>,
}

/// Options of a product of a matrix in groups, before it is prepared; see [`ApplyGcoo::with`].
#[derive(Debug, Clone)]
pub struct GcooOptions<'a, T: 'static> {
    a: &'a DeviceGcoo<T>,
    side: Side,
    transposed: bool,
    request: Request,
}

impl<T: 'static> GcooOptions<'_, T> {
    /// Multiplies from the right: C = D·A. In D·A, the number that was given to the plan as D's
    /// columns is the number of D's rows.
    #[allow(clippy::wrong_self_convention)] // the side that A stands on
    pub fn from_right(mut self) -> Self {
        self.side = Side::Right;
        self
    }

    /// Multiplies with Aᵀ.
    pub fn transposed(mut self) -> Self {
        self.transposed = true;
        self
    }

    /// Adds and multiplies in a semiring. The factors of a product keep the order of the matrices.
    pub fn semiring(mut self, semiring: Semiring) -> Self {
        self.request.semiring = semiring;
        self
    }

    /// Sets whether groups are read as they are ([`DenseMethod::Gcoo`]) or as compressed lines.
    pub fn method(mut self, method: DenseMethod) -> Self {
        self.request.method = method;
        self
    }

    /// Sets the layouts of D and C; see
    /// [`DenseOptions::layouts`](crate::plan::DenseOptions::layouts).
    pub fn layouts(mut self, d: Layout, c: Layout) -> Self {
        self.request.layouts = [d, c];
        self
    }

    /// Replaces the device's numbers.
    #[cfg(test)]
    pub(super) fn numbers(mut self, numbers: crate::apply::spmm::DenseNumbers) -> Self {
        self.request.numbers = numbers;
        self
    }

    /// Prepares the product.
    ///
    /// # Errors
    /// [`Error::Argument`] if the semiring does not support the element type; [`Error::Memory`],
    /// [`Error::Unsupported`].
    pub fn plan(self) -> Result<ApplyGcoo<T>> {
        let Self { a, side, transposed, request } = self;
        let groups = &a.grouped.groups;
        let element = a.element_type();
        request.semiring.check_type(element)?;
        let (rows, cols) = (groups.nrows * groups.shape.rows(), groups.ncols * groups.shape.cols());
        let (sides, request) = Sides::new(side, transposed, (rows, cols), request)?;
        let work = Work::new(&groups.device, None);
        // The lines of the product are A's rows if A is on the left, or transposed on the right.
        let of_rows = transposed == (side == Side::Right);
        let request = Request { across: of_rows, ..request };
        let way = Way::new(&work, groups, of_rows, request)?;
        Ok(ApplyGcoo { a: groups.clone(), sides, way, element, named: PhantomData })
    }
}

impl<T: 'static> ApplyGcoo<T> {
    /// Prepares C = A·D for matrices D with `n` columns, stored by rows.
    ///
    /// # Errors
    /// See [`GcooOptions::plan`].
    pub fn new(a: &DeviceGcoo<T>, n: usize) -> Result<Self> {
        Self::with(a, n).plan()
    }

    /// Starts the options of a product with dense matrices of `n` columns.
    pub fn with(a: &DeviceGcoo<T>, n: usize) -> GcooOptions<'_, T> {
        GcooOptions { a, side: Side::Left, transposed: false, request: Request::new(a.device(), a.element_type(), n) }
    }

    /// The chosen method: [`DenseMethod::Gcoo`] if entries are read in groups.
    pub fn method(&self) -> DenseMethod {
        self.way.method()
    }

    #[cfg(test)]
    pub(super) fn reads_groups(&self) -> bool {
        matches!(self.way, Way::Groups(_))
    }

    /// The reason for the method, in a sentence.
    pub fn why(&self) -> &str {
        self.way.why()
    }

    /// Rows and columns of D.
    pub fn d_sides(&self) -> (usize, usize) {
        self.sides.d()
    }

    /// Rows and columns of C.
    pub fn c_sides(&self) -> (usize, usize) {
        self.sides.c()
    }
}

impl<T: 'static> Planned for ApplyGcoo<T> {
    /// The matrix A, whose entries are in the places that the plan expects, and the dense matrix D.
    type Inputs<'a> = (&'a DeviceGcoo<T>, &'a DeviceDense<T>);
    /// The dense matrix C.
    type Output = DeviceDense<T>;

    fn device(&self) -> &Device {
        &self.a.device
    }

    fn output(&self) -> Result<Self::Output> {
        DeviceDense::zeros_of(self.device(), self.element, self.sides.c_shape())
    }

    fn cost(&self) -> Cost {
        let terms = (self.a.nnz() as u64 * self.a.shape.area() as u64).saturating_mul(self.sides.n() as u64);
        Cost { products: 0, flops: terms.saturating_mul(2), device_bytes: self.way.bytes() }
    }

    fn enqueue(&self, On(work): On<'_>, (a, d): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        if !self.a.same_as(&a.grouped.groups)? {
            return Err(Error::Argument(
                "A's entries are not in the groups and places that the product was planned for".into(),
            ));
        }
        check(&self.sides, self.device(), self.element, d, &into)?;
        work.stage("apply");
        let d = DenseBuffer { shape: self.sides.of_left(d.shape()), ..d.buffer() };
        let c = DenseBufferMut { shape: self.sides.of_left(into.c.shape()), ..into.c.buffer_mut() };
        let scaling = Scaling::of(self.element, into.alpha, into.beta);
        self.way.run(work, &self.a, &a.grouped.values, d, scaling, c)
    }
}

impl<T: 'static> std::fmt::Debug for ApplyGcoo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApplyGcoo({}, {}, {} bytes)", self.method(), self.sides, self.cost().device_bytes)
    }
}
