//! Compressed rows in plain binary: `BCSR0001` for scalars, and `BSR1` for dense blocks of one
//! shape.
//!
//! Files in plain binary need no parsing, so they are faster to read than files of any other
//! format. Programs that measure matrix products exchange files in these two formats.
//!
//! | | `BCSR0001` | `BSR1` |
//! |---|---|---|
//! | magic | the 8 bytes `BCSR0001` | 0x42535231 (`i64`) |
//! | sizes (`i64`) | rows, columns, entries | block rows and columns, blocks, sides of a block |
//! | (`i32`) | side of the matrix's blocks, 0 or 1 for no blocks; type of the values | |
//! | offsets (`i32`) | first entry of each row, the end | first block of each block row, the end |
//! | columns (`i32`) | column of each entry | block column of each block |
//! | values | none (type 0), `f32` (1) or `f64` (2) | `f64`, block after block, each row-major |
//!
//! All numbers are little-endian. Columns are counted from 0 and in any order within a row. Files
//! may be packed. The error [`Error::Malformed`] names the array and the element, counted from 0.
//! If a file has no values, every entry is read as 1.
//!
//! ```
//! use blockmul::io::{BlockLayout, ReadOptions, binary::{read_from, write_to}};
//! use blockmul::{BlockShape, Csc};
//! let shape = BlockShape::new(2, 3)?;
//! let blocks = Csc::from_triplets(4, 6, [(0, 1, 2.5), (3, 3, 1.0)])?.to_blocks(shape)?;
//! let mut bytes = Vec::new();
//! write_to(&mut bytes, &blocks).unwrap();
//! let file = read_from(&bytes[..], "a.bin", &ReadOptions::default())?;
//! assert_eq!(file.matrix, blocks.to_scalars());
//! assert_eq!(file.layout, Some(BlockLayout::Uniform(shape)));
//! # Ok::<(), blockmul::Error>(())
//! ```
#[cfg(test)]
mod tests;
mod write;

use std::io::Read;
use std::path::Path;

pub(super) use write::write_view;
pub use write::{write, write_to};

use super::{
    BlockLayout, FileFormat, MatrixFile, ReadOptions, Symmetry, ValueType, assemble, numbers::Numbers,
    reporting::ReportingFile,
};
use crate::{BlockShape, Result, element::ElementType};

#[cfg(doc)]
use crate::Error;

const BCSR: [u8; 8] = *b"BCSR0001";
const BSR: [u8; 8] = 0x4253_5231_u64.to_le_bytes();

/// Whether a file that begins with these bytes is in one of the two formats.
pub(super) fn begins_with_magic(first: &[u8]) -> bool {
    first.starts_with(&BCSR) || first.starts_with(&BSR)
}

/// Reads the file at `path`, in the format that its first bytes show.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Malformed`] for anything the format does
/// not allow; [`Error::Memory`] if the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let path = path.as_ref();
    read_from(ReportingFile::open(path, options.progress.clone())?, path, options)
}

/// Reads bytes from any reader. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read, name: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_numbers(Numbers::new(reader, name.as_ref())?, options)
}

fn read_numbers(mut numbers: Numbers<'_>, options: &ReadOptions) -> Result<MatrixFile> {
    let sizes = Sizes::read(&mut numbers, options)?;
    let ends: Vec<i32> = numbers.array(sizes.rows as usize + 1, "offsets")?;
    check_offsets(&ends, sizes.entries).map_err(|(place, reason)| numbers.refuse(place, reason))?;
    let cols: Vec<i32> = numbers.array(sizes.entries as usize, "columns")?;
    if let Some(entry) = cols.iter().position(|&col| u64::try_from(col).is_err() || col as u64 >= sizes.cols) {
        let reason = format!("column {} of {}", cols[entry], sizes.cols);
        return Err(numbers.refuse(format!("entry {entry}"), reason));
    }
    let [height, width] = [sizes.shape.rows(), sizes.shape.cols()];
    let count = sizes.entries.checked_mul(sizes.shape.area() as u64).and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or_else(|| numbers.refuse("sizes", "more elements than can be counted"))?;
    let values: Vec<f64> = match sizes.kind {
        0 => Vec::new(),
        1 => numbers.array::<f32>(count, "values")?.into_iter().map(f64::from).collect(),
        _ => numbers.array(count, "values")?,
    };
    numbers.end()?;

    let blocks = (0..sizes.rows as usize)
        .flat_map(|row| (ends[row] as usize..ends[row + 1] as usize).map(move |block| (row, block)));
    let elements = blocks.flat_map(|(row, block)| {
        let (col, values) = (cols[block] as usize, &values);
        (0..height * width).map(move |at| {
            let value = values.get(block * height * width + at).copied().unwrap_or(1.0);
            ((row * height + at / width) as u32, (col * width + at % width) as u32, value)
        })
    });
    let [nrows, ncols] = sizes.scalars();
    let compressed = assemble::compress(nrows as usize, ncols as usize, elements, options.sum_duplicates)?;
    Ok(MatrixFile {
        matrix: compressed.map_err(|(row, col)| {
            let (row, col) = (row as usize / height, col as usize / width);
            numbers.refuse(format!("row {row}"), format!("column {col} stands twice{}", assemble::HOW_TO_SUM))
        })?,
        format: FileFormat::Binary,
        layout: sizes.layout.map(BlockLayout::Uniform),
        field: if sizes.kind == 0 { ValueType::Pattern } else { ValueType::Real },
        element: if sizes.kind == 1 { ElementType::F32 } else { ElementType::F64 },
        symmetry: Symmetry::General,
        stored: count as u64,
        is_array: false,
        groups: None,
        warnings: Vec::new(),
    })
}

/// The header of a file. Rows, columns and entries are counted in blocks of `shape`.
struct Sizes {
    rows: u64,
    cols: u64,
    entries: u64,
    shape: BlockShape,
    /// Type of the values: 0 none, 1 `f32`, 2 `f64`.
    kind: i32,
    /// The shape of the blocks of which the matrix consists. The blocks of the matrix may differ in
    /// shape from the blocks in the file.
    layout: Option<BlockShape>,
}

impl Sizes {
    fn read(numbers: &mut Numbers<'_>, options: &ReadOptions) -> Result<Self> {
        let magic: Vec<u8> = numbers.array(8, "magic")?;
        let sizes = match magic.try_into() {
            Ok(BCSR) => Self::read_bcsr(numbers)?,
            Ok(BSR) => Self::read_bsr(numbers)?,
            _ => return Err(numbers.refuse("magic", "neither BCSR0001 nor BSR1")),
        };
        let [rows, cols] = sizes.scalars();
        let elements = sizes.entries.saturating_mul(sizes.shape.area() as u64);
        let check = |what, lines| assemble::check_lines(what, lines, elements, options.max_unproven_lines);
        check("rows", rows).and_then(|()| check("columns", cols)).map_err(|reason| numbers.refuse("sizes", reason))?;
        if sizes.entries > i32::MAX as u64 {
            let reason = format!("{} entries, {} at most have 32-bit offsets", sizes.entries, i32::MAX);
            return Err(numbers.refuse("sizes", reason));
        }
        match sizes.layout {
            Some(shape) if rows % shape.rows() as u64 != 0 || cols % shape.cols() as u64 != 0 => {
                Err(numbers.refuse("sizes", format!("{rows} x {cols} is not made of blocks of {shape}")))
            }
            _ => Ok(sizes),
        }
    }

    fn read_bcsr(numbers: &mut Numbers<'_>) -> Result<Self> {
        let [rows, cols, entries] = numbers.sizes()?;
        let kinds: Vec<i32> = numbers.array(2, "sizes")?;
        let layout = match kinds[0] {
            0 | 1 => None,
            side => Some(side_of_blocks(numbers, side.into(), side.into())?),
        };
        match kinds[1] {
            kind @ 0..=2 => Ok(Self { rows, cols, entries, shape: BlockShape::SCALAR, kind, layout }),
            kind => Err(numbers.refuse("sizes", format!("values of kind {kind}; there are 0, 1 and 2"))),
        }
    }

    fn read_bsr(numbers: &mut Numbers<'_>) -> Result<Self> {
        let [rows, cols, entries, height, width] = numbers.sizes()?;
        let shape = side_of_blocks(numbers, height as i64, width as i64)?;
        Ok(Self { rows, cols, entries, shape, kind: 2, layout: (shape != BlockShape::SCALAR).then_some(shape) })
    }

    /// Number of scalar rows and columns, saturated.
    fn scalars(&self) -> [u64; 2] {
        [self.rows.saturating_mul(self.shape.rows() as u64), self.cols.saturating_mul(self.shape.cols() as u64)]
    }
}

fn side_of_blocks(numbers: &Numbers<'_>, rows: i64, cols: i64) -> Result<BlockShape> {
    let side = |side| usize::try_from(side).unwrap_or(usize::MAX);
    BlockShape::new(side(rows), side(cols)).map_err(|_| {
        numbers.refuse("sizes", format!("blocks of {rows}x{cols}; sides are 1 to {}", BlockShape::MAX_SIDE))
    })
}

/// Refuses offsets that are not ascending from 0 to `entries`.
fn check_offsets(ends: &[i32], entries: u64) -> std::result::Result<(), (String, String)> {
    if let Some(row) = ends.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err((format!("offset {}", row + 1), format!("{} after {}", ends[row + 1], ends[row])));
    }
    match (ends[0], ends[ends.len() - 1]) {
        (0, last) if last as u64 == entries => Ok(()),
        (0, last) => Err((format!("offset {}", ends.len() - 1), format!("{last}, where there are {entries} entries"))),
        (first, _) => Err(("offset 0".into(), format!("{first}, not 0"))),
    }
}
