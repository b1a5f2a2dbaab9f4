//! Numbers of lines that work-groups add up. On a CPU a work-group is one item.
use crate::tuning::numbers;

numbers! {
    /// Numbers of lines that work-groups add up.
    pub(crate) struct LineNumbers |n| {
        /// Number of products that a work-group holds in local memory while it adds up lines. If
        /// two tiles have more products, the work-group holds the products of two tiles.
        line_held: All(1, 2048),
        /// Number of terms of a line that a work-item reads from local memory before it adds them.
        line_together: All(1, 64),
        /// Entries of the longest line of scalars that an item adds by itself, if all tiles are
        /// resident on the device at once. Work-groups add lines of more entries by guesses
        /// (`cl/vector/guesses.cl`). If the number is 0, no line is added by guesses, not even a
        /// long line of blocks.
        guessed_line: All(0, 1 << 24),
        /// Number of elements of lines that a work-item loads before it multiplies them.
        line_ahead: All(1, 16),
        /// Maximum number of elements and rows in a tile of `csr-shared`, at most 1024.
        shared_line_elements: All(1, 1024),
    }
}

const GPU: LineNumbers = LineNumbers {
    line_held: 2048,
    // One item adds a row while its work-group waits: 1024 terms one by one, nine cycles for each
    // `f64`. If the next 8 terms are read while 8 terms are added, `email-Enron` takes 10.1 us. If
    // 16 terms are read at once and no terms are read ahead, it takes 10.6 us. Blocks of 6x6 take
    // equally long with 1, 3 or 6 terms at once.
    line_together: 8,
    // On an H100 `email-Enron` takes 8.6 us with 512, 8.7 to 9.7 us with 128 to 384, and 10.5 us if
    // no line is added by guesses. 1000 rows of 300 entries take 11 us with 256, and 7 us with 512.
    guessed_line: 512,
    line_ahead: 8,
    shared_line_elements: 512,
};

const CPU: LineNumbers = LineNumbers {
    line_held: 1024,
    line_together: 1,
    guessed_line: 0,
    // A core reorders loads itself.
    line_ahead: 1,
    shared_line_elements: 1024,
};

/// Number of work-items in a work-group that adds up lines, also if items share long rows of
/// scalars.
pub(super) const GROUP: usize = 128;

/// Number that replaces [`GROUP`] for matrices of scalars with some lines longer than a tile. On an
/// H200 `rmat18_e8` takes 21.0 us with this number and [`SKEWED_AHEAD`], and 21.9 us with the two
/// numbers for other matrices. The 27-point stencil, whose rows are all short, takes 103 us with
/// this number and [`SKEWED_AHEAD`], and 87 us with the two numbers for other matrices.
pub(super) const SKEWED_GROUP: usize = 256;

/// Maximum number of elements that an item loads before it multiplies them, if some lines are
/// longer than a tile, or if items share long rows.
pub(super) const SKEWED_AHEAD: usize = 4;

/// Maximum number of elements plus lines in a tile of lines that a work-group adds up. The number
/// is that of a piece of 1024 entries. Starting a work-group takes a small part of the time of a
/// tile.
pub(crate) const ELEMENTS: usize = 1024;

/// Maximum number of elements plus lines in a tile of packed blocks that work-items load by
/// themselves. A tile has 90 blocks of 6x6, of which an item loads two at once. On an H200
/// `pose6_100k` takes 39.2 us with 90 blocks, 40.0 us with 95 and 40.5 us with 100. With 100
/// blocks, loaded three at once, it takes 40.4 us.
pub(super) const DIRECT_ELEMENTS: usize = 3240;

/// Number of terms of a sum that an item loads before it adds them, if it loads packed blocks by
/// itself. Blocks with more than `DIRECT_TERMS` terms for a sum are loaded to local memory. Blocks
/// of 4x4 took 3 % longer with three blocks at once than with four.
pub(super) const DIRECT_TERMS: usize = 16;

/// Blocks have at most half as many rows as DIRECT_TERMS, and a work-group holds the terms of two
/// blocks for each item (`cl/vector/line_pieces.cl`): at most 16 KiB of floats.
const _: () = assert!(GROUP * DIRECT_TERMS <= 4096 && SKEWED_GROUP * DIRECT_TERMS <= 4096);

/// If a tile's longest line has at least `LIGHT` entries, tiles differ in weight, and tiles with
/// long lines come first. Shorter lines are added while the terms of other tiles are loaded.
pub(super) const LIGHT: usize = 64;
