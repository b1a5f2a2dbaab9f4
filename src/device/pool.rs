//! Device memory, reused: creating and first touching a buffer costs 25 to 500 us, taking one from here does not.
//!
//! Memory goes back to the pool when its buffer is dropped, while commands that use it may still be queued. That is safe because
//! one queue, in order, serves the pool's context: whoever takes the memory next is enqueued behind them.
//!
//! What the pool keeps is held from the driver like what is in use, so it counts: towards the limit
//! of whoever asks for memory, and towards its peak. The pool keeps as much as was needed lately;
//! the rest goes back to the driver, the oldest first. What a plan has reserved for its executions is in use as long
//! as the plan lives.
use super::cl::{INVALID_BUFFER_SIZE, OUT_OF_HOST_MEMORY, OUT_OF_MEMORY, OUT_OF_RESOURCES, check, failed};
use crate::{Error, Result};
use opencl3::{
    memory as cl,
    types::{cl_context, cl_mem},
};
use std::{
    collections::{BTreeMap, VecDeque},
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Bytes in use, the most there were at once, and the most that were held: in use, and kept by the
/// pool meanwhile.
#[derive(Default)]
pub(crate) struct Meter {
    used: AtomicU64,
    most_used: AtomicU64,
    peak: AtomicU64,
}

impl Meter {
    /// Counts `bytes` more in use, while the pool keeps `kept`.
    fn add(&self, bytes: u64, kept: u64) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.most_used.fetch_max(used, Relaxed);
        self.peak.fetch_max(used + kept, Relaxed);
    }

    fn sub(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    pub(super) fn most_used(&self) -> u64 {
        self.most_used.load(Relaxed)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

/// On whose account memory is taken, and how much of it that may hold at once.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    pub(super) meter: &'a Arc<Meter>,
    pub(super) limit: u64,
}

impl Budget<'_> {
    /// Bytes the pool may keep when `bytes` more are in use.
    fn room_for(&self, bytes: u64) -> u64 {
        self.limit.saturating_sub(self.meter.used().saturating_add(bytes))
    }
}

/// The pool of one context. Raw handles are stored as numbers, so that the pool is `Send` and `Sync`.
pub(super) struct Pool {
    context: isize,
    max_alloc: u64,
    capacity: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Free memory by size, each with the number of the buffer that was handed out last before it
    /// came back: the oldest at the front.
    free: BTreeMap<u64, VecDeque<(u64, isize)>>,
    free_bytes: u64,
    used_bytes: u64,
    /// The most bytes in use at once, in this span and the one before.
    most: [u64; 2],
    /// Buffers created so far: what a second product of the same size does not raise.
    created: u64,
    /// Buffers handed out so far, new or not.
    taken: u64,
}

/// Buffers handed out in a span: what is not needed for one or two of these was not needed lately.
/// A product takes twenty to fifty.
const SPAN: u64 = 512;

/// Bytes that may be held however little is in use, so that small products create no buffers anew.
const ALWAYS_KEPT: u64 = 64 << 20;

impl Pool {
    pub(super) fn new(context: cl_context, max_alloc: u64, capacity: u64) -> Self {
        Self { context: context as isize, max_alloc, capacity, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of at least `bytes` bytes, from the pool where it has some of that size.
    pub(super) fn take(self: &Arc<Self>, bytes: u64, budget: Budget) -> Result<Memory> {
        let size = rounded(bytes).min(self.max_alloc.max(bytes));
        let mut state = self.state();
        if size > self.max_alloc || state.used_bytes.saturating_add(size) > self.capacity {
            return Err(self.refusal(size, state.used_bytes, None));
        }
        let used = state.used_bytes + size;
        if state.taken.is_multiple_of(SPAN) {
            state.most = [state.used_bytes, state.most[0]];
        }
        state.most[0] = state.most[0].max(used);

        let pooled = state.take_free(size);
        let lately = state.most[0].max(state.most[1]);
        let held = (lately + lately / 2).max(ALWAYS_KEPT).min(self.capacity);
        let kept = held.saturating_sub(used).min(budget.room_for(size));
        state.keep(kept);
        let raw = match pooled {
            Some(raw) => raw,
            None => {
                let mut made = self.create(size);
                if made.is_err() && state.free_bytes > 0 {
                    state.keep(0);
                    made = self.create(size);
                }
                let raw = made.map_err(|code| self.refusal(size, state.used_bytes, Some(code)))?;
                state.created += 1;
                raw
            }
        };
        state.used_bytes = used;
        state.taken += 1;
        budget.meter.add(size, state.free_bytes);
        let (in_use, kept) = (state.used_bytes, state.free_bytes);
        drop(state);
        tracing::trace!(target: "blockmul::pool", bytes = size, reused = pooled.is_some(), in_use, kept, "buffer");
        Ok(Memory { raw, bytes: size, home: Home::Pool(self.clone(), budget.meter.clone()) })
    }

    /// Counts `bytes` that somebody uses and did not take: operands.
    pub(super) fn count(&self, bytes: u64, budget: Budget) {
        let mut state = self.state();
        state.keep(budget.room_for(bytes));
        budget.meter.add(bytes, state.free_bytes);
    }

    fn create(&self, bytes: u64) -> std::result::Result<isize, i32> {
        // SAFETY: the context outlives the pool (both live in the device); no host pointer is given.
        let raw = unsafe {
            cl::create_buffer(self.context as cl_context, cl::CL_MEM_READ_WRITE, bytes as usize, ptr::null_mut())
        };
        raw.map(|raw| raw as isize)
    }

    /// Why a buffer of `size` bytes cannot be had: by our own count, or because of OpenCL's `code`,
    /// which may have nothing to do with memory.
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

    /// Whether little of the device's memory is left by our own count.
    pub(super) fn is_short(&self) -> bool {
        let state = self.state();
        self.is_short_at(state.used_bytes + state.free_bytes)
    }

    /// The same with `bytes` held: an eighth may be others'.
    fn is_short_at(&self, bytes: u64) -> bool {
        bytes > self.capacity - self.capacity / 8
    }

    /// Bytes of the device that nobody uses by our own count.
    pub(super) fn left(&self) -> u64 {
        self.capacity.saturating_sub(self.state().used_bytes)
    }

    /// Bytes kept for later.
    pub(super) fn kept(&self) -> u64 {
        self.state().free_bytes
    }

    /// Gives all free memory back to the device.
    pub(super) fn trim(&self) {
        self.state().keep(0);
    }

    /// Buffers created, and buffers handed out.
    pub(super) fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.created, state.taken)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl State {
    /// Free memory of `size` bytes, the last that came back.
    fn take_free(&mut self, size: u64) -> Option<isize> {
        let (_, raw) = self.free.get_mut(&size)?.pop_back()?;
        self.free_bytes -= size;
        Some(raw)
    }

    /// Keeps at most `bytes`: the oldest goes back to the device.
    fn keep(&mut self, bytes: u64) {
        while self.free_bytes > bytes {
            let ages = self.free.iter().filter_map(|(&size, of_size)| Some((of_size.front()?.0, size)));
            let Some((_, size)) = ages.min() else { break };
            let Some((_, raw)) = self.free.get_mut(&size).and_then(VecDeque::pop_front) else { break };
            self.free_bytes -= size;
            release(raw);
        }
    }
}

fn release(raw: isize) {
    // SAFETY: `raw` was created or retained by this module and is released once. Failure leaks it; nothing else can be done.
    let _ = unsafe { cl::release_mem_object(raw as cl_mem) };
}

/// The size class of `bytes`: a power of two divided into eight steps, so at most 1/8 is wasted, and at least a page.
pub(crate) fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(4096);
    let step = (bytes.next_power_of_two() / 16).max(1);
    bytes.div_ceil(step) * step
}

/// A `cl_mem` that is held: from the pool, to which it returns, or somebody else's, retained.
pub(super) struct Memory {
    raw: isize,
    bytes: u64,
    home: Home,
}

enum Home {
    Pool(Arc<Pool>, Arc<Meter>),
    Foreign,
}

impl Memory {
    pub(super) fn raw(&self) -> cl_mem {
        self.raw as cl_mem
    }

    /// Keeps somebody else's memory alive.
    ///
    /// # Safety
    /// `raw` must be a valid `cl_mem`.
    pub(super) unsafe fn foreign(raw: cl_mem) -> Result<Self> {
        // SAFETY: the caller vouches for `raw`.
        check("clRetainMemObject", unsafe { cl::retain_mem_object(raw) })?;
        let bytes: usize = check("clGetMemObjectInfo", cl::get_mem_object_info(raw, cl::CL_MEM_SIZE))?.into();
        Ok(Self { raw: raw as isize, bytes: bytes as u64, home: Home::Foreign })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The handle with one reference for the caller; the memory never returns to the pool.
    pub(super) fn into_raw(mut self) -> cl_mem {
        self.abandon();
        let raw = self.raw();
        std::mem::forget(self);
        raw
    }

    /// From now on the memory is not the pool's, to which it does not return.
    pub(super) fn abandon(&mut self) {
        if let Home::Pool(pool, meter) = std::mem::replace(&mut self.home, Home::Foreign) {
            pool.state().used_bytes -= self.bytes;
            meter.sub(self.bytes);
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Home::Pool(pool, meter) = &self.home else { return release(self.raw) };
        meter.sub(self.bytes);
        let mut state = pool.state();
        let last = state.taken;
        state.used_bytes -= self.bytes;
        state.free_bytes += self.bytes;
        state.free.entry(self.bytes).or_default().push_back((last, self.raw));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Buffer, Device, Work, test_device};

    const MIB: usize = 1 << 20;

    /// A device whose pool nobody else uses.
    fn own_device() -> Device {
        Device::open(test_device().info()).unwrap()
    }

    fn buffer(work: &Work, bytes: usize) -> Result<Buffer<u32>> {
        work.buffer(bytes / 4)
    }

    #[test]
    fn what_is_kept_is_what_was_needed_lately() -> Result<()> {
        let device = own_device();
        let work = Work::new(&device, None);
        for round in 0..2 {
            for megabytes in (32..=240).step_by(8) {
                drop(buffer(&work, megabytes * MIB)?);
                assert!(device.kept_bytes() <= 360 * MIB as u64, "{megabytes} MiB, round {round}");
            }
        }
        assert!(device.kept_bytes() >= 240 * MIB as u64, "the last is kept");
        // After a while of small ones the large ones are not lately any more.
        for _ in 0..3 * SPAN {
            drop(buffer(&work, 100)?);
        }
        assert!(device.kept_bytes() <= ALWAYS_KEPT, "{}", device.kept_bytes());
        device.trim();
        assert_eq!(device.kept_bytes(), 0);
        Ok(())
    }

    #[test]
    fn the_same_again_creates_nothing() -> Result<()> {
        let device = own_device();
        let product = || -> Result<()> {
            let work = Work::new(&device, None);
            let (_kept, first) = (buffer(&work, 90 * MIB)?, buffer(&work, 50 * MIB)?);
            let second = buffer(&work, 60 * MIB)?;
            drop(first);
            let _third = buffer(&work, 40 * MIB)?;
            drop(second);
            buffer(&work, 30 * MIB).map(drop)
        };
        product()?;
        let created = device.counters().buffers_created;
        (0..3).try_for_each(|_| product())?;
        assert_eq!(device.counters().buffers_created, created);
        Ok(())
    }

    #[test]
    fn what_is_kept_counts_towards_limit_and_peak() -> Result<()> {
        let device = own_device();
        drop(buffer(&Work::new(&device, None), 10 * MIB)?);
        let work = Work::new(&device, None);
        drop(buffer(&work, MIB)?);
        assert_eq!(work.peak_bytes(), 11 * MIB as u64);
        let work = Work::new(&device, Some(8 * MIB as u64));
        work.count_operand(0);
        assert_eq!((work.peak_bytes(), device.kept_bytes()), (MIB as u64, MIB as u64), "10 MiB went back");
        for (size, kept) in [(MIB, 1), (2 * MIB, 3), (4 * MIB, 7), (5 * MIB, 5), (3 * MIB, 8), (6 * MIB, 6)] {
            drop(buffer(&work, size)?);
            assert!(device.kept_bytes() <= 8 * MIB as u64 && work.peak_bytes() <= 8 * MIB as u64);
            assert_eq!(device.kept_bytes(), kept * MIB as u64, "the oldest goes first");
        }
        let held = buffer(&work, 7 * MIB)?;
        assert!(matches!(buffer(&work, 2 * MIB), Err(Error::Memory { available, .. }) if available == MIB as u64));
        drop(held);
        assert_eq!(work.most_used_bytes(), 7 * MIB as u64);
        Ok(())
    }

    #[test]
    fn what_was_abandoned_does_not_come_back() -> Result<()> {
        let device = own_device();
        let work = Work::new(&device, None);
        let mut buffer = buffer(&work, MIB)?;
        buffer.memory.abandon();
        assert_eq!(work.used_bytes(), 0);
        drop(buffer);
        assert_eq!(device.kept_bytes(), 0);
        Ok(())
    }

    #[test]
    fn lack_of_memory_and_other_failures_are_told_apart() {
        let pool = Pool::new(ptr::null_mut(), 1 << 30, 8 << 30);
        let text = |used, code| pool.refusal(4096, used, Some(code)).to_string();
        assert!(
            text(0, -4).contains("4096 bytes needed") && text(0, -4).contains("OpenCL error -4"),
            "{}",
            text(0, -4)
        );
        assert!(text(0, -61).contains("not enough memory"));
        assert_eq!(text(0, -5), "clCreateBuffer failed: OpenCL error -5 (CL_OUT_OF_RESOURCES)");
        assert!(text(7 << 30, -5).contains("not enough memory"), "an eighth is left");
        assert_eq!(text(7 << 30, -36), "clCreateBuffer failed: OpenCL error -36 (CL_INVALID_COMMAND_QUEUE)");
    }

    #[test]
    fn size_classes_waste_at_most_an_eighth() {
        for bytes in (0..5000).chain((1u64 << 30) - 3..(1 << 30) + 3).chain([(1 << 33) + 1, 12_345_678_901]) {
            let size = rounded(bytes);
            assert!(
                size >= bytes && size >= 4096 && (bytes <= 4096 || (size - bytes) * 8 <= bytes),
                "{bytes} -> {size}"
            );
            assert_eq!(rounded(size), size, "a class is its own");
        }
    }
}
