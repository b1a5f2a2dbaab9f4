//! Vectors in files: Matrix Market arrays, and NumPy's `.npy`.
use crate::failure::Failure;
use crate::output::{is_standard, write_filled};
use blockmul::{
    Cbc, Element, Matrix,
    dense::{DenseShape, DenseView, Layout},
    io::dense,
};
use std::path::Path;

/// Refuses a name whose ending names no format of vectors and dense matrices.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    if is_standard(path) { Ok(()) } else { Ok(dense::check_name(path)?) }
}

/// Writes a vector: to `.npy` in little-endian numbers of its element, else, and for `-`, as a
/// Matrix Market array with the fewest digits that read back.
pub fn write<T: Element>(path: &Path, values: &[T]) -> Result<(), Failure> {
    let column = DenseView::new(DenseShape::new(values.len(), 1, Layout::ByColumns), values)?;
    write_filled(path, &mut |writer| match dense::is_npy(path) {
        true => dense::write_npy_vector_to(writer, values),
        false => dense::write_array_to(writer, column),
    })
}

/// Number of elements with other bits; one NaN is as good as another.
pub fn differences<T: Element>(found: &[T], want: &[T]) -> usize {
    let same = |found: &T, want: &T| {
        bytemuck::bytes_of(found) == bytemuck::bytes_of(want) || (found.to_f64().is_nan() && want.to_f64().is_nan())
    };
    found.iter().zip(want).filter(|(found, want)| !same(found, want)).count()
}

/// Number of elements that differ by more than rounding: of sums of at most `terms` terms each,
/// whose sizes add up to `sizes`, `stored` of them one after another. One NaN is as good as
/// another. What is infinite in one is beyond rounding, unless both are.
pub fn beyond_rounding<T: Element>(found: &[T], want: &[T], sizes: &[T], (terms, stored): (usize, usize)) -> usize {
    let unit = 2.0 * (terms as f64 * T::ARITHMETIC_ROUNDOFF + stored as f64 * T::STORAGE_ROUNDOFF);
    let close = |found: f64, want: f64, size: f64| {
        let is_near = (found - want).is_finite() && (found - want).abs() <= unit * size;
        found == want || (found.is_nan() && want.is_nan()) || is_near
    };
    let all = found.iter().zip(want).zip(sizes);
    all.filter(|((found, want), size)| !close(found.to_f64(), want.to_f64(), size.to_f64())).count()
}

/// Most terms of a sum of A·x, or of Aᵀ·x.
pub fn most_terms<M: Matrix>(a: &M, transposed: bool) -> usize {
    let view = a.as_cbc();
    let (pattern, shape) = (view.pattern, view.shape);
    if M::ROW_MAJOR != transposed {
        return shape.rows() * (0..pattern.ncols()).map(|col| pattern.entries(col).len()).max().unwrap_or(0);
    }
    let mut entries = vec![0; pattern.nrows()];
    pattern.row_idx().iter().for_each(|&row| entries[row as usize] += 1);
    shape.cols() * entries.into_iter().max().unwrap_or(0)
}

/// The sizes of numbers.
pub fn magnitudes<T: Element>(values: &[T]) -> Vec<T> {
    values.iter().map(|value| T::from_f64(value.to_f64().abs())).collect()
}

/// The matrix of the sizes of its elements.
pub fn matrix_of_magnitudes<M: Matrix>(a: &M) -> blockmul::Result<M> {
    let view = a.as_cbc();
    M::from_cbc(Cbc::with_stride(view.pattern.clone(), view.shape, view.stride, magnitudes(view.values))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_another_order_are_within_rounding_and_others_are_not() {
        let (want, sizes) = ([1.0, 0.0, f64::NAN, f64::INFINITY], [1.0, 1.0, f64::NAN, f64::INFINITY]);
        let beyond = |found: [f64; 4]| beyond_rounding(&found, &want, &sizes, (10, 1));
        assert_eq!(beyond(want), 0);
        assert_eq!(beyond([1.0 + 2e-15, -2e-15, f64::NAN, f64::INFINITY]), 0);
        assert_eq!(beyond([1.0 + 3e-15, 3e-15, 0.0, 1e300]), 4);
        assert_eq!(beyond([1.0, 0.0, f64::NAN, f64::NEG_INFINITY]), 1);
    }

    #[test]
    fn terms_are_those_of_the_longest_row() -> blockmul::Result<()> {
        let a = blockmul::Csc::from_triplets(3, 4, [(0, 0, 1.0), (0, 1, 1.0), (0, 3, 1.0), (2, 1, 1.0)])?;
        assert_eq!([most_terms(&a, false), most_terms(&a, true)], [3, 2]);
        let by_rows = blockmul::Csr::from_transpose(a.transpose());
        assert_eq!([most_terms(&by_rows, false), most_terms(&by_rows, true)], [3, 2]);
        Ok(())
    }
}
