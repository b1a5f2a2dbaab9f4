//! Sums of two matrices on the device: the pattern once, values many times. Kernel: `cl/structure/add.cl`.
use super::{Elementwise, union::Union};
use crate::{
    Arithmetic, Device, DeviceMatrix, DevicePattern, Element, Error, Matrix, OperandPair, Result,
    device::{Buffer, Grid, In, Kernel, Out, Scalar, Work, kernel},
};

/// C = alpha·A + beta·B of two matrices whose patterns stay the same, prepared. C has an entry (block) wherever A or B has one.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{AddPlan, Csc, Device};
/// let device = Device::auto()?;
/// let h = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 2.0)])?)?;
/// let d = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 10.0), (1, 1, 30.0)])?)?;
/// let plan = AddPlan::<Csc<f64>>::new(&h.pattern(), &d.pattern())?;
/// let mut c = plan.output()?;
/// for lambda in [0.0, 0.1] {
///     plan.execute(1.0, &h, lambda, &d, &mut c)?; // damping, each time another
/// }
/// assert_eq!(c.download()?, Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 2.0), (1, 1, 3.0)])?);
/// # Ok(())
/// # }
/// ```
pub struct AddPlan<M: Matrix> {
    device: Device,
    a: DevicePattern,
    b: DevicePattern,
    c: DevicePattern,
    pairs: Buffer<OperandPair>,
    blocks: Kernel<AddBlocks<'static, M::Element>>,
    grid: Grid,
}

kernel! {
    struct AddBlocks<T: Element> = "add_blocks" in "structure/add.cl" {
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        c_values: Out<T>,
        nnz: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

impl<M: Matrix> AddPlan<M> {
    /// For alpha·A + beta·B.
    ///
    /// # Errors
    /// [`Error::Argument`] when the matrices or their blocks differ in size, or for patterns of another kind of matrix;
    /// [`Error::DeviceMismatch`]; [`Error::Memory`]; [`Error::TooLarge`] when C has more entries than a matrix on a device may have.
    pub fn new(a: &DevicePattern, b: &DevicePattern) -> Result<Self> {
        Self::tuned(a, b, Elementwise::new(a.device().info(), a.array_shape))
    }

    pub(super) fn tuned(a: &DevicePattern, b: &DevicePattern, grid: Elementwise) -> Result<Self> {
        a.check_kind::<M>()?;
        b.check_kind::<M>()?;
        let device = a.device();
        if !device.same_as(b.device()) {
            return Err(Error::DeviceMismatch { a: device.info().name.clone(), b: b.device().info().name.clone() });
        }
        let size = |pattern: &DevicePattern| (pattern.nrows(), pattern.ncols(), pattern.shape());
        if size(a) != size(b) {
            let told = |pattern: &DevicePattern| {
                let (nrows, ncols, shape) = size(pattern);
                format!("{nrows}x{ncols} blocks of {shape}")
            };
            return Err(Error::Argument(format!("cannot add: A is {}, B is {}", told(a), told(b))));
        }
        device.require::<M::Element>()?;
        let work = Work::new(device, None);
        let (arrays, pairs) = Union::new(device)?.run(&work, &a.arrays, &b.arrays)?;
        let blocks = Kernel::new(device, &grid.options::<M::Element>())?;
        let c = DevicePattern { arrays, array_shape: a.array_shape, row_major: M::ROW_MAJOR };
        let grid = grid.over(pairs.len());
        Ok(Self { device: device.clone(), a: a.clone(), b: b.clone(), c, pairs, blocks, grid })
    }

    /// A matrix with the pattern of C, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros(&self.c)
    }

    /// C = alpha·A + beta·B. Returns when it is enqueued; allocates nothing and reads nothing back.
    ///
    /// The bits are those of [`matrix::add`](crate::matrix::add): products and their sum are rounded, each in the element's arithmetic type;
    /// an entry of one matrix only is its product. The numbers are rounded to that type first.
    ///
    /// # Errors
    /// [`Error::PlanPattern`] when a matrix has another pattern or block shape than the plan,
    /// [`Error::OpenCl`].
    pub fn execute(
        &self,
        alpha: f64,
        a: &DeviceMatrix<M>,
        beta: f64,
        b: &DeviceMatrix<M>,
        c: &mut DeviceMatrix<M>,
    ) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        self.b.check("B", &b.cbc)?;
        self.c.check("C", &c.cbc)?;
        let args = AddBlocks {
            pair: &self.pairs,
            a_values: &a.cbc.values,
            b_values: &b.cbc.values,
            c_values: &mut c.cbc.values,
            nnz: self.pairs.len() as u32,
            a_stride: a.cbc.stride as u32,
            b_stride: b.cbc.stride as u32,
            c_stride: c.cbc.stride as u32,
            alpha: Arithmetic::nearest(alpha),
            beta: Arithmetic::nearest(beta),
        };
        self.blocks.launch(&Work::new(&self.device, None), self.grid, args)
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.c
    }

    /// Bytes of device memory the plan holds, the pattern of C among them; the patterns of A and B are the matrices'.
    pub fn device_bytes(&self) -> u64 {
        self.pairs.bytes() + self.c.device_bytes()
    }
}

impl<M: Matrix> std::fmt::Debug for AddPlan<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AddPlan({:?} and {:?} to {:?})", self.a, self.b, self.c)
    }
}
