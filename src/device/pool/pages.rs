//! Allocates memory of CPU devices in pages of 2 MiB.
//!
//! OpenCL runtimes for CPUs allocate memory in pages of 4 KiB. Scattered reads then wait for
//! address translation, and touching a page for the first time costs as much as reading it many
//! times. So large buffers use memory that this module maps, with a request for large pages. The
//! OpenCL runtime uses the mapped memory in place, and releases it when the last command that uses
//! it has ended.
use opencl3::{
    memory::{self as cl, CL_MEM_READ_WRITE},
    types::{cl_context, cl_mem},
};
#[cfg(target_os = "linux")]
use {
    opencl3::memory::CL_MEM_USE_HOST_PTR,
    rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap},
    std::ffi::c_void,
};

/// Number of bytes of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Smallest buffer in large pages, in bytes. At most half of a buffer's memory is wasted.
#[cfg(target_os = "linux")]
const LEAST: usize = 2 * PAGE;

/// Creates a buffer of a CPU device, in large pages if it is large enough and the system provides
/// them.
pub(super) fn create(context: cl_context, bytes: usize) -> Result<cl_mem, i32> {
    #[cfg(target_os = "linux")]
    if bytes >= LEAST
        && let Some(raw) = Region::new(bytes).and_then(|region| region.into_buffer(context, bytes))
    {
        return Ok(raw);
    }
    plain(context, bytes)
}

/// Creates a buffer in memory that the runtime allocates.
pub(super) fn plain(context: cl_context, bytes: usize) -> Result<cl_mem, i32> {
    // SAFETY: the context outlives the pool (both live in the device); no host pointer is given.
    unsafe { cl::create_buffer(context, CL_MEM_READ_WRITE, bytes, std::ptr::null_mut()) }
}

/// Pages of the process, unmapped when it is dropped.
#[cfg(target_os = "linux")]
struct Region {
    base: *mut c_void,
    len: usize,
}

#[cfg(target_os = "linux")]
impl Region {
    /// Maps memory for `bytes` bytes, from the start of a large page, or returns `None` if the
    /// system has no large pages.
    fn new(bytes: usize) -> Option<Self> {
        let pages = bytes.checked_next_multiple_of(PAGE)?;
        let len = pages.checked_add(PAGE)?;
        // SAFETY: this is a new mapping at an address that the system chooses.
        let base =
            unsafe { mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        let region = Self { base: base.ok()?, len };
        // SAFETY: the range is part of the mapping; the advice changes no contents.
        unsafe { madvise(region.begin(), pages, Advice::LinuxHugepage) }.ok()?;
        Some(region)
    }

    /// The start of the first large page.
    fn begin(&self) -> *mut c_void {
        self.base.map_addr(|address| address.next_multiple_of(PAGE))
    }

    /// Makes a buffer that keeps the region alive as long as the buffer is in use.
    fn into_buffer(self, context: cl_context, bytes: usize) -> Option<cl_mem> {
        // SAFETY: the memory has `bytes` bytes and lives until the buffer is destroyed.
        let raw =
            unsafe { cl::create_buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, self.begin()) }.ok()?;
        let region = Box::into_raw(Box::new(self));
        // SAFETY: the callback runs once, and gets the region.
        match unsafe { cl::set_mem_object_destructor_callback(raw, unmap, region.cast()) } {
            Ok(()) => Some(raw),
            Err(_) => {
                // SAFETY: the buffer is new, so no command uses it. Nothing else refers to the
                // region, which stays mapped if the buffer stays.
                unsafe {
                    if cl::release_mem_object(raw).is_ok() {
                        drop(Box::from_raw(region));
                    }
                }
                None
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this region, and no buffer uses it any more. If unmapping
        // fails, the memory stays mapped.
        let _ = unsafe { munmap(self.base, self.len) };
    }
}

/// Called by the runtime after it has destroyed the buffer.
#[cfg(target_os = "linux")]
extern "C" fn unmap(_: cl_mem, region: *mut c_void) {
    // SAFETY: `into_buffer` made the pointer from a box, for this call only.
    drop(unsafe { Box::from_raw(region.cast::<Region>()) });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Result, device::Work, device::test_device};

    /// Whether the mapping of an address has requested large pages (`hg` among its flags).
    fn is_advised(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut has_address = false;
        for line in maps.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let ends = range.map(|(begin, end)| [begin, end].map(|end| usize::from_str_radix(end, 16)));
            match (ends, line.strip_prefix("VmFlags:")) {
                (Some([Ok(begin), Ok(end)]), _) => has_address = (begin..end).contains(&address),
                (_, Some(flags)) if has_address => return flags.split_whitespace().any(|flag| flag == "hg"),
                _ => {}
            }
        }
        false
    }

    #[test]
    fn regions_begin_with_a_page_and_ask_for_large_ones() {
        let region = Region::new(LEAST + 1).unwrap();
        let begin = region.begin().addr();
        assert_eq!(begin % PAGE, 0);
        assert!(begin + LEAST + PAGE <= region.base.addr() + region.len);
        assert!(is_advised(begin) && is_advised(begin + LEAST));
    }

    #[test]
    fn large_buffers_hold_what_is_written() -> Result<()> {
        let work = Work::new(&test_device(), None);
        let numbers: Vec<u32> = (0..2 * LEAST as u32 / 4 + 5).collect();
        for _ in 0..3 {
            assert_eq!(work.upload(&numbers)?.download(&work)?, numbers);
        }
        Ok(())
    }
}
