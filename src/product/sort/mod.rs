//! Columns of C with at most 256 products, each sorted by row in the registers of up to 32
//! work-items; the products of a run are then added in ascending k. Kernels: `cl/product/sort/`.
//!
//! There is a kernel for each class of columns. A column takes an eighth of the class's products as
//! work-items, so one team serves 8, 4, 2 columns, or 1.
mod columns;
mod count;
#[cfg_attr(not(test), expect(dead_code, reason = "for blocks and plans, which do not use it yet"))]
pub(in crate::product) mod pairs;
mod sums;
#[cfg(test)]
mod tests;

use super::{
    adaptive::ColumnTask,
    problem::{Factors, Part},
    target::{Target, TargetKind},
};
use crate::{
    Element, Result, Word,
    device::{Buffer, Device, Teams, Work},
};
use columns::ColumnGroups;
use count::Counts;
use sums::Sums;

/// Most products of a column of each class.
pub(in crate::product) const CLASSES: [u32; 4] = [32, 64, 128, 256];

/// The class of columns of at most `products` products, among the first that sort at most `most`.
pub(in crate::product) fn class_of(products: u64, most: u32) -> Option<usize> {
    CLASSES.iter().position(|&class| products <= class.into() && class <= most)
}

/// Most products of a column that can be sorted: 0, or one of [`CLASSES`]. `row_bits` is the number
/// of bits for the number of rows: a key of 32 bits has a row and the place of a product.
pub(in crate::product) fn most_products(row_bits: u32) -> u32 {
    let fits = |most: &&u32| row_bits + most.ilog2() <= u32::BITS;
    CLASSES.iter().rev().find(fits).copied().unwrap_or(0)
}

/// Counts the entries of C, in products of scalars.
pub(in crate::product) struct SortCounts(Counts);

impl SortCounts {
    /// `groups` is the most work-groups of a launch.
    pub fn new(device: &Device, teams: Teams, groups: usize) -> Result<Self> {
        Ok(Self(Counts::new(device, ColumnGroups { teams, groups }, Part::Full)?))
    }

    /// Writes the number of entries of C in each column of the task to `lengths`, by columns of the
    /// band. The columns have at most `CLASSES[class]` products, which [`most_products`] allows.
    pub fn run<O: Word>(
        &self,
        work: &Work,
        factors: Factors<'_, O>,
        task: &ColumnTask<'_>,
        class: usize,
        lengths: &mut Buffer<u32>,
    ) -> Result<()> {
        self.0.run(work, factors, task, class, (lengths, 0))
    }

    /// As [`SortCounts::run`], and adds the number of products to the two words of `lengths` from
    /// `sum_at` on, the low one first.
    pub fn run_products<O: Word>(
        &self,
        work: &Work,
        factors: Factors<'_, O>,
        task: &ColumnTask<'_>,
        class: usize,
        (lengths, sum_at): (&mut Buffer<u32>, usize),
    ) -> Result<()> {
        self.0.run(work, factors, task, class, (lengths, sum_at))
    }
}

/// Computes columns of C, in products of scalars.
pub(in crate::product) struct SortSums<T: Element>(Sums<T>);

impl<T: Element> SortSums<T> {
    /// As [`SortCounts::new`].
    pub fn new(device: &Device, teams: Teams, groups: usize, target: TargetKind) -> Result<Self> {
        Ok(Self(Sums::new(device, ColumnGroups { teams, groups }, target)?))
    }

    /// Computes the task's columns of C. `col_ptr` has the entries of C before each column of the
    /// band.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_, T>,
        (task, class): (&ColumnTask<'_>, usize),
        col_ptr: &Buffer<u32>,
        c: Target<'_, T>,
    ) -> Result<()> {
        self.0.run(work, factors, (task, class), col_ptr, c)
    }
}
