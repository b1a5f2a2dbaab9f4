//! Vectors in files: Matrix Market arrays, and NumPy's `.npy` files.
use crate::failure::Failure;
use crate::output::{is_standard, write_filled};
use blockmul::{
    dense::{AnyDenseView, DenseShape, Layout},
    element::AnyValues,
    io::dense,
};
use std::path::Path;

/// Refuses a name whose ending is not that of a format for vectors and dense matrices.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    if is_standard(path) { Ok(()) } else { Ok(dense::check_name(path)?) }
}

/// Writes a vector: in NumPy's format with little-endian numbers of its element type if the name
/// ends in `.npy`, else, and for `-`, as a Matrix Market array with the fewest digits from which
/// the same numbers are read.
pub fn write(path: &Path, values: &AnyValues) -> Result<(), Failure> {
    let column = AnyDenseView::new(DenseShape::new(values.len(), 1, Layout::ByColumns), values)?;
    write_filled(path, &mut |writer| match dense::is_npy(path) {
        true => dense::write_npy_values_to(writer, values),
        false => dense::write_array_to(writer, column),
    })
}
