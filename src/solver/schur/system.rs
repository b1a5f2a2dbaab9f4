//! Terms of the normal equations that the device and the reference share: damping, sizes, packed
//! factors.
use crate::{
    Error, Pattern, Result,
    element::{ElementType, Number},
    error::Dimensions,
};

/// A term that is added to the diagonal of the Hessian, so that a step is defined and its length is
/// limited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Damping {
    /// No damping.
    #[default]
    None,
    /// Adds λ times the diagonal. With damping by λ times the diagonal, steps do not depend on
    /// units (Marquardt, 1963).
    Marquardt(f64),
    /// Adds λ itself to each element of the diagonal (Levenberg, 1944).
    Levenberg(f64),
}

/// Damping in the type of the elements. Each x on the diagonal becomes x + (scale·max(x, floor) +
/// shift).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Damped<V = Number> {
    pub scale: V,
    pub shift: V,
}

impl Damping {
    pub(super) fn of(self, element: ElementType) -> Result<Damped> {
        let [scale, shift] = self.terms(element)?.map(|term| Number::nearest(element, term));
        Ok(Damped { scale, shift })
    }

    /// The scale and the shift, which must be finite after they are rounded to the element type.
    pub(crate) fn terms(self, element: ElementType) -> Result<[f64; 2]> {
        let (scale, shift) = match self {
            Self::None => (0.0, 0.0),
            Self::Marquardt(lambda) => (lambda, 0.0),
            Self::Levenberg(lambda) => (0.0, lambda),
        };
        // `element.length(x, 0.0)` rounds x to the element type.
        let is_number = |x: f64| x >= 0.0 && element.length(x, 0.0).is_finite();
        match is_number(scale) && is_number(shift) {
            true => Ok([scale, shift]),
            false => Err(Error::Argument(format!("{self:?} is no damping: λ must be a finite {element} from 0 on"))),
        }
    }
}

/// Number of elements in the factor of a block.
pub(crate) fn packed(side: usize) -> usize {
    side * (side + 1) / 2
}

/// The smallest pivot of a positive definite block: the smallest normal number. A pivot that is not
/// normal has lost digits, its reciprocal may be infinite, and some devices treat it as 0.
pub(crate) fn least_pivot(element: ElementType) -> f64 {
    if element.arithmetic() == ElementType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() }
}

/// The pattern of the identity.
pub(crate) fn identity(n: usize) -> Pattern {
    Pattern::trusted(n, n, (0..=n as u64).collect(), (0..n as u32).collect())
}

/// Refuses U, W and V whose sizes do not form one symmetric matrix.
pub(crate) fn check_sizes([u, w, v]: [Dimensions; 3]) -> Result<()> {
    let square = |rows, side| Dimensions { nrows: rows, ncols: rows, block_rows: side, block_cols: side };
    if u == square(w.nrows, w.block_rows) && v == square(w.ncols, w.block_cols) {
        return Ok(());
    }
    let size = |d: Dimensions| format!("{}x{} blocks of {}x{}", d.nrows, d.ncols, d.block_rows, d.block_cols);
    Err(Error::Argument(format!("not the blocks of one matrix: U is {}, W is {}, V is {}", size(u), size(w), size(v))))
}

/// Refuses a U that has a block above its diagonal without its mirror image below, because only
/// blocks on and below the diagonal are read.
pub(crate) fn check_lower(u: &Pattern) -> Result<()> {
    let above =
        |col: usize| u.column(col).iter().map(move |&row| (row as usize, col)).take_while(|(row, col)| row < col);
    let is_alone = |&(row, col): &(usize, usize)| u.column(row).binary_search(&(col as u32)).is_err();
    match (0..u.ncols()).flat_map(above).find(is_alone) {
        Some((row, col)) => Err(Error::Argument(format!(
            "U has block ({row}, {col}) above the diagonal without its mirror image ({col}, {row}): U is read on and \
             below the diagonal, so pass its lower triangle, or both"
        ))),
        None => Ok(()),
    }
}

/// The error for a vector whose length is not the number of scalar rows of a matrix.
pub(crate) fn length(array: &'static str, found: usize, of: Dimensions) -> Error {
    Error::Length { array, found, expected: of.nrows * of.block_rows, why: block_rows(of) }
}

/// Describes the rows of a matrix, for the error about a vector that does not fit them.
pub(super) fn block_rows(of: Dimensions) -> String {
    format!("{} blocks of {}", of.nrows, of.block_rows)
}
