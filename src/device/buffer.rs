//! Typed device memory.
use super::{pool::Memory, queue::Queue, work::Work};
use crate::{Result, Word};
use opencl3::types::cl_mem;
use std::marker::PhantomData;

/// Device memory holding `len` values of type `T`; empty ones are legal (OpenCL's are not). Owned and pooled, or borrowed.
pub(crate) struct Buffer<T> {
    pub(super) memory: Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Word> Buffer<T> {
    pub(super) fn new(memory: Memory, len: usize) -> Self {
        Self { memory, len, element: PhantomData }
    }

    /// Values held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes of device memory held, size class included.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// The handle, for others than the queues of the device.
    pub(crate) fn raw(&self) -> cl_mem {
        self.memory.raw()
    }

    /// The handle, for a command of `queue`.
    pub(super) fn raw_on(&self, queue: &Queue) -> cl_mem {
        self.memory.raw_on(queue.number())
    }

    /// The memory, given away with one reference.
    pub(crate) fn into_raw(self) -> cl_mem {
        self.memory.into_raw()
    }

    /// Copies the buffer to the host; waits.
    pub fn download(&self, work: &Work) -> Result<Vec<T>> {
        work.read(self, 0, self.len)
    }
}
