//! The host's memory. Requests that do not fit are refused before the system kills the process.
mod control_groups;
mod pages;
mod prefetch;

pub(crate) use pages::{keep_small, place, prefer_large};
pub(crate) use prefetch::prefetch;

use crate::{Error, Result};
use std::path::Path;

/// Number of bytes of host memory that are still available, or `None` if the system does not report
/// it. The result is the least of three numbers: the free memory of the machine, what a control
/// group of the process (such as a container) allows, and what is left of the address space.
pub(crate) fn available() -> Option<u64> {
    #[cfg(test)]
    if let Some(limit) = tests::LIMIT.get() {
        return Some(limit);
    }
    let free = std::fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(free);
    let left = std::fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|groups| control_groups::left(&groups, Path::new("/sys/fs/cgroup")));
    free.into_iter().chain(left).chain(address_space()).min()
}

/// Number of bytes that are left of the process's address space, or `None` if it has no limit.
fn address_space() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
        let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(pages.saturating_mul(rustix::param::page_size() as u64)))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Number of bytes that are available without swapping, from the text of `/proc/meminfo`.
fn free(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Refuses `bytes` bytes for `what` with [`Error::Memory`] if the host has less memory available.
///
/// The system counts memory as used when it is first written, not when it is allocated. So the
/// caller passes the sum of the sizes of arrays that are filled together.
pub fn check(what: &str, bytes: u64) -> Result<()> {
    match available() {
        Some(available) if available < bytes => {
            Err(Error::Memory { what: what.into(), needed: bytes, available, place: "host".into() })
        }
        _ => Ok(()),
    }
}

/// Like [`check`], for large requests only, because asking the system takes some microseconds.
pub(crate) fn check_large(what: impl FnOnce() -> String, bytes: u64) -> Result<()> {
    const LARGE: u64 = 1 << 26;
    if bytes > LARGE { check(&what(), bytes) } else { Ok(()) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        pub(super) static LIMIT: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Runs `work` on a simulated host that always has `bytes` bytes available.
    pub(crate) fn with_available<R>(bytes: u64, work: impl FnOnce() -> R) -> R {
        LIMIT.set(Some(bytes));
        let done = work();
        LIMIT.set(None);
        done
    }

    #[test]
    fn free_memory_is_what_the_system_calls_available() {
        let text = "MemTotal:       24088888 kB\nMemFree:         1000 kB\nMemAvailable:   2000 kB\n";
        assert_eq!(free(text), Some(2000 * 1024));
        for text in ["", "MemFree: 1000 kB\n", "MemAvailable:\n", "MemAvailable: 99999999999999999999 kB\n"] {
            assert_eq!(free(text), None, "{text:?}");
        }
    }
}
