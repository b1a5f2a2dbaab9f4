//! The pattern of a transpose on the device, and the entry that each of its entries comes from: a stable sort of the entries by row.
//! Kernels: `cl/primitives/transpose.cl`.
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    primitives::segmented_sort::{SegmentedSort, SortTuning},
    resident::PatternArrays,
};
use std::sync::Arc;

type StartSignature = (In<u32>, Out<u32>, Out<u32>, u32);
type RowsSignature = (In<u32>, In<u32>, Out<u32>, u32, u32);
type ColumnsSignature = (In<u32>, Out<u32>, u32, u32);

/// One item per entry: nothing here depends on the size.
const GROUP_SIZE: usize = 64;

/// A pattern's transpose.
pub(crate) struct Transposed {
    pub pattern: Arc<PatternArrays>,
    /// Number of each entry in the pattern it comes from.
    pub source: Buffer<u32>,
}

/// The kernels.
pub(crate) struct Transpose {
    start: Kernel<StartSignature>,
    rows: Kernel<RowsSignature>,
    columns: Kernel<ColumnsSignature>,
    sort: SegmentedSort<u32>,
}

impl Transpose {
    pub fn new(device: &Device) -> Result<Self> {
        let (source, options) = (source!("primitives/transpose.cl"), Options::group_size(GROUP_SIZE));
        Ok(Self {
            start: device.kernel(source, &options, "transpose_start")?,
            rows: device.kernel(source, &options, "transpose_rows")?,
            columns: device.kernel(source, &options, "transpose_columns")?,
            sort: SegmentedSort::new(device, SortTuning::new(device.info()))?,
        })
    }

    pub fn run(&self, work: &Work, pattern: &PatternArrays) -> Result<Transposed> {
        let nnz = pattern.nnz();
        let (n, nrows, ncols) = (nnz as u32, pattern.nrows, pattern.ncols);
        let (mut key, mut entry) = (work.buffer(nnz)?, work.buffer(nnz)?);
        self.start.launch(work, Grid::items(nnz, GROUP_SIZE), (&pattern.row_idx, &mut key, &mut entry, n))?;

        let (key, entry) = self.sort.run_whole(work, key, entry)?;
        let (mut col_ptr, mut row_idx) = (work.buffer(nrows + 1)?, work.buffer(nnz)?);
        let args = (&pattern.col_ptr, &entry, &mut row_idx, ncols as u32, n);
        self.rows.launch(work, Grid::items(nnz, GROUP_SIZE), args)?;
        self.columns.launch(work, Grid::items(nrows + 1, GROUP_SIZE), (&key, &mut col_ptr, nrows as u32, n))?;
        let pattern = PatternArrays::new(&pattern.device, ncols, nrows, col_ptr, row_idx);
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
        // Nothing at all; no entry; one; a size around the work-group; one that the sort takes in chunks; empty rows and columns.
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
