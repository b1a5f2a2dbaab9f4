//! The pattern of a transpose on the device, and the entry that each of its entries comes from: a
//! stable sort of the entries by row. Kernels: `cl/primitives/transpose.cl`.
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    primitives::segmented_sort::{SegmentedSort, SortTuning},
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    struct Start = "transpose_start" in "primitives/transpose.cl" {
        row_idx: In<u32>,
        key: Out<u32>,
        entry_idx: Out<u32>,
        nnz: u32,
    }
}

kernel! {
    struct Rows = "transpose_rows" in "primitives/transpose.cl" {
        col_ptr: In<u32>,
        entry_idx: In<u32>,
        t_row_idx: Out<u32>,
        ncols: u32,
        nnz: u32,
    }
}

kernel! {
    struct Columns = "transpose_columns" in "primitives/transpose.cl" {
        key: In<u32>,
        t_col_ptr: Out<u32>,
        nrows: u32,
        nnz: u32,
    }
}

/// A pattern's transpose.
pub(crate) struct Transposed {
    pub pattern: Arc<PatternArrays>,
    /// For each entry, its number in the pattern that was transposed.
    pub source: Buffer<u32>,
}

/// The kernels of a transposition.
pub(crate) struct Transpose {
    start: Kernel<Start<'static>>,
    rows: Kernel<Rows<'static>>,
    columns: Kernel<Columns<'static>>,
    sort: SegmentedSort<u32>,
    group_size: usize,
}

impl Transpose {
    pub fn new(device: &Device) -> Result<Self> {
        let group_size = device.info().numbers().elementwise_group;
        let options = Options::group_size(group_size);
        Ok(Self {
            start: Kernel::new(device, &options)?,
            rows: Kernel::new(device, &options)?,
            columns: Kernel::new(device, &options)?,
            sort: SegmentedSort::new(device, SortTuning::new(device.info()))?,
            group_size,
        })
    }

    pub fn run(&self, work: &Work, pattern: &PatternArrays) -> Result<Transposed> {
        let (entries, rows, cols) = (pattern.nnz(), pattern.nrows, pattern.ncols);
        let (nnz, nrows, ncols) = (entries as u32, rows as u32, cols as u32);
        let (mut key, mut entry) = (work.buffer(entries)?, work.buffer(entries)?);
        let args = Start { row_idx: &pattern.row_idx, key: &mut key, entry_idx: &mut entry, nnz };
        self.start.launch(work, Grid::items(entries, self.group_size), args)?;

        let (key, entry) = self.sort.run_whole(work, key, entry)?;
        let (mut t_col_ptr, mut t_row_idx) = (work.buffer(rows + 1)?, work.buffer(entries)?);
        let args = Rows { col_ptr: &pattern.col_ptr, entry_idx: &entry, t_row_idx: &mut t_row_idx, ncols, nnz };
        self.rows.launch(work, Grid::items(entries, self.group_size), args)?;
        let args = Columns { key: &key, t_col_ptr: &mut t_col_ptr, nrows, nnz };
        self.columns.launch(work, Grid::items(rows + 1, self.group_size), args)?;
        let pattern = PatternArrays::new(&pattern.device, cols, rows, t_col_ptr, t_row_idx);
        Ok(Transposed { pattern, source: entry })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, device::test_device, generate};

    #[test]
    fn agrees_with_the_host() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let transpose = Transpose::new(&device)?;
        // No lines at all; no entry; one; a size around the work-group; one that the sort takes in
        // chunks; empty rows and columns.
        let empty = |nrows, ncols| crate::Pattern::new(nrows, ncols, vec![0; ncols + 1], vec![]);
        let mut patterns = vec![empty(0, 0)?, empty(3, 0)?, empty(0, 3)?, empty(2, 3)?];
        for (nodes, edges) in [(1, 1), (9, 63), (9, 64), (9, 65), (3000, 40_000)] {
            let a = generate::power_law(nodes, edges, BlockShape::SCALAR, generate::Values::Integer, 5)?;
            patterns.push(a.pattern().clone());
        }
        for host in patterns {
            let arrays = PatternArrays::upload(&work, &host)?;
            let found = transpose.run(&work, &arrays)?;
            let (want, source) = host.transpose();
            assert_eq!(found.pattern.download(&work)?, want);
            let source: Vec<u32> = source.into_iter().map(|entry| entry as u32).collect();
            assert_eq!(found.source.download(&work)?, source);
        }
        Ok(())
    }
}
