//! Stages 2 and 3 for devices with fast local memory: products are sorted before they are written for the first time, those of short
//! segments whole, those of long ones by chunks, which stage 3 merges. Kernel: `cl/product/esc/sorted_expansion.cl`.
use super::{
    Kind,
    expansion::{Expanded, Factors, Payload},
    setup::{BEntries, BandSegments},
};
use crate::{
    Element, OperandPair, Result, Word,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    primitives::segmented_sort::SortTuning,
    product::{
        bands::Band,
        tuning::{PayloadKind, TileTuning, Tuning, WindowTuning},
    },
    resident::InPattern,
};

kernel! {
    struct SortExpansion<V: Word, P: Word> = "sorted_expansion" in "product/esc/sorted_expansion.cl" {
        a: InPattern,
        a_operand: In<V>,
        b: InPattern,
        b_operand: In<V>,
        b_prods: In<u64>,
        segment_ptr: In<u32>,
        chunk_ptr: In<u32>,
        row_between: Out<u32>,
        payload_between: Out<P>,
        row: Out<u32>,
        payload: Out<P>,
        tile_segment: Out<u32>,
        first_product: u64,
        products: u32,
        first_col: u32,
        cols: u32,
        window: u32,
    }
}

pub(crate) struct SortedExpansion<T: Element> {
    kernels: Kernels<T>,
    windows: WindowTuning,
    sort: SortTuning,
    tiles: TileTuning,
}

/// For short segments, and for chunks of long ones.
enum Kernels<T: Element> {
    Values([Kernel<SortExpansion<'static, T, T::Arithmetic>>; 2]),
    Pairs([Kernel<SortExpansion<'static, u32, OperandPair>>; 2]),
}

impl<T: Element> SortedExpansion<T> {
    pub fn new(device: &Device, tuning: &Tuning, kind: Kind) -> Result<Self> {
        let (windows, sort) = (tuning.windows, tuning.sort);
        let options = |group_size: usize, items: usize, chunks: u8| {
            let position_bits = (group_size * items).next_power_of_two().ilog2();
            kind.defined(Options::group_size(group_size))
                .define("ITEMS", items)
                .define("CHUNKS", chunks)
                .define("PACKED", u8::from(kind.row_bits + position_bits <= 32))
                .define("POSITION_BITS", position_bits)
                .define("SHORT_MAX", sort.short_max)
                .define("TILE", tuning.tiles.products)
        };
        let of_windows = options(windows.group_size, windows.items, 0);
        let of_chunks = options(sort.group_size, sort.chunk / sort.group_size, 1);
        let kernels = match tuning.payload {
            PayloadKind::Values => {
                let of = |options: Options| kernel::<_, T::Arithmetic>(device, options.element::<T>());
                Kernels::Values([of(of_windows)?, of(of_chunks)?])
            }
            PayloadKind::Pairs => Kernels::Pairs([kernel(device, of_windows)?, kernel(device, of_chunks)?]),
        };
        Ok(Self { kernels, windows, sort, tiles: tuning.tiles })
    }

    /// Expands a band of at least one product; of the result only chunks are left to merge.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_, T>,
        entries: &BEntries,
        segments: &BandSegments,
        band: &Band,
    ) -> Result<Expanded<T>> {
        let (a, b) = (factors.a, factors.b);
        match (&self.kernels, factors.values) {
            (Kernels::Values(kernels), Some((a_values, b_values))) => {
                let operands = [a_values, b_values];
                self.launch(work, kernels, (factors, operands), entries, segments, band, Payload::Values)
            }
            (Kernels::Pairs(kernels), _) => {
                let operands = [factors.a_source.unwrap_or(&a.row_idx), factors.b_source.unwrap_or(&b.row_idx)];
                self.launch(work, kernels, (factors, operands), entries, segments, band, Payload::Pairs)
            }
            (Kernels::Values(_), None) => unreachable!("a plan keeps pairs"),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one launch for both kinds of payload")]
    fn launch<V: Word, P: Word>(
        &self,
        work: &Work,
        [of_windows, of_chunks]: &[Kernel<SortExpansion<'static, V, P>>; 2],
        (factors, [a_operand, b_operand]): (Factors<'_, T>, [&Buffer<V>; 2]),
        entries: &BEntries,
        segments: &BandSegments,
        band: &Band,
        kind: impl Fn(Buffer<P>) -> Payload<T>,
    ) -> Result<Expanded<T>> {
        work.stage("expansion");
        let (products, sizes) = (band.sizes.products as usize, segments.for_sort());
        let between = if sizes.chunks > 0 { products } else { 0 };
        let (mut rows_between, mut payload_between) = (work.buffer(between)?, work.buffer(between)?);
        let (mut rows, mut payload) = (work.buffer(products)?, work.buffer(products)?);
        let mut tile_segment = work.buffer(self.tiles.count(products as u32) + 1)?;
        // All short segments that begin in a window fit a work-group: the shorter the longest, the wider the windows.
        let window = self.windows.room() - self.sort.short_max.min(sizes.longest as usize);
        let windows = if sizes.has_short { products.div_ceil(window) } else { 0 };
        let grids =
            [Grid::groups(windows, self.windows.group_size), Grid::groups(sizes.chunks as usize, self.sort.group_size)];
        for (kernel, grid) in [of_windows, of_chunks].into_iter().zip(grids) {
            let args = SortExpansion {
                a: factors.a,
                a_operand,
                b: factors.b,
                b_operand,
                b_prods: &entries.prods,
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
        let between = Some((rows_between, kind(payload_between)));
        Ok(Expanded { rows, payload: kind(payload), tile_segment, between })
    }
}

fn kernel<V: Word, P: Word>(device: &Device, options: Options) -> Result<Kernel<SortExpansion<'static, V, P>>> {
    let options = options.word::<P>("PAYLOAD").define("PAYLOAD_IS_WIDE", u8::from(size_of::<P>() == 8));
    Kernel::new(device, &options)
}
