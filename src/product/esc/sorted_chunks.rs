//! Expansion and sort of the chunks of long segments in registers, for devices whose teams are
//! warps. Columns of A are first cut by rows, if that is cheaper than merging the chunks. Kernels:
//! `cl/product/esc/sorted_chunks.cl`.
use super::{Columns, Products, expansion::InExpanded};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, Kernel, Out, Payload, Work, arguments, kernel},
    element::Cut,
    primitives::segmented_sort::{SortSegments, SortTuning},
    product::{
        terms::{Band, InOperands, Part, Sizes, Spec},
        tuning::{ChunkTuning, Tuning},
    },
    resident::InPattern,
};

arguments! {
    /// The segments of a band, and their chunks.
    pub(super) struct InSegments {
        b_prods: In<u64>,
        segment_ptr: In<u32>,
        chunk_ptr: In<u32>,
    }
}

arguments! {
    /// The arrays to which sorted products are written.
    pub(super) struct InSorted {
        row_between: Out<u32>,
        payload_between: Out<Payload>,
        expanded: InExpanded<'static>,
    }
}

kernel! {
    in "ptx.cl", "team.cl", "product/terms/payload.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/esc/search.cl", "product/esc/sorted_chunks.cl":
    struct CutChunks = "cut_chunks" {
        a: InPattern,
        b: InPattern,
        segments: InSegments<'static>,
        cut: Out<Cut>,
        first_col: u32,
        cols: u32,
        rows: u32,
    }
    struct SortChunks = "sorted_chunks" {
        factors: InOperands<'static>,
        segments: InSegments<'static>,
        cut: In<Cut>,
        sorted: InSorted<'static>,
        by_rows: u32,
        above: u32,
    }
}

/// The kernel that sorts chunks, for one size of work-groups.
type Sort = Kernel<SortChunks<'static>>;

/// Rows and payloads of the products that need an odd number of merge passes, before the first
/// pass.
pub(super) struct Between {
    pub rows: Buffer<u32>,
    pub payload: Buffer,
}

impl<'a> InSegments<'a> {
    pub fn of(task: &'a Columns<'_>, segments: &SortSegments<'a>) -> Self {
        Self { b_prods: &task.analysis.prods, segment_ptr: segments.ptr, chunk_ptr: segments.chunk_ptr }
    }
}

impl<'a> InSorted<'a> {
    pub fn of(band: &Band, between: &'a mut Between, products: &'a mut Products) -> Self {
        let Between { rows, payload } = between;
        Self { row_between: rows, payload_between: payload, expanded: InExpanded::of(band, products) }
    }
}

/// The kernels for chunks of one size.
pub(super) struct SortedChunks {
    /// The kernels that cut chunks, by ascending number of entries that a column of B may have. The
    /// last kernel can cut every column that is to be cut.
    cut: Vec<(ChunkTuning, Kernel<CutChunks<'static>>)>,
    /// The kernels that sort chunks, by ascending size of the chunks. The last kernel sorts whole
    /// chunks.
    sort: Vec<(ChunkTuning, Sort)>,
    chunks: ChunkTuning,
    merge: SortTuning,
}

impl SortedChunks {
    /// Makes the kernels. Returns `None` on devices without warps.
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Option<Self>> {
        let Some(chunks) = tuning.chunks else { return Ok(None) };
        let options = |of: &ChunkTuning| {
            tuning
                .payload
                .define(of.options(spec.row_bits), spec)
                .define("FROM_END", u8::from(spec.part == Part::Lower))
                .define("CHUNK", chunks.room())
                .define("ENTRIES", of.entries)
                .define("TILE", tuning.tiles.products)
        };
        let sort = |of: ChunkTuning| {
            let kernel = Kernel::rare(device, &options(&of))?;
            if of == chunks {
                kernel.ask(device);
            }
            Ok((of, kernel))
        };
        let cut = |of: ChunkTuning| Ok((of, Kernel::rare(device, &options(&of))?));
        let cut = chunks.cutting().map(cut).collect::<Result<_>>()?;
        let sort = chunks.smaller().chain([chunks]).map(sort).collect::<Result<_>>()?;
        Ok(Some(Self { cut, sort, chunks, merge: tuning.sort }))
    }

    /// Whether no chunks are merged: every column has one chunk, or chunks are cut by rows. Chunks
    /// are cut by rows if the host knows that the columns of B are short enough, and if that is
    /// cheaper than merging. A chunk cut by rows searches all entries of its column, whose length
    /// is taken to be the average.
    pub fn are_whole(&self, task: &Columns<'_>) -> bool {
        let (b, sizes) = (task.factors.b, task.band.sizes);
        let looks = sizes.chunks * b.nnz() as u64 / b.ncols.max(1) as u64;
        let merged = sizes.in_chunks * u64::from(self.merge.passes(sizes.longest as u32));
        let is_short = b.lengths.is_some_and(|of| of.longest as usize <= self.chunks.entries);
        merged == 0 || is_short && looks * self.chunks.look_products as u64 <= merged
    }

    /// Writes the products of long segments. If no chunks are merged, all products of a segment are
    /// in sorted order. If chunks are merged, each chunk is in sorted order, and is written to
    /// `between` or to `products`.
    pub fn run(
        &self,
        work: &Work,
        task: &Columns<'_>,
        segments: &SortSegments<'_>,
        between: &mut Between,
        products: &mut Products,
    ) -> Result<()> {
        let (factors, chunks) = (task.factors, segments.chunks as usize);
        if chunks == 0 {
            return Ok(());
        }
        let by_rows = self.are_whole(task);
        let grid = |of: &ChunkTuning| Grid::groups(chunks, of.team.group_size(1));
        let mut cut = work.buffer(chunks)?;
        if by_rows && segments.longest as usize > self.chunks.room() {
            let args = CutChunks {
                a: factors.a,
                b: factors.b,
                segments: InSegments::of(task, segments),
                cut: &mut cut,
                first_col: task.band.columns.start,
                cols: task.band.columns.len() as u32,
                rows: factors.a.nrows as u32,
            };
            let longest = factors.b.lengths.map_or(usize::MAX, |of| of.longest as usize);
            let fits = self.cut.iter().find(|(of, _)| longest <= of.entries);
            let (of, cut) = fits.or(self.cut.last()).expect("one of them");
            cut.launch(work, grid(of), args)?;
        }
        let mut above = 0;
        for (of, sort) in self.kernels(&task.band.sizes, by_rows) {
            let args = SortChunks {
                factors: factors.into(),
                segments: InSegments::of(task, segments),
                cut: &cut,
                sorted: InSorted::of(task.band, between, products),
                by_rows: by_rows.into(),
                above,
            };
            sort.launch(work, grid(of), args)?;
            above = of.room() as u32;
        }
        Ok(())
    }

    /// The kernels that sort all chunks, by ascending size of the chunks. The last kernel is the
    /// smallest that can hold the longest chunk. If chunks are less than three quarters full,
    /// kernels for a third and for two thirds of a chunk come before it.
    fn kernels(&self, sizes: &Sizes, by_rows: bool) -> impl Iterator<Item = &(ChunkTuning, Sort)> {
        let of = |room: u64| self.sort.iter().position(|(of, _)| of.room() as u64 >= room);
        let chunk = self.chunks.room() as u64;
        // Number of chunks of the longest column. If all long columns are cut by rows into as many
        // chunks as the longest column, no other column has longer chunks than the longest column.
        let each = sizes.longest.div_ceil(chunk).max(1);
        let alike = by_rows && sizes.shortest_long.div_ceil(chunk) == each;
        let most = if alike { sizes.longest.div_ceil(each) } else { sizes.longest.min(chunk) };
        let longest = of(most).unwrap_or(self.sort.len() - 1);
        let are_short = sizes.products * 4 < sizes.chunks * most * 3;
        let shorter = [chunk / 3, chunk * 2 / 3].into_iter().filter(move |_| are_short).filter_map(of);
        shorter.filter(move |&short| short < longest).chain([longest]).map(|of| &self.sort[of])
    }
}

#[cfg(test)]
mod tests;
