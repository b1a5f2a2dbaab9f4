//! Sums over the columns of each class.
use super::Class;
use std::ops::Range;

/// Sums over the columns of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClassSums {
    pub columns: u32,
    pub products: u64,
    /// Upper bound of the entries of C. A column has no more entries than products, or than rows in
    /// its range.
    pub most_entries: u64,
    /// Entries of the longest column of B.
    pub longest_b: u32,
    /// Most products of a column.
    pub longest: u32,
    /// Entries of B.
    pub b_entries: u32,
    /// Columns that are hubs, in dense classes. Method `hub` computes these columns.
    pub hub_columns: u32,
    pub hub_products: u64,
    /// Columns that follow another one (see `adaptive/equal.rs`), and the upper bound of their
    /// entries of C.
    pub followers: u32,
    pub follower_entries: u64,
    /// The widest range of rows of a column, in words of 32 rows, among columns whose rows are
    /// looked at.
    pub widest: u32,
    /// Number of visits to entries of B, in columns whose rows of C are found before the sums. Each
    /// piece of a column's rows visits every entry of the column. `hub_visits` is the number of
    /// visits in hubs.
    pub visits: u64,
    pub hub_visits: u64,
}

impl ClassSums {
    /// Words that the device records for a class.
    pub(crate) const WORDS: usize = 19;

    pub(crate) fn new(words: &[u32]) -> Self {
        let wide = |at: usize| u64::from(words[at + 1]) << 32 | u64::from(words[at]);
        let (columns, products, most_entries) = (words[0], wide(1), wide(3));
        Self {
            columns,
            products,
            most_entries,
            longest_b: words[5],
            longest: words[6],
            b_entries: words[7],
            hub_columns: words[8],
            hub_products: wide(9),
            followers: words[11],
            follower_entries: wide(12),
            widest: words[14],
            visits: wide(15),
            hub_visits: wide(17),
        }
    }

    /// Adds columns of class [`Class::Long`] to a class whose columns ESC computes.
    fn with_long(&self, long: &Self) -> Self {
        Self {
            columns: self.columns + long.columns,
            products: self.products + long.products,
            most_entries: self.most_entries + long.most_entries,
            longest_b: self.longest_b.max(long.longest_b),
            longest: self.longest.max(long.longest),
            b_entries: self.b_entries + long.b_entries,
            widest: self.widest.max(long.widest),
            ..*self
        }
    }
}

/// The sums of all classes.
pub(crate) type ClassesSums = [ClassSums; Class::ALL.len()];

/// The sums of a product without columns.
pub(crate) fn no_columns() -> ClassesSums {
    [ClassSums::default(); Class::ALL.len()]
}

/// Moves the columns of [`Class::Long`] to [`Class::Rest`], which ESC computes.
pub(crate) fn without_long(mut sums: ClassesSums) -> ClassesSums {
    let long = std::mem::take(&mut sums[Class::Long as usize]);
    let rest = &mut sums[Class::Rest as usize];
    *rest = rest.with_long(&long);
    sums
}

/// The sizes of a band of C, by classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassSizes {
    /// The band's columns of B.
    pub columns: Range<u32>,
    /// Windows of rows of each column.
    pub windows: usize,
    pub sums: ClassesSums,
    /// Whether columns that follow share the rows of their leaders.
    pub shares_rows: bool,
    /// Entries of C in the sampled columns, and their upper bound.
    pub samples: [u32; 2],
}

impl ClassSizes {
    pub fn cols(&self) -> usize {
        self.columns.len()
    }

    pub fn of(&self, class: Class) -> &ClassSums {
        &self.sums[class as usize]
    }

    /// The sum of `number` over some classes.
    pub fn sum(&self, classes: &[Class], number: impl Fn(&ClassSums) -> u64) -> u64 {
        classes.iter().map(|&class| number(self.of(class))).sum()
    }

    pub fn products(&self) -> u64 {
        self.sum(&Class::ALL, |sums| sums.products)
    }

    /// Whether methods other than ESC compute some columns.
    pub fn are_taken(&self) -> bool {
        (self.of(Class::Rest).columns as usize) < self.cols().max(1)
    }

    /// Upper bound of the rows of C that are found.
    pub fn most_found(&self) -> u64 {
        let shared = |sums: &ClassSums| if self.shares_rows { sums.follower_entries } else { 0 };
        self.sum(&Class::FOUND, |sums| sums.most_entries - shared(sums))
    }

    /// Number of columns that are listed. The number is 0 if all columns are of one class and share
    /// no rows. Columns for ESC are always listed, because they are taken out of B.
    pub fn listed(&self) -> usize {
        let all = |class: &Class| self.of(*class).columns as usize == self.cols();
        let others = &Class::ALL[..Class::Rest as usize];
        if !self.shares_rows && others.iter().any(all) { 0 } else { self.cols() }
    }

    /// Number of rows of C for which memory is allocated: `percent` percent of the number that is
    /// estimated from samples, at most their upper bound.
    pub fn room(&self, percent: u64) -> u64 {
        let bound = u128::from(self.most_found());
        let [entries, of] = self.samples.map(|number| u128::from(number.max(1)));
        (bound * entries * u128::from(percent)).div_ceil(100 * of).min(bound) as u64
    }

    /// The sums of the classes, with estimates from samples instead of upper bounds, for visits and
    /// for entries of C in columns whose rows are found.
    pub fn statistics(&self) -> ClassesSums {
        let [entries, of] = self.samples.map(|number| u64::from(number.max(1)));
        let mut sums = self.sums;
        let part = |all: u64| (u128::from(all) * u128::from(entries) / u128::from(of)) as u64;
        for class in Class::FOUND {
            let of = &mut sums[class as usize];
            of.most_entries = part(of.most_entries);
            of.visits = part(of.visits).max(of.b_entries.into()); // a column has at least one piece
            of.hub_visits = part(of.hub_visits);
        }
        sums
    }
}
