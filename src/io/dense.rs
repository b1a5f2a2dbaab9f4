//! Dense matrices in files: NumPy's `.npy`, and Matrix Market arrays.
//!
//! [`read`] accepts `.npy` files with an array of one or two axes, in the order of C or Fortran, of
//! any float, integer or boolean type. An array with one axis is a column. Any other file is read
//! by [`io::read`](super::read). Places without an entry become zeros, and a -0 in a Matrix Market
//! array becomes 0. [`write()`] makes a `.npy` file with the layout and the element type of the
//! matrix, or a Matrix Market array. Files of both kinds may be packed like other files, for
//! example as `.npy.gz`.
//!
//! ```
//! use blockmul::dense::{DenseShape, DenseView, Layout};
//! use blockmul::io::dense::{read_npy_from, write_npy_to};
//! let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let d = DenseView::new(DenseShape::new(2, 3, Layout::ByRows), &values)?;
//! let mut file = Vec::new();
//! write_npy_to(&mut file, d).unwrap();
//! let found = read_npy_from(&file[..], "d.npy", &Default::default())?;
//! assert_eq!((found.matrix, found.layout), (d.to_matrix(), Layout::ByRows));
//! # Ok::<(), blockmul::Error>(())
//! ```
use super::{
    MatrixFile, ReadOptions,
    assemble::check_lines,
    matrix_market::is_banner,
    npz::NpyMember,
    packing::{Packing, has_ending},
    source::Source,
    unpacked::Unpacked,
    words::words,
    write_whole,
};
use crate::{
    Element, Error, Result,
    element::{AnySlice, AnyValues, ElementType, with_values},
    host::memory,
    matrix::{AnyDenseView, DenseShape, DenseView, Layout, Matrix},
};
use nalgebra::DMatrix;
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

/// A dense matrix read from a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DenseFile {
    /// The matrix.
    pub matrix: DMatrix<f64>,
    /// The order of the elements in the file. A sparse file counts as ordered by columns.
    pub layout: Layout,
}

/// Reads the dense matrix in the file at `path`.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Malformed`] or [`Error::Parse`] for
/// anything the format does not allow; [`Error::Memory`] if the matrix does not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<DenseFile> {
    read_path(path.as_ref(), options)
}

fn read_path(path: &Path, options: &ReadOptions) -> Result<DenseFile> {
    if is_npy(path) {
        let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        return read_npy(Box::new(file), path, options);
    }
    DenseFile::of_sparse(&super::read(path, options)?)
}

impl DenseFile {
    /// Makes a dense matrix of a file that was read as a sparse matrix.
    ///
    /// # Errors
    /// [`Error::Memory`] if the matrix does not fit the host.
    pub fn of_sparse(file: &MatrixFile) -> Result<Self> {
        let (rows, cols) = (file.matrix.nrows(), file.matrix.ncols());
        check_memory(rows as u64, cols as u64)?;
        Ok(Self { matrix: file.matrix.as_cbc().to_dense(), layout: Layout::ByColumns })
    }
}

/// Reads the bytes of a `.npy` file, plain or packed, from any reader. Error messages use `name` as
/// the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_npy_from(reader: impl Read, name: impl AsRef<Path>, options: &ReadOptions) -> Result<DenseFile> {
    read_npy(Box::new(reader), name.as_ref(), options)
}

fn read_npy(reader: Box<dyn Read + '_>, name: &Path, options: &ReadOptions) -> Result<DenseFile> {
    let bytes = Unpacked::new(reader).map_err(|source| Error::Io { path: name.to_owned(), source })?;
    let member = NpyMember::open(bytes, name, "the array".into())?;
    let (rows, cols) = match *member.shape() {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        ref axes => return Err(member.refuse(format!("{} axes where 1 or 2 are expected", axes.len()))),
    };
    for (what, lines) in [("rows", rows), ("columns", cols)] {
        check_lines(what, lines, rows.saturating_mul(cols), options.max_unproven_lines)
            .map_err(|reason| member.refuse(reason))?;
    }
    let layout = if member.is_fortran() { Layout::ByColumns } else { Layout::ByRows };
    let (values, _) = member.values(u64::MAX)?;
    let shape = DenseShape::new(rows as usize, cols as usize, layout);
    let matrix = match layout {
        Layout::ByColumns => DMatrix::from_vec(shape.rows, shape.cols, values),
        Layout::ByRows => {
            check_memory(rows, cols)?;
            DenseView::new(shape, &values)?.to_matrix()
        }
    };
    Ok(DenseFile { matrix, layout })
}

/// Refuses a matrix of doubles that does not fit the host.
fn check_memory(rows: u64, cols: u64) -> Result<()> {
    let bytes = rows.saturating_mul(cols).saturating_mul(size_of::<f64>() as u64);
    memory::check_large(|| format!("a dense matrix of {rows}x{cols}"), bytes)
}

/// Writes a dense matrix to a `.npy` or `.mtx` file at `path`, packed if `.gz` or `.bz2` follows.
/// An earlier file is replaced when the new file is complete.
///
/// # Errors
/// [`Error::Io`] with the path, and an earlier file stays unchanged; [`Error::Argument`] for any
/// other ending.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyDenseView<'m>>) -> Result<()> {
    write_view(path.as_ref(), matrix.into())
}

fn write_view(path: &Path, matrix: AnyDenseView<'_>) -> Result<()> {
    check_name(path)?;
    write_whole(path, |writer| match is_npy(path) {
        true => write_npy_lines(writer, matrix),
        false => write_array_lines(writer, matrix),
    })
}

/// Refuses a name without the ending of a format for dense matrices.
///
/// # Errors
/// [`Error::Argument`].
pub fn check_name(path: &Path) -> Result<()> {
    Packing::check_written(path)?;
    match is_npy(path) || has_ending(path, "mtx") {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "{}: dense matrices are written to .mtx (Matrix Market) and .npy (NumPy), packed if .gz or .bz2 follows",
            path.display()
        ))),
    }
}

/// Whether the file at `path` holds a dense matrix: a `.npy` file or a Matrix Market array, plain
/// or packed. Returns `false` for `-` and for anything that is not a regular file.
pub fn is_dense(path: impl AsRef<Path>) -> bool {
    is_dense_at(path.as_ref())
}

fn is_dense_at(path: &Path) -> bool {
    if is_npy(path) {
        return true;
    }
    if path.as_os_str() == "-" || !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    // If the file cannot be unpacked, the reader reports it later, with the line.
    let Ok(mut source) = Source::open(path, None) else { return false };
    let Ok(Some(banner)) = source.line() else { return false };
    let mut found = words(banner);
    let is_banner = found.next().is_some_and(is_banner);
    is_banner && found.nth(1).is_some_and(|format| format.eq_ignore_ascii_case(b"array"))
}

/// Whether a file with this name is a NumPy array, plain or packed.
pub fn is_npy(path: &Path) -> bool {
    has_ending(path, "npy")
}

/// Writes a `.npy` file: little-endian numbers of the element type, in the order of the layout,
/// without padding.
///
/// # Errors
/// The errors of `writer`.
pub fn write_npy_to<'m>(mut writer: impl Write, matrix: impl Into<AnyDenseView<'m>>) -> io::Result<()> {
    write_npy_lines(&mut writer, matrix.into())
}

fn write_npy_lines(writer: &mut dyn Write, matrix: AnyDenseView<'_>) -> io::Result<()> {
    let AnyDenseView { shape, values } = matrix;
    let DenseShape { rows, cols, layout, leading } = shape;
    write_npy_header(writer, values.element(), layout, &format!("({rows}, {cols})"))?;
    let ((lines, width), of_element) = (shape.lines(), values.element().bytes());
    (0..lines).try_for_each(|line| match width {
        0 => Ok(()),
        _ => writer.write_all(&values.bytes()[line * leading * of_element..][..width * of_element]),
    })
}

/// Writes a `.npy` file with one axis.
///
/// # Errors
/// The errors of `writer`.
pub fn write_npy_vector_to<T: Element>(mut writer: impl Write, vector: &[T]) -> io::Result<()> {
    write_npy_values(&mut writer, T::any_slice(vector))
}

/// Writes a `.npy` file with one axis. The element type of the numbers is known at run time only.
///
/// # Errors
/// The errors of `writer`.
pub fn write_npy_values_to(mut writer: impl Write, values: &AnyValues) -> io::Result<()> {
    write_npy_values(&mut writer, values.borrow())
}

fn write_npy_values(writer: &mut dyn Write, values: AnySlice<'_>) -> io::Result<()> {
    write_npy_header(writer, values.element(), Layout::ByRows, &format!("({},)", values.len()))?;
    writer.write_all(values.bytes())
}

fn write_npy_header(writer: &mut dyn Write, element: ElementType, layout: Layout, shape: &str) -> io::Result<()> {
    let descr = match (element.name().as_bytes()[0], element.bytes()) {
        (kind, 1) => format!("|{}1", char::from(kind)),
        (kind, bytes) => format!("<{}{bytes}", char::from(kind)),
    };
    let fortran = if layout == Layout::ByColumns { "True" } else { "False" };
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    // The magic bytes, the version and the length of the header take 10 bytes. The header ends with
    // a newline at a multiple of 64 bytes.
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(length as u16).to_le_bytes())?;
    writeln!(writer, "{dictionary:<width$}", width = length - 1)
}

/// Writes a Matrix Market array: every element on its own line, column after column, with the
/// fewest digits that give the same bits when read.
///
/// # Errors
/// The errors of `writer`.
pub fn write_array_to<'m>(mut writer: impl Write, matrix: impl Into<AnyDenseView<'m>>) -> io::Result<()> {
    write_array_lines(&mut writer, matrix.into())
}

fn write_array_lines(writer: &mut dyn Write, AnyDenseView { shape, values }: AnyDenseView<'_>) -> io::Result<()> {
    let DenseShape { rows, cols, .. } = shape;
    let field = if values.element().is_real() { "real" } else { "integer" };
    writeln!(writer, "%%MatrixMarket matrix array {field} general\n{rows} {cols}")?;
    let mut text = Vec::new();
    for col in 0..cols {
        text.clear();
        for row in 0..rows {
            let at = shape.at(row, col);
            with_values!(AnySlice, values, values => writeln!(text, "{:?}", values[at]))?;
        }
        writer.write_all(&text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    fn matrix(rows: usize, cols: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, cols, |i, j| (i as f64 - 2.0) * 0.375 + j as f64 * 8.0)
    }

    #[test]
    fn files_read_what_was_written() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        for (rows, cols) in [(0, 3), (3, 0), (1, 1), (5, 3), (4, 1)] {
            let want = matrix(rows, cols);
            for layout in [Layout::ByRows, Layout::ByColumns] {
                let tight = DenseShape::new(rows, cols, layout);
                let shape = tight.with_leading(tight.leading + 2);
                let mut values = vec![f64::NAN; shape.len()];
                for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                    values[shape.at(i, j)] = want[(i, j)];
                }
                let view = DenseView::new(shape, &values)?;
                let (npy, mtx) = (folder.path().join("d.npy"), folder.path().join("d.mtx"));
                write(&npy, view)?;
                write(&mtx, view)?;
                let found = read(&npy, &ReadOptions::default())?;
                assert_eq!((&found.matrix, found.layout), (&want, layout));
                assert_eq!(read(&mtx, &ReadOptions::default())?.matrix, want);
                let halves: Vec<f16> = values.iter().map(|&value| f16::from_f64(value)).collect();
                write(&npy, DenseView::new(shape, &halves)?)?;
                assert_eq!(read(&npy, &ReadOptions::default())?.matrix, want);
                for (name, first) in [("d.npy.gz", &b"\x1f\x8b"[..]), ("d.NPY.BZ2", b"BZh"), ("d.mtx.gz", b"\x1f\x8b")]
                {
                    let path = folder.path().join(name);
                    write(&path, view)?;
                    assert!(std::fs::read(&path).unwrap().starts_with(first) && is_dense(&path), "{name}");
                    assert_eq!(read(&path, &ReadOptions::default())?.matrix, want, "{name}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn files_that_hold_no_dense_matrix_are_refused() {
        let mut file = Vec::new();
        write_npy_to(&mut file, &matrix(5, 3)).unwrap();
        let refused = |bytes: &[u8]| read_npy_from(bytes, "d.npy", &ReadOptions::default()).unwrap_err().to_string();
        assert!(refused(&file[..file.len() - 8]).contains("element 14: the data ends here"));
        assert!(refused(&[&file[..], &[0; 8]].concat()).contains("more data than the 15 elements"));
        assert!(refused(b"a matrix").contains("damaged"));
        let text = String::from_utf8_lossy(&file).replace("(5, 3), } ", "(5,3,1), }");
        let header: Vec<u8> = [&b"\x93NUMPY\x01\x00\x76\x00"[..], &text.as_bytes()[12..]].concat();
        assert!(refused(&header).contains("3 axes where 1 or 2 are expected"), "{}", refused(&header));
        let refused = write("d.csv", &matrix(2, 2)).unwrap_err().to_string();
        assert!(refused.contains("d.csv: dense matrices are written to .mtx"), "{refused}");
        let refused = write("d.npy.xz", &matrix(2, 2)).unwrap_err().to_string();
        assert!(refused.contains("d.npy.xz: xz is read, not written"), "{refused}");
    }
}
