//! A pool of device memory for reuse. Creating a buffer and touching it for the first time takes 25
//! to 500 us. A buffer from the pool takes almost no time.
//!
//! Memory returns to the pool when its buffer is dropped, although queued commands may still use
//! it. The pool stores memory with the last commands of the queues that have used it, and the
//! memory is free after these commands. A queue runs in order, so the next command of the same
//! queue uses the memory after its last command anyway. If another queue takes the memory, that
//! queue waits on the device for the events of the last commands.
//!
//! The driver counts kept memory as allocated, like memory in use. So if a `Work` requests memory,
//! the memory kept by the pool counts towards the limit and the peak of this `Work`. The pool keeps
//! as much memory as was needed recently, and returns the rest to the driver, the oldest memory
//! first. Memory that a plan reserves for its executions counts as in use as long as the plan
//! lives.
mod memory;
mod meter;
mod pages;
#[cfg(test)]
mod tests;

use super::{
    cl::{INVALID_BUFFER_SIZE, OUT_OF_HOST_MEMORY, OUT_OF_MEMORY, OUT_OF_RESOURCES, failed},
    queue::{Commands, Point, Queue},
    uses::FirstUse,
};
use crate::{Error, Result};
pub(super) use memory::Memory;
use memory::{MemoryHome, release};
pub(super) use meter::{Budget, Meter};
use opencl3::types::cl_context;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
};

/// The pool of one context. The pool stores raw handles as numbers, so that it is `Send` and
/// `Sync`.
pub(super) struct Pool {
    context: isize,
    max_alloc: u64,
    capacity: u64,
    /// Whether large buffers are in pages of 2 MiB.
    large_pages: bool,
    commands: Arc<Commands>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Free memory by size, the oldest first.
    free: BTreeMap<u64, VecDeque<Free>>,
    free_bytes: u64,
    used_bytes: u64,
    /// The maximum number of bytes in use at once, in the current span of requests and in the span
    /// before.
    most: [u64; 2],
    /// Number of buffers created so far. A second product of the same size creates no buffers.
    created: u64,
    /// Number of buffers handed out so far, new or reused.
    taken: u64,
}

/// Memory that is kept for reuse.
struct Free {
    raw: isize,
    /// The number of buffers that the pool had handed out when this memory came back.
    age: u64,
    first_use: Arc<FirstUse>,
    /// The memory is free after these commands.
    behind: Vec<Point>,
}

/// The number of buffers handed out in a span. Memory that was not used for one or two spans counts
/// as not needed recently. A product takes twenty to fifty buffers.
const SPAN: u64 = 512;

/// The bytes in use and kept may be at most this many times the maximum number of bytes in use at
/// once. The stages of a product use memory of different sizes one after another, and the next
/// product uses the memory of all stages again.
const HELD: u64 = 3;

/// Number of bytes that may always be held, so that small products create no new buffers.
const ALWAYS_KEPT: u64 = 64 << 20;

impl Pool {
    /// The pool of `context`, whose queues record their commands in `commands`.
    pub(super) fn new(context: cl_context, commands: Arc<Commands>, max_alloc: u64, capacity: u64) -> Self {
        Self { context: context as isize, max_alloc, capacity, large_pages: false, commands, state: Mutex::default() }
    }

    /// Sets whether memory is allocated in large pages. Only contexts whose only device is a CPU
    /// allow large pages.
    pub(super) fn in_large_pages(mut self, large_pages: bool) -> Self {
        self.large_pages = large_pages;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size class of `bytes`: the number of bytes that are allocated for them.
    pub(super) fn size_of(&self, bytes: u64) -> u64 {
        rounded(bytes).min(self.max_alloc.max(bytes))
    }

    /// Takes memory of at least `bytes` bytes for commands of `queue`, from the pool if it has
    /// memory of that size class. If other queues may still use the memory, the next command of
    /// `queue` waits for them.
    pub(super) fn take(self: &Arc<Self>, bytes: u64, budget: Budget, queue: &Queue) -> Result<Memory> {
        let size = self.size_of(bytes);
        let mut state = self.state();
        if size > self.max_alloc || state.used_bytes.saturating_add(size) > self.capacity {
            return Err(self.refusal(size, state.used_bytes, None));
        }
        if state.taken.is_multiple_of(SPAN) {
            state.most = [state.used_bytes, state.most[0]];
        }
        state.used_bytes += size;
        state.most[0] = state.most[0].max(state.used_bytes);

        let pooled = state.take_free(size, queue.number());
        let reused = pooled.is_some();
        let lately = state.most[0].max(state.most[1]);
        let held = lately.saturating_mul(HELD).max(ALWAYS_KEPT).min(self.capacity);
        let kept = held.saturating_sub(state.used_bytes).min(budget.room_for(size));
        state.keep(kept);
        let (raw, first_use) = match pooled {
            Some(Free { raw, behind, first_use, .. }) => {
                queue.follow(behind);
                (raw, first_use)
            }
            None => {
                let mut made = self.create(size);
                if made.is_err() && state.free_bytes > 0 {
                    let free = state.give_up(0);
                    // Other threads may continue while this thread waits.
                    drop(state);
                    self.release_when_done(free);
                    state = self.state();
                    made = self.create(size);
                }
                match made {
                    Ok(raw) => (raw, Arc::default()),
                    Err(code) => {
                        state.used_bytes -= size;
                        return Err(self.refusal(size, state.used_bytes, Some(code)));
                    }
                }
            }
        };
        state.created += u64::from(!reused);
        state.taken += 1;
        budget.meter.add(size, state.free_bytes);
        let (in_use, kept) = (state.used_bytes, state.free_bytes);
        drop(state);
        tracing::trace!(target: "blockmul::pool", bytes = size, reused, in_use, kept, "buffer");
        let home = MemoryHome::Pool(self.clone(), budget.meter.clone());
        let queues = AtomicU32::new(1 << queue.number());
        Ok(Memory { raw, bytes: size, home, queues, first_use, lost: false.into() })
    }

    /// Counts the bytes of operands, which were not taken from the pool, as in use.
    pub(super) fn count(&self, bytes: u64, budget: Budget) {
        let mut state = self.state();
        state.keep(budget.room_for(bytes));
        budget.meter.add(bytes, state.free_bytes);
    }

    fn create(&self, bytes: u64) -> std::result::Result<isize, i32> {
        let (context, bytes) = (self.context as cl_context, bytes as usize);
        let raw = if self.large_pages { pages::create(context, bytes) } else { pages::plain(context, bytes) };
        raw.map(|raw| raw as isize)
    }

    /// The error for a buffer of `size` bytes that cannot be allocated, because it is too large by
    /// this pool's count or because OpenCL refused it with `code`. The code may be unrelated to
    /// memory.
    fn refusal(&self, size: u64, used: u64, code: Option<i32>) -> Error {
        let driver = code.map(|code| failed("clCreateBuffer", code));
        let of_memory = match code {
            None | Some(OUT_OF_MEMORY | OUT_OF_HOST_MEMORY | INVALID_BUFFER_SIZE) => true,
            Some(OUT_OF_RESOURCES) => self.is_short_at(used.saturating_add(size)),
            Some(_) => false,
        };
        match driver {
            Some(driver) if !of_memory => driver,
            driver => Error::Memory {
                what: "a buffer".into(),
                needed: size,
                available: self.max_alloc.min(self.capacity.saturating_sub(used)),
                place: format!(
                    "device, {used} of {} bytes in use, largest buffer {}{}",
                    self.capacity,
                    self.max_alloc,
                    driver.map_or(String::new(), |driver| format!("; {driver}"))
                ),
            },
        }
    }

    /// Whether little memory is left on the device, by this pool's count.
    pub(super) fn is_short(&self) -> bool {
        let state = self.state();
        self.is_short_at(state.used_bytes + state.free_bytes)
    }

    /// Whether more than seven eighths of the device's memory would be used if `bytes` were held.
    /// Other programs may use the last eighth.
    fn is_short_at(&self, bytes: u64) -> bool {
        bytes > self.capacity - self.capacity / 8
    }

    /// Number of bytes of the device that are not in use, by this pool's count.
    pub(super) fn left(&self) -> u64 {
        self.capacity.saturating_sub(self.state().used_bytes)
    }

    /// Number of bytes in use, and of bytes kept for reuse.
    pub(super) fn held(&self) -> (u64, u64) {
        let state = self.state();
        (state.used_bytes, state.free_bytes)
    }

    /// Number of bytes kept for reuse.
    pub(super) fn kept(&self) -> u64 {
        self.state().free_bytes
    }

    /// Returns all free memory to the device. Waits for the commands that use the memory, because
    /// the driver keeps the memory until they end.
    pub(super) fn trim(&self) {
        let free = self.state().give_up(0);
        self.release_when_done(free);
    }

    fn release_when_done(&self, free: Vec<Free>) {
        for Free { raw, behind, .. } in free {
            self.commands.wait(&behind);
            release(raw);
        }
    }

    /// Number of buffers created, and number of buffers handed out.
    pub(super) fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.created, state.taken)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Pending commands may still use the memory. The driver keeps the memory until these
        // commands end.
        self.state().keep(0);
    }
}

impl State {
    /// Takes free memory of `size` bytes. Memory that `queue` can use without waiting comes first,
    /// then the memory that came back last.
    fn take_free(&mut self, size: u64, queue: u32) -> Option<Free> {
        let of_size = self.free.get_mut(&size)?;
        let at_once = of_size.iter().rposition(|free| free.behind.iter().all(|point| point.is_of(queue)));
        let free = of_size.remove(at_once.or(of_size.len().checked_sub(1))?)?;
        self.free_bytes -= size;
        Some(free)
    }

    /// Keeps at most `bytes`. Older memory is returned to the device as soon as the commands that
    /// use it have ended.
    fn keep(&mut self, bytes: u64) {
        for free in self.give_up(bytes) {
            release(free.raw);
        }
    }

    /// Removes the oldest memory from the pool, so that at most `bytes` are kept.
    fn give_up(&mut self, bytes: u64) -> Vec<Free> {
        let mut given_up = Vec::new();
        while self.free_bytes > bytes {
            let ages = self.free.iter().filter_map(|(&size, of_size)| Some((of_size.front()?.age, size)));
            let Some((_, size)) = ages.min() else { break };
            let Some(free) = self.free.get_mut(&size).and_then(VecDeque::pop_front) else { break };
            self.free_bytes -= size;
            given_up.push(free);
        }
        given_up
    }
}

/// The size class of `bytes`, at least a page. There are eight classes between two powers of two,
/// so at most 1/8 of the memory is wasted.
pub(crate) fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(4096);
    let step = (bytes.next_power_of_two() / 16).max(1);
    bytes.div_ceil(step) * step
}
