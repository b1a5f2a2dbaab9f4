//! Writes to, copies within and fills of device memory.
use super::Work;
use crate::{Result, Word, device::Buffer};
use opencl3::command_queue as clq;

/// Maximum number of bytes of one fill command. The rest of a larger buffer is copied from the
/// filled part. NVIDIA's driver counts the repetitions of a fill's pattern in 31 bits. Fills with a
/// pattern of one byte fail from 2 GiB on. Fills with a pattern of 16 bytes fail or never end from
/// 32 GiB on, at any offset.
const FILL_BYTES: usize = 16 << 30;

impl Work {
    /// A buffer that holds `values`. Waits until they are copied.
    pub fn upload<T: Word>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.buffer(values.len())?;
        self.write(values, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies `values` to the whole of `buffer`. Waits until they are copied.
    pub fn write<T: Word>(&self, values: &[T], buffer: &mut Buffer<T>) -> Result<()> {
        assert_eq!(values.len(), buffer.len());
        buffer.check::<T>();
        self.write_bytes(bytemuck::cast_slice(values), buffer)
    }

    /// Like [`Work::write`], but takes the bytes of the values.
    pub fn write_bytes(&self, values: &[u8], buffer: &mut Buffer) -> Result<()> {
        match values {
            [] if buffer.len() == 0 => Ok(()),
            _ => self.enqueue_write(values, buffer, true),
        }
    }

    /// Enqueues a write of all bytes of `buffer`. If the write does not block, `values` must stay
    /// unchanged until the write has ended.
    pub(super) fn enqueue_write(&self, values: &[u8], buffer: &mut Buffer, blocks: bool) -> Result<()> {
        assert_eq!(values.len(), buffer.value_bytes());
        self.enqueue("clEnqueueWriteBuffer", &self.uses(&[&buffer.memory]), &mut |queue, wait| {
            // SAFETY: the buffer has as many bytes as `values`, which exist until the write has
            // ended.
            unsafe {
                let (from, bytes, blocks) = (values.as_ptr().cast(), size_of_val(values), blocks.into());
                let memory = buffer.raw_on(&self.queue);
                clq::enqueue_write_buffer(queue, memory, blocks, 0, bytes, from, wait.len(), wait.pointer())
            }
        })?;
        // After this wait the host must not enqueue commands that use the results of a failed
        // command.
        if blocks { self.queue.check_statuses() } else { Ok(()) }
    }

    /// Copies `len` values on the device, from index `from_start` of `from` to index `to_start` of
    /// `to`.
    pub fn copy<T>(
        &self,
        from: &Buffer<T>,
        from_start: usize,
        to: &mut Buffer<T>,
        to_start: usize,
        len: usize,
    ) -> Result<()> {
        self.copy_any(from.any(), from_start, to.any_mut(), to_start, len)
    }

    fn copy_any(&self, from: &Buffer, from_start: usize, to: &mut Buffer, to_start: usize, len: usize) -> Result<()> {
        assert_eq!(from.word(), to.word());
        let inside = lies_in(from_start, len, from.len()) && lies_in(to_start, len, to.len());
        assert!(inside, "copy of {len} outside its buffers");
        if len == 0 {
            return Ok(());
        }
        let size = from.word().bytes();
        let (from_start, to_start, bytes) = (from_start * size, to_start * size, len * size);
        self.enqueue("clEnqueueCopyBuffer", &self.uses(&[&from.memory, &to.memory]), &mut |queue, wait| {
            // SAFETY: both ranges are inside their buffers. The buffers are distinct, because one
            // is borrowed mutably.
            unsafe {
                let (from, to) = (from.raw_on(&self.queue), to.raw_on(&self.queue));
                let (wait, events) = (wait.len(), wait.pointer());
                clq::enqueue_copy_buffer(queue, from, to, from_start, to_start, bytes, wait, events)
            }
        })
    }

    /// Sets to zero every value of `buffer`, and a few bytes after the values. The buffer must come
    /// from the pool.
    pub fn fill_zero<T>(&self, buffer: &mut Buffer<T>) -> Result<()> {
        self.fill_zero_by(buffer.any_mut(), FILL_BYTES)
    }

    /// Like [`Work::fill_zero`], with commands of at most `most` bytes, a multiple of the pattern's
    /// 16 bytes.
    fn fill_zero_by(&self, buffer: &mut Buffer, most: usize) -> Result<()> {
        let zero = [0u8; 16];
        let bytes = buffer.value_bytes().next_multiple_of(zero.len());
        assert!(bytes as u64 <= buffer.bytes(), "size classes are whole patterns");
        if bytes == 0 {
            return Ok(());
        }
        let first = most.min(bytes);
        self.enqueue("clEnqueueFillBuffer", &self.uses(&[&buffer.memory]), &mut |queue, wait| {
            // SAFETY: the range is inside the memory held. The call copies the pattern.
            unsafe {
                let (pattern, size, wait, events) = (zero.as_ptr().cast(), zero.len(), wait.len(), wait.pointer());
                clq::enqueue_fill_buffer(queue, buffer.raw_on(&self.queue), pattern, size, 0, first, wait, events)
            }
        })?;
        (first..bytes).step_by(most).try_for_each(|start| {
            let len = most.min(bytes - start);
            self.enqueue("clEnqueueCopyBuffer", &self.uses(&[&buffer.memory]), &mut |queue, wait| {
                // SAFETY: both ranges are inside the memory held, and the first ends before the
                // second begins.
                unsafe {
                    let (memory, wait, events) = (buffer.raw_on(&self.queue), wait.len(), wait.pointer());
                    clq::enqueue_copy_buffer(queue, memory, memory, 0, start, len, wait, events)
                }
            })
        })
    }
}

/// Whether the range `start..start + len` is inside `0..end`. A range whose end overflows is not
/// inside.
pub(super) fn lies_in(start: usize, len: usize, end: usize) -> bool {
    start.checked_add(len).is_some_and(|last| last <= end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn ranges_outside_a_buffer_are_known() {
        assert!(lies_in(2, 3, 5) && !lies_in(2, 4, 5) && !lies_in(usize::MAX, 2, 5));
    }

    #[test]
    fn a_fill_in_pieces_reaches_every_value() -> Result<()> {
        let work = Work::new(&test_device(), None);
        for (len, most) in [(0, 16), (1, 16), (3, 16), (4, 16), (5, 16), (1000, 48), (1000, 1 << 20)] {
            let mut buffer = work.upload(&vec![7u32; len])?;
            work.fill_zero_by(&mut buffer, most)?;
            assert_eq!(buffer.download(&work)?, vec![0; len], "{len} values by {most} bytes");
        }
        Ok(())
    }
}
