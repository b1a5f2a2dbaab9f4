//! Matrices over buffers of the `ocl` crate (feature `ocl`). The matrices are multiplied in place,
//! and products can be returned as `ocl` buffers.
use super::{DeviceCbc, DeviceDense, DeviceMatrix, RawMatrix};
use crate::{
    BlockShape, Element, Matrix, Result,
    device::{Buffer, Device, ocl::refused},
    matrix::DenseShape,
};
use ocl::{OclPrm, core};

/// A matrix over buffers of the `ocl` crate. The fields have the same meaning as in [`RawMatrix`],
/// also for row-major matrices. `ocl` has no buffers of `half::f16`, which must be adopted by their
/// raw handles.
pub struct OclMatrix<'a, T: OclPrm> {
    /// Rows of the grid of entries (blocks) that the arrays describe.
    pub nrows: usize,
    /// Columns of the grid of entries (blocks) that the arrays describe.
    pub ncols: usize,
    /// Number of stored entries (blocks). The buffers may be longer than these entries need.
    pub nnz: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// Number of elements from one block to the next. The stride is the area of a block if blocks
    /// are not padded.
    pub stride: usize,
    /// `ncols + 1` offsets.
    pub col_ptr: &'a ocl::Buffer<u32>,
    /// Row of each entry, ascending within a column.
    pub row_idx: &'a ocl::Buffer<u32>,
    /// The entries, block after block.
    pub values: &'a ocl::Buffer<T>,
}

impl<M: Matrix> DeviceMatrix<M>
where
    M::Element: OclPrm,
{
    /// A matrix over `ocl` buffers. The buffers are not copied, and the device checks their
    /// contents; see [`DeviceMatrix::adopt`].
    ///
    /// # Errors
    /// See [`DeviceMatrix::adopt`].
    ///
    /// # Safety
    /// `col_ptr` and `row_idx` must not change while the matrix lives.
    pub unsafe fn from_ocl(device: &Device, parts: &OclMatrix<'_, M::Element>) -> Result<Self> {
        let raw = RawMatrix {
            nrows: parts.nrows,
            ncols: parts.ncols,
            nnz: parts.nnz,
            shape: parts.shape,
            stride: parts.stride,
            col_ptr: parts.col_ptr.as_core().as_ptr(),
            row_idx: parts.row_idx.as_core().as_ptr(),
            values: parts.values.as_core().as_ptr(),
        };
        // SAFETY: the handles of live `ocl` buffers are valid. The caller guarantees the rest.
        unsafe { Self::adopt(device, &raw) }
    }

    /// The arrays of the matrix (offsets, rows, values) as `ocl` memory objects, for kernel
    /// arguments. Nothing is copied, and the matrix keeps the arrays; see
    /// [`DeviceMatrix::raw_parts`].
    ///
    /// # Safety
    /// The offsets and the rows must not be written: kernels index memory with them, and `ocl` can
    /// copy to any memory object without `unsafe`. Commands on the values must have ended before
    /// the matrix is written in place.
    pub unsafe fn to_ocl(&self) -> [core::Mem; 3] {
        let raw = self.raw_parts();
        // SAFETY: the handles are valid while the matrix lives, and `copied` retains them.
        [raw.col_ptr, raw.row_idx, raw.values].map(|raw| unsafe { core::Mem::from_raw_copied_ptr(raw) })
    }

    /// Transfers the arrays of the matrix (offsets, rows, values) to the caller, as `ocl` memory
    /// objects. Nothing is copied. The memory lives as long as these objects. The arrays may be
    /// longer than the matrix needs.
    ///
    /// Commands of another queue must wait for a [`Device::marker`].
    ///
    /// # Errors
    /// See [`DeviceMatrix::into_raw_parts`].
    pub fn into_ocl(self) -> Result<[core::Mem; 3]> {
        let raw = self.into_raw_parts()?;
        // SAFETY: each handle comes with one reference, which `create` takes over.
        Ok([raw.col_ptr, raw.row_idx, raw.values].map(|raw| unsafe { core::Mem::from_raw_create_ptr(raw) }))
    }

    /// Copies the arrays of the matrix (offsets, rows, values) into new `ocl` buffers on `queue`,
    /// after the commands that compute them. An empty array becomes a buffer of one element.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl) if `ocl` refuses.
    #[allow(clippy::type_complexity)]
    pub fn copy_to_ocl(
        &self,
        queue: &ocl::Queue,
    ) -> Result<(ocl::Buffer<u32>, ocl::Buffer<u32>, ocl::Buffer<M::Element>)> {
        let done = self.device().marker()?.to_ocl()?;
        let DeviceCbc { pattern, values, .. } = &self.cbc;
        let copied = |buffer: &Buffer| {
            // SAFETY: the handle is valid while the matrix lives, and `copied` retains it. The
            // buffer is only read, and `copy` waits until this has ended.
            unsafe { core::Mem::from_raw_copied_ptr(buffer.raw()) }
        };
        Ok((
            copy(queue, &copied(&pattern.col_ptr), pattern.col_ptr.len(), done.as_ref())?,
            copy(queue, &copied(&pattern.row_idx), pattern.row_idx.len(), done.as_ref())?,
            copy(queue, &copied(values), values.len(), done.as_ref())?,
        ))
    }
}

impl<T: OclPrm + Element> DeviceDense<T> {
    /// A dense matrix over an `ocl` buffer, which is not copied; see [`DeviceDense::adopt`].
    ///
    /// # Errors
    /// See [`DeviceDense::adopt`].
    pub fn from_ocl(device: &Device, shape: DenseShape, values: &ocl::Buffer<T>) -> Result<Self> {
        // SAFETY: the handle of a live `ocl` buffer is valid.
        unsafe { Self::adopt(device, shape, values.as_core().as_ptr()) }
    }

    /// The matrix's elements as an `ocl` memory object, for kernel arguments. Nothing is copied.
    ///
    /// # Safety
    /// Commands on the memory object must have ended before the matrix is written in place.
    pub unsafe fn to_ocl(&self) -> core::Mem {
        // SAFETY: the handle is valid while the matrix lives, and `copied` retains it.
        unsafe { core::Mem::from_raw_copied_ptr(self.raw()) }
    }
}

fn copy<T: OclPrm>(
    queue: &ocl::Queue,
    from: &core::Mem,
    len: usize,
    done: Option<&ocl::Event>,
) -> Result<ocl::Buffer<T>> {
    let buffer = ocl::Buffer::<T>::builder().queue(queue.clone()).len(len.max(1)).build().map_err(refused)?;
    if len > 0 {
        let mut copied = ocl::Event::empty();
        core::enqueue_copy_buffer::<T, _, _, _>(queue, from, buffer.as_core(), 0, 0, len, done, Some(&mut copied))
            .map_err(refused)?;
        copied.wait_for().map_err(refused)?;
    }
    Ok(buffer)
}
