//! Sums of two matrices on the device, planned once and executed many times. Kernel:
//! `cl/structure/add.cl`.
use super::{Elementwise, union::Union};
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Matrix, OperandPair, Result,
    device::{Buffer, Elem, Grid, In, Kernel, Out, Scalar, Sum, Work, kernel},
    element::{ElementType, Number},
    matrix::{HostMatrix, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_types, check_unscaled},
    },
    resident::DeviceCbc,
};

/// The planned sum C = alpha·A + beta·B of two matrices whose patterns do not change. C has an
/// entry (block) wherever A or B has one. If alpha is 0, the values of A are not read; if beta is
/// 0, the values of B are not read.
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
pub struct Add<M: HostMatrix> {
    core: Core,
    of: MatrixType<M>,
}

/// A sum of matrices whose element type is known at run time only.
struct Core {
    element: ElementType,
    a: DevicePattern,
    b: DevicePattern,
    c: DevicePattern,
    pairs: Buffer<OperandPair>,
    blocks: Kernel<AddBlocks<'static>>,
    grid: Grid,
}

kernel! {
    struct AddBlocks = "add_blocks" in "structure/add.cl" {
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        c_values: Out<Elem>,
        nnz: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

impl<M: Matrix> Add<M> {
    /// Prepares alpha·A + beta·B.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrices or their blocks differ in size, or if the patterns
    /// belong to another kind of matrix; [`Error::DeviceMismatch`]; [`Error::Memory`];
    /// [`Error::TooLarge`] if C has more entries than a matrix on a device may have.
    pub fn new(a: &DevicePattern, b: &DevicePattern) -> Result<Self> {
        Self::tuned([a, b], MatrixType::OF, Elementwise::new(a.device().info(), a.array_shape))
    }
}

impl<M: HostMatrix> Add<M> {
    /// Like [`Add::new`], for the types and patterns of `a` and `b`, whose type may be known at run
    /// time only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, element::AnyValues, matrix::AnyMatrix, plan::Add};
    /// let h = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0f32), (1, 0, 2.0)])?);
    /// let h = Device::auto()?.upload(&h)?;
    /// let plan = Add::of(&h, &h)?;
    /// let mut c = plan.output()?;
    /// plan.execute([(1.0, &h), (0.5, &h)], &mut c)?;
    /// assert_eq!(c.download()?.values(), &AnyValues::F32(vec![1.5, 3.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Add::new`]; [`Error::Argument`] if A and B differ in element type or in order (by rows
    /// or by columns).
    pub fn of(a: &DeviceMatrix<M>, b: &DeviceMatrix<M>) -> Result<Self> {
        let (of, grid) = (a.type_of().times(b.type_of())?, Elementwise::new(a.device().info(), a.cbc.shape));
        Self::tuned([&a.pattern(), &b.pattern()], of, grid)
    }

    pub(super) fn tuned([a, b]: [&DevicePattern; 2], of: MatrixType<M>, grid: Elementwise) -> Result<Self> {
        check_patterns(a.device(), of, [a, b])?;
        Ok(Self { core: Core::new(of.element, a, b, grid)?, of })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.core.c
    }
}

impl Core {
    fn new(element: ElementType, a: &DevicePattern, b: &DevicePattern, grid: Elementwise) -> Result<Self> {
        let size = |pattern: &DevicePattern| (pattern.nrows(), pattern.ncols(), pattern.shape());
        if size(a) != size(b) {
            let described = |pattern: &DevicePattern| {
                let (nrows, ncols, shape) = size(pattern);
                format!("{nrows}x{ncols} blocks of {shape}")
            };
            return Err(Error::Argument(format!("cannot add: A is {}, B is {}", described(a), described(b))));
        }
        let (device, work) = (a.device(), Work::new(a.device(), None));
        let (arrays, pairs) = Union::new(device)?.run(&work, &a.arrays, &b.arrays)?;
        let blocks = Kernel::new(device, &grid.options(element))?;
        let c = DevicePattern { arrays, array_shape: a.array_shape, row_major: a.row_major };
        let grid = grid.over(pairs.len());
        Ok(Self { element, a: a.clone(), b: b.clone(), c, pairs, blocks, grid })
    }

    fn cost(&self) -> Cost {
        let flops = 3 * self.pairs.len() as u64 * self.c.shape().area() as u64;
        Cost { products: 0, flops, device_bytes: self.pairs.bytes() + self.c.device_bytes() }
    }

    fn add(&self, work: &Work, [(alpha, a), (beta, b)]: [(f64, &DeviceCbc); 2], c: &mut DeviceCbc) -> Result<()> {
        self.a.check("A", a)?;
        self.b.check("B", b)?;
        self.c.check("C", c)?;
        work.stage("add");
        let args = AddBlocks {
            pair: &self.pairs,
            a_values: &a.values,
            b_values: &b.values,
            nnz: self.pairs.len() as u32,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: c.stride as u32,
            c_values: &mut c.values,
            alpha: Number::nearest(self.element, alpha),
            beta: Number::nearest(self.element, beta),
        };
        self.blocks.launch(work, self.grid, args)
    }
}

impl<M: HostMatrix> Planned for Add<M> {
    /// The pairs (alpha, A) and (beta, B). The factors are rounded to the element's arithmetic
    /// type.
    type Inputs<'a> = [(f64, &'a DeviceMatrix<M>); 2];
    type Output = DeviceMatrix<M>;

    fn device(&self) -> &Device {
        self.core.a.device()
    }

    fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros_of(&self.core.c, self.of)
    }

    fn cost(&self) -> Cost {
        self.core.cost()
    }

    fn enqueue(
        &self,
        On(work): On<'_>,
        [(alpha, a), (beta, b)]: Self::Inputs<'_>,
        into: Accum<'_, DeviceMatrix<M>>,
    ) -> Result<()> {
        check_unscaled("a sum", &into)?;
        check_types(self.of, [("A", a), ("B", b), ("C", &*into.c)])?;
        self.core.add(work, [(alpha, &a.cbc), (beta, &b.cbc)], &mut into.c.cbc)
    }
}

impl<M: HostMatrix> std::fmt::Debug for Add<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Add({:?} and {:?} to {:?})", self.core.a, self.core.b, self.core.c)
    }
}
