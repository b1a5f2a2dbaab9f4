//! Interoperation with an application's own buffers: adopts them as matrices that are multiplied in
//! place, and hands out the arrays of a product.
use super::{DeviceCbc, DeviceMatrix, PatternArrays, validate::validate};
use crate::{
    BlockShape, Error, Matrix, Result,
    device::{Device, RawMemory, Work},
    element::{ElementType, WordType},
    matrix::{AnyMatrix, AnyType, HostMatrix, MatrixKind, MatrixType, check_sides, check_stride},
};

/// The arrays of a matrix as OpenCL buffers: compressed block columns. For a row-major matrix all
/// fields describe the transpose: `col_ptr` is what a row-major program calls `row_ptr`, and
/// `nrows` is its number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawMatrix {
    /// Rows of the grid of entries (blocks) that the arrays describe.
    pub nrows: usize,
    /// Columns of the grid of entries (blocks) that the arrays describe.
    pub ncols: usize,
    /// Stored entries (blocks).
    pub nnz: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// Elements from one block to the next, at least the block's area.
    pub stride: usize,
    /// `ncols + 1` offsets, `uint`.
    pub col_ptr: RawMemory,
    /// Row of each entry, `uint`, ascending within a column. May be null if `nnz` is 0, as OpenCL
    /// has no empty buffers.
    pub row_idx: RawMemory,
    /// `nnz * stride` elements. May be null if `nnz` is 0.
    pub values: RawMemory,
}

impl<M: Matrix> DeviceMatrix<M> {
    /// A matrix over an application's own buffers, which are retained and not copied. The device
    /// checks their contents with one kernel and one small read.
    ///
    /// # Errors
    /// [`Error::Pattern`] naming column and entry, [`Error::Length`] if a buffer is too small,
    /// [`Error::TooLarge`] if a side, the number of blocks or the stride exceeds 32 bits,
    /// [`Error::Argument`] if a buffer belongs to another context or the matrix type does not allow
    /// the block shape.
    ///
    /// # Safety
    /// The buffers must be valid `cl_mem` handles. `col_ptr` and `row_idx` must not change while
    /// the matrix lives: kernels index memory with them. Values may change between products. While
    /// this matrix is written in place ([`DeviceMatrix::write_values_with`]), their memory must not
    /// be used otherwise, and must not belong to another matrix being written.
    pub unsafe fn adopt(device: &Device, parts: &RawMatrix) -> Result<Self> {
        // SAFETY: as the caller promises.
        Ok(Self::new(unsafe { adopted(device, parts, MatrixType::<M>::OF.any())? }))
    }

    /// Does as [`DeviceMatrix::adopt`] without checking the contents.
    ///
    /// # Errors
    /// See [`DeviceMatrix::adopt`], except for [`Error::Pattern`].
    ///
    /// # Safety
    /// See [`DeviceMatrix::adopt`]. Also, the arrays must be a valid pattern.
    pub unsafe fn adopt_unchecked(device: &Device, parts: &RawMatrix) -> Result<Self> {
        // SAFETY: as the caller promises.
        Ok(Self::new(unsafe { borrowed(device, parts, MatrixType::<M>::OF.any())? }))
    }
}

impl DeviceMatrix<AnyMatrix> {
    /// Does as [`DeviceMatrix::adopt`] for a matrix whose format and element type are known at run
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
        // SAFETY: as the caller promises.
        Ok(Self::of_any(unsafe { adopted(device, parts, of)? }, of))
    }
}

impl<M: HostMatrix> DeviceMatrix<M> {
    /// The matrix's buffers, valid while the matrix lives.
    ///
    /// Commands of another queue must wait for a [`Device::marker`] before they read the buffers.
    /// They must be done before the matrix is dropped: its memory is then reused by later products,
    /// even if the handles were retained. ([`DeviceMatrix::into_raw_parts`] gives the memory away.)
    /// `col_ptr` and `row_idx` must not be written.
    pub fn raw_parts(&self) -> RawMatrix {
        let DeviceCbc { shape, stride, .. } = self.cbc;
        let (nrows, ncols) = (self.cbc.nrows, self.cbc.ncols);
        let (col_ptr, row_idx, values) = (self.cbc.col_ptr.raw(), self.cbc.row_idx.raw(), self.cbc.values.raw());
        RawMatrix { nrows, ncols, nnz: self.cbc.nnz(), shape, stride, col_ptr, row_idx, values }
    }

    /// Gives the matrix's buffers away. The caller must release each once. They may be longer than
    /// the matrix needs.
    ///
    /// Commands of another queue must wait for a [`Device::marker`]. Offsets and rows are copied if
    /// plans or other matrices share them.
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::OpenCl`] if such a copy fails.
    pub fn into_raw_parts(self) -> Result<RawMatrix> {
        let mut parts = self.raw_parts();
        let work = Work::new(self.device(), None);
        let DeviceCbc { pattern, values, .. } = self.cbc;
        let (col_ptr, row_idx) = PatternArrays::into_buffers(pattern, &work)?;
        parts.col_ptr = col_ptr.into_raw();
        parts.row_idx = row_idx.into_raw();
        values.into_raw();
        Ok(parts)
    }
}

/// Takes a matrix's arrays from an application's buffers, and checks them.
///
/// # Safety
/// See [`DeviceMatrix::adopt`].
unsafe fn adopted(device: &Device, parts: &RawMatrix, of: AnyType) -> Result<DeviceCbc> {
    // SAFETY: as the caller promises. What `borrowed` requires beyond that is checked before the
    // arrays are returned.
    let cbc = unsafe { borrowed(device, parts, of)? };
    validate(&Work::new(device, None), cbc.nrows, cbc.ncols, &cbc.col_ptr, &cbc.row_idx)?;
    Ok(cbc)
}

/// Takes a matrix's arrays from an application's buffers without checking their contents.
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
