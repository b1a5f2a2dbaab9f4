//! Compressed rows, a work-item for each row. Kernel: `cl/apply/spmv/csr.cl`.
//!
//! On a CPU a row is a serial loop, and nothing is shared. On a GPU neighbouring items read entries
//! that lie a row apart.
use super::{Rows, Sums};
use crate::{
    Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scalar, Work, kernel},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    vector::line_sums::Stored,
};

kernel! {
    pub(super) struct SumRows<T: Element> = "sum_rows" in "apply/spmv/values.cl", "apply/spmv/csr.cl" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: In<u32>,
        values: In<T>,
        x: In<T>,
        y: InOut<T>,
        rows: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

pub(super) struct Csr<T: Element> {
    rows: Rows,
    kernel: Kernel<SumRows<'static, T>>,
    group_size: usize,
}

impl<T: Element> Csr<T> {
    pub fn new(rows: Rows) -> Result<Self> {
        let device = rows.device();
        let group_size = device.info().numbers().vector_group;
        let options = rows.options::<T>(Options::group_size(group_size)).define("PIECE", RUN_PIECE);
        Ok(Self { kernel: Kernel::new(device, &options)?, rows, group_size })
    }
}

impl<T: Element> Sums<T> for Csr<T> {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_, T>,
        x: &Buffer<T>,
        Scaling { alpha, beta }: Scaling<T::Arithmetic>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        let (row_ptr, col, source) = (&self.rows.pattern.col_ptr, &self.rows.pattern.row_idx, self.rows.source());
        let rows = self.rows.len() as u32;
        let args = SumRows { row_ptr, col, source, values, x, y, rows, stride, alpha, beta };
        self.kernel.launch(work, Grid::items(self.rows.len(), self.group_size), args)
    }

    fn places(&self) -> usize {
        self.rows.pattern.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.rows.source.as_ref()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}
