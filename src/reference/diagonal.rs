//! Products with diagonal matrices, and diagonals of matrices, on the CPU.
use super::vectors::check_len;
use crate::{
    Error, Field, Matrix, Pattern, Result,
    element::{AnySlice, AnyValues, ElementType, Listed, Widened},
    matrix::{AnyMatrix, AnyView, HostMatrix},
};

/// The product A·diag(d): column j of A is multiplied by element j of d.
///
/// # Errors
/// [`Error::Length`] if d does not have one element for each scalar column of A.
pub fn scale_columns<M: Matrix<Element: Field>>(a: &M, d: &[M::Element]) -> Result<M> {
    scale(a.into(), M::Element::any_slice(d), M::ROW_MAJOR)?.typed()
}

/// The product diag(d)·A: row i of A is multiplied by element i of d.
///
/// # Errors
/// [`Error::Length`] if d does not have one element for each scalar row of A.
pub fn scale_rows<M: Matrix<Element: Field>>(a: &M, d: &[M::Element]) -> Result<M> {
    scale(a.into(), M::Element::any_slice(d), !M::ROW_MAJOR)?.typed()
}

/// Like [`scale_columns`], for elements whose type is known at run time only.
///
/// ```
/// use blockmul::{Csc, element::AnyValues, matrix::AnyMatrix, reference};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 3.0f32), (1, 1, 4.0)])?);
/// let scaled = reference::scale_any_columns(&a, &AnyValues::F32(vec![2.0, 0.5]))?;
/// assert_eq!(scaled.values(), &AnyValues::F32(vec![6.0, 2.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`scale_columns`]; [`Error::Argument`] for integers, and if the element types
/// differ.
pub fn scale_any_columns(a: &AnyMatrix, d: &AnyValues) -> Result<AnyMatrix> {
    scale_any(a, d, a.kind().is_row_major())
}

/// Like [`scale_rows`], for elements whose type is known at run time only.
///
/// # Errors
/// The errors of [`scale_any_columns`].
pub fn scale_any_rows(a: &AnyMatrix, d: &AnyValues) -> Result<AnyMatrix> {
    scale_any(a, d, !a.kind().is_row_major())
}

fn scale_any(a: &AnyMatrix, d: &AnyValues, rows: bool) -> Result<AnyMatrix> {
    let (element, found) = (a.element(), d.element());
    element.check_real("scalings")?;
    match element == found {
        true => scale(a.view(), d.borrow(), rows),
        false => Err(Error::Argument(format!("d has elements of {found}, A has elements of {element}"))),
    }
}

/// The blocks on the diagonal of a square matrix of square blocks, as a matrix. Blocks that are not
/// stored are zero.
///
/// # Errors
/// [`Error::Argument`] if the matrix or its blocks are not square.
pub fn diagonal<M: HostMatrix>(a: &M) -> Result<M> {
    M::from_any(any_diagonal(a.view())?)
}

fn any_diagonal(a: AnyView<'_>) -> Result<AnyMatrix> {
    let n = a.pattern.ncols();
    if a.pattern.nrows() != n || a.shape.rows() != a.shape.cols() {
        return Err(Error::Argument(format!(
            "{}x{n} blocks of {}: not square, it has no diagonal",
            a.pattern.nrows(),
            a.shape
        )));
    }
    let on_diagonal = |col| a.pattern.entries(col).find(|&entry| a.pattern.row_idx()[entry] as usize == col);
    let entries: Vec<_> = (0..n).map(on_diagonal).collect();
    let pattern = Pattern::trusted(n, n, (0..=n as u64).collect(), (0..n as u32).collect());
    Ok(AnyMatrix::of_arrays(a.kind, pattern, a.shape, a.shape.area(), a.blocks_or_zeros(&entries)))
}

fn scale(view: AnyView<'_>, d: AnySlice<'_>, rows: bool) -> Result<AnyMatrix> {
    let (r, c) = (view.shape.rows(), view.shape.cols());
    let (n, side) = if rows { (view.pattern.nrows(), r) } else { (view.pattern.ncols(), c) };
    check_len("d", d.len(), n * side)?;
    let values = match view.element() {
        ElementType::F64 => scaled::<f64>(view, d, rows),
        _ => scaled::<f32>(view, d, rows),
    };
    Ok(AnyMatrix::of_arrays(view.kind, view.pattern.clone(), view.shape, view.stride, values))
}

fn scaled<N: Widened>(view: AnyView<'_>, d: AnySlice<'_>, rows: bool) -> AnyValues {
    let (r, c, element) = (view.shape.rows(), view.shape.cols(), view.element());
    let (Some(values), Some(d)) = (N::widened(view.values), N::widened(d)) else { unreachable!("real numbers") };
    let mut values = values.into_owned();
    for col in 0..view.pattern.ncols() {
        for entry in view.pattern.entries(col) {
            let row = view.pattern.row_idx()[entry] as usize;
            for i in 0..view.shape.area() {
                let factor = if rows { d[row * r + i % r] } else { d[col * c + i / r] };
                let value = &mut values[entry * view.stride + i];
                *value = value.times(factor);
            }
        }
    }
    N::narrowed(values, element)
}
