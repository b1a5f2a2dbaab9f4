//! Typed device memory.
use super::{pool::Memory, queue::Queue, work::Work};
use crate::{Result, Word};
use opencl3::types::cl_mem;
use std::marker::PhantomData;

/// Device memory holding `len` values of type `T`, from the pool or borrowed from the application.
/// It may be empty, which OpenCL's own buffers may not.
pub(crate) struct Buffer<T> {
    pub(super) memory: Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Word> Buffer<T> {
    pub(super) fn new(memory: Memory, len: usize) -> Self {
        Self { memory, len, element: PhantomData }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first `len` values, at most all. The memory stays as it is.
    pub fn first(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// Bytes of device memory held, rounded up to the size class.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// The handle, for use outside the queues of the device.
    pub(crate) fn raw(&self) -> cl_mem {
        self.memory.raw()
    }

    /// The handle, for a command of `queue`.
    pub(super) fn raw_on(&self, queue: &Queue) -> cl_mem {
        self.memory.raw_on(queue.number())
    }

    /// Gives the memory away with one reference.
    pub(crate) fn into_raw(self) -> cl_mem {
        self.memory.into_raw()
    }

    /// Copies the buffer to the host. Waits.
    pub fn download(&self, work: &Work) -> Result<Vec<T>> {
        work.read(self, 0, self.len)
    }
}
