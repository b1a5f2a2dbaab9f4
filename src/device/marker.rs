//! Points in the queues of a device, for which the host and other queues can wait.
use super::{
    Device,
    cl::check,
    handle::{Event, RawEvent},
    queue::{Queue, SharedEvent},
};
use crate::Result;
use opencl3::event as cle;
use std::sync::Arc;

/// A point in a queue, which is reached when all commands before it have ended. [`Device::marker`]
/// makes a marker, and every execution of a plan returns one.
#[derive(Debug, Clone)]
pub struct Marker {
    /// The event that ends when the point is reached, or `None` if nothing was enqueued.
    event: Option<SharedEvent>,
    /// The device and the queue of the marker, or `None` for an application's event.
    home: Option<Home>,
}

/// The device and the queue of a marker.
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
    /// The marker of a command that `queue`, one of the queues of `device`, has accepted. The
    /// marker has no event if nothing was enqueued.
    pub(super) fn of(device: &Device, queue: &Arc<Queue>, event: Option<SharedEvent>) -> Self {
        Self { event, home: Some(Home { device: device.clone(), queue: queue.clone() }) }
    }

    /// A marker for an application's event, which is retained.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    ///
    /// # Safety
    /// The event must be a valid handle.
    pub unsafe fn from_raw(event: RawEvent) -> Result<Self> {
        // SAFETY: the event is valid, as the caller guarantees. The wrapper releases the event when
        // it is dropped.
        let event = unsafe {
            check("clRetainEvent", cle::retain_event(event))?;
            Event::from_raw(event)
        };
        Ok(Self { event: Some(Arc::new(event)), home: None })
    }

    /// The event, for which other queues can wait, or `None` if nothing was enqueued. The event is
    /// valid while the marker lives; to keep it longer, the caller retains it.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl): the queue is flushed first.
    pub fn raw(&self) -> Result<Option<RawEvent>> {
        let event = self.event.as_ref().map(|event| event.get()).transpose()?;
        if let (Some(home), Some(_)) = (&self.home, event) {
            home.queue.flush()?; // others may wait without ever flushing this queue
        }
        Ok(event)
    }

    /// Whether the marker is a point in queue `queue` of `device`.
    pub(super) fn is_of(&self, device: &Device, queue: &Queue) -> bool {
        self.home.as_ref().is_some_and(|home| home.device.same_as(device) && home.queue.number() == queue.number())
    }

    /// Waits until everything enqueued before the marker has ended.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl) if a command before it failed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{
        Work,
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
        // The order of the first queue does not apply to commands that another queue has accepted.
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
