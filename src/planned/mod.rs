//! Operations that are prepared once for patterns and executed many times with values: [`Planned`].
pub(crate) mod prepared;

use crate::{
    Device, DeviceMatrix, Marker, Result,
    device::{Clock, StageTime, Work},
    matrix::HostMatrix,
    resident::DeviceCbc,
};

/// An operation that is prepared for patterns and executed with values.
///
/// A nonlinear least-squares solver repeats the same operations on the same patterns in every
/// iteration. A plan keeps everything that depends on the patterns only, so an execution only
/// computes values. An execution allocates no device memory, reads nothing back, and returns when
/// it is enqueued. The results have the same bits as the results of the same operation without a
/// plan.
///
/// If a matrix was not made on the plan's own pattern, its pattern is compared with that of the
/// plan by a fingerprint. The fingerprint is computed once for each pattern, with one small
/// read-back.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Accum;
/// use blockmul::{Csc, Device, Planned, Product};
/// let device = Device::auto()?;
/// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
/// let plan = Product::of(&a, &a).plan()?; // structure, once
/// let mut c = plan.output()?;
/// plan.execute((&a, &a), &mut c)?; // values, many times
/// plan.execute((&a, &a), Accum::into(&mut c).alpha(-3.0).beta(1.0))?;
/// assert_eq!(c.download()?.values(), [-8.0, -42.0, -50.0]);
/// println!("{:?}", plan.cost());
/// # Ok(())
/// # }
/// ```
pub trait Planned {
    /// The inputs of an execution.
    type Inputs<'a>;
    /// The output of an execution.
    type Output;

    /// The device on which the plan was made.
    fn device(&self) -> &Device;

    /// A matrix or vector of zeros with the right pattern or length, as the output of executions.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    fn output(&self) -> Result<Self::Output>;

    /// The arithmetic operations of an execution, and the memory that the plan holds.
    fn cost(&self) -> Cost;

    /// Checks the operands and enqueues one execution.
    #[doc(hidden)]
    fn enqueue(&self, on: On<'_>, inputs: Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()>;

    /// Computes the plan's result R: C = R if `into` is `&mut c`, or C = alpha·R + beta·C if `into`
    /// has factors. The function returns when the execution is enqueued. A download of C waits for
    /// the execution.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for a matrix of another pattern or block
    /// shape, [`Error::Length`](crate::Error::Length) for a vector of another length,
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::Argument`](crate::Error::Argument) for too few or too many inputs,
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    fn execute<'i, 'o>(
        &self,
        inputs: impl Into<Self::Inputs<'i>>,
        into: impl Into<Accum<'o, Self::Output>>,
    ) -> Result<Marker>
    where
        Self::Output: 'o,
    {
        let (work, into) = (Work::new(self.device(), None), into.into());
        self.device().wait_for_markers(&into.after)?;
        self.enqueue(On(&work), inputs.into(), into)?;
        Ok(work.marker())
    }

    /// Like [`Planned::execute`], but waits for the output and reports the time and the commands of
    /// the execution.
    ///
    /// # Errors
    /// See [`Planned::execute`].
    fn execute_with_report<'i, 'o>(
        &self,
        inputs: impl Into<Self::Inputs<'i>>,
        into: impl Into<Accum<'o, Self::Output>>,
    ) -> Result<ExecutionReport>
    where
        Self::Output: 'o,
    {
        let into = into.into();
        self.device().wait_for_markers(&into.after)?;
        let work = Work::timed(self.device(), None)?;
        let clock = work.clock();
        self.enqueue(On(&work), inputs.into(), into)?;
        reported(&work, &clock, self.cost())
    }
}

/// Waits for an execution and makes its report.
fn reported(work: &Work, clock: &Clock<'_>, cost: Cost) -> Result<ExecutionReport> {
    work.wait()?;
    Ok(ExecutionReport {
        cost,
        total_ms: clock.elapsed().as_secs_f64() * 1e3,
        kernels_ms: work.kernel_wait().as_secs_f64() * 1e3,
        stages: work.all_stage_times()?,
        launches: work.launches(),
        read_backs: work.read_backs(),
    })
}

/// The queue and the `Work` for the commands of one execution. Only the library can make this
/// value.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct On<'a>(pub(crate) &'a Work);

/// The arithmetic operations of an execution, and the memory that the plan holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// Number of products of entries (blocks) in an execution; 0 for plans that multiply no
    /// matrices.
    pub products: u64,
    /// Number of floating-point operations of an execution: 2 for each scalar product that is added
    /// to a sum, and 1 for each multiplication by a weight.
    pub flops: u64,
    /// Number of bytes of device memory that the plan holds, including the pattern of its output.
    /// The patterns of the inputs belong to the matrices and are not counted.
    pub device_bytes: u64,
}

/// The time and the commands of one execution of a plan.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ExecutionReport {
    /// The arithmetic operations and the memory of the plan.
    pub cost: Cost,
    /// Times of the stages on the device, in the order in which the stages began.
    pub stages: Vec<StageTime>,
    /// Wall-clock milliseconds until the output was complete on the device, without the time of
    /// loading kernels.
    pub total_ms: f64,
    /// Milliseconds spent waiting for kernels to be compiled, or loaded from the cache of kernels.
    pub kernels_ms: f64,
    /// Number of kernels launched.
    pub launches: u32,
    /// Number of blocking reads from the device.
    pub read_backs: u32,
}

/// How an execution writes its output: C = alpha·(…) + beta·C, after some events. `&mut c` converts
/// to C = (…).
#[derive(Debug)]
pub struct Accum<'a, C> {
    pub(crate) c: &'a mut C,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    after: Vec<Marker>,
}

impl<'a, C> Accum<'a, C> {
    /// Sets C to the result: C = (…).
    pub fn into(c: &'a mut C) -> Self {
        Self { c, alpha: 1.0, beta: 0.0, after: Vec::new() }
    }

    /// Multiplies each sum by `alpha` once the sum is complete. `alpha` is rounded to the element's
    /// arithmetic type.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Adds `beta`·C. If beta is 0, the default, the old contents of C do not matter, even if they
    /// are NaN.
    pub fn beta(mut self, beta: f64) -> Self {
        self.beta = beta;
        self
    }

    /// Makes the execution begin after these markers, which belong to queues of other devices or to
    /// events of the application. Markers of the plan's own device cost nothing, because the queue
    /// of that device runs in order.
    pub fn after<'m>(mut self, markers: impl IntoIterator<Item = &'m Marker>) -> Self {
        self.after.extend(markers.into_iter().cloned());
        self
    }
}

impl<'a, M: HostMatrix> Accum<'a, DeviceMatrix<M>> {
    /// Replaces C by its arrays, whose element type is known at run time only. Alpha, beta and
    /// events stay.
    pub(crate) fn arrays(self) -> Accum<'a, DeviceCbc> {
        Accum { c: &mut self.c.cbc, alpha: self.alpha, beta: self.beta, after: self.after }
    }
}

impl<'a, C> From<&'a mut C> for Accum<'a, C> {
    fn from(c: &'a mut C) -> Self {
        Self::into(c)
    }
}
