//! Counts device memory.
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Counts the bytes in use now, their maximum so far, and the maximum of the bytes in use and kept
/// by the pool together.
#[derive(Default)]
pub(crate) struct Meter {
    used: AtomicU64,
    most_used: AtomicU64,
    peak: AtomicU64,
}

impl Meter {
    /// Counts `bytes` more bytes as in use, while the pool keeps `kept` bytes.
    pub(super) fn add(&self, bytes: u64, kept: u64) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.most_used.fetch_max(used, Relaxed);
        self.peak.fetch_max(used + kept, Relaxed);
    }

    pub(super) fn sub(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    pub(in crate::device) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    pub(in crate::device) fn most_used(&self) -> u64 {
        self.most_used.load(Relaxed)
    }

    pub(in crate::device) fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

/// The meter that counts the allocated memory, and its limit.
#[derive(Clone, Copy)]
pub(in crate::device) struct Budget<'a> {
    pub(in crate::device) meter: &'a Arc<Meter>,
    pub(in crate::device) limit: u64,
}

impl Budget<'_> {
    /// Number of bytes that the pool may keep if `bytes` further bytes come into use.
    pub(super) fn room_for(&self, bytes: u64) -> u64 {
        self.limit.saturating_sub(self.meter.used().saturating_add(bytes))
    }
}
