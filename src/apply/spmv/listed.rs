//! Entries stored with their rows, for formats whose work-items take entries. Kernels:
//! `cl/apply/spmv/listed.cl`.
use super::rows::{Elements, Rows};
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
    vector::{InOutScaled, ScaledInto},
};

kernel! {
    in "apply/spmv/listed.cl":
    struct ListRows = "list_rows" { row_ptr: In<u32>, row: Out<u32>, rows: u32, nnz: u32 }
    struct EmptyRows = "empty_rows" { row_ptr: In<u32>, y: InOutScaled, rows: u32 }
}

/// A matrix whose entries are listed with their rows.
pub(super) struct Listed {
    pub rows: Rows,
    /// The row of each entry.
    pub row: Buffer<u32>,
    empty: Kernel<EmptyRows<'static>>,
    group_size: usize,
}

impl Listed {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let (device, nnz) = (rows.device(), rows.pattern.nnz());
        let group_size = device.info().vector_group();
        // One kernel serves all matrices.
        let vectors = Elements::both(rows.elements.vector);
        let options = rows.options_of(vectors, Options::group_size(group_size), rows.source.is_some());
        let empty = Kernel::new(device, &options)?;
        let list: Kernel<ListRows<'_>> = Kernel::new(device, &options)?;
        let mut row = work.buffer(nnz)?;
        let args = ListRows { row_ptr: &rows.pattern.col_ptr, row: &mut row, rows: rows.len() as u32, nnz: nnz as u32 };
        list.launch(work, Grid::items(nnz, group_size), args)?;
        Ok(Self { rows, row, empty, group_size })
    }

    /// Writes the elements of y whose rows have no entries.
    pub fn write_empty(&self, work: &Work, y: ScaledInto<'_>) -> Result<()> {
        let args = EmptyRows { row_ptr: self.rows.row_ptr(), y, rows: self.rows.len() as u32 };
        self.empty.launch(work, Grid::items(self.rows.len(), self.group_size), args)
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.row.len()
    }

    /// Bytes of device memory held in addition to A's pattern.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes() + self.row.bytes()
    }
}
