//! Device memory as a slice on the host: a CPU device's own memory; on a GPU, host memory that is
//! copied to the device at the end.
use super::{Buffer, Work, handle::Event};
use crate::{Error, Result, Word};
use opencl3::{command_queue as clq, memory::CL_MAP_WRITE_INVALIDATE_REGION, types::cl_mem};
use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

/// A whole buffer mapped for the host to write. Its former contents are not copied; the host must
/// write every value.
pub(crate) struct Mapped<'a, T: Word> {
    work: &'a Work,
    buffer: &'a mut Buffer<T>,
    /// `None` for an empty buffer, and once unmapped.
    pointer: Option<cl_mem>,
}

impl Work {
    /// Maps `buffer`. Waits for the commands before, which may use it.
    pub fn map<'a, T: Word>(&'a self, buffer: &'a mut Buffer<T>) -> Result<Mapped<'a, T>> {
        let mut pointer = None;
        if buffer.len() > 0 {
            let address = Cell::new(std::ptr::null_mut());
            let bytes = buffer.len() * size_of::<T>();
            self.enqueue("clEnqueueMapBuffer", &self.uses(&[&buffer.memory]), &mut |queue, wait| {
                let mut mapped = std::ptr::null_mut();
                // SAFETY: the range is the buffer's. The call blocks, so the address is valid from
                // its return until it is unmapped.
                let event = unsafe {
                    let (flags, wait, events) = (CL_MAP_WRITE_INVALIDATE_REGION, wait.len(), wait.pointer());
                    let memory = buffer.raw_on(self.queue());
                    clq::enqueue_map_buffer(queue, memory, 1, flags, 0, bytes, &mut mapped, wait, events)
                };
                address.set(mapped);
                event
            })
            .inspect_err(|_| {
                if !address.get().is_null() {
                    // The caller gets no mapping to end, so the memory must not be used again.
                    buffer.memory.abandon();
                }
            })?;
            pointer = Some(address.get());
        }
        let mapped = Mapped { work: self, buffer, pointer };
        // As after a blocking write.
        self.queue().check_statuses()?;
        match pointer.is_none_or(|address| address.cast::<T>().is_aligned()) {
            true => Ok(mapped),
            // An application's memory (CL_MEM_USE_HOST_PTR) that is not aligned for its elements.
            false => Err(Error::Argument(format!(
                "the memory of a buffer of {} bytes an element is not aligned",
                size_of::<T>()
            ))),
        }
    }
}

impl<T: Word> Mapped<'_, T> {
    /// Hands the memory back to the device. Commands enqueued from here on see what was written.
    pub fn unmap(mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let Some(address) = self.pointer.take() else { return Ok(()) };
        let (uses, ended) = (self.work.uses(&[&self.buffer.memory]), Cell::new(false));
        let unmap = |queue, events, count| {
            // SAFETY: the address is that of the buffer's mapping, unmapped once. No slice of it
            // outlives `self`.
            let event = unsafe {
                let memory = self.buffer.raw_on(self.work.queue());
                clq::enqueue_unmap_mem_object(queue, memory, address, count, events)
            };
            ended.set(event.is_ok());
            event
        };
        let unmapped = self
            .work
            .enqueue("clEnqueueUnmapMemObject", &uses, &mut |queue, wait| unmap(queue, wait.pointer(), wait.len()));
        if unmapped.is_err() {
            // An earlier failure keeps further commands out. The mapping ends all the same.
            if !ended.get()
                && let Ok(event) = unmap(self.work.queue().raw(), std::ptr::null(), 0)
            {
                // SAFETY: the event was made for this handle.
                drop(unsafe { Event::from_raw(event) });
            }
            // If it does not, the memory is still mapped: it must not serve another buffer.
            self.buffer.memory.abandon();
        }
        unmapped
    }
}

impl<T: Word> Deref for Mapped<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self.pointer {
            // SAFETY: as in `deref_mut`.
            Some(address) => unsafe { std::slice::from_raw_parts(address.cast(), self.buffer.len()) },
            None => &[],
        }
    }
}

impl<T: Word> DerefMut for Mapped<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self.pointer {
            // SAFETY: mapped memory of the buffer's length, aligned as `map` has checked. Any bits
            // are a value of a `Word`. The buffer is borrowed mutably; if it was adopted, the
            // caller of `adopt` promised that no other matrix has its memory.
            Some(address) => unsafe { std::slice::from_raw_parts_mut(address.cast(), self.buffer.len()) },
            None => &mut [],
        }
    }
}

impl<T: Word> Drop for Mapped<'_, T> {
    fn drop(&mut self) {
        // After a panic or another error: this one cannot be returned.
        let _ = self.release();
    }
}
