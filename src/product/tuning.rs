//! Every number a kernel of the pipeline is compiled or launched with: a pure function of device limits, block shapes and element type,
//! never of a matrix's contents.
use super::method::Method;
use crate::{
    BlockShape, DeviceInfo, DeviceKind, Element, OperandPair,
    device::Options,
    primitives::{scan::ScanTuning, segmented_reduce::RUN_PIECE, segmented_sort::SortTuning},
    tuning::Numbers,
};

/// Numbers of one product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Work-items of a work-group where one item has one entry, column, run or block column.
    pub group_size: usize,
    /// Work-groups that reduce the segments' record; the last step is one group over as many partials.
    pub record_groups: usize,
    pub scan: ScanTuning,
    pub sort: SortTuning,
    pub windows: WindowTuning,
    pub tiles: TileTuning,
    pub blocks: BlockTuning,
    pub payload: PayloadKind,
    /// Which ESC: [`Method::Esc`] or [`Method::EscLocal`].
    pub esc: Method,
}

/// What travels with the row of a product through the sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadKind {
    /// Its value: for scalars, where that is no larger than where it comes from.
    Values,
    /// The pair of its operands, multiplied at compression: for blocks, and for plans, which multiply again and again.
    Pairs,
}

/// How short segments are sorted before they are written: many to a work-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowTuning {
    pub group_size: usize,
    /// Products of an item: odd, so that neighbours do not meet in a bank of local memory, and few enough for registers.
    pub items: usize,
}

impl WindowTuning {
    /// Products a work-group has room for.
    pub fn room(&self) -> usize {
        self.group_size * self.items
    }
}

/// Expansion, tail counts and gather cut the expansion into the same tiles, so that a tile's segments are looked up once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileTuning {
    pub group_size: usize,
    /// Products of a tile, a multiple of `group_size`.
    pub products: usize,
}

impl PayloadKind {
    /// Of a product whose operands and result have blocks so many elements apart: values for
    /// scalars one after another, since the kernels of values know no stride.
    pub fn of(strides: [usize; 3]) -> Self {
        if strides == [1; 3] { Self::Values } else { Self::Pairs }
    }

    /// Bytes of one.
    pub fn bytes<T: Element>(self) -> u64 {
        match self {
            Self::Values => size_of::<T::Arithmetic>() as u64,
            Self::Pairs => size_of::<OperandPair>() as u64,
        }
    }
}

impl TileTuning {
    /// Bits of a word of the flags that say which products end a run: those of one work-item, where a word has as many.
    pub fn word_bits(&self) -> usize {
        (self.products / self.group_size).min(32)
    }

    /// What kernels that work by tiles are compiled with.
    pub fn options(&self) -> Options {
        Options::group_size(self.group_size).define("TILE", self.products).define("WORD_BITS", self.word_bits())
    }

    /// Tiles of an expansion.
    pub fn count(&self, products: u32) -> usize {
        (products as usize).div_ceil(self.products)
    }
}

/// How blocks are multiplied and added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockTuning {
    pub kernel: BlockKernel,
    pub group_size: usize,
    /// Products from which on a run has a work-group to itself.
    pub long_run: usize,
    /// Products such a group of [`BlockKernel::Serial`] has in local memory at once.
    pub depth: usize,
}

/// How [`BlockKernel::Tiles`] shares blocks out among work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockTiles {
    /// Columns of C of an item, which divide those of a block.
    pub cols: usize,
    /// Runs that a team has one after another.
    pub batch: usize,
    /// Rows of C of an item where a run is long, which divide those of a block.
    pub piece_rows: usize,
    /// Pieces of long runs of a group.
    pub piece_teams: usize,
    /// Products of each of them in local memory at once.
    pub piece_depth: usize,
}

/// How [`BlockKernel::Staged`] shares blocks out among work-items: tiles of C, each an item's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StagedTiles {
    /// Rows of a tile; the last of a column may reach beyond the block.
    pub rows: usize,
    /// Columns of a tile, at most those of a block.
    pub cols: usize,
    /// Pieces that a group has at once.
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

/// Which kernel multiplies blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKernel {
    /// Compiled for its three sides, [`BlockTiles`] in registers.
    Tiles,
    /// The same for larger blocks, [`StagedTiles`] in registers and operands in local memory: every run is a piece.
    Staged(StagedNumbers),
    /// Compiled for its three sides, a work-item for so many blocks one after another: for CPUs.
    Serial { runs: usize },
    /// One program for every shape, the sides being arguments.
    General,
}

impl Tuning {
    /// Numbers for A of `a` blocks by B of `b` blocks of `T`.
    pub fn new(info: &DeviceInfo, a: BlockShape, b: BlockShape) -> Self {
        let numbers = info.numbers();
        let sort = SortTuning::for_expansion(info);
        Self {
            group_size: numbers.group_size,
            record_groups: numbers.record_groups,
            scan: ScanTuning::new(info),
            sort,
            esc: if sort.serial { Method::Esc } else { Method::EscLocal },
            windows: WindowTuning { group_size: numbers.window_group_size, items: numbers.window_items },
            tiles: TileTuning {
                group_size: numbers.tile_group_size,
                products: numbers.tile_group_size * numbers.tile_items,
            },
            blocks: BlockTuning::new(info, &numbers, a, b),
            payload: PayloadKind::of([a.area(), b.area(), a.product(b).area()]),
        }
    }

    /// Runs longer than this are taken in pieces.
    pub fn long_run(&self) -> usize {
        match self.payload {
            PayloadKind::Values => RUN_PIECE,
            PayloadKind::Pairs => self.blocks.long_run,
        }
    }

    /// The same for operands and a result whose blocks are so many elements apart.
    pub fn with_strides(self, strides: [usize; 3]) -> Self {
        if PayloadKind::of(strides) == self.payload { self } else { self.keeping_pairs() }
    }

    /// The same for the ESC that is wanted, if the device has groups for it.
    pub fn with_method(self, info: &DeviceInfo, wanted: Method) -> Self {
        match wanted {
            Method::Esc => Self { esc: wanted, sort: SortTuning::new(info), ..self },
            Method::EscLocal if info.max_group_size >= 8 => {
                let sort = if self.sort.serial {
                    SortTuning::parallel(self.windows.group_size, info.numbers().sort_items)
                } else {
                    self.sort
                };
                Self { esc: wanted, sort, ..self }
            }
            _ => self,
        }
    }

    /// The same for a product that is planned: operand pairs are kept, of scalars too.
    pub fn keeping_pairs(self) -> Self {
        Self { payload: PayloadKind::Pairs, ..self }
    }
}

impl BlockTuning {
    fn new(info: &DeviceInfo, numbers: &Numbers, a: BlockShape, b: BlockShape) -> Self {
        let cpu = info.kind == DeviceKind::Cpu;
        let wide = |preferred: usize| preferred.min(1 << info.max_group_size.max(1).ilog2());
        let compiled = [a.rows(), a.cols(), b.cols()].iter().all(|&side| side <= numbers.block_compiled_side)
            && (cpu || b.cols() <= wide(64));
        // 16 KiB of local memory leave room for a dozen groups on a multiprocessor; more than 64 products at once hide nothing more.
        let depth = (16 << 10) / (8 * (a.area() + b.area()));
        let staged = StagedNumbers { group: numbers.block_staged_group, bytes: numbers.block_staged_bytes };
        let kernel = match cpu {
            _ if !compiled => BlockKernel::General,
            true => BlockKernel::Serial { runs: numbers.block_serial_runs },
            false if a.area() <= numbers.block_held_area => BlockKernel::Tiles,
            false if wide(staged.group) == staged.group => BlockKernel::Staged(staged),
            false => BlockKernel::General,
        };
        Self {
            kernel,
            group_size: match kernel {
                BlockKernel::Serial { .. } => 1,
                BlockKernel::Staged(staged) => staged.group,
                BlockKernel::General if a.product(b).area() > 64 => wide(128),
                BlockKernel::Tiles | BlockKernel::General => wide(64),
            },
            long_run: match kernel {
                BlockKernel::Tiles => numbers.block_long_run,
                BlockKernel::Staged(_) => 0,
                BlockKernel::Serial { .. } | BlockKernel::General => RUN_PIECE,
            },
            depth: depth.clamp(1, 64),
        }
    }
}

impl BlockTiles {
    /// For groups of `group_size`, at least the columns of a block of `b`. The numbers are those of an H200.
    pub fn new<T: Element>(group_size: usize, a: BlockShape, b: BlockShape) -> Self {
        let (rows, inner, cols) = (a.rows(), a.cols(), b.cols());
        let (words, pair) = (size_of::<T::Arithmetic>() / size_of::<u32>(), (rows + cols) * inner);
        // Two columns halve what is loaded of A; above 16 registers of sums too few groups are resident (6x6 doubles: 0.38 ms, not 0.34).
        let two = cols % 2 == 0 && 2 * rows * words <= 16;
        let fits = |n: &usize| rows.is_multiple_of(*n) && rows / n * cols <= group_size;
        let piece_rows = (1..=rows).find(fits).unwrap_or(rows);
        let room = group_size / (rows / piece_rows * cols);
        // Registers of an item for the blocks on their way, which every group has, of short runs too: 16, of the smallest blocks 8 (3x3
        // floats: 0.23 ms, with 32 registers 0.44). But eight products at once, or a run of a thousand is the longest of all to come.
        let held = if pair <= 18 { 8 } else { 16 };
        let slots = held * group_size / (words * pair);
        let piece_teams = (slots.max(8) / 8).clamp(1, room);
        Self {
            cols: if two { 2 } else { 1 },
            // Three runs of a team, by length: 6x6 graphs of poses 0.64 ms, not 0.82; six are slower where runs are alike.
            batch: 3,
            piece_rows,
            piece_teams,
            piece_depth: slots.max(8) / piece_teams,
        }
    }
}

impl StagedTiles {
    /// The shapes are those that were fastest on an H200; a team is at most a group.
    pub fn new<T: Element>(numbers: StagedNumbers, a: BlockShape, b: BlockShape) -> Self {
        let (rows, cols, element) = (a.rows(), b.cols(), size_of::<T::Arithmetic>());
        let even = |n: usize| n.next_multiple_of(2);
        let (tile_rows, tile_cols) = match rows {
            // 9x9 in threes: 0.73 ms, by columns 0.81.
            ..=9 if rows % 3 == 0 && cols % 3 == 0 => (3, 3),
            ..=10 => (rows, 1),
            // Half a column; of an even number of elements, for vectors: but 14 doubles by sevens 1.37 ms, by eights 1.69.
            _ if rows % 2 == 0 && element == 8 => (rows / 2, 1),
            _ => (even(rows.div_ceil(2)), 1),
        };
        let team = rows.div_ceil(tile_rows) * cols.div_ceil(tile_cols);
        // Two products of a team at once hide nothing: half as many groups are resident (11x11: 1.35 ms, not 1.02).
        let fitting = numbers.bytes / (element * (a.area() + b.area()));
        Self { rows: tile_rows, cols: tile_cols, teams: (numbers.group / team).min(fitting).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPILED_SIDE: usize = 16;
    const HELD_AREA: usize = 64;
    const STAGED: StagedNumbers = StagedNumbers { group: 32, bytes: 6 << 10 };

    /// What `cl/product/blocks/tiles.cl` declares.
    fn local_bytes<T: Element>(group_size: usize, a: BlockShape, b: BlockShape) -> usize {
        let tiles = BlockTiles::new::<T>(group_size, a, b);
        let element = size_of::<T::Arithmetic>();
        // A vector of 16 bytes at most between blocks; a pair for each slot; two words for each piece, three for each run; classes.
        let slots = tiles.piece_teams * tiles.piece_depth;
        let runs = group_size / (b.cols() / tiles.cols) * tiles.batch;
        slots * ((a.area() + b.area()) * element + 2 * 16 + 8) + 8 * tiles.piece_teams + 12 * runs + 4 * 40 + 64
    }

    /// What `cl/product/blocks/staged.cl` declares at most: a vector behind each column, or the blocks of C; two pairs for each team.
    fn staged_bytes<T: Element>(a: BlockShape, b: BlockShape) -> usize {
        let StagedTiles { rows, teams, .. } = StagedTiles::new::<T>(STAGED, a, b);
        let element = size_of::<T::Arithmetic>();
        let operands =
            (a.area() + b.area() + rows) * element + (2 * a.rows().max(a.cols()) + 2 * b.cols().max(b.rows())) * 16;
        teams * (operands.max(a.rows() * b.cols() * element) + 16) + 64
    }

    #[test]
    fn blocks_of_every_shape_fit_the_smallest_local_memory() -> crate::Result<()> {
        for side in 0..COMPILED_SIDE.pow(3) {
            let [rows, inner, cols] =
                [1, COMPILED_SIDE, COMPILED_SIDE * COMPILED_SIDE].map(|n| side / n % COMPILED_SIDE + 1);
            let (a, b) = (BlockShape::new(rows, inner)?, BlockShape::new(inner, cols)?);
            if a.area() > HELD_AREA {
                for tiles in [StagedTiles::new::<f64>(STAGED, a, b), StagedTiles::new::<f32>(STAGED, a, b)] {
                    let items = rows.div_ceil(tiles.rows) * cols.div_ceil(tiles.cols) * tiles.teams;
                    assert!(items <= STAGED.group && tiles.cols <= cols, "{a} by {b}: {tiles:?}");
                }
                for bytes in [staged_bytes::<f64>(a, b), staged_bytes::<f32>(a, b)] {
                    assert!(bytes <= 32 << 10, "{a} by {b}: {bytes} bytes");
                }
                continue;
            }
            for group_size in [64, 32, 16] {
                let tiles = BlockTiles::new::<f64>(group_size, a, b);
                let items = rows / tiles.piece_rows * cols * tiles.piece_teams;
                assert!(items <= group_size || tiles.piece_teams == 1, "{a} by {b}: {tiles:?}");
                for bytes in [local_bytes::<f64>(group_size, a, b), local_bytes::<f32>(group_size, a, b)] {
                    assert!(bytes <= 32 << 10, "{a} by {b}: {bytes} bytes, {tiles:?}");
                }
            }
        }
        Ok(())
    }
}
