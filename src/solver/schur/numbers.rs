//! Numbers of the Schur complement.
use crate::tuning::numbers;

numbers! {
    /// Numbers of the Schur complement.
    pub(crate) struct SchurNumbers |n| {
        /// Largest number of terms in a line (a row or column of Z) that one work-item adds, at
        /// most 1024. A work-group adds the terms of each longer line.
        schur_short_line: All(1, 1024),
    }
}

// A single work-item of a GPU takes about a microsecond to add a term, and waits for memory most of
// this time. A work-group loads many terms at once, which hides the latency of memory.
const GPU: SchurNumbers = SchurNumbers { schur_short_line: 32 };

// On a CPU a work-item reads its terms from the cache, so all lines are added by one work-item
// each.
const CPU: SchurNumbers = SchurNumbers { schur_short_line: 1024 };

/// Number of work-items in a work-group that processes lines, or scalars of points. Each work-item
/// takes an element or a piece. The number must be at least 32, the longest side of a block. On a
/// CPU one work-item processes this number of lines or scalars.
pub(super) const GROUP: usize = 64;

/// Number of bytes of local memory in which the work-group of a long line holds its products. Every
/// device has at least twice as much local memory.
pub(super) const LINE_BYTES: usize = 16 << 10;

/// Side of the largest blocks that one work-item factors in registers. The triangle of a block of
/// side 6 has 21 numbers, which fit the registers of a work-item.
pub(super) const FACTOR_SIDE: usize = 6;

/// Number of bytes of local memory for the blocks that a work-group factors in registers, counted
/// as doubles. 10 KiB are enough for work-groups of 64 blocks if sides are up to 4, and of 32
/// blocks if sides are up to 6.
pub(super) const FACTOR_BYTES: usize = 10 << 10;
