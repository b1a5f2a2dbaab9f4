//! The bands in which the host computes a product: pure functions of sizes.
use crate::{DeviceInfo, device::pool_bytes, product::terms::BandConsumer};

/// The device memory of the arrays of C.
pub(in crate::product) struct HostMemory {
    entry_bytes: u64,
    consumer: BandConsumer,
    max_alloc_bytes: u64,
}

impl HostMemory {
    /// The memory of a C whose entries are `entry_bytes` bytes apart.
    pub fn new(info: &DeviceInfo, entry_bytes: usize, consumer: BandConsumer) -> Self {
        Self { entry_bytes: entry_bytes as u64, consumer, max_alloc_bytes: info.max_alloc_bytes }
    }

    /// Device memory of `columns` columns with `entries` entries.
    pub fn need(&self, columns: u64, entries: u64) -> u64 {
        let arrays = [4 * (columns + 1), 4 * entries, self.entry_bytes.saturating_mul(entries)];
        arrays.into_iter().map(pool_bytes).fold(0, u64::saturating_add) + self.consumer.peak(entries, columns)
    }

    /// Whether `columns` columns with `entries` entries fit `free` bytes.
    pub fn fits(&self, columns: u64, entries: u64, free: u64) -> bool {
        let largest = pool_bytes(self.entry_bytes.max(4).saturating_mul(entries));
        // Offsets in a band have 32 bits.
        let fits = largest <= self.max_alloc_bytes && self.need(columns, entries) <= free;
        fits && entries < 1 << 31 && self.consumer.admits(columns)
    }

    /// Number of columns in the next band. `col_ptr` says where the remaining columns begin and
    /// end. The band has as many columns as fit `free` bytes, and at least one if any remain.
    pub fn band(&self, col_ptr: &[u64], free: u64) -> usize {
        let columns = col_ptr.len() - 1;
        let fits = |columns: &usize| self.fits(*columns as u64, col_ptr[*columns] - col_ptr[0], free);
        let all = columns > 0 && fits(&columns);
        if all { columns } else { (1..columns).take_while(fits).count().max(1).min(columns) }
    }
}
