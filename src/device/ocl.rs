//! Interoperation with the `ocl` crate (feature `ocl`): it adopts queues of `ocl` and exchanges
//! events.
use super::{Device, Marker, RawEvent};
use crate::{Error, Result};
use ocl::core;

impl Device {
    /// Adopts an `ocl` queue with its context and device; see [`Device::adopt`].
    ///
    /// # Errors
    /// See [`Device::adopt`].
    pub fn from_ocl(queue: &ocl::Queue) -> Result<Self> {
        let (context, device) = (queue.context_ptr().map_err(refused)?, queue.device());
        // SAFETY: the handles of live `ocl` objects are valid, and the context and the device of a
        // queue belong to one platform.
        unsafe { Self::adopt(context, core::ClDeviceIdPtr::as_ptr(device.as_core()), queue.as_core().as_ptr()) }
    }

    /// The context and the queue of this device as handles of `ocl`, retained. All objects of the
    /// context can also be used on other queues of the context. Commands that the application
    /// enqueues on the returned queue run in order with the commands of the device.
    pub fn to_ocl(&self) -> (ocl::Context, core::CommandQueue) {
        self.inner.queue.share();
        // SAFETY: both handles are valid, and `copied` retains them.
        unsafe {
            (
                core::Context::from_raw_copied_ptr(self.inner.context.get()).into(),
                core::CommandQueue::from_raw_copied_ptr(self.inner.queue.raw()),
            )
        }
    }

    /// Makes all commands enqueued from now on wait for `events` of `ocl` commands; see
    /// [`Device::wait_for`].
    ///
    /// # Errors
    /// [`Error::Argument`] for an event that belongs to no command; [`Error::OpenCl`].
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
    /// The marker's event, for wait lists of `ocl` commands, or `None` if [`Marker::raw`] returns
    /// `None`.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn to_ocl(&self) -> Result<Option<ocl::Event>> {
        // SAFETY: the event is valid while the marker lives, and `copied` retains it.
        let copied = |raw| unsafe { core::Event::from_raw_copied_ptr(raw).map(ocl::Event::from).map_err(refused) };
        self.raw()?.map(copied).transpose()
    }
}

/// The error that `ocl` reported.
pub(crate) fn refused(error: impl std::fmt::Display) -> Error {
    Error::Argument(format!("ocl: {error}"))
}
