//! Values of a device for reading on the host. A CPU device shares the host's memory, so the host
//! reads large arrays in place. A copy would cost the first touch of new pages.
use super::{
    Work,
    later::Later,
    map::{Viewed, ViewedLater},
};
use crate::{
    DeviceKind, Result, Word,
    device::Buffer,
    element::{AnySlice, ElementType},
};
use half::f16;
use std::ops::Deref;

/// Arrays of at least this many bytes are mapped. A multiplication with 2000 products and three
/// arrays of 64 to 128 KiB takes 0.092 ms if the arrays are mapped and 0.115 ms if they are copied
/// (PoCL 3.1, an EPYC). No other limit was tried.
const MAPPED_BYTES: usize = 64 << 10;

/// Values of the device, copied to the host or read in place.
pub(crate) enum Seen<'w, T: Word> {
    Copied(Vec<T>),
    Viewed(Viewed<'w, T>),
}

/// Values that are being copied or mapped.
pub(crate) enum SeenLater<'w, T: Word> {
    Copied(Later<'w, T>),
    Viewed(ViewedLater<'w, T>),
}

/// Defines [`Seen`] and [`SeenLater`] for elements whose type is known at run time only.
macro_rules! any_seen {
    ($($number:ident as $name:ident),+) => {
        pub(crate) enum AnySeen<'w> {
            $($name(Seen<'w, $number>)),+
        }

        pub(crate) enum AnySeenLater<'w> {
            $($name(SeenLater<'w, $number>)),+
        }

        impl AnySeen<'_> {
            pub fn elements(&self) -> AnySlice<'_> {
                match self {
                    $(Self::$name(values) => AnySlice::$name(values)),+
                }
            }
        }

        impl<'w> AnySeenLater<'w> {
            /// See [`SeenLater::get`].
            pub fn get(self) -> Result<AnySeen<'w>> {
                Ok(match self {
                    $(Self::$name(values) => AnySeen::$name(values.get()?)),+
                })
            }
        }

        impl Work {
            /// Like [`Work::see_later`], for elements whose type is known at run time only.
            pub fn see_any_later<'w>(&'w self, buffer: &'w Buffer) -> Result<AnySeenLater<'w>> {
                Ok(match ElementType::of(buffer.word()) {
                    $(ElementType::$name => AnySeenLater::$name(self.see_later(buffer.typed())?)),+
                })
            }
        }
    };
}
any_seen!(f64 as F64, f32 as F32, f16 as F16, u32 as U32, i32 as I32, u8 as U8);

impl<T: Word> Deref for Seen<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Copied(values) => values,
            Self::Viewed(values) => values,
        }
    }
}

impl<'w, T: Word> SeenLater<'w, T> {
    /// Waits for the values and returns them.
    pub fn get(self) -> Result<Seen<'w, T>> {
        Ok(match self {
            Self::Copied(values) => Seen::Copied(values.get()?),
            Self::Viewed(values) => Seen::Viewed(values.get()?),
        })
    }
}

impl Work {
    /// Enqueues the copy or the mapping through which the host reads the whole of `buffer`. Nothing
    /// may write to the buffer while the result lives.
    pub fn see_later<'w, T: Word>(&'w self, buffer: &'w Buffer<T>) -> Result<SeenLater<'w, T>> {
        let is_large = buffer.value_bytes() >= MAPPED_BYTES;
        let is_mapped = is_large && self.device.info().kind == DeviceKind::Cpu;
        Ok(match if is_mapped { self.view_later(buffer)? } else { None } {
            Some(view) => SeenLater::Viewed(view),
            None => SeenLater::Copied(self.read_later(buffer)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::{pool::Memory, test_device},
        element::WordType,
    };
    use opencl3::memory::{CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, create_buffer, release_mem_object};

    #[test]
    fn arrays_of_every_size_are_seen_until_they_are_dropped() -> Result<()> {
        let device = test_device();
        let (work, read_backs) = (Work::new(&device, None), device.counters().read_backs);
        let all = |len: usize| (0..len as u64).map(|value| value * value).collect::<Vec<_>>();
        for len in [0, 1, MAPPED_BYTES / 8 - 1, MAPPED_BYTES / 8, 3 * MAPPED_BYTES] {
            let buffer = work.upload(&all(len))?;
            let (one, other) = (work.see_later(&buffer)?, work.see_later(&buffer)?);
            work.wait_briefly()?;
            let (one, other) = (one.get()?, other.get()?);
            assert!(*one == all(len) && *other == *one, "{len}");
            let is_viewed = matches!(one, Seen::Viewed(_));
            assert_eq!(is_viewed, device.info().kind == DeviceKind::Cpu && 8 * len >= MAPPED_BYTES, "{len}");
            drop(one);
            assert!(*other == all(len), "{len}: after the end of the other");
        }
        assert_eq!((work.read_backs(), device.counters().read_backs >= read_backs + 8), (8, true));
        // A pending mapping that is dropped is ended, and then the memory can be written again.
        let mut buffer = work.upload(&all(MAPPED_BYTES))?;
        drop(work.see_later(&buffer)?);
        work.write(&vec![7u64; MAPPED_BYTES], &mut buffer)?;
        assert!(buffer.download(&work)?.iter().all(|&value| value == 7));
        Ok(())
    }

    #[test]
    fn memory_that_is_not_aligned_is_copied() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let mut bytes: Vec<u8> = (0..2 * MAPPED_BYTES).map(|i| (i * i % 251) as u8).collect();
        let begin = bytes.as_ptr().align_offset(8) + 4;
        let len = MAPPED_BYTES / 8 + 1;
        let memory = &mut bytes[begin..][..8 * len];
        let want: Vec<u64> = memory.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        // SAFETY: the memory outlives the buffer, which retains the handle.
        let buffer = unsafe {
            let (flags, host) = (CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory.as_mut_ptr().cast());
            let raw = create_buffer(device.inner.context.get(), flags, 8 * len, host).unwrap();
            let buffer = Buffer::new(Memory::foreign(raw)?, len, WordType::of::<u64>()).into_typed::<u64>();
            release_mem_object(raw).unwrap();
            buffer
        };
        let seen = work.see_later(&buffer)?;
        assert!(*seen.get()? == want);
        work.wait()
    }
}
