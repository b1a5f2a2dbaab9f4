//! The command queue: every command goes through [`Queue::enqueue`], which keeps them in order.
use super::cl::{check, check_code};
use crate::Result;
use opencl3::{
    command_queue::CommandQueue,
    event::{self, Event},
    types::cl_event,
};
use std::sync::{Arc, Mutex, PoisonError};

/// An event shared by whoever waits for it or reads its times.
pub(super) type SharedEvent = Arc<Event>;

pub(super) struct Queue {
    raw: CommandQueue,
    /// For a queue that may reorder: the last command, on which the next one waits.
    last: Option<Mutex<Option<SharedEvent>>>,
}

impl Queue {
    pub(super) fn in_order(raw: CommandQueue) -> Self {
        Self { raw, last: None }
    }

    /// A queue that keeps no order of its own: each command waits for the one before by its event.
    pub(super) fn ordered_by_events(raw: CommandQueue) -> Self {
        Self { raw, last: Some(Mutex::new(None)) }
    }

    /// Enqueues one command through `command`, which gets the queue and the events to wait for.
    pub(super) fn enqueue(
        &self,
        call: &'static str,
        command: impl FnOnce(&CommandQueue, &[cl_event]) -> opencl3::Result<Event>,
    ) -> Result<SharedEvent> {
        match &self.last {
            None => check(call, command(&self.raw, &[])).map(Arc::new),
            Some(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                let wait: Vec<cl_event> = last.iter().map(|event| event.get()).collect();
                let event = Arc::new(check(call, command(&self.raw, &wait))?);
                *last = Some(event.clone());
                Ok(event)
            }
        }
    }

    /// The handle.
    #[cfg(feature = "ocl")]
    pub(super) fn raw(&self) -> opencl3::types::cl_command_queue {
        self.raw.get()
    }

    pub(super) fn finish(&self) -> Result<()> {
        check("clFinish", self.raw.finish())
    }

    pub(super) fn flush(&self) -> Result<()> {
        check("clFlush", self.raw.flush())
    }
}

/// Nanoseconds a finished command ran, `None` where the queue keeps no times.
pub(super) fn nanoseconds(event: &Event) -> Option<u64> {
    Some(event.profiling_command_end().ok()?.saturating_sub(event.profiling_command_start().ok()?))
}

/// Waits for one event.
pub(super) fn wait(event: &Event) -> Result<()> {
    check_code("clWaitForEvents", event::wait_for_events(&[event.get()]))
}
