//! Products of sparse and dense matrices in one shot, with options.
use super::{
    ApplyDense, DenseMethod,
    bands::{Bands, HostDense},
    method::MethodChoice,
    prepared::Prepared,
    run::{Asked, Run},
};
use crate::{
    DeviceDense, DeviceMatrix, Element, Error, Matrix, Result, Semiring,
    device::Work,
    element::{Any, ElementType},
    matrix::{
        AnyDense, AnyDenseView, AnyDenseViewMut, AnyMatrix, DenseShape, DenseView, DenseViewMut, HostMatrix, Side,
        try_dense_zeros,
    },
    planned::prepared::same_device,
    product::Factor,
};
use nalgebra::DMatrix;
use serde::Serialize;

/// The dense matrix of a [`DenseProduct`]: on the device of the sparse matrix, or on the host.
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Source<'a, T> {
    Device(&'a DeviceDense<T>),
    Host(AnyDenseView<'a>),
}

impl<T> Clone for Source<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Source<'_, T> {}

impl<'a, T> From<&'a DeviceDense<T>> for Source<'a, T> {
    fn from(d: &'a DeviceDense<T>) -> Self {
        Self::Device(d)
    }
}

impl<'a, T: Element> From<DenseView<'a, T>> for Source<'a, T> {
    fn from(d: DenseView<'a, T>) -> Self {
        Self::Host(d.into())
    }
}

impl<'a, T: Element> From<&'a DMatrix<T>> for Source<'a, T> {
    fn from(d: &'a DMatrix<T>) -> Self {
        Self::Host(d.into())
    }
}

impl<'a> From<AnyDenseView<'a>> for Source<'a, Any> {
    fn from(d: AnyDenseView<'a>) -> Self {
        Self::Host(d)
    }
}

impl<'a> From<&'a AnyDense> for Source<'a, Any> {
    fn from(d: &'a AnyDense) -> Self {
        Self::Host(d.into())
    }
}

impl<T> Source<'_, T> {
    fn element(&self) -> ElementType {
        match self {
            Self::Device(d) => d.element(),
            Self::Host(d) => d.element(),
        }
    }

    fn shape(&self) -> DenseShape {
        match self {
            Self::Device(d) => d.shape(),
            Self::Host(d) => d.shape(),
        }
    }
}

/// A product of a sparse and a dense matrix in one shot, with options: A·D, Aᵀ·D, D·A, D·Aᵀ. For
/// two sparse matrices use [`blockmul::Product`](crate::Product). For alpha·A·D + beta·C use the
/// plan that [`DenseProduct::plan`] makes, with an [`Accum`](crate::plan::Accum).
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense};
/// use nalgebra::{DMatrix, dmatrix};
/// let device = Device::auto()?;
/// let a = device.upload(&Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![2.0, 3.0, 5.0])?)?;
///
/// let d = device.upload_dense(&dmatrix![1.0, 0.0; 10.0, 1.0])?;
/// let c = dense::DenseProduct::of(a.t(), &d).run()?; // Aᵀ·D, on the device
/// assert_eq!(c.download()?, dmatrix![32.0, 3.0; 50.0, 5.0]);
///
/// // D on the host: as many columns at a time as fit the device, or a limit.
/// let d = DMatrix::from_element(2, 10_000, 1.0);
/// let (c, report) = dense::DenseProduct::of(&a, &d).memory_limit(200 << 10).run_to_host()?;
/// assert_eq!(c.column(9_999).as_slice(), [2.0, 8.0]);
/// assert!(report.bands > 1 && report.peak_device_bytes <= 200 << 10);
/// # Ok(())
/// # }
/// ```
///
/// If A's element type is known only at run time, the element type of D and C is known at run time,
/// too:
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense::{self, AnyDense}, matrix::AnyMatrix};
/// use nalgebra::dmatrix;
/// let a = AnyMatrix::from(Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![2.0f32, 3.0, 5.0])?);
/// let (a, d) = (Device::auto()?.upload(&a)?, AnyDense::from(dmatrix![1.0f32, 0.0; 10.0, 1.0]));
/// let (c, _) = dense::DenseProduct::of(&a, &d).run_to_host()?;
/// assert_eq!(c, dmatrix![2.0f32, 0.0; 53.0, 5.0].into());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias = "SpMM")]
pub struct DenseProduct<'a, M: HostMatrix> {
    a: &'a DeviceMatrix<M>,
    d: Source<'a, M::Word>,
    asked: Asked,
}

impl<M: HostMatrix> Clone for DenseProduct<'_, M> {
    fn clone(&self) -> Self {
        Self { a: self.a, d: self.d, asked: self.asked.clone() }
    }
}

/// Time and memory of a [`DenseProduct`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DenseReport {
    /// The method by which the entries of A were divided among work-items.
    pub method: DenseMethod,
    /// The reason for the method, in a sentence.
    pub why: String,
    /// Number of bands. A band is some columns of D, or some of its rows if A is on the right.
    pub bands: usize,
    /// Number of columns of each band. The last two bands may overlap.
    pub columns: usize,
    /// Milliseconds to prepare the product, without the loading of kernels.
    pub plan_ms: f64,
    /// Milliseconds of all bands, without transfers and the loading of kernels.
    pub total_ms: f64,
    /// The most bytes of device memory held at one time, operands included.
    pub peak_device_bytes: u64,
}

impl<'a, M: HostMatrix> DenseProduct<'a, M> {
    /// The product A·D; A may be transposed, by [`DeviceMatrix::t`].
    pub fn of(a: impl Into<Factor<'a, DeviceMatrix<M>>>, d: impl Into<Source<'a, M::Word>>) -> Self {
        let Factor { operand: a, transposed } = a.into();
        let asked = Asked {
            element: a.element(),
            side: Side::Left,
            transposed,
            semiring: Semiring::PlusTimes,
            method: DenseMethod::Auto,
            explained: false,
            memory_limit: None,
        };
        Self { a, d: d.into(), asked }
    }

    /// The product D·A.
    pub fn by(d: impl Into<Source<'a, M::Word>>, a: impl Into<Factor<'a, DeviceMatrix<M>>>) -> Self {
        let mut product = Self::of(a, d);
        product.asked.side = Side::Right;
        product
    }

    /// Adds and multiplies in a [`Semiring`]. The factors of a product keep the order of the
    /// matrices. Every element of a block counts as an entry.
    pub fn semiring(mut self, semiring: Semiring) -> Self {
        self.asked.semiring = semiring;
        self
    }

    /// Sets how the entries of A are divided among work-items.
    pub fn method(mut self, method: DenseMethod) -> Self {
        self.asked.method = method;
        self
    }

    /// Makes the report's reason say how often groups would use a row of D: see
    /// [`DenseOptions::explained`](crate::plan::DenseOptions::explained).
    pub fn explained(mut self) -> Self {
        self.asked.explained = true;
        self
    }

    /// Limits the bytes of device memory held at once, operands included. If D and C are on the
    /// host, C is computed in bands that are as wide as the limit allows. A band is some columns of
    /// D and C, or some rows if A is on the right.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.asked.memory_limit = Some(bytes);
        self
    }

    /// Prepares the product for dense matrices that have D's sides and layout.
    ///
    /// # Errors
    /// See [`DenseOptions::plan`](crate::plan::DenseOptions::plan);
    /// [`Error::Memory`] if the plan does not fit the limit.
    pub fn plan(&self) -> Result<ApplyDense<M>> {
        let (run, shape) = (self.checked()?, self.d.shape());
        let prepared = Prepared::new(&run.work(), &run.wanted(run.n(shape), [shape.layout; 2]))?;
        Ok(ApplyDense::of_type(prepared, self.a.type_of()))
    }

    /// Computes C on the device in D's layout, and returns without waiting for it. If D is on the
    /// host, it is copied to the device.
    ///
    /// # Errors
    /// [`Error::Argument`] if the inner dimensions differ or the semiring does not support the
    /// element type;
    /// [`Error::DeviceMismatch`];
    /// [`Error::Memory`].
    pub fn run(&self) -> Result<DeviceDense<M::Word>> {
        let run = self.checked()?;
        let work = run.work();
        match self.d {
            Source::Device(d) => Ok(self.on_device(&run, &work, d)?.0),
            Source::Host(d) => Ok(self.on_device(&run, &work, &DeviceDense::upload_within(&work, d)?)?.0),
        }
    }

    /// Computes C on the host, in D's element type.
    fn run_into_any(&self, c: AnyDenseViewMut<'_>) -> Result<DenseReport> {
        let run = self.checked()?;
        self.check_element("C", c.element())?;
        let (work, sides) = (run.work(), run.sides(self.d.shape())?);
        sides.check_sides("D", self.d.shape(), sides.d())?;
        sides.check_sides("C", c.shape, sides.c())?;
        match self.d {
            Source::Device(d) => {
                work.count_operand(d.device_bytes());
                let (on_device, report) = self.on_device(&run, &work, d)?;
                c.copy_from(on_device.any().download()?.view())?;
                Ok(report)
            }
            Source::Host(d) => {
                let (d, mut c) = match self.asked.side {
                    Side::Left => (d, c),
                    Side::Right => (d.transposed(), c.transposed()),
                };
                let d = HostDense { shape: d.shape, bytes: d.values.bytes() };
                let c = HostDense { shape: c.shape, bytes: c.values.bytes() };
                Bands { run: &run, work: &work }.run(d, c)
            }
        }
    }

    /// The product without element types. Checks that D's elements are A's and that the semiring
    /// supports them.
    fn checked(&self) -> Result<Run<'_>> {
        self.asked.semiring.check_type(self.asked.element)?;
        self.check_element("D", self.d.element())?;
        Ok(Run { asked: &self.asked, a: &self.a.cbc, pattern: self.a.pattern() })
    }

    fn check_element(&self, name: &str, found: ElementType) -> Result<()> {
        match self.asked.element {
            element if element == found => Ok(()),
            element => Err(Error::Argument(format!("{name} has elements of {found}, A has elements of {element}"))),
        }
    }

    /// Starts to compute C in the layout of D. Does not wait for it.
    fn on_device(
        &self,
        run: &Run<'_>,
        work: &Work,
        d: &DeviceDense<M::Word>,
    ) -> Result<(DeviceDense<M::Word>, DenseReport)> {
        same_device(work.device(), d.device())?;
        let (shape, values, report) = run.on_device(work, d.buffer())?;
        Ok((DeviceDense { shape, values: values.renamed(), device: work.device().clone() }, report))
    }
}

impl<M: Matrix> DenseProduct<'_, M> {
    /// Computes C on the host.
    ///
    /// # Errors
    /// See [`DenseProduct::run`]; [`Error::Memory`] with the numbers if A and one column each of D
    /// and C do not fit the device or the limit, if D is on the device and leaves too little memory
    /// for C, or if C does not fit the host.
    pub fn run_to_host(&self) -> Result<(DMatrix<M::Element>, DenseReport)> {
        let (rows, cols) = self.checked()?.sides(self.d.shape())?.c();
        let mut c = try_dense_zeros(rows, cols)?;
        let report = self.run_into((&mut c).into())?;
        Ok((c, report))
    }

    /// Computes C on the host, and writes it into an array of any layout.
    ///
    /// # Errors
    /// See [`DenseProduct::run_to_host`].
    pub fn run_into(&self, c: DenseViewMut<'_, M::Element>) -> Result<DenseReport> {
        self.run_into_any(c.into())
    }
}

impl DenseProduct<'_, AnyMatrix> {
    /// Computes C on the host, in D's layout.
    ///
    /// # Errors
    /// See [`DenseProduct::run`]; [`Error::Memory`] with the numbers if A and one column each of D
    /// and C do not fit the device or the limit, if D is on the device and leaves too little memory
    /// for C, or if C does not fit the host.
    pub fn run_to_host(&self) -> Result<(AnyDense, DenseReport)> {
        let d = self.d.shape();
        let mut c = AnyDense::zeros(self.asked.element, self.checked()?.sides(d)?.c(), d.layout)?;
        let report = self.run_into(&mut c)?;
        Ok((c, report))
    }

    /// Computes C on the host, and writes it into a matrix of any layout.
    ///
    /// # Errors
    /// See [`DenseProduct::run_to_host`]; [`Error::Argument`] if C has another element type.
    pub fn run_into(&self, c: &mut AnyDense) -> Result<DenseReport> {
        self.run_into_any(c.view_mut())
    }
}

impl DenseReport {
    pub(super) fn new(
        work: &Work,
        prepared: &Prepared,
        (bands, columns): (usize, usize),
        plan_ms: f64,
        total_ms: f64,
    ) -> Self {
        let MethodChoice { method, why } = prepared.spmm.choice.clone();
        Self { method, why, bands, columns, plan_ms, total_ms, peak_device_bytes: work.most_used_bytes() }
    }
}
