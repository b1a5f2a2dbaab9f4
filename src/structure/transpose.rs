//! Transposes on the device.
use super::{
    Elementwise,
    move_blocks::{MoveBlocks, Moves, Turn},
};
use crate::{
    BlockShape, Device, DeviceMatrix, DevicePattern, Matrix, Result,
    device::Work,
    primitives::transpose::{Transpose, Transposed},
    resident::DeviceCbc,
};

/// The transpose of a matrix whose pattern stays the same, prepared: the blocks are moved, and transposed inside.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, TransposePlan};
/// let device = Device::auto()?;
/// let mut a = device.upload(&Csc::from_triplets(2, 3, [(0, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0)])?)?;
/// let plan = TransposePlan::<Csc<f64>>::new(&a.pattern())?;
/// let mut at = plan.output()?;
/// plan.execute(&a, &mut at)?;
/// assert_eq!(at.download()?, Csc::from_triplets(3, 2, [(0, 0, 1.0), (2, 0, 2.0), (2, 1, 3.0)])?);
/// a.write_values(&[4.0, 5.0, 6.0])?;
/// plan.execute(&a, &mut at)?; // new values, same pattern
/// assert_eq!(at.download()?.values(), [4.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct TransposePlan<M: Matrix> {
    device: Device,
    a: DevicePattern,
    c: DevicePattern,
    blocks: MoveBlocks<M::Element>,
    bytes: u64,
}

impl<M: Matrix> TransposePlan<M> {
    /// C = Aᵀ.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::TooLarge`](crate::Error::TooLarge) from 2^31 entries on,
    /// [`Error::Argument`](crate::Error::Argument) for a pattern of another kind of matrix.
    pub fn new(a: &DevicePattern) -> Result<Self> {
        Self::tuned(a, Elementwise::new(a.device().info(), a.array_shape))
    }

    pub(super) fn tuned(a: &DevicePattern, grid: Elementwise) -> Result<Self> {
        a.check_kind::<M>()?;
        let device = a.device();
        device.require::<M::Element>()?;
        let work = Work::new(device, None);
        let Transposed { pattern, source } = Transpose::new(device)?.run(&work, &a.arrays)?;
        let turn = if a.array_shape == BlockShape::SCALAR { Turn::None } else { Turn::All };
        let blocks = MoveBlocks::new(device, grid, Moves { source, turn })?;
        let c = DevicePattern { arrays: pattern, array_shape: a.array_shape.transpose(), row_major: M::ROW_MAJOR };
        let bytes = blocks.bytes() + c.device_bytes();
        Ok(Self { device: device.clone(), a: a.clone(), c, blocks, bytes })
    }

    /// A matrix with the pattern of C, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros(&self.c)
    }

    /// C = Aᵀ. Returns when it is enqueued; allocates nothing and reads nothing back.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) when a matrix has another pattern or block
    /// shape than the plan, [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn execute(&self, a: &DeviceMatrix<M>, c: &mut DeviceMatrix<M>) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        self.c.check("C", &c.cbc)?;
        self.turn(&Work::new(&self.device, None), &a.cbc, &mut c.cbc)
    }

    /// As [`TransposePlan::execute`], of arrays that the caller has checked.
    pub(crate) fn turn(&self, work: &Work, a: &DeviceCbc<M::Element>, c: &mut DeviceCbc<M::Element>) -> Result<()> {
        work.stage("transpose");
        self.blocks.run(work, a, c)
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.c
    }

    /// Bytes of device memory the plan holds, the pattern of C among them.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for TransposePlan<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TransposePlan({:?} to {:?})", self.a, self.c)
    }
}

impl<M: Matrix> DeviceMatrix<M> {
    /// The transpose, its blocks transposed, on the device; [`TransposePlan`] keeps what the next one of the same pattern needs.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// let w = blockmul::Csc::from_triplets(2, 3, [(0, 2, 1.0), (1, 0, 2.0)])?;
    /// let w_on_device = blockmul::Device::auto()?.upload(&w)?;
    /// assert_eq!(w_on_device.transposed()?.download()?, w.transpose());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`TransposePlan::new`].
    pub fn transposed(&self) -> Result<Self> {
        let plan = TransposePlan::new(&self.pattern())?;
        let mut c = plan.output()?;
        plan.execute(self, &mut c)?;
        Ok(c)
    }
}
