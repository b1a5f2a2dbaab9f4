//! Pages of arrays of the host. A first write to a page of 4 KiB takes a microsecond and more,
//! which may be longer than all that is computed for it. So large arrays are in large pages, and
//! small ones in pages that have been written to before.
use std::{hint::black_box, sync::Once};

/// Bytes of a large page.
const PAGE: usize = 2 << 20;

/// Has the allocator keep what is freed of arrays that are too small for large pages. By default
/// glibc maps an array of 128 KiB, and gives the end of its heap back beyond as much; the first
/// array that it unmaps raises both limits, the second one to twice its size. This array is never
/// written to. Other allocators free it.
pub(crate) fn keep_small() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(black_box(Vec::<u8>::with_capacity(2 * PAGE))));
}

/// Asks the system to back a large array, to which nothing has been written yet, by large pages.
pub(crate) fn prefer_large<T>(array: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(array) >= 2 * PAGE {
        use rustix::mm::{Advice, madvise};
        let begin = array.as_mut_ptr().cast::<u8>();
        let before = begin.align_offset(PAGE);
        let bytes = (size_of_val(array) - before) / PAGE * PAGE;
        // SAFETY: the pages lie in the array; the advice changes no contents.
        let _slower_without = unsafe { madvise(begin.add(before).cast(), bytes, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = array;
}

#[cfg(test)]
mod tests {
    use super::*;

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
