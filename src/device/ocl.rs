//! The handles of the `ocl` crate (feature `ocl`): its queue adopted, its buffers multiplied in place, products and events handed back.
use super::{Device, DeviceMatrix, Marker, RawMatrix};
use crate::{BlockShape, Error, Matrix, Result};
use ocl::{OclPrm, core};

/// A matrix over buffers of the `ocl` crate: compressed block columns (of the transpose, for row-major matrices).
pub struct OclMatrix<'a, T: OclPrm> {
    /// Rows of the (block) grid the arrays describe.
    pub nrows: usize,
    /// Columns of the (block) grid the arrays describe.
    pub ncols: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// `ncols + 1` offsets.
    pub col_ptr: &'a ocl::Buffer<u32>,
    /// Row of each entry, ascending within a column.
    pub row_idx: &'a ocl::Buffer<u32>,
    /// The entries, block after block.
    pub values: &'a ocl::Buffer<T>,
}

impl Device {
    /// Adopts an `ocl` queue with its context and device; see [`Device::adopt`].
    ///
    /// # Errors
    /// As [`Device::adopt`].
    pub fn from_ocl(queue: &ocl::Queue) -> Result<Self> {
        let (context, device) = (queue.context_ptr().map_err(refused)?, queue.device());
        // SAFETY: handles that live `ocl` objects hold are valid, and a queue's context and device are of one platform.
        unsafe { Self::adopt(context, core::ClDeviceIdPtr::as_ptr(device.as_core()), queue.as_core().as_ptr()) }
    }

    /// An `ocl` context and queue over the handles of this device: they share all objects, and commands of the queue stand in line
    /// with the device's own.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn to_ocl(&self) -> Result<(core::Context, core::CommandQueue)> {
        // SAFETY: both handles are valid, and `copied` retains them.
        unsafe {
            Ok((
                core::Context::from_raw_copied_ptr(self.inner.context.get()),
                core::CommandQueue::from_raw_copied_ptr(self.inner.queue.raw()),
            ))
        }
    }
}

impl Marker {
    /// The marker's event, for the wait lists of `ocl` commands.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn to_ocl(&self) -> Result<ocl::Event> {
        // SAFETY: the event is valid while the marker lives, and `copied` retains it.
        unsafe { core::Event::from_raw_copied_ptr(self.raw()).map(ocl::Event::from).map_err(refused) }
    }
}

impl<M: Matrix> DeviceMatrix<M>
where
    M::Element: OclPrm,
{
    /// A matrix over `ocl` buffers, not copied and checked on the device; see [`DeviceMatrix::adopt`].
    ///
    /// # Errors
    /// As [`DeviceMatrix::adopt`].
    ///
    /// # Safety
    /// Nobody may change `col_ptr` or `row_idx` while the matrix lives.
    pub unsafe fn from_ocl(device: &Device, parts: &OclMatrix<'_, M::Element>) -> Result<Self> {
        let raw = RawMatrix {
            nrows: parts.nrows,
            ncols: parts.ncols,
            nnz: parts.row_idx.len(),
            shape: parts.shape,
            stride: parts.shape.area(),
            col_ptr: parts.col_ptr.as_core().as_ptr(),
            row_idx: parts.row_idx.as_core().as_ptr(),
            values: parts.values.as_core().as_ptr(),
        };
        // SAFETY: handles that live `ocl` buffers hold are valid; the rest is the caller's word.
        unsafe { Self::adopt(device, &raw) }
    }

    /// The arrays of the matrix (offsets, rows, values) as `ocl` memory objects, for kernel arguments: not copied, alive on their own.
    pub fn to_ocl(&self) -> [core::Mem; 3] {
        let raw = self.raw_parts();
        // SAFETY: the handles are valid while the matrix lives, and `copied` retains them.
        [raw.col_ptr, raw.row_idx, raw.values].map(|raw| unsafe { core::Mem::from_raw_copied_ptr(raw) })
    }

    /// Copies the arrays of the matrix into new `ocl` buffers (offsets, rows, values) on `queue`, behind the commands that make them. An
    /// empty array becomes a buffer of one element.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when `ocl` refuses.
    #[allow(clippy::type_complexity)]
    pub fn copy_to_ocl(
        &self,
        queue: &ocl::Queue,
    ) -> Result<(ocl::Buffer<u32>, ocl::Buffer<u32>, ocl::Buffer<M::Element>)> {
        let done = self.device().marker()?.to_ocl()?;
        let [col_ptr, row_idx, values] = self.to_ocl();
        Ok((
            copy(queue, &col_ptr, self.cbc.col_ptr.len(), &done)?,
            copy(queue, &row_idx, self.cbc.row_idx.len(), &done)?,
            copy(queue, &values, self.cbc.values.len(), &done)?,
        ))
    }
}

fn copy<T: OclPrm>(queue: &ocl::Queue, from: &core::Mem, len: usize, done: &ocl::Event) -> Result<ocl::Buffer<T>> {
    let buffer = ocl::Buffer::<T>::builder().queue(queue.clone()).len(len.max(1)).build().map_err(refused)?;
    if len > 0 {
        let mut copied = ocl::Event::empty();
        core::enqueue_copy_buffer::<T, _, _, _>(
            queue,
            from,
            buffer.as_core(),
            0,
            0,
            len,
            Some(done),
            Some(&mut copied),
        )
        .map_err(refused)?;
        copied.wait_for().map_err(refused)?;
    }
    Ok(buffer)
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::Argument(format!("ocl: {error}"))
}
