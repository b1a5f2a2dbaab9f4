//! What is known of the commands of a device, on all its queues.
use super::SharedEvent;
use crate::{
    Error, Result,
    device::{cl::check, handle::CommandQueue},
};
use opencl3::{command_queue as clq, error_codes::error_text};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Commands that are looked at without a read: a solver that never reads must not keep an event of each.
pub(super) const MOST_PENDING: usize = 1024;

/// Queues of a device at most: sets of them are the bits of a word.
const MOST_QUEUES: usize = u32::BITS as usize;

/// The commands of all queues of a device whose end is not known.
#[derive(Default)]
pub(in crate::device) struct Commands {
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// Counts the commands taken, and what was set to be waited for: the order of these.
    now: u64,
    lines: Vec<Line>,
    pub(super) pending: VecDeque<(&'static str, SharedEvent)>,
    /// Pending commands at which they are looked at although nothing is read.
    look_at: usize,
    /// The first command that failed after it was taken.
    failed: Option<(&'static str, i32)>,
}

/// One queue.
struct Line {
    raw: Arc<CommandQueue>,
    /// Whether each command waits for the one before by its event.
    by_events: bool,
    /// The last command, with the time it was taken. Several if threads enqueued at the same time:
    /// it is not known which of these comes last. None if the last is known to be done.
    last: Vec<(u64, SharedEvent)>,
    /// Commands of other queues for which the next command waits, with the time this was set.
    awaited: Vec<(u64, Point)>,
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
        let lines = &mut self.state().lines;
        assert!(lines.len() < MOST_QUEUES, "a device has at most {MOST_QUEUES} queues");
        lines.push(Line { raw, by_events, last: Vec::new(), awaited: Vec::new() });
        lines.len() as u32 - 1
    }

    pub(super) fn now(&self) -> u64 {
        self.state().now
    }

    /// Before a command of `queue` is enqueued: the time, and the events it has to wait for.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] if a command of the device has failed.
    pub(super) fn begin(&self, queue: u32) -> Result<(u64, Vec<SharedEvent>)> {
        let state = self.state();
        state.check()?;
        let line = &state.lines[queue as usize];
        let last = line.by_events.then_some(&line.last).into_iter().flatten();
        let mut before: Vec<SharedEvent> = last.map(|(_, event)| event.clone()).collect();
        let awaited: Vec<Point> = line.awaited.iter().map(|(_, point)| point.clone()).collect();
        let now = state.now;
        drop(state);
        for point in awaited {
            match point.event.status() {
                Ok(0) => {}
                // A device that has forgotten the failure had waited for all commands by then.
                Ok(code) if code < 0 => self.look()?,
                _ => {
                    self.flush(&point)?;
                    before.push(point.event);
                }
            }
        }
        Ok((now, before))
    }

    /// Takes down a command of `queue` that began at `begun` and is taken, perhaps `done`.
    ///
    /// # Errors
    /// As [`Commands::look`], if there are many whose status was not asked.
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
        let line = &mut state.lines[queue as usize];
        // The command is behind what was there when it began, and only behind that for certain.
        line.last.retain(|(at, _)| *at > begun);
        line.awaited.retain(|(at, _)| *at > begun);
        // In a queue that is ordered by events the next command waits for one that is done, too: a
        // marker with nothing to wait for would wait for the application's commands.
        if !done || line.by_events {
            line.last.push((now, taken.clone()));
        }
        state.pending.push_back((call, taken.clone()));
        if state.pending.len() >= state.look_at.max(MOST_PENDING) {
            state.look()?;
            state.look_at = 2 * state.pending.len();
        }
        Ok(())
    }

    /// What is behind everything that the queues of the set `queues` have taken so far.
    pub(in crate::device) fn last_of(&self, queues: u32) -> Vec<Point> {
        let state = self.state();
        let of_set = state.lines.iter().zip(0..).filter(|(_, queue)| queues >> queue & 1 == 1);
        let points = of_set.flat_map(|(line, queue)| {
            let last = line.last.iter().map(move |(_, event)| Point { queue, event: event.clone() });
            last.chain(line.awaited.iter().map(|(_, point)| point.clone()))
        });
        points.collect()
    }

    /// Has the next command of `queue` wait for `points`, and with it all that come after. Points of
    /// the queue itself are before it anyway.
    pub(super) fn follow(&self, queue: u32, points: Vec<Point>) {
        if points.iter().all(|point| point.queue == queue) {
            return;
        }
        let mut state = self.state();
        state.now += 1;
        let now = state.now;
        let awaited = &mut state.lines[queue as usize].awaited;
        for point in points {
            let known = awaited.iter().any(|(_, other)| Arc::ptr_eq(&other.event, &point.event));
            if point.queue != queue && !known {
                awaited.push((now, point));
            }
        }
    }

    /// As [`Queue::look`](super::Queue::look).
    pub(super) fn look(&self) -> Result<()> {
        self.state().look()
    }

    /// Waits for every command of every queue.
    pub(super) fn finish(&self) -> Result<()> {
        let queues: Vec<_> = self.state().lines.iter().map(|line| line.raw.clone()).collect();
        let finished = queues.iter().map(|raw| check("clFinish", clq::finish(raw.get())));
        finished.fold(Ok(()), Result::and)
    }

    /// Forgets a failure, and the commands that were taken until `then`, which are done.
    pub(super) fn forget(&self, then: u64) {
        let mut state = self.state();
        state.failed = None;
        for line in &mut state.lines {
            line.last.retain(|(at, _)| *at > then);
            line.awaited.retain(|(at, _)| *at > then);
        }
    }

    /// Waits for `points`, whatever becomes of them.
    pub(in crate::device) fn wait(&self, points: &[Point]) {
        for point in points {
            if !matches!(point.event.status(), Ok(..=0)) {
                // A failure is found by the next look; here it is an end like another.
                let _ = self.flush(point).and_then(|()| point.event.wait());
            }
        }
    }

    /// Sees to it that the command at `point` will run, though its queue gets no further one.
    fn flush(&self, point: &Point) -> Result<()> {
        let raw = self.state().lines[point.queue as usize].raw.clone();
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
