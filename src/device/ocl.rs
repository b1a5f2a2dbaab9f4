//! The handles of the `ocl` crate (feature `ocl`): its queue adopted, its buffers multiplied in place, products and events handed back.
use super::{Device, DeviceMatrix, Marker, RawEvent, RawMatrix};
use crate::{BlockShape, Error, Matrix, Result};
use ocl::{OclPrm, core};

/// A matrix over buffers of the `ocl` crate: the fields of [`RawMatrix`], whose words on row-major matrices hold here. (`ocl` has no
/// buffers of `half::f16`; those are adopted by their raw handles.)
pub struct OclMatrix<'a, T: OclPrm> {
    /// Rows of the (block) grid the arrays describe.
    pub nrows: usize,
    /// Columns of the (block) grid the arrays describe.
    pub ncols: usize,
    /// Stored entries (blocks); the buffers may be longer.
    pub nnz: usize,
    /// Shape of each block, column-major.
    pub shape: BlockShape,
    /// Elements from one block to the next: the block's area, where blocks are not padded.
    pub stride: usize,
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

    /// The context and the queue of this device as `ocl`'s, retained: other queues of that context share all its objects, and commands
    /// of this queue stand in line with the device's own.
    pub fn to_ocl(&self) -> (ocl::Context, core::CommandQueue) {
        // SAFETY: both handles are valid, and `copied` retains them.
        unsafe {
            (
                core::Context::from_raw_copied_ptr(self.inner.context.get()).into(),
                core::CommandQueue::from_raw_copied_ptr(self.inner.queue.raw()),
            )
        }
    }

    /// Makes everything enqueued from now on wait for `events` of `ocl` commands; see [`Device::wait_for`].
    ///
    /// # Errors
    /// [`Error::Argument`] for an event that no command was given; [`Error::OpenCl`].
    pub fn wait_for_ocl(&self, events: &[ocl::Event]) -> Result<()> {
        if let Some(empty) = events.iter().position(ocl::Event::is_empty) {
            return Err(Error::Argument(format!(
                "event {empty} of {} is empty: no command was given it",
                events.len()
            )));
        }
        // SAFETY: an event that is not empty is valid while it lives.
        unsafe {
            let raw: Vec<RawEvent> = events.iter().map(|event| *core::ClEventPtrRef::as_ptr_ref(&event)).collect();
            self.wait_for(&raw)
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
            nnz: parts.nnz,
            shape: parts.shape,
            stride: parts.stride,
            col_ptr: parts.col_ptr.as_core().as_ptr(),
            row_idx: parts.row_idx.as_core().as_ptr(),
            values: parts.values.as_core().as_ptr(),
        };
        // SAFETY: handles that live `ocl` buffers hold are valid; the rest is the caller's word.
        unsafe { Self::adopt(device, &raw) }
    }

    /// The arrays of the matrix (offsets, rows, values) as `ocl` memory objects, for kernel
    /// arguments: not copied, and theirs while the matrix lives, as [`DeviceMatrix::raw_parts`] says.
    ///
    /// # Safety
    /// The offsets and the rows must not be written: kernels index memory with them, and `ocl` copies
    /// to any memory object without `unsafe`. Commands on the values must be done before the matrix is
    /// dropped, and before it is written in place.
    pub unsafe fn to_ocl(&self) -> [core::Mem; 3] {
        let raw = self.raw_parts();
        // SAFETY: the handles are valid while the matrix lives, and `copied` retains them.
        [raw.col_ptr, raw.row_idx, raw.values].map(|raw| unsafe { core::Mem::from_raw_copied_ptr(raw) })
    }

    /// The arrays of the matrix (offsets, rows, values) as `ocl` memory objects, given away: not copied, kept as long as they live. They
    /// may be longer than the matrix needs.
    ///
    /// Commands of another queue must wait for a [`Device::marker`].
    ///
    /// # Errors
    /// As [`DeviceMatrix::into_raw_parts`].
    pub fn into_ocl(self) -> Result<[core::Mem; 3]> {
        let raw = self.into_raw_parts()?;
        // SAFETY: each handle comes with one reference, which `create` takes over.
        Ok([raw.col_ptr, raw.row_idx, raw.values].map(|raw| unsafe { core::Mem::from_raw_create_ptr(raw) }))
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
        // SAFETY: they are read only, and `copy` waits until that is done.
        let [col_ptr, row_idx, values] = unsafe { self.to_ocl() };
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
