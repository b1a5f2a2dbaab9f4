//! Copies that are enqueued together, so that the host waits once for all of them. PoCL copies a
//! few kilobytes in 5 microseconds, but takes another 40 microseconds to wake up a waiting thread.
use super::Work;
use crate::{
    Result, Word,
    device::{Buffer, queue::SharedEvent},
    element::{AnyValues, with_values},
};
use std::{mem, sync::atomic::Ordering::Relaxed};

/// Values that a pending copy reads or writes.
pub(crate) struct Later<'w, T> {
    work: &'w Work,
    /// The event of the copy, or `None` if there is nothing to copy.
    copy: Option<SharedEvent>,
    values: Vec<T>,
}

impl<T> Later<'_, T> {
    /// Waits for the copy and returns the values.
    pub fn get(mut self) -> Result<Vec<T>> {
        if let Some(copy) = &self.copy {
            self.work.queue.wait(copy)?;
        }
        self.copy = None;
        Ok(mem::take(&mut self.values))
    }
}

impl<T> Drop for Later<'_, T> {
    fn drop(&mut self) {
        if let Some(copy) = self.copy.take()
            && copy.wait().is_err()
        {
            // The copy may still run, so its memory is leaked deliberately.
            mem::forget(mem::take(&mut self.values));
        }
    }
}

impl Work {
    /// Enqueues a copy of the whole of `buffer` to the host.
    pub fn read_later<T: Word>(&self, buffer: &Buffer<T>) -> Result<Later<'_, T>> {
        buffer.check::<T>();
        let mut later = Later { work: self, copy: None, values: vec![T::zeroed(); buffer.len()] };
        if buffer.len() > 0 {
            self.record.borrow_mut().read_backs += 1;
            self.device.inner.read_backs.fetch_add(1, Relaxed);
            let bytes = size_of_val(&later.values[..]);
            self.enqueue_read(buffer, 0, later.values.as_mut_ptr().cast(), bytes, false)?;
            later.copy = self.record.borrow().last.clone();
        }
        Ok(later)
    }

    /// Makes a buffer and enqueues a copy of `values` to it. Commands enqueued from now on read the
    /// new values.
    pub fn upload_later<T: Word>(&self, values: Vec<T>) -> Result<(Buffer<T>, Later<'_, T>)> {
        let mut buffer = self.buffer::<T>(values.len())?;
        let mut later = Later { work: self, copy: None, values };
        if !later.values.is_empty() {
            self.enqueue_write(bytemuck::cast_slice(&later.values), &mut buffer, false)?;
            later.copy = self.record.borrow().last.clone();
        }
        Ok((buffer, later))
    }
}

/// A pending copy together with the memory that it reads.
pub(crate) trait Copying {}

impl<T> Copying for Later<'_, T> {}

impl Work {
    /// Like [`Work::upload_later`], for elements whose type is known at run time only.
    pub fn upload_any_later(&self, values: AnyValues) -> Result<(Buffer, Box<dyn Copying + '_>)> {
        with_values!(AnyValues, values, values => {
            let (buffer, later) = self.upload_later(values)?;
            Ok((buffer.into_any(), Box::new(later)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn copies_that_are_enqueued_together_have_their_values() -> Result<()> {
        let work = Work::new(&test_device(), None);
        let values: Vec<u64> = (0..3000).map(|value| value * value).collect();
        let (of_many, many) = work.upload_later(values.clone())?;
        let (of_none, none) = work.upload_later(Vec::<f64>::new())?;
        let (of_few, few) = work.upload_later(vec![3u32, 1, 4])?;
        let read = (work.read_later(&of_many)?, work.read_later(&of_none)?, work.read_later(&of_few)?);
        work.wait()?;
        assert_eq!((read.0.get()?, read.1.get()?, read.2.get()?), (values.clone(), vec![], vec![3, 1, 4]));
        assert_eq!((many.get()?, none.get()?, few.get()?), (values, vec![], vec![3, 1, 4]));
        assert_eq!(work.read_backs(), 2, "an empty buffer is not read");
        drop(work.read_later(&of_many)?);
        Ok(())
    }
}
