//! Bookkeeping of the commands of a device, on all its queues.
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

/// Commands pending at which their statuses are checked without a read. A solver that never reads
/// must not keep an event of each.
pub(super) const MOST_PENDING: usize = 1024;

/// Most queues of a device: sets of them are the bits of a word. Half may be queues that keep
/// times.
const MOST_QUEUES: usize = u32::BITS as usize;

/// The commands of all queues of a device whose end is not known.
#[derive(Default)]
pub(in crate::device) struct Commands {
    state: Mutex<State>,
    /// How many failures have been forgotten.
    forgotten: AtomicU64,
}

#[derive(Default)]
pub(super) struct State {
    /// Clock of the bookkeeping: counts the commands taken and the calls that set commands to wait
    /// for.
    now: u64,
    queues: Vec<QueueState>,
    pub(super) pending: VecDeque<(&'static str, SharedEvent)>,
    /// Number of pending commands at which their statuses are checked although nothing is read.
    check_at: usize,
    /// The first command that failed after it was taken.
    failed: Option<(&'static str, i32)>,
}

/// One queue.
struct QueueState {
    raw: Arc<CommandQueue>,
    /// Whether each command waits for the one before by its event.
    by_events: bool,
    /// The last command, with the time it was taken. There are several if threads enqueued at the
    /// same time: which of these comes last is not known. There is none if the last is known to be
    /// done.
    last: Vec<(u64, SharedEvent)>,
    /// Commands of other queues for which the next command waits, with the time this was set.
    awaited: Vec<(u64, Point)>,
    /// The end of the commands without events since it was last needed.
    silent: Option<SharedEvent>,
}

/// A command of a queue: a point in its order.
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

    /// The number of a new queue.
    pub(super) fn add_queue(&self, raw: Arc<CommandQueue>, by_events: bool) -> u32 {
        let queues = &mut self.state().queues;
        assert!(queues.len() < MOST_QUEUES, "a device has at most {MOST_QUEUES} queues");
        queues.push(QueueState { raw, by_events, last: Vec::new(), awaited: Vec::new(), silent: None });
        queues.len() as u32 - 1
    }

    pub(super) fn now(&self) -> u64 {
        self.state().now
    }

    /// The time before a command of `queue` is enqueued, and the events it has to wait for.
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
                // A device that has forgotten the failure had waited for all commands by then.
                Ok(code) if code < 0 => self.check_statuses()?,
                _ => {
                    self.flush(&point)?;
                    before.push(point.event);
                }
            }
        }
        Ok((now, before))
    }

    /// The end of a command of `queue` that was taken without an event. It is checked like the
    /// event of a command, once it is needed.
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

    /// The end of the commands of `queue` without events since it was last needed, if there are
    /// some.
    pub(super) fn silent(&self, queue: u32) -> Option<SharedEvent> {
        self.state().queues[queue as usize].silent.clone().filter(|end| end.is_open())
    }

    /// Records a command of `queue` that began at `begun` and was taken; it may be `done` already.
    ///
    /// # Errors
    /// As [`Commands::check_statuses`], if many statuses are unchecked.
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
        // The command is certain to be behind all that was there when it began, and behind nothing
        // else.
        of_queue.last.retain(|(at, _)| *at > begun);
        of_queue.awaited.retain(|(at, _)| *at > begun);
        // In a queue that is ordered by events the next command waits even for one that is done. A
        // marker with nothing to wait for would wait for the application's commands.
        if !done || of_queue.by_events {
            of_queue.last.push((now, taken.clone()));
        }
        // That of commands without events is pending already.
        if taken.is_own() {
            state.pending.push_back((call, taken.clone()));
        }
        if state.pending.len() >= state.check_at.max(MOST_PENDING) {
            state.check_statuses()?;
            state.check_at = 2 * state.pending.len();
        }
        Ok(())
    }

    /// The points behind everything that the queues of the set `queues` have taken so far.
    pub(in crate::device) fn last_of(&self, queues: u32) -> Vec<Point> {
        let state = self.state();
        let of_set = state.queues.iter().zip(0..).filter(|(_, queue)| queues >> queue & 1 == 1);
        let points = of_set.flat_map(|(of_queue, queue)| {
            let last = of_queue.last.iter().map(move |(_, event)| Point { queue, event: event.clone() });
            last.chain(of_queue.awaited.iter().map(|(_, point)| point.clone()))
        });
        points.collect()
    }

    /// Makes the next command of `queue` wait for `points`, and so all that come after. Points of
    /// the queue itself are before it anyway.
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

    /// What is free behind the last commands of `queue` is free at once if they have ended.
    pub(super) fn forget_ended(&self, queue: u32) {
        let of_queue = &mut self.state().queues[queue as usize];
        if !of_queue.by_events {
            of_queue.last.retain(|(_, event)| !event.is_known() || !matches!(event.status(), Ok(0)));
        }
    }

    /// As [`Queue::check_statuses`](super::Queue::check_statuses).
    pub(super) fn check_statuses(&self) -> Result<()> {
        self.state().check_statuses()
    }

    /// Waits for every command of every queue. Queues that have none, but for the first, which may
    /// be the application's, are left out: each would take some microseconds.
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

    /// Forgets a failure, and the commands that were taken until `then`, which are done.
    pub(super) fn forget(&self, then: u64) {
        let mut state = self.state();
        state.failed = None;
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        for of_queue in &mut state.queues {
            of_queue.last.retain(|(at, _)| *at > then);
            of_queue.awaited.retain(|(at, _)| *at > then);
        }
    }

    /// The number of failures that were forgotten. What a plan keeps in memory from one execution
    /// to the next is lost with each.
    pub(in crate::device) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Waits for `points`, whether they fail or not.
    pub(in crate::device) fn wait(&self, points: &[Point]) {
        for point in points {
            if !matches!(point.event.status(), Ok(..=0)) {
                // A command that failed has ended, too. The next one is refused.
                let _ = self.flush(point).and_then(|()| point.event.wait());
                let _ = self.check_statuses();
            }
        }
    }

    /// Ensures that the command at `point` will run even if its queue gets no further one.
    fn flush(&self, point: &Point) -> Result<()> {
        let raw = self.state().queues[point.queue as usize].raw.clone();
        check("clFlush", clq::flush(raw.get()))
    }
}

impl Point {
    /// Whether commands of `queue` are behind it without waiting.
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
        // An end of commands without events that nothing has needed is left: what comes behind
        // such a command fails with it.
        pending.retain(|(call, event)| match event.is_known().then(|| event.status()) {
            Some(Ok(0)) => false,
            Some(Ok(code)) if code < 0 => {
                failed.get_or_insert((call, code));
                false
            }
            // On its way, or an end of commands without events that nothing has needed.
            Some(Ok(_)) | None => true,
            Some(Err(error)) => {
                asked = Err(error);
                true
            }
        });
        self.check().and(asked)
    }
}
