//! Handles of device memory.
use super::{Free, Meter, Pool};
use crate::{
    Result,
    device::{
        cl::check,
        queue::{Point, Queue},
        uses::{FirstUse, Uses},
    },
};
use opencl3::{memory as cl, types::cl_mem};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

/// A `cl_mem`. The memory either comes from the pool and returns there, or belongs to the
/// application and is retained.
pub(in crate::device) struct Memory {
    pub(super) raw: isize,
    pub(super) bytes: u64,
    pub(super) home: MemoryHome,
    /// The queues whose commands may use the memory: bit i stands for queue i.
    pub(super) queues: AtomicU32,
    pub(super) first_use: Arc<FirstUse>,
    /// Whether the memory must not be reused: a mapping failed, or the handle was handed out.
    pub(super) lost: AtomicBool,
}

pub(super) enum MemoryHome {
    Pool(Arc<Pool>, Arc<Meter>),
    Foreign,
}

impl Memory {
    /// The OpenCL handle. This function does not record that a queue uses the memory, so commands
    /// of the device's queues must get the handle from `raw_on`.
    pub(in crate::device) fn raw(&self) -> cl_mem {
        self.raw as cl_mem
    }

    /// The OpenCL handle, for a command of queue number `queue`. The queue is recorded as a user of
    /// the memory.
    pub(in crate::device) fn raw_on(&self, queue: u32) -> cl_mem {
        self.queues.fetch_or(1 << queue, Relaxed);
        self.raw()
    }

    /// The OpenCL handle for the application, which may retain it. When the last owner drops the
    /// memory, the memory does not return to the pool but is released, so that a retained handle
    /// keeps its contents.
    pub(in crate::device) fn hand_out(&self) -> cl_mem {
        self.lose();
        self.raw()
    }

    /// Adds the memory to the uses of a command.
    pub(in crate::device) fn count_in(&self, uses: &mut Uses) {
        uses.memory(self.bytes, &self.first_use);
    }

    /// The commands after which the memory is free, unless further commands use it.
    pub(in crate::device) fn behind(&self) -> Vec<Point> {
        match &self.home {
            MemoryHome::Pool(pool, _) => pool.commands.last_of(self.queues.load(Relaxed)),
            MemoryHome::Foreign => Vec::new(),
        }
    }

    /// Assigns the memory to commands of `queue` only, after the commands `behind`.
    pub(in crate::device) fn hand_to(&mut self, queue: &Queue, behind: Vec<Point>) {
        queue.follow(behind);
        self.queues = AtomicU32::new(1 << queue.number());
    }

    /// Keeps an application's memory alive.
    ///
    /// # Safety
    /// `raw` must be a valid `cl_mem`.
    pub(in crate::device) unsafe fn foreign(raw: cl_mem) -> Result<Self> {
        // SAFETY: the caller guarantees that `raw` is valid.
        check("clRetainMemObject", unsafe { cl::retain_mem_object(raw) })?;
        let bytes: usize = check("clGetMemObjectInfo", cl::get_mem_object_info(raw, cl::CL_MEM_SIZE))?.into();
        let (raw, bytes, first_use) = (raw as isize, bytes as u64, Arc::default());
        Ok(Self { raw, bytes, home: MemoryHome::Foreign, queues: AtomicU32::new(0), first_use, lost: false.into() })
    }

    pub(in crate::device) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the OpenCL handle together with one reference, which the caller owns. The memory
    /// never returns to the pool.
    pub(in crate::device) fn into_raw(mut self) -> cl_mem {
        if let MemoryHome::Pool(pool, meter) = std::mem::replace(&mut self.home, MemoryHome::Foreign) {
            pool.state().used_bytes -= self.bytes;
            meter.sub(self.bytes);
        }
        let raw = self.raw();
        std::mem::forget(self);
        raw
    }

    /// Prevents reuse: the memory does not return to the pool when it is dropped.
    pub(in crate::device) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let MemoryHome::Pool(pool, meter) = &self.home else { return release(self.raw) };
        meter.sub(self.bytes);
        let behind = self.behind();
        let mut state = pool.state();
        let age = state.taken;
        state.used_bytes -= self.bytes;
        if self.lost.load(Relaxed) {
            drop(state);
            return release(self.raw);
        }
        state.free_bytes += self.bytes;
        let free = Free { raw: self.raw, age, first_use: self.first_use.clone(), behind };
        state.free.entry(self.bytes).or_default().push_back(free);
    }
}

pub(super) fn release(raw: isize) {
    // SAFETY: this module created or retained `raw` and releases it once. If the release fails, the
    // memory leaks.
    let _ = unsafe { cl::release_mem_object(raw as cl_mem) };
}
