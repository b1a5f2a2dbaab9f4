//! Numbers of segments that are scanned by any operator.
use crate::tuning::numbers;

/// Maximum number of elements of a piece: `RUN_PIECE` of `segmented_reduce.rs`. Tiles of fewer
/// elements than a piece would often have no piece.
const PIECE: usize = 1024;

/// Most elements of a tile. In a group of several items, the values of a tile and of its last piece
/// fit 32 KiB of local memory. A value has 8 bytes, and a gap follows every 32 values.
const fn most_of_tile(group: usize) -> usize {
    if group == 1 { 1 << 20 } else { 4096 * 32 / 33 - PIECE }
}

numbers! {
    /// Numbers of scans of segments by any operator.
    pub(crate) struct SegmentNumbers |n| {
        /// Work-items of a work-group that scans a tile. A single item scans the tile in place;
        /// several items copy it to local memory.
        segment_scan_group: Groups(1, if n.segment_scan_tile > most_of_tile(2) { 1 } else { 512 }; segment_scan_tile),
        /// Number of elements among which the pieces of a tile begin.
        segment_scan_tile: All(PIECE, most_of_tile(n.segment_scan_group); segment_scan_group),
        /// Number of tiles in a wave. While a wave is scanned, the totals of the next wave are
        /// carried, and the totals of the wave after that are computed.
        segment_scan_wave: All(1, 1 << 20),
    }
}

// A tile contains two pieces of a long segment. A work-group has few items, because an item takes
// long for a piece; many tiles are then on a processor at once. On an H200 one segment of 16.8 M
// doubles takes 0.60 ms with these numbers, 0.66 ms in waves of 1024 tiles, 0.75 ms with groups of
// 64 items in a single wave, and 0.86 ms with groups of 64 items in waves of 512 tiles.
const GPU: SegmentNumbers =
    SegmentNumbers { segment_scan_group: 128, segment_scan_tile: 2048, segment_scan_wave: 2048 };

// A wave has 2 MiB of doubles. On two cores with PoCL one segment of 16.8 M doubles takes 37 ms in
// such waves, 51 ms in waves of 8 MiB, and 42 ms in a single wave.
const CPU: SegmentNumbers = SegmentNumbers { segment_scan_group: 1, segment_scan_tile: 16_384, segment_scan_wave: 16 };
