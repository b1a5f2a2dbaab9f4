//! Counts of operations on a device.
use super::{Device, Inner};
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of operations since the device was opened, including those of all its clones. The
/// difference between two readings is the number of operations in the calls between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Counters {
    /// Buffers created by the driver. A second product of the same size creates no buffers.
    pub buffers_created: u64,
    /// Buffers taken from the pool, new or reused. An execution of a plan takes no buffers.
    pub buffers_taken: u64,
    /// Commands enqueued: kernels, copies, fills.
    pub commands: u64,
    /// Kernels launched.
    pub launches: u64,
    /// Blocking reads from the device.
    pub read_backs: u64,
    /// Kernels compiled from source.
    pub kernels_compiled: u64,
    /// Kernels loaded from the cache of kernels.
    pub kernels_loaded: u64,
    /// Nanoseconds for which callers waited for kernels to be compiled or loaded. If several
    /// threads wait at the same time, the times of all are added.
    pub kernel_wait_ns: u64,
}

impl Device {
    /// Returns the numbers of operations on the device so far.
    pub fn counters(&self) -> Counters {
        let (buffers_created, buffers_taken) = self.inner.pool.counts();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (kernels_compiled, kernels_loaded) = self.inner.compiler.counts();
        let Inner { kernel_wait, commands, launches, read_backs, .. } = &*self.inner;
        Counters {
            buffers_created,
            buffers_taken,
            commands: count(commands),
            launches: count(launches),
            read_backs: count(read_backs),
            kernels_compiled,
            kernels_loaded,
            kernel_wait_ns: count(kernel_wait),
        }
    }
}
