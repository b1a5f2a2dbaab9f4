//! Norms of rows and columns on the CPU.
use super::lines::Lines;
use crate::{
    Field, Matrix, Result, Semiring,
    element::{Algebra, AnySlice, AnyValues, ElementType, Widened},
    matrix::{AnyMatrix, AnyView},
};
use nalgebra::{ComplexField, RealField};

/// The 2-norm of every scalar column. Squares are added in the order of
/// [`multiply_vector`](super::multiply_vector), and the root is rounded to nearest.
pub fn column_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    norms(a.into(), M::ROW_MAJOR, false).of_same()
}

/// The 2-norm of every scalar row.
pub fn row_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    norms(a.into(), !M::ROW_MAJOR, false).of_same()
}

/// The Frobenius norm of every block column. Inside a block the squares are added in the order in
/// which the block's elements are stored.
pub fn block_column_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    norms(a.into(), M::ROW_MAJOR, true).of_same()
}

/// The Frobenius norm of every block row.
pub fn block_row_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    norms(a.into(), !M::ROW_MAJOR, true).of_same()
}

/// Like [`column_norms`], for elements whose type is known at run time only.
///
/// ```
/// use blockmul::{Csc, element::AnyValues, matrix::AnyMatrix, reference};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 3.0f32), (1, 0, 4.0), (0, 1, 2.0)])?);
/// assert_eq!(reference::any_column_norms(&a)?, AnyValues::F32(vec![5.0, 2.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for integers.
pub fn any_column_norms(a: &AnyMatrix) -> Result<AnyValues> {
    any_norms(a, a.kind().is_row_major(), false)
}

/// Like [`row_norms`], for elements whose type is known at run time only.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for integers.
pub fn any_row_norms(a: &AnyMatrix) -> Result<AnyValues> {
    any_norms(a, !a.kind().is_row_major(), false)
}

/// Like [`block_column_norms`], for elements whose type is known at run time only.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for integers.
pub fn any_block_column_norms(a: &AnyMatrix) -> Result<AnyValues> {
    any_norms(a, a.kind().is_row_major(), true)
}

/// Like [`block_row_norms`], for elements whose type is known at run time only.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for integers.
pub fn any_block_row_norms(a: &AnyMatrix) -> Result<AnyValues> {
    any_norms(a, !a.kind().is_row_major(), true)
}

fn any_norms(a: &AnyMatrix, rows: bool, whole: bool) -> Result<AnyValues> {
    a.element().check_real("norms")?;
    Ok(norms(a.view(), rows, whole))
}

/// The square roots of the sums of squares in the lines of a matrix of real numbers.
fn norms(a: AnyView<'_>, rows: bool, whole: bool) -> AnyValues {
    let lines = Lines::new(a, rows);
    match a.element() {
        ElementType::F64 => norms_of::<f64>(&lines, a.values, whole),
        _ => norms_of::<f32>(&lines, a.values, whole),
    }
}

fn norms_of<N: Widened + RealField>(lines: &Lines<'_>, values: AnySlice<'_>, whole: bool) -> AnyValues {
    let numbers = N::widened(values).unwrap_or_else(|| unreachable!("real numbers"));
    let sums = lines.sums(&numbers, &Algebra::of(Semiring::PlusTimes), whole, &|value, _| value * value);
    N::narrowed(sums.into_iter().map(ComplexField::sqrt).collect(), values.element())
}
