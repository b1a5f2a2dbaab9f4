//! Interoperation with an application's own OpenCL handles: adopts its context and queue, borrows
//! its buffers, exchanges events.
use super::{
    Buffer, Device, Work,
    cl::check,
    handle::{CommandQueue, Context, Event},
    info,
    pool::Memory,
    queue::{Queue, SharedEvent},
};
use crate::{Error, Result, element::WordType};
use opencl3::{
    command_queue as clq, context::context as clc, device::Device as ClDevice, error_codes::error_text, event as cle,
    memory as clm, platform::Platform,
};
use std::{ffi::c_void, sync::Arc};

/// `cl_context` as a plain pointer, the form in which any binding of OpenCL can pass it.
pub type RawContext = *mut c_void;
/// `cl_device_id`.
pub type RawDevice = *mut c_void;
/// `cl_command_queue`.
pub type RawQueue = *mut c_void;
/// `cl_mem`.
pub type RawMemory = *mut c_void;
/// `cl_event`.
pub type RawEvent = *mut c_void;

/// A point in a queue. It is reached when all commands before it are done. [`Device::marker`] makes
/// one, and every execution of a plan returns one.
#[derive(Debug, Clone)]
pub struct Marker {
    /// `None` if nothing was enqueued.
    event: Option<SharedEvent>,
    /// `None` for an application's event.
    home: Option<Home>,
}

/// The device and the queue to which a marker belongs.
#[derive(Clone)]
struct Home {
    device: Device,
    queue: Arc<Queue>,
}

impl std::fmt::Debug for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.device.fmt(f)
    }
}

impl Marker {
    /// The marker of a command that `queue`, one of the queues of `device`, has taken; without an
    /// event if nothing was enqueued.
    pub(super) fn of(device: &Device, queue: &Arc<Queue>, event: Option<SharedEvent>) -> Self {
        Self { event, home: Some(Home { device: device.clone(), queue: queue.clone() }) }
    }

    /// A marker made from an application's event, which is retained.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    ///
    /// # Safety
    /// The event must be a valid handle.
    pub unsafe fn from_raw(event: RawEvent) -> Result<Self> {
        // SAFETY: valid, as the caller promises. The retain is undone when the wrapper is dropped.
        let event = unsafe {
            check("clRetainEvent", cle::retain_event(event))?;
            Event::from_raw(event)
        };
        Ok(Self { event: Some(Arc::new(event)), home: None })
    }

    /// The event, for other queues to wait for. It is valid while the marker lives; retain it to
    /// keep it longer. `None` if nothing was enqueued.
    ///
    /// # Errors
    /// [`Error::OpenCl`]: the queue is flushed first.
    pub fn raw(&self) -> Result<Option<RawEvent>> {
        let event = self.event.as_ref().map(|event| event.get()).transpose()?;
        if let (Some(home), Some(_)) = (&self.home, event) {
            home.queue.flush()?; // others may wait for it without ever flushing this queue
        }
        Ok(event)
    }

    /// Waits until everything enqueued before the marker is done.
    ///
    /// # Errors
    /// [`Error::OpenCl`] if a command before it failed.
    pub fn wait(&self) -> Result<()> {
        match (&self.home, &self.event) {
            (_, None) => Ok(()),
            (Some(home), Some(event)) => {
                home.queue.flush()?;
                home.queue.wait(event)
            }
            (None, Some(event)) => event.wait(),
        }
    }
}

impl Device {
    /// Adopts an application's context, device and queue. They are retained, and released when the
    /// last clone of the device and the last matrix on it are dropped.
    ///
    /// If the queue has no profiling, stage times are `None`. On a queue that runs out of order,
    /// the device orders its own commands by events. The application's commands on that queue join
    /// this order by [`Device::wait_for`] and [`Device::marker`]. A device that [`Device::list`]
    /// does not contain, such as a sub-device, gets the index `usize::MAX`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the context does not contain the device, or the queue belongs to
    /// another context or device; [`Error::OpenCl`].
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
        // The index in the list, if the device is listed (a sub-device is not).
        info.index =
            Self::list().ok().and_then(|all| all.iter().position(|one| one.id == info.id)).unwrap_or(usize::MAX);

        // SAFETY: both are valid, as the caller promises. Each retain is undone when the wrapper
        // made of it is dropped.
        unsafe {
            check("clRetainContext", clc::retain_context(context))?;
            let context = Context::from_raw(context);
            check("clRetainCommandQueue", clq::retain_command_queue(queue))?;
            let queue = CommandQueue::from_raw(queue);
            let queue = match properties & clq::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE {
                0 => Queue::in_order(queue),
                _ => Queue::ordered_by_events(queue),
            };
            Ok(Self::from_parts(info, context, queue, (false, true)))
        }
    }

    /// Makes everything enqueued from now on wait for `events`, for example for those of commands
    /// that write an adopted matrix.
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
        // A barrier that waits for a failed event may never end (PoCL).
        for &event in events {
            let status = cle::get_event_info(event, cle::CL_EVENT_COMMAND_EXECUTION_STATUS);
            match i32::from(check("clGetEventInfo", status)?) {
                code if code < 0 => {
                    return Err(Error::CommandFailed { call: "an awaited command", code, name: error_text(code) });
                }
                _ => {}
            }
        }
        // The marker of an earlier execution must not wait for these events, because the
        // application may wait for that marker before it ends them.
        self.inner.queue.mark_silent()?;
        self.inner.queue.enqueue("clEnqueueBarrierWithWaitList", &mut |queue, before| {
            let events = before.and(events);
            // SAFETY: valid, as the caller promises.
            unsafe { clq::enqueue_barrier_with_wait_list(queue, events.len() as u32, events.as_ptr()) }
        })?;
        Ok(())
    }

    /// Makes everything enqueued from now on wait for `markers`. Markers of the device's first
    /// queue are skipped: this queue runs in order.
    pub(crate) fn wait_for_markers(&self, markers: &[Marker]) -> Result<()> {
        let own = |home: &Home| home.device.same_as(self) && home.queue.number() == self.inner.queue.number();
        let of_others = markers.iter().filter(|marker| !marker.home.as_ref().is_some_and(own));
        let events = of_others.map(Marker::raw).collect::<Result<Vec<_>>>()?;
        // SAFETY: each marker holds its event.
        unsafe { self.wait_for(&events.into_iter().flatten().collect::<Vec<_>>()) }
    }

    /// A marker after everything that has been enqueued through the device so far. Other queues can
    /// wait for it.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn marker(&self) -> Result<Marker> {
        let event = self.inner.queue.enqueue("clEnqueueMarkerWithWaitList", &mut |queue, before| {
            // SAFETY: `before` holds events of this queue; with none, the marker waits for all.
            unsafe { clq::enqueue_marker_with_wait_list(queue, before.len(), before.pointer()) }
        })?;
        // Others may wait for the marker without flushing this queue.
        self.inner.queue.flush()?;
        Ok(Marker::of(self, &self.inner.queue, Some(event)))
    }

    /// Makes an application's memory a buffer of `len` values, and retains it; `what` is its name
    /// in errors.
    pub(crate) fn borrow(&self, what: &'static str, raw: RawMemory, word: WordType, len: usize) -> Result<Buffer> {
        if raw.is_null() && len == 0 {
            return Work::new(self, None).buffer_of(word, 0);
        }
        let info = |what| check("clGetMemObjectInfo", clm::get_mem_object_info(raw, what));
        let context: isize = info(clm::CL_MEM_CONTEXT)?.into();
        if context != self.inner.context.get() as isize {
            return Err(Error::Argument(format!("{what} is a buffer of another OpenCL context")));
        }
        // SAFETY: the calls above have taken `raw` for a memory object, as the caller of `adopt`
        // promises.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{
        faked::{EndFaked, fake},
        test_device,
    };
    use opencl3::event::set_user_event_status;

    #[test]
    fn a_marker_is_a_point_of_the_queue_that_took_its_command() -> Result<()> {
        let device = Device::open_with(test_device().info(), true)?;
        let _end = EndFaked;
        let (plain, timed) = (Work::new(&device, None), Work::timed(&device, None)?);
        let number = |marker: &Marker| marker.home.as_ref().unwrap().queue.number();
        assert_eq!([&plain, &timed].map(|work| number(&work.marker())), [&plain, &timed].map(|w| w.queue().number()));
        assert_eq!(number(&device.marker()?), plain.queue().number());
        assert_ne!(plain.queue().number(), timed.queue().number());
        // The first queue does not order commands that another queue has taken.
        timed.enqueue("clEnqueueNDRangeKernel", &timed.uses(&[]), &mut |_, _| fake(device.inner.context.get()))?;
        let marker = timed.marker();
        device.wait_for_markers(std::slice::from_ref(&marker))?;
        let behind = device.marker()?.event.unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(behind.status()? > 0, "it waits for the other queue");
        set_user_event_status(marker.raw()?.unwrap(), 0).unwrap();
        marker.wait()?;
        behind.wait()?;
        device.finish()
    }
}
