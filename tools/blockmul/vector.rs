//! Vectors in files: Matrix Market arrays, and NumPy's `.npy`.
use crate::failure::Failure;
use crate::output::{is_standard, write_filled};
use blockmul::{
    Element,
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
