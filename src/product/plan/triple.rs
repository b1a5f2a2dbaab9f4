//! Triple products: [`Triple`].
use crate::{DeviceMatrix, DevicePattern, Matrix, Plan, Result};
use std::sync::{Mutex, PoisonError};

/// C = R·A·P or RᵀAR of matrices whose patterns stay the same, prepared: the Galerkin product of algebraic multigrid, the marginal information of
/// grouped variables, a change of basis.
///
/// Two [`Plan`]s, from the right: A·P into room of its own, then R times that. The bits are those of the two products one after the other; in
/// `f16` what is between them is rounded to it. R is n x m blocks in RᵀAR, so that blocks of b x c in R take A's from b x b to c x c.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Triple};
/// let device = Device::auto()?;
/// // A path of four nodes, aggregated in two pairs.
/// let laplacian = [(0, 0, 1.0), (1, 1, 2.0), (2, 2, 2.0), (3, 3, 1.0)].into_iter()
///     .chain((0..3).flat_map(|i| [(i, i + 1, -1.0), (i + 1, i, -1.0)]));
/// let a = device.upload(&Csc::from_triplets(4, 4, laplacian)?)?;
/// let r = device.upload(&Csc::from_triplets(4, 2, (0..4).map(|i| (i, i / 2, 1.0)))?)?;
///
/// let plan = Triple::<Csc<f64>>::galerkin(&r.pattern(), &a.pattern())?; // structure, once
/// let mut coarse = plan.output()?;
/// plan.execute(&r, &a, &r, &mut coarse)?; // values, many times
/// assert_eq!(coarse.download()?.values(), [1.0, -1.0, -1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub struct Triple<M: Matrix> {
    /// R, A and P.
    operands: [DevicePattern; 3],
    right: Plan<M>,
    left: Plan<M>,
    /// A·P, written and read by one execution at a time; the queue keeps the order in which they were enqueued.
    middle: Mutex<DeviceMatrix<M>>,
    bytes: u64,
}

impl<M: Matrix> Triple<M> {
    /// C = RᵀAR, without forming Rᵀ. Execute with R twice.
    ///
    /// # Errors
    /// [`Error::Dimensions`](crate::Error::Dimensions) when inner sizes differ, [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::Memory`](crate::Error::Memory) when the plans or A·R do not fit the device, [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn galerkin(r: &DevicePattern, a: &DevicePattern) -> Result<Self> {
        let right = Plan::multiply(a, r)?;
        let left = Plan::multiply_transposed(r, right.pattern())?;
        Self::new([r, a, r], right, left)
    }

    /// C = R·A·P.
    ///
    /// # Errors
    /// As [`Triple::galerkin`].
    pub fn multiply(r: &DevicePattern, a: &DevicePattern, p: &DevicePattern) -> Result<Self> {
        let right = Plan::multiply(a, p)?;
        let left = Plan::multiply(r, right.pattern())?;
        Self::new([r, a, p], right, left)
    }

    fn new(operands: [&DevicePattern; 3], right: Plan<M>, left: Plan<M>) -> Result<Self> {
        let middle = right.output()?;
        // The pattern is the plan's, and counted there.
        let bytes = right.device_bytes() + left.device_bytes() + middle.device_bytes() - right.pattern().device_bytes();
        Ok(Self { operands: operands.map(Clone::clone), right, left, middle: Mutex::new(middle), bytes })
    }

    /// A matrix with the pattern of C, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        self.left.output()
    }

    /// C = op(R)·A·P; P is R where RᵀAR is planned.
    ///
    /// Returns when it is enqueued; allocates nothing and reads nothing back, as [`Plan::execute`].
    ///
    /// # Errors
    /// As [`Plan::execute`].
    pub fn execute(
        &self,
        r: &DeviceMatrix<M>,
        a: &DeviceMatrix<M>,
        p: &DeviceMatrix<M>,
        c: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        self.execute_scaled(1.0, (r, a, p), 0.0, c)
    }

    /// C = alpha·op(R)·A·P + beta·C. Where beta is 0, what C held does not matter.
    ///
    /// # Errors
    /// As [`Triple::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        (r, a, p): (&DeviceMatrix<M>, &DeviceMatrix<M>, &DeviceMatrix<M>),
        beta: f64,
        c: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        for ((name, matrix), pattern) in [("R", r), ("A", a), ("P", p)].into_iter().zip(&self.operands) {
            pattern.check(name, &matrix.cbc)?;
        }
        let mut middle = self.middle.lock().unwrap_or_else(PoisonError::into_inner);
        self.right.execute(a, p, &mut middle)?;
        self.left.execute_scaled(alpha, r, &middle, beta, c)
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        self.left.pattern()
    }

    /// Products of entries (blocks) in an execution: of both products.
    pub fn products(&self) -> u64 {
        self.right.products() + self.left.products()
    }

    /// Floating-point operations of an execution: 2 for each product of scalars.
    pub fn flops(&self) -> u64 {
        self.right.flops() + self.left.flops()
    }

    /// Bytes of device memory held: two plans and A·P.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for Triple<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Triple({:?} then {:?})", self.right, self.left)
    }
}
