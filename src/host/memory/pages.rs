//! Memory pages of large host arrays. The first write to a page of 4 KiB takes at least a
//! microsecond, which may exceed the time of computing the contents of the page. So large arrays
//! are placed in large pages, and small arrays in pages that have been written before.
use rayon::prelude::*;
use std::{hint::black_box, mem::MaybeUninit, slice, sync::Once};

/// Number of bytes of a large page.
const PAGE: usize = 2 << 20;

/// Makes the allocator keep the freed memory of arrays that are too small for large pages. By
/// default glibc maps an array of 128 KiB or more separately, and returns the free end of its heap
/// to the system if that end is longer than 128 KiB. When glibc first unmaps an array, it raises
/// the limit for separate mapping to the array's size, and the limit for the end of its heap to
/// twice that size. So this function allocates a large array and frees it without writing to it.
/// With allocators other than glibc's, this function has no effect.
pub(crate) fn keep_small() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(black_box(Vec::<u8>::with_capacity(2 * PAGE))));
}

/// Asks the system to place a large array in large pages. The array must not have been written yet.
pub(crate) fn prefer_large<T>(array: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(array) >= 2 * PAGE {
        use rustix::mm::{Advice, madvise};
        let begin = array.as_mut_ptr().cast::<u8>();
        let before = begin.align_offset(PAGE);
        let bytes = (size_of_val(array) - before) / PAGE * PAGE;
        // SAFETY: the pages are inside the array. The advice changes no contents.
        let _slower_without = unsafe { madvise(begin.add(before).cast(), bytes, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = array;
}

/// Has the system place a large array that is about to be filled by one thread. All threads touch
/// the array first, in large pages where there are some: the system clears a page when it is first
/// touched, which takes as long as filling it.
pub(crate) fn place<T>(array: &mut [MaybeUninit<T>]) {
    const SMALL_PAGE: usize = 4096;
    if size_of_val(array) < 2 * PAGE {
        return;
    }
    prefer_large(array);
    // SAFETY: the bytes of elements that are not initialized may be written.
    let bytes: &mut [MaybeUninit<u8>] =
        unsafe { slice::from_raw_parts_mut(array.as_mut_ptr().cast(), size_of_val(array)) };
    bytes.par_chunks_mut(PAGE).for_each(|page| {
        page.iter_mut().step_by(SMALL_PAGE).for_each(|byte| {
            // The write must not be removed.
            black_box(byte.write(0));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placed_arrays_can_be_filled() {
        for len in [0, 5, (2 << 20) - 1, 3 << 20] {
            let mut array = Vec::<u32>::with_capacity(len);
            place(&mut array.spare_capacity_mut()[..len]);
            array.extend((0..len).map(|i| i as u32));
            assert!(array.iter().enumerate().all(|(i, &value)| value == i as u32), "{len}");
        }
    }

    #[test]
    fn arrays_of_all_lengths_keep_their_contents() {
        for len in [0, 1, (4 << 20) - 1, 4 << 20, (9 << 20) + 5] {
            let mut array = vec![7u8; len];
            let from = len.min(3);
            prefer_large(&mut array[from..]);
            assert!(array.iter().all(|&byte| byte == 7), "{len}");
        }
    }
}
