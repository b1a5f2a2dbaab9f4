//! Sums of two matrices on the device, planned once and executed many times. Kernel:
//! `cl/structure/add.cl`.
use super::{Elementwise, union::Union};
use crate::{
    Arithmetic, Device, DeviceMatrix, DevicePattern, Element, Error, Matrix, OperandPair, Result,
    device::{Buffer, Grid, In, Kernel, Out, Scalar, Work, kernel},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_unscaled},
    },
};

/// The planned sum C = alpha·A + beta·B of two matrices whose patterns do not change. C has an
/// entry (block) wherever A or B has one. If alpha is 0, the values of A are not read, and so with
/// beta and B.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Add;
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let h = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 2.0)])?)?;
/// let d = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 10.0), (1, 1, 30.0)])?)?;
/// let plan = Add::<Csc<f64>>::new(&h.pattern(), &d.pattern())?;
/// let mut c = plan.output()?;
/// for lambda in [0.0, 0.1] {
///     plan.execute([(1.0, &h), (lambda, &d)], &mut c)?; // another damping each time
/// }
/// assert_eq!(c.download()?, Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 2.0), (1, 1, 3.0)])?);
/// # Ok(())
/// # }
/// ```
pub struct Add<M: Matrix> {
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

impl<M: Matrix> Add<M> {
    /// Prepares alpha·A + beta·B.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrices or their blocks differ in size, or for patterns of
    /// another kind of matrix; [`Error::DeviceMismatch`]; [`Error::Memory`]; [`Error::TooLarge`] if
    /// C has more entries than a matrix on a device may have.
    pub fn new(a: &DevicePattern, b: &DevicePattern) -> Result<Self> {
        Self::tuned(a, b, Elementwise::new(a.device().info(), a.array_shape))
    }

    pub(super) fn tuned(a: &DevicePattern, b: &DevicePattern, grid: Elementwise) -> Result<Self> {
        let device = a.device();
        check_patterns::<M>(device, [a, b])?;
        let size = |pattern: &DevicePattern| (pattern.nrows(), pattern.ncols(), pattern.shape());
        if size(a) != size(b) {
            let described = |pattern: &DevicePattern| {
                let (nrows, ncols, shape) = size(pattern);
                format!("{nrows}x{ncols} blocks of {shape}")
            };
            return Err(Error::Argument(format!("cannot add: A is {}, B is {}", described(a), described(b))));
        }
        let work = Work::new(device, None);
        let (arrays, pairs) = Union::new(device)?.run(&work, &a.arrays, &b.arrays)?;
        let blocks = Kernel::new(device, &grid.options::<M::Element>())?;
        let c = DevicePattern { arrays, array_shape: a.array_shape, row_major: M::ROW_MAJOR };
        let grid = grid.over(pairs.len());
        Ok(Self { device: device.clone(), a: a.clone(), b: b.clone(), c, pairs, blocks, grid })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.c
    }
}

impl<M: Matrix> Planned for Add<M> {
    /// (alpha, A) and (beta, B). The numbers are rounded to the element's arithmetic type.
    type Inputs<'a> = [(f64, &'a DeviceMatrix<M>); 2];
    type Output = DeviceMatrix<M>;

    fn device(&self) -> &Device {
        &self.device
    }

    fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros(&self.c)
    }

    fn cost(&self) -> Cost {
        let flops = 3 * self.pairs.len() as u64 * self.c.shape().area() as u64;
        Cost { products: 0, flops, device_bytes: self.pairs.bytes() + self.c.device_bytes() }
    }

    fn enqueue(
        &self,
        On(work): On<'_>,
        [(alpha, a), (beta, b)]: Self::Inputs<'_>,
        into: Accum<'_, DeviceMatrix<M>>,
    ) -> Result<()> {
        check_unscaled("a sum", &into)?;
        let c = into.c;
        self.a.check("A", &a.cbc)?;
        self.b.check("B", &b.cbc)?;
        self.c.check("C", &c.cbc)?;
        work.stage("add");
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
        self.blocks.launch(work, self.grid, args)
    }
}

impl<M: Matrix> std::fmt::Debug for Add<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Add({:?} and {:?} to {:?})", self.a, self.b, self.c)
    }
}
