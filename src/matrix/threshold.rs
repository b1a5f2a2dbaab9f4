//! Drops small entries on the host, by the rule that devices use, too.
use super::{AnyMatrix, AnyView, Matrix, Pattern, moves::gather};
use crate::{
    Error, Field, Result,
    element::{AnySlice, AnyValues, ElementType, Number, move_values},
};

/// The rule by which entries (blocks) of a matrix are too small to keep.
///
/// The size of an entry is the largest magnitude of its elements, which is exact in every element
/// type and on every device. An entry is dropped if all its elements are below the limit. The
/// Frobenius norm of a dropped block of r rows and c columns is below √(r·c) times the limit.
/// Entries equal to the limit are kept, and so are entries with a NaN. Limits are rounded to the
/// element's arithmetic type.
///
/// ```
/// use blockmul::matrix::{Threshold, drop_below};
/// use blockmul::Csc;
/// let a = Csc::from_triplets(2, 2, [(0, 0, 1e-9), (1, 0, 4.0), (0, 1, 1e-9), (1, 1, 1e-9)])?;
/// assert_eq!(drop_below(&a, 1e-8)?.values(), [4.0]);
/// // Below 1e-8 times the largest of its column:
/// assert_eq!(drop_below(&a, Threshold::relative(1e-8))?.values(), [4.0, 1e-9, 1e-9]);
/// let threshold = Threshold::absolute(1e-8).keep_diagonal();
/// assert_eq!(drop_below(&a, threshold)?.values(), [1e-9, 4.0, 1e-9]);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Threshold {
    pub(crate) tolerance: f64,
    pub(crate) relative: bool,
    pub(crate) diagonal: bool,
}

impl Threshold {
    /// Sets the limit to `tolerance`, which must not be negative. A limit of 0 drops nothing; the
    /// smallest positive number as the limit drops only zeros.
    pub fn absolute(tolerance: f64) -> Self {
        Self { tolerance, relative: false, diagonal: false }
    }

    /// Sets the limit to `tolerance` times the largest magnitude in the column of entries (blocks)
    /// that contains the entry, or in the row for row-major matrices. A NaN is ignored. If the
    /// largest magnitude is infinite, nothing in that column is dropped.
    pub fn relative(tolerance: f64) -> Self {
        Self { relative: true, ..Self::absolute(tolerance) }
    }

    /// Keeps the entries (blocks) on the diagonal regardless of their size.
    pub fn keep_diagonal(self) -> Self {
        Self { diagonal: true, ..self }
    }

    /// Refuses a tolerance that is negative or not finite.
    pub(crate) fn check(&self) -> Result<()> {
        match self.tolerance >= 0.0 && self.tolerance.is_finite() {
            true => Ok(()),
            false => {
                Err(Error::Argument(format!("a tolerance must be 0 or more, and finite: it is {}", self.tolerance)))
            }
        }
    }

    /// The tolerance in the arithmetic type of the elements.
    pub(crate) fn tolerance_of(&self, element: ElementType) -> Number {
        Number::nearest(element, self.tolerance)
    }
}

impl From<f64> for Threshold {
    /// Converts a number to an absolute threshold with this limit.
    fn from(tolerance: f64) -> Self {
        Self::absolute(tolerance)
    }
}

/// Removes the entries (blocks) below a [`Threshold`]. A number is an absolute threshold.
///
/// # Errors
/// [`Error::Argument`] if the tolerance is negative or not finite.
pub fn drop_below<M: Matrix<Element: Field>>(matrix: &M, threshold: impl Into<Threshold>) -> Result<M> {
    drop_any_below(matrix.into(), threshold.into())?.typed()
}

impl AnyMatrix {
    /// The matrix without the entries (blocks) whose elements are all 0.
    pub fn without_zeros(&self) -> Self {
        let (view, area) = (self.view(), self.view().shape.area());
        let is_zero = |entry: usize| (0..area).all(|i| view.number(entry, i) == 0.0);
        of_entries(view, &(0..view.nnz()).filter(|&entry| !is_zero(entry)).collect::<Vec<_>>())
    }

    /// Removes the entries (blocks) below a [`Threshold`]; see [`drop_below`].
    ///
    /// # Errors
    /// See [`drop_below`]; [`Error::Argument`] for integers.
    pub fn drop_below(&self, threshold: impl Into<Threshold>) -> Result<Self> {
        check_droppable(self.element())?;
        drop_any_below(self.view(), threshold.into())
    }
}

/// Refuses integers, for which thresholds are not defined.
pub(crate) fn check_droppable(element: ElementType) -> Result<()> {
    match element.is_real() {
        true => Ok(()),
        false => Err(Error::Argument(format!("entries are dropped by their magnitude: of floats, not of {element}"))),
    }
}

fn drop_any_below(view: AnyView<'_>, threshold: Threshold) -> Result<AnyMatrix> {
    threshold.check()?;
    Ok(of_entries(view, &kept_entries(view, threshold)))
}

/// The matrix that consists of the entries `kept`, which are in ascending order.
fn of_entries(view: AnyView<'_>, kept: &[usize]) -> AnyMatrix {
    let stride = view.stride;
    let values = move_values!(view.values, values => gather(values, (stride, stride), kept));
    AnyMatrix::of_arrays(view.kind, pattern_of(view.pattern, kept), view.shape, stride, values)
}

/// The pattern that consists of the entries `kept`, which are in ascending order.
pub(crate) fn pattern_of(pattern: &Pattern, kept: &[usize]) -> Pattern {
    let before = |&offset: &u64| kept.partition_point(|&entry| (entry as u64) < offset) as u64;
    let rows = kept.iter().map(|&entry| pattern.row_idx()[entry]).collect();
    Pattern::trusted(pattern.nrows(), pattern.ncols(), pattern.col_ptr().iter().map(before).collect(), rows)
}

/// The indices of the entries to keep, in ascending order, for a matrix of real numbers. Magnitudes
/// are exact in `f64`. Limits are rounded to the arithmetic type of the elements.
pub(crate) fn kept_entries(view: AnyView<'_>, threshold: Threshold) -> Vec<usize> {
    let rounded = |x: f64| if view.element() == ElementType::F64 { x } else { f64::from(x as f32) };
    // The larger of two magnitudes, or NaN if one of them is NaN.
    let larger = |x: f64, y: f64| if x >= y || x.is_nan() { x } else { y };
    let area = view.shape.area();
    let size = |entry: usize| (0..area).map(|i| view.number(entry, i).abs()).fold(0.0, larger);
    let tolerance = rounded(threshold.tolerance);
    let mut kept = Vec::new();
    for col in 0..view.pattern.ncols() {
        let limit = match threshold.relative {
            true => {
                let norm = view.pattern.entries(col).map(size).filter(|x| !x.is_nan()).fold(0.0, larger);
                // A product of two `f32` is exact in `f64`, so it is rounded only once.
                if norm.is_finite() { rounded(tolerance * norm) } else { 0.0 }
            }
            false => tolerance,
        };
        let stays = |&entry: &usize| {
            let below = size(entry) < limit;
            !below || (threshold.diagonal && view.pattern.row_idx()[entry] as usize == col)
        };
        kept.extend(view.pattern.entries(col).filter(stays));
    }
    kept
}
