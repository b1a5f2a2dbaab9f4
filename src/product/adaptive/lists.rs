//! The columns of each class, and their bins.
use super::{Class, ClassSums, classes::ClassSizes, task::ColumnTask};
use crate::{
    Result,
    device::{Buffer, Work},
    product::{
        choose::Share,
        terms::{Counts, Pipeline},
    },
};
use std::ops::Deref;

/// The columns of each class.
pub(in crate::product) struct ClassLists {
    /// The columns by class, unless all of them are of one class; if rows are shared, without those
    /// that follow.
    pub list: Buffer<u32>,
    pub sizes: ClassSizes,
    /// The bins of the columns, none of which has columns of [`Class::Rest`].
    pub shares: Vec<Share>,
    /// The number of each bin among those of the product, by which its time is measured.
    pub numbers: Vec<usize>,
}

impl Deref for ClassLists {
    type Target = ClassSizes;
    fn deref(&self) -> &ClassSizes {
        &self.sizes
    }
}

impl ClassLists {
    /// The columns of one bin of one class.
    pub fn of_one(work: &Work, share: Share) -> Result<Self> {
        let (columns, products) = (share.columns as u32, share.size.products);
        let mut sums = [ClassSums::default(); Class::ALL.len()];
        sums[share.last as usize] = ClassSums { columns, products, ..ClassSums::default() };
        let sizes = ClassSizes { columns: 0..columns, windows: 1, sums, shares_rows: false, samples: [0; 2] };
        Ok(Self { list: work.buffer(0)?, sizes, shares: vec![share], numbers: vec![0] })
    }

    /// The counts of these columns.
    pub fn counts(&self) -> Counts {
        let bins = self.shares.iter().map(Share::bin).collect();
        Counts { products: self.products(), bands: 1, pipeline: Pipeline::Adaptive, bins, ..Counts::default() }
    }

    /// The columns of neighbouring classes that are listed.
    pub fn task(&self, first: Class, last: Class) -> ColumnTask<'_> {
        let listed = |sums: &ClassSums| sums.columns - if self.shares_rows { sums.followers } else { 0 };
        let columns = |classes: &[ClassSums]| classes.iter().map(listed).sum();
        let of_task = &self.sums[first as usize..=last as usize];
        ColumnTask {
            list: &self.list,
            first: columns(&self.sums[..first as usize]),
            columns: columns(of_task),
            listed: self.list.len() > 0,
            first_col: self.columns.start,
            windows: self.windows as u32,
            products: of_task.iter().map(|sums| sums.products).sum(),
            widest: of_task.iter().map(|sums| sums.widest).max().unwrap_or(0),
        }
    }

    /// The bins with columns of a class, as bits of [`Work::count_towards`].
    pub fn bins_of(&self, class: Class) -> u64 {
        self.bins(|share| (share.first..=share.last).contains(&class))
    }

    /// The bins for which `wanted` holds, in the same way.
    pub fn bins(&self, wanted: impl Fn(&Share) -> bool) -> u64 {
        let bit = |(share, &number)| u64::from(wanted(share)) << number;
        self.shares.iter().zip(&self.numbers).map(bit).sum()
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
