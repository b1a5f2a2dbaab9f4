//! `.npz` files of SciPy, which `scipy.sparse.save_npz` writes and `load_npz` reads, with matrices
//! in CSR, CSC, BSR, COO and DIA.
//!
//! A file is a zip archive of NumPy arrays; its members are stored or deflated. The arrays are
//! `format`, `shape` and `data`, and `indices` and `indptr`. COO has `row` and `col`, or both as
//! `coords`, in place of the last two, and DIA has `offsets`. Values may have any float, integer or
//! boolean type, and indices any integer type, in any byte order. Complex numbers and integers that
//! `f64` cannot represent exactly are refused.
//!
//! As in SciPy, entries come in any order, and indices after the end given by `indptr` are ignored.
//! Zeros of DIA do not become entries, because they pad the diagonals. The blocks of BSR become the
//! layout of the file, and every element of a stored block is an entry. The error
//! [`Error::Malformed`] names the member and the element, counted from 0.
//!
//! ```
//! use blockmul::io::{BlockLayout, ReadOptions, npz::{read_from, write_to}};
//! use blockmul::{BlockShape, Csc};
//! let shape = BlockShape::new(2, 2)?;
//! let blocks = Csc::from_triplets(4, 4, [(0, 1, 2.5), (3, 3, 1.0)])?.to_blocks(shape)?;
//! let mut archive = Vec::new();
//! write_to(&mut archive, &blocks, &Default::default()).unwrap();
//! let file = read_from(std::io::Cursor::new(archive), "a.npz", &ReadOptions::default())?;
//! assert_eq!(file.layout, Some(BlockLayout::Uniform(shape)));
//! assert_eq!(file.matrix, blocks.to_scalars());
//! # Ok::<(), blockmul::Error>(())
//! ```
mod archive;
mod arrays;
mod diagonals;
mod member;
#[cfg(test)]
mod tests;
mod write;

use std::io::{Read, Seek};
use std::path::Path;

pub(super) use member::NpyMember;
pub(super) use write::write_view;
pub use write::{write, write_to};

use super::{BlockLayout, FileFormat, MatrixFile, ReadOptions, Symmetry, assemble, reporting::ReportingFile};
use crate::Result;
use archive::Archive;
use arrays::Arrays;

#[cfg(doc)]
use crate::Error;

/// Reads the file at `path`.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Malformed`] with the member and the
/// element for anything the format does not allow; [`Error::Memory`] if the entries do not fit the
/// host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let path = path.as_ref();
    read_from(ReportingFile::open(path, options.progress.clone())?, path, options)
}

/// Reads an archive from any reader. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Seek, name: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_bytes(Box::new(reader), name.as_ref(), options)
}

/// The bytes of an archive. All readers of bytes have this one type, so that the code that reads an
/// archive is compiled once.
type Bytes<'r> = Box<dyn Seekable + 'r>;

trait Seekable: Read + Seek {}

impl<R: Read + Seek> Seekable for R {}

fn read_bytes(reader: Bytes<'_>, name: &Path, options: &ReadOptions) -> Result<MatrixFile> {
    let mut archive = Archive::open(reader, name)?;
    let arrays = Arrays::read(&mut archive, options)?;
    let [nrows, ncols] = arrays.shape.map(|size| size as usize);
    let compressed = match arrays.is_scalar() {
        true => assemble::compress(nrows, ncols, arrays.scalars(), options.sum_duplicates),
        false => assemble::compress(nrows, ncols, arrays.elements_of_blocks(), options.sum_duplicates),
    }?;
    let matrix = compressed.map_err(|place| {
        let (place, reason) = arrays.duplicate_at(place);
        archive.refuse(place, reason)
    })?;
    let [block_rows, block_cols] = arrays.block;
    let ends = |size: u64, side: u64| (1..=size / side).map(|block| block * side).collect();
    Ok(MatrixFile {
        matrix,
        format: FileFormat::Npz,
        layout: arrays
            .in_blocks
            .then(|| BlockLayout::of_ends(ends(arrays.shape[0], block_rows), ends(arrays.shape[1], block_cols))),
        field: arrays.declared.field,
        element: arrays.declared.element,
        symmetry: Symmetry::General,
        stored: arrays.len() as u64 * block_rows * block_cols,
        is_array: false,
        groups: None,
        warnings: Vec::new(),
    })
}
