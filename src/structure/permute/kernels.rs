//! The kernels that permute a pattern.
use crate::{
    Device, Part, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::radix_sort::{Elements, RadixSort, RadixTuning},
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    struct PermuteEntries = "permute_entries" in "structure/permute.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        row_to: In<u32>,
        col_to: In<u32>,
        wrong: InOut<u32>,
        row: Out<u32>,
        col: Out<u32>,
        turned: Out<u32>,
        ncols: u32,
        nnz: u32,
    }
}

kernel! {
    struct PermuteColumns = "permute_columns" in "structure/permute.cl" {
        by_row: In<u32>,
        col: In<u32>,
        col_by_row: Out<u32>,
        nnz: u32,
    }
}

kernel! {
    struct PermutePattern = "permute_pattern" in "structure/permute.cl" {
        source: In<u32>,
        row: In<u32>,
        turned: In<u32>,
        c_row_idx: Out<u32>,
        c_turned: Out<u32>,
        nnz: u32,
    }
}

/// The kernels that find the pattern.
pub(super) struct Kernels {
    entries: Kernel<PermuteEntries<'static>>,
    columns: Kernel<PermuteColumns<'static>>,
    pattern: Kernel<PermutePattern<'static>>,
    sort: RadixSort,
    group_size: usize,
}

/// A permuted pattern, and the source of each entry.
pub(super) struct Permuted {
    pub pattern: Arc<PatternArrays>,
    pub source: Buffer<u32>,
    pub turned: Buffer<u32>,
    /// Number of entries outside the stored triangle. If `wrong` is not 0, the other fields are
    /// meaningless.
    pub wrong: u32,
}

impl Kernels {
    pub fn new(device: &Device, triangle: Part) -> Result<Self> {
        let triangle = match triangle {
            Part::Full => 0,
            Part::Lower => 1,
            Part::Upper => 2,
        };
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size).define("TRIANGLE", triangle);
        Ok(Self {
            entries: Kernel::new(device, &options)?,
            columns: Kernel::new(device, &options)?,
            pattern: Kernel::new(device, &options)?,
            sort: RadixSort::new(device, RadixTuning::new(device.info()))?,
            group_size,
        })
    }

    pub fn run(&self, work: &Work, a: &PatternArrays, row_to: &Buffer<u32>, col_to: &Buffer<u32>) -> Result<Permuted> {
        let (nnz, ncols, grid) = (a.nnz() as u32, a.ncols as u32, Grid::items(a.nnz(), self.group_size));
        let words = || work.buffer::<u32>(a.nnz());
        let mut wrong = work.upload(&[0u32])?;
        let (mut row, mut col, mut turned) = (words()?, words()?, words()?);
        let args = PermuteEntries {
            col_ptr: &a.col_ptr,
            row_idx: &a.row_idx,
            row_to,
            col_to,
            wrong: &mut wrong,
            row: &mut row,
            col: &mut col,
            turned: &mut turned,
            ncols,
            nnz,
        };
        self.entries.launch(work, grid, args)?;

        let by_row = self.sort.run(work, Elements { key: &row, keys: a.nrows, order: None })?;
        let (mut col_by_row, by_row) = (by_row.key, by_row.order);
        let args = PermuteColumns { by_row: &by_row, col: &col, col_by_row: &mut col_by_row, nnz };
        self.columns.launch(work, grid, args)?;
        let sorted = self.sort.run(work, Elements { key: &col_by_row, keys: a.ncols, order: Some(&by_row) })?;
        let (c_col_ptr, source) = (self.sort.starts(work, &sorted.key, a.ncols)?, sorted.order);

        let (mut c_row_idx, mut c_turned) = (col, words()?);
        let args = PermutePattern {
            source: &source,
            row: &row,
            turned: &turned,
            c_row_idx: &mut c_row_idx,
            c_turned: &mut c_turned,
            nnz,
        };
        self.pattern.launch(work, grid, args)?;
        let wrong = wrong.download(work)?[0];
        let pattern = PatternArrays::new(&a.device, a.nrows, a.ncols, c_col_ptr, c_row_idx);
        Ok(Permuted { pattern, source, turned: c_turned, wrong })
    }
}
