//! The command queue: every command goes through [`Queue::enqueue`], which keeps them in order and
//! remembers them until somebody has asked what became of them.
//!
//! A driver may take a command and fail it later. What is read behind it is then not what it should
//! be, although the read itself succeeds. So before anything read is believed, [`Queue::look`] asks
//! the commands since the last time for their statuses. One that has failed gives the queue up:
//! every call says so, until [`Queue::finish`] has told it.
use super::{
    cl::{check, failed},
    handle::{CommandQueue, Event},
};
use crate::{Error, Result};
use opencl3::{command_queue as clq, error_codes::error_text, types::cl_command_queue, types::cl_event};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// An event shared by whoever waits for it or reads its times.
pub(super) type SharedEvent = Arc<Event>;

pub(super) struct Queue {
    raw: CommandQueue,
    /// Whether the queue may reorder commands, so that each waits for the one before by its event.
    by_events: bool,
    state: Mutex<State>,
    /// Held while a command is enqueued, where each waits for the one before.
    turn: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The last command, if the next one waits for it.
    last: Option<SharedEvent>,
    /// Commands whose end nobody has seen yet.
    pending: VecDeque<(&'static str, SharedEvent)>,
    /// Pending commands at which they are looked at although nobody reads.
    look_at: usize,
    /// The first command that failed after it was taken.
    failed: Option<(&'static str, i32)>,
}

/// Commands that are looked at unasked: a solver that never reads must not keep an event of each.
const MOST_PENDING: usize = 1024;

/// The events a command waits for, as OpenCL takes them.
pub(super) struct Waits<'a>(&'a [cl_event]);

impl Waits<'_> {
    pub(super) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Null where there are none.
    pub(super) fn pointer(&self) -> *const cl_event {
        if self.0.is_empty() { std::ptr::null() } else { self.0.as_ptr() }
    }

    /// These and others.
    pub(super) fn and(&self, others: &[cl_event]) -> Vec<cl_event> {
        [others, self.0].concat()
    }
}

impl Queue {
    /// A queue that runs commands in the order they come in.
    pub(super) fn in_order(raw: CommandQueue) -> Self {
        Self { raw, by_events: false, state: Mutex::default(), turn: Mutex::default() }
    }

    /// A queue that keeps no order of its own: each command waits for the one before by its event.
    pub(super) fn ordered_by_events(raw: CommandQueue) -> Self {
        Self { by_events: true, ..Self::in_order(raw) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues one command through `command`, which gets the queue and the events to wait for, and
    /// returns the event of the command or OpenCL's error.
    ///
    /// # Errors
    /// [`Error::OpenCl`] if the command is refused or has failed already; [`Error::CommandFailed`]
    /// if one before it has.
    pub(super) fn enqueue(
        &self,
        call: &'static str,
        command: impl FnOnce(cl_command_queue, Waits<'_>) -> std::result::Result<cl_event, i32>,
    ) -> Result<SharedEvent> {
        let _turn = self.by_events.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let state = self.state();
        state.check()?;
        let last = state.last.clone();
        drop(state); // others may enqueue while a command blocks
        let wait: Vec<cl_event> = last.iter().map(|event| event.get()).collect();
        let taken = match check(call, command(self.raw.get(), Waits(&wait))) {
            // SAFETY: the command was taken, and its event made for this handle.
            Ok(event) => unsafe { Arc::new(Event::from_raw(event)) },
            // Perhaps one before it is to blame.
            Err(error) => return Err(self.look().err().unwrap_or(error)),
        };
        // One that has ended in an error at once is refused like one that was not taken. If that
        // cannot be asked now, it will be: the command was taken, and must not be given twice.
        if let Ok(code) = taken.status()
            && code < 0
        {
            return Err(failed(call, code));
        }
        let mut state = self.state();
        if self.by_events {
            state.last = Some(taken.clone());
        }
        state.pending.push_back((call, taken.clone()));
        if state.pending.len() >= state.look_at.max(MOST_PENDING) {
            state.look()?;
            state.look_at = 2 * state.pending.len();
        }
        Ok(taken)
    }

    /// Asks the commands that nobody has asked yet what became of them; those still on their way
    /// are asked again.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] if one has failed, now or before.
    pub(super) fn look(&self) -> Result<()> {
        self.state().look()
    }

    /// Waits for one command, and asks those before it what became of them.
    pub(super) fn wait(&self, event: &Event) -> Result<()> {
        let waited = event.wait();
        self.look()?;
        waited
    }

    /// The handle.
    #[cfg(feature = "ocl")]
    pub(super) fn raw(&self) -> cl_command_queue {
        self.raw.get()
    }

    /// Waits for every command, and asks them what became of them.
    pub(super) fn drain(&self) -> Result<()> {
        let finished = check("clFinish", clq::finish(self.raw.get()));
        self.look()?;
        finished
    }

    /// Waits for every command. A failure that this tells is forgotten: the next commands run.
    pub(super) fn finish(&self) -> Result<()> {
        let _turn = self.by_events.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let drained = self.drain();
        if let Err(Error::CommandFailed { .. }) = drained {
            let mut state = self.state();
            (state.failed, state.last) = (None, None);
        }
        drained
    }

    pub(super) fn flush(&self) -> Result<()> {
        check("clFlush", clq::flush(self.raw.get()))
    }
}

impl State {
    fn check(&self) -> Result<()> {
        match self.failed {
            Some((call, code)) => Err(Error::CommandFailed { call, code, name: error_text(code) }),
            None => Ok(()),
        }
    }

    fn look(&mut self) -> Result<()> {
        let mut asked = Ok(());
        let Self { pending, failed, .. } = self;
        pending.retain(|(call, event)| match event.status() {
            Ok(0) => false,
            Ok(code) if code < 0 => {
                failed.get_or_insert((call, code));
                false
            }
            Ok(_on_its_way) => true,
            Err(error) => {
                asked = Err(error);
                true
            }
        });
        self.check().and(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, Work, test_device};
    use opencl3::event::{create_user_event, set_user_event_status};

    /// Takes a command that does nothing until it is told how it ends.
    fn taken(device: &Device) -> SharedEvent {
        let context = device.inner.context.get();
        let taken = device.inner.queue.enqueue("clEnqueueNDRangeKernel", |_, _| create_user_event(context));
        taken.unwrap()
    }

    fn fails(error: &Result<Vec<u32>>) -> bool {
        matches!(error, Err(Error::CommandFailed { call: "clEnqueueNDRangeKernel", code: -5, .. }))
    }

    #[test]
    fn a_command_that_fails_after_it_was_taken_is_told_at_every_read_until_finish() -> Result<()> {
        // A device of its own: others would be told too.
        let device = Device::open(test_device().info())?;
        let work = Work::new(&device, None);
        let buffer = work.upload(&[1u32, 2, 3])?;
        let command = taken(&device);
        assert_eq!(buffer.download(&work)?, [1, 2, 3], "it is on its way");
        set_user_event_status(command.get(), -5).unwrap();
        for _ in 0..2 {
            let other = Work::new(&device, None);
            assert!(fails(&buffer.download(&other)) && fails(&buffer.download(&work)));
        }
        let refused = work.upload(&[1u32]).map(|_| Vec::new());
        assert!(fails(&refused), "{refused:?}");
        assert!(device.inner.queue.drain().is_err(), "that does not forget");
        let told = device.finish().unwrap_err().to_string();
        assert!(told.contains("taken by the device and failed later: OpenCL error -5 (CL_OUT_OF_RESOURCES)"), "{told}");
        device.finish()?;
        assert_eq!(buffer.download(&work)?, [1, 2, 3]);
        Ok(())
    }

    #[test]
    fn commands_nobody_reads_after_are_forgotten_when_they_are_done() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let open = taken(&device);
        for _ in 0..3 * MOST_PENDING {
            set_user_event_status(taken(&device).get(), 0).unwrap();
        }
        assert!(device.inner.queue.state().pending.len() <= MOST_PENDING);
        set_user_event_status(open.get(), -5).unwrap();
        assert!(device.inner.queue.look().is_err(), "the one that was on its way is not");
        Ok(())
    }

    #[test]
    fn an_event_that_has_failed_is_not_waited_for() -> Result<()> {
        let device = Device::open(test_device().info())?;
        // SAFETY: made for this handle, of the device's context.
        let event = unsafe { Event::from_raw(create_user_event(device.inner.context.get()).unwrap()) };
        set_user_event_status(event.get(), -5).unwrap();
        // SAFETY: the event is valid.
        let refused = unsafe { device.wait_for(&[event.get()]) };
        assert!(matches!(refused, Err(Error::CommandFailed { code: -5, .. })), "{refused:?}");
        // That is another's failure: the device goes on.
        let work = Work::new(&device, None);
        assert_eq!(work.upload(&[1u32, 2])?.download(&work)?, [1, 2]);
        device.finish()
    }
}
