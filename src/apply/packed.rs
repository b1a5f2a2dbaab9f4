//! Products of one matrix with vectors. The matrix's values are copied in the order of a format.
use super::{Apply, ApplyOptions, Format, Spmv, spmv::PackedValues};
use crate::{
    Device, DeviceMatrix, DeviceVector, Result,
    device::{Buffer, Work},
    element::Scaling,
    matrix::HostMatrix,
    planned::{Accum, Cost, On, Planned},
    vector::line_sums::Stored,
};

/// A matrix or its transpose in a [`Format`](crate::plan::Format), ready to be multiplied with
/// vectors. [`ApplyOptions::pack`](crate::plan::ApplyOptions::pack) makes it.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Apply, Format};
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let mut a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
/// let mut packed = Apply::with(&a.pattern()).format(Format::SlicedEll).pack(&a)?;
/// let x = device.upload_vector(&[1.0, 10.0])?;
/// let mut y = packed.output()?;
/// packed.execute(&x, &mut y)?;
/// assert_eq!(y.download()?, [2.0, 53.0]);
///
/// a.write_values(&[4.0, 6.0, 10.0])?; // other values on the same pattern
/// packed.update(&a)?;
/// packed.execute(&x, &mut y)?;
/// assert_eq!(y.download()?, [4.0, 106.0]);
/// # Ok(())
/// # }
/// ```
pub struct Packed<M: HostMatrix, V = <M as HostMatrix>::Word> {
    plan: Apply<M, V>,
    values: PackedValues,
}

/// The prepared sums of a product, and A's values in the order of the sums.
pub(super) struct Turn<'a> {
    pub sums: &'a Spmv,
    pub values: Stored<'a>,
}

impl Turn<'_> {
    /// y = alpha·A·x + beta·y.
    pub fn run(self, work: &Work, x: &Buffer, scaling: Scaling, y: &mut Buffer) -> Result<()> {
        self.sums.run(work, self.values, x, scaling, y)
    }
}

impl<M: HostMatrix, V: 'static> ApplyOptions<M, V> {
    /// Prepares the product for one matrix, whose values are copied in the order of the format, so
    /// that an execution reads the values from front to back.
    ///
    /// # Errors
    /// See [`ApplyOptions::plan`].
    pub fn pack(self, a: &DeviceMatrix<M>) -> Result<Packed<M, V>> {
        Packed::new(self.plan_packed()?, a)
    }

    /// Prepares the product for matrices whose values are copied in the order of the format, by
    /// [`Apply::pack`].
    pub(crate) fn plan_packed(mut self) -> Result<Apply<M, V>> {
        self.request.packed = true;
        Apply::prepared(&self)
    }
}

impl<M: HostMatrix, V: 'static> Apply<M, V> {
    /// Copies A's values in the order of the plan's format. The plan is made by
    /// [`ApplyOptions::plan_packed`].
    pub(crate) fn pack(&self, a: &DeviceMatrix<M>) -> Result<PackedValues> {
        self.check("A", a)?;
        let mut values = PackedValues::new(self.device(), self.sums())?;
        values.update(&Work::new(self.device(), None), self.sums(), (&a.cbc).into())?;
        Ok(values)
    }
}

impl<M: HostMatrix, V: 'static> Packed<M, V> {
    pub(super) fn new(plan: Apply<M, V>, a: &DeviceMatrix<M>) -> Result<Self> {
        let values = plan.pack(a)?;
        Ok(Self { plan, values })
    }

    /// The prepared sums, and the values in the order of the sums.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn { sums: self.plan.sums(), values: self.values.stored() }
    }

    /// Copies A's current values in one pass. Returns when the copy is enqueued.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for a matrix of another pattern,
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn update(&mut self, a: &DeviceMatrix<M>) -> Result<()> {
        self.plan.check("A", a)?;
        let work = Work::new(self.plan.device(), None);
        self.values.update(&work, self.plan.sums(), (&a.cbc).into())
    }

    /// The format of the values.
    pub fn format(&self) -> Format {
        self.plan.format()
    }

    /// The reason for the format, in a sentence.
    pub fn why(&self) -> &str {
        self.plan.why()
    }

    /// Number of elements of x: the scalar columns of op(A).
    pub fn x_len(&self) -> usize {
        self.plan.x_len()
    }

    /// Number of elements of y: the scalar rows of op(A).
    pub fn y_len(&self) -> usize {
        self.plan.y_len()
    }
}

impl<M: HostMatrix, V: 'static> Planned for Packed<M, V> {
    /// The vector x.
    type Inputs<'a> = &'a DeviceVector<V>;
    /// The vector y.
    type Output = DeviceVector<V>;

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

    fn enqueue(&self, On(work): On<'_>, x: Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.plan.check_vectors(x, &into)?;
        work.stage("apply");
        let scaling = Scaling::of(self.plan.sums().vector(), into.alpha, into.beta);
        self.turn().run(work, x.values.any(), scaling, into.c.values.any_mut())
    }
}

impl<M: HostMatrix, V: 'static> std::fmt::Debug for Packed<M, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Packed({:?}, {} bytes of values)", self.plan, self.values.bytes())
    }
}
