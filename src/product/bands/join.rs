//! Joins the bands of a product that stays on the device into one matrix, by one copy. Kernel:
//! `cl/product/bands/join.cl`.
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
    product::Operands,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

kernel! {
    struct Join = "join" in "product/bands/join.cl" {
        band_col_ptr: In<u32>,
        c_col_ptr: Out<u32>,
        first_col: u32,
        cols: u32,
        entries_before: u32,
    }
}

/// Joins the patterns of successive bands of columns. A single band is returned as it is.
pub(crate) fn join_patterns(
    work: &Work,
    nrows: usize,
    mut bands: Vec<(Buffer<u32>, Buffer<u32>)>,
) -> Result<Arc<PatternArrays>> {
    let device = work.device();
    if bands.len() == 1 {
        let (col_ptr, row_idx) = bands.remove(0);
        return Ok(PatternArrays::new(device, nrows, col_ptr.len() - 1, col_ptr, row_idx));
    }
    let (ncols, nnz) = bands.iter().fold((0, 0), |(cols, nnz), band| (cols + band.0.len() - 1, nnz + band.1.len()));
    PatternArrays::check_nnz(nnz as u64)?;
    let group_size = device.info().elementwise_group();
    let kernel: Kernel<Join<'_>> = Kernel::new(device, &Options::group_size(group_size))?;
    let (mut col_ptr, mut row_idx) = (work.buffer(ncols + 1)?, work.buffer(nnz)?);
    let (mut column, mut entry) = (0, 0);
    for (band_col_ptr, rows) in bands {
        let cols = band_col_ptr.len() - 1;
        let args = Join {
            band_col_ptr: &band_col_ptr,
            c_col_ptr: &mut col_ptr,
            first_col: column as u32,
            cols: cols as u32,
            entries_before: entry as u32,
        };
        kernel.launch(work, Grid::items(cols + 1, group_size), args)?;
        work.copy(&rows, 0, &mut row_idx, entry, rows.len())?;
        column += cols;
        entry += rows.len();
    }
    Ok(PatternArrays::new(device, nrows, ncols, col_ptr, row_idx))
}

/// Joins successive bands of columns into one matrix, and counts the time towards `stage`. A single
/// band is returned as it is.
pub(crate) fn join(
    work: &Work,
    operands: &Operands<'_>,
    mut bands: Vec<DeviceCbc>,
    stage: &'static str,
) -> Result<DeviceCbc> {
    if bands.len() == 1 {
        return Ok(bands.remove(0));
    }
    work.stage(stage);
    let nnz: usize = bands.iter().map(|band| band.values.len() / operands.c_stride).sum();
    let mut values = work.buffer_of(operands.element().word(), nnz * operands.c_stride)?;
    let (mut patterns, mut element) = (Vec::new(), 0);
    for DeviceCbc { pattern, values: of_band, .. } in bands {
        work.copy(&of_band, 0, &mut values, element, of_band.len())?;
        element += of_band.len();
        patterns.push(pattern.into_buffers(work)?);
    }
    let pattern = join_patterns(work, operands.a.nrows, patterns)?;
    Ok(operands.on(pattern, values))
}
