//! Records the commands of all queues of a device.
use super::SharedEvent;
use crate::{
    Error, Result,
    device::{
        cl::check,
        handle::{CommandQueue, Event},
    },
};
use opencl3::{command_queue as clq, error_codes::error_text};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The statuses of commands are checked when this many commands are pending, even if nothing is
/// read. So a solver that never reads does not keep an event for each command that it enqueued.
pub(super) const MOST_PENDING: usize = 1024;

/// Maximum number of queues of a device, because a set of queues is stored as the bits of one word.
/// Half of the queues may be queues that keep times.
const MOST_QUEUES: usize = u32::BITS as usize;

/// The pending commands of all queues of a device.
#[derive(Default)]
pub(in crate::device) struct Commands {
    state: Mutex<State>,
    /// Number of failures that have been forgotten.
    forgotten: AtomicU64,
}

#[derive(Default)]
pub(super) struct State {
    /// A clock for the records of commands. The clock counts accepted commands, and calls that make
    /// commands wait for other commands.
    now: u64,
    queues: Vec<QueueState>,
    pub(super) pending: VecDeque<(&'static str, SharedEvent)>,
    /// The number of pending commands at which statuses are checked even if nothing is read.
    check_at: usize,
    /// The first command that failed after it was accepted.
    failed: Option<(&'static str, i32)>,
}

/// The records of one queue.
struct QueueState {
    raw: Arc<CommandQueue>,
    /// Whether each command waits for the event of the command before.
    by_events: bool,
    /// The last command of the queue, with the time at which it was accepted. If several threads
    /// enqueued commands at the same time, the order of these commands is not known, and each of
    /// them counts as the last. The list is empty if the last command is known to have ended.
    last: Vec<(u64, SharedEvent)>,
    /// Commands of other queues for which the next command waits, with the time at which the wait
    /// was requested.
    awaited: Vec<(u64, Point)>,
    /// The event of the commands that have no event of their own. When a caller waits for a command
    /// that has no event of its own, a marker is enqueued as the common event, and later commands
    /// share a new event.
    silent: Option<SharedEvent>,
}

/// A point in the order of a queue: one of its commands.
#[derive(Clone)]
pub(in crate::device) struct Point {
    /// The number of the queue.
    queue: u32,
    event: SharedEvent,
}

impl Commands {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a queue and returns its number.
    pub(super) fn add_queue(&self, raw: Arc<CommandQueue>, by_events: bool) -> u32 {
        let queues = &mut self.state().queues;
        assert!(queues.len() < MOST_QUEUES, "a device has at most {MOST_QUEUES} queues");
        queues.push(QueueState { raw, by_events, last: Vec::new(), awaited: Vec::new(), silent: None });
        queues.len() as u32 - 1
    }

    pub(super) fn now(&self) -> u64 {
        self.state().now
    }

    /// Returns the time before a command of `queue` is enqueued, and the events for which that
    /// command has to wait.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] if a command of the device has failed.
    pub(super) fn begin(&self, queue: u32) -> Result<(u64, Vec<SharedEvent>)> {
        let state = self.state();
        state.check()?;
        let of_queue = &state.queues[queue as usize];
        let last = of_queue.by_events.then_some(&of_queue.last).into_iter().flatten();
        let mut before: Vec<SharedEvent> = last.map(|(_, event)| event.clone()).collect();
        let awaited: Vec<Point> = of_queue.awaited.iter().map(|(_, point)| point.clone()).collect();
        let now = state.now;
        drop(state);
        for point in awaited {
            match point.event.status() {
                Ok(0) => {}
                // If the device has forgotten this failure, it has already waited for all earlier
                // commands.
                Ok(code) if code < 0 => self.check_statuses()?,
                _ => {
                    self.flush(&point)?;
                    before.push(point.event);
                }
            }
        }
        Ok((now, before))
    }

    /// Counts one more command of `queue` among those without an event of their own, and returns
    /// the event that these commands share. As soon as the common event is needed, it is checked
    /// like the event of a single command.
    pub(super) fn end_of_silent(&self, queue: u32, call: &'static str) -> SharedEvent {
        let mut state = self.state();
        let of_queue = &mut state.queues[queue as usize];
        if let Some(end) = of_queue.silent.as_ref().filter(|end| end.is_open()) {
            return end.clone();
        }
        let end = Arc::new(Event::behind(of_queue.raw.clone()));
        of_queue.silent = Some(end.clone());
        state.pending.push_back((call, end.clone()));
        end
    }

    /// The event that stands for the commands of `queue` that have no event of their own, or `None`
    /// if there are no such commands.
    pub(super) fn silent(&self, queue: u32) -> Option<SharedEvent> {
        self.state().queues[queue as usize].silent.clone().filter(|end| end.is_open())
    }

    /// Records a command of `queue` that began at `begun` and was accepted. `done` says that the
    /// command has already ended.
    ///
    /// # Errors
    /// The errors of [`Commands::check_statuses`], which is called only if many commands are
    /// pending.
    pub(super) fn register(
        &self,
        queue: u32,
        begun: u64,
        call: &'static str,
        taken: &SharedEvent,
        done: bool,
    ) -> Result<()> {
        let mut state = self.state();
        state.now += 1;
        let now = state.now;
        let of_queue = &mut state.queues[queue as usize];
        // The order of the command is known only against commands that were recorded before it
        // began: it runs after them.
        of_queue.last.retain(|(at, _)| *at > begun);
        of_queue.awaited.retain(|(at, _)| *at > begun);
        // In a queue ordered by events the next command waits even for a command that has ended,
        // because a marker with an empty wait list would wait for the application's commands.
        if !done || of_queue.by_events {
            of_queue.last.push((now, taken.clone()));
        }
        // The common event of commands without events is already pending.
        if taken.is_own() {
            state.pending.push_back((call, taken.clone()));
        }
        if state.pending.len() >= state.check_at.max(MOST_PENDING) {
            state.check_statuses()?;
            state.check_at = 2 * state.pending.len();
        }
        Ok(())
    }

    /// The last points of the queues in the set `queues`.
    pub(in crate::device) fn last_of(&self, queues: u32) -> Vec<Point> {
        let state = self.state();
        let of_set = state.queues.iter().zip(0..).filter(|(_, queue)| queues >> queue & 1 == 1);
        let points = of_set.flat_map(|(of_queue, queue)| {
            let last = of_queue.last.iter().map(move |(_, event)| Point { queue, event: event.clone() });
            last.chain(of_queue.awaited.iter().map(|(_, point)| point.clone()))
        });
        points.collect()
    }

    /// Makes the next command of `queue`, and therefore all later commands of it, wait for
    /// `points`. Points of the queue itself are skipped, because a queue runs in order.
    pub(super) fn follow(&self, queue: u32, points: Vec<Point>) {
        if points.iter().all(|point| point.queue == queue) {
            return;
        }
        let mut state = self.state();
        state.now += 1;
        let now = state.now;
        let awaited = &mut state.queues[queue as usize].awaited;
        for point in points {
            let known = awaited.iter().any(|(_, other)| Arc::ptr_eq(&other.event, &point.event));
            if point.queue != queue && !known {
                awaited.push((now, point));
            }
        }
    }

    /// Forgets the last commands of `queue` if they have ended, so that no command waits for them.
    pub(super) fn forget_ended(&self, queue: u32) {
        let of_queue = &mut self.state().queues[queue as usize];
        if !of_queue.by_events {
            of_queue.last.retain(|(_, event)| !event.is_known() || !matches!(event.status(), Ok(0)));
        }
    }

    /// See [`Queue::check_statuses`](super::Queue::check_statuses).
    pub(super) fn check_statuses(&self) -> Result<()> {
        self.state().check_statuses()
    }

    /// Waits for every command of every queue. A queue without commands is skipped, because waiting
    /// takes some microseconds. The first queue is never skipped, because it may belong to the
    /// application.
    pub(super) fn finish(&self) -> Result<()> {
        let state = self.state();
        let (then, all) = (state.now, state.queues.iter().enumerate());
        let busy = all.filter(|(number, of_queue)| *number == 0 || !of_queue.last.is_empty());
        let queues: Vec<_> = busy.map(|(number, of_queue)| (number, of_queue.raw.clone())).collect();
        drop(state);
        let mut finished = Ok(());
        for (number, raw) in queues {
            let ended = check("clFinish", clq::finish(raw.get()));
            let of_queue = &mut self.state().queues[number];
            if ended.is_ok() && !of_queue.by_events {
                of_queue.last.retain(|(at, _)| *at > then);
            }
            finished = finished.and(ended);
        }
        finished
    }

    /// Forgets a failure and the commands accepted until `then`, all of which have ended.
    pub(super) fn forget(&self, then: u64) {
        let mut state = self.state();
        state.failed = None;
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        for of_queue in &mut state.queues {
            of_queue.last.retain(|(at, _)| *at > then);
            of_queue.awaited.retain(|(at, _)| *at > then);
        }
    }

    /// The number of failures that were forgotten. After each failure the contents of the memory
    /// that a plan keeps between executions are lost.
    pub(in crate::device) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Waits for `points`, even if they fail.
    pub(in crate::device) fn wait(&self, points: &[Point]) {
        for point in points {
            if !matches!(point.event.status(), Ok(..=0)) {
                // A command that failed has ended, too. The queue will refuse the next command.
                let _ = self.flush(point).and_then(|()| point.event.wait());
                let _ = self.check_statuses();
            }
        }
    }

    /// Ensures that the command at `point` runs even if its queue gets no further command.
    fn flush(&self, point: &Point) -> Result<()> {
        let raw = self.state().queues[point.queue as usize].raw.clone();
        check("clFlush", clq::flush(raw.get()))
    }
}

impl Point {
    /// Whether commands of `queue` come after this point without waiting for its event.
    pub(in crate::device) fn is_of(&self, queue: u32) -> bool {
        self.queue == queue
    }
}

impl State {
    fn check(&self) -> Result<()> {
        match self.failed {
            Some((call, code)) => Err(Error::CommandFailed { call, code, name: error_text(code) }),
            None => Ok(()),
        }
    }

    fn check_statuses(&mut self) -> Result<()> {
        let mut asked = Ok(());
        let Self { pending, failed, .. } = self;
        // A common event whose marker is not enqueued yet is skipped: if one of its commands fails,
        // later commands fail too.
        pending.retain(|(call, event)| match event.is_known().then(|| event.status()) {
            Some(Ok(0)) => false,
            Some(Ok(code)) if code < 0 => {
                failed.get_or_insert((call, code));
                false
            }
            // The command is pending, or the event is a common event whose marker is not enqueued
            // yet.
            Some(Ok(_)) | None => true,
            Some(Err(error)) => {
                asked = Err(error);
                true
            }
        });
        self.check().and(asked)
    }
}
