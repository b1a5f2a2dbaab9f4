//! Interoperation with an application's own buffers: they are adopted as matrices and multiplied in
//! place, and the arrays of a product are handed out.
use super::{DeviceCbc, DeviceMatrix, PatternArrays, validate::validate};
use crate::{
    BlockShape, Error, Matrix, Result,
    device::{Device, RawMemory, Work},
    element::{ElementType, WordType},
    matrix::{AnyMatrix, AnyType, HostMatrix, MatrixKind, MatrixType, check_sides, check_stride},
};

/// The arrays of a matrix as OpenCL buffers, in compressed block columns. For a row-major matrix
/// all fields describe the transpose: a row-major program calls `col_ptr` `row_ptr`, and `nrows` is
/// the number of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawMatrix {
    /// Rows of the grid of entries (blocks) that the arrays describe.
    pub nrows: usize,
    /// Columns of the grid of entries (blocks) that the arrays describe.
    pub ncols: usize,
    /// Number of stored entries (blocks).
    pub nnz: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// Number of elements from one block to the next, at least the area of a block.
    pub stride: usize,
    /// `ncols + 1` offsets, `uint`.
    pub col_ptr: RawMemory,
    /// Row of each entry, `uint`, ascending within a column. The handle may be null if `nnz` is 0,
    /// because OpenCL has no empty buffers.
    pub row_idx: RawMemory,
    /// `nnz * stride` elements. The handle may be null if `nnz` is 0.
    pub values: RawMemory,
}

impl<M: Matrix> DeviceMatrix<M> {
    /// A matrix over an application's own buffers, which are retained and not copied. The device
    /// checks the contents of the buffers with one kernel and one small read.
    ///
    /// # Errors
    /// [`Error::Pattern`] with the column and the entry, [`Error::Length`] if a buffer is too
    /// small, [`Error::TooLarge`] if a side, the number of blocks or the stride exceeds 32 bits,
    /// [`Error::Argument`] if a buffer belongs to another context or the matrix type does not allow
    /// the block shape.
    ///
    /// # Safety
    /// The buffers must be valid `cl_mem` handles. `col_ptr` and `row_idx` must not change while
    /// the matrix lives: kernels index memory with them. Values may change between products. While
    /// this matrix is written in place ([`DeviceMatrix::write_values_with`]), the memory of its
    /// values must not be used by anything else, and must not belong to another matrix that is
    /// being written.
    pub unsafe fn adopt(device: &Device, parts: &RawMatrix) -> Result<Self> {
        // SAFETY: as the caller guarantees.
        Ok(Self::new(unsafe { adopted(device, parts, MatrixType::<M>::OF.any())? }))
    }

    /// Like [`DeviceMatrix::adopt`], but does not check the contents.
    ///
    /// # Errors
    /// See [`DeviceMatrix::adopt`], except for [`Error::Pattern`].
    ///
    /// # Safety
    /// See [`DeviceMatrix::adopt`]. In addition, the arrays must be a valid pattern.
    pub unsafe fn adopt_unchecked(device: &Device, parts: &RawMatrix) -> Result<Self> {
        // SAFETY: as the caller guarantees.
        Ok(Self::new(unsafe { borrowed(device, parts, MatrixType::<M>::OF.any())? }))
    }
}

impl DeviceMatrix<AnyMatrix> {
    /// Like [`DeviceMatrix::adopt`], for a matrix whose format and element type are known at run
    /// time only.
    ///
    /// # Errors
    /// See [`DeviceMatrix::adopt`].
    ///
    /// # Safety
    /// See [`DeviceMatrix::adopt`].
    pub unsafe fn adopt_any(
        device: &Device,
        parts: &RawMatrix,
        kind: MatrixKind,
        element: ElementType,
    ) -> Result<Self> {
        let of = AnyType { kind, element };
        // SAFETY: as the caller guarantees.
        Ok(Self::of_any(unsafe { adopted(device, parts, of)? }, of))
    }
}

impl<M: HostMatrix> DeviceMatrix<M> {
    /// The buffers of the matrix. The buffers are valid while the matrix lives, or longer if the
    /// caller retains them (`clRetainMemObject`): memory whose handle was handed out is never
    /// reused for other products. When the matrix and everything that shares a buffer are dropped,
    /// the buffer is released, and the device's figures no longer count it.
    ///
    /// Commands of another queue must wait for a [`Device::marker`] before they read the buffers.
    /// `col_ptr` and `row_idx` must not be written while the matrix, a plan or another matrix with
    /// its pattern lives. The buffers may be longer than the matrix needs.
    pub fn raw_parts(&self) -> RawMatrix {
        let DeviceCbc { shape, stride, .. } = self.cbc;
        let (nrows, ncols, nnz) = (self.cbc.nrows, self.cbc.ncols, self.cbc.nnz());
        let (col_ptr, row_idx) = (self.cbc.col_ptr.hand_out(), self.cbc.row_idx.hand_out());
        RawMatrix { nrows, ncols, nnz, shape, stride, col_ptr, row_idx, values: self.cbc.values.hand_out() }
    }

    /// Whether the values of both matrices are in one buffer, which an application may have lent
    /// twice.
    pub fn shares_values(&self, other: &Self) -> bool {
        self.cbc.nnz() > 0 && self.cbc.values.raw() == other.cbc.values.raw()
    }

    /// Transfers the buffers of the matrix to the caller, who must release each once. The buffers
    /// may be longer than the matrix needs.
    ///
    /// Commands of another queue must wait for a [`Device::marker`]. Offsets and rows are copied if
    /// plans or other matrices share them.
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::OpenCl`] if the copy of offsets or rows fails.
    pub fn into_raw_parts(self) -> Result<RawMatrix> {
        let (nrows, ncols, nnz) = (self.cbc.nrows, self.cbc.ncols, self.cbc.nnz());
        let work = Work::new(self.device(), None);
        let DeviceCbc { pattern, shape, stride, values } = self.cbc;
        let (col_ptr, row_idx) = PatternArrays::into_buffers(pattern, &work)?;
        let (col_ptr, row_idx, values) = (col_ptr.into_raw(), row_idx.into_raw(), values.into_raw());
        Ok(RawMatrix { nrows, ncols, nnz, shape, stride, col_ptr, row_idx, values })
    }
}

/// Makes a matrix from an application's buffers, and checks their contents.
///
/// # Safety
/// See [`DeviceMatrix::adopt`].
unsafe fn adopted(device: &Device, parts: &RawMatrix, of: AnyType) -> Result<DeviceCbc> {
    // SAFETY: as the caller guarantees. The further condition of `borrowed` is checked before the
    // arrays are returned.
    let cbc = unsafe { borrowed(device, parts, of)? };
    validate(&Work::new(device, None), cbc.nrows, cbc.ncols, &cbc.col_ptr, &cbc.row_idx)?;
    Ok(cbc)
}

/// Makes a matrix from an application's buffers without checking their contents.
///
/// # Safety
/// See [`DeviceMatrix::adopt_unchecked`].
unsafe fn borrowed(device: &Device, parts: &RawMatrix, of: AnyType) -> Result<DeviceCbc> {
    device.require(of.element)?;
    let RawMatrix { nrows, ncols, nnz, shape, stride, .. } = *parts;
    PatternArrays::check_nnz(nnz as u64)?;
    check_sides(nrows, ncols, shape)?;
    if stride < shape.area() || (!of.kind.has_blocks() && (shape != BlockShape::SCALAR || stride != 1)) {
        return Err(Error::Argument(format!(
            "blocks of {shape}, {stride} elements apart, are not of this matrix type"
        )));
    }
    let values = check_stride(nnz, stride)?;
    Ok(DeviceCbc {
        pattern: PatternArrays::new(
            device,
            nrows,
            ncols,
            device.borrow("col_ptr", parts.col_ptr, WordType::of::<u32>(), ncols + 1)?.into_typed(),
            device.borrow("row_idx", parts.row_idx, WordType::of::<u32>(), nnz)?.into_typed(),
        ),
        shape,
        stride,
        values: device.borrow("values", parts.values, of.element.word(), values)?,
    })
}
