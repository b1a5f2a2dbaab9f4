//! [`ColumnTask`]: columns that one method computes.
use crate::device::{Buffer, arguments};

/// Columns of a band that one method computes.
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

impl<'a> ColumnTask<'a> {
    /// A task of all `columns` columns. Nothing else is known about the columns.
    pub fn of_all(list: &'a Buffer<u32>, columns: u32) -> Self {
        Self { list, first: 0, columns, listed: false, first_col: 0, windows: 1, products: 0, widest: 0 }
    }
}

arguments! {
    /// The numbers of a [`ColumnTask`].
    pub(in crate::product) struct InTask {
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
    }
}

impl From<&ColumnTask<'_>> for InTask<'_> {
    fn from(&ColumnTask { first, columns, listed, first_col, windows, .. }: &ColumnTask<'_>) -> Self {
        Self { first, columns, listed: listed.into(), first_col, windows }
    }
}
