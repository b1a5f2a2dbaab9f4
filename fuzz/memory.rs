//! The most memory that a piece of work holds at once, of all threads together.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
/// Whether bytes are counted: only during [`most_held`], so the other tests of the program pay
/// nothing.
static COUNTS: AtomicBool = AtomicBool::new(false);
/// Bytes held above those held when counting began; negative if `work` frees earlier memory.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// Runs `work` and returns the bytes that it held at its peak, above those held before. Nothing
/// else may run meanwhile.
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

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc(layout) }
    }

    // The default would write the zeros. The system clears memory only when it is touched.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        gave(layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    // The old place and the new one count together, as if the bytes were always copied.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        took(bytes);
        let moved = unsafe { System.realloc(place, layout, bytes) };
        gave(layout.size());
        moved
    }
}
