//! Tuning numbers of the kernels that multiply blocks and add them up.
use crate::{BlockShape, DeviceInfo, DeviceKind, element::ElementType, primitives::segmented_reduce::RUN_PIECE};

/// Parameters for multiplying blocks and adding them up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockTuning {
    pub kernel: BlockKernel,
    pub group_size: usize,
    /// A run with more products than `long_run` is summed by a work-group of its own.
    pub long_run: usize,
}

/// Bytes of local memory that every device has at least.
const LEAST_LOCAL_BYTES: usize = 32 << 10;

/// Most bytes of local memory of a kernel besides its arrays.
const OTHER_LOCAL_BYTES: usize = 64;

/// Division of blocks among the work-items of [`BlockKernel::Tiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockTiles {
    /// Number of columns of a block of C that each item computes; a divisor of the block's columns.
    pub cols: usize,
    /// Runs that a team sums one after another.
    pub batch: usize,
    /// Number of rows of a block of C that each item computes if the run is long; a divisor of the
    /// block's rows.
    pub piece_rows: usize,
    /// Pieces of long runs that a group sums at once.
    pub piece_teams: usize,
    /// Products of each piece that are in local memory at once.
    pub piece_depth: usize,
}

/// Division of blocks among the work-items of [`BlockKernel::Staged`]: each item has a tile of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StagedTiles {
    /// Rows of a tile. The last tile of a column may reach beyond the block.
    pub rows: usize,
    /// Columns of a tile, at most those of a block.
    pub cols: usize,
    /// Pieces that a group sums at once.
    pub teams: usize,
}

/// Numbers of [`BlockKernel::Staged`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StagedNumbers {
    /// Work-items of a group.
    pub group: usize,
    /// Bytes of blocks that a group stages at once.
    pub bytes: usize,
}

/// Numbers of [`BlockKernel::Scalars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScalarNumbers {
    /// Operand pairs that a work-item loads at once.
    pub ahead: usize,
    /// Number of products plus number of runs of a work-group. The sum is at most
    /// [`BlockTuning::long_run`].
    pub stretch: usize,
}

/// The kernel that multiplies blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKernel {
    /// A kernel that is compiled for the three sides of the blocks, with [`BlockTiles`] in
    /// registers.
    Tiles,
    /// A kernel that is compiled for the three sides of larger blocks, with [`StagedTiles`] in
    /// registers and operands in local memory. Every run is a piece.
    Staged(StagedNumbers),
    /// A kernel for blocks of one element, whose work-groups take stretches of runs.
    Scalars(ScalarNumbers),
    /// A kernel for CPUs that is compiled for the three sides. A work-item sums `runs` runs one
    /// after another.
    Serial { runs: usize },
    /// A kernel for blocks of every shape. The sides of the blocks are arguments.
    General,
}

/// Largest side of blocks for which kernels are compiled; larger blocks share a program. Block
/// sides in use: points 3, poses 3 and 6, cameras 9, observations 2, similarity transforms 7,
/// tetrahedra 4, hexahedra 8; finite elements up to 16.
const COMPILED_SIDE: usize = 16;

/// Most elements of a block of A that a work-item of a GPU holds in registers; larger blocks are
/// staged in local memory.
const HELD_AREA: usize = 64;

/// While staged blocks are multiplied, the items of the group hold the next blocks, in 48 registers
/// each. With 32 items, few wait for each other, and many groups are resident. Blocks of 13x13 take
/// 1.00 ms with 32 items and 1.23 ms with 64.
const STAGED: StagedNumbers = StagedNumbers { group: 32, bytes: 6 << 10 };

/// On a GPU a run of small blocks with at least `LONG_RUN` products has a work-group of its own.
/// One item takes about a microsecond to add a product of small blocks, and waits for memory most
/// of the time. A group hides the latency of memory.
const LONG_RUN: usize = 32;

/// Runs of blocks that a work-item of a CPU sums one after another.
const SERIAL_RUNS: usize = 64;

/// A CPU prefetches a block of A `PAIRS_AHEAD` products ahead. 640 thousand products of 6x6 take 23
/// ms with prefetching, and 28 ms without. The time is the same within the noise if 2 or 8 products
/// are prefetched.
pub(crate) const PAIRS_AHEAD: usize = 4;

/// Work-items of a work-group that sums scalars from stored operand pairs on a GPU. With the
/// stretch of [`SCALARS`], `rmat18_e8` takes 5.9 ms in groups of 256 and 8.5 ms in groups of 128.
pub(in crate::product) const SCALAR_GROUP: usize = 256;

/// A work-item loads all its pairs of a stretch at once. The pairs take so few registers that a
/// multiprocessor runs 2048 work-items. A stretch is at most as long as a piece. `cnr-2000` takes
/// 0.48 ms with stretches as long as a piece, and 0.67 ms with stretches half as long. If a run of
/// 1024 products begins at the end of a stretch, the doubles of a work-group take 17 KiB. Stretches
/// with long runs are rare, so mostly 8 groups are resident.
pub(in crate::product) const SCALARS: ScalarNumbers = ScalarNumbers { ahead: 4, stretch: RUN_PIECE };

/// Whether kernels are compiled for the sides of these blocks of A and B.
pub(in crate::product) fn sides_are_compiled((a, b): (BlockShape, BlockShape)) -> bool {
    [a.rows(), a.cols(), b.cols()].iter().all(|&side| side <= COMPILED_SIDE)
}

impl BlockTuning {
    pub(super) fn new(info: &DeviceInfo, a: BlockShape, b: BlockShape) -> Self {
        let cpu = info.kind == DeviceKind::Cpu;
        let wide = |preferred: usize| preferred.min(1 << info.max_group_size.max(1).ilog2());
        let compiled = sides_are_compiled((a, b)) && (cpu || b.cols() <= wide(64));
        let kernel = match cpu {
            _ if !compiled => BlockKernel::General,
            true => BlockKernel::Serial { runs: SERIAL_RUNS },
            false if (a, b) == (BlockShape::SCALAR, BlockShape::SCALAR) => BlockKernel::Scalars(SCALARS),
            false if a.area() <= HELD_AREA => BlockKernel::Tiles,
            false if wide(STAGED.group) == STAGED.group => BlockKernel::Staged(STAGED),
            false => BlockKernel::General,
        };
        Self {
            kernel,
            group_size: match kernel {
                BlockKernel::Serial { .. } => 1,
                BlockKernel::Staged(staged) => staged.group,
                BlockKernel::Scalars(_) => wide(SCALAR_GROUP),
                BlockKernel::General if a.product(b).area() > 64 => wide(128),
                BlockKernel::Tiles | BlockKernel::General => wide(64),
            },
            long_run: match kernel {
                BlockKernel::Tiles => LONG_RUN,
                BlockKernel::Staged(_) => 0,
                BlockKernel::Scalars(_) | BlockKernel::Serial { .. } | BlockKernel::General => RUN_PIECE,
            },
        }
    }

    /// Number of stretches for runs with `products` products that make `nnz` entries of C.
    pub fn stretches(&self, products: u64, nnz: u64) -> u64 {
        match self.kernel {
            BlockKernel::Scalars(numbers) if nnz > 0 => (products + nnz).div_ceil(numbers.stretch as u64),
            _ => 0,
        }
    }
}

impl BlockTiles {
    /// Tiles for groups of `group_size` items. A group has at least an item for each column of a
    /// block of `b`. The numbers were measured on an H200.
    pub fn new(element: ElementType, group_size: usize, a: BlockShape, b: BlockShape) -> Self {
        let (rows, inner, cols) = (a.rows(), a.cols(), b.cols());
        let (words, pair) = (element.arithmetic().bytes() / size_of::<u32>(), (rows + cols) * inner);
        // Two columns halve the loads of A. With more than 16 registers of sums too few groups are
        // resident: 6x6 doubles then take 0.38 ms, and with fewer registers 0.34 ms.
        let two = cols % 2 == 0 && 2 * rows * words <= 16;
        let fits = |n: &usize| rows.is_multiple_of(*n) && rows / n * cols <= group_size;
        let piece_rows = (1..=rows).find(fits).unwrap_or(rows);
        let room = group_size / (rows / piece_rows * cols);
        // Registers in which each item holds the next blocks. Groups with short runs need these
        // registers too. 16 registers are best, or 8 for the smallest blocks: 3x3 floats take 0.23
        // ms with 8 registers and 0.44 ms with 32. But at least eight products are loaded at once,
        // because with fewer a run of a thousand products would take longer than all other runs.
        let held = if pair <= 18 { 8 } else { 16 };
        let slots = held * group_size / (words * pair);
        let piece_teams = (slots.max(8) / 8).clamp(1, room);
        Self {
            cols: if two { 2 } else { 1 },
            // A team sums three runs, sorted by length: 6x6 pose graphs take 0.64 ms with such
            // batches, and 0.82 ms without. Six runs for a team are slower than three if runs have
            // similar lengths.
            batch: 3,
            piece_rows,
            piece_teams,
            piece_depth: slots.max(8) / piece_teams,
        }
    }
}

impl StagedTiles {
    /// Tiles with the shapes that were fastest on an H200. A team has at most as many items as a
    /// group.
    pub fn new(element: ElementType, numbers: StagedNumbers, a: BlockShape, b: BlockShape) -> Self {
        let (rows, cols, element) = (a.rows(), b.cols(), element.arithmetic().bytes());
        let even = |n: usize| n.next_multiple_of(2);
        let (tile_rows, tile_cols) = match rows {
            // Blocks of 9x9 take 0.73 ms in tiles of 3x3, and 0.81 ms in columns.
            ..=9 if rows % 3 == 0 && cols % 3 == 0 => (3, 3),
            ..=10 => (rows, 1),
            // A tile is half a column, with an even number of elements for vector loads. For
            // doubles the number may be odd: blocks of 14 rows take 1.37 ms in tiles of 7 rows and
            // 1.69 ms in tiles of 8.
            _ if rows % 2 == 0 && element == 8 => (rows / 2, 1),
            _ => (even(rows.div_ceil(2)), 1),
        };
        let team = rows.div_ceil(tile_rows) * cols.div_ceil(tile_cols);
        // If a team took two products at once, half as many groups would be resident: blocks of
        // 11x11 take 1.35 ms with two products at once, and 1.02 ms with one.
        let fitting = numbers.bytes / (element * (a.area() + b.area()));
        let fitting = fitting.min((LEAST_LOCAL_BYTES - OTHER_LOCAL_BYTES) / Self::team_bytes(tile_rows, element, a, b));
        Self { rows: tile_rows, cols: tile_cols, teams: (numbers.group / team).min(fitting).max(1) }
    }

    /// Most bytes of local memory of a team in `cl/product/esc/blocks/staged.cl`. The memory holds
    /// two pairs, and, one after the other, the operands with a vector after each column and the
    /// block of C.
    fn team_bytes(tile_rows: usize, element: usize, a: BlockShape, b: BlockShape) -> usize {
        let vectors = 2 * a.rows().max(a.cols()) + 2 * b.cols().max(b.rows());
        let operands = (a.area() + b.area() + tile_rows) * element + vectors * 16;
        operands.max(a.rows() * b.cols() * element) + 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of local memory that `cl/product/esc/blocks/tiles.cl` declares.
    fn local_bytes(element: ElementType, group_size: usize, a: BlockShape, b: BlockShape) -> usize {
        let tiles = BlockTiles::new(element, group_size, a, b);
        let element = element.arithmetic().bytes();
        // The terms are: a vector of 16 bytes after each block, at most; a pair for each slot; two
        // words for each piece, and three for each run; the classes.
        let slots = tiles.piece_teams * tiles.piece_depth;
        let runs = group_size / (b.cols() / tiles.cols) * tiles.batch;
        slots * ((a.area() + b.area()) * element + 2 * 16 + 8) + 8 * tiles.piece_teams + 12 * runs + 4 * 40 + 64
    }

    fn staged_fits(element: ElementType, numbers: StagedNumbers, a: BlockShape, b: BlockShape) {
        let tiles = StagedTiles::new(element, numbers, a, b);
        let items = a.rows().div_ceil(tiles.rows) * b.cols().div_ceil(tiles.cols) * tiles.teams;
        assert!(items <= numbers.group && tiles.cols <= b.cols(), "{a} by {b}: {tiles:?}");
        let bytes =
            tiles.teams * StagedTiles::team_bytes(tiles.rows, element.arithmetic().bytes(), a, b) + OTHER_LOCAL_BYTES;
        assert!(bytes <= LEAST_LOCAL_BYTES, "{a} by {b}: {bytes} bytes, {tiles:?}");
    }

    /// Checks `HELD_AREA`, `STAGED`, and numbers that take the most local memory.
    #[test]
    fn blocks_of_every_shape_fit_the_smallest_local_memory() -> crate::Result<()> {
        let most = |group| StagedNumbers { group, bytes: 12 << 10 };
        let all = [(HELD_AREA, STAGED), (128, STAGED), (1, most(32)), (1, most(1024))];
        for ((held, staged), side) in
            all.into_iter().flat_map(|of| (0..COMPILED_SIDE.pow(3)).map(move |side| (of, side)))
        {
            let [rows, inner, cols] =
                [1, COMPILED_SIDE, COMPILED_SIDE * COMPILED_SIDE].map(|n| side / n % COMPILED_SIDE + 1);
            let (a, b) = (BlockShape::new(rows, inner)?, BlockShape::new(inner, cols)?);
            if a.area() > held {
                staged_fits(ElementType::F64, staged, a, b);
                staged_fits(ElementType::F32, staged, a, b);
                continue;
            }
            for group_size in [64, 32, 16] {
                let tiles = BlockTiles::new(ElementType::F64, group_size, a, b);
                let items = rows / tiles.piece_rows * cols * tiles.piece_teams;
                assert!(items <= group_size || tiles.piece_teams == 1, "{a} by {b}: {tiles:?}");
                for bytes in
                    [local_bytes(ElementType::F64, group_size, a, b), local_bytes(ElementType::F32, group_size, a, b)]
                {
                    assert!(bytes <= LEAST_LOCAL_BYTES, "{a} by {b}: {bytes} bytes, {tiles:?}");
                }
            }
        }
        Ok(())
    }
}
