//! Entries with their rows, for formats whose work-items take entries. Kernels:
//! `cl/apply/spmv/listed.cl`.
use super::Rows;
use crate::{
    Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Scalar, Work, kernel},
    element::Scaling,
};

kernel! {
    struct ListRows = "list_rows" in "apply/spmv/listed.cl" {
        row_ptr: In<u32>,
        row: Out<u32>,
        rows: u32,
        nnz: u32,
    }
}

kernel! {
    struct EmptyRows<V: Element> = "empty_rows" in "apply/spmv/listed.cl" {
        row_ptr: In<u32>,
        y: InOut<V>,
        rows: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

/// Rows whose entries are listed with their row.
pub(super) struct Listed<V: Element> {
    pub rows: Rows,
    /// The row of each entry.
    pub row: Buffer<u32>,
    empty: Kernel<EmptyRows<'static, V>>,
    group_size: usize,
}

impl<V: Element> Listed<V> {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let (device, nnz) = (rows.device(), rows.pattern.nnz());
        let group_size = device.info().numbers().vector_group;
        let options = rows.options::<V, V>(Options::group_size(group_size));
        let empty = Kernel::new(device, &options)?;
        let list: Kernel<ListRows<'_>> = Kernel::new(device, &options)?;
        let mut row = work.buffer(nnz)?;
        let args = ListRows { row_ptr: &rows.pattern.col_ptr, row: &mut row, rows: rows.len() as u32, nnz: nnz as u32 };
        list.launch(work, Grid::items(nnz, group_size), args)?;
        Ok(Self { rows, row, empty, group_size })
    }

    /// Writes the rows without entries.
    pub fn write_empty(
        &self,
        work: &Work,
        y: &mut Buffer<V>,
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
    ) -> Result<()> {
        let args = EmptyRows { row_ptr: &self.rows.pattern.col_ptr, y, rows: self.rows.len() as u32, alpha, beta };
        self.empty.launch(work, Grid::items(self.rows.len(), self.group_size), args)
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.row.len()
    }

    /// Bytes held beside A's pattern.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes() + self.row.bytes()
    }
}
