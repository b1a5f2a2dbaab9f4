//! Writes the arrays that SciPy has for the same matrix, deflated, with the same bytes every time.
use std::io::{self, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::io::{WriteOptions, one_nan, without_packing, write_whole};
use crate::{Element, Error, Matrix, Result, matrix::CbcView};

/// Writes `matrix` to the file at `path` and replaces an earlier file once the new one is whole.
///
/// [`Csc`](crate::Csc) is written as CSC, [`Csr`](crate::Csr) as CSR, [`Bsr`](crate::Bsr) as BSR.
/// [`Cbc`](crate::Cbc) becomes BSR too, because SciPy has no compressed columns of blocks. Values
/// keep their type, except that `f16` is written as `float32`, the narrowest type with which SciPy
/// computes. Padding between blocks is left out. Indices are `int32` if that suffices, as in SciPy.
///
/// # Errors
/// [`Error::Io`] with the path, and an earlier file stays as it was; [`Error::Argument`] if the
/// name ends in `.gz` or `.bz2`.
pub fn write<M: Matrix>(path: impl AsRef<Path>, matrix: &M, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    if without_packing(path) != path {
        let ending = path.extension().unwrap_or_default().display();
        return Err(Error::Argument(format!(
            "{}: an .npz is packed already, name it without .{ending}",
            path.display()
        )));
    }
    write_whole(path, |writer| write_to(writer, matrix, options))
}

/// Writes `matrix` as [`write()`] does, to any writer.
///
/// # Errors
/// Those of `writer`.
pub fn write_to<M: Matrix>(writer: impl Write, matrix: &M, options: &WriteOptions) -> io::Result<()> {
    let view = matrix.as_cbc();
    // Entries in the order of compressed lines: the blocks of compressed columns are sorted by row.
    let transposed = (M::BLOCKS && !M::ROW_MAJOR).then(|| view.pattern.transpose());
    let pattern = transposed.as_ref().map_or(view.pattern, |(pattern, _)| pattern);
    let format = match (M::BLOCKS, M::ROW_MAJOR) {
        (true, _) => b"bsr",
        (false, true) => b"csr",
        (false, false) => b"csc",
    };
    let [rows, cols] = scalar_shape::<M>(view);
    let mut archive =
        Writer { zip: ZipWriter::new_stream(SilentAfterFailure { writer, failed: false }), buffer: Vec::new() };
    archive.array("format", &format!("|S{}", format.len()), &[], [format])?;
    archive.array("shape", "<i8", &[2], [rows as u64, cols as u64].iter().map(|size| size.to_le_bytes()))?;
    let narrow = [rows, cols, pattern.nnz()].iter().all(|&number| i32::try_from(number).is_ok());
    archive.indices("indptr", narrow, pattern.col_ptr().iter().copied())?;
    archive.indices("indices", narrow, pattern.row_idx().iter().map(|&index| index.into()))?;

    let shape: &[usize] = match (M::BLOCKS, M::ROW_MAJOR) {
        (false, _) => &[view.pattern.nnz()],
        // The blocks of a row-major matrix are stored transposed.
        (true, true) => &[view.pattern.nnz(), view.shape.cols(), view.shape.rows()],
        (true, false) => &[view.pattern.nnz(), view.shape.rows(), view.shape.cols()],
    };
    let (block_rows, area) = (view.shape.rows(), view.shape.area());
    let nnz = view.pattern.nnz() as u64;
    let elements = (0..view.pattern.nnz()).flat_map(|entry| {
        if entry % (1 << 16) == 0 {
            options.progress.iter().for_each(|progress| progress.tell(entry as u64, nnz));
        }
        let block = view.block(transposed.as_ref().map_or(entry, |(_, source)| source[entry]));
        let by_rows = transposed.is_some();
        (0..area).map(move |i| match by_rows {
            // The rows of a column-major block, one after another.
            true => block[i % view.shape.cols() * block_rows + i / view.shape.cols()],
            false => block[i],
        })
    });
    match size_of::<M::Element>() {
        8 => archive.array("data", "<f8", shape, elements.map(|value| one_nan(value.to_f64()).to_le_bytes())),
        _ => archive.array("data", "<f4", shape, elements.map(|value| (one_nan(value.to_f64()) as f32).to_le_bytes())),
    }?;
    archive.zip.finish()?.into_inner().flush()
}

/// A writer that discards everything after its first failure. A zip archive writes its end when it
/// is dropped, and complains on stderr if that fails.
struct SilentAfterFailure<W> {
    writer: W,
    failed: bool,
}

impl<W: Write> Write for SilentAfterFailure<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Ok(bytes.len());
        }
        let written = self.writer.write(bytes);
        self.failed = written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed { Ok(()) } else { self.writer.flush() }
    }
}

fn scalar_shape<M: Matrix>(view: CbcView<'_, M::Element>) -> [usize; 2] {
    let sizes = [view.pattern.nrows() * view.shape.rows(), view.pattern.ncols() * view.shape.cols()];
    if M::ROW_MAJOR { [sizes[1], sizes[0]] } else { sizes }
}

struct Writer<W: Write> {
    zip: ZipWriter<StreamWriter<SilentAfterFailure<W>>>,
    buffer: Vec<u8>,
}

impl<W: Write> Writer<W> {
    fn indices(&mut self, name: &str, narrow: bool, indices: impl ExactSizeIterator<Item = u64>) -> io::Result<()> {
        let shape = [indices.len()];
        match narrow {
            true => self.array(name, "<i4", &shape, indices.map(|index| (index as u32).to_le_bytes())),
            false => self.array(name, "<i8", &shape, indices.map(u64::to_le_bytes)),
        }
    }

    /// Writes a member of NumPy's format 1.0: `elements`, of the type `descr`, in an array of
    /// `shape`.
    fn array<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        elements: impl IntoIterator<Item = B>,
    ) -> io::Result<()> {
        const BUFFER_BYTES: usize = 1 << 16;
        let axes = shape.iter().map(|size| format!("{size},")).collect::<Vec<_>>().join(" ");
        // Python's notation: a tuple of more than one element has no comma at its end.
        let axes = if shape.len() > 1 { axes.trim_end_matches(',') } else { &axes };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
        // Blanks and a line end pad to a multiple of 64, counting the ten bytes before.
        let length = (header.len() + 11).next_multiple_of(64) - 10;
        header += &" ".repeat(length - 1 - header.len());
        header.push('\n');

        let bytes = shape.iter().fold(8u64, |bytes, &size| bytes.saturating_mul(size as u64));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .last_modified_time(DateTime::default())
            .system(System::Unix)
            .unix_permissions(0o644)
            // If even incompressible data might exceed 32-bit sizes.
            .large_file(bytes > u64::from(u32::MAX) / 2);
        self.zip.start_file(format!("{name}.npy"), options)?;
        self.buffer.clear();
        self.buffer.extend_from_slice(b"\x93NUMPY\x01\x00");
        self.buffer.extend_from_slice(&(length as u16).to_le_bytes());
        self.buffer.extend_from_slice(header.as_bytes());
        for element in elements {
            self.buffer.extend_from_slice(element.as_ref());
            if self.buffer.len() >= BUFFER_BYTES {
                self.zip.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        self.zip.write_all(&self.buffer)
    }
}
