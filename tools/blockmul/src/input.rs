//! Reads matrices from files or from stdin.
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::output::is_standard;
use crate::overflow::Converted;
use crate::sizes::count;
use blockmul::{
    BlockShape, Csc, Error,
    dense::Grouping,
    element::ElementType,
    io::{self, MatrixFile, ReadOptions, matrix_market},
    matrix::{AnyMatrix, AnyView},
};
use std::path::{Path, PathBuf};

/// Options for reading files of matrices.
#[derive(Clone, Copy, Default, clap::Args)]
pub struct Reading {
    /// Add up entries that appear twice in a file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    /// Read files of up to N rows and columns, however few entries they have [default: 2^24, or 16
    /// for each entry if this is more].
    #[arg(long, value_name = "N", value_parser = crate::numbers::count::<u64>)]
    max_lines: Option<u64>,
}

impl Reading {
    pub fn options(&self) -> ReadOptions {
        let options = ReadOptions { sum_duplicates: self.sum_duplicates, ..Default::default() };
        match self.max_lines {
            Some(max_unproven_lines) => ReadOptions { max_unproven_lines, ..options },
            None => options,
        }
    }
}

/// Reads the matrix of the file `path`. For `-` it reads Matrix Market from stdin.
pub fn read(path: &Path, reading: &Reading, messages: &Messages) -> blockmul::Result<MatrixFile> {
    let progress = messages.measured(format!("reading {}", path.display()), Unit::Bytes);
    let options = ReadOptions { progress: Some(progress), ..reading.options() };
    let file = match is_standard(path) {
        true => matrix_market::read_from(std::io::stdin(), "stdin", &options),
        false => io::read(path, &options),
    }?;
    file.warnings.iter().for_each(|warning| messages.warn(warning));
    Ok(file)
}

/// Leaves out the zeros in the blocks of a file, if they would count as entries, and prints their
/// number.
pub fn drop_padding(file: &mut MatrixFile, path: &Path, messages: &Messages) {
    let blocks = layout(file).map_or("several shapes".into(), |shape| shape.to_string());
    match file.drop_padding() {
        0 => {}
        zeros => {
            let zeros = count(zeros as usize, "zero");
            messages.say(&format!("{}: {zeros} in its blocks of {blocks} left out, as padding", name(path)));
        }
    }
}

/// The name of a file in messages.
pub fn name(path: &Path) -> String {
    if is_standard(path) { "stdin".into() } else { path.display().to_string() }
}

/// Reads a graph, a square matrix, without the padding of its blocks.
pub fn read_graph(path: &Path, reading: &Reading, messages: &Messages) -> Result<MatrixFile, Failure> {
    let mut file = read(path, reading, messages)?;
    let (rows, cols) = (file.matrix.nrows(), file.matrix.ncols());
    if rows != cols {
        let name = name(path);
        let why = format!("{name}: a graph is a square matrix of scalars, this one is {rows}x{cols}");
        return Err(Failure::Usage(why));
    }
    drop_padding(&mut file, path, messages);
    Ok(file)
}

/// A sparse matrix, with the blocks and the groups that its file declares.
pub struct Declared {
    pub matrix: Csc<f64>,
    pub layout: Option<io::BlockLayout>,
    pub grouping: Option<Grouping>,
}

/// Reads a file as [`read`] does, or a NumPy array. Zeros of a NumPy array become places without an
/// entry.
pub fn read_any(path: &Path, reading: &Reading, messages: &Messages) -> blockmul::Result<Declared> {
    if io::dense::is_npy(path) {
        messages.step(format!("reading {}", path.display()));
        let dense = io::dense::read(path, &reading.options())?;
        return Ok(Declared { matrix: Csc::from_dense(&dense.matrix)?, layout: None, grouping: None });
    }
    let MatrixFile { matrix, layout, groups, .. } = read(path, reading, messages)?;
    Ok(Declared { matrix, layout, grouping: groups.map(|groups| groups.grouping()) })
}

/// Refuses to read more than one of the named inputs from stdin.
pub fn check_stdin(inputs: &[(&str, Option<&PathBuf>)]) -> Result<(), Failure> {
    let from_stdin = inputs.iter().filter(|(_, path)| path.is_some_and(|path| is_standard(path)));
    match *from_stdin.map(|&(name, _)| name).collect::<Vec<_>>() {
        [one, other, ..] => Err(Failure::Usage(format!("{one} and {other} cannot both be read from stdin"))),
        _ => Ok(()),
    }
}

/// Whether a path is stdin or a pipe, which is read once.
pub fn is_stream(path: &Path) -> bool {
    is_standard(path) || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The shape of the blocks that a file declares, or `None` for scalars.
pub fn layout(file: &MatrixFile) -> Option<BlockShape> {
    file.layout.as_ref().and_then(uniform)
}

/// The shape of all blocks, or `None` for scalars and for several shapes.
pub fn uniform(layout: &io::BlockLayout) -> Option<BlockShape> {
    layout.uniform().filter(|&shape| shape != BlockShape::SCALAR)
}

/// Refuses numbers that the element type cannot hold.
pub fn check_numbers(element: ElementType, matrix: &Csc<f64>, name: &str) -> blockmul::Result<()> {
    let Some((row, col, value)) = matrix.entries().find(|&(.., value)| !element.has(value)) else { return Ok(()) };
    let (row, col) = (row + 1, col + 1);
    Err(Error::Argument(format!("{name} has {value} at row {row}, column {col}, which is not of type {element}")))
}

/// Refuses a matrix of the file `path` with numbers that the element type cannot hold, and warns of
/// finite values that become infinite.
pub fn check_cast(
    element: ElementType,
    matrix: &Csc<f64>,
    name: &str,
    path: &Path,
    messages: &Messages,
) -> Result<Converted, Failure> {
    check_numbers(element, matrix, &format!("{}: {name}", self::name(path)))?;
    Ok(Converted::count(element, matrix.values(), name, messages))
}

/// Converts to the element type; warns of finite values that become infinite.
pub fn cast(element: ElementType, matrix: Csc<f64>, name: &str, messages: &Messages) -> AnyMatrix {
    Converted::count(element, matrix.values(), name, messages);
    elements(element, matrix)
}

/// The matrix with elements of this type. A matrix that already has this type is moved, not copied.
pub fn elements(element: ElementType, matrix: impl Into<AnyMatrix>) -> AnyMatrix {
    let matrix = matrix.into();
    if matrix.element() == element { matrix } else { matrix.cast(element) }
}

/// Cuts a matrix of scalars into blocks, unless the shape is 1x1.
pub fn cut(matrix: AnyMatrix, shape: Option<BlockShape>) -> blockmul::Result<AnyMatrix> {
    match shape.filter(|&shape| shape != BlockShape::SCALAR) {
        Some(shape) => matrix.to_blocks(shape),
        None => Ok(matrix),
    }
}

/// Writes a matrix to its file, and prints one line about it.
pub fn write<'m>(path: &Path, matrix: impl Into<AnyView<'m>>, messages: &Messages) -> Result<(), Failure> {
    write_grouped(path, matrix, Grouping::default(), messages)?;
    crate::output::warn_of_layout(path, messages);
    Ok(())
}

/// Writes like [`write`]. A `.gcoo` file gets the given groups.
pub fn write_grouped<'m>(
    path: &Path,
    matrix: impl Into<AnyView<'m>>,
    grouping: Grouping,
    messages: &Messages,
) -> Result<(), Failure> {
    let matrix = matrix.into();
    crate::output::write_matrix(path, matrix, grouping, messages)?;
    messages.say(&format!("{}: {}", path.display(), describe(matrix)));
    Ok(())
}

/// Size and entries in words, such as `4 x 6, 3 blocks of 2x3`.
pub fn describe<'m>(matrix: impl Into<AnyView<'m>>) -> String {
    let size = Size::of(matrix);
    let (rows, cols, nnz, entries) = (size.rows(), size.cols(), size.nnz(), size.entries());
    format!("{rows} x {cols}, {nnz} {entries}")
}
