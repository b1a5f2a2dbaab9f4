//! Stage 1 of 6, setup (Polok 2015, Algorithm 1): the products of each entry of B, the segments of the expansion and, by round trip 1,
//! their sizes. Kernels: `cl/product/esc/setup.cl`.
//!
//! The paper also writes the column of each entry (its line 10 marks each column's last one, which empty columns break). Whoever needs
//! it looks it up among the columns it has at hand, by bisection: no array, and four launches fewer.
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, at_most, kernel},
    primitives::{
        scan::{Scan, ScanTuning},
        segmented_sort::Segments,
    },
    product::{Part, bands::Band, tuning::Tuning},
    resident::{InPattern, PatternArrays},
};
use std::ops::Range;

kernel! {
    struct SetupEntries = "setup_entries" in "product/esc/setup.cl" {
        a: InPattern,
        b: InPattern,
        b_prods: Out<u64>,
        tile_prods: Out<u64>,
        b_cols: u32,
        b_nnz: u32,
    }
}

kernel! {
    struct SetupSegments = "setup_segments" in "product/esc/setup.cl" {
        b_col_ptr: In<u32>,
        b_prods: In<u64>,
        segment_ptr: Out<u32>,
        chunk_ptr: Out<u32>,
        record: Out<u64>,
        first_product: u64,
        first_col: u32,
        cols: u32,
    }
}

pub(crate) struct Setup {
    entries: Kernel<SetupEntries<'static>>,
    segments: Kernel<SetupSegments<'static>>,
    sum: Scan<u64>,
    chunk_sum: Scan<u32>,
    scan: ScanTuning,
    record_groups: usize,
}

/// What setup knows of each entry of B.
pub(crate) struct BEntries {
    /// Products of all entries before; one more, the expansion size.
    pub prods: Buffer<u64>,
}

/// The sizes that decide what is allocated and launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    /// Expansion size.
    pub products: u64,
    /// Products of the longest segment.
    pub longest: u64,
    /// Chunks the sort cuts long segments into.
    pub chunks: u64,
    /// Non-empty segments that the sort takes whole.
    pub shorts: u64,
    /// Products of segments of more than one chunk.
    pub in_chunks: u64,
}

/// The segments of a band's expansion, as the sort takes them.
pub(crate) struct BandSegments {
    pub ptr: Buffer<u32>,
    /// Chunks of each segment; their offsets once [`Setup::segments`] has scanned them.
    chunk_ptr: Buffer<u32>,
    sizes: Sizes,
}

/// What setup leaves to the other stages.
pub(crate) struct Counted {
    pub entries: BEntries,
    pub sizes: Sizes,
    /// The segments of the whole expansion, until somebody takes them.
    whole: Option<BandSegments>,
}

impl BandSegments {
    pub fn for_sort(&self) -> Segments<'_> {
        Segments {
            ptr: &self.ptr,
            chunk_ptr: &self.chunk_ptr,
            longest: self.sizes.longest as u32,
            chunks: self.sizes.chunks as u32,
            has_short: self.sizes.shorts > 0,
        }
    }
}

impl Setup {
    pub fn new(device: &Device, tuning: &Tuning, part: Part) -> Result<Self> {
        let options = Options::group_size(tuning.scan.group_size)
            .define("ITEMS", tuning.scan.items)
            .define("SHORT_MAX", tuning.sort.short_max)
            .define("CHUNK", tuning.sort.chunk)
            .define("ONLY_LOWER", u8::from(part == Part::Lower))
            .define("ONLY_UPPER", u8::from(part == Part::Upper));
        Ok(Self {
            entries: Kernel::new(device, &options)?,
            segments: Kernel::new(device, &options)?,
            sum: Scan::finishing(device, tuning.scan)?,
            chunk_sum: Scan::finishing(device, tuning.scan)?,
            scan: tuning.scan,
            record_groups: tuning.record_groups,
        })
    }

    /// Counts the products of each entry of B, and reads the sizes of the whole expansion (round trip 1).
    pub fn run(&self, work: &Work, a: &PatternArrays, b: &PatternArrays) -> Result<Counted> {
        work.stage("setup");
        let (nnz, cols) = (b.nnz(), b.ncols);
        let tiles = (nnz + 1).div_ceil(self.scan.tile());
        let (mut prods, mut tile_prods) = (work.buffer(nnz + 1)?, work.buffer(tiles)?);
        let args = SetupEntries {
            a,
            b,
            b_prods: &mut prods,
            tile_prods: &mut tile_prods,
            b_cols: cols as u32,
            b_nnz: nnz as u32,
        };
        self.entries.launch(work, Grid::groups(tiles, self.scan.group_size), args)?;
        self.sum.finish(work, &mut prods, nnz + 1, tile_prods)?;

        let entries = BEntries { prods };
        let (segments, record) = self.launch(work, b, &entries, 0, 0..cols)?;
        let sizes = record.download(work)?.chunks_exact(5).fold(Sizes::default(), |sizes, of_group| Sizes {
            products: sizes.products.max(of_group[3]),
            longest: sizes.longest.max(of_group[0]),
            chunks: sizes.chunks + of_group[1],
            shorts: sizes.shorts + of_group[2],
            in_chunks: sizes.in_chunks + of_group[4],
        });
        // An entry of B meets a column of A.
        let most = (nnz as u64).saturating_mul(a.nrows.min(a.nnz()) as u64);
        let Sizes { products, longest, chunks, shorts, in_chunks } = sizes;
        at_most("products", products, most)?;
        for (what, count) in [("products of a column", longest), ("products in chunks", in_chunks), ("chunks", chunks)]
        {
            at_most(what, count, products)?;
        }
        at_most("columns of C", shorts, cols as u64)?;
        Ok(Counted { entries, sizes, whole: Some(BandSegments { sizes, ..segments }) })
    }

    /// Products of each column of C; one read, for when one band does not do. Only for columns below 2^32 products.
    pub fn column_products(&self, work: &Work, counted: &mut Counted) -> Result<Vec<u32>> {
        // The offsets are modulo 2^32, their differences are not, and the bands make their own.
        let offsets = counted.whole.take().map(|whole| whole.ptr.download(work)).transpose()?.unwrap_or_default();
        let columns: Vec<u32> = offsets.windows(2).map(|ends| ends[1].wrapping_sub(ends[0])).collect();
        match columns.iter().map(|&products| u64::from(products)).sum::<u64>() {
            sum if sum == counted.sizes.products => Ok(columns),
            sum => Err(Error::Contradiction(format!(
                "the columns have {sum} products, all of them {}",
                counted.sizes.products
            ))),
        }
    }

    /// The segments of one band, ready for the sort.
    pub fn segments(&self, work: &Work, b: &PatternArrays, counted: &mut Counted, band: &Band) -> Result<BandSegments> {
        work.stage("setup");
        let mut segments = match counted.whole.take() {
            Some(whole) => whole,
            None => {
                let columns = band.columns.start as usize..band.columns.end as usize;
                let (segments, _) = self.launch(work, b, &counted.entries, band.first_product, columns)?;
                BandSegments { sizes: band.sizes, ..segments }
            }
        };
        if segments.sizes.chunks > 0 {
            self.chunk_sum.run(work, &mut segments.chunk_ptr)?;
        }
        Ok(segments)
    }

    fn launch(
        &self,
        work: &Work,
        b: &PatternArrays,
        entries: &BEntries,
        first_product: u64,
        columns: Range<usize>,
    ) -> Result<(BandSegments, Buffer<u64>)> {
        let cols = columns.len();
        let groups = (cols + 1).div_ceil(self.scan.group_size).min(self.record_groups);
        let (mut ptr, mut chunk_ptr) = (work.buffer(cols + 1)?, work.buffer(cols + 1)?);
        let mut record = work.buffer(5 * groups)?;
        let args = SetupSegments {
            b_col_ptr: &b.col_ptr,
            b_prods: &entries.prods,
            segment_ptr: &mut ptr,
            chunk_ptr: &mut chunk_ptr,
            record: &mut record,
            first_product,
            first_col: columns.start as u32,
            cols: cols as u32,
        };
        self.segments.launch(work, Grid::groups(groups, self.scan.group_size), args)?;
        Ok((BandSegments { ptr, chunk_ptr, sizes: Sizes::default() }, record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Csc,
        device::test_device,
        product::esc::tests::{edge_cases, tunings},
    };

    /// Products before each entry of B, where each column's products begin.
    fn model(a: &Csc<f64>, b: &Csc<f64>) -> (Vec<u64>, Vec<u32>) {
        let (mut prods, mut segments, mut products) = (vec![], vec![], 0u64);
        for col in 0..b.ncols() {
            segments.push(products as u32);
            for &k in b.pattern().column(col) {
                prods.push(products);
                products += a.pattern().column(k as usize).len() as u64;
            }
        }
        segments.push(products as u32);
        prods.push(products);
        (prods, segments)
    }

    #[test]
    fn agrees_with_its_model() -> Result<()> {
        for case in edge_cases()? {
            for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
                let setup = Setup::new(&test_device(), &tuning, Part::Full)?;
                let mut counted = setup.run(&case.work, &case.a, &case.b)?;
                let (prods, segment_ptr) = model(&case.host.0, &case.host.1);
                assert_eq!(counted.entries.prods.download(&case.work)?, prods);
                let lengths: Vec<u64> = segment_ptr.windows(2).map(|s| u64::from(s[1] - s[0])).collect();
                let short = |&&length: &&u64| length > 0 && length <= tuning.sort.short_max as u64;
                let long = lengths.iter().filter(|&&length| length > tuning.sort.short_max as u64);
                let sizes = Sizes {
                    products: *prods.last().unwrap(),
                    longest: *lengths.iter().max().unwrap(),
                    chunks: long.map(|length| length.div_ceil(tuning.sort.chunk as u64)).sum(),
                    shorts: lengths.iter().filter(short).count() as u64,
                    in_chunks: lengths.iter().filter(|&&length| length > tuning.sort.chunk as u64).sum(),
                };
                assert_eq!(counted.sizes, sizes);
                let segments = setup.segments(&case.work, &case.b, &mut counted, &case.band(sizes))?;
                assert_eq!(segments.ptr.download(&case.work)?, segment_ptr);
            }
        }
        Ok(())
    }
}
