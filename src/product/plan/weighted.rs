//! JᵀWJ, planned: the normal equations of weighted least squares.
use super::{Plan, Weigh, block_diagonal};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Part, Result,
    device::Work,
    product::{Room, Scaling},
};
use std::sync::{Mutex, PoisonError};

/// What the residuals of J·x - b are weighed with: a block-diagonal W, one block for each block row of J.
///
/// `I` is a block-diagonal matrix, `V` a vector: [`DeviceMatrix`] and [`DeviceVector`] for a [`WeightedGram`], their host's for
/// [`reference::gram_weighted`](crate::reference::gram_weighted). Blocks of W are used as they are: whether they are symmetric is not
/// asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<I, V> {
    /// A full information matrix for each block row (edge, observation): with J of n block rows of r scalar rows, n x n blocks of r x r,
    /// all on the diagonal and none missing.
    Information(I),
    /// The same, each multiplied by a number: robust losses on Mahalanobis distances. `weights` has n elements.
    Scaled {
        /// The information matrices.
        information: I,
        /// One number for each block row.
        weights: V,
    },
    /// A number for each block row: n elements.
    BlockRows(V),
    /// A number for each scalar row, each residual: n·r elements.
    Rows(V),
}

/// Weights on a device.
pub(crate) type DeviceWeights<'a, M> = Weights<&'a DeviceMatrix<M>, &'a DeviceVector<<M as Matrix>::Element>>;

impl<I: Copy, V> Weights<I, V> {
    /// The block-diagonal matrix, where there is one.
    pub(crate) fn information(&self) -> Option<I> {
        match self {
            Self::Information(information) | Self::Scaled { information, .. } => Some(*information),
            Self::BlockRows(_) | Self::Rows(_) => None,
        }
    }
}

/// H = JᵀWJ for a block-diagonal W, or a triangle of it, without forming Jᵀ; prepared for a J whose pattern stays.
///
/// Two steps. First T = W·J into room that the plan holds, on J's pattern: an element of W·J's block is the sum over the block's inner index
/// in ascending order, each multiplication rounded before it is added, that sum multiplied by the weight where there is one; or an element
/// of J multiplied by its weight; rounded to the element type. Then H = Jᵀ·T, as [`Plan::multiply_transposed`] has it: over block rows in
/// ascending order. [`reference::gram_weighted`](crate::reference::gram_weighted) has the same bits. Two elements of H that mirror each
/// other are rounded apart: with [`Part::Full`] H need not be symmetric to the last bit.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{BlockShape, Cbc, Device, DeviceMatrix, Part, WeightedGram, Weights};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// // Two edges between two poses of one parameter each; residuals of 2.
/// let shape = BlockShape::new(2, 1)?;
/// let edges = [(0, 0, dmatrix![1.0; 2.0]), (0, 1, dmatrix![1.0; 0.0]), (1, 1, dmatrix![3.0; 1.0])];
/// let j = device.upload(&Cbc::from_triplets(2, 2, shape, edges)?)?;
///
/// let plan = WeightedGram::<Cbc<f64>>::new(&j.pattern(), Part::Lower)?; // structure, once
/// let mut h = plan.output()?;
/// let mut information = DeviceMatrix::zeros(plan.weights_pattern())?;
/// information.write_values(&[2.0, 1.0, 1.0, 2.0, /* second edge: */ 1.0, 0.0, 0.0, 1.0])?;
/// let robust = device.upload_vector(&[1.0, 0.5])?;
/// plan.execute(&j, Weights::Scaled { information: &information, weights: &robust }, &mut h)?; // values, many times
/// assert_eq!(h.download()?.values(), [14.0, 4.0, 7.0]);
///
/// plan.execute(&j, Weights::BlockRows(&robust), &mut h)?;
/// assert_eq!(h.download()?.values(), [5.0, 1.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct WeightedGram<M: Matrix> {
    device: Device,
    plan: Plan<M>,
    weights: DevicePattern,
    /// Executions share the room for T, so that two threads take turns.
    weigh: Mutex<Weigh<M::Element>>,
    bytes: u64,
}

impl<M: Matrix> WeightedGram<M> {
    /// For a J with this pattern.
    ///
    /// # Errors
    /// As [`Plan::multiply`].
    pub fn new(j: &DevicePattern, part: Part) -> Result<Self> {
        let plan = Plan::gram(j, part)?;
        let work = Work::new(j.device(), None);
        let weights = block_diagonal(&work, j.nrows(), j.shape().rows(), M::ROW_MAJOR)?;
        let weigh = Weigh::new(&work, j, &weights)?;
        let bytes = plan.device_bytes() + weights.device_bytes() + weigh.bytes();
        Ok(Self { device: j.device().clone(), plan, weights, weigh: Mutex::new(weigh), bytes })
    }

    /// A matrix with the pattern of H, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        self.plan.output()
    }

    /// The pattern of W as a matrix: for [`DeviceMatrix::zeros`], and its values by [`DeviceMatrix::write_values`].
    pub fn weights_pattern(&self) -> &DevicePattern {
        &self.weights
    }

    /// H = JᵀWJ.
    ///
    /// Returns when it is enqueued, as [`Plan::execute`] does: allocates nothing and reads nothing back.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) when a matrix has another pattern or block
    /// shape than the plan; [`Error::Length`](crate::Error::Length) for too few or too many
    /// weights; [`Error::DeviceMismatch`](crate::Error::DeviceMismatch);
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn execute(
        &self,
        j: &DeviceMatrix<M>,
        weights: Weights<&DeviceMatrix<M>, &DeviceVector<M::Element>>,
        h: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        self.execute_scaled(1.0, j, weights, 0.0, h)
    }

    /// H = alpha·JᵀWJ + beta·H, scaled as [`Plan::execute_scaled`] does. With J = Eᵀ and W = V⁻¹ it takes E·V⁻¹·Eᵀ, which a Schur
    /// complement subtracts, from an H that has it (alpha -1, beta 1).
    ///
    /// # Errors
    /// As [`WeightedGram::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        j: &DeviceMatrix<M>,
        weights: Weights<&DeviceMatrix<M>, &DeviceVector<M::Element>>,
        beta: f64,
        h: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        let mut weigh = self.weigh.lock().unwrap_or_else(PoisonError::into_inner);
        self.plan.a.check("J", &j.cbc)?;
        self.plan.c.check("H", &h.cbc)?;
        weigh.check::<M>("W", weights)?;
        let work = Work::new(&self.device, None);
        weigh.run::<M>(&work, &j.cbc, weights)?;
        self.plan.enqueue_into(&work, (&j.cbc, &weigh.t), Scaling::new(alpha, beta), Room::from(&mut h.cbc))
    }

    /// The pattern of H.
    pub fn pattern(&self) -> &DevicePattern {
        self.plan.pattern()
    }

    /// Products of blocks of Jᵀ and of W·J in an execution.
    pub fn products(&self) -> u64 {
        self.plan.products()
    }

    /// Floating-point operations of an execution with such weights: those of W·J (2 for each product of scalars that is added, 1 for each
    /// multiplication by a weight), and 2 for each product of scalars of Jᵀ·(W·J).
    pub fn flops<I, V>(&self, weights: &Weights<I, V>) -> u64 {
        self.plan.flops() + self.weigh.lock().unwrap_or_else(PoisonError::into_inner).flops(weights)
    }

    /// Bytes of device memory the plan holds, the room for W·J and the patterns of W and H included.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for WeightedGram<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plan, bytes, .. } = self;
        write!(f, "WeightedGram({} products, {bytes} bytes, H: {:?})", plan.products(), plan.pattern())
    }
}
