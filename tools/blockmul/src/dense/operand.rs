//! Dense matrices of files.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::output;
use crate::overflow::Converted;
use blockmul::{
    BlockShape,
    dense::{AnyDense, AnyDenseView, AnyGcoo, DenseShape, Layout},
    element::{AnyValues, ElementType},
    io::{
        MatrixFile,
        dense::{self, DenseFile, is_npy},
    },
    matrix::AnyMatrix,
};
use nalgebra::DMatrix;
use std::path::Path;

/// A sparse matrix from a file, as scalars, and the shape of its blocks before transposition.
pub struct SparseOperand {
    pub matrix: AnyMatrix,
    pub converted: Converted,
    pub block: BlockShape,
    /// The matrix in the groups of its file, if they consist of these blocks.
    pub groups: Option<AnyGcoo>,
}

/// A dense matrix from a file, in the file's layout.
pub struct DenseOperand {
    pub matrix: AnyDense,
    pub converted: Converted,
}

impl DenseOperand {
    /// Writes the matrix to its file, and prints one line about it.
    pub fn write(&self, path: &Path, messages: &Messages) -> Result<(), Failure> {
        write(path, &self.matrix)?;
        let DenseShape { rows, cols, .. } = self.matrix.shape();
        messages.say(&format!("{}: {rows} x {cols}, dense", path.display()));
        Ok(())
    }
}

/// Reads a dense matrix, and warns of values that are too large for the element type.
pub fn read(
    element: ElementType,
    path: &Path,
    name: &str,
    reading: &Reading,
    messages: &Messages,
) -> Result<DenseOperand, Failure> {
    if !is_npy(path) {
        return of_file(element, &input::read(path, reading, messages)?, name, path, messages);
    }
    messages.step(format!("reading {}", path.display()));
    let file = dense::read(path, &reading.options())?;
    of_matrix(element, &file.matrix, file.layout, name, path, messages)
}

/// The dense matrix of a file that has been read.
pub fn of_file(
    element: ElementType,
    file: &MatrixFile,
    name: &str,
    path: &Path,
    messages: &Messages,
) -> Result<DenseOperand, Failure> {
    let DenseFile { matrix, layout, .. } = DenseFile::of_sparse(file)?;
    of_matrix(element, &matrix, layout, name, path, messages)
}

/// Converts a matrix of doubles to the element type, in a layout.
fn of_matrix(
    element: ElementType,
    matrix: &DMatrix<f64>,
    layout: Layout,
    name: &str,
    path: &Path,
    messages: &Messages,
) -> Result<DenseOperand, Failure> {
    let shape = DenseShape::new(matrix.nrows(), matrix.ncols(), layout);
    if let Some((at, value)) = matrix.iter().enumerate().find(|&(_, &value)| !element.has(value)) {
        let (row, col) = (at % matrix.nrows() + 1, at / matrix.nrows() + 1);
        let place = format!("{}: {name} has {value} at row {row}, column {col}", path.display());
        return Err(Failure::Usage(format!("{place}, which is not of type {element}")));
    }
    let by_layout = if layout == Layout::ByRows { &matrix.transpose() } else { matrix };
    let values = AnyValues::F64(by_layout.as_slice().to_vec());
    let values = if element == ElementType::F64 { values } else { values.cast(element) };
    let converted = Converted::count(element, by_layout.as_slice(), name, messages);
    Ok(DenseOperand { matrix: AnyDense::new(shape, values)?, converted })
}

/// Writes a dense matrix: in NumPy's format if the name ends in `.npy`, else, and for `-`, as a
/// Matrix Market array.
pub fn write<'m>(path: &Path, matrix: impl Into<AnyDenseView<'m>>) -> Result<(), Failure> {
    let matrix = matrix.into();
    output::write_filled(path, &mut |writer| match dense::is_npy(path) {
        true => dense::write_npy_to(writer, matrix),
        false => dense::write_array_to(writer, matrix),
    })
}
