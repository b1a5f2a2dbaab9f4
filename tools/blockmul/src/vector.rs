//! Vectors in files, Matrix Market arrays and NumPy's `.npy`; results compared with the
//! reference.
use crate::failure::Failure;
use crate::output::{is_standard, write_filled};
use blockmul::{
    Semiring,
    dense::{AnyDenseView, DenseShape, Layout},
    element::AnyValues,
    io::dense,
    matrix::AnyMatrix,
    plan::Format,
    reference,
};
use std::path::Path;

/// Refuses a name whose ending names no format of vectors and dense matrices.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    if is_standard(path) { Ok(()) } else { Ok(dense::check_name(path)?) }
}

/// Writes a vector: to `.npy` in little-endian numbers of its element, else, and for `-`, as a
/// Matrix Market array with the fewest digits that read back.
pub fn write(path: &Path, values: &AnyValues) -> Result<(), Failure> {
    let column = AnyDenseView::new(DenseShape::new(values.len(), 1, Layout::ByColumns), values)?;
    write_filled(path, &mut |writer| match dense::is_npy(path) {
        true => dense::write_npy_values_to(writer, values),
        false => dense::write_array_to(writer, column),
    })
}

/// Number of elements with other bits; one NaN is as good as another.
pub fn differences(found: &AnyValues, want: &AnyValues) -> usize {
    // As `f64` other numbers, and zeros of two signs, have other bits.
    let same = |at: usize| {
        let (found, want) = (found.number(at), want.number(at));
        found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan())
    };
    (0..found.len()).filter(|&at| !same(at)).count()
}

/// Number of elements that differ by more than rounding: of sums of at most `terms` terms each,
/// whose sizes add up to `sizes`, `stored` of them one after another. One NaN is as good as
/// another. What is infinite in one is beyond rounding, unless both are.
pub fn beyond_rounding(
    found: &AnyValues,
    want: &AnyValues,
    sizes: &AnyValues,
    (terms, stored): (usize, usize),
) -> usize {
    let of = found.element();
    let unit = 2.0 * (terms as f64 * of.arithmetic_roundoff() + stored as f64 * of.storage_roundoff());
    let close = |found: f64, want: f64, size: f64| {
        let is_near = (found - want).is_finite() && (found - want).abs() <= unit * size;
        found == want || (found.is_nan() && want.is_nan()) || is_near
    };
    (0..found.len()).filter(|&at| !close(found.number(at), want.number(at), sizes.number(at))).count()
}

/// Elements of y = A·x, or of y = Aᵀ·x, that are not the reference's in a format: bit for bit, or,
/// if the format has no order, within rounding.
pub fn wrong(
    semiring: Semiring,
    format: Format,
    transposed: bool,
    (a, x): (&AnyMatrix, &AnyValues),
    y: &AnyValues,
) -> blockmul::Result<usize> {
    let product =
        |a: &AnyMatrix, x: &AnyValues| reference::multiply_any_vector(semiring, format.order(), transposed, a, x);
    let want = product(a, x)?;
    if format.reproducible() {
        return Ok(differences(y, &want));
    }
    let sizes = product(&matrix_of_magnitudes(a), &magnitudes(x))?;
    Ok(beyond_rounding(y, &want, &sizes, (most_terms(a, transposed), 1)))
}

/// Most terms of a sum of A·x, or of Aᵀ·x.
pub fn most_terms(a: &AnyMatrix, transposed: bool) -> usize {
    let (pattern, shape) = (a.pattern(), a.shape());
    let side = if transposed { shape.rows() } else { shape.cols() };
    if a.kind().is_row_major() != transposed {
        return side * (0..pattern.ncols()).map(|col| pattern.entries(col).len()).max().unwrap_or(0);
    }
    let mut entries = vec![0; pattern.nrows()];
    pattern.row_idx().iter().for_each(|&row| entries[row as usize] += 1);
    side * entries.into_iter().max().unwrap_or(0)
}

/// The sizes of numbers.
pub fn magnitudes(values: &AnyValues) -> AnyValues {
    AnyValues::F64(values.numbers().into_iter().map(f64::abs).collect()).cast(values.element())
}

/// The matrix of the sizes of its elements.
pub fn matrix_of_magnitudes(a: &AnyMatrix) -> AnyMatrix {
    a.map(f64::abs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_another_order_are_within_rounding_and_others_are_not() {
        let (want, sizes) = ([1.0, 0.0, f64::NAN, f64::INFINITY], [1.0, 1.0, f64::NAN, f64::INFINITY]);
        let of = |numbers: [f64; 4]| AnyValues::F64(numbers.to_vec());
        let beyond = |found: [f64; 4]| beyond_rounding(&of(found), &of(want), &of(sizes), (10, 1));
        assert_eq!(beyond(want), 0);
        assert_eq!(beyond([1.0 + 2e-15, -2e-15, f64::NAN, f64::INFINITY]), 0);
        assert_eq!(beyond([1.0 + 3e-15, 3e-15, 0.0, 1e300]), 4);
        assert_eq!(beyond([1.0, 0.0, f64::NAN, f64::NEG_INFINITY]), 1);
    }

    #[test]
    fn terms_are_those_of_the_longest_row() -> blockmul::Result<()> {
        let a = blockmul::Csc::from_triplets(3, 4, [(0, 0, 1.0), (0, 1, 1.0), (0, 3, 1.0), (2, 1, 1.0)])?;
        let by_rows = AnyMatrix::from(blockmul::Csr::from_transpose(a.transpose()));
        let a = AnyMatrix::from(a);
        assert_eq!([most_terms(&a, false), most_terms(&a, true)], [3, 2]);
        assert_eq!([most_terms(&by_rows, false), most_terms(&by_rows, true)], [3, 2]);
        Ok(())
    }
}
