//! Device memory as a slice on the host. On a CPU device the slice is the memory itself. On a GPU
//! the slice is host memory. A mapping for reading copies from the device to this memory at its
//! beginning; a mapping for writing copies to the device at its end.
use super::Work;
use crate::{
    Error, Result, Word,
    device::{
        Buffer,
        handle::Event,
        queue::{SharedEvent, Waits},
    },
};
use opencl3::{
    command_queue as clq,
    memory::{CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION},
    types::{cl_event, cl_map_flags, cl_mem},
};
use std::{
    cell::Cell,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::atomic::Ordering::Relaxed,
};

/// A buffer whose whole memory is mapped.
struct Mapping<'a> {
    work: &'a Work,
    buffer: &'a Buffer,
    /// The mapped buffer, or `None` if it is empty or no longer mapped.
    pointer: Option<cl_mem>,
}

/// A whole buffer mapped for the host to read.
pub(crate) struct Viewed<'a, T: Word> {
    mapping: Mapping<'a>,
    element: PhantomData<&'a [T]>,
}

/// A buffer that is being mapped for the host to read.
pub(crate) struct ViewedLater<'a, T: Word> {
    view: Viewed<'a, T>,
    mapped: Option<SharedEvent>,
}

/// A whole buffer mapped for the host to write. The buffer's former contents are not copied to the
/// host, so the host must write every value.
pub(crate) struct Mapped<'a, T: Word>(Viewed<'a, T>);

impl Work {
    /// Maps `buffer` for the host to write. Waits for earlier commands, which may use the buffer.
    pub fn map<'a, T: Word>(&'a self, buffer: &'a mut Buffer<T>) -> Result<Mapped<'a, T>> {
        buffer.check::<T>();
        let mapping = Mapping::new(self, buffer, CL_MAP_WRITE_INVALIDATE_REGION, true)?;
        // Checks for failures, as after a blocking write.
        self.queue.check_statuses()?;
        match mapping.is_aligned() {
            true => Ok(Mapped(Viewed { mapping, element: PhantomData })),
            false => Err(Error::Argument(format!(
                "the memory of a buffer of {} bytes an element is not aligned",
                size_of::<T>()
            ))),
        }
    }

    /// Enqueues a mapping of `buffer` for the host to read. Returns `None` if the memory is not
    /// aligned.
    pub fn view_later<'a, T: Word>(&'a self, buffer: &'a Buffer<T>) -> Result<Option<ViewedLater<'a, T>>> {
        buffer.check::<T>();
        let mapping = Mapping::new(self, buffer, CL_MAP_READ, false)?;
        if !mapping.is_aligned() {
            return Ok(None);
        }
        let is_empty = mapping.pointer.is_none();
        if !is_empty {
            self.record.borrow_mut().read_backs += 1;
            self.device.inner.read_backs.fetch_add(1, Relaxed);
        }
        let view = Viewed { mapping, element: PhantomData };
        Ok(Some(ViewedLater { view, mapped: self.record.borrow().last.clone().filter(|_| !is_empty) }))
    }
}

impl<'a, T: Word> ViewedLater<'a, T> {
    /// Waits until the memory is mapped and returns it.
    pub fn get(self) -> Result<Viewed<'a, T>> {
        self.mapped.iter().try_for_each(|mapped| self.view.mapping.work.queue.wait(mapped))?;
        Ok(self.view)
    }
}

impl<'a> Mapping<'a> {
    /// Maps the memory. If the command does not block, the memory is mapped when the command has
    /// ended.
    fn new(work: &'a Work, buffer: &'a Buffer, flags: cl_map_flags, blocks: bool) -> Result<Self> {
        let mut pointer = None;
        if buffer.len() > 0 {
            let address = Cell::new(std::ptr::null_mut());
            let bytes = buffer.value_bytes();
            let mut map = |queue, wait: Waits<'_>| {
                let mut mapped = std::ptr::null_mut();
                // SAFETY: the range is the whole buffer. The address is valid from the end of the
                // command until the memory is unmapped.
                let event = unsafe {
                    let (blocks, wait, events) = (blocks.into(), wait.len(), wait.pointer());
                    let memory = buffer.raw_on(&work.queue);
                    clq::enqueue_map_buffer(queue, memory, blocks, flags, 0, bytes, &mut mapped, wait, events)
                };
                address.set(mapped);
                event
            };
            work.enqueue("clEnqueueMapBuffer", &work.uses(&[&buffer.memory]), &mut map).inspect_err(|_| {
                if !address.get().is_null() {
                    // After this failure the caller gets no mapping that it could end, so the
                    // memory must not be used again.
                    buffer.memory.lose();
                }
            })?;
            pointer = Some(address.get());
        }
        Ok(Self { work, buffer, pointer })
    }

    /// Whether the memory is aligned for its elements. An application's memory
    /// (CL_MEM_USE_HOST_PTR) may be unaligned. Unaligned memory must not be read through the
    /// mapping.
    fn is_aligned(&self) -> bool {
        self.pointer.is_none_or(|address| address.addr() % self.buffer.word().bytes() == 0)
    }

    fn release(&mut self) -> Result<()> {
        let Some(address) = self.pointer.take() else { return Ok(()) };
        let (uses, ended) = (self.work.uses(&[&self.buffer.memory]), Cell::new(false));
        let unmap = |queue, events: *const cl_event, count| {
            // SAFETY: the address belongs to the buffer's mapping and is unmapped once. No slice of
            // the mapping outlives `self`.
            let event = unsafe {
                let memory = self.buffer.raw_on(&self.work.queue);
                clq::enqueue_unmap_mem_object(queue, memory, address, count, events)
            };
            ended.set(event.is_ok());
            event
        };
        let unmapped = self
            .work
            .enqueue("clEnqueueUnmapMemObject", &uses, &mut |queue, wait| unmap(queue, wait.pointer(), wait.len()));
        if unmapped.is_err() {
            // After an earlier failure the queue refuses further commands, but the mapping must be
            // ended anyway.
            if !ended.get()
                && let Ok(event) = unmap(self.work.queue.raw(), std::ptr::null(), 0)
            {
                // SAFETY: the event was made for this handle.
                drop(unsafe { Event::from_raw(event) });
            }
            // If unmapping fails, the memory is still mapped, so it must not be reused.
            self.buffer.memory.lose();
        }
        unmapped
    }
}

impl<T: Word> Mapped<'_, T> {
    /// Returns the memory to the device. Commands enqueued from now on read the written values.
    pub fn unmap(mut self) -> Result<()> {
        self.0.mapping.release()
    }
}

impl<T: Word> Deref for Viewed<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self.mapping.pointer {
            // SAFETY: the address is mapped memory of the buffer's length. The type of the values
            // and the alignment were checked when the mapping was made. Any bits are a valid
            // `Word`. The buffer is borrowed.
            Some(address) => unsafe { std::slice::from_raw_parts(address.cast(), self.mapping.buffer.len()) },
            None => &[],
        }
    }
}

impl<T: Word> Deref for Mapped<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Word> DerefMut for Mapped<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self.0.mapping.pointer {
            // SAFETY: as in `deref`, and the memory is mapped for writing. `map` borrows the buffer
            // mutably. If the buffer was adopted, the caller of `adopt` guarantees that no other
            // matrix uses its memory.
            Some(address) => unsafe { std::slice::from_raw_parts_mut(address.cast(), self.0.mapping.buffer.len()) },
            None => &mut [],
        }
    }
}

impl Drop for Mapping<'_> {
    fn drop(&mut self) {
        // `unmap` returns written memory and reports errors. An error here cannot be reported.
        let _ = self.release();
    }
}
