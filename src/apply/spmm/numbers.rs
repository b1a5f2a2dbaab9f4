//! Numbers of products of a sparse and a dense matrix.
use crate::tuning::numbers;

/// Most elements of a tile that a group copies. Elements of the widest type fit 32 KiB of local
/// memory.
const COPIED: usize = 4096;

numbers! {
    /// Numbers of products of a sparse and a dense matrix.
    pub(crate) struct DenseNumbers |n| {
        /// Work-items of a work-group.
        dense_group: Groups(1, 128),
        /// Most work-items of such a group that share the columns of a line (lanes).
        dense_lanes: Groups(1, n.dense_group; dense_group),
        /// If an average line has at least this many entries, lines have many rows of the dense
        /// matrix in common. The first-level cache holds these rows if fewer columns are multiplied
        /// at once.
        dense_common: All(1, 1 << 20),
        /// Number of lanes for lines of at least `dense_common` entries.
        dense_common_lanes: Groups(if n.dense_lanes > 1 { 2 } else { 1 }, n.dense_lanes; dense_lanes),
        /// Bytes of neighbouring columns (a vector) that a work-item loads at once, at most 16
        /// elements.
        dense_vector_bytes: PowersOfTwo(1, 128),
        /// Most vectors that a work-item holds.
        dense_vectors: PowersOfTwo(1, 4),
        /// Rows of the dense matrix that an item loads before it adds their terms.
        dense_ahead: All(1, 8),
        /// Rows of the dense matrix that an item loads before it adds their terms in a piece of a
        /// long line.
        dense_long_ahead: All(1, 64),
        /// Most entries of a line that is not long, if an average line has few. Long lines are cut
        /// in pieces of 1024 entries, which are computed first. A line of more than 1024 is always
        /// long.
        dense_long: All(1, 1 << 24),
        /// A line with at most this many times the entries of an average line is not long.
        dense_long_average: All(1, 1 << 10),
        /// On a CPU, entries and lines that a work-item takes one after another; on other devices,
        /// lines that a work-group takes one after another.
        dense_tile: All(1, 1 << 24),
        /// Entries and lines of blocks that the items of a line take one after another.
        dense_block_tile: All(1, 1 << 24),
        /// Lines of a group of grouped coordinates (GCOO): p of Shi, Wang and Chu (2020).
        dense_group_lines: All(1, 32),
        /// Entries that a work-item places in GCOO groups one after another.
        dense_placed: All(1, 1 << 16),
        /// Rows of the dense matrix that an item loads before it adds their terms to the sums of a
        /// GCOO group.
        dense_group_ahead: All(1, 16),
        /// Most entries of a GCOO group that are staged in local memory at once, if they fit: b of
        /// the paper. On a GPU it also bounds the staged entries of a single line.
        dense_staged: All(1, 1024),
        /// Rows in a tile of a dense matrix that a work-group copies from columns to rows.
        dense_copied_rows: All(
            1, if n.dense_lanes > 1 { COPIED / COPIED_COLS - 1 } else { 1 << 16 }; dense_lanes
        ),
        /// Bytes of the dense matrix that a device's cache keeps while other data pass through it.
        dense_cache_bytes: All(1, 1 << 40),
        /// A dense matrix of at least this many bytes is written past the caches of a CPU, in whole
        /// cache lines.
        dense_past_bytes: All(1, 1 << 40),
        /// Groups are used if there are at least this many entries for each 100 rows of the dense
        /// matrix that groups load.
        dense_reuse_percent: All(1, 1 << 30),
    }
}

const GPU: DenseNumbers = DenseNumbers {
    // Four warps. With fewer, a multiprocessor reaches its limit of groups before that of warps.
    dense_group: 128,
    dense_lanes: 32,
    // With 128 columns the 27-point stencil of 100^3 takes 2.0 ms with this number, 3.2 with 32
    // lanes; finite elements 0.42, not 0.66. Matrices of 8 entries a row take equally long, and
    // `rmat17` takes 0.22, not 0.17.
    dense_common: 16,
    dense_common_lanes: 16,
    // The longest load that one instruction can do.
    dense_vector_bytes: 16,
    dense_vectors: 2,
    // Latency is hidden by the loads of an item and by the warps of a multiprocessor, which are
    // fewer if items need more registers. Shorter rows load fewer ahead: those of 5 entries take
    // 0.94 ms with 4 at once, 1.41 with 8.
    dense_ahead: 8,
    // A piece of 1024 takes 64 rounds. Pieces share a kernel with tiles, which become slower if it
    // needs more registers. With 32 columns `rmat18_e8` takes 84 us in floats and 124 in doubles,
    // with 32 ahead 93 and 172.
    dense_long_ahead: 16,
    // The slots of a warp run as long as the longest of their lines.
    dense_long: 64,
    dense_long_average: 4,
    dense_tile: 32,
    // A slot has one or two rows of blocks, so that matrices of few long rows fill the device.
    dense_block_tile: 8,
    dense_group_lines: 4,
    dense_placed: 1,
    dense_group_ahead: 4,
    dense_staged: 32,
    // A column of a tile is several cache lines, so that few pages are in use at once. A row is at
    // least one cache line.
    dense_copied_rows: 64,
    // Half of the L2 cache of an H200. OpenCL does not report its size; it reports that of all L1
    // caches.
    dense_cache_bytes: 25 << 20,
    dense_past_bytes: 8 << 20,
    // On every matrix single rows with staged entries were faster than groups, 1.3 to 2 times with
    // 32 columns: the finite elements `fem200k_60` take 0.23 and 0.45 ms, in floats 0.12 and 0.23.
    dense_reuse_percent: 1 << 20,
};

const CPU: DenseNumbers = DenseNumbers {
    // An item takes all columns, in vectors of 16 doubles: two AVX-512 registers each.
    dense_group: 1,
    dense_lanes: 1,
    dense_common: 1 << 20,
    dense_common_lanes: 1,
    dense_vector_bytes: 128,
    dense_vectors: 2,
    dense_ahead: 1,
    dense_long_ahead: 1,
    // No line delays others, unless it is longer than a piece.
    dense_long: 1024,
    dense_long_average: 1,
    dense_tile: 1 << 15,
    dense_block_tile: 1 << 15,
    dense_group_lines: 4,
    // An item advances in the other lines of a group from one entry to the next. With one entry for
    // each item it takes 2.7 to 9 times as long, with 1024 1.1 to 1.8 times.
    dense_placed: 64,
    dense_group_ahead: 1,
    dense_staged: 32,
    // With columns of 64 elements, a million rows of 32 doubles take 15 ms, not 10.
    dense_copied_rows: 512,
    // One item takes all columns, so the cache does not matter.
    dense_cache_bytes: 1,
    // If D is copied by rows and C by columns, matrices of 10 MB each take 7 % less time with this,
    // those of 40 MB 45 % less. Matrices of 2.5 MB stay in the caches.
    dense_past_bytes: 8 << 20,
    // Caches keep the rows of neighbouring lines, so groups are used only if requested.
    dense_reuse_percent: 1 << 20,
};

/// Columns in a tile of a dense matrix that a work-group copies from columns to rows.
pub(super) const COPIED_COLS: usize = 32;

/// Most lines of a block that an item adds at once.
pub(super) const HELD_LINES: usize = 6;

/// Elements of each line in a GCOO group that a work-item visits when groups are made of a dense
/// matrix. Longer lines are shared by the items of a work-group if the lines are stored one after
/// another.
pub(super) const CHUNK: usize = 64;

/// Neighbouring rows whose sums a work-item of a CPU keeps, and then writes by columns: eight cache
/// lines of each column, 16 KB of sums of 32 doubles.
pub(super) const KEPT_ROWS: usize = 64;

/// Bytes of local memory for the sums of a work-group that writes by columns, on devices other than
/// CPUs. The rest of 32 KiB, which every device has, is for the entries that slots stage.
pub(super) const SUM_BYTES: usize = 20 << 10;
