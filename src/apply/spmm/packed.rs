//! Products of one sparse matrix with dense matrices. The sparse matrix's values are copied in the
//! order of the sums.
use super::{ApplyDense, DenseMethod, DenseOptions, pack::PackedLines};
use crate::{
    Device, DeviceDense, DeviceMatrix, Result,
    matrix::HostMatrix,
    planned::{Accum, Cost, On, Planned},
};

/// A sparse matrix or its transpose, ready to be multiplied with dense ones.
/// [`DenseOptions::pack`](crate::plan::DenseOptions::pack) makes it.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::ApplyDense;
/// use blockmul::{Csc, Device, Planned};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// let mut a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
/// let mut packed = ApplyDense::with(&a.pattern(), 2).pack(&a)?;
/// let d = device.upload_dense(&dmatrix![1.0, 0.0; 10.0, 1.0])?;
/// let mut c = packed.output()?;
/// packed.execute(&d, &mut c)?;
/// assert_eq!(c.download()?, dmatrix![2.0, 0.0; 53.0, 5.0]);
///
/// a.write_values(&[4.0, 6.0, 10.0])?; // other values on the same pattern: one copy
/// packed.update(&a)?;
/// packed.execute(&d, &mut c)?;
/// assert_eq!(c.download()?, dmatrix![4.0, 0.0; 106.0, 10.0]);
/// # Ok(())
/// # }
/// ```
pub struct PackedDense<M: HostMatrix> {
    plan: ApplyDense<M>,
    values: PackedLines,
}

impl<M: HostMatrix> PackedDense<M> {
    pub(super) fn new(options: &DenseOptions<M>, a: &DeviceMatrix<M>) -> Result<Self> {
        a.check("A", &options.wanted.a, options.of)?;
        options.check()?;
        let (prepared, values) = PackedLines::prepare(&options.wanted, &a.cbc)?;
        Ok(Self { plan: ApplyDense::of_type(prepared, options.of), values })
    }

    /// Copies A's current values in one pass. Returns when the copy is enqueued.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for a matrix of another pattern,
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn update(&mut self, a: &DeviceMatrix<M>) -> Result<()> {
        self.plan.check(a)?;
        self.values.update(&self.plan.prepared, &a.cbc)
    }

    /// The method by which the entries of A are divided among work-items.
    pub fn method(&self) -> DenseMethod {
        self.plan.method()
    }

    /// The reason for the method, in a sentence.
    pub fn why(&self) -> &str {
        self.plan.why()
    }

    /// Rows and columns of D.
    pub fn d_sides(&self) -> (usize, usize) {
        self.plan.d_sides()
    }

    /// Rows and columns of C.
    pub fn c_sides(&self) -> (usize, usize) {
        self.plan.c_sides()
    }
}

impl<M: HostMatrix> Planned for PackedDense<M> {
    /// The dense matrix D.
    type Inputs<'a> = &'a DeviceDense<M::Word>;
    /// The dense matrix C.
    type Output = DeviceDense<M::Word>;

    fn device(&self) -> &Device {
        self.plan.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.plan.output()
    }

    fn cost(&self) -> Cost {
        let cost = self.plan.cost();
        Cost { device_bytes: cost.device_bytes + self.values.bytes(), ..cost }
    }

    fn enqueue(&self, On(work): On<'_>, d: Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.plan.multiply(work, self.values.stored(), d, into)
    }
}

impl<M: HostMatrix> std::fmt::Debug for PackedDense<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PackedDense({:?}, {} bytes of values)", self.plan, self.values.bytes())
    }
}
