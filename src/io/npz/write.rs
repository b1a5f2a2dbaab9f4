//! Writes the deflated arrays that SciPy would write for a matrix. Equal matrices give equal bytes.
use std::io::{self, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::io::{WriteOptions, one_nan, without_packing, write_whole};
use crate::{Error, Result, element::ElementType, matrix::AnyView};

/// Writes `matrix` to the file at `path`. An earlier file is replaced when the new file is
/// complete.
///
/// [`Csc`](crate::Csc) is written in the format CSC, [`Csr`](crate::Csr) as CSR,
/// [`Bsr`](crate::Bsr) as BSR. [`Cbc`](crate::Cbc) becomes BSR too, because SciPy has no compressed
/// columns of blocks. Values keep their type, except that `f16` is written as `float32`, the
/// narrowest type with which SciPy computes. Padding between blocks is left out. As in SciPy,
/// indices are `int32` if that suffices.
///
/// # Errors
/// [`Error::Io`] with the path, and an earlier file stays unchanged; [`Error::Argument`] if the
/// name ends in `.gz` or `.bz2`.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> Result<()> {
    write_view(path.as_ref(), matrix.into(), options)
}

pub(in crate::io) fn write_view(path: &Path, matrix: AnyView<'_>, options: &WriteOptions) -> Result<()> {
    if without_packing(path) != path {
        let ending = path.extension().unwrap_or_default().display();
        return Err(Error::Argument(format!(
            "{}: an .npz is packed already, name it without .{ending}",
            path.display()
        )));
    }
    write_whole(path, |writer| write_archive(writer, matrix, options))
}

/// Writes `matrix` to any writer as [`write()`] does.
///
/// # Errors
/// The errors of `writer`.
pub fn write_to<'m>(mut writer: impl Write, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> io::Result<()> {
    write_archive(&mut writer, matrix.into(), options)
}

fn write_archive(writer: &mut dyn Write, view: AnyView<'_>, options: &WriteOptions) -> io::Result<()> {
    let (blocks, row_major) = (view.kind.has_blocks(), view.kind.is_row_major());
    // Blocks are written as BSR, which has compressed rows, so a pattern of compressed columns is
    // transposed first.
    let transposed = (blocks && !row_major).then(|| view.pattern.transpose());
    let pattern = transposed.as_ref().map_or(view.pattern, |(pattern, _)| pattern);
    let format = match (blocks, row_major) {
        (true, _) => b"bsr",
        (false, true) => b"csr",
        (false, false) => b"csc",
    };
    let (rows, cols) = view.scalar_sides();
    let mut archive =
        Writer { zip: ZipWriter::new_stream(SilentAfterFailure { writer, failed: false }), buffer: Vec::new() };
    archive.begin("format", &format!("|S{}", format.len()), &[])?;
    archive.put(format)?;
    archive.end()?;
    archive.begin("shape", "<i8", &[2])?;
    [rows as u64, cols as u64].iter().try_for_each(|size| archive.put(&size.to_le_bytes()))?;
    archive.end()?;
    let narrow = [rows, cols, pattern.nnz()].iter().all(|&number| i32::try_from(number).is_ok());
    archive.indices("indptr", narrow, pattern.col_ptr().len(), &mut pattern.col_ptr().iter().copied())?;
    archive.indices("indices", narrow, pattern.nnz(), &mut pattern.row_idx().iter().map(|&index| index.into()))?;

    let nnz = view.nnz();
    let shape: &[usize] = match (blocks, row_major) {
        (false, _) => &[nnz],
        // The blocks of a row-major matrix are stored transposed.
        (true, true) => &[nnz, view.shape.cols(), view.shape.rows()],
        (true, false) => &[nnz, view.shape.rows(), view.shape.cols()],
    };
    let descr = match view.element() {
        ElementType::F64 => "<f8",
        ElementType::F32 | ElementType::F16 => "<f4",
        ElementType::U32 => "<u4",
        ElementType::I32 => "<i4",
        ElementType::U8 => "|u1",
    };
    archive.begin("data", descr, shape)?;
    for entry in 0..nnz {
        if entry % (1 << 16) == 0 {
            options.progress.iter().for_each(|progress| progress.tell(entry as u64, nnz as u64));
        }
        let source = transposed.as_ref().map_or(entry, |(_, source)| source[entry]);
        for i in 0..view.shape.area() {
            let place = match transposed {
                // The block is column-major; its values are written row by row.
                Some(_) => i % view.shape.cols() * view.shape.rows() + i / view.shape.cols(),
                None => i,
            };
            let value = one_nan(view.number(source, place));
            match view.element() {
                ElementType::F64 => archive.put(&value.to_le_bytes()),
                ElementType::F32 | ElementType::F16 => archive.put(&(value as f32).to_le_bytes()),
                ElementType::U32 => archive.put(&(value as u32).to_le_bytes()),
                ElementType::I32 => archive.put(&(value as i32).to_le_bytes()),
                ElementType::U8 => archive.put(&[value as u8]),
            }?;
        }
    }
    archive.end()?;
    archive.zip.finish()?.into_inner().flush()
}

/// A writer that discards everything after its first failure. With any other writer, a zip archive
/// that is dropped after a failure would try to write its end and would print an error to stderr.
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

/// Number of bytes of a member that are deflated together.
const BUFFER_BYTES: usize = 1 << 16;

struct Writer<'w> {
    zip: ZipWriter<StreamWriter<SilentAfterFailure<&'w mut dyn Write>>>,
    buffer: Vec<u8>,
}

impl Writer<'_> {
    /// Writes a member of `len` indices, as `int32` or as `int64`.
    fn indices(
        &mut self,
        name: &str,
        narrow: bool,
        len: usize,
        indices: &mut dyn Iterator<Item = u64>,
    ) -> io::Result<()> {
        self.begin(name, if narrow { "<i4" } else { "<i8" }, &[len])?;
        for index in indices {
            match narrow {
                true => self.put(&(index as u32).to_le_bytes()),
                false => self.put(&index.to_le_bytes()),
            }?;
        }
        self.end()
    }

    /// Begins a member in NumPy's format 1.0, for an array of this `shape` with elements of type
    /// `descr`.
    fn begin(&mut self, name: &str, descr: &str, shape: &[usize]) -> io::Result<()> {
        let axes = shape.iter().map(|size| format!("{size},")).collect::<Vec<_>>().join(" ");
        // In Python only a tuple of one element ends in a comma.
        let axes = if shape.len() > 1 { axes.trim_end_matches(',') } else { &axes };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
        // Blanks and a line end pad the header to a multiple of 64 bytes, including the ten bytes
        // before it.
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
            // ZIP64 is used if the member might exceed 32-bit sizes even when its data does not
            // compress.
            .large_file(bytes > u64::from(u32::MAX) / 2);
        self.zip.start_file(format!("{name}.npy"), options)?;
        self.buffer.clear();
        self.buffer.extend_from_slice(b"\x93NUMPY\x01\x00");
        self.buffer.extend_from_slice(&(length as u16).to_le_bytes());
        self.buffer.extend_from_slice(header.as_bytes());
        Ok(())
    }

    /// Writes the bytes of an element.
    fn put(&mut self, element: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(element);
        if self.buffer.len() >= BUFFER_BYTES {
            self.zip.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Ends a member.
    fn end(&mut self) -> io::Result<()> {
        self.zip.write_all(&self.buffer)
    }
}
