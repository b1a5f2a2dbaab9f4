//! Plans: structure once, values many times.
//!
//! A nonlinear least-squares solver multiplies matrices of the same patterns in every iteration. A [`Plan`] keeps what depends on the
//! patterns only: which pairs of entries (blocks) meet, where their sums go, the pattern of the result. An execution then is the sums
//! alone: it allocates nothing, reads nothing back, and returns as soon as it is enqueued. Its bits are those of a product in one shot.
mod triple;
mod weigh;
mod weighted;

pub use triple::Triple;
pub(crate) use weigh::{Weigh, block_diagonal};
pub use weighted::{WeightedGram, Weights};

use super::{Bin, Method, Part, PlannedProduct, Room, STAGES, Scaling, Side};
use crate::{
    Device, DeviceMatrix, DevicePattern, Element, Error, Matrix, Report, Result, device::Work, events::ms,
    resident::DeviceCbc,
};
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

mod masked;
pub(crate) use masked::check_mask;

/// A product of two matrices whose patterns stay the same, prepared.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{BlockShape, Cbc, Device, Plan, generate, reference};
/// let device = Device::auto()?;
/// let w: Cbc<f64> = generate::bundle_adjustment(20, 300, 4, BlockShape::new(6, 3)?, Default::default(), 1)?;
/// let mut a = device.upload(&w)?;
/// let b = device.upload(&w.transpose())?;
///
/// let plan = Plan::<Cbc<f64>>::multiply(&a.pattern(), &b.pattern())?; // structure, once
/// let mut c = plan.output()?;
/// for step in 1..=3 {
///     let values: Vec<f64> = w.values().iter().map(|x| x * step as f64).collect();
///     a.write_values(&values)?; // new values, same pattern
///     plan.execute(&a, &b, &mut c)?; // values, many times
///     assert_eq!(c.download()?.nnz(), plan.pattern().nnz());
/// }
/// println!("{} flops on {} bytes", plan.flops(), plan.device_bytes());
/// # Ok(())
/// # }
/// ```
pub struct Plan<M: Matrix> {
    device: Device,
    a: DevicePattern,
    b: DevicePattern,
    c: DevicePattern,
    transposed: (bool, bool),
    /// Kernels hold their arguments, so that two threads take turns to enqueue.
    product: Mutex<PlannedProduct<M::Element>>,
    products: u64,
    longest_run: u32,
    bins: Vec<Bin>,
    bytes: u64,
}

/// The pattern of an operand, and whether its transpose is multiplied.
pub(crate) type Stored<'a> = (&'a DevicePattern, bool);

impl<M: Matrix> Plan<M> {
    /// C = A·B.
    ///
    /// # Errors
    /// [`Error::Dimensions`] when the inner sizes differ, [`Error::DeviceMismatch`], [`Error::Memory`] when the operand pairs do not fit the
    /// device, [`Error::TooLarge`], [`Error::Argument`] for a pattern of another kind of matrix.
    pub fn multiply(a: &DevicePattern, b: &DevicePattern) -> Result<Self> {
        Self::new((a, false), (b, false), Part::Full)
    }

    /// C = Aᵀ·B, without forming Aᵀ.
    ///
    /// # Errors
    /// As [`Plan::multiply`].
    pub fn multiply_transposed(a: &DevicePattern, b: &DevicePattern) -> Result<Self> {
        Self::new((a, true), (b, false), Part::Full)
    }

    /// C = JᵀJ or a triangle of it, without forming Jᵀ: with k blocks in a row of J, a triangle takes k(k+1)/2 block products of that row, the
    /// whole k². Execute with J twice.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{BlockShape, Cbc, Csc, Device, Part, Plan};
    /// let device = Device::auto()?;
    /// //      | 1 2 |        | 1 2 |
    /// //  J = | . 3 |   JᵀJ =| 2 13|
    /// let j = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?)?;
    /// let plan = Plan::<Csc<f64>>::gram(&j.pattern(), Part::Lower)?;
    /// let mut h = plan.output()?;
    /// plan.execute(&j, &j, &mut h)?;
    /// assert_eq!(h.download()?.values(), [1.0, 2.0, 13.0]);
    /// assert_eq!(plan.products(), 3 + 1); // rows of 2 and of 1 entries
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Plan::multiply`].
    pub fn gram(j: &DevicePattern, part: Part) -> Result<Self> {
        Self::new((j, true), (j, false), part)
    }

    /// op(A)·op(B), each transposed where the flag beside it says so.
    pub(crate) fn new(a: Stored<'_>, b: Stored<'_>, part: Part) -> Result<Self> {
        Self::prepared(a, b, |work, first, second| PlannedProduct::new(work, first, second, Self::part_of_arrays(part)))
    }

    /// Asks for the kernels that [`Plan::new`] will launch; what it will refuse is left to it.
    pub(crate) fn ask(a: Stored<'_>, b: Stored<'_>, part: Part) -> Result<()> {
        a.0.device().require::<M::Element>()?;
        let (first, second) = Self::sides(a, b);
        match first.meets(&second) {
            true => PlannedProduct::<M::Element>::ask(a.0.device(), &first, &second, Self::part_of_arrays(part)),
            false => Ok(()),
        }
    }

    /// In the arrays of row-major matrices what is above becomes what is below.
    fn part_of_arrays(part: Part) -> Part {
        match (M::ROW_MAJOR, part) {
            (false, part) | (true, part @ Part::Full) => part,
            (true, Part::Lower) => Part::Upper,
            (true, Part::Upper) => Part::Lower,
        }
    }

    /// The operands in the order of their arrays.
    fn sides((a, a_transposed): Stored<'_>, (b, b_transposed): Stored<'_>) -> (Side, Side) {
        let side = |pattern: &DevicePattern, transposed| Side {
            pattern: pattern.arrays.clone(),
            shape: pattern.array_shape,
            transposed,
        };
        let (a_side, b_side) = (side(a, a_transposed), side(b, b_transposed));
        if M::ROW_MAJOR { (b_side, a_side) } else { (a_side, b_side) }
    }

    /// The plan of what `prepare` makes of the operands as their arrays are: those of row-major matrices are the transposes', Cᵀ = op(B)ᵀ·op(A)ᵀ.
    fn prepared(
        (a, a_transposed): Stored<'_>,
        (b, b_transposed): Stored<'_>,
        prepare: impl FnOnce(&Work, &Side, &Side) -> Result<PlannedProduct<M::Element>>,
    ) -> Result<Self> {
        let device = a.device();
        if !device.same_as(b.device()) {
            return Err(Error::DeviceMismatch { a: device.info().name.clone(), b: b.device().info().name.clone() });
        }
        device.require::<M::Element>()?;
        a.check_kind::<M>()?;
        b.check_kind::<M>()?;
        let (first, second) = Self::sides((a, a_transposed), (b, b_transposed));
        if !first.meets(&second) {
            return Err(Error::Dimensions { a: first.dimensions(), b: second.dimensions() });
        }
        let start = Instant::now();
        let product = prepare(&Work::new(device, None), &first, &second)?;
        let (nnz, products, bytes) = (product.c.nnz(), product.products, product.bytes());
        tracing::debug!(target: "blockmul::plan", nnz, products, bytes, ms = ms(start), "product planned");
        let c = DevicePattern { arrays: product.c.clone(), array_shape: product.shape, row_major: M::ROW_MAJOR };
        Ok(Self {
            device: device.clone(),
            a: a.clone(),
            b: b.clone(),
            c,
            transposed: (a_transposed, b_transposed),
            products: product.products,
            longest_run: product.longest_run,
            bins: product.bins.clone(),
            bytes: product.bytes(),
            product: Mutex::new(product),
        })
    }

    /// A matrix with the pattern of C, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros(&self.c)
    }

    /// C = op(A)·op(B).
    ///
    /// Returns when it is enqueued; a download waits. Allocates nothing and reads nothing back; a matrix that was not made on the plan's own
    /// pattern is told by a fingerprint, which is computed once (one small read-back).
    ///
    /// # Errors
    /// [`Error::PlanPattern`] when a matrix has another pattern or block shape than the plan,
    /// [`Error::OpenCl`].
    pub fn execute(&self, a: &DeviceMatrix<M>, b: &DeviceMatrix<M>, c: &mut DeviceMatrix<M>) -> Result<()> {
        self.execute_scaled(1.0, a, b, 0.0, c)
    }

    /// C = alpha·op(A)·op(B) + beta·C. Where beta is 0, what C held does not matter.
    ///
    /// Each sum is multiplied by alpha once it is complete; the numbers are rounded to the element's arithmetic type.
    ///
    /// # Errors
    /// As [`Plan::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
        beta: f64,
        c: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        self.enqueue(&Work::new(&self.device, None), alpha, (a, b), beta, c)
    }

    /// As [`Plan::execute`], waits, and tells what it took.
    ///
    /// # Errors
    /// As [`Plan::execute`].
    pub fn execute_with_report(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
        c: &mut DeviceMatrix<M>,
    ) -> Result<Report> {
        let work = Work::new(&self.device, None);
        self.check((a, b), c)?;
        let clock = work.clock();
        self.enqueue_into(&work, (&a.cbc, &b.cbc), Scaling::plain(), Room::from(&mut c.cbc))?;
        work.wait()?;
        let used = self.bytes + a.device_bytes() + b.device_bytes() + c.device_bytes();
        Ok(Report {
            method: Method::Auto,
            bins: self.bins.clone(),
            products: self.products,
            c_nnz: c.nnz() as u64,
            dropped: 0,
            longest_run: self.longest_run,
            bands: 1,
            peak_device_bytes: used + self.device.kept_bytes(),
            used_device_bytes: used,
            total_ms: clock.elapsed().as_secs_f64() * 1e3,
            kernels_ms: work.kernel_wait().as_secs_f64() * 1e3,
            stages: work.stage_times(&STAGES[4..5])?,
            launches: work.launches(),
            read_backs: work.read_backs(),
        })
    }

    fn enqueue(
        &self,
        work: &Work,
        alpha: f64,
        (a, b): (&DeviceMatrix<M>, &DeviceMatrix<M>),
        beta: f64,
        c: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        self.check((a, b), c)?;
        self.enqueue_into(work, (&a.cbc, &b.cbc), Scaling::new(alpha, beta), Room::from(&mut c.cbc))
    }

    /// Refuses matrices of other patterns than the plan's.
    fn check(&self, (a, b): (&DeviceMatrix<M>, &DeviceMatrix<M>), c: &DeviceMatrix<M>) -> Result<()> {
        [("A", &self.a, &a.cbc), ("B", &self.b, &b.cbc), ("C", &self.c, &c.cbc)]
            .into_iter()
            .try_for_each(|(name, pattern, matrix)| pattern.check(name, matrix))
    }

    /// As [`Plan::execute_scaled`], of arrays that the caller has checked.
    pub(crate) fn enqueue_into(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc<M::Element>, &DeviceCbc<M::Element>),
        scaling: Scaling<<M::Element as Element>::Arithmetic>,
        c: Room<'_, M::Element>,
    ) -> Result<()> {
        let operands = if M::ROW_MAJOR { (b, a) } else { (a, b) };
        let mut product = self.product.lock().unwrap_or_else(PoisonError::into_inner);
        product.execute(work, operands, scaling, c)
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.c
    }

    /// Products of entries (blocks) in an execution.
    pub fn products(&self) -> u64 {
        self.products
    }

    /// Floating-point operations of an execution: 2 for each product of scalars.
    pub fn flops(&self) -> u64 {
        let op = |pattern: &DevicePattern, transposed: bool| {
            if transposed { pattern.shape().transpose() } else { pattern.shape() }
        };
        let (a, b) = (op(&self.a, self.transposed.0), op(&self.b, self.transposed.1));
        2 * self.products * (a.rows() * a.cols() * b.cols()) as u64
    }

    /// Bytes of device memory the plan holds: operand pairs, run ends and the pattern of C; the patterns of A and B are the matrices'.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for Plan<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { products, bytes, c, .. } = self;
        write!(f, "Plan({products} products, {bytes} bytes, C: {c:?})")
    }
}
