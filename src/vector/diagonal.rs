//! The diagonal of square matrices, in blocks and in scalars. Kernels: `cl/vector/diagonal.cl`.
use super::check_vector;
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Error, Matrix, Result,
    device::{Buffer, Elem, Grid, In, Kernel, Options, Out, Work, kernel},
    element::ElementType,
    matrix::{HostMatrix, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_types, check_unscaled},
    },
    resident::{DeviceCbc, PatternArrays},
};

kernel! {
    in "vector/diagonal.cl":
    struct FindDiagonal = "find_diagonal" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        entry_idx: Out<u32>,
        d_col_ptr: Out<u32>,
        d_row_idx: Out<u32>,
        n: u32,
    }
    struct CopyBlocks = "copy_blocks" {
        entry_idx: In<u32>,
        values: In<Elem>,
        d_values: Out<Elem>,
        n: u32,
        stride: u32,
        d_stride: u32,
    }
    struct CopyElements = "copy_elements" {
        entry_idx: In<u32>,
        values: In<Elem>,
        diagonal: Out<Elem>,
        n: u32,
        stride: u32,
    }
}

/// Kernels that copy the blocks on a diagonal, and its scalars.
type Copies = (Kernel<CopyBlocks<'static>>, Kernel<CopyElements<'static>>);

/// The blocks on the diagonal of a square matrix of square blocks, for example for a block-Jacobi
/// preconditioner. The blocks are found once for a pattern, and copied for any values. Blocks that
/// the matrix does not store are zero.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Diagonal;
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let h = device.upload(&Csc::from_triplets(3, 3, [(0, 0, 2.0), (1, 0, 7.0), (2, 2, 5.0)])?)?;
/// let diagonal = Diagonal::<Csc<f64>>::new(&h.pattern())?; // structure, once
/// let (mut d, mut scalars) = (diagonal.output()?, diagonal.scalars().output()?);
/// diagonal.execute(&h, &mut d)?; // values, many times
/// assert_eq!((d.nnz(), d.download()?.values()), (3, &[2.0, 0.0, 5.0][..]));
/// diagonal.scalars().execute(&h, &mut scalars)?;
/// assert_eq!(scalars.download()?, [2.0, 0.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub struct Diagonal<M: HostMatrix> {
    core: Core,
    of: MatrixType<M>,
}

/// The diagonal of matrices whose element type is known at run time only.
struct Core {
    a: DevicePattern,
    /// The pattern of the block-diagonal matrix, which is the pattern of the identity.
    pattern: DevicePattern,
    /// For each column, its entry on the diagonal.
    entry: Buffer<u32>,
    blocks: Kernel<CopyBlocks<'static>>,
    elements: Kernel<CopyElements<'static>>,
}

impl<M: Matrix> Diagonal<M> {
    /// Starts to compile the kernels that copy diagonals of scalars from blocks with `side` rows,
    /// so that the kernels of several plans are compiled together.
    #[cfg(feature = "faer")]
    pub(crate) fn ask_scalars(device: &Device, side: usize) -> Result<()> {
        Core::ask_scalars(device, MatrixType::<M>::OF.element, side)
    }

    /// Finds the diagonal of matrices with pattern `a`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix or its blocks are not square, or if the pattern belongs to
    /// another kind of matrix than M; [`Error::Memory`], [`Error::Unsupported`].
    pub fn new(a: &DevicePattern) -> Result<Self> {
        Self::of_type(a, MatrixType::OF)
    }
}

impl<M: HostMatrix> Diagonal<M> {
    /// Like [`Diagonal::new`], for the type and pattern of `a`, whose element type may be known at
    /// run time only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, element::AnyValues, matrix::AnyMatrix, plan::Diagonal};
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// let a = Device::auto()?.upload(&a)?;
    /// let diagonal = Diagonal::of(&a)?;
    /// let mut d = diagonal.scalars().output()?;
    /// diagonal.scalars().execute(&a, &mut d)?;
    /// assert_eq!(d.download()?, AnyValues::F32(vec![2.0, 0.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Diagonal::new`].
    pub fn of(a: &DeviceMatrix<M>) -> Result<Self> {
        Self::of_type(&a.pattern(), a.type_of())
    }

    pub(crate) fn of_type(a: &DevicePattern, of: MatrixType<M>) -> Result<Self> {
        check_patterns(a.device(), of, [a])?;
        Ok(Self { core: Core::new(a, of.element)?, of })
    }

    /// The same plan for the scalars on the diagonal, which are copied to a vector.
    pub fn scalars(&self) -> DiagonalScalars<'_, M> {
        DiagonalScalars(self)
    }

    /// The pattern of the block-diagonal matrix, which is the pattern of the identity.
    pub fn pattern(&self) -> &DevicePattern {
        &self.core.pattern
    }
}

impl Core {
    #[cfg(feature = "faer")]
    fn ask_scalars(device: &Device, element: ElementType, side: usize) -> Result<()> {
        PatternArrays::ask(device)?;
        Self::find(device)?;
        Self::copies(device, element, side)?.1.ask(device);
        Ok(())
    }

    /// The kernel that finds the diagonal.
    fn find(device: &Device) -> Result<Kernel<FindDiagonal<'static>>> {
        Kernel::new(device, &Options::group_size(device.info().elementwise_group()))
    }

    /// The kernels that copy blocks and scalars. Most solvers launch only the kernel for blocks or
    /// only the kernel for scalars.
    fn copies(device: &Device, element: ElementType, side: usize) -> Result<Copies> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size).element(element).define("SIDE", side);
        Ok((Kernel::rare(device, &options)?, Kernel::rare(device, &options)?))
    }

    fn new(a: &DevicePattern, element: ElementType) -> Result<Self> {
        let (device, n, shape) = (a.device(), a.ncols(), a.shape());
        if a.nrows() != n || shape.rows() != shape.cols() {
            return Err(Error::Argument(format!("{a:?} is not square, or its blocks are not: it has no diagonal")));
        }
        let work = Work::new(device, None);
        let group_size = device.info().elementwise_group();
        // An execution first compares patterns.
        PatternArrays::ask(device)?;
        let (blocks, elements) = Self::copies(device, element, shape.rows())?;
        let (mut entry, mut d_col_ptr, mut d_row_idx) = (work.buffer(n)?, work.buffer(n + 1)?, work.buffer(n)?);
        let args = FindDiagonal {
            col_ptr: &a.arrays.col_ptr,
            row_idx: &a.arrays.row_idx,
            entry_idx: &mut entry,
            d_col_ptr: &mut d_col_ptr,
            d_row_idx: &mut d_row_idx,
            n: n as u32,
        };
        Self::find(device)?.launch(&work, Grid::items(n + 1, group_size), args)?;
        let arrays = PatternArrays::new(device, n, n, d_col_ptr, d_row_idx);
        let pattern = DevicePattern { arrays, array_shape: shape, row_major: a.row_major };
        Ok(Self { a: a.clone(), pattern, entry, blocks, elements })
    }

    fn cost(&self) -> Cost {
        Cost { device_bytes: self.entry.bytes() + self.pattern.device_bytes(), ..Cost::default() }
    }

    fn copy_blocks(&self, work: &Work, a: &DeviceCbc, to: &mut DeviceCbc) -> Result<()> {
        self.a.check("A", a)?;
        self.pattern.check("the diagonal", to)?;
        work.stage("diagonal");
        let n = self.entry.len();
        let args = CopyBlocks {
            entry_idx: &self.entry,
            values: &a.values,
            d_values: &mut to.values,
            n: n as u32,
            stride: a.stride as u32,
            d_stride: to.stride as u32,
        };
        let group_size = work.device().info().elementwise_group();
        self.blocks.launch(work, Grid::items(n * to.shape.area(), group_size), args)
    }

    /// Copies the scalars on the diagonal to a vector of that length.
    fn copy_scalars(&self, work: &Work, a: &DeviceCbc, diagonal: &mut Buffer) -> Result<()> {
        work.stage("diagonal");
        let args = CopyElements {
            entry_idx: &self.entry,
            values: &a.values,
            n: self.entry.len() as u32,
            stride: a.stride as u32,
            diagonal,
        };
        let group_size = work.device().info().elementwise_group();
        self.elements.launch(work, Grid::items(self.a.scalar_sides().0, group_size), args)
    }
}

impl<M: HostMatrix> Planned for Diagonal<M> {
    type Inputs<'a> = &'a DeviceMatrix<M>;
    /// A block-diagonal matrix.
    type Output = DeviceMatrix<M>;

    fn device(&self) -> &Device {
        self.core.a.device()
    }

    fn output(&self) -> Result<DeviceMatrix<M>> {
        self.core.blocks.ask(self.device());
        DeviceMatrix::zeros_of(&self.core.pattern, self.of)
    }

    fn cost(&self) -> Cost {
        self.core.cost()
    }

    fn enqueue(&self, On(work): On<'_>, a: &DeviceMatrix<M>, into: Accum<'_, DeviceMatrix<M>>) -> Result<()> {
        check_unscaled("a diagonal", &into)?;
        check_types(self.of, [("A", a), ("the diagonal", &*into.c)])?;
        self.core.copy_blocks(work, &a.cbc, &mut into.c.cbc)
    }
}

/// The scalars on the diagonal, by the plan of a [`Diagonal`].
#[derive(Debug)]
pub struct DiagonalScalars<'p, M: HostMatrix>(&'p Diagonal<M>);

impl<M: HostMatrix> Planned for DiagonalScalars<'_, M> {
    type Inputs<'a> = &'a DeviceMatrix<M>;
    type Output = DeviceVector<M::Word>;

    fn device(&self) -> &Device {
        self.0.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.0.core.elements.ask(self.device());
        DeviceVector::zeros_of(self.device(), self.0.of.element, self.0.core.a.scalar_sides().0)
    }

    fn cost(&self) -> Cost {
        self.0.cost()
    }

    fn enqueue(&self, On(work): On<'_>, a: &DeviceMatrix<M>, into: Accum<'_, Self::Output>) -> Result<()> {
        let Diagonal { core, of } = self.0;
        let (pattern, scalars) = (&core.a, core.a.scalar_sides().0);
        check_unscaled("a diagonal", &into)?;
        a.check("A", pattern, *of)?;
        into.c.check_element("diagonal", of.element)?;
        check_vector("diagonal", into.c, self.device(), scalars, || format!("A is {pattern:?}"))?;
        core.copy_scalars(work, &a.cbc, into.c.values.any_mut())
    }
}

impl<M: HostMatrix> std::fmt::Debug for Diagonal<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Diagonal(of {:?})", self.core.a)
    }
}
