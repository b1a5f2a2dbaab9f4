//! Interoperation with an application's own OpenCL handles: it adopts the application's context and
//! queue, borrows its buffers, and exchanges events.
use super::{
    Buffer, Device, Inner, Marker, Work,
    cl::check,
    handle::{CommandQueue, Context, RawContext, RawDevice, RawEvent, RawMemory, RawQueue},
    info,
    pool::Memory,
    queue::Queue,
};
use crate::{Error, Result, element::WordType};
use opencl3::{
    command_queue as clq, context::context as clc, device::Device as ClDevice, error_codes::error_text, event as cle,
    memory as clm, platform::Platform,
};

/// The handles of a device's context, device and first queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawHandles {
    /// The context, in which the buffers of all matrices on the device are created.
    pub context: RawContext,
    /// The device.
    pub device: RawDevice,
    /// The queue whose order the commands of the device keep.
    pub queue: RawQueue,
}

impl Device {
    /// Adopts an application's context, device and queue. The context and the queue are retained
    /// until the last clone of the adopted device and the last matrix on it are dropped.
    ///
    /// If the queue has no profiling, the times of stages are `None`. If the queue runs out of
    /// order, the device orders its own commands by events. The application's commands on that
    /// queue join this order by [`Device::wait_for`] and [`Device::marker`]. A device that
    /// [`Device::list`] does not contain, such as a sub-device, gets the index `usize::MAX`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the context does not contain the device, or the queue belongs to
    /// another context or device; [`Error::OpenCl`].
    ///
    /// # Safety
    /// `context`, `device` and `queue` must be valid handles of one OpenCL platform.
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
        // The index in the list of devices. A sub-device is not in the list.
        info.index =
            Self::list().ok().and_then(|all| all.iter().position(|one| one.id == info.id)).unwrap_or(usize::MAX);

        // SAFETY: the context and the queue are valid, as the caller guarantees. Each wrapper
        // releases its handle when it is dropped.
        unsafe {
            check("clRetainContext", clc::retain_context(context))?;
            let context = Context::from_raw(context);
            check("clRetainCommandQueue", clq::retain_command_queue(queue))?;
            let queue = CommandQueue::from_raw(queue);
            let queue = match properties & clq::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE {
                0 => Queue::in_order(queue),
                _ => Queue::ordered_by_events(queue),
            };
            queue.share();
            Ok(Self::from_parts(info, context, queue, (false, true)))
        }
    }

    /// Adopts an application's queue, with its context and its device; see [`Device::adopt`].
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    ///
    /// # Safety
    /// `queue` must be a valid handle.
    pub unsafe fn adopt_queue(queue: RawQueue) -> Result<Self> {
        let of_queue = |what| check("clGetCommandQueueInfo", clq::get_command_queue_info(queue, what));
        let (context, device): (isize, isize) =
            (of_queue(clq::CL_QUEUE_CONTEXT)?.into(), of_queue(clq::CL_QUEUE_DEVICE)?.into());
        // SAFETY: the queue is valid, as the caller guarantees, so its context and device are.
        unsafe { Self::adopt(context as RawContext, device as RawDevice, queue) }
    }

    /// The handles of the device's context, device and queue. The handles are valid while the
    /// device or a matrix on it lives, or longer if the caller retains them. Other queues of the
    /// context can use the buffers of [`DeviceMatrix::raw_parts`](crate::DeviceMatrix::raw_parts).
    /// Commands that the application enqueues on the returned queue run in order with the commands
    /// of the device, unless the queue was [adopted](Device::adopt) and runs out of order.
    pub fn raw_handles(&self) -> RawHandles {
        let Inner { info, context, queue, .. } = &*self.inner;
        queue.share();
        RawHandles { context: context.get(), device: info.id.raw(), queue: queue.raw() }
    }

    /// Makes all commands enqueued from now on wait for `events`, for example the events of
    /// commands that write an adopted matrix.
    ///
    /// # Errors
    /// [`Error::OpenCl`], for example for events of another context; [`Error::CommandFailed`] if
    /// the command of an event has failed.
    ///
    /// # Safety
    /// The events must be valid handles.
    pub unsafe fn wait_for(&self, events: &[RawEvent]) -> Result<()> {
        if events.is_empty() {
            return Ok(()); // a barrier on no event would wait for all commands
        }
        // In PoCL a barrier that waits for a failed event may never end.
        for &event in events {
            let status = cle::get_event_info(event, cle::CL_EVENT_COMMAND_EXECUTION_STATUS);
            match i32::from(check("clGetEventInfo", status)?) {
                code if code < 0 => {
                    return Err(Error::CommandFailed { call: "an awaited command", code, name: error_text(code) });
                }
                _ => {}
            }
        }
        // The marker of an earlier execution must not wait for `events`, because the application
        // may wait for that marker before it completes the events.
        self.inner.queue.mark_silent()?;
        self.inner.queue.enqueue("clEnqueueBarrierWithWaitList", &mut |queue, before| {
            let events = before.and(events);
            // SAFETY: the events are valid, as the caller guarantees.
            unsafe { clq::enqueue_barrier_with_wait_list(queue, events.len() as u32, events.as_ptr()) }
        })?;
        Ok(())
    }

    /// Makes all commands enqueued from now on wait for `markers`. Markers of the device's first
    /// queue are skipped, because this queue runs in order.
    pub(crate) fn wait_for_markers(&self, markers: &[Marker]) -> Result<()> {
        let of_others = markers.iter().filter(|marker| !marker.is_of(self, &self.inner.queue));
        let events = of_others.map(Marker::raw).collect::<Result<Vec<_>>>()?;
        // SAFETY: each marker holds its event.
        unsafe { self.wait_for(&events.into_iter().flatten().collect::<Vec<_>>()) }
    }

    /// A marker after all commands that have been enqueued through the device so far. Other queues
    /// can wait for this marker.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn marker(&self) -> Result<Marker> {
        let event = self.inner.queue.enqueue("clEnqueueMarkerWithWaitList", &mut |queue, before| {
            // SAFETY: `before` holds events of this queue. If `before` is empty, the marker waits
            // for all commands.
            unsafe { clq::enqueue_marker_with_wait_list(queue, before.len(), before.pointer()) }
        })?;
        // Other queues may wait for the marker without flushing this queue.
        self.inner.queue.flush()?;
        Ok(Marker::of(self, &self.inner.queue, Some(event)))
    }

    /// Makes a buffer of `len` values from an application's memory, and retains the memory. `what`
    /// is its name in errors.
    pub(crate) fn borrow(&self, what: &'static str, raw: RawMemory, word: WordType, len: usize) -> Result<Buffer> {
        if raw.is_null() && len == 0 {
            return Work::new(self, None).buffer_of(word, 0);
        }
        let info = |what| check("clGetMemObjectInfo", clm::get_mem_object_info(raw, what));
        let context: isize = info(clm::CL_MEM_CONTEXT)?.into();
        if context != self.inner.context.get() as isize {
            return Err(Error::Argument(format!("{what} is a buffer of another OpenCL context")));
        }
        // SAFETY: the calls above have accepted `raw` as a memory object, and the caller of `adopt`
        // guarantees valid handles.
        let memory = unsafe { Memory::foreign(raw)? };
        let (found, expected) = (memory.bytes() as usize / word.bytes(), len);
        if found < expected {
            return Err(Error::Length {
                array: what,
                found,
                expected,
                why: format!("a buffer of {} bytes", memory.bytes()),
            });
        }
        Ok(Buffer::new(memory, len, word))
    }
}
