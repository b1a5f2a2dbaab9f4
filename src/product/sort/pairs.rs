//! Products in the order of their runs, as pairs of operands. Kernel:
//! `cl/product/sort/place_sorted.cl`.
use super::{CLASSES, columns::ColumnGroups, count::Counts};
use crate::{
    OperandPair, Result,
    device::{Buffer, Device, In, InOut, Kernel, Teams, Work, kernel},
    product::{
        adaptive::ColumnTask,
        problem::{Factors, Pairs, Payload, Spec},
    },
    resident::InPattern,
};

kernel! {
    struct PlaceSorted = "place_sorted" in "team.cl", "product/payload.cl", "product/keys.cl", "product/sort/products.cl", "product/sort/place_sorted.cl" {
        a: InPattern,
        a_operand: In<u32>,
        b: InPattern,
        b_operand: In<u32>,
        list: In<u32>,
        segment_ptr: In<u32>,
        c_col_ptr: In<u32>,
        c_row_idx: InOut<u32>,
        run_end: InOut<u32>,
        payload: InOut<OperandPair>,
        record: InOut<u32>,
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
    }
}

/// The method, compiled for products that are summed later: of blocks, and of plans.
pub(in crate::product) struct SortPairs {
    counts: Counts,
    kernels: Vec<Kernel<PlaceSorted<'static>>>,
    columns: ColumnGroups,
}

/// The columns of a band, of which a task makes some.
pub(in crate::product) struct PairColumns<'a> {
    /// Products before each column.
    pub segment_ptr: &'a Buffer<u32>,
    /// Entries of C before each window of each column.
    pub col_ptr: &'a Buffer<u32>,
    pub row_idx: &'a mut Buffer<u32>,
    /// The last product of each run.
    pub run_end: &'a mut Buffer<u32>,
    /// The products, run after run.
    pub payload: &'a mut Buffer<OperandPair>,
    /// The first word becomes the products of the longest run, if it was less.
    pub longest: &'a mut Buffer<u32>,
}

impl SortPairs {
    /// `groups` is the most work-groups of a launch.
    pub fn new(device: &Device, spec: &Spec, teams: Teams, groups: usize) -> Result<Self> {
        let columns = ColumnGroups { teams, groups };
        let define = |options| <Pairs as Payload<f32>>::define(options, spec);
        let kernel = |&most: &u32| Kernel::rare(device, &define(columns.options(most, spec.part)));
        Ok(Self {
            counts: Counts::new(device, columns, spec.part)?,
            kernels: CLASSES.iter().map(kernel).collect::<Result<_>>()?,
            columns,
        })
    }

    /// As [`Sort::count`](super::Sort::count), of the part of C.
    pub fn count(
        &self,
        work: &Work,
        factors: Factors<'_, u32>,
        task: &ColumnTask<'_>,
        class: usize,
        lengths: &mut Buffer<u32>,
    ) -> Result<()> {
        self.counts.run(work, factors, task, class, (lengths, 0))
    }

    /// Makes the products of the task's columns, and their rows of C.
    pub fn place(
        &self,
        work: &Work,
        factors: Factors<'_, u32>,
        task: &ColumnTask<'_>,
        class: usize,
        to: PairColumns<'_>,
    ) -> Result<()> {
        let args = PlaceSorted {
            a: factors.a,
            a_operand: factors.a_operand,
            b: factors.b,
            b_operand: factors.b_operand,
            list: task.list,
            segment_ptr: to.segment_ptr,
            c_col_ptr: to.col_ptr,
            c_row_idx: to.row_idx,
            run_end: to.run_end,
            payload: to.payload,
            record: to.longest,
            first: task.first,
            columns: task.columns,
            listed: task.listed.into(),
            first_col: task.first_col,
            windows: task.windows,
        };
        self.kernels[class].launch(work, self.columns.grid(class, task.columns), args)
    }
}
