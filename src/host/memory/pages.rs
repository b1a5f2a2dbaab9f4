//! Large pages for arrays of the host.

/// Bytes of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Asks the system to back a large array, to which nothing has been written yet, by large pages: a
/// first write to each page of 4 KiB may take longer than all that is computed for it.
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
