//! The analysis of spECK (Parger 2020, section 4.1, "Row Analysis"), by columns. The analysis
//! computes the number of products, the range of rows and the class of each column of C, and the
//! sums over each class. Kernels: `cl/product/columns/adaptive/profile.cl`.
use super::{
    equal::{self, LEADING, LONG},
    rules::{ClassRules, Column},
};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Teams, Work, at_most, kernel},
    product::{
        choose::{self, Prices},
        terms::{Class, ClassLists, ClassSizes, ClassSums, Profile, Share, no_columns},
        tuning::AdaptiveTuning,
    },
    resident::{InPattern, PatternArrays},
};
use std::ops::Range;

kernel! {
    in "ptx.cl", "team.cl", "product/columns/hub/columns.cl", "product/columns/adaptive/equal.cl", "product/columns/adaptive/profile.cl":
    struct ProfileColumns = "profile_columns" {
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
        most_words: u32,
    }
    struct ListColumns = "list_columns" {
        class: In<u32>,
        record: InOut<u32>,
        list: InOut<u32>,
        cols: u32,
        shares_rows: u32,
    }
}

/// Columns of a band of C that the device has analysed.
pub(super) struct Profiled {
    pub products: Buffer<u32>,
    pub first_row: Buffer<u32>,
    pub last_row: Buffer<u32>,
    class: Buffer<u32>,
    /// The sums of the classes, the two numbers of the samples, and a counter for each class while
    /// its columns are listed.
    pub record: Buffer<u32>,
}

impl Profile {
    /// Divides the columns among the methods by their costs.
    pub fn share_out(&mut self, prices: &Prices) {
        self.set_bins(choose::share_out(&self.statistics(), prices, false).unwrap_or_default());
    }

    /// Sets the bins of the columns.
    pub fn set_bins(&mut self, shares: Vec<Share>) {
        self.lists.numbers = (0..shares.len()).collect();
        self.lists.shares = shares;
    }

    /// The sizes of each column, by which columns are cut into bands. The host reads five arrays.
    pub fn column_sizes(&self, work: &Work, b: &PatternArrays) -> Result<Vec<Column>> {
        let (begin, cols) = (self.columns.start as usize, self.cols());
        let ends = work.read(&b.col_ptr, begin, cols + 1)?;
        let products = work.read(&self.products, 0, cols)?;
        let (first, last) = (work.read(&self.first_row, 0, cols)?, work.read(&self.last_row, 0, cols)?);
        let class = work.read(&self.class, 0, cols)?;
        let column = |col: usize| {
            let (entries, rows) = (ends[col + 1] - ends[col], (first[col], last[col]));
            let (rows, follows) = ((rows.0 <= rows.1).then_some(rows), equal::follows(class[col]));
            Column { entries, products: products[col], rows, follows }
        };
        Ok((0..cols).map(column).collect())
    }
}

impl ClassLists {
    /// The profile of columns that are one bin of one class.
    pub fn of_one(work: &Work, share: Share) -> Result<Self> {
        let (columns, products) = (share.columns as u32, share.size.products);
        let mut sums = [ClassSums::default(); Class::ALL.len()];
        sums[share.last as usize] = ClassSums { columns, products, ..ClassSums::default() };
        let sizes = ClassSizes { columns: 0..columns, windows: 1, sums, shares_rows: false, samples: [0; 2] };
        Ok(Self { list: work.buffer(0)?, sizes, shares: vec![share], numbers: vec![0] })
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
    /// Index of the two numbers of the samples in the record: the number of entries of C in the
    /// sampled columns, and the upper bound of this number.
    pub const SAMPLED: usize = ClassSums::WORDS * Class::ALL.len();

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Result<Self> {
        let options = teams.options(8).define("PART", Self::PART).define("LONG", LONG).define("LEADING", LEADING);
        let options = ClassRules::define(tuning, options);
        Ok(Self {
            profile: Kernel::new(device, &options)?,
            list: Kernel::new(device, &options)?,
            group_size: teams.group_size(8),
            groups: 8 * device.info().compute_units as usize,
        })
    }

    /// Words of the record.
    pub const fn record_words() -> usize {
        Self::SAMPLED + 2 + Class::ALL.len()
    }

    /// Analyses some columns of B. The host reads nothing.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&PatternArrays, &PatternArrays),
        rules: &ClassRules,
        columns: &Range<u32>,
    ) -> Result<Profiled> {
        let cols = columns.len();
        let array = || work.buffer(cols);
        let (mut products, mut first_row, mut last_row, mut class) = (array()?, array()?, array()?, array()?);
        let mut record = work.buffer(Self::record_words())?;
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
            first_col: columns.start,
            cols: cols as u32,
            sorted_most: rules.sorted_most,
            most_words: rules.most_words,
        };
        self.profile.launch(work, Grid::groups(groups, self.group_size), args)?;
        Ok(Profiled { products, first_row, last_row, class, record })
    }

    /// Reads the sums of the classes, and lists the columns of each class. Samples are taken from
    /// the record unless they are given. The host reads once from the device.
    pub fn finish(
        &self,
        work: &Work,
        (a, b): (&PatternArrays, &PatternArrays),
        rules: &ClassRules,
        columns: Range<u32>,
        profiled: Profiled,
        samples: Option<[u32; 2]>,
    ) -> Result<Profile> {
        let (cols, Profiled { products, first_row, last_row, class, mut record }) = (columns.len(), profiled);
        let words = record.download(work)?;
        let mut sums = no_columns();
        let (mut all, most) = (0, (b.nnz() as u64).saturating_mul(a.nrows.min(a.nnz()) as u64));
        for (sums, words) in sums.iter_mut().zip(words.chunks_exact(ClassSums::WORDS)) {
            *sums = ClassSums::new(words);
            all += u64::from(sums.columns);
            at_most("products", sums.products, most)?;
            at_most("products of hubs", sums.hub_products, sums.products)?;
            at_most("hubs", sums.hub_columns.into(), sums.columns.into())?;
            at_most("entries of C", sums.most_entries, sums.products)?;
            at_most("columns that follow", sums.followers.into(), sums.columns.into())?;
            at_most("entries of C that follow", sums.follower_entries, sums.most_entries)?;
            at_most("entries of B", sums.b_entries.into(), b.nnz() as u64)?;
            at_most("visits of hubs", sums.hub_visits, sums.visits)?;
            at_most("words of a range of rows", sums.widest.into(), a.nrows.div_ceil(32) as u64)?;
        }
        at_most("columns of C", all, cols as u64)?;
        let samples = samples.unwrap_or([words[Self::SAMPLED], words[Self::SAMPLED + 1]]);
        at_most("entries of C in samples", samples[0].into(), samples[1].into())?;
        let sizes = ClassSizes::new(rules, columns, sums, samples);
        let mut list = work.buffer(sizes.listed())?;
        if sizes.listed() > 0 {
            let groups = cols.div_ceil(self.group_size).min(self.groups);
            let (cols, shares_rows) = (cols as u32, sizes.shares_rows.into());
            let args = ListColumns { class: &class, record: &mut record, list: &mut list, cols, shares_rows };
            self.list.launch(work, Grid::groups(groups, self.group_size), args)?;
        }
        let lists = ClassLists { list, sizes, shares: Vec::new(), numbers: Vec::new() };
        Ok(Profile { products, first_row, last_row, class, lists })
    }
}
