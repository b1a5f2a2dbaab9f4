//! Whether arrays that somebody else made are a pattern: checked on the device, by one kernel and one small read. Kernel:
//! `cl/device/validate.cl`.
use super::{Buffer, Grid, In, InOut, Kernel, Options, Work, program::source};
use crate::{Error, Pattern, Result, error::PatternError};

type Signature = (In<u32>, In<u32>, InOut<u32>, u32, u32, u32);

const GROUP_SIZE: usize = 64;

/// Refuses arrays that are not the pattern of an `nrows` x `ncols` matrix, with the column and the entry.
pub(super) fn validate(
    work: &Work,
    nrows: usize,
    ncols: usize,
    col_ptr: &Buffer<u32>,
    row_idx: &Buffer<u32>,
) -> Result<()> {
    let mut first_bad = work.upload(&[u32::MAX])?;
    let kernel: Kernel<Signature> =
        work.device().kernel(source!("device/validate.cl"), &Options::group_size(GROUP_SIZE), "validate")?;
    let sizes = (nrows as u32, ncols as u32, row_idx.len() as u32);
    let args = (col_ptr, row_idx, &mut first_bad, sizes.0, sizes.1, sizes.2);
    kernel.launch(work, Grid::items(ncols, GROUP_SIZE), args)?;
    let without_columns = ncols == 0 && (work.read(col_ptr, 0, 1)?[0] != 0 || row_idx.len() != 0);
    if first_bad.download(work)?[0] == u32::MAX && !without_columns {
        return Ok(());
    }
    // What is wrong is said by the one who knows all the reasons.
    let col_ptr: Vec<u64> = col_ptr.download(work)?.into_iter().map(u64::from).collect();
    match Pattern::new(nrows, ncols, col_ptr, row_idx.download(work)?) {
        Err(error) => Err(error),
        // The arrays were changed meanwhile: whoever owns them is still writing.
        Ok(_) => Err(Error::Pattern(PatternError::Changed)),
    }
}
