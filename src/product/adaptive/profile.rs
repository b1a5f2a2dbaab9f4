//! The analysis of spECK (Parger 2020, section 4, "row analysis"), by columns: products and rows of
//! each column of C, its class, and the sums of each class. Kernels:
//! `cl/product/adaptive/profile.cl`.
use super::task::ColumnTask;
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Teams, Work, at_most, kernel},
    product::{
        adaptive::AdaptiveTuning,
        choose::{self, Share},
        hash::most_rows,
    },
    resident::{InPattern, PatternArrays},
    tuning::MethodCosts,
};
use std::ops::Deref;

kernel! {
    struct ProfileColumns = "profile_columns" in "team.cl", "product/hub/columns.cl", "product/adaptive/profile.cl" {
        a: InPattern,
        b: InPattern,
        products: Out<u32>,
        first_row: Out<u32>,
        last_row: Out<u32>,
        class: Out<u32>,
        record: InOut<u32>,
        first_col: u32,
        cols: u32,
        sorted_most: u32,
        in_windows: u32,
    }
}

kernel! {
    struct ListColumns = "list_columns" in "team.cl", "product/hub/columns.cl", "product/adaptive/profile.cl" {
        class: In<u32>,
        record: InOut<u32>,
        list: InOut<u32>,
        cols: u32,
    }
}

/// How a column of C is computed. The numbers are those of `class_of` in the kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(in crate::product) enum Class {
    /// Without products.
    Empty,
    /// Products of one entry of B.
    Direct,
    /// At most 32 products; sorted in registers, as all up to [`Class::Sorted256`].
    Sorted32,
    Sorted64,
    Sorted128,
    Sorted256,
    /// Rows in a small range; counted by a bitmap, as all up to [`Class::Big`].
    Narrow,
    /// Rows in a range of some ten thousand.
    Medium,
    /// Rows in any range.
    Wide,
    /// Rows in any range, and many products.
    Big,
    /// Rows in any range, few enough for a table of 4 KiB; found by hashes, as all up to
    /// [`Class::HashedGlobal`].
    HashedSmall,
    HashedMedium,
    /// As many rows as fit local memory.
    HashedLarge,
    /// More.
    HashedGlobal,
    /// What no other class takes.
    Rest,
}

impl Class {
    pub const ALL: [Self; 15] = [
        Self::Empty,
        Self::Direct,
        Self::Sorted32,
        Self::Sorted64,
        Self::Sorted128,
        Self::Sorted256,
        Self::Narrow,
        Self::Medium,
        Self::Wide,
        Self::Big,
        Self::HashedSmall,
        Self::HashedMedium,
        Self::HashedLarge,
        Self::HashedGlobal,
        Self::Rest,
    ];
    pub const SORTED: [Self; 4] = [Self::Sorted32, Self::Sorted64, Self::Sorted128, Self::Sorted256];
    /// The number of a sorted class among these.
    pub fn sorted(self) -> usize {
        self as usize - Self::Sorted32 as usize
    }

    pub const HASHED: [Self; 4] = [Self::HashedSmall, Self::HashedMedium, Self::HashedLarge, Self::HashedGlobal];
    /// Those whose rows are found before they are summed.
    pub const FOUND: [Self; 8] = [
        Self::Narrow,
        Self::Medium,
        Self::Wide,
        Self::Big,
        Self::HashedSmall,
        Self::HashedMedium,
        Self::HashedLarge,
        Self::HashedGlobal,
    ];
}

/// The sums of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::product) struct ClassSums {
    pub columns: u32,
    pub products: u64,
    /// Bound of the entries of C: no column has more than products, or rows in its range.
    pub most_entries: u64,
    /// Entries of the longest column of B.
    pub longest_b: u32,
    /// Most products of a column.
    pub longest: u32,
    /// Entries of B.
    pub b_entries: u32,
    /// Columns of dense classes that are hubs: the columns of method `hub`.
    pub hub_columns: u32,
    pub hub_products: u64,
}

impl ClassSums {
    /// Words of the device's record.
    const WORDS: usize = 11;

    fn new(words: &[u32]) -> Self {
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
        }
    }
}

/// Columns of a band of C, analysed by the device.
pub(super) struct Profiled {
    pub products: Buffer<u32>,
    pub first_row: Buffer<u32>,
    pub last_row: Buffer<u32>,
    class: Buffer<u32>,
    /// The sums of the classes, the two numbers of the samples, and a number for each class while
    /// its columns are listed.
    pub record: Buffer<u32>,
}

/// Columns of a band of C, and what is known of them.
pub(in crate::product) struct Profile {
    pub products: Buffer<u32>,
    pub first_row: Buffer<u32>,
    pub last_row: Buffer<u32>,
    pub class: Buffer<u32>,
    pub lists: ClassLists,
    /// Entries of C in the samples, and the bound of them.
    samples: [u32; 2],
}

impl Deref for Profile {
    type Target = ClassLists;
    fn deref(&self) -> &ClassLists {
        &self.lists
    }
}

impl Profile {
    /// Room for the entries of C in the columns whose rows are found: so many percent of their
    /// number estimated from samples, at most their bound.
    pub fn room(&self, percent: u64) -> usize {
        let bound = u128::from(self.sum(&Class::FOUND, |sums| sums.most_entries));
        let [entries, of] = self.samples.map(|number| u128::from(number.max(1)));
        (bound * entries * u128::from(percent)).div_ceil(100 * of).min(bound) as usize
    }

    /// Shares the columns out among the methods, by their costs. Whether they compute them: not if
    /// ESC may, and is predicted to take less.
    pub fn share_out(&mut self, costs: &MethodCosts, esc: bool) -> bool {
        let shares = choose::share_out(&self.statistics(), costs, esc);
        let found = shares.is_some();
        self.lists.shares = shares.unwrap_or_default();
        found
    }

    /// The sums of the classes. The entries of C in columns whose rows are found are estimated from
    /// samples.
    fn statistics(&self) -> [ClassSums; Class::ALL.len()] {
        let [entries, of] = self.samples.map(|number| u64::from(number.max(1)));
        let mut sums = self.sums;
        for class in Class::FOUND {
            let most = &mut sums[class as usize].most_entries;
            *most = (u128::from(*most) * u128::from(entries) / u128::from(of)) as u64;
        }
        sums
    }
}

/// The columns of each class.
pub(in crate::product) struct ClassLists {
    /// The columns by class, unless all of them are of one class.
    pub list: Buffer<u32>,
    first_col: u32,
    /// Windows of rows of each column.
    pub windows: usize,
    sums: [ClassSums; Class::ALL.len()],
    /// The bins of the columns, none of which has columns of [`Class::Rest`].
    pub shares: Vec<Share>,
}

impl ClassLists {
    /// The columns of one bin of one class.
    pub fn of_one(work: &Work, share: Share) -> Result<Self> {
        let (columns, products) = (share.columns as u32, share.size.products);
        let mut sums = [ClassSums::default(); Class::ALL.len()];
        sums[share.last as usize] = ClassSums { columns, products, ..ClassSums::default() };
        Ok(Self { list: work.buffer(0)?, first_col: 0, windows: 1, sums, shares: vec![share] })
    }

    pub fn of(&self, class: Class) -> &ClassSums {
        &self.sums[class as usize]
    }

    /// The sum of a number over some classes.
    pub fn sum(&self, classes: &[Class], number: impl Fn(&ClassSums) -> u64) -> u64 {
        classes.iter().map(|&class| number(self.of(class))).sum()
    }

    /// The columns of neighbouring classes.
    pub fn task(&self, first: Class, last: Class) -> ColumnTask<'_> {
        let columns = |classes: &[ClassSums]| classes.iter().map(|sums| sums.columns).sum();
        ColumnTask {
            list: &self.list,
            first: columns(&self.sums[..first as usize]),
            columns: columns(&self.sums[first as usize..=last as usize]),
            listed: self.list.len() > 0,
            first_col: self.first_col,
            windows: self.windows as u32,
        }
    }

    /// The bins with columns of a class, as bits of [`Work::count_towards`].
    pub fn bins_of(&self, class: Class) -> u64 {
        self.bins(|share| (share.first..=share.last).contains(&class))
    }

    /// The bins for which `wanted` holds, in the same way.
    pub fn bins(&self, wanted: impl Fn(&Share) -> bool) -> u64 {
        let bit = |(number, share)| u64::from(wanted(share)) << number;
        self.shares.iter().enumerate().map(bit).sum()
    }

    /// The columns of each bin among the neighbouring `classes`, the larger ones first, and the
    /// class whose kernels compute them.
    pub fn tasks(&self, classes: &[Class]) -> Vec<(Class, ColumnTask<'_>)> {
        let of_classes = self.shares.iter().filter(|share| classes.contains(&share.last));
        let mut bins: Vec<_> = of_classes.map(|share| (share.last, share.first)).collect();
        bins.dedup(); // hubs are in the bin of their class
        bins.reverse();
        bins.into_iter().map(|(last, first)| (last, self.task(first, last))).collect()
    }
}

/// The kernels of the analysis.
pub(super) struct Profiler {
    profile: Kernel<ProfileColumns<'static>>,
    list: Kernel<ListColumns<'static>>,
    group_size: usize,
    groups: usize,
}

impl Profiler {
    /// Work-items for each column of B.
    const PART: usize = 8;
    /// Entries of a column of B that a whole group processes.
    const LONG: usize = 512;
    /// Place in the record of the entries of C in the samples. Their bound is next.
    pub const SAMPLED: usize = ClassSums::WORDS * Class::ALL.len();

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Result<Self> {
        let options = teams
            .options(8)
            .define("CLASSES", Class::ALL.len())
            .define("RECORD", ClassSums::WORDS)
            .define("PART", Self::PART)
            .define("LONG", Self::LONG)
            .define("DIRECT", if tuning.direct { Class::Direct as usize } else { 0 })
            .define("SORTED", Class::Sorted32 as usize)
            .define("DENSE", u8::from(tuning.dense))
            .define("NARROW", Class::Narrow as usize)
            .define("NARROW_WORDS", tuning.narrow_words)
            .define("MEDIUM_WORDS", tuning.medium_words)
            .define("BIG_PRODUCTS", tuning.big_products)
            .define("HASHED", if tuning.hash { Class::HashedSmall as usize } else { 0 })
            .define("HASHED_SIZES", tuning.hash_words.len())
            .define("HASHED_PRODUCTS", format!("{}u", tuning.hash_products))
            .define("FAR_WORDS", tuning.far_words)
            .define("FAR_PRODUCTS", tuning.far_products)
            .define("HASHED_MOST", tuning.hash_words.map(|words| most_rows(words).to_string()).join(", "))
            .define("HUB_ENTRIES", tuning.hub_entries)
            .define("HUB_AVERAGE", format!("{}u", tuning.hub_average));
        Ok(Self {
            profile: Kernel::new(device, &options)?,
            list: Kernel::new(device, &options)?,
            group_size: teams.group_size(8),
            groups: 8 * device.info().compute_units as usize,
        })
    }

    /// Analyses all columns of B. Those of at most `sorted_most` products are sorted. Without
    /// `in_windows` those with rows in a wide range are hashed, or left to ESC. Reads nothing back.
    pub fn run(
        &self,
        work: &Work,
        a: &PatternArrays,
        b: &PatternArrays,
        (sorted_most, in_windows): (u32, bool),
    ) -> Result<Profiled> {
        let cols = b.ncols;
        let array = || work.buffer(cols);
        let (mut products, mut first_row, mut last_row, mut class) = (array()?, array()?, array()?, array()?);
        let mut record = work.buffer(Self::SAMPLED + 2 + Class::ALL.len())?;
        work.fill_zero(&mut record)?;
        let groups = (cols * Self::PART).div_ceil(self.group_size).min(self.groups);
        let args = ProfileColumns {
            a,
            b,
            products: &mut products,
            first_row: &mut first_row,
            last_row: &mut last_row,
            class: &mut class,
            record: &mut record,
            first_col: 0,
            cols: cols as u32,
            sorted_most,
            in_windows: in_windows.into(),
        };
        self.profile.launch(work, Grid::groups(groups, self.group_size), args)?;
        Ok(Profiled { products, first_row, last_row, class, record })
    }

    /// Reads the sums of the classes, and lists the columns of each. They have `windows` windows if
    /// the rows of any are in a wide range. One read.
    pub fn finish(
        &self,
        work: &Work,
        a: &PatternArrays,
        b: &PatternArrays,
        windows: usize,
        profiled: Profiled,
    ) -> Result<Profile> {
        let (cols, Profiled { products, first_row, last_row, class, mut record }) = (b.ncols, profiled);
        let words = record.download(work)?;
        let mut sums = [ClassSums::default(); Class::ALL.len()];
        let (mut columns, most) = (0, (b.nnz() as u64).saturating_mul(a.nrows.min(a.nnz()) as u64));
        for (sums, words) in sums.iter_mut().zip(words.chunks_exact(ClassSums::WORDS)) {
            *sums = ClassSums::new(words);
            columns += u64::from(sums.columns);
            at_most("products", sums.products, most)?;
            at_most("products of hubs", sums.hub_products, sums.products)?;
            at_most("hubs", sums.hub_columns.into(), sums.columns.into())?;
            at_most("entries of C", sums.most_entries, sums.products)?;
            at_most("entries of B", sums.b_entries.into(), b.nnz() as u64)?;
        }
        at_most("columns of C", columns, cols as u64)?;
        let in_windows = [Class::Wide, Class::Big].iter().any(|&class| sums[class as usize].columns > 0);
        let windows = if in_windows { windows } else { 1 };
        let samples = [words[Self::SAMPLED], words[Self::SAMPLED + 1]];
        at_most("entries of C in samples", samples[0].into(), samples[1].into())?;
        let alone = sums.iter().any(|sums| sums.columns as usize == cols);
        let mut list = work.buffer(if alone { 0 } else { cols })?;
        if !alone {
            let args = ListColumns { class: &class, record: &mut record, list: &mut list, cols: cols as u32 };
            let groups = cols.div_ceil(self.group_size).min(self.groups);
            self.list.launch(work, Grid::groups(groups, self.group_size), args)?;
        }
        let lists = ClassLists { list, first_col: 0, windows, sums, shares: Vec::new() };
        Ok(Profile { products, first_row, last_row, class, lists, samples })
    }
}
