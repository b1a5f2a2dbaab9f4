//! Products of matrices of groups, compared with the reference.
use super::{Errors, Verification, of_block};
use crate::{
    Result,
    groups::BlockGroups,
    matrix::{AnyView, HostMatrix},
    reference,
};

/// Compares C with the reference product of matrices of groups, which has the same bits. If an
/// element has other bits than the reference, its relative error counts as infinite.
///
/// ```
/// use blockmul::{Csc, groups::BlockGroups, reference::{multiply_groups, verify::verify_groups}};
/// let a = BlockGroups::side_by_side([Csc::from_triplets(1, 1, [(0, 0, 2.0)])?])?;
/// let [c, wrong] = [multiply_groups(&a, &a)?, a.clone()];
/// assert!(verify_groups(&a, &a, &c)?.bits_equal && !verify_groups(&a, &a, &wrong)?.passed);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`reference::multiply_groups`].
pub fn verify_groups<M: HostMatrix>(
    a: &BlockGroups<M>,
    b: &BlockGroups<M>,
    c: &BlockGroups<M>,
) -> Result<Verification> {
    let r = reference::multiply_groups(a, b)?;
    if (c.row_groups(), c.col_groups()) != (r.row_groups(), r.col_groups()) {
        return Ok(Verification::OTHER_PATTERN);
    }
    let mut errors = Errors::NONE;
    for row in 0..r.row_groups().len() {
        for col in 0..r.col_groups().len() {
            let (c, r): (AnyView<'_>, AnyView<'_>) = match (c.get(row, col), r.get(row, col)) {
                (Some(c), Some(r)) => (c.view(), r.view()),
                (None, None) => continue,
                _ => return Ok(Verification::OTHER_PATTERN),
            };
            if c.pattern != r.pattern || c.shape != r.shape {
                return Ok(Verification::OTHER_PATTERN);
            }
            let of_entry = |entry| of_block([c, r], entry, Some(entry), |_| 0.0, 0.0);
            errors = (0..c.nnz()).map(of_entry).fold(errors, Errors::and);
        }
    }
    Ok(Verification::of(errors))
}
