//! Checks on the device that adopted arrays are a valid pattern, with one kernel and one small
//! read. Kernel: `cl/resident/validate.cl`.
use crate::{
    Error, Pattern, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Work, kernel},
    error::PatternError,
};

kernel! {
    struct Validate = "validate" in "resident/validate.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        broken: InOut<u32>,
        nrows: u32,
        ncols: u32,
        nnz: u32,
    }
}

/// Number of columns or entries that a work-item checks in arrays adopted from an application. The
/// number of atomic additions, and on a CPU the number of barriers, is divided by `CHECKED_ITEMS`.
const CHECKED_ITEMS: usize = 16;

/// Refuses arrays that are not the pattern of an `nrows` x `ncols` matrix. The error is the same as
/// from [`Pattern::new`]: it names the first wrong column and entry, although the device checks
/// them in any order.
pub(super) fn validate(
    work: &Work,
    nrows: usize,
    ncols: usize,
    col_ptr: &Buffer<u32>,
    row_idx: &Buffer<u32>,
) -> Result<()> {
    let nnz = row_idx.len();
    let mut broken = work.upload(&[0u32; 2])?;
    let group_size = work.device().info().elementwise_group();
    let options = Options::group_size(group_size).define("ITEMS", CHECKED_ITEMS);
    let kernel: Kernel<Validate<'_>> = Kernel::new(work.device(), &options)?;
    let grid = Grid::groups(ncols.max(nnz).max(1).div_ceil(group_size * CHECKED_ITEMS), group_size);
    let args =
        Validate { col_ptr, row_idx, broken: &mut broken, nrows: nrows as u32, ncols: ncols as u32, nnz: nnz as u32 };
    kernel.launch(work, grid, args)?;
    if broken.download(work)? == [0, 0] {
        return Ok(());
    }
    // The host repeats the check to find the reason.
    let col_ptr: Vec<u64> = col_ptr.download(work)?.into_iter().map(u64::from).collect();
    match Pattern::new(nrows, ncols, col_ptr, row_idx.download(work)?) {
        Err(error) => Err(error),
        // The arrays changed between the checks, so the application is still writing them.
        Ok(_) => Err(Error::Pattern(PatternError::Changed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    /// Whether the device and the host return the same error.
    fn agree(work: &Work, nrows: usize, col_ptr: &[u32], row_idx: &[u32]) -> bool {
        let ncols = col_ptr.len() - 1;
        let offsets = col_ptr.iter().map(|&p| p.into()).collect();
        let want = Pattern::new(nrows, ncols, offsets, row_idx.to_vec()).map(|_| ());
        let found = validate(work, nrows, ncols, &work.upload(col_ptr).unwrap(), &work.upload(row_idx).unwrap());
        assert_eq!(format!("{found:?}"), format!("{want:?}"), "{nrows} rows, {col_ptr:?}, {row_idx:?}");
        found.is_ok()
    }

    #[test]
    fn small_arrays_are_judged_as_the_host_judges_them() {
        let work = Work::new(&test_device(), None);
        // The arrays have no columns, with and without entries, no entries, no rows, all entries in
        // one column, or one entry in each column. Other columns start at the boundary of a
        // work-group's share, one entry before it and one after it. There are empty columns at both
        // ends and in between.
        let share = (work.device().info().elementwise_group() * CHECKED_ITEMS) as u32;
        let (long, nrows) = (2 * share + 1, 2 * share as usize + 1);
        let rows: Vec<u32> = (0..long).collect();
        let each: Vec<u32> = (0..=long).collect();
        assert!(agree(&work, 5, &[0], &[]) && agree(&work, 0, &[0, 0], &[]) && agree(&work, 1, &[0; 200], &[]));
        assert!(!agree(&work, 5, &[0], &[3]) && !agree(&work, 5, &[1], &[3]) && !agree(&work, 0, &[0, 1], &[0]));
        assert!(agree(&work, nrows, &[0, long], &rows) && !agree(&work, nrows - 1, &[0, long], &rows));
        assert!(agree(&work, 1, &each, &vec![0; nrows]));
        for start in share - 1..=share + 1 {
            let two: Vec<u32> = (0..start).chain(0..long - start).collect();
            assert!(agree(&work, nrows, &[0, 0, start, start, long, long], &two));
            assert!(!agree(&work, nrows, &[0, 0, start - 1, start - 1, long, long], &two), "one entry early");
            assert!(!agree(&work, nrows, &[0, 0, start + 1, start + 1, long, long], &two), "one entry late");
        }
    }

    /// Number of rows of [`triangle`].
    const NROWS: usize = 40;

    /// A pattern with columns of 0, 1, 2, ... 16 entries: 136 entries in total, at least two for
    /// each work-item of a group. Rows are odd, so a change by 2 makes two neighbouring rows equal.
    fn triangle() -> [Vec<u32>; 2] {
        let ncols = 17u32;
        let col_ptr = (0..=ncols).map(|j| j * j.saturating_sub(1) / 2).collect();
        [col_ptr, (0..ncols).flat_map(|j| (0..j).map(|i| 2 * i + 1)).collect()]
    }

    #[test]
    fn small_damage_of_columns_is_found_and_named() {
        let work = Work::new(&test_device(), None);
        let [right, row_idx] = triangle();
        assert!(agree(&work, NROWS, &right, &row_idx));
        let mut refused = 0;
        for at in 0..right.len() {
            for value in [0, right[at].wrapping_sub(1), right[at] + 1, row_idx.len() as u32 + 1, u32::MAX] {
                let mut col_ptr = right.clone();
                col_ptr[at] = value;
                refused += usize::from(!agree(&work, NROWS, &col_ptr, &row_idx));
            }
        }
        assert!(refused > 70, "{refused} of {}", 5 * right.len());
    }

    #[test]
    fn damage_of_rows_is_found_and_named() {
        let work = Work::new(&test_device(), None);
        let [col_ptr, right] = triangle();
        let mut refused = 0;
        for at in 0..right.len() {
            for value in [0, right[at] + 2, right[at].saturating_sub(2), NROWS as u32, u32::MAX] {
                let mut row_idx = right.clone();
                row_idx[at] = value;
                refused += usize::from(!agree(&work, NROWS, &col_ptr, &row_idx));
            }
        }
        assert!(refused > 330, "{refused} of {}", 5 * right.len());
    }
}
