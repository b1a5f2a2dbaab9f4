//! Whether the host computes a product in place of a CPU device: pure functions of sizes, numbers
//! and costs. The predicted time of the host is compared with that of the device, first by what is
//! known before anything is read, then by the products of the patterns that were read.
use crate::{
    BlockShape, DeviceInfo, DeviceKind,
    gustavson::{Columns, Offset},
    product::{
        choose::{self, Known},
        method::Method,
        problem::Bin,
        ranges::{CACHED_ROWS, Profile, RangeTuning, Sides},
        tuning::PayloadKind,
    },
    tuning::{BinSize, MethodCosts, Numbers},
};

/// How often the host waits for copies: of the operands, and of C.
const WAITS: u32 = 2;

/// The sizes of a product that are known without its patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct HostSize {
    /// Rows and columns of C.
    pub rows: u64,
    pub columns: u64,
    /// Entries and columns of the operands, and of B alone: those of a B that is A count once.
    pub stored: u64,
    pub of_b: u64,
    /// Whether C has blocks, or products are pairs of them.
    pub payload: PayloadKind,
    pub shapes: (BlockShape, BlockShape),
}

/// The choice between the host and the kernels of a CPU device.
pub(in crate::product) struct HostChoice {
    size: HostSize,
    costs: MethodCosts,
    /// The numbers of the device's product.
    ranges: RangeTuning,
    /// Picoseconds of the host for an entry or a column of A, for a product whose sum is in no
    /// cache, and for a multiplication in one of blocks.
    read_ps: u64,
    far_ps: u64,
    multiplication_ps: u64,
    /// Most entries that C may have if the host computes it.
    most: u64,
}

/// Products for each entry of C, at most, of the largest products that the host computes.
const MERGING: u64 = 4;

/// Products for each entry and column of B, at least, of a product that is read although it has so
/// many that the host computes it only if they merge.
const MANY: u64 = 16;

/// A column of C, once the patterns are known.
pub(in crate::product) struct HostColumn {
    /// Entries of the column of B.
    pub entries: u64,
    pub products: u64,
    /// Rows from the first to the last: the column has no more entries.
    pub rows: u64,
    /// Whether these are far apart, for the host.
    pub far: bool,
}

impl HostColumn {
    /// Of column `col` of A·B.
    pub fn of<O: Offset>(a: Columns<'_, O>, b: Columns<'_, O>, col: usize) -> Self {
        let entries = b.col_ptr[col + 1].into() - b.col_ptr[col].into();
        let (rows, far) = a.range_of(b, col);
        Self { entries, products: a.products(b, col), rows, far }
    }
}

impl HostSize {
    /// The bins of the host's product: one, if there are products. So many of them have rows far
    /// apart.
    pub fn bins(&self, costs: &MethodCosts, numbers: &Numbers, [products, far]: [u64; 2]) -> Vec<Bin> {
        let size = (self.payload == PayloadKind::Values).then(|| self.of_bin(WAITS, products));
        let besides = self.far_ms(far, numbers.host_far_ps as u64) + self.read_ms(numbers.host_read_ps as u64);
        let predicted_ms = size.and_then(|size| Some(choose::predict_ms(costs, Method::Host, &size)? + besides));
        let bin = Bin { size, predicted_ms, ..Bin::of("all columns", Method::Host, self.columns, products) };
        if products > 0 { vec![bin] } else { Vec::new() }
    }

    /// Milliseconds that the host takes to read A beside B.
    fn read_ms(&self, read_ps: u64) -> f64 {
        (self.stored - self.of_b) as f64 * read_ps as f64 * 1e-9
    }

    /// Milliseconds that so many products whose rows are far apart take besides: those whose sums
    /// are in no cache.
    fn far_ms(&self, far: u64, far_ps: u64) -> f64 {
        let missed = self.rows.saturating_sub(CACHED_ROWS) as f64 / self.rows.max(1) as f64;
        far as f64 * missed * far_ps as f64 * 1e-9
    }

    fn of_bin(&self, waits: u32, products: u64) -> BinSize {
        BinSize::new(waits, products, self.of_b, self.columns)
    }
}

impl HostChoice {
    /// `None` if there is no choice: the device is no CPU or computes nothing in ranges, the
    /// operands are large, or the host has no costs.
    pub fn new(info: &DeviceInfo, numbers: &Numbers, costs: MethodCosts, size: HostSize) -> Option<Self> {
        let is_small = size.stored <= numbers.host_entries as u64;
        if info.kind != DeviceKind::Cpu || !is_small || costs.of(Method::Host.cost_name()).is_none() {
            return None;
        }
        let ranges = RangeTuning::new(info, (Method::Auto, costs), size.payload, size.shapes)?;
        let [read_ps, far_ps, multiplication_ps, most] =
            [numbers.host_read_ps, numbers.host_far_ps, numbers.host_multiplication_ps, numbers.host_products]
                .map(|number| number as u64);
        Some(Self { size, costs, ranges, read_ps, far_ps, multiplication_ps, most })
    }

    /// Whether the host is predicted to take less, before the operands are read.
    pub fn is_worth_reading(&self, known: &Known) -> bool {
        let longest_b = known.longest_b.map_or(u64::MAX, u64::from);
        let profile = Profile {
            products: known.products,
            // As many for an entry of B as there are for an average one.
            longest: longest_b.saturating_mul(known.products).div_ceil(known.b_entries.max(1)).min(known.products),
            columns: known.columns.min(known.b_entries),
            longest_b,
            ..Profile::default()
        };
        // How many entries C has is not known yet. It is worth little to read so much for it.
        let in_vain = profile.products > self.most && profile.products / MANY < self.size.of_b;
        !in_vain && self.is_faster(WAITS, (&profile, 0), self.size.read_ms(self.read_ps))
    }

    /// The same once they have been read, which is not undone.
    pub fn is_worth_it(&self, columns: impl Iterator<Item = HostColumn>) -> bool {
        let (mut profile, mut far, mut most_entries) = (Profile::default(), 0u64, 0u64);
        for column in columns {
            profile.add_column(column.entries, column.products, &self.ranges);
            far += if column.far { column.products } else { 0 };
            most_entries += column.products.min(column.rows);
        }
        let far = if self.ranges.multiplications.is_some() { 0 } else { far };
        self.is_faster(WAITS - 1, (&profile, most_entries), self.size.far_ms(far, self.far_ps))
    }

    /// Whether the host takes less for a product of this profile and at most so many entries, if it
    /// waits so many times yet and takes `besides_ms` besides.
    fn is_faster(&self, waits: u32, (profile, most_entries): (&Profile, u64), besides_ms: f64) -> bool {
        let multiplications = self.ranges.multiplications.unwrap_or(0).saturating_mul(profile.products);
        let besides = multiplications as f64 * self.multiplication_ps as f64 * 1e-9 + besides_ms;
        let mut of_host = self.size.of_bin(waits, profile.products);
        if profile.longest_b <= 1 {
            // Every product is an entry of C, and takes the host about half as long as one of B.
            of_host.entries = of_host.entries.saturating_add(profile.products / 2);
        }
        // One thread computes a column; the costs are those of two that share the work.
        let alone = (2.0 * profile.longest as f64 / profile.products.max(1) as f64).max(1.0);
        let host = choose::predict_ms(&self.costs, Method::Host, &of_host).map(|ms| ms * alone);
        let device = self.ranges.least_ms(profile, Sides { rows: self.size.rows, columns: self.size.columns });
        let is_small = profile.products <= self.most.saturating_mul(MERGING) && most_entries <= self.most;
        is_small && host.zip(device).is_some_and(|(host, device)| host + besides < device)
    }
}
