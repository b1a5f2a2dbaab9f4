//! Numbers of scans.
use crate::tuning::{least_of_tile, most_of, numbers};

/// Most words in a scan's tile. A CPU keeps the words of a whole work-group on the stack of a
/// thread: 2 MiB if they have 64 bits. PoCL's threads have stacks of 8 MiB, and exceeding this size
/// ends the process.
const SCANNED: usize = 1 << 18;

numbers! {
    /// Numbers of scans.
    pub(crate) struct ScanNumbers |n| {
        /// Work-items of a work-group of a scan. Each item has seven words of local memory in
        /// `cl/product/esc/analysis.cl`, and the words of all items fit 32 KiB.
        scan_group_size: Groups(least_of_tile(n.scan_items), most_of(SCANNED, n.scan_items, 512); scan_items),
        /// Consecutive values that one work-item of a scan adds up.
        scan_items: All(
            least_of_tile(n.scan_group_size), most_of(SCANNED, n.scan_group_size, 1 << 16); scan_group_size
        ),
        /// If a scan has at most `scan_direct_tiles` tiles, each tile adds up the sums of the tiles
        /// before it.
        scan_direct_tiles: All(1, 1 << 20),
    }
}

const GPU: ScanNumbers = ScanNumbers {
    scan_group_size: 256,
    scan_items: 8,
    // 4096 tiles read 8 M partial sums. If the partial sums are cached, reading them takes as long
    // as a launch.
    scan_direct_tiles: 4096,
};

// One item takes many values, because kernels without barriers compile and run faster. A second
// level of tiles saves no time.
const CPU: ScanNumbers = ScanNumbers { scan_group_size: 1, scan_items: 4096, scan_direct_tiles: 64 };
