//! The command queues of a device. Every command goes through [`Queue::enqueue`], which keeps the
//! order of commands and stores each command until its status is checked.
//!
//! A driver may accept a command that fails later. A read after the failed command then succeeds
//! but returns wrong data. So before the result of a read is used, [`Queue::check_statuses`] checks
//! every command since the last check. After a failure no queue of the device can be used: every
//! call reports the failure until [`Queue::finish`] has reported it.
//!
//! A queue may launch kernels without events ([`Queue::silently`]) if the driver stops the queue
//! when a command fails, so that later calls, including reads, fail too.
//!
//! Commands of one queue run in order. Commands of two queues run in any order, unless one command
//! waits for the event of the other: see [`Queue::follow`].
mod commands;
#[cfg(test)]
mod tests;

use super::{
    cl::{check, failed},
    handle::{CommandQueue, Event},
};
use crate::Result;
pub(super) use commands::{Commands, Point};
use opencl3::{
    command_queue as clq,
    types::{cl_command_queue, cl_event},
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Time for which a thread polls for the end of a command before it sleeps.
const BRIEFLY: Duration = Duration::from_micros(100);

/// An event that is shared by everything that waits for it or reads its times.
pub(super) type SharedEvent = Arc<Event>;

/// A function that enqueues one command. The function gets the queue and the events to wait for,
/// and returns the event of the command, or OpenCL's error. If the command [needs no
/// event](Waits::is_silent), the function may return null.
pub(super) type Command<'c> = dyn FnMut(cl_command_queue, Waits<'_>) -> std::result::Result<cl_event, i32> + 'c;

/// One queue of a device.
pub(super) struct Queue {
    raw: Arc<CommandQueue>,
    /// The index of the queue among the queues of the device.
    number: u32,
    /// Whether the queue may reorder commands. In a queue that may reorder commands, each command
    /// waits for the event of the command before.
    by_events: bool,
    /// Whether kernels are launched without events.
    silent: AtomicBool,
    /// A lock that is held while a command is enqueued, if each command waits for the command
    /// before.
    turn: Mutex<()>,
    /// Whether the application enqueues commands on the queue too.
    shared: AtomicBool,
    /// The commands of all queues of the device.
    commands: Arc<Commands>,
}

/// The events for which a command waits, in the form that OpenCL expects.
pub(super) struct Waits<'a> {
    events: &'a [cl_event],
    silent: bool,
}

impl Waits<'_> {
    pub(super) fn len(&self) -> u32 {
        self.events.len() as u32
    }

    /// A pointer to the events, or null if there are none.
    pub(super) fn pointer(&self) -> *const cl_event {
        if self.events.is_empty() { std::ptr::null() } else { self.events.as_ptr() }
    }

    /// Whether a kernel may be launched without an event.
    pub(super) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Returns these events followed by `others`.
    pub(super) fn and(&self, others: &[cl_event]) -> Vec<cl_event> {
        [others, self.events].concat()
    }
}

impl Queue {
    /// Makes the first queue of a device, which runs commands in the order in which they are
    /// enqueued.
    pub(super) fn in_order(raw: CommandQueue) -> Self {
        Self::new(raw, Arc::default(), false)
    }

    /// Makes the first queue of a device from an OpenCL queue that may reorder commands. To keep
    /// the order, each command waits for the event of the command before.
    pub(super) fn ordered_by_events(raw: CommandQueue) -> Self {
        Self::new(raw, Arc::default(), true)
    }

    /// Makes a further queue of the same device, which runs commands in the order in which they are
    /// enqueued.
    pub(super) fn another(&self, raw: CommandQueue) -> Self {
        Self::new(raw, self.commands.clone(), false)
    }

    fn new(raw: CommandQueue, commands: Arc<Commands>, by_events: bool) -> Self {
        let raw = Arc::new(raw);
        let number = commands.add_queue(raw.clone(), by_events);
        Self { raw, number, by_events, silent: false.into(), shared: false.into(), turn: Mutex::default(), commands }
    }

    /// Sets whether the queue launches kernels without events. The queue must run in order, and
    /// after a failed command its driver must fail all later commands.
    pub(super) fn silently(self, silent: bool) -> Self {
        Self { silent: (silent && !self.by_events).into(), ..self }
    }

    /// Shares the queue with the application, which may enqueue commands from now on. Each kernel
    /// gets an event: the application's commands may wait for its own events, and earlier commands
    /// of this library must not wait for these events.
    pub(super) fn share(&self) {
        self.shared.store(true, Ordering::SeqCst);
        self.silent.store(false, Ordering::SeqCst);
        // If the driver refuses the marker now, the marker is requested again when it is needed.
        let _ = self.mark_silent();
    }

    /// Enqueues a marker if the application enqueues commands too. Other queues follow commands of
    /// this library only, so they follow the marker.
    pub(super) fn mark_shared(&self) -> Result<()> {
        if self.shared.load(Ordering::SeqCst) {
            self.enqueue("clEnqueueMarkerWithWaitList", &mut |queue, before| {
                // SAFETY: `before` holds events of this device. If `before` is empty, the marker
                // waits for all commands of the queue.
                unsafe { clq::enqueue_marker_with_wait_list(queue, before.len(), before.pointer()) }
            })?;
            self.flush()?;
        }
        Ok(())
    }

    /// Enqueues one command through `command`.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl) if the command is refused or has failed already;
    /// [`Error::CommandFailed`](crate::Error::CommandFailed) if an earlier command has failed.
    pub(super) fn enqueue(&self, call: &'static str, command: &mut Command<'_>) -> Result<SharedEvent> {
        let _turn = self.by_events.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        // Other threads may enqueue commands while a blocking command waits.
        let (begun, before) = self.commands.begin(self.number)?;
        let wait = before.iter().map(|event| event.get()).collect::<Result<Vec<_>>>()?;
        let silent = self.silent.load(Ordering::SeqCst);
        let taken = match check(call, command(self.raw.get(), Waits { events: &wait, silent })) {
            Ok(event) if event.is_null() => self.commands.end_of_silent(self.number, call),
            // SAFETY: the command was accepted, and its event was made for this handle.
            Ok(event) => unsafe { Arc::new(Event::from_raw(event)) },
            // An earlier command of the device may be the cause of the error.
            Err(error) => return Err(self.check_statuses().err().unwrap_or(error)),
        };
        let status = if taken.is_own() { taken.status() } else { Ok(1) };
        // A command that has already failed is reported like a refused command. If the status of a
        // command cannot be read now, a later check will read it: the command was accepted, and
        // must not be enqueued twice.
        if let Ok(code) = status
            && code < 0
        {
            return Err(failed(call, code));
        }
        match self.commands.register(self.number, begun, call, &taken, matches!(status, Ok(0))) {
            Ok(()) => Ok(taken),
            Err(error) => {
                // If the command cannot be registered, the caller gets no event to wait for, and
                // may free the memory that the command uses.
                let _ = taken.wait();
                Err(error)
            }
        }
    }

    /// Checks the status of every pending command. Commands that have not ended are checked again
    /// at the next call.
    ///
    /// # Errors
    /// [`Error::CommandFailed`](crate::Error::CommandFailed) if a command has failed, now or
    /// earlier.
    pub(super) fn check_statuses(&self) -> Result<()> {
        self.commands.check_statuses()
    }

    /// Waits for one command, and checks the statuses of the commands before it.
    pub(super) fn wait(&self, event: &Event) -> Result<()> {
        // A command without an event gets its marker now. The marker must be flushed too.
        let waited = event.get().and_then(|_| self.flush()).and_then(|()| event.wait());
        self.commands.forget_ended(self.number);
        self.check_statuses()?;
        waited
    }

    /// Like [`Queue::wait`], for a command that is expected to end soon. The thread polls, because
    /// waking up a sleeping thread would take longer than the command.
    pub(super) fn wait_briefly(&self, event: &Event) -> Result<()> {
        self.flush()?;
        let began = Instant::now();
        while event.status()? > 0 && began.elapsed() < BRIEFLY {
            std::thread::yield_now();
        }
        self.wait(event)
    }

    /// The handle of the queue.
    pub(super) fn raw(&self) -> cl_command_queue {
        self.raw.get()
    }

    /// The index of the queue among the queues of the device.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The commands of all queues of the device.
    pub(super) fn commands(&self) -> &Arc<Commands> {
        &self.commands
    }

    /// Enqueues a marker for the commands that have no event of their own so far. Commands that the
    /// queue accepts from now on come after the marker.
    pub(super) fn mark_silent(&self) -> Result<()> {
        self.commands.silent(self.number).map_or(Ok(()), |end| end.get().map(drop))
    }

    /// Makes the following commands run after `points`.
    pub(super) fn follow(&self, points: Vec<Point>) {
        self.commands.follow(self.number, points);
    }

    /// Waits for all commands of the device and checks their statuses.
    pub(super) fn drain(&self) -> Result<()> {
        let finished = self.commands.finish();
        self.check_statuses()?;
        finished
    }

    /// Waits for every command of the device. If there is a failure, it is reported and then
    /// forgotten, so that the next commands run.
    pub(super) fn finish(&self) -> Result<()> {
        let _turn = self.by_events.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let began = self.commands.now();
        let drained = self.drain();
        if let Err(crate::Error::CommandFailed { .. }) = drained {
            self.commands.forget(began);
        }
        drained
    }

    pub(super) fn flush(&self) -> Result<()> {
        check("clFlush", clq::flush(self.raw.get()))
    }
}
