//! Numbers of the Schur complement.
use crate::tuning::numbers;

numbers! {
    /// Numbers of the Schur complement.
    pub(crate) struct SchurNumbers |n| {
        /// Largest number of terms in a line (a row or column of Z) that one work-item adds, at
        /// most a piece of 1024. Each longer line gets a work-group.
        schur_short_line: All(1, 1024),
    }
}

// One work-item adds a term in about a microsecond and waits for memory most of this time. A
// work-group hides this latency.
const GPU: SchurNumbers = SchurNumbers { schur_short_line: 32 };

// A work-item reads its terms from the cache.
const CPU: SchurNumbers = SchurNumbers { schur_short_line: 1024 };

/// Number of work-items in a work-group that processes lines, or scalars of points. Each work-item
/// takes an element or a piece. The number is at least 32, the longest side of a block. On a CPU
/// one work-item processes this many lines or scalars.
pub(super) const GROUP: usize = 64;

/// Number of bytes of local memory in which the work-group of a long line holds its products. Every
/// device has at least twice as much local memory.
pub(super) const LINE_BYTES: usize = 16 << 10;

/// Side of the largest blocks that one work-item factors in registers. The triangle of a block of
/// side 6 has 21 numbers.
pub(super) const FACTOR_SIDE: usize = 6;

/// Number of bytes of local memory for the blocks that a work-group factors in registers, counted
/// as doubles. This is enough for work-groups of 64 blocks up to side 4, and of 32 blocks up to
/// side 6.
pub(super) const FACTOR_BYTES: usize = 10 << 10;
