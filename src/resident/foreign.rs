//! An application's own buffers as matrices: adopted and multiplied in place, a product's arrays handed out.
use super::{DeviceCbc, DeviceMatrix, PatternArrays, validate::validate};
use crate::{
    BlockShape, Error, Matrix, Result,
    device::{Device, RawMemory, Work},
    matrix::{check_sides, check_stride},
};

/// The arrays of a matrix as OpenCL buffers: compressed block columns. For row-major matrices they are those of the transpose, and so
/// are `nrows`, `ncols` and `shape`: `col_ptr` is then what a row-major program calls `row_ptr`, `nrows` its number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawMatrix {
    /// Rows of the (block) grid the arrays describe.
    pub nrows: usize,
    /// Columns of the (block) grid the arrays describe.
    pub ncols: usize,
    /// Stored entries (blocks).
    pub nnz: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// Elements from one block to the next, at least the block's area.
    pub stride: usize,
    /// `ncols + 1` offsets, `uint`.
    pub col_ptr: RawMemory,
    /// Row of each entry, `uint`, ascending within a column. May be null where `nnz` is 0, as OpenCL has no empty buffers.
    pub row_idx: RawMemory,
    /// `nnz * stride` elements. May be null where `nnz` is 0.
    pub values: RawMemory,
}

impl<M: Matrix> DeviceMatrix<M> {
    /// A matrix over an application's own buffers, which are retained and not copied. Checked on the device: one kernel and one small
    /// read.
    ///
    /// # Errors
    /// [`Error::Pattern`] naming column and entry, [`Error::Length`] for a buffer that is too
    /// small, [`Error::TooLarge`] for a side, a number of blocks or a stride beyond 32 bits,
    /// [`Error::Argument`] for one of another context or a block shape the matrix type does not
    /// have.
    ///
    /// # Safety
    /// The buffers must be valid `cl_mem` handles, and nobody may change `col_ptr` or `row_idx` while the matrix lives: kernels index
    /// memory with them. Values may change between products, but while this matrix is written in place
    /// ([`DeviceMatrix::write_values_with`]) nobody else may use their memory, nor may another matrix that is written then have it.
    pub unsafe fn adopt(device: &Device, parts: &RawMatrix) -> Result<Self> {
        // SAFETY: the caller's; what `adopt_unchecked` asks for beyond it is checked before the matrix is given away.
        let matrix = unsafe { Self::adopt_unchecked(device, parts)? };
        let cbc = &matrix.cbc;
        validate(&Work::new(device, None), cbc.nrows, cbc.ncols, &cbc.col_ptr, &cbc.row_idx)?;
        Ok(matrix)
    }

    /// As [`DeviceMatrix::adopt`], without looking at the contents.
    ///
    /// # Errors
    /// As [`DeviceMatrix::adopt`], but for [`Error::Pattern`].
    ///
    /// # Safety
    /// As [`DeviceMatrix::adopt`]; and the arrays must be a valid pattern.
    pub unsafe fn adopt_unchecked(device: &Device, parts: &RawMatrix) -> Result<Self> {
        device.require::<M::Element>()?;
        let RawMatrix { nrows, ncols, nnz, shape, stride, .. } = *parts;
        PatternArrays::check_nnz(nnz as u64)?;
        check_sides(nrows, ncols, shape)?;
        if stride < shape.area() || (!M::BLOCKS && (shape != BlockShape::SCALAR || stride != 1)) {
            return Err(Error::Argument(format!(
                "blocks of {shape}, {stride} elements apart, are not of this matrix type"
            )));
        }
        let values = check_stride(nnz, stride)?;
        Ok(Self::new(DeviceCbc {
            pattern: PatternArrays::new(
                device,
                nrows,
                ncols,
                device.borrow("col_ptr", parts.col_ptr, ncols + 1)?,
                device.borrow("row_idx", parts.row_idx, nnz)?,
            ),
            shape,
            stride,
            values: device.borrow("values", parts.values, values)?,
        }))
    }

    /// The matrix's buffers, valid while the matrix lives.
    ///
    /// Commands of another queue must wait for a [`Device::marker`] before they read them, and be done before the matrix is dropped: its
    /// memory then serves later products, even where the handles were retained ([`DeviceMatrix::into_raw_parts`] is for that). Nobody
    /// may write `col_ptr` or `row_idx`.
    pub fn raw_parts(&self) -> RawMatrix {
        let DeviceCbc { shape, stride, .. } = self.cbc;
        let (nrows, ncols) = (self.cbc.nrows, self.cbc.ncols);
        let (col_ptr, row_idx, values) = (self.cbc.col_ptr.raw(), self.cbc.row_idx.raw(), self.cbc.values.raw());
        RawMatrix { nrows, ncols, nnz: self.cbc.nnz(), shape, stride, col_ptr, row_idx, values }
    }

    /// The matrix's buffers, given away: the caller releases each once. They may be longer than the matrix needs.
    ///
    /// Commands of another queue must wait for a [`Device::marker`]. Offsets and rows that others share, matrices of the same pattern or
    /// plans, are copied.
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::OpenCl`], for such a copy.
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
