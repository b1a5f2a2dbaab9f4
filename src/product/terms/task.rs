//! [`ColumnTask`]: columns that one method computes.
use crate::device::Buffer;

/// Columns of a band for one method.
#[derive(Clone, Copy)]
pub(crate) struct ColumnTask<'a> {
    /// The columns, counted from the band's first; not read if `listed` is false.
    pub list: &'a Buffer<u32>,
    /// The first of them in `list`.
    pub first: u32,
    /// Number of columns.
    pub columns: u32,
    /// Whether `list` names them; otherwise they are all columns of the band.
    pub listed: bool,
    /// The band's first column of B.
    pub first_col: u32,
    /// Windows of each column: arrays by column have a word for each.
    pub windows: u32,
    /// Their products, if they were counted.
    pub products: u64,
    /// Words of 32 rows in the widest range of rows of a column, if the rows were looked at.
    pub widest: u32,
}
