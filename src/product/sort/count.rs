//! Counts the entries of C in sorted columns. Kernel: `cl/product/sort/count_sorted.cl`.
use super::columns::{ColumnGroups, SortedTask};
use crate::{
    Result,
    device::{Buffer, Device, In, InOut, Kernel, Out, Teams, Work, kernel},
    product::terms::{InTask, SORTED_PRODUCTS},
    resident::{InPattern, PatternArrays},
};

kernel! {
    struct CountSorted = "count_sorted" in "ptx.cl", "team.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/sort/products.cl", "product/sort/count_sorted.cl" {
        a: InPattern,
        b: InPattern,
        list: In<u32>,
        lengths: InOut<u32>,
        keys: Out<u32>,
        task: InTask<'static>,
        sum_at: u32,
    }
}

/// The kernels, one for each class.
pub(in crate::product) struct SortCounts {
    kernels: Vec<Kernel<CountSorted<'static>>>,
    /// The kernels that also keep the sorted keys.
    keeping: Vec<Kernel<CountSorted<'static>>>,
    columns: ColumnGroups,
}

impl SortCounts {
    /// The kernels for a C whose number of rows has `row_bits` bits. A launch has at most `groups`
    /// work-groups.
    pub fn new(device: &Device, teams: Teams, row_bits: u32, groups: usize) -> Result<Self> {
        let columns = ColumnGroups { teams, row_bits, groups };
        let kernels = columns.kernels(device, |most| columns.counting(most))?;
        let keeping = columns.kernels(device, |most| columns.keeping(most))?;
        Ok(Self { kernels, keeping, columns })
    }

    /// Allocates memory for the sorted keys of `columns` columns of `class`.
    pub fn keys(work: &Work, class: usize, columns: u32) -> Result<Buffer<u32>> {
        work.buffer(columns as usize * SORTED_PRODUCTS[class] as usize)
    }

    /// Writes the number of entries of C in each column of the task to `lengths`, which has an
    /// element for each column of the band. The columns have at most `SORTED_PRODUCTS[class]`
    /// products. If `sum_at` is not 0, the number of products is added to the two words of
    /// `lengths` that begin at `sum_at`, the low word first.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&PatternArrays, &PatternArrays),
        SortedTask { task, class }: SortedTask<'_>,
        lengths: &mut Buffer<u32>,
        sum_at: usize,
        keys: Option<&mut Buffer<u32>>,
    ) -> Result<()> {
        let (kernel, mut no_keys) = match keys {
            Some(_) => (&self.keeping[class], None),
            None => (&self.kernels[class], Some(work.buffer(0)?)),
        };
        let args = CountSorted {
            a,
            b,
            list: task.list,
            lengths,
            keys: keys.or(no_keys.as_mut()).expect("one of both"),
            task: (&task).into(),
            sum_at: sum_at as u32,
        };
        kernel.launch(work, self.columns.grid(class, task.columns), args)
    }
}
