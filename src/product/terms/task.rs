//! [`ColumnTask`]: columns that one method computes.
use crate::device::Buffer;

/// Columns of a band for one method.
#[derive(Clone, Copy)]
pub(crate) struct ColumnTask<'a> {
    /// The columns, counted from the band's first column. Kernels do not read it if `listed` is
    /// false.
    pub list: &'a Buffer<u32>,
    /// The place in `list` where the task's columns begin.
    pub first: u32,
    /// Number of columns.
    pub columns: u32,
    /// Whether `list` names the columns; otherwise the task has all columns of the band.
    pub listed: bool,
    /// The band's first column of B.
    pub first_col: u32,
    /// Windows of each column. Arrays by column have a word for each window.
    pub windows: u32,
    /// Products of the columns, if they were counted.
    pub products: u64,
    /// The widest range of rows of a column, in words of 32 rows, if the rows were looked at.
    pub widest: u32,
}
