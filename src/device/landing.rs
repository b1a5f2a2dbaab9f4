//! Host memory for short reads from a GPU. On an H200, NVIDIA's driver takes 13 microseconds to
//! launch a small kernel and copy a few bytes into this memory, and 16 microseconds if it copies to
//! other host memory.
use super::{
    cl::check,
    handle::{Context, Event},
};
use crate::Result;
use opencl3::{
    command_queue as clq, memory as cl,
    types::{cl_command_queue, cl_mem},
};
use std::{
    mem::MaybeUninit,
    ptr,
    sync::{Mutex, OnceLock, TryLockError},
};

/// Size of the memory for short reads, in bytes. A longer read takes so long that this memory would
/// save little of its time, so longer reads use other memory.
const BYTES: usize = 4096;

/// Mapped host memory, allocated at the first read that uses it.
#[derive(Default)]
pub(super) struct Landing(OnceLock<Option<Mutex<Memory>>>);

/// The handle and the address of the memory, stored as numbers, so that the type is `Send`.
struct Memory {
    raw: isize,
    address: usize,
}

impl Landing {
    /// Fills `to` through the mapped memory and returns true. `enqueue` enqueues a read to the
    /// given address, and waits for the read. Returns false and does nothing if `to` is too long,
    /// if another thread is reading, or if the driver does not provide such memory.
    pub(super) fn read(
        &self,
        context: &Context,
        queue: cl_command_queue,
        to: &mut [MaybeUninit<u8>],
        enqueue: impl FnOnce(*mut u8) -> Result<()>,
    ) -> Result<bool> {
        if to.len() > BYTES {
            return Ok(false);
        }
        let memory = self.0.get_or_init(|| Memory::new(context, queue).ok().map(Mutex::new));
        let memory = match memory.as_ref().map(Mutex::try_lock) {
            Some(Ok(memory)) => memory,
            Some(Err(TryLockError::Poisoned(poisoned))) => poisoned.into_inner(),
            Some(Err(TryLockError::WouldBlock)) | None => return Ok(false),
        };
        let address = memory.address as *mut u8;
        enqueue(address)?;
        // SAFETY: the memory has at least `to.len()` bytes. The read has ended, and no other thread
        // has the lock.
        unsafe { ptr::copy_nonoverlapping(address, to.as_mut_ptr().cast(), to.len()) };
        Ok(true)
    }
}

impl Memory {
    fn new(context: &Context, queue: cl_command_queue) -> Result<Self> {
        let flags = cl::CL_MEM_READ_WRITE | cl::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: the context is valid; no host pointer is given.
        let raw = check("clCreateBuffer", unsafe { cl::create_buffer(context.get(), flags, BYTES, ptr::null_mut()) })?;
        let mut memory = Self { raw: raw as isize, address: 0 };
        let (mut address, both) = (ptr::null_mut(), cl::CL_MAP_READ | cl::CL_MAP_WRITE);
        // SAFETY: the range is the whole buffer. The call blocks, so the address is valid from its
        // return until the buffer is released.
        let mapped = unsafe { clq::enqueue_map_buffer(queue, raw, 1, both, 0, BYTES, &mut address, 0, ptr::null()) };
        // SAFETY: the event was made for this handle.
        drop(unsafe { Event::from_raw(check("clEnqueueMapBuffer", mapped)?) });
        memory.address = address as usize;
        Ok(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `raw` was made by `new` and is released once, which ends its mapping. If the
        // release fails, the memory leaks.
        let _ = unsafe { cl::release_mem_object(self.raw as cl_mem) };
    }
}
