//! Reads a buffer's values to the host. Each read waits for the device.
use super::{Work, at_most, copies::lies_in};
use crate::{
    Result, Word,
    device::{Buffer, landing::Landing},
    element::{AnyValues, ElementType, Listed, with_type},
    host::memory,
};
use opencl3::command_queue as clq;
use std::{mem::MaybeUninit, slice, sync::atomic::Ordering::Relaxed};

impl Buffer {
    /// Copies the elements to the host and waits for the copy.
    pub fn download_any(&self, work: &Work) -> Result<AnyValues> {
        with_type!(self.element(), T => Ok(T::any(self.typed::<T>().download(work)?)))
    }
}

impl<T: Word> Buffer<T> {
    /// Copies the buffer to the host and waits for the copy.
    pub fn download(&self, work: &Work) -> Result<Vec<T>> {
        work.read(self, 0, self.len())
    }
}

impl Work {
    /// Copies values `start..start + len` of `buffer` to the host and waits for the copy.
    pub fn read<T: Word>(&self, buffer: &Buffer<T>, start: usize, len: usize) -> Result<Vec<T>> {
        buffer.check::<T>();
        assert!(lies_in(start, len, buffer.len()), "read of {start}+{len} from {}", buffer.len());
        let mut values = Vec::with_capacity(len);
        let to: &mut [MaybeUninit<T>] = &mut values.spare_capacity_mut()[..len];
        memory::place(to);
        // SAFETY: elements are plain bytes, so bytes that are written are elements.
        let bytes = unsafe { slice::from_raw_parts_mut(to.as_mut_ptr().cast(), size_of_val(to)) };
        self.read_bytes_from(buffer, start, bytes)?;
        // SAFETY: the read has written all bytes of the first `len` elements.
        unsafe { values.set_len(len) };
        Ok(values)
    }

    /// Waits and reads value `at` of `buffer`, a count that the device has computed. The count is
    /// checked, because it determines allocations and launches.
    pub fn read_count<T: Word + Into<u64>>(
        &self,
        buffer: &Buffer<T>,
        at: usize,
        what: &'static str,
        most: u64,
    ) -> Result<u64> {
        at_most(what, self.read(buffer, at, 1)?[0].into(), most)
    }

    /// Copies values of `buffer` from index `start` on, until `values` is full, and waits for the
    /// copy.
    pub fn read_into<T: Word>(&self, buffer: &Buffer<T>, start: usize, values: &mut [T]) -> Result<()> {
        buffer.check::<T>();
        let len = values.len();
        assert!(lies_in(start, len, buffer.len()), "read of {start}+{len} from {}", buffer.len());
        self.read_bytes_from(buffer, start, as_unwritten(bytemuck::cast_slice_mut(values)))
    }

    /// Copies the bytes of all values of `buffer` to `to` and waits for the copy.
    pub fn read_bytes(&self, buffer: &Buffer, to: &mut [u8]) -> Result<()> {
        assert_eq!(to.len(), buffer.value_bytes());
        self.read_bytes_from(buffer, 0, as_unwritten(to))
    }

    /// Copies bytes of `buffer` from value `start` on, until `to` is full, and waits for the copy.
    fn read_bytes_from(&self, buffer: &Buffer, start: usize, to: &mut [MaybeUninit<u8>]) -> Result<()> {
        if !to.is_empty() {
            self.record.borrow_mut().read_backs += 1;
            self.device.inner.read_backs.fetch_add(1, Relaxed);
            let landed = match &self.device.inner.landing {
                Some(landing) => self.read_by(landing, buffer, start, to)?,
                None => false,
            };
            if !landed {
                self.enqueue_read(buffer, start, to.as_mut_ptr().cast(), to.len(), true)?;
            }
            // Only a check of the statuses shows whether earlier commands have computed the values
            // that were read.
            self.queue.check_statuses()?;
        }
        Ok(())
    }

    /// Tries to copy bytes of `buffer` from value `start` on through `landing`. Returns whether the
    /// bytes were copied.
    fn read_by(&self, landing: &Landing, buffer: &Buffer, start: usize, to: &mut [MaybeUninit<u8>]) -> Result<bool> {
        let bytes = to.len();
        landing.read(&self.device.inner.context, self.queue.raw(), to, |to| {
            self.enqueue_read(buffer, start, to, bytes, false)?;
            let read = self.record.borrow().last.clone();
            read.map_or(Ok(()), |event| self.queue.wait(&event))
        })
    }

    /// Enqueues a read of `bytes` bytes of `buffer` from value `start` on. The range must lie in
    /// the buffer. If the read does not block, `to` must be valid until the read has ended.
    pub(super) fn enqueue_read(
        &self,
        buffer: &Buffer,
        start: usize,
        to: *mut u8,
        bytes: usize,
        blocks: bool,
    ) -> Result<()> {
        self.enqueue("clEnqueueReadBuffer", &self.uses(&[&buffer.memory]), &mut |queue, wait| {
            // SAFETY: the range is in the buffer, and `to` is valid for `bytes` bytes until the
            // read has ended.
            unsafe {
                let (from, to, blocks) = (start * buffer.word().bytes(), to.cast(), blocks.into());
                let memory = buffer.raw_on(&self.queue);
                clq::enqueue_read_buffer(queue, memory, blocks, from, bytes, to, wait.len(), wait.pointer())
            }
        })
    }
}

/// Bytes for a read, which overwrites all of them.
fn as_unwritten(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both types have the same layout. A read writes bytes only.
    unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn numbers_land_in_memory_of_the_host() -> Result<()> {
        let device = test_device();
        let (landing, read_backs) = (Landing::default(), device.counters().read_backs);
        let values: Vec<u64> = (0..2000).map(|value| value * value).collect();
        std::thread::scope(|scope| {
            let reads = || -> Result<()> {
                let work = Work::new(&device, None);
                let buffer = work.upload(&values)?;
                for (start, len) in [(0, 1), (1999, 1), (7, 512), (1488, 512), (3, 2)].repeat(50) {
                    let mut read = vec![0; len];
                    // The read is repeated while another thread reads through the same memory.
                    while !work.read_by(&landing, &buffer, start, as_unwritten(bytemuck::cast_slice_mut(&mut read)))? {}
                    assert_eq!(read, values[start..start + len]);
                }
                assert!(
                    !work.read_by(&landing, &buffer, 0, as_unwritten(&mut [0; 8 * 513]))?,
                    "more than it has room for"
                );
                Ok(())
            };
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(reads)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })?;
        let work = Work::new(&device, None);
        assert_eq!(work.read(&work.upload(&values)?, 9, 4)?, [81, 100, 121, 144]);
        assert_eq!(work.read_backs(), 1);
        assert!(device.counters().read_backs > read_backs);
        Ok(())
    }
}
