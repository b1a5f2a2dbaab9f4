//! Dense matrices of files.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::output;
use crate::overflow::Converted;
use blockmul::{
    Element,
    dense::{DenseShape, DenseView, Layout},
    io::{
        MatrixFile,
        dense::{self, DenseFile, is_npy},
    },
};
use nalgebra::DMatrix;
use std::path::Path;

/// A dense matrix from a file, in the layout that it has there.
pub struct DenseOperand<T> {
    pub shape: DenseShape,
    pub values: Vec<T>,
    pub converted: Converted,
}

impl<T: Element> DenseOperand<T> {
    /// Writes the matrix to its file, and prints one line about it.
    pub fn write(&self, path: &Path, messages: &Messages) -> Result<(), Failure> {
        write(path, DenseView::new(self.shape, &self.values)?)?;
        messages.say(&format!("{}: {} x {}, dense", path.display(), self.shape.rows, self.shape.cols));
        Ok(())
    }
}

/// Reads a dense matrix, and warns of values that are too large for the element.
pub fn read<T: Element>(
    path: &Path,
    name: &str,
    reading: &Reading,
    messages: &Messages,
) -> Result<DenseOperand<T>, Failure> {
    let file = match is_npy(path) {
        true => {
            messages.step(format!("reading {}", path.display()));
            dense::read(path, &reading.options())?
        }
        false => return of_file(&input::read(path, reading, messages)?, (name, path), messages),
    };
    of_matrix(&file.matrix, file.layout, (name, path), messages)
}

/// A dense matrix of a file that has been read.
pub fn of_file<T: Element>(
    file: &MatrixFile,
    named: (&str, &Path),
    messages: &Messages,
) -> Result<DenseOperand<T>, Failure> {
    let DenseFile { matrix, layout, .. } = DenseFile::of_sparse(file)?;
    of_matrix(&matrix, layout, named, messages)
}

/// A matrix of doubles in a layout, as elements.
fn of_matrix<T: Element>(
    matrix: &DMatrix<f64>,
    layout: Layout,
    (name, path): (&str, &Path),
    messages: &Messages,
) -> Result<DenseOperand<T>, Failure> {
    let shape = DenseShape::new(matrix.nrows(), matrix.ncols(), layout);
    let by_layout = if layout == Layout::ByRows { &matrix.transpose() } else { matrix };
    if T::ARITHMETIC_ROUNDOFF == 0.0
        && let Some((at, value)) =
            matrix.iter().enumerate().find(|&(_, &value)| T::from_f64(value).to_f64() != value && !value.is_infinite())
    {
        let (row, col) = (at % matrix.nrows() + 1, at / matrix.nrows() + 1);
        let place = format!("{}: {name} has {value} at row {row}, column {col}", path.display());
        let why = format!("{place}, which is not of type {}", T::NAME);
        return Err(Failure::Usage(why));
    }
    let values: Vec<T> = by_layout.iter().map(|&value| T::from_f64(value)).collect();
    let converted = Converted::count(by_layout.iter(), &values, name, messages);
    Ok(DenseOperand { shape, values, converted })
}

/// Writes a dense matrix: to `.npy`, else, and for `-`, as a Matrix Market array.
pub fn write<T: Element>(path: &Path, matrix: DenseView<'_, T>) -> Result<(), Failure> {
    output::write_filled(path, &mut |writer| match dense::is_npy(path) {
        true => dense::write_npy_to(writer, matrix),
        false => dense::write_array_to(writer, matrix),
    })
}
