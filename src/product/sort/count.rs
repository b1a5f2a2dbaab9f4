//! The number of entries of C in columns. Kernel: `cl/product/sort/count_sorted.cl`.
use super::{CLASSES, columns::ColumnGroups};
use crate::{
    Result, Word,
    device::{Buffer, Device, In, InOut, Kernel, Work, kernel},
    product::{
        adaptive::ColumnTask,
        problem::{Factors, Part},
    },
    resident::InPattern,
};

kernel! {
    struct CountSorted = "count_sorted" in "team.cl", "product/keys.cl", "product/sort/products.cl", "product/sort/count_sorted.cl" {
        a: InPattern,
        b: InPattern,
        list: In<u32>,
        lengths: InOut<u32>,
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
        sum_at: u32,
    }
}

/// The kernels, one for each class.
pub(super) struct Counts {
    kernels: Vec<Kernel<CountSorted<'static>>>,
    columns: ColumnGroups,
}

impl Counts {
    pub fn new(device: &Device, columns: ColumnGroups, part: Part) -> Result<Self> {
        let kernel = |&most: &u32| Kernel::rare(device, &columns.options(most, part));
        Ok(Self { kernels: CLASSES.iter().map(kernel).collect::<Result<_>>()?, columns })
    }

    pub fn run<O: Word>(
        &self,
        work: &Work,
        factors: Factors<'_, O>,
        task: &ColumnTask<'_>,
        class: usize,
        (lengths, sum_at): (&mut Buffer<u32>, usize),
    ) -> Result<()> {
        let args = CountSorted {
            a: factors.a,
            b: factors.b,
            list: task.list,
            lengths,
            first: task.first,
            columns: task.columns,
            listed: task.listed.into(),
            first_col: task.first_col,
            windows: task.windows,
            sum_at: sum_at as u32,
        };
        self.kernels[class].launch(work, self.columns.grid(class, task.columns), args)
    }
}
