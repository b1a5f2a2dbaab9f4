//! Sorts the entries of compressed columns by row, on GPUs. Each entry takes the next place of its
//! row from a counter. Then the entries of each row are sorted. Kernels:
//! `cl/primitives/arrivals.cl`.
//!
//! Entries are read twice and written twice, whatever the number of rows, while a radix sort takes
//! a pass for every few bits of that number. Entries arrive in any order, but they are then sorted
//! by their numbers, so the result is that of a stable sort.
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Options, Out, Work, kernel, kernels},
    primitives::{
        RadixNumbers,
        scan::{Scan, ScanTuning},
    },
    resident::PatternArrays,
};

kernel! {
    in "primitives/arrivals.cl":
    struct CountArrivals = "count_arrivals" {
        row_idx: In<u32>,
        count: InOut<u32>,
        place: Out<u32>,
        found: InOut<u32>,
        n: u32,
    }
    struct PlaceArrivals = "place_arrivals" {
        row_idx: In<u32>,
        place: In<u32>,
        row_ptr: In<u32>,
        col_ptr: In<u32>,
        pair: Out<u64>,
        n: u32,
        ncols: u32,
    }
    struct OrderRows = "order_rows" {
        row_ptr: In<u32>,
        pair: In<u64>,
        column: Out<u32>,
        order: Out<u32>,
        found: InOut<u32>,
        longer: Out<u32>,
        rows: u32,
    }
    struct OrderLong = "order_long" {
        row_ptr: In<u32>,
        pair: In<u64>,
        column: Out<u32>,
        order: Out<u32>,
        found: In<u32>,
        longer: In<u32>,
    }
}

/// Parameters with which the kernels are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrivalTuning {
    pub group_size: usize,
    /// Number of entries that a work-item counts or places.
    pub items: usize,
    /// Number of work-items that sort a row.
    pub lanes: usize,
    /// Most entries of a row that its work-items keep in local memory: a multiple of 4.
    pub held: usize,
    /// Most entries of a row that a work-group can sort: a power of two.
    pub longest: usize,
}

/// Entries that each work-item counts or places.
const ITEMS: usize = 8;

/// Most entries of an average row. If an average row had more than `AVERAGE` entries, many items
/// would wait for the same counters.
const AVERAGE: usize = 128;

impl ArrivalTuning {
    /// Parameters for `rows` rows and `entries` entries, or `None` if the device sorts the entries
    /// by a radix sort.
    pub fn new(device: &Device, rows: usize, entries: usize) -> Option<Self> {
        let (average, numbers) = (entries / rows.max(1), device.info().numbers::<RadixNumbers>());
        // If rows are short, few lanes share a row, so that all lanes are busy. If rows are long,
        // many lanes share a row, so that the rows of a group fit its local memory.
        let lanes = if average <= 8 { 8 } else { 32 };
        let group_size = numbers.radix_group;
        let counts = group_size >= 32 && average <= AVERAGE;
        counts.then_some(Self { group_size, items: ITEMS, lanes, held: 8 * lanes, longest: 1024 })
    }

    fn options(&self) -> Options {
        Options::group_size(self.group_size)
            .define("ITEMS", self.items)
            .define("LANES", self.lanes)
            .define("HELD", self.held)
            .define("LONGEST", self.longest)
    }
}

/// The entries sorted by row.
pub(crate) struct Arrived {
    pub row_ptr: Buffer<u32>,
    pub column: Buffer<u32>,
    /// The index of each entry in the columns.
    pub order: Buffer<u32>,
    /// Entries of the longest row.
    pub longest: usize,
}

/// The result of counting the entries of rows.
pub(crate) enum Counted {
    Ordered(Box<Arrived>),
    /// A row is too long to be sorted by arrivals. The number is the length of the longest row.
    TooLong(usize),
}

kernels! {
    struct Kernels {
        new count: CountArrivals,
        new place: PlaceArrivals,
        new order: OrderRows,
        rare order_long: OrderLong,
    }
}

pub(crate) struct Arrivals {
    kernels: Kernels,
    scan: Scan<u32>,
    tuning: ArrivalTuning,
    compute_units: usize,
}

impl Arrivals {
    pub fn new(device: &Device, tuning: ArrivalTuning) -> Result<Self> {
        let options = tuning.options();
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            tuning,
            compute_units: device.info().compute_units as usize,
        })
    }

    /// Sorts the entries by row, unless a row is too long. Reads back the length of the longest
    /// row.
    pub fn run(&self, work: &Work, pattern: &PatternArrays) -> Result<Counted> {
        let PatternArrays { nrows: rows, ncols, row_idx, col_ptr, .. } = pattern;
        let (n, tuning) = (row_idx.len(), &self.tuning);
        let (mut row_ptr, mut place, mut found) = (work.buffer(rows + 1)?, work.buffer(n)?, work.buffer(2)?);
        work.fill_zero(&mut row_ptr)?;
        work.fill_zero(&mut found)?;
        let grid = Grid::groups(n.div_ceil(tuning.group_size * tuning.items), tuning.group_size);
        let args = CountArrivals { row_idx, count: &mut row_ptr, place: &mut place, found: &mut found, n: n as u32 };
        self.kernels.count.launch(work, grid, args)?;
        let longest = found.download(work)?[0] as usize;
        if longest > tuning.longest {
            return Ok(Counted::TooLong(longest));
        }
        self.scan.run(work, &mut row_ptr)?;
        let (mut pair, mut column, mut order) = (work.buffer(n)?, work.buffer(n)?, work.buffer(n)?);
        let (ncols, n_32) = (*ncols as u32, n as u32);
        let args =
            PlaceArrivals { row_idx, place: &place, row_ptr: &row_ptr, col_ptr, pair: &mut pair, n: n_32, ncols };
        self.kernels.place.launch(work, grid, args)?;
        let most_longer = if longest > tuning.held { n / tuning.held } else { 0 };
        let mut longer = work.buffer(most_longer)?;
        let args = OrderRows {
            row_ptr: &row_ptr,
            pair: &pair,
            column: &mut column,
            order: &mut order,
            found: &mut found,
            longer: &mut longer,
            rows: *rows as u32,
        };
        self.kernels.order.launch(work, Grid::items(rows * tuning.lanes, tuning.group_size), args)?;
        if most_longer > 0 {
            let grid = Grid::groups(most_longer.min(4 * self.compute_units), tuning.group_size);
            let (row_ptr, pair, found, longer) = (&row_ptr, &pair, &found, &longer);
            let args = OrderLong { row_ptr, pair, column: &mut column, order: &mut order, found, longer };
            self.kernels.order_long.launch(work, grid, args)?;
        }
        Ok(Counted::Ordered(Box::new(Arrived { row_ptr, column, order, longest })))
    }
}
