//! Host memory: refusing what does not fit before the system kills the process for it.
use crate::{Error, Result};

/// Bytes the host could still give, `None` where the system does not say.
pub(crate) fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Refuses `bytes` for `what` where the host has less.
pub(crate) fn check(what: &str, bytes: u64) -> Result<()> {
    match available() {
        Some(available) if available < bytes => {
            Err(Error::Memory { what: what.into(), needed: bytes, available, place: "host".into() })
        }
        _ => Ok(()),
    }
}
