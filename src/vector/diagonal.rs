//! The diagonal of square matrices, in blocks and in scalars. Kernels: `cl/vector/diagonal.cl`.
use super::check_vector;
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Element, Error, Matrix, Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
    resident::PatternArrays,
};
kernel! {
    pub(super) struct FindDiagonal = "find_diagonal" in "vector/diagonal.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        entry: Out<u32>,
        d_col_ptr: Out<u32>,
        d_row_idx: Out<u32>,
        n: u32,
    }
}

kernel! {
    struct CopyBlocks<T: Element> = "copy_blocks" in "vector/diagonal.cl" {
        entry: In<u32>,
        values: In<T>,
        d_values: Out<T>,
        n: u32,
        stride: u32,
        d_stride: u32,
    }
}

kernel! {
    struct CopyElements<T: Element> = "copy_elements" in "vector/diagonal.cl" {
        entry: In<u32>,
        values: In<T>,
        diagonal: Out<T>,
        n: u32,
        stride: u32,
    }
}

/// Elements are independent: nothing here depends on the size.
const GROUP_SIZE: usize = 64;

/// The blocks on the diagonal of a square matrix of square blocks, found once for its pattern and copied for any values: what a block-Jacobi
/// preconditioner is made of. Blocks that the matrix has not are zero.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Diagonal};
/// let device = Device::auto()?;
/// let h = device.upload(&Csc::from_triplets(3, 3, [(0, 0, 2.0), (1, 0, 7.0), (2, 2, 5.0)])?)?;
/// let diagonal = Diagonal::<Csc<f64>>::new(&h.pattern())?; // structure, once
/// let (mut d, mut scalars) = (diagonal.output()?, diagonal.scalar_output()?);
/// diagonal.execute(&h, &mut d)?; // values, many times
/// assert_eq!((d.nnz(), d.download()?.values()), (3, &[2.0, 0.0, 5.0][..]));
/// diagonal.execute_scalars(&h, &mut scalars)?;
/// assert_eq!(scalars.download()?, [2.0, 0.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub struct Diagonal<M: Matrix> {
    a: DevicePattern,
    /// Of the identity.
    pattern: DevicePattern,
    /// The entry on the diagonal of each column.
    entry: Buffer<u32>,
    blocks: Kernel<CopyBlocks<'static, M::Element>>,
    elements: Kernel<CopyElements<'static, M::Element>>,
}

/// The kernel that finds it.
pub(super) fn find(device: &Device) -> Result<Kernel<FindDiagonal<'static>>> {
    Kernel::new(device, &Options::group_size(GROUP_SIZE))
}

impl<M: Matrix> Diagonal<M> {
    /// Finds the diagonal of matrices with pattern `a`.
    ///
    /// # Errors
    /// [`Error::Argument`] for a matrix or blocks that are not square, and for the pattern of another kind of matrix than M;
    /// [`Error::Memory`], [`Error::Unsupported`].
    pub fn new(a: &DevicePattern) -> Result<Self> {
        a.check_kind::<M>()?;
        let (n, shape) = (a.ncols(), a.shape());
        if a.nrows() != n || shape.rows() != shape.cols() {
            return Err(Error::Argument(format!("{a:?} is not square, or its blocks are not: it has no diagonal")));
        }
        let device = a.device();
        device.require::<M::Element>()?;
        let work = Work::new(device, None);
        let options = Options::group_size(GROUP_SIZE).element::<M::Element>().define("SIDE", shape.rows());
        super::ask(device)?;
        let (blocks, elements) = (Kernel::new(device, &options)?, Kernel::new(device, &options)?);
        let (mut entry, mut d_col_ptr, mut d_row_idx) = (work.buffer(n)?, work.buffer(n + 1)?, work.buffer(n)?);
        let args = FindDiagonal {
            col_ptr: &a.arrays.col_ptr,
            row_idx: &a.arrays.row_idx,
            entry: &mut entry,
            d_col_ptr: &mut d_col_ptr,
            d_row_idx: &mut d_row_idx,
            n: n as u32,
        };
        find(device)?.launch(&work, Grid::items(n + 1, GROUP_SIZE), args)?;
        let arrays = PatternArrays::new(device, n, n, d_col_ptr, d_row_idx);
        let pattern = DevicePattern { arrays, array_shape: shape, row_major: M::ROW_MAJOR };
        Ok(Self { a: a.clone(), pattern, entry, blocks, elements })
    }

    /// A block-diagonal matrix of zeros, for [`Diagonal::execute`] to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn output(&self) -> Result<DeviceMatrix<M>> {
        DeviceMatrix::zeros(&self.pattern)
    }

    /// A vector of zeros, for [`Diagonal::execute_scalars`] to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn scalar_output(&self) -> Result<DeviceVector<M::Element>> {
        self.device().zero_vector(self.scalars())
    }

    /// Copies the blocks on the diagonal of `a`.
    ///
    /// Returns when it is enqueued; allocates nothing and reads nothing back; see [`MatVec::execute`](crate::MatVec::execute).
    ///
    /// # Errors
    /// [`Error::PlanPattern`] when `a` or `diagonal` has another pattern or block shape,
    /// [`Error::OpenCl`].
    pub fn execute(&self, a: &DeviceMatrix<M>, diagonal: &mut DeviceMatrix<M>) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        self.pattern.check("the diagonal", &diagonal.cbc)?;
        let (n, to) = (self.entry.len(), &mut diagonal.cbc);
        let args = CopyBlocks {
            entry: &self.entry,
            values: &a.cbc.values,
            d_values: &mut to.values,
            n: n as u32,
            stride: a.cbc.stride as u32,
            d_stride: to.stride as u32,
        };
        let grid = Grid::items(n * to.shape.area(), GROUP_SIZE);
        self.blocks.launch(&Work::new(self.device(), None), grid, args)
    }

    /// Copies the scalars on the diagonal of `a`.
    ///
    /// # Errors
    /// As [`Diagonal::execute`]; [`Error::Length`] for a vector that is not as long as the diagonal.
    pub fn execute_scalars(&self, a: &DeviceMatrix<M>, diagonal: &mut DeviceVector<M::Element>) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        check_vector("diagonal", diagonal, self.device(), self.scalars(), || format!("A is {:?}", self.a))?;
        let grid = Grid::items(self.scalars(), GROUP_SIZE);
        let args = CopyElements {
            entry: &self.entry,
            values: &a.cbc.values,
            diagonal: &mut diagonal.values,
            n: self.entry.len() as u32,
            stride: a.cbc.stride as u32,
        };
        self.elements.launch(&Work::new(self.device(), None), grid, args)
    }

    fn scalars(&self) -> usize {
        self.a.scalar_sides().0
    }

    /// The pattern of the block-diagonal matrix: that of the identity.
    pub fn pattern(&self) -> &DevicePattern {
        &self.pattern
    }

    /// The device planned for.
    pub fn device(&self) -> &Device {
        self.a.device()
    }

    /// Bytes of device memory held beside the pattern of the matrix.
    pub fn device_bytes(&self) -> u64 {
        self.entry.bytes() + self.pattern.device_bytes()
    }
}

impl<M: Matrix> std::fmt::Debug for Diagonal<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Diagonal(of {:?})", self.a)
    }
}
