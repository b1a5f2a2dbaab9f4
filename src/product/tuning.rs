//! Tuning of a product: every number with which kernels of the pipeline are compiled or launched.
//! The tuning is a pure function of device limits, block shapes and element type, and never depends
//! on the contents of a matrix.
mod adaptive;
mod blocks;
mod numbers;

use super::terms::{CHUNK_GROUP_SIZE, CHUNK_ITEMS, Method, PayloadKind};
use crate::{
    BlockShape, DeviceInfo,
    device::{Options, Teams},
    primitives::{
        scan::ScanTuning,
        segmented_reduce::RUN_PIECE,
        segmented_sort::{self, EXPANSION_LOCAL_BYTES, SortTuning, WINDOW_ITEMS},
    },
    resident::RECORD_GROUPS,
    tuning::SharedNumbers,
};
pub(super) use adaptive::{AdaptiveTuning, teams_for};
#[cfg(test)]
pub(crate) use blocks::StagedNumbers;
pub(super) use blocks::sides_are_compiled;
pub(crate) use blocks::{BlockKernel, BlockTiles, BlockTuning, PAIRS_AHEAD, ScalarNumbers, StagedTiles};
#[cfg(test)]
pub(super) use blocks::{SCALAR_GROUP, SCALARS};
pub(crate) use numbers::TileNumbers;

/// The numbers of one product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Work-items of a work-group whose items each process one entry, column, run or block column.
    pub group_size: usize,
    /// Number of work-groups that reduce the record of the segments. An additional work-group then
    /// reduces the partial results of these work-groups.
    pub record_groups: usize,
    pub scan: ScanTuning,
    pub sort: SortTuning,
    pub windows: WindowTuning,
    /// The chunks that are sorted in registers, or `None` if teams are not warps. The sort has
    /// chunks of the same size.
    pub chunks: Option<ChunkTuning>,
    pub tiles: TileTuning,
    pub blocks: BlockTuning,
    pub payload: PayloadKind,
    pub esc: EscVariant,
}

/// The two variants of ESC. The variants differ in the memory in which products are expanded and
/// sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscVariant {
    /// Products are expanded and sorted in global memory.
    Global,
    /// Products are expanded and sorted in local memory. GPUs use variant `Local`.
    Local,
}

impl EscVariant {
    /// Returns the method to which this variant belongs.
    pub fn method(self) -> Method {
        match self {
            Self::Global => Method::Esc,
            Self::Local => Method::EscLocal,
        }
    }
}

/// Parameters for sorting short segments before they are written. A work-group sorts many short
/// segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowTuning {
    pub group_size: usize,
    /// Number of products of a work-item. The number is odd, so that neighbouring items use
    /// different banks of local memory, and small enough for registers.
    pub items: usize,
}

impl WindowTuning {
    /// Returns the number of products that a work-group holds.
    pub fn room(&self) -> usize {
        self.group_size * self.items
    }
}

/// Parameters for sorting the chunks of long segments in registers, before they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkTuning {
    /// The team that forms a work-group.
    pub team: Teams,
    /// Number of products of a work-item: an odd number up to 7 times a power of two, and at least
    /// 2, since PoCL 3.1 loses the barriers of loops that cannot run twice.
    pub items: usize,
    /// Most entries of a column of B whose chunks are cut by rows.
    pub entries: usize,
    /// Number of products that a merge pass moves in the time of one search for an entry of B.
    pub look_products: usize,
}

/// Most entries of a column of B whose chunks are cut by rows. Each chunk searches all entries of
/// the column.
const CHUNK_ENTRIES: usize = 3328;

/// Number of products that a merge pass moves in the time of one search for an entry of B. On an
/// H100 a search takes 70 to 150 ps, and a merge pass 11 ps for each product. A search then takes 7
/// to 14 times as long as moving a product, if chunks are full.
const CHUNK_LOOK_PRODUCTS: usize = 20;

impl ChunkTuning {
    /// Numbers of products of a work-item in the work-groups for chunks that are not full.
    const ITEMS: [usize; 4] = [10, 12, 14, 16];

    /// Makes the parameters. Returns `None` if teams are not warps, or if the chunks do not suit
    /// the kernel that sorts chunks to be merged.
    fn new(info: &DeviceInfo, sort: &SortTuning) -> Option<Self> {
        let teams = Teams::of(info).filter(|teams| teams.are_warps() && teams.largest() >= CHUNK_GROUP_SIZE)?;
        let team = teams.large(CHUNK_GROUP_SIZE);
        let chunks = Self { team, items: CHUNK_ITEMS, entries: CHUNK_ENTRIES, look_products: CHUNK_LOOK_PRODUCTS };
        let fits = chunks.room().is_multiple_of(sort.group_size) && chunks.room() >= 2 * sort.short_max;
        (fits && info.local_bytes >= EXPANSION_LOCAL_BYTES).then_some(chunks)
    }

    /// Returns the number of products that a work-group holds.
    pub fn room(&self) -> usize {
        self.team.group_size(1) * self.items
    }

    /// Returns the chunk sizes that hold fewer products than this one, in ascending order.
    pub fn smaller(self) -> impl Iterator<Item = Self> {
        let team = move |size: usize| Self::ITEMS.map(move |items| Self { team: self.team.large(size), items, ..self });
        let teams = (Teams::SIZE.ilog2() + 1..=self.team.group_size(1).ilog2()).map(|bits| 1 << bits);
        teams.flat_map(team).filter(move |of| of.room() < self.room())
    }

    /// Returns the work-groups that cut chunks, by ascending number of entries that a column of B
    /// may have. All work-groups except the last have a work-item for each entry of the column. The
    /// last work-group can cut a column of any length. A work-group waits for one load after
    /// another. Small work-groups need so little local memory that many of them are resident and
    /// wait at the same time.
    pub fn cutting(self) -> impl Iterator<Item = Self> {
        let team = move |size: usize| Self { team: self.team.large(size), entries: size, ..self };
        let teams = (Teams::SIZE.ilog2() + 1..=self.team.group_size(1).ilog2()).map(|bits| 1 << bits);
        teams.map(team).filter(move |of| of.entries < self.entries).chain([self])
    }

    /// Returns the options of kernels for these chunks. The number of rows of C has `row_bits`
    /// bits.
    pub fn options(&self, row_bits: u32) -> Options {
        let places = self.room().next_power_of_two();
        self.team
            .options(1)
            .define("PRODUCTS", self.room())
            .define("HELD", self.items)
            .define("ODD", self.items >> self.items.trailing_zeros())
            .define("PLACES", places)
            .define("FAR_ROWS", u8::from(row_bits + places.ilog2() > u32::BITS))
    }
}

/// Parameters of tiles. Expansion, tail counts and gather cut the expansion into the same tiles, so
/// that the segments of a tile are looked up once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileTuning {
    pub group_size: usize,
    /// Products of a tile, a multiple of `group_size`.
    pub products: usize,
}

impl TileTuning {
    /// Returns the number of used bits in each word of the flags that mark the ends of runs. There
    /// is a bit for each product of a work-item, and at most 32.
    pub fn word_bits(&self) -> usize {
        (self.products / self.group_size).min(32)
    }

    /// Returns the options with which kernels that work by tiles are compiled.
    pub fn options(&self) -> Options {
        Options::group_size(self.group_size).define("TILE", self.products).define("WORD_BITS", self.word_bits())
    }

    /// Returns the number of tiles of an expansion of `products` products.
    pub fn count(&self, products: u32) -> usize {
        (products as usize).div_ceil(self.products)
    }
}

impl Tuning {
    /// Makes the tuning for A with blocks of shape `a` times B with blocks of shape `b`.
    pub fn new(info: &DeviceInfo, a: BlockShape, b: BlockShape) -> Self {
        let SharedNumbers { group_size, .. } = info.numbers();
        let TileNumbers { tile_group_size, tile_items } = info.numbers();
        let sort = SortTuning::for_expansion(info);
        let chunks = ChunkTuning::new(info, &sort);
        let sort = SortTuning { chunk: chunks.map_or(sort.chunk, |chunks| chunks.room()), ..sort };
        let payload = PayloadKind::of([a.area(), b.area(), a.product(b).area()]);
        let of_values = Self {
            group_size,
            record_groups: RECORD_GROUPS,
            scan: ScanTuning::new(info),
            sort,
            esc: if sort.serial { EscVariant::Global } else { EscVariant::Local },
            windows: WindowTuning { group_size: segmented_sort::window_group(info), items: WINDOW_ITEMS },
            chunks,
            tiles: TileTuning { group_size: tile_group_size, products: tile_group_size * tile_items },
            blocks: BlockTuning::new(info, a, b),
            payload: PayloadKind::Values,
        };
        if payload == PayloadKind::Values { of_values } else { of_values.keeping_pairs() }
    }

    /// Returns the length of the longest run that is not cut into pieces.
    pub fn long_run(&self) -> usize {
        match self.payload {
            PayloadKind::Values => RUN_PIECE,
            PayloadKind::Pairs => self.blocks.long_run,
        }
    }

    /// Changes the tuning for blocks of A, B and C that are `strides` elements apart.
    pub fn with_strides(self, strides: [usize; 3]) -> Self {
        if PayloadKind::of(strides) == self.payload { self } else { self.keeping_pairs() }
    }

    /// Chooses the requested variant of ESC, if the device has work-groups large enough for it.
    pub fn with_method(self, info: &DeviceInfo, wanted: Method) -> Self {
        match wanted {
            Method::Esc => Self { esc: EscVariant::Global, sort: SortTuning::new(info), chunks: None, ..self },
            Method::EscLocal if info.max_group_size >= 8 => {
                let sort = if self.sort.serial {
                    // Local memory holds at most the products of a window.
                    let items = segmented_sort::ITEMS.min(self.windows.items);
                    SortTuning::parallel(self.windows.group_size, items)
                } else {
                    self.sort
                };
                Self { esc: EscVariant::Local, sort, ..self }
            }
            _ => self,
        }
    }

    /// Changes the tuning for a planned product: operand pairs are kept, even for scalars.
    pub fn keeping_pairs(self) -> Self {
        Self { payload: PayloadKind::Pairs, ..self }
    }
}
