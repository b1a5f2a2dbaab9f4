//! The predicted cost of a product of scalars. The cost is predicted before the columns are
//! analysed, from facts that the host knows, and again after the analysis.
use super::{
    AdaptiveNumbers, PAIRED_PRODUCTS, REST_LAUNCHES, divided, esc_ms, least, own_launches, predict_ms, sorted_share,
};
use crate::{
    primitives::{
        SortNumbers,
        segmented_sort::{EXPANSION_SHORT_MAX, SortTuning},
    },
    product::terms::{
        CHUNK_GROUP_SIZE, CHUNK_ITEMS, Class, ClassSums, ClassesSums, Known, Method, SORTED_PRODUCTS, sorted_class,
    },
    tuning::{BinSize, MethodCosts},
};

/// Prices of a product of scalars: the costs of the methods, and times in addition to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::product) struct Prices {
    pub costs: MethodCosts,
    /// Milliseconds of an analysis. `column_ms` comes in addition for each column.
    pub analysis_ms: f64,
    pub column_ms: f64,
    /// Milliseconds for each bin in addition to its kernels: time of the host, and of starting and
    /// joining queues.
    pub bin_ms: f64,
    /// Milliseconds for visiting an entry of B once, in columns whose rows of C are found before
    /// the sums. Each piece of the found rows visits every entry of its column of B.
    pub visit_ms: f64,
    /// Additional milliseconds for each entry of the longest column of B whose rows of C are found
    /// before the sums. The entries of a column of B are visited one after another.
    pub longest_ms: f64,
    /// Size of the window of a bitmap, in words of 32 rows.
    pub window_words: u32,
    /// If an average column with a wide range of rows has at most `paired_products` products, one
    /// team counts it alone.
    pub paired_products: u64,
    /// Number of found rows in a piece.
    pub piece: u64,
    /// Sizes of the columns that ESC sorts whole.
    pub whole: Whole,
    /// Most products of a column that is sorted in registers, if other columns are not sorted.
    pub sorted: u64,
    /// Most products of a column that is sorted in registers, if all columns are sorted.
    pub most_sorted: u32,
}

/// Upper bound of the mean number of products for each entry of C: a little more than in the square
/// of a 27-point stencil, 729 / 125.
const MERGING: u64 = 8;

/// If the length of the longest column is only estimated, sorting all columns has the price of a
/// class with room for at least `ROOMY` products.
const ROOMY: u64 = 1024;

impl Prices {
    /// The prices of a device that sorts columns of at most `most_sorted` products.
    pub fn new(numbers: &AdaptiveNumbers, sort: SortNumbers, costs: MethodCosts, most_sorted: u32) -> Self {
        Self {
            costs,
            analysis_ms: numbers.adaptive_analysis_us as f64 * 1e-3,
            column_ms: numbers.adaptive_column_ps as f64 * 1e-9,
            bin_ms: numbers.adaptive_bin_us as f64 * 1e-3,
            visit_ms: numbers.adaptive_visit_ps as f64 * 1e-9,
            longest_ms: numbers.adaptive_longest_ns as f64 * 1e-6,
            window_words: numbers.adaptive_wide_words as u32,
            paired_products: PAIRED_PRODUCTS,
            piece: numbers.adaptive_piece as u64,
            whole: Whole::of(sort),
            sorted: numbers.adaptive_sorted_products as u64,
            most_sorted,
        }
    }

    /// Milliseconds for visiting the entries of the longest column of B whose rows are found. The
    /// time of the longest column counts once for the whole product, because all other columns,
    /// also those of other bins, are computed meanwhile.
    pub(super) fn of_longest_ms(&self, sums: &ClassesSums) -> f64 {
        let longest = Class::FOUND.iter().map(|&class| sums[class as usize].longest_b).max().unwrap_or(0);
        self.longest_ms * f64::from(longest)
    }

    /// Whether sorting all columns of C by the kernels of `class` is predicted to be as fast as
    /// ESC. If columns of this class are too long to be sorted after an analysis, a product with an
    /// analysis must not be predicted to be faster either. Before the analysis it is not known how
    /// many products are added to one entry of C, so [`MERGING`] is assumed.
    pub fn sorts_all(&self, class: Class, known: &Known) -> bool {
        let analysed = match u64::from(SORTED_PRODUCTS[class.sorted()]) > self.sorted {
            true => self.analysed_ms(known, known.products / MERGING),
            false => None,
        };
        [self.by_esc_ms(known, known.products), analysed]
            .into_iter()
            .flatten()
            .all(|other| self.sorted_ms(class, known) <= other)
    }

    /// Whether sorting all columns of a product of blocks is predicted to be as fast as ESC. ESC
    /// finds the pattern of blocks in the same time as that of scalars.
    pub fn sorts_blocks(&self, class: Class, known: &Known) -> bool {
        self.by_esc_ms(known, known.products).is_none_or(|by_esc| self.sorted_ms(class, known) <= by_esc)
    }

    fn sorted_ms(&self, class: Class, known: &Known) -> f64 {
        least(&sorted_share(class, known.columns, [known.products; 2], &self.costs))
    }

    /// The class that takes every column of an analysed product, or `None` unless sorting all
    /// columns is predicted to be faster than bins and than ESC.
    pub fn sorts_analysed(&self, sums: &ClassesSums) -> Option<Class> {
        let sum = |number: fn(&ClassSums) -> u64| sums.iter().map(number).sum::<u64>();
        let longest = sums.iter().map(|class| class.longest).max().unwrap_or(0);
        let class = Class::SORTED[sorted_class(longest.into(), self.most_sorted)?];
        let sizes = [sum(|class| class.products), sum(|class| class.most_entries)];
        let sorted = least(&sorted_share(class, sum(|class| class.columns.into()), sizes, &self.costs));
        let others = [Some(divided(sums, self).1), self.all_by_esc_ms(sums)];
        others.into_iter().flatten().all(|other| sorted < other).then_some(class)
    }

    /// Whether ESC is predicted to take no longer than the analysis of the columns and their bins.
    pub fn needs_no_analysis(&self, known: &Known) -> bool {
        let analysed = self.analysed_ms(known, known.products / 2);
        self.by_esc_ms(known, known.products / 2)
            .is_some_and(|by_esc| analysed.is_some_and(|analysed| by_esc <= analysed))
    }

    /// The predicted time of an analysis and of the kernels after it. C has `entries` entries, or
    /// rows times columns if that is less. Either one class sorts all columns, or the columns are
    /// divided into bins. In the second case all columns are treated like an average one: they are
    /// sorted if an average column is short enough, or else their rows are found before the sums.
    /// The length of the longest column is only estimated here, so a class that sorts all columns
    /// has room for at least [`ROOMY`] products. If only the longest column is too long to be
    /// sorted beside others, there are two more bins: long columns that are sorted, and columns
    /// whose rows are found. A column of too many entries may be left to ESC.
    fn analysed_ms(&self, known: &Known, entries: u64) -> Option<f64> {
        let &Known { columns, rows, products, b_entries, longest_b, .. } = known;
        let entries = entries.min(columns.saturating_mul(rows));
        let size = BinSize::new(own_launches(Class::Narrow) + 1, products, entries, columns);
        let longest = known.longest();
        let roomy = longest.and_then(|longest| sorted_class(longest.max(ROOMY), self.most_sorted));
        let all = roomy.map(|class| self.sorted_ms(Class::SORTED[class], known));
        let short = products <= columns.saturating_mul(self.sorted);
        let sorted = predict_ms(&self.costs, Method::Sort, &size).filter(|_| short);
        let pieces = (entries / columns.max(1)).div_ceil(self.piece).max(1);
        let by_visits = self.visit_ms * b_entries.saturating_mul(pieces) as f64;
        let found = predict_ms(&self.costs, Method::Dense, &size).map(|ms| ms + by_visits);
        let bins = if sorted.is_some() && longest.is_some_and(|longest| longest > self.sorted) { 3.0 } else { 1.0 };
        let alone = |products: u64| {
            let products = products.min(u32::MAX.into());
            let (longest, most_entries) = (products as u32, products);
            self.rest_ms(&ClassSums { columns: 1, products, most_entries, longest, ..ClassSums::default() })
        };
        let one_by_one = self.longest_ms * f64::from(longest_b.unwrap_or(0));
        let is_long = longest_b.is_some_and(|longest| longest > Class::MOST_ENTRIES);
        let by_esc = longest.filter(|_| is_long).map_or(f64::MAX, alone);
        let beside = self.bin_ms * bins + one_by_one.min(by_esc);
        let divided = [sorted, found].into_iter().flatten().min_by(f64::total_cmp).map(|ms| ms + beside);
        let least = [all, divided].into_iter().flatten().min_by(f64::total_cmp);
        least.map(|least| self.analysis_ms + self.column_ms * columns as f64 + least)
    }

    fn by_esc_ms(&self, known: &Known, entries: u64) -> Option<f64> {
        let &Known { columns, products, .. } = known;
        esc_ms(&self.costs, columns, self.whole.weighed(products, columns, known.longest()), entries)
    }

    /// The predicted time of ESC for some columns of an adaptive product, including the launches
    /// that move the columns of ESC.
    pub(super) fn rest_ms(&self, of: &ClassSums) -> f64 {
        let moved = self.costs.of(Method::Esc.cost_name()).map_or(0.0, |cost| cost.launch_us);
        self.all_by_esc_ms(&[*of]).unwrap_or(0.0) + f64::from(REST_LAUNCHES) * moved * 1e-3
    }

    /// The predicted time of ESC for all columns of some classes.
    pub(super) fn all_by_esc_ms(&self, classes: &[ClassSums]) -> Option<f64> {
        let sum = |number: fn(&ClassSums) -> u64| classes.iter().map(number).sum();
        let longest = classes.iter().map(|class| u64::from(class.longest)).max();
        let weight = |class: &ClassSums| self.whole.weighed(class.products, class.columns.into(), longest);
        let products = classes.iter().map(weight).sum();
        esc_ms(&self.costs, sum(|class| class.columns.into()), products, sum(|class| class.most_entries))
    }
}

/// Most products of the columns that ESC sorts whole, without merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct Whole {
    /// Most products of a column that ESC sorts whole, if other columns may have more.
    pub short: u64,
    /// Most products of a column that ESC sorts whole, if no other column has more. Work-groups
    /// have the size that the longest column needs. `longest` is 0 if all work-groups have the same
    /// size.
    pub longest: u64,
}

impl Whole {
    fn of(sort: SortNumbers) -> Self {
        let of_chunk = |_group_size| (CHUNK_GROUP_SIZE * CHUNK_ITEMS) as u64;
        Self { short: EXPANSION_SHORT_MAX as u64, longest: sort.group_size().map_or(0, of_chunk) }
    }

    pub(super) fn of_sort(sort: &SortTuning) -> Self {
        let short = sort.short_max as u64;
        Self { short, longest: if sort.serial { 0 } else { sort.chunk as u64 } }
    }

    /// The number of products, weighted by their cost. A fifth is subtracted if work-groups have
    /// the size that the longest column needs. Two fifths are subtracted if work-groups are full:
    /// if the average column has at least 3/4 of the longest column's products, or more products
    /// than a work-group sorts at once. Longer columns are sorted in parts. A fifth is added each
    /// time that the parts are merged in pairs. A fifth is also added if columns are cut by rows
    /// and not merged. The number of parts is that of the average column.
    pub(super) fn weighed(&self, products: u64, columns: u64, longest: Option<u64>) -> u64 {
        let average = products / columns.max(1);
        let alike = longest.filter(|&longest| longest <= self.longest);
        let full = alike.is_some_and(|longest| average > self.short && average >= longest / 4 * 3);
        let long = self.longest > 0 && average > self.longest;
        let part = if self.longest > 0 { self.longest } else { self.short.max(1) };
        let parts = if alike.is_some() { 1 } else { average.div_ceil(part).max(1) };
        let merges = u64::from(u64::BITS - (parts - 1).leading_zeros());
        let fifths = if full || long { 2 } else { u64::from(alike.is_some()) };
        (products - products / 5 * fifths).saturating_add(products.saturating_mul(merges) / 5)
    }
}
