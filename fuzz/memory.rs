//! Measures the most memory that a computation holds at once, in all threads together.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
/// Whether bytes are counted: only during [`most_held`], so that the other tests of the program are
/// not slowed down.
static COUNTS: AtomicBool = AtomicBool::new(false);
/// Number of bytes that the heap holds, minus those that it held when counting began. The number of
/// held bytes is negative if `work` frees earlier memory.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// Runs `work`. Returns its result, and the most bytes that it held at once, in addition to the
/// bytes held before. No other computation may run meanwhile.
pub fn most_held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    HELD.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    let done = work();
    COUNTS.store(false, Relaxed);
    (done, MOST.load(Relaxed).unsigned_abs())
}

fn took(bytes: usize) {
    if COUNTS.load(Relaxed) {
        let held = HELD.fetch_add(bytes.cast_signed(), Relaxed) + bytes.cast_signed();
        MOST.fetch_max(held, Relaxed);
    }
}

fn gave(bytes: usize) {
    if COUNTS.load(Relaxed) {
        HELD.fetch_sub(bytes.cast_signed(), Relaxed);
    }
}

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc(layout) }
    }

    // The default implementation of this function would write zeros. The system clears memory only
    // when it is touched.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        gave(layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    // When memory grows, the old and the new memory are both counted, as if the bytes were always
    // copied.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        took(bytes);
        let moved = unsafe { System.realloc(place, layout, bytes) };
        gave(layout.size());
        moved
    }
}
