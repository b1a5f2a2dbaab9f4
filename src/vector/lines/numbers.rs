//! Numbers of lines that work-groups add up. On a CPU the group of a line is one item.
use crate::tuning::numbers;

numbers! {
    /// Numbers of lines that work-groups add up.
    pub(crate) struct LineNumbers |n| {
        /// Products that a work-group holds in local memory while it adds up lines. If two tiles
        /// have more products, it holds those.
        line_held: All(1, 2048),
        /// Terms of a line that a work-item reads from local memory before it adds them.
        line_together: All(1, 64),
        /// Entries of the longest line of scalars that an item adds by itself, if a device has room
        /// for all tiles at once. Groups add longer ones by guesses (`cl/vector/guesses.cl`). With
        /// 0 no line is added by guesses, not even long lines of blocks.
        guessed_line: All(0, 1 << 24),
        /// Elements of lines that a work-item loads before it multiplies them.
        line_ahead: All(1, 16),
        /// Most elements and rows in a tile of `csr-shared`, at most 1024.
        shared_line_elements: All(1, 1024),
    }
}

const GPU: LineNumbers = LineNumbers {
    line_held: 2048,
    // One item adds a row while its group waits: 1024 terms one by one, nine cycles for each `f64`.
    // If the next 8 are read in the meantime, `email-Enron` takes 10.1 us; with 16 at once and none
    // ahead 10.6. Blocks of 6x6 take equally long with one, 3 or 6 at once.
    line_together: 8,
    // `email-Enron` takes 8.6 us on an H100, if items add alone 10.5, with 128 to 384 8.7 to 9.7.
    // With 256, 1000 rows of 300 take 11 us, not 7.
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

/// Work-items of a group that adds up lines, also if items share long rows of scalars.
pub(super) const GROUP: usize = 128;

/// Replaces [`GROUP`] for matrices of scalars with some lines longer than a tile. `rmat18_e8` takes
/// 21.0 us on an H200 with this and the next number, 21.9 with those of other matrices. The
/// 27-point stencil, whose rows are all short, takes 103 us with these, not 87.
pub(super) const SKEWED_GROUP: usize = 256;

/// Most elements that an item loads before it multiplies them, if some lines are longer than a tile
/// or if items share long rows.
pub(super) const SKEWED_AHEAD: usize = 4;

/// Most elements and lines in a tile of lines that a work-group adds up: a piece of 1024 entries.
/// Starting a group is a small part of its work.
pub(crate) const ELEMENTS: usize = 1024;

/// Most elements and lines in a tile of packed blocks that work-items load by themselves: 90 blocks
/// of 6x6, loaded two at once. `pose6_100k` takes 39.2 us on an H200, with 95 blocks 40.0, with 100
/// 40.5, with 100 and three at once 40.4.
pub(super) const DIRECT_ELEMENTS: usize = 3240;

/// Terms of a sum that an item loads before it adds them, if it loads packed blocks by itself.
/// Blocks with more terms are loaded to local memory. For 4x4, three blocks at once took 3 % longer
/// than four.
pub(super) const DIRECT_TERMS: usize = 16;

/// Blocks have at most half as many rows as such terms, and a group holds the terms of two blocks
/// for each item (`cl/vector/line_pieces.cl`): at most 16 KiB of floats.
const _: () = assert!(GROUP * DIRECT_TERMS <= 4096 && SKEWED_GROUP * DIRECT_TERMS <= 4096);

/// If a tile's longest line has at least this many entries, tiles differ in weight, and those with
/// long lines come first. Shorter lines are added while the terms of other tiles are loaded.
pub(super) const LIGHT: usize = 64;
