//! Checks whether results can go to stdout. A shell can close stdout with `>&-`. If stdout is
//! closed, Rust's runtime opens /dev/null in its place before `main`, and results would be lost
//! without an error.
use std::io;

/// Refuses stdout if it was closed, or open only for reading, when the process was started.
///
/// # Errors
/// An error that says that stdout was closed, or open only for reading.
pub fn check() -> io::Result<()> {
    match at_start::was_closed() {
        true => Err(io::Error::other("it is closed, and the result would be lost; `> FILE` keeps it")),
        false => Ok(()),
    }
}

#[cfg(unix)]
mod at_start {
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    pub fn was_closed() -> bool {
        CLOSED.load(Relaxed)
    }

    // SAFETY: the section has the functions that the system calls before `main`, on one thread.
    // This function makes a system call and sets a number, and needs nothing of the runtime.
    #[used]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static BEFORE_MAIN: extern "C" fn() = look;

    extern "C" fn look() {
        let flags = fcntl_getfl(rustix::stdio::stdout());
        CLOSED.store(!flags.is_ok_and(|flags| flags & OFlags::RWMODE != OFlags::RDONLY), Relaxed);
    }
}

#[cfg(not(unix))]
mod at_start {
    pub fn was_closed() -> bool {
        false
    }
}
