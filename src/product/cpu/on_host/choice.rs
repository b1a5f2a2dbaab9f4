//! Decides whether the host computes a product in place of a CPU device. The functions of this file
//! are pure functions of sizes, numbers and costs. The predicted time of the host is compared with
//! that of the device. The first comparison uses facts that are known before anything is read. The
//! second uses the products of the patterns that were read.
use super::{
    HostNumbers,
    numbers::{ENTRY_PS, FAR_PS, MULTIPLICATION_PS, ROW_PS},
};
use crate::{
    BlockShape, DeviceInfo, DeviceKind,
    element::ElementType,
    gustavson::{Addition, Columns},
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        choose::{self},
        cpu::ranges::{CACHED_ROWS, RangeProfile, RangeTuning, Sides},
        terms::{Bin, Known, Method, PayloadKind},
    },
    tuning::{BinSize, MethodCosts},
};

/// Number of times that the host waits for copies: once for the operands, and once for C.
const WAITS: u32 = 2;

/// The sizes of a product that are known without its patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct HostSize {
    /// Rows and columns of C.
    pub rows: u64,
    pub columns: u64,
    /// Number of entries and columns that the host reads: all of B, and all of A if the host has to
    /// widen A's elements. If A's elements are not widened, the host reads only the columns of A
    /// that entries of B multiply, and columns of A are not counted.
    pub read: u64,
    /// The kind of payload: pairs if C has blocks, or if the factors have blocks.
    pub payload: PayloadKind,
    pub shapes: (BlockShape, BlockShape),
}

/// The choice between the host and the kernels of a CPU device.
pub(in crate::product) struct HostChoice {
    size: HostSize,
    costs: MethodCosts,
    /// The numbers by which the device's product is predicted.
    ranges: RangeTuning,
    /// Most entries of a C that the host computes.
    most: u64,
}

/// Most bytes of the array with a sum for each row of C, if the host needs it. The host allocates
/// up to `MOST_SUMS` bytes without checking the free memory.
const MOST_SUMS: u64 = 64 << 20;

/// Number of sums that a cache line holds.
const SUMS_OF_A_LINE: u64 = 8;

/// Most products for an average entry of C, in the largest products that the host computes.
const MERGING: u64 = 4;

/// A product of more than [`HostChoice::most`] products is computed by the host only if C has far
/// fewer entries than products. The operands of such a large product are read only if there are at
/// least `MANY` products for each entry and column that is read.
const MANY: u64 = 16;

/// Most columns of C whose entries are counted, and most products of these columns. Counting these
/// entries takes less time than one command of the device.
const SAMPLES: usize = 16;
const SAMPLED_PRODUCTS: u64 = 8192;

/// The sampled columns, evenly spaced, and their products.
fn sample(columns: &[HostColumn]) -> (Vec<usize>, u64) {
    let samples = columns.len().min(SAMPLES);
    let (mut sampled, mut products) = (Vec::new(), 0);
    for col in (0..samples).map(|sample| RangeTuning::sampled_column(sample, samples, columns.len())) {
        if products + columns[col].products <= SAMPLED_PRODUCTS {
            products += columns[col].products;
            sampled.push(col);
        }
    }
    (sampled, products)
}

/// Counts of a column of C, from the patterns, and the way in which the host would add it up.
#[derive(Clone, Copy)]
pub(in crate::product) struct HostColumn {
    /// Entries of the column of B.
    pub entries: u64,
    pub products: u64,
    /// Number of rows from the first to the last. The column has no more entries than `rows`.
    pub rows: u64,
    /// The structure in which the host adds the column's scalars.
    pub addition: Addition,
}

impl HostColumn {
    /// The numbers of column `col` of A·B.
    pub fn of(a: Columns<'_>, b: Columns<'_>, col: usize) -> Self {
        let entries = b.entries(col).len() as u64;
        let (rows, addition) = a.range_of(b, col);
        Self { entries, products: a.products(b, col), rows, addition }
    }
}

/// Sums over columns of C.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::product) struct HostSums {
    pub products: u64,
    /// Products of columns whose rows are far apart.
    pub far: u64,
    /// Whether some columns are added in an array with a sum for each row of C. Columns whose runs
    /// may be cut are added in such an array.
    pub in_all_rows: bool,
    /// Upper bound of the entries of C.
    pub most_entries: u64,
}

impl HostSums {
    pub fn add(&mut self, column: &HostColumn) {
        self.products += column.products;
        self.far += if column.addition == Addition::Window { 0 } else { column.products };
        self.in_all_rows |= column.addition == Addition::AllRows || column.entries > RUN_PIECE as u64;
        self.most_entries += column.products.min(column.rows);
    }
}

impl HostSize {
    /// The sizes of A·B: rows, columns and entries of A and of B, and whether A and B are the same
    /// matrix.
    pub fn of(
        element: ElementType,
        [rows, a_cols, a_nnz]: [usize; 3],
        [_, columns, b_nnz]: [usize; 3],
        is_square: bool,
        payload: PayloadKind,
        shapes: (BlockShape, BlockShape),
    ) -> Self {
        let widens_a = !is_square && element.bytes() != element.arithmetic().bytes();
        let of_a = if widens_a { a_nnz + a_cols } else { 0 };
        let read = (b_nnz + columns + of_a) as u64;
        Self { rows: rows as u64, columns: columns as u64, read, payload, shapes }
    }

    /// Bytes of the sums of all rows of C, for one thread.
    fn sums_bytes(&self) -> u64 {
        let area = self.shapes.0.product(self.shapes.1).area() as u64;
        self.rows.saturating_mul(area * size_of::<f64>() as u64)
    }

    /// The bins of the host's product: one bin, or no bin if there are no products.
    pub fn bins(&self, costs: &MethodCosts, sums: &HostSums) -> Vec<Bin> {
        let size = (self.payload == PayloadKind::Values).then(|| self.of_bin(WAITS, sums.products));
        let besides = self.besides_ms(sums);
        let predicted_ms = size.and_then(|size| Some(choose::predict_ms(costs, Method::Host, &size)? + besides));
        let bin = Bin { size, predicted_ms, ..Bin::of("all columns", Method::Host, self.columns, sums.products) };
        if sums.products > 0 { vec![bin] } else { Vec::new() }
    }

    /// Milliseconds in addition to the time of the products: for the entries of C, for products
    /// whose rows are so far apart that their sums are in no cache, and for the first writes to
    /// these sums.
    fn besides_ms(&self, sums: &HostSums) -> f64 {
        let entries_ps = sums.most_entries as f64 * ENTRY_PS;
        let not_cached = |rows: u64| rows.saturating_sub(CACHED_ROWS) as f64;
        // Each entry of C brings one line of the sums into the cache.
        let met = self.rows.min(sums.most_entries.saturating_mul(SUMS_OF_A_LINE));
        let missed = sums.far as f64 * not_cached(met) / met.max(1) as f64;
        let first = if sums.in_all_rows { not_cached(self.rows) } else { 0.0 };
        let far_ps = missed * FAR_PS + first * ROW_PS;
        (entries_ps + if self.payload == PayloadKind::Values { far_ps } else { 0.0 }) * 1e-9
    }

    fn of_bin(&self, waits: u32, products: u64) -> BinSize {
        BinSize::new(waits, products, self.read, self.columns)
    }
}

impl HostChoice {
    /// Makes the choice, or returns `None` if there is nothing to choose: the device is not a CPU,
    /// the operands are large, or the host has no costs.
    pub fn new(info: &DeviceInfo, numbers: HostNumbers, costs: MethodCosts, size: HostSize) -> Option<Self> {
        // Blocks are always added in an array with a sum for each row of C.
        let has_room = size.payload == PayloadKind::Values || size.sums_bytes() <= MOST_SUMS;
        let is_small = numbers.host_entries > 0 && size.read <= numbers.host_entries as u64 && has_room;
        if info.kind != DeviceKind::Cpu || !is_small || costs.of(Method::Host.cost_name()).is_none() {
            return None;
        }
        let ranges = RangeTuning::or_esc(info, costs, size.payload, size.shapes)?;
        Some(Self { size, costs, ranges, most: numbers.host_products as u64 })
    }

    /// Whether the host is predicted to take less time than the device. The prediction is made
    /// before the operands are read.
    pub fn is_worth_reading(&self, known: &Known) -> bool {
        let longest_b = known.longest_b.map_or(u64::MAX, u64::from);
        let profile = RangeProfile {
            products: known.products,
            // Assume that the entries of the longest column of B have the average number of
            // products.
            longest: longest_b.saturating_mul(known.products).div_ceil(known.b_entries.max(1)).min(known.products),
            columns: known.columns.min(known.b_entries),
            longest_b,
            ..RangeProfile::default()
        };
        // The number of entries of C is not known yet. Reading the operands to find the number of
        // entries takes too long.
        let in_vain = profile.products > self.most && profile.products / MANY < self.size.read;
        !in_vain && self.is_faster(WAITS, &profile, &HostSums::default())
    }

    /// Whether the host is predicted to take less time than the device. The prediction is made
    /// after the operands have been read. If the choice depends on the number of products for each
    /// entry of C, `entries_of` counts the entries of C in a few columns.
    pub fn is_worth_it(&self, columns: &[HostColumn], entries_of: impl FnOnce(Vec<usize>) -> u64) -> bool {
        let (mut profile, mut sums) = (RangeProfile::default(), HostSums::default());
        for column in columns {
            profile.add_column(column.entries, column.products, &self.ranges);
            sums.add(column);
        }
        // The device takes least time if C has one entry, and the host takes most time if every
        // product is an entry. If the host is faster than the device even if every product is an
        // entry, nothing needs to be counted.
        let merged = RangeProfile { sampled: [1, profile.products], ..profile };
        if self.is_faster(WAITS - 1, &merged, &sums) {
            return true;
        }
        // Counting takes a bit for each row of C. Without samples every product counts as an entry.
        if self.size.sums_bytes() <= MOST_SUMS {
            let (sampled, products) = sample(columns);
            profile.sampled = [if products > 0 { entries_of(sampled) } else { 0 }, products];
        }
        let Sides { rows, columns } = self.sides();
        sums.most_entries = sums.most_entries.min(profile.entries([columns, profile.products], rows));
        self.is_faster(WAITS - 1, &profile, &sums)
    }

    /// The sides of C.
    fn sides(&self) -> Sides {
        Sides { rows: self.size.rows, columns: self.size.columns }
    }

    /// Whether the host is predicted to take less time than the device for a product of this
    /// profile, if the host still has to wait `waits` times. Sums that are not known yet are 0.
    fn is_faster(&self, waits: u32, profile: &RangeProfile, sums: &HostSums) -> bool {
        let multiplications = self.ranges.multiplications.unwrap_or(0).saturating_mul(profile.products);
        let of_blocks = multiplications as f64 * MULTIPLICATION_PS * 1e-9;
        let besides = of_blocks + self.size.besides_ms(sums);
        let mut of_host = self.size.of_bin(waits, profile.products);
        if profile.longest_b <= 1 {
            // Every product is an entry of C, which takes the host about as long as an entry of B.
            of_host.entries = of_host.entries.saturating_add(profile.products);
        }
        // One thread computes a column, in two passes if its runs may be cut. The costs are those
        // of two threads that share the work.
        let passes = if profile.longest_b > RUN_PIECE as u64 { 2.0 } else { 1.0 };
        let alone = (2.0 * passes * profile.longest as f64 / profile.products.max(1) as f64).max(1.0);
        let host = choose::predict_ms(&self.costs, Method::Host, &of_host).map(|ms| ms * alone);
        let device = self.ranges.least_ms(profile, self.sides());
        let is_small = profile.products <= self.most.saturating_mul(MERGING) && sums.most_entries <= self.most;
        let has_room = !sums.in_all_rows || self.size.sums_bytes() <= MOST_SUMS;
        is_small && has_room && host.zip(device).is_some_and(|(host, device)| host + besides < device)
    }
}
