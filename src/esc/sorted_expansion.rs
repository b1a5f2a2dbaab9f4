//! Stages 2 and 3 for devices with fast local memory: products are sorted before they are written for the first time, those of short
//! segments whole, those of long ones by chunks, which stage 3 merges. Kernel: `cl/esc/sorted_expansion.cl`.
use super::{
    Kind, Part, Tuning,
    bands::Band,
    expansion::{Expanded, Factors, Payload},
    setup::{BEntries, BandSegments},
    tuning::{PayloadKind, TileTuning},
};
use crate::{
    Element, OperandPair, Result, Word,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    primitives::segmented_sort::SortTuning,
};

type Signature<V, P> = (
    In<u32>,
    In<u32>,
    In<V>,
    In<u32>,
    In<u32>,
    In<V>,
    In<u64>,
    In<u32>,
    In<u32>,
    Out<u32>,
    Out<P>,
    Out<u32>,
    Out<P>,
    Out<u32>,
    u64,
    u32,
    u32,
    u32,
    u32,
    u32,
);

pub(crate) struct SortedExpansion<T: Element> {
    kernel: Expand<T>,
    sort: SortTuning,
    tiles: TileTuning,
}

enum Expand<T: Element> {
    Values(Kernel<Signature<T, T::Arithmetic>>),
    Pairs(Kernel<Signature<u32, OperandPair>>),
}

impl<T: Element> SortedExpansion<T> {
    pub fn new(device: &Device, tuning: &Tuning, kind: Kind) -> Result<Self> {
        let options = Options::group_size(tuning.sort.group_size)
            .define("ITEMS", tuning.sort.chunk / tuning.sort.group_size)
            .define("SHORT_MAX", tuning.sort.short_max)
            .define("TILE", tuning.tiles.products)
            .define("FROM_END", u8::from(kind.part == Part::Lower))
            .define("A_TRANSPOSED", u8::from(kind.transposed.a))
            .define("B_TRANSPOSED", u8::from(kind.transposed.b));
        let (expansion, name) = (source!("esc/sorted_expansion.cl"), "sorted_expansion");
        let kernel = match tuning.payload {
            PayloadKind::Values => {
                let options = options.element::<T>();
                Expand::Values(device.kernel(expansion, &payload::<T::Arithmetic>(options), name)?)
            }
            PayloadKind::Pairs => Expand::Pairs(device.kernel(expansion, &payload::<OperandPair>(options), name)?),
        };
        Ok(Self { kernel, sort: tuning.sort, tiles: tuning.tiles })
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
        match (&self.kernel, factors.values) {
            (Expand::Values(kernel), Some((a_values, b_values))) => {
                let of = (a_values, b_values);
                self.launch(work, kernel, (factors, of), entries, segments, band, Payload::Values)
            }
            (Expand::Pairs(kernel), _) => {
                let of = (factors.a_source.unwrap_or(&a.row_idx), factors.b_source.unwrap_or(&b.row_idx));
                self.launch(work, kernel, (factors, of), entries, segments, band, Payload::Pairs)
            }
            (Expand::Values(_), None) => unreachable!("a plan keeps pairs"),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one launch for both kinds of payload")]
    fn launch<V: Word, P: Word>(
        &self,
        work: &Work,
        kernel: &Kernel<Signature<V, P>>,
        (factors, of): (Factors<'_, T>, (&Buffer<V>, &Buffer<V>)),
        entries: &BEntries,
        segments: &BandSegments,
        band: &Band,
        kind: impl Fn(Buffer<P>) -> Payload<T>,
    ) -> Result<Expanded<T>> {
        work.stage("expansion");
        let (a, b) = (factors.a, factors.b);
        let (products, sizes) = (band.sizes.products as usize, segments.for_sort());
        let between = if sizes.chunks > 0 { products } else { 0 };
        let (mut rows_between, mut payload_between) = (work.buffer(between)?, work.buffer(between)?);
        let (mut rows, mut payload) = (work.buffer(products)?, work.buffer(products)?);
        let mut tile_segment = work.buffer(self.tiles.count(products as u32) + 1)?;
        // All short segments that begin in a window fit a chunk: the shorter the longest, the wider the windows.
        let window = self.sort.chunk - self.sort.short_max.min(sizes.longest as usize);
        let windows = if sizes.has_short { products.div_ceil(window) } else { 0 };
        let grid = Grid::groups(windows + sizes.chunks as usize, self.sort.group_size);
        kernel.launch(
            work,
            grid,
            (
                &a.col_ptr,
                &a.row_idx,
                of.0,
                &b.col_ptr,
                &b.row_idx,
                of.1,
                &entries.prods,
                sizes.ptr,
                sizes.chunk_ptr,
                &mut rows_between,
                &mut payload_between,
                &mut rows,
                &mut payload,
                &mut tile_segment,
                band.first_product,
                products as u32,
                band.columns.start,
                band.columns.len() as u32,
                window as u32,
                windows as u32,
            ),
        )?;
        let between = Some((rows_between, kind(payload_between)));
        Ok(Expanded { rows, payload: kind(payload), tile_segment, between })
    }
}

fn payload<P: Word>(options: Options) -> Options {
    options.word::<P>("PAYLOAD").define("PAYLOAD_IS_WIDE", u8::from(size_of::<P>() == 8))
}
