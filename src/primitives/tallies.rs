//! Sorts the entries of compressed columns by row, on CPUs. Each work-item counts the rows of its
//! share of the entries in counters of its own, and then puts each entry in its place. Kernels:
//! `cl/primitives/tallies.cl`.
//!
//! Entries are read twice and written once. If neighbouring columns have neighbouring rows,
//! counters and places stay in the caches. A radix sort passes over all entries for every few bits
//! of the row numbers.
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Options, Out, Teams, Work, kernel, kernels},
    primitives::{
        RadixNumbers,
        scan::{Scan, ScanTuning},
    },
    resident::PatternArrays,
};

kernel! {
    in "primitives/tallies.cl":
    struct CountShare = "count_share" { row_idx: In<u32>, counts: InOut<u32>, n: u32, share: u32, rows: u32 }
    struct SumShares = "sum_shares" { counts: InOut<u32>, row_ptr: Out<u32>, rows: u32, shares: u32 }
    struct BeginShares = "begin_shares" { row_ptr: In<u32>, counts: InOut<u32>, rows: u32, shares: u32 }
    struct PlaceShare = "place_share" {
        row_idx: In<u32>,
        col_ptr: In<u32>,
        counts: InOut<u32>,
        column: Out<u32>,
        order: Out<u32>,
        n: u32,
        share: u32,
        rows: u32,
        ncols: u32,
    }
}

/// Parameters with which the kernels are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TallyTuning {
    /// Number of work-items. Each has a share of the entries and counters of its own.
    pub shares: usize,
    /// Number of rows whose counters a work-item adds up.
    pub stretch: usize,
}

/// Most counters of rows for each entry, added up over the work-items. The counters take no more
/// memory than a radix sort would.
const COUNTERS: usize = 2;

/// Number of rows whose counters a work-item adds up.
const STRETCH: usize = 1 << 12;

impl TallyTuning {
    /// Parameters for `rows` rows and `entries` entries, or `None` if the device uses another sort.
    /// GPUs use another sort, and so do CPUs if there are far more rows than entries, so that most
    /// counters would stay zero.
    pub fn new(device: &Device, rows: usize, entries: usize) -> Option<Self> {
        let info = device.info();
        let most = COUNTERS * entries / rows.max(1);
        // Two work-items for each core take as long as one, and need twice the counters.
        let shares = (info.compute_units as usize).min(most);
        let serial = info.numbers::<RadixNumbers>().radix_group < Teams::SIZE;
        (serial && shares > 0).then_some(Self { shares, stretch: STRETCH })
    }
}

/// The entries sorted by row.
pub(crate) struct Tallied {
    pub row_ptr: Buffer<u32>,
    pub column: Buffer<u32>,
    /// For each entry in row order, its index in the compressed columns.
    pub order: Buffer<u32>,
}

kernels! {
    struct Kernels { new count: CountShare, new sum: SumShares, new begin: BeginShares, new place: PlaceShare }
}

pub(crate) struct Tallies {
    kernels: Kernels,
    scan: Scan<u32>,
    tuning: TallyTuning,
}

impl Tallies {
    pub fn new(device: &Device, tuning: TallyTuning) -> Result<Self> {
        let options = Options::group_size(1).define("STRETCH", tuning.stretch);
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            tuning,
        })
    }

    /// Sorts the entries by row.
    pub fn run(&self, work: &Work, pattern: &PatternArrays) -> Result<Tallied> {
        let PatternArrays { nrows, ncols, row_idx, col_ptr, .. } = pattern;
        let (nnz, TallyTuning { shares, stretch }) = (row_idx.len(), self.tuning);
        let (mut row_ptr, mut counts) = (work.buffer(nrows + 1)?, work.buffer(shares * nrows)?);
        let (n, rows, share) = (nnz as u32, *nrows as u32, nnz.div_ceil(shares) as u32);
        let (of_entries, of_rows) = (Grid::groups(shares, 1), Grid::groups((nrows + 1).div_ceil(stretch), 1));
        work.fill_zero(&mut counts)?;
        self.kernels.count.launch(work, of_entries, CountShare { row_idx, counts: &mut counts, n, share, rows })?;
        let of_shares = shares as u32;
        let args = SumShares { counts: &mut counts, row_ptr: &mut row_ptr, rows, shares: of_shares };
        self.kernels.sum.launch(work, of_rows, args)?;
        self.scan.run(work, &mut row_ptr)?;
        let args = BeginShares { row_ptr: &row_ptr, counts: &mut counts, rows, shares: of_shares };
        self.kernels.begin.launch(work, of_rows, args)?;
        let (mut column, mut order) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let ncols = *ncols as u32;
        let args = PlaceShare {
            row_idx,
            col_ptr,
            counts: &mut counts,
            column: &mut column,
            order: &mut order,
            n,
            share,
            rows,
            ncols,
        };
        self.kernels.place.launch(work, of_entries, args)?;
        Ok(Tallied { row_ptr, column, order })
    }
}
