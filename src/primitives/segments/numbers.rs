//! Numbers of segments that are scanned by any operator.
use crate::tuning::numbers;

/// Maximum number of elements of a piece: `RUN_PIECE` of `segmented_reduce.rs`. Smaller tiles would
/// often have no piece.
const PIECE: usize = 1024;

/// Most elements of a tile. In a group of several items a tile and the last piece, of 8 bytes each
/// and with a gap for every 32, fit 32 KiB of local memory.
const fn most_of_tile(group: usize) -> usize {
    if group == 1 { 1 << 20 } else { 4096 * 32 / 33 - PIECE }
}

numbers! {
    /// Numbers of scans of segments by any operator.
    pub(crate) struct SegmentNumbers |n| {
        /// Work-items of a work-group that scans a tile. An item without others scans it in place;
        /// several copy it to local memory.
        segment_scan_group: Groups(1, if n.segment_scan_tile > most_of_tile(2) { 1 } else { 512 }; segment_scan_tile),
        /// Elements in which the pieces of a tile begin.
        segment_scan_tile: All(PIECE, most_of_tile(n.segment_scan_group); segment_scan_group),
        /// Tiles of a wave. While a wave is scanned, the totals of the next are carried, and those
        /// of the one after it computed.
        segment_scan_wave: All(1, 1 << 20),
    }
}

// Two pieces of a long segment are in a tile. A work-group has few items, because an item takes
// long for a piece, and many tiles are then on a processor at once. One segment of 16.8 M doubles
// takes 0.60 ms on an H200 with these numbers, 0.66 in waves of 1024 tiles, 0.75 with groups of 64
// in a single wave, and 0.86 with groups of 64 in waves of 512.
const GPU: SegmentNumbers =
    SegmentNumbers { segment_scan_group: 128, segment_scan_tile: 2048, segment_scan_wave: 2048 };

// A wave of 2 MiB of doubles: one segment of 16.8 M takes 37 ms on two cores with PoCL, 51 in waves
// of 8 MiB, 42 in a single wave.
const CPU: SegmentNumbers = SegmentNumbers { segment_scan_group: 1, segment_scan_tile: 16_384, segment_scan_wave: 16 };
