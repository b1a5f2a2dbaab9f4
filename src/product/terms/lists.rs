//! The columns of each class, and their bins.
use super::{Class, ClassSizes, ClassSums, ColumnTask, Counts, Pipeline, Share};
use crate::device::Buffer;
use std::ops::Deref;

/// The columns of each class.
pub(crate) struct ClassLists {
    /// The columns by class; empty if all columns are of one class. If rows are shared, columns
    /// that follow are left out.
    pub list: Buffer<u32>,
    pub sizes: ClassSizes,
    /// The bins of the columns. Columns of [`Class::Rest`] are in no bin.
    pub shares: Vec<Share>,
    /// The number of each bin in the whole product, under which the time of the bin is measured.
    pub numbers: Vec<usize>,
}

impl Deref for ClassLists {
    type Target = ClassSizes;
    fn deref(&self) -> &ClassSizes {
        &self.sizes
    }
}

impl ClassLists {
    /// The counts of these columns.
    pub fn counts(&self) -> Counts {
        let bins = self.shares.iter().map(Share::bin).collect();
        Counts { products: self.products(), bands: 1, pipeline: Pipeline::Adaptive, bins, ..Counts::default() }
    }

    /// The columns of the classes from `first` to `last`. Columns that share the rows of another
    /// column are left out.
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

    /// The bins for which `wanted` holds, as bits of [`Work::count_towards`].
    pub fn bins(&self, wanted: impl Fn(&Share) -> bool) -> u64 {
        let bit = |(share, &number)| u64::from(wanted(share)) << number;
        self.shares.iter().zip(&self.numbers).map(bit).sum()
    }

    /// The columns of each bin among the neighbouring `classes`, larger classes first. Each bin is
    /// returned with the class whose kernels compute it.
    pub fn tasks(&self, classes: &[Class]) -> Vec<(Class, ColumnTask<'_>)> {
        let of_classes = self.shares.iter().filter(|share| classes.contains(&share.last));
        let mut bins: Vec<_> = of_classes.map(|share| (share.last, share.first)).collect();
        bins.dedup(); // hubs are in the bin of their class
        bins.reverse();
        bins.into_iter().map(|(last, first)| (last, self.task(first, last))).collect()
    }
}

/// Columns of a band of C: their products, ranges of rows and classes.
pub(crate) struct Profile {
    pub products: Buffer<u32>,
    pub first_row: Buffer<u32>,
    pub last_row: Buffer<u32>,
    pub class: Buffer<u32>,
    pub lists: ClassLists,
}

impl Deref for Profile {
    type Target = ClassLists;
    fn deref(&self) -> &ClassLists {
        &self.lists
    }
}

impl Profile {
    /// Bytes of device memory held, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        let Self { products, first_row, last_row, class, lists } = self;
        [products, first_row, last_row, class, &lists.list].map(Buffer::bytes).iter().sum()
    }
}
