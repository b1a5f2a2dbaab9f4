//! Computes columns of C by sorting. Kernel: `cl/product/sort/sum_sorted.cl`.
use super::columns::{ColumnGroups, SortedTask};
use crate::{
    Result,
    device::{Buffer, Device, Elem, In, InOut, Kernel, Teams, Work, kernel},
    product::terms::{Factors, InFactors, InLayout, InTask, SumsInto, Target},
};

kernel! {
    struct SumSorted = "sum_sorted" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/sort/products.cl", "product/sort/sum_sorted.cl" {
        factors: InFactors<'static>,
        list: In<u32>,
        c_col_ptr: In<u32>,
        keys: In<u32>,
        c_row_idx: InOut<u32>,
        c_values: InOut<Elem>,
        task: InTask<'static>,
        layout: InLayout,
    }
}

/// The kernels, one for each class.
pub(in crate::product) struct SortSums {
    kernels: Vec<Kernel<SumSorted<'static>>>,
    /// The kernels that continue from the keys that were kept.
    from_keys: Vec<Kernel<SumSorted<'static>>>,
    columns: ColumnGroups,
}

impl SortSums {
    /// The kernels for a C whose number of rows has `row_bits` bits. A launch has at most `groups`
    /// work-groups.
    pub fn new(device: &Device, teams: Teams, row_bits: u32, groups: usize, target: SumsInto) -> Result<Self> {
        let columns = ColumnGroups { teams, row_bits, groups };
        let kernels = columns.kernels(device, |most| target.define(columns.options(most)))?;
        let from_keys = columns.kernels(device, |most| target.define(columns.keeping(most)))?;
        Ok(Self { kernels, from_keys, columns })
    }

    /// Requests the kernel of a class.
    pub fn ask(&self, device: &Device, class: usize, keys: bool) {
        self.kernel(class, keys).ask(device);
    }

    fn kernel(&self, class: usize, keys: bool) -> &Kernel<SumSorted<'static>> {
        if keys { &self.from_keys[class] } else { &self.kernels[class] }
    }

    /// Computes the task's columns of C. `col_ptr` has the entries of C before each column of the
    /// band. `keys` are the sorted keys, if they were kept while the entries were counted.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_>,
        SortedTask { task, class }: SortedTask<'_>,
        col_ptr: &Buffer<u32>,
        keys: Option<&Buffer<u32>>,
        c: Target<'_>,
    ) -> Result<()> {
        let args = SumSorted {
            factors: factors.into(),
            list: task.list,
            c_col_ptr: col_ptr,
            keys: keys.unwrap_or(task.list),
            c_row_idx: c.row_idx,
            c_values: c.values,
            task: (&task).into(),
            layout: c.layout,
        };
        self.kernel(class, keys.is_some()).launch(work, self.columns.grid(class, task.columns), args)
    }
}
