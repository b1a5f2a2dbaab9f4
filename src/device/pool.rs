//! Device memory, reused: creating and first touching a buffer costs 25 to 500 us, taking one from here does not.
//!
//! Memory goes back to the pool when its buffer is dropped, while commands that use it may still be queued. That is safe because
//! one queue, in order, serves the pool's context: whoever takes the memory next is enqueued behind them.
use super::cl::check_code;
use crate::{Error, Result};
use opencl3::{
    memory as cl,
    types::{cl_context, cl_mem},
};
use std::{
    collections::BTreeMap,
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Bytes in use, and the most there ever were.
#[derive(Default)]
pub(crate) struct Meter {
    used: AtomicU64,
    peak: AtomicU64,
}

impl Meter {
    pub(super) fn add(&self, bytes: u64) {
        self.peak.fetch_max(self.used.fetch_add(bytes, Relaxed) + bytes, Relaxed);
    }

    fn sub(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
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
    /// Free memory by size.
    free: BTreeMap<u64, Vec<isize>>,
    free_bytes: u64,
    used_bytes: u64,
    /// Buffers created so far: what a second product of the same size does not raise.
    created: u64,
    /// Buffers handed out so far, new or not.
    taken: u64,
}

impl Pool {
    pub(super) fn new(context: cl_context, max_alloc: u64, capacity: u64) -> Self {
        Self { context: context as isize, max_alloc, capacity, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of at least `bytes` bytes, from the pool where it has some of that size.
    pub(super) fn take(self: &Arc<Self>, bytes: u64, meter: Option<&Arc<Meter>>) -> Result<Memory> {
        let size = rounded(bytes).min(self.max_alloc.max(bytes));
        let mut state = self.state();
        let refused = |used: u64| Error::Memory {
            what: "a buffer".into(),
            needed: size,
            available: self.max_alloc.min(self.capacity.saturating_sub(used)),
            place: format!("device, {} of {} bytes in use, largest buffer {}", used, self.capacity, self.max_alloc),
        };
        let pooled = state.free.get_mut(&size).and_then(Vec::pop);
        let reused = pooled.is_some();
        let raw = match pooled {
            Some(raw) => {
                state.free_bytes -= size;
                raw
            }
            None => {
                if size > self.max_alloc || state.used_bytes + size > self.capacity {
                    return Err(refused(state.used_bytes));
                }
                if state.used_bytes + state.free_bytes + size > self.capacity {
                    release_all(&mut state);
                }
                let raw = self.create(size).or_else(|_| {
                    release_all(&mut state);
                    self.create(size)
                });
                state.created += 1;
                raw.map_err(|_| refused(state.used_bytes))?
            }
        };
        state.used_bytes += size;
        state.taken += 1;
        let in_use = state.used_bytes;
        drop(state);
        tracing::trace!(target: "blockmul::pool", bytes = size, reused, in_use, "buffer");
        let meter = meter.cloned();
        if let Some(meter) = &meter {
            meter.add(size);
        }
        Ok(Memory { raw, bytes: size, home: Home::Pool(self.clone(), meter) })
    }

    fn create(&self, bytes: u64) -> Result<isize> {
        // SAFETY: the context outlives the pool (both live in the device); no host pointer is given.
        let raw = unsafe {
            cl::create_buffer(self.context as cl_context, cl::CL_MEM_READ_WRITE, bytes as usize, ptr::null_mut())
        };
        check_code("clCreateBuffer", raw).map(|raw| raw as isize)
    }

    /// Gives all free memory back to the device.
    pub(super) fn trim(&self) {
        release_all(&mut self.state());
    }

    /// Buffers created, and buffers handed out.
    pub(super) fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.created, state.taken)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        release_all(&mut self.state());
    }
}

fn release_all(state: &mut State) {
    for raw in std::mem::take(&mut state.free).into_values().flatten() {
        release(raw);
    }
    state.free_bytes = 0;
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
    Pool(Arc<Pool>, Option<Arc<Meter>>),
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
        check_code("clRetainMemObject", unsafe { cl::retain_mem_object(raw) })?;
        let bytes: usize = check_code("clGetMemObjectInfo", cl::get_mem_object_info(raw, cl::CL_MEM_SIZE))?.into();
        Ok(Self { raw: raw as isize, bytes: bytes as u64, home: Home::Foreign })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The handle with one reference for the caller; the memory never returns to the pool.
    pub(super) fn into_raw(mut self) -> cl_mem {
        if let Home::Pool(pool, meter) = std::mem::replace(&mut self.home, Home::Foreign) {
            pool.state().used_bytes -= self.bytes;
            if let Some(meter) = meter {
                meter.sub(self.bytes);
            }
        }
        let raw = self.raw();
        std::mem::forget(self);
        raw
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Home::Pool(pool, meter) = &self.home else { return release(self.raw) };
        if let Some(meter) = meter {
            meter.sub(self.bytes);
        }
        let mut state = pool.state();
        state.used_bytes -= self.bytes;
        state.free_bytes += self.bytes;
        state.free.entry(self.bytes).or_default().push(self.raw);
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

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
