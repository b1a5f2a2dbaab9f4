//! [`Work`]: the commands and the memory of one product, upload or download.
mod copies;
mod lanes;
mod later;
mod map;
mod numbers;
mod reads;
mod seen;
mod times;

use super::{
    Device, Marker,
    buffer::Buffer,
    cl::{OUT_OF_HOST_MEMORY, OUT_OF_MEMORY, OUT_OF_RESOURCES},
    pool::{Budget, Memory, Meter, rounded},
    queue::{Command, Queue},
    uses::Uses,
};
use crate::{Error, Result, Word, element::WordType, host::Interrupt};
use lanes::LaneOrigin;
pub(crate) use map::Mapped;
pub(crate) use seen::{AnySeen, AnySeenLater, Seen, SeenLater};
use std::{
    cell::{Cell, RefCell},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};
pub use times::StageTime;
use times::{StageRecord, TimedEvent};

/// Allocates memory, launches kernels, copies and reads back for one product, and records the
/// product's peak memory and the events of its stages. A `Work` belongs to one thread. Threads that
/// share a device have one `Work` each.
pub(crate) struct Work {
    device: Device,
    queue: Arc<Queue>,
    meter: Arc<Meter>,
    limit: u64,
    record: RefCell<StageRecord>,
    /// Time spent waiting for kernels.
    kernel_wait: Cell<Duration>,
    /// Whether all lanes run on one queue.
    in_turn: Cell<bool>,
    /// Whether the queues record times.
    timed: bool,
    /// The work to which this lane belongs.
    home: Option<LaneOrigin>,
}

/// Wall-clock time, without the time spent waiting for kernels to be compiled.
pub(crate) struct Clock<'a> {
    work: &'a Work,
    start: Instant,
    waited: Duration,
}

impl Clock<'_> {
    /// Time since the clock was started.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.work.kernel_wait.get() - self.waited)
    }
}

impl Work {
    /// A work that allocates at most `limit` bytes, or at most the device's memory if `limit` is
    /// `None`.
    pub fn new(device: &Device, limit: Option<u64>) -> Self {
        Self::on(device, device.inner.queue.clone(), limit)
    }

    /// Like [`Work::new`], but records the times of commands. On some devices each command then
    /// takes slightly longer. The commands run after all commands that the device's first queue has
    /// accepted so far, and before the commands that this queue accepts after this work.
    ///
    /// # Errors
    /// [`Error::OpenCl`] if the driver refuses a queue that keeps times.
    pub fn timed(device: &Device, limit: Option<u64>) -> Result<Self> {
        let (first, queue) = (&device.inner.queue, device.queue(0, true)?);
        if queue.number() != first.number() {
            first.mark_shared()?;
            queue.follow(first.commands().last_of(1 << first.number()));
        }
        let home = (queue.number() != first.number()).then(|| LaneOrigin::of(first, 0));
        let mut work = Self::on(device, queue, limit);
        (work.timed, work.home) = (true, home);
        Ok(work)
    }

    /// Like [`Work::new`], on one of the device's queues.
    pub(super) fn on(device: &Device, queue: Arc<Queue>, limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX).min(device.info().global_bytes);
        Self {
            device: device.clone(),
            queue,
            meter: Arc::default(),
            limit,
            record: RefCell::default(),
            kernel_wait: Cell::default(),
            in_turn: Cell::default(),
            timed: false,
            home: None,
        }
    }

    /// Waits for the kernels that were requested, then starts a clock.
    pub fn clock(&self) -> Clock<'_> {
        self.kernel_wait.set(self.kernel_wait.get() + self.device.wait_for_kernels());
        Clock { work: self, start: Instant::now(), waited: self.kernel_wait.get() }
    }

    /// Time spent waiting for kernels so far.
    pub fn kernel_wait(&self) -> Duration {
        self.kernel_wait.get()
    }

    pub(super) fn count_kernel_wait(&self, waited: Duration) {
        self.kernel_wait.set(self.kernel_wait.get() + waited);
        self.device.count_kernel_wait(waited);
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The queue that takes the commands of this work.
    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Makes the following commands of this work run after all commands that the queue of `other`
    /// has accepted so far.
    pub fn follow(&self, other: &Work) {
        self.queue.follow(self.queue.commands().last_of(1 << other.queue.number()));
    }

    /// Number of bytes that may still be allocated.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes_without(0)
    }

    /// Number of bytes that may be allocated after `held` bytes are freed.
    pub fn free_bytes_without(&self, held: u64) -> u64 {
        let free = self.limit.saturating_add(held).saturating_sub(self.meter.used());
        self.device.host_room().map_or(free, |left| free.min(left.saturating_add(held)))
    }

    /// Maximum number of bytes that may be allocated at once, including operands.
    pub fn limit_bytes(&self) -> u64 {
        self.limit
    }

    fn budget(&self) -> Budget<'_> {
        Budget { meter: &self.meter, limit: self.limit }
    }

    /// Counts the memory of operands, which the work uses but did not allocate.
    pub fn count_operand(&self, bytes: u64) {
        self.device.inner.pool.count(bytes, self.budget());
    }

    /// Number of bytes allocated now.
    #[cfg(test)]
    pub fn used_bytes(&self) -> u64 {
        self.meter.used()
    }

    /// The maximum number of bytes allocated at one time, rounded up to size classes.
    pub fn most_used_bytes(&self) -> u64 {
        self.meter.most_used()
    }

    /// The maximum number of bytes that were allocated or kept by the pool at one time, rounded up
    /// to size classes.
    pub fn peak_bytes(&self) -> u64 {
        self.meter.peak()
    }

    /// Starts a stage. The next launches count towards this stage.
    pub fn stage(&self, stage: &'static str) {
        self.record.borrow_mut().stage = stage;
    }

    /// Makes the next commands count towards a set of bins: bit 0 stands for the first bin, bit 1
    /// for the second. A bin is a group of columns of C that one method computes.
    pub fn count_towards(&self, bins: u64) {
        self.record.borrow_mut().bins = bins;
    }

    /// Runs the commands of all lanes one after another, so that the times of a lane include no
    /// waiting for another lane.
    pub fn in_turn(&self) {
        self.in_turn.set(true);
    }

    /// A buffer of `len` values with undefined contents.
    pub fn buffer<T: Word>(&self, len: usize) -> Result<Buffer<T>> {
        self.buffer_of(WordType::of::<T>(), len).map(Buffer::into_typed)
    }

    /// Like [`Work::buffer`], for values of type `word`.
    pub fn buffer_of(&self, word: WordType, len: usize) -> Result<Buffer> {
        let bytes = bytes_of(word, len)?;
        if self.meter.used() + rounded(bytes) > self.limit {
            return Err(Error::Memory {
                what: format!("a buffer of {len} values"),
                needed: rounded(bytes),
                available: self.limit.saturating_sub(self.meter.used()),
                place: format!("device memory within a limit of {} bytes", self.limit),
            });
        }
        self.check_host(bytes)?;
        Ok(Buffer::new(self.device.inner.pool.take(bytes, self.budget(), &self.queue)?, len, word))
    }

    /// Refuses a large buffer on a CPU device if the host lacks memory for it. The system would
    /// grant the memory, and end the process when it is written.
    fn check_host(&self, bytes: u64) -> Result<()> {
        const LARGE: u64 = 1 << 26;
        let Some(available) = (bytes > LARGE).then(|| self.device.host_room()).flatten() else { return Ok(()) };
        if available < bytes {
            let (what, place) = (format!("a buffer of {bytes} bytes"), "host, whose memory the device uses".into());
            return Err(Error::Memory { what, needed: bytes, available, place });
        }
        let pool = &self.device.inner.pool;
        if available - bytes < pool.kept() {
            pool.trim();
        }
        Ok(())
    }

    /// The uses of a command that accesses `memory`.
    pub(super) fn uses(&self, memory: &[&Memory]) -> Uses {
        let mut uses = Uses::new(self.queue.commands().forgotten());
        memory.iter().for_each(|memory| memory.count_in(&mut uses));
        uses
    }

    /// Enqueues a kernel.
    pub(super) fn launch(&self, uses: &Uses, command: &mut Command<'_>) -> Result<()> {
        Interrupt::check_current()?;
        self.enqueue("clEnqueueNDRangeKernel", uses, command)?;
        self.device.inner.launches.fetch_add(1, Relaxed);
        let mut record = self.record.borrow_mut();
        let stage = record.stage;
        record.launches.push(stage);
        Ok(())
    }

    /// Enqueues a command. A driver that allocates on first use may have no memory left for the
    /// command's buffers. If a command fails for lack of memory, the pool returns all memory that
    /// it keeps, and the command is tried once more.
    pub(super) fn enqueue(&self, call: &'static str, uses: &Uses, command: &mut Command<'_>) -> Result<()> {
        let Device { inner } = &self.device;
        let mut taken = self.queue.enqueue(call, command);
        if let Err(Error::OpenCl { code: OUT_OF_MEMORY, .. }) = taken
            && inner.pool.kept() > 0
        {
            // The pool can return memory only after the commands that use it have ended.
            self.queue.drain()?;
            inner.pool.trim();
            taken = self.queue.enqueue(call, command);
        }
        let event = taken.map_err(|error| self.out_of_memory(error, uses.bytes()))?;
        uses.taken();
        inner.commands.fetch_add(1, Relaxed);
        let mut record = self.record.borrow_mut();
        let (stage, bins) = (record.stage, record.bins);
        record.last = Some(event.clone());
        record.events.push(TimedEvent { stage, bins, event });
        Ok(())
    }

    /// Turns the error of a command into a memory error if memory is short. A driver that allocates
    /// on first use reports the lack of memory at a command. OpenCL's code for a lack of resources
    /// may also mean a lack of registers or a crash.
    fn out_of_memory(&self, error: Error, needed: u64) -> Error {
        let pool = &self.device.inner.pool;
        match error {
            Error::OpenCl { code, .. }
                if matches!(code, OUT_OF_MEMORY | OUT_OF_HOST_MEMORY)
                    || (code == OUT_OF_RESOURCES && pool.is_short()) =>
            {
                Error::Memory {
                    what: format!("the buffers of a command on {}", self.device.info().name),
                    needed,
                    available: pool.left(),
                    place: format!("by our own count of the device's memory, some of which others may hold; {error}"),
                }
            }
            other => other,
        }
    }

    /// Waits for the last command.
    pub fn wait(&self) -> Result<()> {
        let last = self.record.borrow().last.clone();
        last.map_or(Ok(()), |event| {
            self.queue.flush()?;
            self.queue.wait(&event)
        })
    }

    /// Like [`Work::wait`], for commands that are expected to end soon, such as copies of small
    /// arrays.
    pub fn wait_briefly(&self) -> Result<()> {
        let last = self.record.borrow().last.clone();
        last.map_or(Ok(()), |event| self.queue.wait_briefly(&event))
    }

    /// A marker after the last command so far.
    pub fn marker(&self) -> Marker {
        Marker::of(&self.device, &self.queue, self.record.borrow().last.clone())
    }

    /// Whether the last command has an event.
    #[cfg(test)]
    pub(super) fn last_has_event(&self) -> bool {
        self.record.borrow().last.as_ref().is_some_and(|event| event.is_own())
    }

    /// Number of kernels launched so far.
    pub fn launches(&self) -> u32 {
        self.record.borrow().launches.len() as u32
    }

    /// Number of blocking reads so far.
    pub fn read_backs(&self) -> u32 {
        self.record.borrow().read_backs
    }
}

/// The number of bytes of `len` values. Refuses sizes that would overflow when they are rounded up
/// to a size class.
pub(super) fn bytes_of(word: WordType, len: usize) -> Result<u64> {
    let limit = i64::MAX as u64 / (2 * word.bytes() as u64);
    match len as u64 {
        value if value > limit => Err(Error::TooLarge { what: "number of values of a buffer", value, limit }),
        value => Ok(value * word.bytes() as u64),
    }
}

/// Refuses a number from the device that exceeds the bound that follows from the operands.
pub(crate) fn at_most(what: &'static str, value: u64, most: u64) -> Result<u64> {
    match value > most {
        true => Err(Error::Contradiction(format!("{what}: {value}, at most {most} are possible"))),
        false => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;
    use opencl3::event::{create_user_event, set_user_event_status};

    #[test]
    fn more_values_than_can_be_counted_are_refused() {
        let work = Work::new(&test_device(), None);
        // For the first four lengths, multiplication modulo 2^64 would give 16 bytes or fewer.
        for len in [(1 << 61) + 2, 1 << 61, (1 << 62) + 1, 1 << 63, usize::MAX, (1 << 59) + 1] {
            let refused = work.buffer::<f64>(len).map(drop);
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{len}: {refused:?}");
        }
        assert!(matches!(work.buffer::<u32>(1 << 50), Err(Error::Memory { .. })), "counted, but not there");
    }

    #[test]
    fn memory_that_fails_late_is_asked_for_again_when_the_pool_has_given_back_what_it_keeps() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let work = Work::new(&device, None);
        let done = |device: &Device| {
            let event = create_user_event(device.inner.context.get())?;
            set_user_event_status(event, 0).map(|()| event)
        };
        let attempts = Cell::new(0);
        let held = work.buffer::<u32>(1)?;
        // Enqueues a command that fails `times` times.
        let failing = |code, times| {
            attempts.set(0);
            work.enqueue("clEnqueueFillBuffer", &work.uses(&[&held.memory]), &mut |_, _| {
                attempts.set(attempts.get() + 1);
                if attempts.get() > times { done(&device) } else { Err(code) }
            })
        };
        drop(work.buffer::<u32>(1 << 20)?);
        failing(OUT_OF_MEMORY, 1)?;
        assert_eq!((attempts.get(), device.kept_bytes()), (2, 0));
        let refused = failing(OUT_OF_MEMORY, 1).unwrap_err();
        assert_eq!(attempts.get(), 1, "nothing is kept that could be given back");
        assert!(matches!(refused, Error::Memory { needed: 4096, .. }));
        assert!(refused.to_string().contains("OpenCL error -4 (CL_MEM_OBJECT_ALLOCATION_FAILURE)"), "{refused}");
        drop(work.buffer::<u32>(1 << 20)?);
        for code in [OUT_OF_RESOURCES, -36] {
            assert!(matches!(failing(code, 1), Err(Error::OpenCl { code: found, .. }) if found == code));
            assert_eq!(attempts.get(), 1);
        }
        Ok(())
    }
}
