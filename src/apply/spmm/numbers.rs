//! Numbers of products of a sparse and a dense matrix.
use crate::tuning::numbers;

/// Most elements of a tile that a work-group copies. Elements of the widest type fit 32 KiB of
/// local memory.
const COPIED: usize = 4096;

numbers! {
    /// Numbers of products of a sparse and a dense matrix.
    pub(crate) struct DenseNumbers |n| {
        /// Work-items of a work-group.
        dense_group: Groups(1, 128),
        /// Most work-items of a work-group that share the columns of a line (lanes).
        dense_lanes: Groups(1, n.dense_group; dense_group),
        /// If an average line has at least `dense_common` entries, lines have many rows of the
        /// dense matrix in common. The first-level cache holds these rows if fewer columns are
        /// multiplied at once, so `dense_common_lanes` is then the number of lanes.
        dense_common: All(1, 1 << 20),
        /// Number of lanes for lines of at least `dense_common` entries.
        dense_common_lanes: Groups(if n.dense_lanes > 1 { 2 } else { 1 }, n.dense_lanes; dense_lanes),
        /// Bytes of neighbouring columns (a vector) that a work-item loads at once, at most 16
        /// elements.
        dense_vector_bytes: PowersOfTwo(1, 128),
        /// Most vectors that a work-item holds.
        dense_vectors: PowersOfTwo(1, 4),
        /// Number of rows of the dense matrix that an item loads before it adds their terms.
        dense_ahead: All(1, 8),
        /// Number of rows of the dense matrix that an item loads before it adds their terms, in a
        /// piece of a long line.
        dense_long_ahead: All(1, 64),
        /// A line of at most `dense_long` entries is not long, even if an average line has few
        /// entries. Long lines are cut into pieces of 1024 entries, which are computed first. A
        /// line of more than 1024 entries is always long.
        dense_long: All(1, 1 << 24),
        /// A line with at most `dense_long_average` times the entries of an average line is not
        /// long.
        dense_long_average: All(1, 1 << 10),
        /// On a CPU, most entries plus lines in a tile, which a work-item computes. On other
        /// devices, most lines in a tile, which a work-group computes.
        dense_tile: All(1, 1 << 24),
        /// Most entries plus lines in a tile, for matrices of blocks. The number replaces
        /// `dense_tile` for matrices of blocks.
        dense_block_tile: All(1, 1 << 24),
        /// Number of lines of a group in grouped coordinates (GCOO): p of Shi, Wang and Chu (2020).
        dense_group_lines: All(1, 32),
        /// Number of entries that a work-item places in GCOO groups one after another.
        dense_placed: All(1, 1 << 16),
        /// Number of rows of the dense matrix that an item loads before it adds their terms to the
        /// sums of a GCOO group.
        dense_group_ahead: All(1, 16),
        /// Most entries of a GCOO group that are staged in local memory at once, if they fit: b of
        /// the paper. On a GPU the number also bounds the staged entries of a single line.
        dense_staged: All(1, 1024),
        /// Rows in a tile of a dense matrix that a work-group copies from column order to row
        /// order.
        dense_copied_rows: All(
            1, if n.dense_lanes > 1 { COPIED / COPIED_COLS - 1 } else { 1 << 16 }; dense_lanes
        ),
        /// Bytes of the dense matrix that a device's cache keeps while other data are read.
        dense_cache_bytes: All(1, 1 << 40),
        /// A dense matrix of at least `dense_past_bytes` bytes is written past the caches of a CPU,
        /// by whole cache lines.
        dense_past_bytes: All(1, 1 << 40),
        /// GCOO groups are used if there are at least `dense_reuse_percent` entries for each 100
        /// rows of the dense matrix that they load.
        dense_reuse_percent: All(1, 1 << 30),
    }
}

const GPU: DenseNumbers = DenseNumbers {
    // A work-group has four warps. With fewer than four warps in a work-group, a multiprocessor
    // reaches its limit of work-groups before its limit of warps.
    dense_group: 128,
    dense_lanes: 32,
    // With 128 columns the 27-point stencil of 100^3 takes 2.0 ms with 16 lanes and 3.2 ms with 32.
    // Finite elements take 0.42 ms with 16 lanes and 0.66 ms with 32. Matrices with 8 entries in
    // each row take the same time with 16 and with 32 lanes. `rmat17` takes 0.22 ms with 16 lanes
    // and 0.17 ms with 32.
    dense_common: 16,
    dense_common_lanes: 16,
    // A single instruction loads at most 16 bytes.
    dense_vector_bytes: 16,
    dense_vectors: 2,
    // The loads of an item and the other warps of a multiprocessor hide latency. The more registers
    // an item needs, the fewer warps are resident. If rows have fewer entries than `dense_ahead`,
    // an item loads fewer entries ahead: rows of 5 entries take 0.94 ms with 4 entries ahead and
    // 1.41 ms with 8.
    dense_ahead: 8,
    // A piece of 1024 entries takes 64 rounds. Pieces share a kernel with tiles, so tiles become
    // slower if pieces need more registers than tiles. With 32 columns and 16 rows ahead,
    // `rmat18_e8` takes 84 us in floats and 124 us in doubles. With 32 rows ahead `rmat18_e8` takes
    // 93 us in floats and 172 us in doubles.
    dense_long_ahead: 16,
    // The slots of a warp take as long as the longest of their lines.
    dense_long: 64,
    dense_long_average: 4,
    dense_tile: 32,
    // A slot has one or two rows of blocks, so that matrices of few long rows fill the device.
    dense_block_tile: 8,
    dense_group_lines: 4,
    dense_placed: 1,
    dense_group_ahead: 4,
    dense_staged: 32,
    // A column of a tile has several cache lines, so that few pages are in use at once. A row has
    // at least one cache line.
    dense_copied_rows: 64,
    // 25 MiB are half of the L2 cache of an H200. OpenCL reports the size of all L1 caches, but not
    // of the L2 cache.
    dense_cache_bytes: 25 << 20,
    dense_past_bytes: 8 << 20,
    // Single rows with staged entries were faster than groups on every matrix. With 32 columns
    // single rows were 1.3 to 2 times as fast as groups. The finite elements `fem200k_60` take 0.23
    // ms by rows and 0.45 ms by groups in doubles, and 0.12 ms by rows and 0.23 ms by groups in
    // floats.
    dense_reuse_percent: 1 << 20,
};

const CPU: DenseNumbers = DenseNumbers {
    // An item takes all columns, in vectors of 16 doubles. Each vector is two AVX-512 registers.
    dense_group: 1,
    dense_lanes: 1,
    dense_common: 1 << 20,
    dense_common_lanes: 1,
    dense_vector_bytes: 128,
    dense_vectors: 2,
    dense_ahead: 1,
    dense_long_ahead: 1,
    // A line does not delay other lines, unless it is longer than a piece.
    dense_long: 1024,
    dense_long_average: 1,
    dense_tile: 1 << 15,
    dense_block_tile: 1 << 15,
    dense_group_lines: 4,
    // An item advances in the other lines of a group from one entry to the next. The placement
    // takes 2.7 to 9 times as long with one entry for each item, and 1.1 to 1.8 times as long with
    // 1024, as with 64.
    dense_placed: 64,
    dense_group_ahead: 1,
    dense_staged: 32,
    // A million rows of 32 doubles take 10 ms with 512 rows in a tile, and 15 ms with 64.
    dense_copied_rows: 512,
    // One item takes all columns, so the cache does not matter.
    dense_cache_bytes: 1,
    // If D is copied by rows and C by columns, writing past the caches saves 7 % of the time for
    // matrices of 10 MB each, and 45 % for matrices of 40 MB. Matrices of 2.5 MB stay in the
    // caches.
    dense_past_bytes: 8 << 20,
    // Caches keep the rows of neighbouring lines, so groups are used only if requested.
    dense_reuse_percent: 1 << 20,
};

/// Columns in a tile of a dense matrix that a work-group copies from column order to row order.
pub(super) const COPIED_COLS: usize = 32;

/// Most lines of a block that an item adds at once.
pub(super) const HELD_LINES: usize = 6;

/// When groups are made from a dense matrix, a work-item visits `CHUNK` elements of each line in a
/// GCOO group. The items of a work-group share lines of more than `CHUNK` elements if the lines are
/// stored one after another.
pub(super) const CHUNK: usize = 64;

/// Number of neighbouring rows whose sums a work-item of a CPU keeps before it writes them by
/// columns. For doubles, 64 rows are eight cache lines of each column, and the sums of 32 columns
/// take 16 KB.
pub(super) const KEPT_ROWS: usize = 64;

/// Bytes of local memory for the sums of a work-group that writes by columns, on devices other than
/// CPUs. Every device has 32 KiB of local memory; the entries that slots stage take the rest.
pub(super) const SUM_BYTES: usize = 20 << 10;
