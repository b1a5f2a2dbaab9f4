//! The rules that put columns into classes. On the device `class_of` of
//! `cl/product/columns/adaptive/profile.cl` applies them. This file repeats `class_of` on the host,
//! to predict products.
use super::equal;
use crate::{
    device::Options,
    product::{
        columns::hash::most_rows,
        terms::{Class, ClassSums, ClassesSums, Known, SORTED_PRODUCTS},
        tuning::AdaptiveTuning,
    },
};

/// The sizes of one column of C that are known before it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct Column {
    /// Entries of the column of B.
    pub entries: u32,
    /// Number of products. The value 2^32 - 1 stands for 2^32 - 1 products or more.
    pub products: u32,
    /// The first and the last row of the column, or `None` if the column has no rows, or if its
    /// rows were not looked at.
    pub rows: Option<(u32, u32)>,
    /// Whether the column of B has the same rows as the column before it, and its rows of C are to
    /// be found before the sums.
    pub follows: bool,
}

impl Column {
    /// Upper bound of the entries of C.
    pub fn most_entries(&self) -> u32 {
        self.rows.map_or(self.products, |(first, last)| self.products.min((last - first).saturating_add(1)))
    }

    /// Number of words of 32 rows that overlap the range of rows.
    pub fn words(&self) -> u32 {
        let (first, last) = self.rows.unwrap_or((0, u32::MAX));
        last / 32 - first / 32 + 1
    }
}

/// The rules that put the columns of one product into classes. All bands of a product have the same
/// rules.
#[derive(Debug, Clone, Copy)]
pub(in crate::product) struct ClassRules {
    tuning: AdaptiveTuning,
    /// Most products of a column that is sorted in registers.
    pub sorted_most: u32,
    /// Words of 32 rows in the widest range in which bitmaps find rows. Columns of a wider range
    /// are hashed, or left to ESC.
    pub most_words: u32,
    /// Whether entries of C are estimated from samples.
    pub sampled: bool,
    /// Whether ESC computes the columns of [`Class::Long`]. The answer is known only after an
    /// analysis.
    pub leaves_long: bool,
}

impl ClassRules {
    /// The rows of a column of B with at least `AT_ONCE` entries are always looked at.
    const AT_ONCE: u32 = 64;
    /// Number of sampled columns.
    pub const SAMPLES: usize = 256;

    /// The rules for a product with the facts `known`, whose C has `nrows` rows.
    pub fn new(tuning: &AdaptiveTuning, nrows: usize, known: &Known) -> Self {
        let most_words = tuning.most_words(nrows, known.columns as usize) as u32;
        let sorted_most = tuning.sorted_most(known.if_alike, known.columns);
        let sampled = (tuning.dense || tuning.hash) && known.products >= tuning.sampled_products;
        Self { tuning: *tuning, sorted_most, most_words, sampled, leaves_long: false }
    }

    /// Defines the numbers for the kernels.
    pub fn define(tuning: &AdaptiveTuning, options: Options) -> Options {
        options
            .define("CLASSES", Class::ALL.len())
            .define("RECORD", ClassSums::WORDS)
            .define("AT_ONCE", Self::AT_ONCE)
            .define("DIRECT", if tuning.direct { Class::Direct as usize } else { 0 })
            .define("SORTED", Class::Sorted32 as usize)
            .define("SORTED_SIZES", SORTED_PRODUCTS.len())
            .define("SORTED_MOST", SORTED_PRODUCTS.map(|most| most.to_string()).join(", "))
            .define("DENSE", u8::from(tuning.dense))
            .define("NARROW", Class::Narrow as usize)
            .define("NARROW_WORDS", tuning.narrow_words)
            .define("MEDIUM_WORDS", tuning.medium_words)
            .define("BIG_PRODUCTS", tuning.big_products)
            .define("LONG_CLASS", Class::Long as usize)
            .define("MOST_ENTRIES", format!("{}u", Class::MOST_ENTRIES))
            .define("HASHED", if tuning.hash { Class::HashedSmall as usize } else { 0 })
            .define("HASHED_SIZES", tuning.hash_words.len())
            .define("HASHED_PRODUCTS", format!("{}u", tuning.hash_products))
            .define("FAR_WORDS", tuning.far_words)
            .define("FAR_PRODUCTS", tuning.far_products)
            .define("HASHED_MOST", tuning.hash_words.map(|words| most_rows(words).to_string()).join(", "))
            .define("HUB_PERCENT", format!("{}u", tuning.hub_percent))
            .define("HUB_PIECE", tuning.piece)
    }

    /// Windows of a column whose rows are in a range of `words` words: see
    /// [`AdaptiveTuning::windows_of`].
    pub fn windows_of(&self, words: u32) -> usize {
        self.tuning.windows_of(words as usize)
    }

    /// Whether the rows of a column are looked at.
    pub fn looks_at_rows(&self, entries: u32, products: u32) -> bool {
        entries > Self::AT_ONCE || (products > self.sorted_most && !self.is_direct(entries))
    }

    fn is_direct(&self, entries: u32) -> bool {
        self.tuning.direct && entries == 1
    }

    /// The class of a column.
    pub fn class_of(&self, column: &Column) -> Class {
        let (of, products) = (&self.tuning, column.products);
        if products == 0 {
            return Class::Empty;
        }
        if self.is_direct(column.entries) {
            return Class::Direct;
        }
        let words = column.words() as usize;
        if products <= self.sorted_most || (products as usize <= of.far_products && words > of.far_words) {
            let larger = SORTED_PRODUCTS.iter().filter(|&&most| products > most).count();
            return Class::SORTED[larger];
        }
        if !of.dense || words > self.most_words as usize {
            let bound = column.most_entries() as usize;
            let larger = of.hash_words.iter().filter(|&&words| bound > most_rows(words)).count();
            return if of.hash && products <= of.hash_products { Class::HASHED[larger] } else { Class::Rest };
        }
        match words {
            _ if column.entries > Class::MOST_ENTRIES => Class::Long,
            _ if products > of.big_products => Class::Big,
            words if words <= of.narrow_words => Class::Narrow,
            words if words <= of.medium_words => Class::Medium,
            _ => Class::Wide,
        }
    }

    /// Whether a column of a dense class is a hub, by the rule of
    /// `cl/product/columns/hub/columns.cl`.
    fn is_hub(&self, column: &Column) -> bool {
        let (&Column { entries, products, .. }, percent) = (column, self.tuning.hub_percent);
        products > 0 && 100 * u64::from(products) / u64::from(entries) < u64::from(percent) * self.pieces_of(column)
    }

    /// Upper bound of the number of pieces into which the rows of a column are cut.
    fn pieces_of(&self, column: &Column) -> u64 {
        u64::from(column.most_entries()).div_ceil(self.tuning.piece as u64)
    }

    /// Whether columns that follow share the rows of their leaders, in a product whose columns have
    /// these sums.
    pub fn shares_rows(&self, sums: &ClassesSums) -> bool {
        equal::shares_rows(sums, &self.tuning)
    }

    /// Adds a column to the sums of its class.
    pub fn add(&self, sums: &mut ClassesSums, column: &Column) {
        let class = self.class_of(column);
        let of = &mut sums[class as usize];
        of.columns += 1;
        of.products += u64::from(column.products);
        of.most_entries += u64::from(column.most_entries());
        of.longest_b = of.longest_b.max(column.entries);
        of.longest = of.longest.max(column.products);
        of.b_entries += column.entries;
        of.widest = of.widest.max(column.rows.map_or(0, |_| column.words()));
        let (hub, found) = (class.is_dense() && self.is_hub(column), Class::FOUND.contains(&class));
        let visits = if found { u64::from(column.entries) * self.pieces_of(column) } else { 0 };
        of.visits += visits.min(u32::MAX.into());
        if hub {
            of.hub_columns += 1;
            of.hub_products += u64::from(column.products);
            of.hub_visits += visits.min(u32::MAX.into());
        }
        if column.follows {
            of.followers += 1;
            of.follower_entries += u64::from(column.most_entries());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::test_device, product::terms::Method};

    /// Meshes of several sizes: only the distance between the rows of a column decides its class.
    #[test]
    fn bitmaps_find_rows_that_are_near_each_other_in_a_c_of_any_size() {
        let device = test_device();
        let tuning = AdaptiveTuning::new(device.info(), Method::Dense, device.info().costs(), 32);
        let class = |rows: usize, (first, last)| {
            let known = Known::new(rows, [27 * rows, rows, rows], 27 * rows, [None; 2]);
            let rules = ClassRules::new(&tuning, rows, &known);
            let column = Column { entries: 27, products: 729, rows: Some((first, last)), follows: false };
            (rules.class_of(&column), rules.windows_of(column.words()))
        };
        for rows in [1 << 20, 1 << 27] {
            assert_eq!(class(rows, (900_000, 900_000 + 32 * 200)), (Class::Narrow, 1));
            assert_eq!(class(rows, (500_000, 550_000)), (Class::Wide, 1));
            assert_eq!(class(rows, (100_000, 800_000)), (Class::Wide, 3));
        }
        assert_eq!(class(1 << 27, (0, 100_000_000)).0, Class::Rest);
    }
}
