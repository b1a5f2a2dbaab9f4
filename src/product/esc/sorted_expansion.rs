//! Expansion and segmented sort (Polok 2015, Algorithm 2, lines 15-39) for devices with fast local
//! memory. Products are sorted before they are written for the first time: short segments whole,
//! long ones by chunks, which the segmented sort then merges. Kernel:
//! `cl/product/esc/sorted_expansion.cl`.
use super::{Front, Products};
use crate::{
    Element, Result, Word,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    primitives::segmented_sort::{SegmentedSort, SortTuning},
    product::{
        analysis::BandSegments,
        method::{Columns, Method},
        problem::{Part, Payload, Sizes, Spec},
        tuning::{TileTuning, Tuning, WindowTuning},
    },
    resident::InPattern,
};

kernel! {
    struct SortExpansion<O: Word, W: Word> = "sorted_expansion" in "product/payload.cl", "product/esc/sorted_expansion.cl" {
        a: InPattern,
        a_operand: In<O>,
        b: InPattern,
        b_operand: In<O>,
        b_prods: In<u64>,
        segment_ptr: In<u32>,
        chunk_ptr: In<u32>,
        row_between: Out<u32>,
        payload_between: Out<W>,
        row: Out<u32>,
        payload: Out<W>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
        window: u32,
    }
}

/// Expansion and segmented sort in local memory.
pub(crate) struct InLocalMemory<T: Element, P: Payload<T>> {
    of_windows: Kernel<SortExpansion<'static, P::Operand, P::Word>>,
    of_chunks: Kernel<SortExpansion<'static, P::Operand, P::Word>>,
    merge: SegmentedSort<P::Word>,
    windows: WindowTuning,
    sort: SortTuning,
    tiles: TileTuning,
}

/// Sorted short segments and chunks of long ones.
pub(crate) struct SortedChunks<W> {
    pub(super) products: Products<W>,
    /// Rows and payloads of the chunks that take an odd number of merge passes.
    between: (Buffer<u32>, Buffer<W>),
}

impl<T: Element, P: Payload<T>> Front<T, P> for InLocalMemory<T, P> {
    const METHOD: Method = Method::EscLocal;
    type Expanded = SortedChunks<P::Word>;

    fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let (windows, sort) = (tuning.windows, tuning.sort);
        let options = |group_size: usize, items: usize, chunks: u8| {
            let position_bits = (group_size * items).next_power_of_two().ilog2();
            P::define(Options::group_size(group_size), spec)
                .define("FROM_END", u8::from(spec.part == Part::Lower))
                .define("ITEMS", items)
                .define("CHUNKS", chunks)
                .define("PACKED", u8::from(spec.row_bits + position_bits <= 32))
                .define("POSITION_BITS", position_bits)
                .define("SHORT_MAX", sort.short_max)
                .define("TILE", tuning.tiles.products)
        };
        Ok(Self {
            of_windows: Kernel::new(device, &options(windows.group_size, windows.items, 0))?,
            of_chunks: Kernel::new(device, &options(sort.group_size, sort.chunk / sort.group_size, 1))?,
            merge: SegmentedSort::new(device, sort)?,
            windows,
            sort,
            tiles: tuning.tiles,
        })
    }

    fn expand(
        &self,
        work: &Work,
        task: &Columns<'_, P::Operand>,
        segments: &BandSegments,
    ) -> Result<SortedChunks<P::Word>> {
        work.stage("expansion");
        let (factors, band) = (task.factors, task.band);
        let (products, sizes) = (band.sizes.products as usize, segments.for_sort());
        let between = if sizes.chunks > 0 { products } else { 0 };
        let (mut rows_between, mut payload_between) = (work.buffer(between)?, work.buffer(between)?);
        let (mut rows, mut payload) = (work.buffer(products)?, work.buffer(products)?);
        let mut tile_segment = work.buffer(self.tiles.count(products as u32) + 1)?;
        // All short segments that begin in a window must fit a work-group. So windows are wider if
        // the longest segment is shorter.
        let window = self.windows.room() - self.sort.short_max.min(sizes.longest as usize);
        let windows = if sizes.has_short { products.div_ceil(window) } else { 0 };
        let grids =
            [Grid::groups(windows, self.windows.group_size), Grid::groups(sizes.chunks as usize, self.sort.group_size)];
        for (kernel, grid) in [&self.of_windows, &self.of_chunks].into_iter().zip(grids) {
            let args = SortExpansion {
                a: factors.a,
                a_operand: factors.a_operand,
                b: factors.b,
                b_operand: factors.b_operand,
                b_prods: &task.analysis.prods,
                segment_ptr: sizes.ptr,
                chunk_ptr: sizes.chunk_ptr,
                row_between: &mut rows_between,
                payload_between: &mut payload_between,
                row: &mut rows,
                payload: &mut payload,
                tile_segment: &mut tile_segment,
                first_product: band.first_product,
                products: products as u32,
                first_col: band.columns.start,
                cols: band.columns.len() as u32,
                window: window as u32,
            };
            kernel.launch(work, grid, args)?;
        }
        let products = Products { rows, payload, tile_segment };
        Ok(SortedChunks { products, between: (rows_between, payload_between) })
    }

    fn sort(&self, work: &Work, segments: &BandSegments, expanded: SortedChunks<P::Word>) -> Result<Products<P::Word>> {
        work.stage("segmented_sort");
        let SortedChunks { mut products, between: (mut rows, mut payload) } = expanded;
        let (rows, payload) = ([&mut rows, &mut products.rows], [&mut payload, &mut products.payload]);
        self.merge.merge(work, &segments.for_sort(), rows, payload)?;
        Ok(products)
    }

    fn merged(sizes: &Sizes) -> u64 {
        sizes.in_chunks
    }
}
