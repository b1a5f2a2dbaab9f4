//! An application's own OpenCL handles: its context and queue adopted, its buffers multiplied in place, a product's arrays handed out, events in
//! and out.
use super::{
    Buffer, Device, DeviceCbc, DeviceMatrix, PatternArrays, Work,
    cl::check,
    handle::{CommandQueue, Context},
    info,
    pool::Memory,
    queue::{Queue, SharedEvent},
    validate::validate,
};
use crate::{
    BlockShape, Error, Matrix, Result, Word,
    matrix::{check_sides, check_stride},
};
use opencl3::{
    command_queue as clq, context::context as clc, device::Device as ClDevice, error_codes::error_text, event as cle,
    memory as clm, platform::Platform,
};
use std::ffi::c_void;

/// `cl_context`, as every binding of OpenCL spells it.
pub type RawContext = *mut c_void;
/// `cl_device_id`.
pub type RawDevice = *mut c_void;
/// `cl_command_queue`.
pub type RawQueue = *mut c_void;
/// `cl_mem`.
pub type RawMemory = *mut c_void;
/// `cl_event`.
pub type RawEvent = *mut c_void;

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

/// A point in a device's queue: done when everything enqueued through the device before it is.
#[derive(Debug, Clone)]
pub struct Marker {
    event: SharedEvent,
    device: Device,
}

impl Marker {
    /// The event, valid while the marker lives; retain it to keep it longer.
    pub fn raw(&self) -> RawEvent {
        self.event.get()
    }

    /// Waits until everything before the marker is done.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when a command before it failed.
    pub fn wait(&self) -> Result<()> {
        self.device.inner.queue.wait(&self.event)
    }
}

impl Device {
    /// Adopts an application's context, device and queue. They are retained, and released when the last clone of the device and the last
    /// matrix on it are dropped.
    ///
    /// A queue without profiling gives stage times of `None`. On one that runs out of order the device keeps its own commands in order by
    /// events; the application's on the same queue join that order by [`Device::wait_for`] and [`Device::marker`]. A device that
    /// [`Device::list`] does not have, such as a part of another, gets the index `usize::MAX`.
    ///
    /// # Errors
    /// [`Error::Argument`] when the context has not that device or the queue belongs to others; [`Error::OpenCl`].
    ///
    /// # Safety
    /// The three must be valid handles of one OpenCL platform.
    pub unsafe fn adopt(context: RawContext, device: RawDevice, queue: RawQueue) -> Result<Self> {
        let devices: Vec<isize> =
            check("clGetContextInfo", clc::get_context_info(context, clc::CL_CONTEXT_DEVICES))?.into();
        if !devices.contains(&(device as isize)) {
            return Err(Error::Argument("the device to adopt is not one of the context's".into()));
        }
        let of_queue = |what| check("clGetCommandQueueInfo", clq::get_command_queue_info(queue, what));
        let (queue_context, queue_device): (isize, isize) =
            (of_queue(clq::CL_QUEUE_CONTEXT)?.into(), of_queue(clq::CL_QUEUE_DEVICE)?.into());
        if queue_context != context as isize || queue_device != device as isize {
            return Err(Error::Argument("the queue to adopt belongs to another context or device".into()));
        }
        let properties: u64 = of_queue(clq::CL_QUEUE_PROPERTIES)?.into();
        let id = ClDevice::new(device);
        let platform = Platform::new(check("clGetDeviceInfo", id.platform().map_err(|error| error.0))?);
        let mut info = info::describe(0, &platform, device)?;
        // Its place in the list, where it is listed (a sub-device is not).
        info.index =
            Self::list().ok().and_then(|all| all.iter().position(|one| one.id == info.id)).unwrap_or(usize::MAX);

        // SAFETY: both are valid by the caller's word; each retain is undone when the wrapper made of it is dropped.
        unsafe {
            check("clRetainContext", clc::retain_context(context))?;
            let context = Context::from_raw(context);
            check("clRetainCommandQueue", clq::retain_command_queue(queue))?;
            let queue = CommandQueue::from_raw(queue);
            let queue = match properties & clq::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE {
                0 => Queue::in_order(queue),
                _ => Queue::ordered_by_events(queue),
            };
            Ok(Self::from_parts(info, context, queue))
        }
    }

    /// Makes everything enqueued from now on wait for `events`: those of the commands that write an adopted matrix, say.
    ///
    /// # Errors
    /// [`Error::OpenCl`], for events of another context above all; [`Error::CommandFailed`] for one that
    /// has ended in an error.
    ///
    /// # Safety
    /// The events must be valid handles.
    pub unsafe fn wait_for(&self, events: &[RawEvent]) -> Result<()> {
        if events.is_empty() {
            return Ok(()); // a barrier on nothing would wait for all
        }
        // A barrier on an event that has failed may never end (PoCL).
        for &event in events {
            let status = cle::get_event_info(event, cle::CL_EVENT_COMMAND_EXECUTION_STATUS);
            match i32::from(check("clGetEventInfo", status)?) {
                code if code < 0 => {
                    return Err(Error::CommandFailed { call: "an awaited command", code, name: error_text(code) });
                }
                _ => {}
            }
        }
        self.inner.queue.enqueue("clEnqueueBarrierWithWaitList", |queue, before| {
            let events = before.and(events);
            // SAFETY: valid by the caller's word.
            unsafe { clq::enqueue_barrier_with_wait_list(queue, events.len() as u32, events.as_ptr()) }
        })?;
        Ok(())
    }

    /// A marker behind everything enqueued through the device so far: the event for others to wait for.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn marker(&self) -> Result<Marker> {
        let event = self.inner.queue.enqueue("clEnqueueMarkerWithWaitList", |queue, before| {
            // SAFETY: `before` holds events of this queue; with none, the marker waits for all.
            unsafe { clq::enqueue_marker_with_wait_list(queue, before.len(), before.pointer()) }
        })?;
        self.inner.queue.flush()?; // others may wait for it without ever flushing this queue
        Ok(Marker { event, device: self.clone() })
    }

    fn borrow<T: Word>(&self, what: &'static str, raw: RawMemory, len: usize) -> Result<Buffer<T>> {
        if raw.is_null() && len == 0 {
            return Work::new(self, None).buffer(0);
        }
        let info = |what| check("clGetMemObjectInfo", clm::get_mem_object_info(raw, what));
        let context: isize = info(clm::CL_MEM_CONTEXT)?.into();
        if context != self.inner.context.get() as isize {
            return Err(Error::Argument(format!("{what} is a buffer of another OpenCL context")));
        }
        // SAFETY: the calls above have taken `raw` for a memory object; that it is one is the word of whoever called `adopt`.
        let memory = unsafe { Memory::foreign(raw)? };
        let (found, expected) = (memory.bytes() as usize / size_of::<T>(), len);
        if found < expected {
            return Err(Error::Length {
                array: what,
                found,
                expected,
                why: format!("a buffer of {} bytes", memory.bytes()),
            });
        }
        Ok(Buffer::new(memory, len))
    }
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
        parts.col_ptr = col_ptr.memory.into_raw();
        parts.row_idx = row_idx.memory.into_raw();
        values.memory.into_raw();
        Ok(parts)
    }
}
