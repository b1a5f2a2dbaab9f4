//! The tuning of products in ranges of columns, and the choice of how entries are found. The
//! functions of this file are pure. The functions depend on sizes, numbers, costs and the requested
//! method.
use super::{
    RangeNumbers,
    numbers::MULTIPLICATION_PS,
    profile::{RangeProfile, Sides},
};
use crate::{
    BlockShape, DeviceInfo,
    device::DeviceKind,
    product::{
        bands::Limits,
        choose,
        terms::{Method, PayloadKind, Way},
    },
    tuning::{BinSize, MethodCosts, RANGE_AHEAD, SharedNumbers},
};

/// The tuning of products in ranges on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::product) struct RangeTuning {
    /// Most work-groups. A work-group is one item, and has a bitmap and sums of all rows.
    pub groups: usize,
    /// Number of ranges of columns, which work-groups take one after another.
    pub ranges: usize,
    /// Number of parts of the columns. The products of the parts are counted at the same time.
    pub parts: usize,
    /// If C has at least `one_pass_percent` entries for each 100 products, products of scalars are
    /// computed in one pass. With a number above 100 no product is computed in one pass, and pairs
    /// of blocks are not kept.
    pub one_pass_percent: u64,
    /// If there are at least `sampled_products` products, the entries of C are estimated from
    /// samples. If there are fewer than `sampled_products`, products are computed in one pass.
    pub sampled_products: u64,
    /// A column of A is prefetched `ahead` entries of B ahead; 0 if nothing is prefetched.
    pub ahead: usize,
    /// Whether columns of B with one entry are copied.
    pub direct: bool,
    /// Number of multiplications of elements in a product of blocks, or `None` for scalars.
    pub multiplications: Option<u64>,
    /// Picoseconds of each multiplication of elements in a product of blocks, in ranges and in ESC.
    pub multiplication_ps: u64,
    /// Costs of the methods.
    pub costs: MethodCosts,
    /// Whether ESC may compute all columns.
    pub esc: bool,
}

/// Number of sampled columns.
const SAMPLES: usize = 256;

impl RangeTuning {
    /// Makes the tuning for a device, or `None` if the device does not compute products of this
    /// payload by this method in ranges. Blocks have the two given shapes.
    pub fn new(
        info: &DeviceInfo,
        wanted: Method,
        costs: MethodCosts,
        payload: PayloadKind,
        (a, b): (BlockShape, BlockShape),
    ) -> Option<Self> {
        let takes = wanted == Method::Auto && costs.of(Method::Dense.cost_name()).is_some();
        let in_ranges = info.numbers::<SharedNumbers>().range_shares > 0 && (takes || wanted == Method::Dense);
        in_ranges.then(|| Self::of(info, wanted, costs, payload, (a, b)))
    }

    /// Makes the tuning by which the times in ranges and by ESC are predicted. Only ESC is
    /// predicted if `costs` have no ranges or the device computes no products in ranges.
    pub fn or_esc(
        info: &DeviceInfo,
        costs: MethodCosts,
        payload: PayloadKind,
        shapes: (BlockShape, BlockShape),
    ) -> Option<Self> {
        let without = || costs.without(Method::Dense.cost_name()).ok();
        let by_esc = || Some(Self::of(info, Method::Auto, without()?, payload, shapes));
        Self::new(info, Method::Auto, costs, payload, shapes).or_else(by_esc)
    }

    fn of(
        info: &DeviceInfo,
        wanted: Method,
        costs: MethodCosts,
        payload: PayloadKind,
        (a, b): (BlockShape, BlockShape),
    ) -> Self {
        let SharedNumbers { range_shares, .. } = info.numbers();
        let RangeNumbers { range_one_pass_percent, range_sampled_products } = info.numbers();
        let units = info.compute_units.max(1) as usize;
        Self {
            groups: units,
            ranges: range_shares * units,
            parts: range_shares * units,
            one_pass_percent: range_one_pass_percent as u64,
            sampled_products: range_sampled_products as u64,
            ahead: if info.kind == DeviceKind::Cpu { RANGE_AHEAD } else { 0 },
            direct: wanted == Method::Auto && costs.of(Method::Direct.cost_name()).is_some(),
            multiplications: match payload {
                PayloadKind::Values => None,
                PayloadKind::Pairs => Some((a.area() * b.cols()) as u64),
            },
            multiplication_ps: MULTIPLICATION_PS,
            costs,
            esc: wanted == Method::Auto,
        }
    }

    /// Returns the number of columns to sample, for an A with `inner` columns and a B with `cols`
    /// columns. The number is 0 for few products, for blocks, and if the choice does not depend on
    /// samples.
    pub fn samples(&self, [inner, cols]: [usize; 2], [a_nnz, b_nnz]: [usize; 2]) -> usize {
        if self.multiplications.is_some() || self.one_pass_percent == 0 {
            return 0;
        }
        // The expected number of products: each entry of B is multiplied by an average column of A.
        let expected = (b_nnz as u64).saturating_mul(a_nnz as u64) / inner.max(1) as u64;
        if expected >= self.sampled_products { cols.min(SAMPLES) } else { 0 }
    }

    /// Returns the column of sample number `sample`.
    pub fn sampled_column(sample: usize, samples: usize, cols: usize) -> usize {
        (sample as u64 * cols as u64 / samples as u64) as usize
    }

    /// Chooses how the entries of C are found. `fits` says whether there is memory for all
    /// products.
    pub fn way(&self, profile: &RangeProfile, of_c: Sides, fits: bool) -> Way {
        if profile.longest >= Limits::MAX_PRODUCTS || (self.esc && self.esc_is_faster(profile, of_c)) {
            return Way::Esc;
        }
        let [entries, of] = profile.sampled;
        match (fits, self.multiplications) {
            (true, _) if profile.longest_b <= 1 => Way::Exact,
            (true, Some(_)) if self.one_pass_percent <= 100 => Way::Kept,
            (true, None) if 100 * entries >= self.one_pass_percent * of => Way::OnePass,
            _ => Way::TwoPasses,
        }
    }

    /// Whether ESC is predicted to take less time than ranges.
    fn esc_is_faster(&self, profile: &RangeProfile, of_c: Sides) -> bool {
        let [dense, esc] = self.predict_ms(profile, of_c);
        dense.zip(esc).is_some_and(|(dense, esc)| esc < dense)
    }

    /// Predicts the milliseconds in ranges and by ESC. One work-group computes the longest column
    /// while the other work-groups wait.
    fn predict_ms(&self, profile: &RangeProfile, of_c: Sides) -> [Option<f64>; 2] {
        let alone = profile.longest.saturating_mul(self.groups as u64);
        let size = profile.size(of_c);
        let least = BinSize { products: size.products.max(alone), ..size };
        let dense = choose::predict_ms(&self.costs, Method::Dense, &least);
        // ESC takes time also for columns without products.
        let esc = choose::esc_ms(&self.costs, of_c.columns, size.products, size.entries);
        [dense.map(|ms| ms + self.blocks_ms(least.products)), esc.map(|ms| ms + self.blocks_ms(size.products))]
    }

    /// Predicts the milliseconds of ranges or ESC, whichever is faster.
    pub fn least_ms(&self, profile: &RangeProfile, of_c: Sides) -> Option<f64> {
        self.predict_ms(profile, of_c).into_iter().flatten().min_by(f64::total_cmp)
    }

    /// Returns the milliseconds of the multiplications in `products` products of blocks. The costs
    /// of methods are fitted to scalars. The costs of methods include all work on scalars and
    /// blocks except the multiplications in blocks.
    fn blocks_ms(&self, products: u64) -> f64 {
        let multiplications = products as f64 * self.multiplications.unwrap_or(0) as f64;
        multiplications * self.multiplication_ps as f64 * 1e-9
    }
}
