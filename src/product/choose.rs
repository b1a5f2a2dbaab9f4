//! The choice of methods for columns: pure functions of sizes, numbers, costs and the caller's
//! wish. They use no device, and equal arguments give equal choices.
//!
//! The device puts each column of an adaptive product into a class, by numbers. [`share_out`]
//! decides by costs, from the sums of the classes, which method computes each class and which
//! classes are computed together: a launch for few columns costs more than it saves.
#[cfg(test)]
mod tests;

use super::{
    adaptive::{Class, ClassSums},
    method::{ColumnMethod, Method},
    problem::Bin,
    sort,
    tuning::Tuning,
};
use crate::{
    resident::ColumnLengths,
    tuning::{BinSize, MethodCosts, Numbers},
};
use std::ops::Range;

/// A rule: `method` computes the columns whose number of products is in `products`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub method: ColumnMethod,
    pub products: Range<u64>,
}

/// The rules of a product, by ascending number of products. Together they cover every number once.
///
/// A forced method gets every column it can compute, ESC the rest. A method that does not compute
/// columns leaves all of them to ESC.
pub(super) fn choose(tuning: &Tuning, wanted: Method) -> Vec<Rule> {
    let rule = |method, products| Rule { method, products };
    match wanted.of_columns().unwrap_or(tuning.esc) {
        esc @ (ColumnMethod::Esc | ColumnMethod::EscLocal) => vec![rule(esc, 0..u64::MAX)],
        #[cfg(test)]
        serial @ ColumnMethod::Serial => {
            let most = super::serial::MOST_PRODUCTS;
            vec![rule(serial, 0..most), rule(tuning.esc, most..u64::MAX)]
        }
    }
}

/// Columns of neighbouring classes that one method computes together: a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    pub method: Method,
    pub first: Class,
    /// The largest of the classes that has columns: its kernels compute those of all.
    pub last: Class,
    pub columns: u64,
    pub size: BinSize,
    /// `None` if the method has no costs.
    pub predicted_ms: Option<f64>,
}

/// Classes by ascending size. The kernels of one can compute the columns of those before it; those
/// of [`Class::Direct`] only if they are short.
const FAMILIES: [&[Class]; 5] = [
    &[
        Class::Direct,
        Class::Sorted32,
        Class::Sorted64,
        Class::Sorted128,
        Class::Sorted256,
        Class::Sorted512,
        Class::Sorted1024,
    ],
    &[Class::Narrow, Class::Medium],
    &[Class::Wide, Class::Big],
    // Tables in global memory are made for the longest of their columns.
    &[Class::HashedSmall, Class::HashedMedium, Class::HashedLarge],
    &[Class::HashedGlobal],
];

/// Launches of a product by ESC, about.
const ESC_LAUNCHES: u32 = 10;

/// What a product costs by the methods of scalars: their bins, and what comes besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prices {
    pub costs: MethodCosts,
    /// Milliseconds of the analysis, and of each column in it.
    pub analysis_ms: f64,
    pub column_ms: f64,
    /// Milliseconds that a bin takes the host, or its queues, besides its kernels.
    pub bin_ms: f64,
    /// Milliseconds for each entry of B in columns whose rows are found.
    pub entry_ms: f64,
    /// The same for those of the longest of these columns besides: its entries are taken one after
    /// another.
    pub longest_ms: f64,
    /// Products of the longest column that ESC sorts whole, without merges.
    pub whole: u64,
    /// Most products of a column that is sorted in registers beside columns that are not.
    pub sorted: u64,
}

/// Products of an entry of C, about, where they meet most: in the square of a stencil in space.
const MERGING: u64 = 8;

impl Prices {
    pub fn new(numbers: &Numbers, costs: MethodCosts) -> Self {
        Self {
            costs,
            analysis_ms: numbers.adaptive_analysis_us as f64 * 1e-3,
            column_ms: numbers.adaptive_column_ps as f64 * 1e-9,
            bin_ms: numbers.adaptive_bin_us as f64 * 1e-3,
            entry_ms: numbers.adaptive_entry_ps as f64 * 1e-9,
            longest_ms: numbers.adaptive_longest_ns as f64 * 1e-6,
            whole: numbers.expansion_short_max as u64,
            sorted: numbers.adaptive_sorted_products as u64,
        }
    }

    /// Milliseconds for the entries of B in columns of some classes that have `products` of their
    /// products. The kernels are those of the class `last`.
    fn of_entries_ms(&self, classes: &[ClassSums], products: u64, last: Class) -> f64 {
        if !Class::FOUND.contains(&last) {
            return 0.0;
        }
        let all = classes.iter().map(|class| class.products).sum::<u64>().max(1);
        let entries = classes.iter().map(|class| f64::from(class.b_entries)).sum::<f64>();
        self.entry_ms * entries * products as f64 / all as f64
    }

    /// Milliseconds for the longest column of B whose rows are found. Other columns are computed
    /// meanwhile, those of other bins too.
    fn of_longest_ms(&self, sums: &[ClassSums; Class::ALL.len()]) -> f64 {
        let longest = Class::FOUND.iter().map(|&class| sums[class as usize].longest_b).max().unwrap_or(0);
        self.longest_ms * f64::from(longest)
    }

    /// Whether sorting all columns of C, which this class can take, is predicted to be as fast as
    /// ESC. Longer columns than are sorted after an analysis may be computed faster then: it is not
    /// known yet how many of their products meet.
    pub fn sorts_all(&self, class: Class, known: &Known) -> bool {
        let analysed = match u64::from(sort::CLASSES[class.sorted()]) > self.sorted {
            true => self.analysed_ms(known, known.products / MERGING),
            false => None,
        };
        [self.by_esc_ms(known), analysed].into_iter().flatten().all(|other| self.sorted_ms(class, known) <= other)
    }

    /// Whether sorting all columns of a product of blocks is predicted to be as fast as ESC, which
    /// takes as long for the pattern of blocks as for scalars.
    pub fn sorts_blocks(&self, class: Class, known: &Known) -> bool {
        self.by_esc_ms(known).is_none_or(|by_esc| self.sorted_ms(class, known) <= by_esc)
    }

    fn sorted_ms(&self, class: Class, known: &Known) -> f64 {
        least(&sorted_share(class, known.columns, [known.products; 2], &self.costs))
    }

    /// The class that takes every column of an analysed product, if sorting all is predicted to be
    /// faster than their bins and than ESC.
    pub fn sorts_analysed(&self, sums: &[ClassSums; Class::ALL.len()]) -> Option<Class> {
        let sum = |number: fn(&ClassSums) -> u64| sums.iter().map(number).sum::<u64>();
        let longest = sums.iter().map(|class| class.longest).max().unwrap_or(0);
        let class = Class::SORTED[sort::class_of(longest.into(), sort::MOST)?];
        let sizes = [sum(|class| class.products), sum(|class| class.most_entries)];
        let sorted = least(&sorted_share(class, sum(|class| class.columns.into()), sizes, &self.costs));
        let others = [Some(divided(sums, self).1), self.all_by_esc_ms(sums)];
        others.into_iter().flatten().all(|other| sorted < other).then_some(class)
    }

    /// Whether ESC is predicted to take no longer than the analysis of the columns and their bins.
    pub fn needs_no_analysis(&self, known: &Known) -> bool {
        let analysed = self.analysed_ms(known, known.products / 2);
        self.by_esc_ms(known).is_some_and(|by_esc| analysed.is_some_and(|analysed| by_esc <= analysed))
    }

    /// The predicted time of the analysis and of one bin, if C has so many entries: sorted if an
    /// average column is short enough, or their rows found. If only the longest column is too long
    /// to be sorted, there are two bins more: of long ones that are, and of those whose rows are
    /// found.
    fn analysed_ms(&self, known: &Known, entries: u64) -> Option<f64> {
        let &Known { columns, products, b_entries, longest_b, .. } = known;
        let size = BinSize::new(own_launches(Class::Narrow) + 1, products, entries, columns);
        let most = self.sorted;
        let short = products <= columns.saturating_mul(most);
        let sorted = predict_ms(&self.costs, Method::Sort, &size).filter(|_| short);
        let found = predict_ms(&self.costs, Method::Dense, &size).map(|ms| ms + self.entry_ms * b_entries as f64);
        let longest_b = f64::from(longest_b.unwrap_or(0));
        let is_long = longest_b * products as f64 > most as f64 * b_entries as f64;
        let bins = if sorted.is_some() && is_long { 3.0 } else { 1.0 };
        let all = [sorted, found].into_iter().flatten().min_by(f64::total_cmp);
        let beside =
            self.analysis_ms + self.column_ms * columns as f64 + self.bin_ms * bins + self.longest_ms * longest_b;
        all.map(|all| beside + all)
    }

    fn by_esc_ms(&self, known: &Known) -> Option<f64> {
        let &Known { columns, products, .. } = known;
        esc_ms(&self.costs, columns, weighed(products, columns, self.whole), products)
    }

    /// The predicted time of all columns of some classes by ESC.
    fn all_by_esc_ms(&self, classes: &[ClassSums]) -> Option<f64> {
        let sum = |number: fn(&ClassSums) -> u64| classes.iter().map(number).sum();
        let weight = |class: &ClassSums| weighed(class.products, class.columns.into(), self.whole);
        let products = classes.iter().map(weight).sum();
        esc_ms(&self.costs, sum(|class| class.columns.into()), products, sum(|class| class.most_entries))
    }
}

/// What the host knows of a product before its columns are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub columns: u64,
    /// Products, about.
    pub products: u64,
    /// The same if all columns of A were alike.
    pub if_alike: u64,
    /// Entries of B.
    pub b_entries: u64,
    /// Those of its longest column, if that is known.
    pub longest_b: Option<u32>,
}

impl Known {
    /// Of a product with `columns` columns, of an A with `a_nnz` entries in `inner` columns and a B
    /// with `b_nnz` entries; `lengths` are those of their columns, if known.
    ///
    /// The products are as many as if entries of B met each column of A as often as it has entries:
    /// those of the square of a symmetric matrix. Otherwise, if lengths are not known, as if all
    /// columns were alike.
    pub fn new(
        columns: usize,
        [a_nnz, inner]: [usize; 2],
        b_nnz: usize,
        [of_a, of_b]: [Option<ColumnLengths>; 2],
    ) -> Self {
        let product_of = |entries: f64, of: usize| (b_nnz as f64 * entries / of.max(1) as f64) as u64;
        let if_alike = product_of(a_nnz as f64, inner);
        let products = of_a.map_or(if_alike, |ColumnLengths { squares, .. }| product_of(squares as f64, a_nnz));
        let longest_b = of_b.map(|of| of.longest);
        Self { columns: columns as u64, products, if_alike, b_entries: b_nnz as u64, longest_b }
    }
}

/// The products of some columns by what they cost ESC, which sorts up to `whole` products of a
/// column in local memory. Each time that the sorted parts of longer columns are merged in pairs
/// adds a fifth.
fn weighed(products: u64, columns: u64, whole: u64) -> u64 {
    let parts = (products / columns.max(1)).div_ceil(whole.max(1)).max(1);
    let merges = u64::from(u64::BITS - (parts - 1).leading_zeros());
    products.saturating_add(products.saturating_mul(merges) / 5)
}

/// The methods that can compute the columns of a class. Which columns of dense classes are hubs,
/// the device decides.
fn able(class: Class) -> &'static [Method] {
    match class {
        Class::Empty => &[],
        Class::Direct => &[Method::Direct],
        Class::Sorted32
        | Class::Sorted64
        | Class::Sorted128
        | Class::Sorted256
        | Class::Sorted512
        | Class::Sorted1024 => &[Method::Sort],
        Class::Narrow | Class::Medium | Class::Wide | Class::Big => &[Method::Dense],
        Class::HashedSmall | Class::HashedMedium | Class::HashedLarge | Class::HashedGlobal => &[Method::Hash],
        Class::Rest => &[Method::Esc],
    }
}

/// Kernels that the columns of a class have for themselves, because it is a bin. The sums of
/// columns whose rows are found share theirs.
fn own_launches(class: Class) -> u32 {
    match class {
        Class::Direct => 4, // two of them scan
        _ if Class::FOUND.contains(&class) => 1,
        _ => 2,
    }
}

/// Places that a kernel has for each column of the class: so many times fewer columns are computed
/// at once than by the first class of the family's method.
fn places(class: Class) -> u64 {
    match class {
        Class::Empty | Class::Direct | Class::Rest => 1,
        // A column has room for so many times 32 products.
        Class::Sorted32 => 1,
        Class::Sorted64 => 2,
        Class::Sorted128 => 4,
        Class::Sorted256 => 8,
        // More than their products: a multiprocessor of an H100 has registers and local memory for
        // fewer teams that hold so many.
        Class::Sorted512 => 20,
        Class::Sorted1024 => 80,
        // A multiprocessor of an H200 has room for the bitmaps of 64 teams, of 32, of four groups
        // of four or, if ranges are not the widest, more; the four teams share the work of a
        // column. A group of 16 teams has room where a smaller one has, and its teams wait for one
        // another. Those of Wide and Big are estimates.
        Class::Narrow => 1,
        Class::Medium => 2,
        Class::Wide => 4,
        Class::Big => 32,
        // As many groups as start, of one team; 14 of four; four of sixteen. The last have tables
        // in global memory: an estimate.
        Class::HashedSmall => 1,
        Class::HashedMedium => 2,
        Class::HashedLarge => 8,
        Class::HashedGlobal => 16,
    }
}

/// Shares the columns of a product out among the methods of scalars and ESC, by the sums of their
/// classes, whose entries of C are estimated or bounded. Every class that has products is in one
/// bin; those of dense classes have one more for their hubs. Columns of [`Class::Rest`], which only
/// ESC can compute, are in none.
///
/// `None` if `esc` is allowed to compute all columns, and is predicted to take less than their
/// bins.
pub(super) fn share_out(sums: &[ClassSums; Class::ALL.len()], prices: &Prices, esc: bool) -> Option<Vec<Share>> {
    let (shares, ms) = divided(sums, prices);
    let by_esc = esc && !shares.is_empty() && prices.all_by_esc_ms(sums).is_some_and(|all| all < ms);
    (!by_esc).then_some(shares)
}

/// The bins of all columns, and what they are predicted to take with those that only ESC can
/// compute.
fn divided(sums: &[ClassSums; Class::ALL.len()], prices: &Prices) -> (Vec<Share>, f64) {
    let (mut shares, costs) = (Vec::new(), &prices.costs);
    for family in FAMILIES {
        for [first, last] in together(sums, costs, family) {
            let classes = &sums[first as usize..=last as usize];
            let sum = |number: fn(&ClassSums) -> u64| classes.iter().map(number).sum::<u64>();
            let [columns, products] = [sum(|class| class.columns.into()), sum(|class| class.products)];
            let hubs = [sum(|class| class.hub_columns.into()), sum(|class| class.hub_products)];
            let others = [columns - hubs[0], products - hubs[1]];
            let entries = |of: u64| {
                let all = u128::from(sum(|class| class.most_entries));
                (all * u128::from(of)).div_ceil(u128::from(products.max(1))) as u64
            };
            let launches = own_launches(last) + u32::from(Class::FOUND.contains(&last));
            for (methods, [columns, products]) in [(able(last), others), (&[Method::Hub], hubs)] {
                let size = BinSize::new(launches, products, entries(products), columns * places(last));
                let by_entries = prices.of_entries_ms(classes, products, last);
                let share = |&method: &Method| {
                    let predicted_ms = predict_ms(costs, method, &size).map(|ms| ms + by_entries);
                    Share { method, first, last, columns, size, predicted_ms }
                };
                let best = methods.iter().map(share).min_by(|one, other| least(one).total_cmp(&least(other)));
                shares.extend(best.filter(|_| columns > 0));
            }
        }
    }
    let ms = prices.of_longest_ms(sums) + shares.iter().map(|share| prices.bin_ms + least(share)).sum::<f64>();
    let of_rest = sums[Class::Rest as usize];
    let rest = if of_rest.columns > 0 { prices.all_by_esc_ms(&[of_rest]).unwrap_or(0.0) } else { 0.0 };
    (shares, ms + rest)
}

/// The predicted time of a share, which is more than any other if it is not known.
fn least(share: &Share) -> f64 {
    share.predicted_ms.unwrap_or(f64::MAX)
}

/// The predicted time of columns of scalars by ESC, in milliseconds; `products` may be weighed.
pub(super) fn esc_ms(costs: &MethodCosts, columns: u64, products: u64, entries: u64) -> Option<f64> {
    predict_ms(costs, Method::Esc, &esc_size(1, columns, products, entries))
}

/// The sizes of columns that ESC computes in `bands` bands.
fn esc_size(bands: usize, columns: u64, products: u64, entries: u64) -> BinSize {
    BinSize::new(ESC_LAUNCHES * bands as u32, products, entries, columns)
}

/// Predicts the times of bins of ESC, which has `bands` bands and a C with `nrows` rows, and sorts
/// up to `whole` products of a column without merges.
pub(super) fn predict_esc(bins: &mut [Bin], (bands, nrows): (usize, u64), (costs, whole): (&MethodCosts, u64)) {
    for bin in bins {
        let most = bin.products.min(bin.columns.saturating_mul(nrows));
        let size = esc_size(bands, bin.columns, weighed(bin.products, bin.columns, whole), most);
        bin.predicted_ms = predict_ms(costs, bin.method, &size);
        bin.size = bin.predicted_ms.map(|_| size);
    }
}

/// The predicted time of a bin in milliseconds, if the method has costs.
pub(super) fn predict_ms(costs: &MethodCosts, method: Method, size: &BinSize) -> Option<f64> {
    costs.of(method.cost_name()).map(|cost| cost.predict_ms(size))
}

/// The classes of a family that have columns, divided into bins: the division that costs least; of
/// equal ones that with the fewest bins.
fn together(sums: &[ClassSums; Class::ALL.len()], costs: &MethodCosts, family: &[Class]) -> Vec<[Class; 2]> {
    let of = |class: &Class| &sums[*class as usize];
    let filled: Vec<Class> = family.iter().copied().filter(|class| of(class).columns > 0).collect();
    let cost = |bin: &[Class]| -> f64 {
        let last = bin[bin.len() - 1];
        let sum = |number: fn(&ClassSums) -> u64| bin.iter().map(|class| number(of(class))).sum::<u64>();
        let places = sum(|class| class.columns.into()) * places(last);
        let (products, entries) = (sum(|class| class.products), sum(|class| class.most_entries));
        let size = BinSize::new(own_launches(last), products, entries, places);
        able(last).iter().filter_map(|&method| predict_ms(costs, method, &size)).fold(f64::MAX, f64::min)
    };
    // From each class on: the least cost, how many bins it takes, and where the first of them ends.
    let mut best = vec![(0.0, 0, 0); filled.len() + 1];
    for begin in (0..filled.len()).rev() {
        let ends = (begin + 1..=filled.len()).filter(|&end| can_join(sums, &filled[begin..end]));
        let from = ends.map(|end| (cost(&filled[begin..end]) + best[end].0, 1 + best[end].1, end));
        let least = from.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        best[begin] = least.expect("a class is a bin");
    }
    let ends = std::iter::successors(best.first().map(|best| best.2), |&end| Some(best[end].2));
    let mut begin = 0;
    let bins = ends.take(best[0].1).map(|end| [filled[std::mem::replace(&mut begin, end)], filled[end - 1]]);
    bins.collect()
}

/// Whether the kernels of the last of some classes can compute the columns of all. A direct column
/// may have any number of products.
fn can_join(sums: &[ClassSums; Class::ALL.len()], bin: &[Class]) -> bool {
    bin[0] != Class::Direct || bin.len() == 1 || sums[Class::Direct as usize].longest <= sort::CLASSES[0]
}

/// All columns of a product, sorted by the kernels of one class, with so many products and about so
/// many entries of C.
pub(super) fn sorted_share(class: Class, columns: u64, [products, entries]: [u64; 2], costs: &MethodCosts) -> Share {
    let method = Method::Sort;
    let size = BinSize::new(own_launches(class), products, entries, columns * places(class));
    Share { method, first: class, last: class, columns, size, predicted_ms: predict_ms(costs, method, &size) }
}

impl Share {
    /// For the report.
    pub fn bin(&self) -> Bin {
        let &Self { method, columns, size, predicted_ms, .. } = self;
        Bin { size: Some(size), predicted_ms, ..Bin::of(self.which(), method, columns, size.products) }
    }

    /// Which columns these are, for the report.
    pub fn which(&self) -> &'static str {
        match (self.last, self.method == Method::Hub) {
            (Class::Direct, _) => "one entry of B",
            (Class::Sorted32, _) => "at most 32 products",
            (Class::Sorted64, _) => "at most 64 products",
            (Class::Sorted128, _) => "at most 128 products",
            (Class::Sorted256, _) => "at most 256 products",
            (Class::Sorted512, _) => "at most 512 products",
            (Class::Sorted1024, _) => "at most 1024 products",
            (Class::Narrow, false) => "rows in a narrow range",
            (Class::Medium, false) => "rows in a medium range",
            (Class::Wide, false) => "rows in a wide range",
            (Class::Big, false) => "rows in a wide range, many products",
            (Class::Narrow, true) => "rows in a narrow range, hubs",
            (Class::Medium, true) => "rows in a medium range, hubs",
            (Class::Wide, true) => "rows in a wide range, hubs",
            (Class::Big, true) => "rows in a wide range, many products, hubs",
            (Class::HashedSmall, _) => "few rows in any range",
            (Class::HashedMedium, _) => "some thousand rows in any range",
            (Class::HashedLarge, _) => "rows in any range, within local memory",
            (Class::HashedGlobal, _) => "rows in any range, beyond local memory",
            (Class::Empty | Class::Rest, _) => "the others",
        }
    }
}
