//! Expansion and segmented sort (Polok 2015, Algorithm 2, lines 15-39) for devices with fast local
//! memory. Products are sorted before they are written for the first time: short segments whole,
//! long segments by chunks. On devices with warps chunks are sorted in registers
//! ([`super::sorted_chunks`]). On other devices, and if columns of B are very long, chunks are
//! sorted like short segments, and the segmented sort merges them. Kernel:
//! `cl/product/esc/sorted_expansion.cl`.
use super::analysis::BandSegments;
use super::{
    Columns, Products,
    sorted_chunks::{Between, InSegments, InSorted, SortedChunks},
};
use crate::{
    Result,
    device::{Device, Grid, Kernel, Options, Work, kernel},
    element::WordType,
    primitives::segmented_sort::{SegmentedSort, SortTuning},
    product::{
        terms::{InOperands, Part, Sizes, Spec},
        tuning::{TileTuning, Tuning, WindowTuning},
    },
};

kernel! {
    struct SortExpansion = "sorted_expansion" in "product/terms/payload.cl", "product/esc/search.cl", "product/esc/sorted_expansion.cl" {
        factors: InOperands<'static>,
        segments: InSegments<'static>,
        sorted: InSorted<'static>,
        window: u32,
    }
}

/// Sizes of the work-groups that sort chunks, in eighths of the full size. The smallest work-group
/// that can hold the longest segment is used: a segment of 1088 products keeps 128 items of 11
/// products busy, but not 256.
const EIGHTHS: [usize; 5] = [2, 3, 4, 6, 8];

/// Fewest work-items of a work-group that sorts in local memory.
const LEAST_GROUP: usize = 8;

/// The kernel that sorts windows or chunks, for one size of work-groups.
type Sort = Kernel<SortExpansion<'static>>;

/// Expansion and segmented sort in local memory.
pub(crate) struct InLocalMemory {
    of_windows: Sort,
    /// The kernels that sort chunks, by ascending size of their work-groups. The last kernel sorts
    /// whole chunks.
    of_chunks: Vec<(usize, Sort)>,
    in_registers: Option<SortedChunks>,
    merge: SegmentedSort,
    payload: WordType,
    windows: WindowTuning,
    sort: SortTuning,
    tiles: TileTuning,
}

impl InLocalMemory {
    /// The smallest work-groups that can hold `longest` products, and their kernel. If no
    /// work-group can hold them, returns the largest ones, which sort whole chunks.
    fn of_chunks(&self, longest: usize) -> (usize, &Sort) {
        let items = self.sort.chunk / self.sort.group_size;
        let (last, smaller) = self.of_chunks.split_last().expect("the last sorts whole chunks");
        let (group_size, kernel) = smaller.iter().find(|(size, _)| size * items >= longest).unwrap_or(last);
        (*group_size, kernel)
    }
}

/// Sorted short segments, and long segments or their chunks.
pub(crate) struct SortedParts {
    pub(super) products: Products,
    /// Rows and payloads of the chunks that need an odd number of merge passes, before the first
    /// pass, or `None` if nothing is to be merged.
    between: Option<Between>,
}

impl InLocalMemory {
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let (windows, sort) = (tuning.windows, tuning.sort);
        let options = |group_size: usize, items: usize, chunks: u8| {
            let position_bits = (group_size * items).next_power_of_two().ilog2();
            tuning
                .payload
                .define(Options::group_size(group_size), spec)
                .define("FROM_END", u8::from(spec.part == Part::Lower))
                .define("ITEMS", items)
                .define("CHUNKS", chunks)
                .define("PACKED", u8::from(spec.row_bits + position_bits <= 32))
                .define("POSITION_BITS", position_bits)
                .define("SHORT_MAX", sort.short_max)
                .define("TILE", tuning.tiles.products)
        };
        let in_registers = SortedChunks::new(device, spec, tuning)?;
        let items = sort.chunk / sort.group_size;
        let of_chunks = |eighths: usize| {
            // The size is even, because each half of a work-group searches for one of two numbers.
            let group_size = (sort.group_size * eighths / 16 * 2).max(LEAST_GROUP);
            let kernel = Kernel::rare(device, &options(group_size, items, 1))?;
            if eighths == 8 && in_registers.is_none() {
                kernel.ask(device);
            }
            Ok((group_size, kernel))
        };
        Ok(Self {
            of_windows: Kernel::new(device, &options(windows.group_size, windows.items, 0))?,
            of_chunks: EIGHTHS.into_iter().map(of_chunks).collect::<Result<_>>()?,
            in_registers,
            merge: SegmentedSort::new(device, sort, tuning.payload.word(spec.element))?,
            payload: tuning.payload.word(spec.element),
            windows,
            sort,
            tiles: tuning.tiles,
        })
    }

    /// Expands columns that have at least one product.
    pub fn expand(&self, work: &Work, task: &Columns<'_>, segments: &BandSegments) -> Result<SortedParts> {
        work.stage("expansion");
        let (factors, band) = (task.factors, task.band);
        let (products, sizes) = (band.sizes.products as usize, segments.for_sort());
        let are_whole = self.in_registers.as_ref().is_some_and(|chunks| chunks.are_whole(task));
        let between = if sizes.chunks > 0 && !are_whole { products } else { 0 };
        let mut between = Between { rows: work.buffer(between)?, payload: work.buffer_of(self.payload, between)? };
        let (rows, payload) = (work.buffer(products)?, work.buffer_of(self.payload, products)?);
        let tile_segment = work.buffer(self.tiles.count(products as u32) + 1)?;
        let mut all = Products { rows, payload, tile_segment };
        // All short segments that begin in a window must fit a work-group, and no segment begins in
        // a window after a long one. So windows are wider if the short segments are shorter and the
        // long segments are longer.
        let Sizes { longest_short, shortest_long, .. } = band.sizes;
        let room = self.windows.room() - longest_short as usize;
        let window = if shortest_long > 0 { room.min(shortest_long as usize) } else { room }.max(1);
        let windows = if longest_short > 0 { products.div_ceil(window) } else { 0 };
        let of_windows = (&self.of_windows, Grid::groups(windows, self.windows.group_size));
        let (group_size, kernel) = self.of_chunks(sizes.longest as usize);
        let of_chunks = (kernel, Grid::groups(sizes.chunks as usize, group_size));
        for (kernel, grid) in [of_windows].into_iter().chain(self.in_registers.is_none().then_some(of_chunks)) {
            let args = SortExpansion {
                factors: factors.into(),
                segments: InSegments::of(task, &sizes),
                sorted: InSorted::of(band, &mut between, &mut all),
                window: window as u32,
            };
            kernel.launch(work, grid, args)?;
        }
        if let Some(chunks) = &self.in_registers {
            chunks.run(work, task, &sizes, &mut between, &mut all)?;
        }
        Ok(SortedParts { products: all, between: (!are_whole).then_some(between) })
    }

    pub fn sort(&self, work: &Work, segments: &BandSegments, expanded: SortedParts) -> Result<Products> {
        work.stage("segmented_sort");
        let SortedParts { mut products, between } = expanded;
        if let Some(Between { mut rows, mut payload }) = between {
            let (rows, payload) = ([&mut rows, &mut products.rows], [&mut payload, &mut products.payload]);
            self.merge.merge(work, &segments.for_sort(), rows, payload)?;
        }
        Ok(products)
    }

    /// Products that the sort must still move.
    pub fn merged(&self, task: &Columns<'_>) -> u64 {
        match self.in_registers.as_ref().is_some_and(|chunks| chunks.are_whole(task)) {
            true => 0,
            false => task.band.sizes.in_chunks,
        }
    }
}
