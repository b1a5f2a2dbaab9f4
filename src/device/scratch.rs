//! Device memory that a plan reserves for its executions.
use super::{Device, Work, buffer::Buffer, queue::Point, work::bytes_of};
use crate::{
    Result, Word,
    element::{Any, WordType},
};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Memory for `len` values that the executions of a plan use one after another. The first execution
/// allocates the memory, and the plan holds this memory until the plan is dropped, so later
/// executions allocate nothing. If several threads execute at the same time, each gets its own
/// memory.
///
/// `Scratch` without a parameter is memory whose value type is known at run time only.
pub(crate) struct Scratch<T = Any> {
    len: usize,
    word: WordType,
    bytes: u64,
    /// Whether new memory is filled with zeros.
    zeroed: bool,
    /// The memory, or `None` before the first execution and during each execution.
    idle: Mutex<Option<Idle>>,
    element: PhantomData<fn() -> T>,
}

struct Idle {
    buffer: Buffer,
    /// The last commands that use the buffer.
    behind: Vec<Point>,
    /// The number of forgotten failures when the contents of the buffer were last known to be
    /// correct.
    failures: u64,
}

/// A buffer for one execution. The contents of the buffer are undefined unless the scratch is
/// zeroed. When it is dropped, the buffer returns to the plan, possibly before the commands that
/// use it have run.
pub(crate) struct Taken<'a, T = Any> {
    scratch: &'a Scratch<T>,
    /// The buffer, or `None` after it has been returned.
    buffer: Option<Buffer<T>>,
    failures: u64,
}

impl<T: Word> Scratch<T> {
    /// Reserves memory for `len` values on `device`. Nothing is allocated yet.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the number of bytes of `len` values
    /// overflows.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        Ok(Scratch::of(device, WordType::of::<T>(), len)?.typed())
    }

    /// Like [`Scratch::new`], but allocates the memory now instead of at the first execution.
    ///
    /// # Errors
    /// See [`Work::buffer`].
    pub fn reserve(work: &Work, len: usize) -> Result<Self> {
        Ok(Scratch::reserve_of(work, WordType::of::<T>(), len)?.typed())
    }

    /// Like [`Scratch::reserve`], for memory that is zero before the first execution. Each
    /// execution must leave zeros for the next execution. After any failure of the device the
    /// memory is filled with zeros again, because the failed command may have been part of an
    /// execution.
    ///
    /// # Errors
    /// See [`Work::buffer`].
    pub fn reserve_zeroed(work: &Work, len: usize) -> Result<Self> {
        let scratch = Self { zeroed: true, ..Self::new(work.device(), len)? };
        scratch.take(work)?;
        Ok(scratch)
    }
}

impl Scratch {
    /// Like [`Scratch::new`], for values of type `word`.
    pub fn of(device: &Device, word: WordType, len: usize) -> Result<Self> {
        let bytes = device.inner.pool.size_of(bytes_of(word, len)?);
        Ok(Self { len, word, bytes, zeroed: false, idle: Mutex::default(), element: PhantomData })
    }

    /// Like [`Scratch::reserve`], for values of type `word`.
    pub fn reserve_of(work: &Work, word: WordType, len: usize) -> Result<Self> {
        let scratch = Self::of(work.device(), word, len)?;
        scratch.take(work)?;
        Ok(scratch)
    }

    fn typed<T: Word>(self) -> Scratch<T> {
        let Self { len, word, bytes, zeroed, idle, .. } = self;
        Scratch { len, word, bytes, zeroed, idle, element: PhantomData }
    }
}

impl<T> Scratch<T> {
    /// A buffer of the reserved length, for commands of `work` on the same device. The result is
    /// the plan's own buffer if that is idle, otherwise a buffer from the pool.
    ///
    /// # Errors
    /// The errors of [`Work::buffer`], if the buffer must be taken from the pool.
    pub fn take(&self, work: &Work) -> Result<Taken<'_, T>> {
        let (buffer, failures) = self.lent(work)?;
        Ok(Taken { scratch: self, buffer: Some(buffer.renamed()), failures })
    }

    /// Like [`Scratch::take`], but the caller returns the buffer by [`Scratch::give_back`]. If the
    /// caller drops the buffer instead, it goes to the pool.
    ///
    /// # Errors
    /// See [`Scratch::take`].
    pub fn lend(&self, work: &Work) -> Result<Buffer<T>> {
        self.lent(work).map(|(buffer, _)| buffer.renamed())
    }

    /// A buffer, and the number of failures that the device had forgotten before.
    fn lent(&self, work: &Work) -> Result<(Buffer, u64)> {
        let now = work.queue().commands().forgotten();
        let idle = self.idle().take();
        let (mut buffer, failures) = match idle {
            Some(Idle { mut buffer, behind, failures }) => {
                buffer.memory.hand_to(work.queue(), behind);
                (buffer, Some(failures))
            }
            None => (work.buffer_of(self.word, self.len)?, None),
        };
        if self.zeroed && failures != Some(now) {
            work.fill_zero(&mut buffer)?;
        }
        Ok((buffer, now))
    }

    /// Returns a lent buffer, possibly before the commands that use it have run.
    pub fn give_back(&self, buffer: Buffer<T>) {
        self.put_back(buffer.into_any(), 0);
    }

    fn put_back(&self, buffer: Buffer, failures: u64) {
        let behind = buffer.memory.behind();
        // The first buffer that comes back becomes the plan's own buffer. Further buffers go to the
        // pool.
        self.idle().get_or_insert(Idle { buffer, behind, failures });
    }

    /// Bytes of device memory held after the first execution, rounded up to the size class.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn idle(&self) -> MutexGuard<'_, Option<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = Buffer<T>;
    fn deref(&self) -> &Buffer<T> {
        self.buffer.as_ref().expect("it goes back on drop alone")
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        self.buffer.as_mut().expect("it goes back on drop alone")
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        self.buffer.take().into_iter().for_each(|buffer| self.scratch.put_back(buffer.into_any(), self.failures));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{
        faked::{EndFaked, fake},
        test_device,
    };
    use opencl3::event::set_user_event_status;

    const LEN: usize = 100_000;

    #[test]
    fn the_first_execution_allocates_and_the_others_do_not() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let scratch = Scratch::<u32>::new(&device, LEN)?;
        assert_eq!(device.counters(), Default::default(), "nothing is allocated for a plan that is not executed");
        for round in 0..3 {
            let work = Work::new(&device, None);
            let mut taken = scratch.take(&work)?;
            assert_eq!((taken.len(), taken.bytes()), (LEN, scratch.bytes()));
            work.write(&vec![round; LEN], &mut taken)?;
            assert_eq!(taken.download(&work)?, vec![round; LEN]);
            drop(taken);
            device.trim();
            let counters = device.counters();
            assert_eq!((counters.buffers_created, counters.buffers_taken), (1, 1), "round {round}");
            assert_eq!(device.kept_bytes(), 0, "the plan's is not the pool's");
        }
        drop(scratch);
        assert!(device.kept_bytes() > 0);
        Ok(())
    }

    #[test]
    fn executions_at_the_same_time_have_room_of_their_own() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let scratch = Scratch::<u32>::new(&device, LEN)?;
        let work = Work::new(&device, None);
        let raw = scratch.take(&work)?.raw();
        let (one, two) = (scratch.take(&work)?, scratch.take(&work)?);
        assert!(one.raw() == raw && two.raw() != raw);
        drop(one);
        drop(two);
        assert_eq!(device.kept_bytes(), scratch.bytes(), "one is the plan's, the other the pool's");
        assert_eq!(scratch.take(&work)?.raw(), raw);
        let execute = |number: u32| -> Result<()> {
            let work = Work::new(&device, None);
            for _ in 0..50 {
                let mut taken = scratch.take(&work)?;
                work.write(&vec![number; LEN], &mut taken)?;
                assert_eq!(taken.download(&work)?, vec![number; LEN]);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=4).map(|number| scope.spawn(move || execute(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })?;
        assert!(device.counters().buffers_created <= 4);
        Ok(())
    }

    #[test]
    fn another_queue_waits_for_the_last_execution() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let _end = EndFaked;
        let scratch = Scratch::<u32>::new(&device, LEN)?;
        let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
        let context = device.inner.context.get();
        // A fake command that does not end.
        let execute = |work: &Work| {
            let mut waits = Vec::new();
            let taken = scratch.take(work)?;
            taken.raw_on(work.queue());
            let event = work.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, wait| {
                waits = wait.and(&[]);
                fake(context)
            })?;
            Result::Ok((event, waits))
        };
        let (_, waits) = execute(&first)?;
        assert_eq!(waits, []);
        let (on_first, waits) = execute(&first)?;
        assert_eq!(waits, []);
        let (on_second, waits) = execute(&second)?;
        assert_eq!(waits, [on_first.get()?]);
        assert_eq!(execute(&second)?.1, []);
        let (_, waits) = execute(&first)?;
        assert!(waits != [on_second.get()?] && waits.len() == 1, "for the last one");
        Ok(())
    }

    #[test]
    fn what_executions_leave_stays_until_a_command_fails() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let _end = EndFaked;
        let work = Work::new(&device, None);
        let scratch = Scratch::<u32>::reserve_zeroed(&work, 100)?;
        let found = || scratch.take(&work)?.download(&work);
        assert_eq!(found()?, [0; 100]);
        work.write(&[7; 100], &mut *scratch.take(&work)?)?;
        assert_eq!(found()?, [7; 100], "an execution is trusted");
        let (one, two) = (scratch.take(&work)?, scratch.take(&work)?);
        assert_eq!((one.download(&work)?, two.download(&work)?), (vec![7; 100], vec![0; 100]));
        drop((one, two));

        let context = device.inner.context.get();
        let taken = work.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, _| fake(context))?;
        set_user_event_status(taken.get()?, -5).unwrap();
        assert!(device.finish().is_err());
        assert_eq!(found()?, [0; 100], "it may have been an execution");
        work.write(&[7; 100], &mut *scratch.take(&work)?)?;
        assert_eq!(found()?, [7; 100]);
        Ok(())
    }

    #[test]
    fn a_length_beyond_counting_is_refused_and_none_is_legal() -> Result<()> {
        let device = test_device();
        assert!(Scratch::<f64>::new(&device, usize::MAX).is_err());
        let none = Scratch::<f64>::new(&device, 0)?;
        assert!(none.take(&Work::new(&device, None))?.download(&Work::new(&device, None))?.is_empty());
        Ok(())
    }
}
