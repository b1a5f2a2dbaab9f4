//! The heap of the command. If the system refuses a request, the process ends with a message and
//! the exit status for insufficient memory instead of an abort.
//!
//! The library checks large allocations that it can foresee, and its errors name their purpose.
//! This module handles the allocations that the library cannot foresee: limits that the system does
//! not show, and small requests.
use crate::failure::{LESS_MEMORY, MEMORY};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[global_allocator]
static HEAP: Heap = Heap;

struct Heap;

// SAFETY: all calls go to the system's allocator, and only addresses from it are returned.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.realloc(address, layout, size) }, size)
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(address, layout) }
    }
}

fn given(address: *mut u8, bytes: usize) -> *mut u8 {
    if address.is_null() {
        exhausted(bytes);
    }
    address
}

/// Prints a message without using the heap, removes unfinished files, and ends the process.
#[cold]
fn exhausted(bytes: usize) -> ! {
    thread_local!(static ENDS_IT: Cell<bool> = const { Cell::new(false) });
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDS_IT.replace(true) {
        leave(); // this function itself needed memory
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::sleep(Duration::from_secs(1)); // another thread ends the process
        }
    }
    let mut text = [0; 512];
    let mut rest = &mut text[..];
    // Clears the progress bar that may be on this line.
    let clear = if std::io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    let _ = writeln!(
        rest,
        "{clear}error: not enough memory on the host: the system refused {bytes} bytes more\nhint: {LESS_MEMORY}"
    );
    let unused = rest.len();
    let _ = std::io::stderr().write_all(&text[..text.len() - unused]);
    // A thread may be registering a file, and a file that is not registered yet does not exist yet.
    let none_begins_again = (0..100).find_map(|_| {
        let discarded = blockmul::io::try_discard_unfinished();
        if discarded.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        discarded
    });
    std::mem::forget(none_begins_again);
    leave()
}

/// Ends the process at once, because exit handlers of drivers may need memory.
fn leave() -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(MEMORY.into());
    #[cfg(not(unix))]
    std::process::exit(MEMORY.into());
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_that_is_refused_exits_with_4_and_leaves_nothing_half_written() {
        // More bytes than any address space has, but fewer than a vector itself refuses.
        const MUCH: usize = 1 << 60;
        let stderr = crate::failure::in_another_process(
            "heap::tests::memory_that_is_refused_exits_with_4_and_leaves_nothing_half_written",
            4,
            |place| {
                let written = blockmul::io::write_whole(place, |writer| {
                    writer.write_all(b"half")?;
                    writer.write_all(&vec![0; MUCH])
                });
                unreachable!("{written:?}");
            },
        );
        let refused = format!("error: not enough memory on the host: the system refused {MUCH} bytes");
        assert!(stderr.contains(&refused), "{stderr}");
    }
}
