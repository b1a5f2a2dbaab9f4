//! The bands of a product that stays on the device, made one matrix by one copy. Kernel: `cl/esc/join.cl`.
use super::Operands;
use crate::{
    Element, Result,
    device::{DeviceCbc, Grid, In, Kernel, Options, Out, PatternArrays, Work, source},
};

type Signature = (In<u32>, Out<u32>, u32, u32, u32);

/// A copy needs no more parallelism than this.
const GROUP_SIZE: usize = 64;

/// Columns of C, band after band, as one matrix; a single band as it is.
pub(crate) fn join<T: Element>(
    work: &Work,
    operands: &Operands<'_, T>,
    mut bands: Vec<DeviceCbc<T>>,
) -> Result<DeviceCbc<T>> {
    if bands.len() == 1 {
        return Ok(bands.remove(0));
    }
    work.stage("gather");
    let nnz: usize = bands.iter().map(|band| band.nnz()).sum();
    PatternArrays::check_nnz(nnz as u64)?;
    let kernel: Kernel<Signature> =
        work.device().kernel(source!("esc/join.cl"), &Options::group_size(GROUP_SIZE), "join")?;
    let mut col_ptr = work.buffer(operands.b.ncols + 1)?;
    let (mut row_idx, mut values) = (work.buffer(nnz)?, work.buffer(nnz * operands.c_stride)?);
    let (mut column, mut entry) = (0, 0);
    for band in bands {
        let args = (&band.col_ptr, &mut col_ptr, column as u32, band.ncols as u32, entry as u32);
        kernel.launch(work, Grid::items(band.ncols + 1, GROUP_SIZE), args)?;
        work.copy(&band.row_idx, 0, &mut row_idx, entry, band.nnz())?;
        work.copy(&band.values, 0, &mut values, entry * operands.c_stride, band.values.len())?;
        column += band.ncols;
        entry += band.nnz();
    }
    Ok(operands.product(col_ptr, row_idx, values))
}
