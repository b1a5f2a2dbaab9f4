//! Setup (Polok 2015, Algorithm 1, lines 1-14): the first step of ESC. Setup counts the products of
//! each entry of B, finds the segments of the expansion, and reads their sizes (round trip 1).
//! Kernels: `cl/product/esc/analysis.cl`.
//!
//! The paper also writes the column of each entry. (Line 10 of the listing marks the last entry of
//! each column, which fails for empty columns.) In blockmul a kernel that needs the column of an
//! entry finds it by bisection, which saves an array and four launches.
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, at_most, kernel},
    primitives::{
        scan::{Scan, ScanTuning},
        segmented_sort::SortSegments,
    },
    product::{
        terms::{Band, Part, Sizes},
        tuning::Tuning,
    },
    resident::{InPattern, PatternArrays},
};
use std::ops::Range;

kernel! {
    in "product/esc/analysis.cl":
    struct SetupEntries = "setup_entries" {
        a: InPattern,
        b: InPattern,
        b_prods: Out<u64>,
        tile_prods: Out<u64>,
        b_cols: u32,
        b_nnz: u32,
        part: u32,
    }
    struct SetupSegments = "setup_segments" {
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

/// The kernels of the analysis.
pub(crate) struct Analyser {
    entries: Kernel<SetupEntries<'static>>,
    segments: Kernel<SetupSegments<'static>>,
    sum: Scan<u64>,
    chunk_sum: Scan<u32>,
    scan: ScanTuning,
    part: Part,
    record_groups: usize,
    short_max: u64,
}

/// The segments of a band's expansion, as the sort takes them.
pub(crate) struct BandSegments {
    pub ptr: Buffer<u32>,
    /// Number of chunks of each segment. [`Analyser::segments`] scans the numbers of chunks, which
    /// makes them the offsets of the chunks.
    chunk_ptr: Buffer<u32>,
    sizes: Sizes,
}

/// The products of each entry of B.
pub(crate) struct Analysis {
    /// Products of all entries before each entry of B; the last element is the expansion size.
    pub prods: Buffer<u64>,
    pub sizes: Sizes,
    /// The segments of the whole expansion, until a band takes them.
    whole: Option<BandSegments>,
}

impl Analysis {
    /// Wraps the counts of a B whose sizes are known.
    #[cfg(test)]
    pub fn new(prods: Buffer<u64>, sizes: Sizes) -> Self {
        Self { prods, sizes, whole: None }
    }
}

impl BandSegments {
    pub fn for_sort(&self) -> SortSegments<'_> {
        SortSegments {
            ptr: &self.ptr,
            chunk_ptr: &self.chunk_ptr,
            longest: self.sizes.longest as u32,
            chunks: self.sizes.chunks as u32,
            has_short: self.sizes.shorts > 0,
        }
    }
}

impl Analyser {
    pub fn new(device: &Device, tuning: &Tuning, part: Part) -> Result<Self> {
        let options = Options::group_size(tuning.scan.group_size)
            .define("ITEMS", tuning.scan.items)
            .define("SHORT_MAX", tuning.sort.short_max)
            .define("CHUNK", tuning.sort.chunk)
            .define("RECORD", Sizes::WORDS);
        Ok(Self {
            entries: Kernel::new(device, &options)?,
            segments: Kernel::new(device, &options)?,
            sum: Scan::finishing(device, tuning.scan)?,
            chunk_sum: Scan::finishing(device, tuning.scan)?,
            scan: tuning.scan,
            part,
            record_groups: tuning.record_groups,
            short_max: tuning.sort.short_max as u64,
        })
    }

    /// Counts the products of each entry of B, and reads the sizes of the whole expansion (round
    /// trip 1).
    pub fn run(&self, work: &Work, a: &PatternArrays, b: &PatternArrays) -> Result<Analysis> {
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
            part: match self.part {
                Part::Full => 0,
                Part::Lower => 1,
                Part::Upper => 2,
            },
        };
        self.entries.launch(work, Grid::groups(tiles, self.scan.group_size), args)?;
        self.sum.finish(work, &mut prods, nnz + 1, tile_prods)?;

        let (segments, record) = self.launch(work, b, &prods, 0, 0..cols)?;
        let sizes = record.download(work)?.chunks_exact(Sizes::WORDS).fold(Sizes::default(), |sizes, of_group| Sizes {
            chunks: sizes.chunks + of_group[0],
            shorts: sizes.shorts + of_group[1],
            in_chunks: sizes.in_chunks + of_group[2],
            longest: sizes.longest.max(of_group[3]),
            products: sizes.products.max(of_group[4]),
            longest_short: sizes.longest_short.max(of_group[5]),
            shortest_long: [sizes.shortest_long, of_group[6]].into_iter().filter(|&long| long > 0).min().unwrap_or(0),
        });
        // An entry of B is multiplied by one column of A.
        let most = (nnz as u64).saturating_mul(a.nrows.min(a.nnz()) as u64);
        let Sizes { products, longest, chunks, shorts, in_chunks, longest_short, shortest_long } = sizes;
        at_most("products", products, most)?;
        for (what, count) in [("products of a column", longest), ("products in chunks", in_chunks), ("chunks", chunks)]
        {
            at_most(what, count, products)?;
        }
        at_most("columns of C", shorts, cols as u64)?;
        at_most("products of a short column", longest_short, self.short_max)?;
        at_most("products of a long column", shortest_long, longest)?;
        Ok(Analysis { prods, sizes, whole: Some(BandSegments { sizes, ..segments }) })
    }

    /// Products of each column of C, for cutting C into bands. The host reads once from the device.
    /// Every column must have fewer than 2^32 products.
    pub fn column_products(&self, work: &Work, analysis: &mut Analysis) -> Result<Vec<u32>> {
        // The offsets are modulo 2^32, but their differences are exact. The bands compute their own
        // offsets.
        let offsets = analysis.whole.take().map(|whole| whole.ptr.download(work)).transpose()?.unwrap_or_default();
        let columns: Vec<u32> = offsets.windows(2).map(|ends| ends[1].wrapping_sub(ends[0])).collect();
        match columns.iter().map(|&products| u64::from(products)).sum::<u64>() {
            sum if sum == analysis.sizes.products => Ok(columns),
            sum => Err(Error::Contradiction(format!(
                "the columns have {sum} products, all of them {}",
                analysis.sizes.products
            ))),
        }
    }

    /// The segments of one band, ready for the sort.
    pub fn segments(
        &self,
        work: &Work,
        b: &PatternArrays,
        analysis: &mut Analysis,
        band: &Band,
    ) -> Result<BandSegments> {
        work.stage("setup");
        let mut segments = match analysis.whole.take() {
            Some(whole) => whole,
            None => {
                let columns = band.columns.start as usize..band.columns.end as usize;
                let (segments, _) = self.launch(work, b, &analysis.prods, band.first_product, columns)?;
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
        prods: &Buffer<u64>,
        first_product: u64,
        columns: Range<usize>,
    ) -> Result<(BandSegments, Buffer<u64>)> {
        let cols = columns.len();
        let groups = (cols + 1).div_ceil(self.scan.group_size).min(self.record_groups);
        let (mut ptr, mut chunk_ptr) = (work.buffer(cols + 1)?, work.buffer(cols + 1)?);
        let mut record = work.buffer(Sizes::WORDS * groups)?;
        let args = SetupSegments {
            b_col_ptr: &b.col_ptr,
            b_prods: prods,
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

    /// Products before each entry of B, and the first product of each column.
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
                let analyser = Analyser::new(&test_device(), &tuning, Part::Full)?;
                let mut analysis = analyser.run(&case.work, &case.a, &case.b)?;
                let (prods, segment_ptr) = model(&case.host.0, &case.host.1);
                assert_eq!(analysis.prods.download(&case.work)?, prods);
                let lengths: Vec<u64> = segment_ptr.windows(2).map(|s| u64::from(s[1] - s[0])).collect();
                let short = |&&length: &&u64| length > 0 && length <= tuning.sort.short_max as u64;
                let long = lengths.iter().filter(|&&length| length > tuning.sort.short_max as u64);
                let sizes = Sizes {
                    products: *prods.last().unwrap(),
                    longest: *lengths.iter().max().unwrap(),
                    chunks: long.clone().map(|length| length.div_ceil(tuning.sort.chunk as u64)).sum(),
                    shorts: lengths.iter().filter(short).count() as u64,
                    longest_short: lengths.iter().copied().filter(|length| short(&length)).max().unwrap_or(0),
                    shortest_long: long.clone().copied().min().unwrap_or(0),
                    in_chunks: lengths.iter().filter(|&&length| length > tuning.sort.chunk as u64).sum(),
                };
                assert_eq!(analysis.sizes, sizes);
                let segments = analyser.segments(&case.work, &case.b, &mut analysis, &case.band(sizes))?;
                assert_eq!(segments.ptr.download(&case.work)?, segment_ptr);
            }
        }
        Ok(())
    }
}
