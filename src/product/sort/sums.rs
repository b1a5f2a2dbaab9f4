//! Computes columns of C by sorting. Kernel: `cl/product/sort/sum_sorted.cl`.
use super::columns::ColumnGroups;
use crate::{
    Result,
    device::{Buffer, Device, Elem, In, InOut, Kernel, Teams, Work, kernel},
    product::terms::{ColumnTask, Factors, InLayout, SORTED_PRODUCTS, SumsInto, Target},
    resident::InPattern,
};

kernel! {
    struct SumSorted = "sum_sorted" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/sort/products.cl", "product/sort/sum_sorted.cl" {
        a: InPattern,
        a_values: In<Elem>,
        b: InPattern,
        b_values: In<Elem>,
        list: In<u32>,
        c_col_ptr: In<u32>,
        keys: In<u32>,
        c_row_idx: InOut<u32>,
        c_values: InOut<Elem>,
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
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
    pub fn new(device: &Device, teams: Teams, (row_bits, groups): (u32, usize), target: SumsInto) -> Result<Self> {
        let columns = ColumnGroups { teams, row_bits, groups };
        let kernel = |&most: &u32| Kernel::rare(device, &target.define(columns.options(most)));
        let from_keys = |&most: &u32| Kernel::rare(device, &target.define(columns.keeping(most)));
        let kernels = SORTED_PRODUCTS.iter().map(kernel).collect::<Result<_>>()?;
        Ok(Self { kernels, from_keys: SORTED_PRODUCTS.iter().map(from_keys).collect::<Result<_>>()?, columns })
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
        (task, class): (&ColumnTask<'_>, usize),
        (col_ptr, keys): (&Buffer<u32>, Option<&Buffer<u32>>),
        c: Target<'_>,
    ) -> Result<()> {
        let args = SumSorted {
            a: factors.a,
            a_values: factors.a_operand,
            b: factors.b,
            b_values: factors.b_operand,
            list: task.list,
            c_col_ptr: col_ptr,
            keys: keys.unwrap_or(task.list),
            c_row_idx: c.row_idx,
            c_values: c.values,
            first: task.first,
            columns: task.columns,
            listed: task.listed.into(),
            first_col: task.first_col,
            windows: task.windows,
            layout: c.layout,
        };
        self.kernel(class, keys.is_some()).launch(work, self.columns.grid(class, task.columns), args)
    }
}
