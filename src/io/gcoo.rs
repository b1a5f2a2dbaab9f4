//! Matrices in grouped coordinates (GCOO) in plain binary: `GCOO0001`.
//!
//! A file has the arrays of a [`DeviceGcoo`](crate::dense::DeviceGcoo), so nothing is converted
//! between the file and the device.
//!
//! | part | contents |
//! |---|---|
//! | magic | the 4 bytes `GCOO`, then the version, `0001` |
//! | sizes (`i64`) | rows, columns and entries, counted in blocks; rows and columns of a block |
//! | element (`i64`) | 0 `f64`, 1 `f32`, 2 `f16`, 3 `u32`, 4 `i32`, 5 `u8` |
//! | groups (`i64`) | 0 for rows, 1 for columns; their number in a group, 1 to 32 |
//! | offsets (`u32`) | first entry of each group, then the end |
//! | rows (`u32`) | row of each entry |
//! | columns (`u32`) | column of each entry |
//! | values | the elements of each entry; blocks column-major |
//!
//! All numbers are little-endian, and rows and columns count from 0. In a group of rows, entries
//! ascend by column, and in each column by row. In a group of columns, they ascend by row, and in
//! each row by column. Entries in another order, and two entries at the same place, are refused.
//! Files may be packed, which adds a checksum. A refusal, [`Error::Malformed`], names the array and
//! the entry.
//!
//! ```
//! use blockmul::{Csc, Device, dense::{AnyGcoo, DeviceGcoo, Grouping}, io::{ReadOptions, gcoo}};
//! let a = AnyGcoo::of(&Csc::from_triplets(4, 6, [(0, 1, 2.5), (3, 3, 1.0)])?, Grouping::Rows(2))?;
//! let mut bytes = Vec::new();
//! gcoo::write_to(&mut bytes, &a).unwrap();
//! let file = gcoo::read_from(&bytes[..], "a.gcoo", &ReadOptions::default())?;
//! assert_eq!(file, a);
//! assert_eq!(DeviceGcoo::upload(&Device::auto()?, &file)?.grouping(), Grouping::Rows(2));
//! # Ok::<(), blockmul::Error>(())
//! ```
#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};
use std::path::Path;

use super::{
    BlockLayout, FileFormat, MatrixFile, ReadOptions, Symmetry, ValueType, assemble, numbers::Numbers, one_nan,
    reporting::ReportingFile, write_whole,
};
use crate::{
    BlockShape, Result,
    element::{ElementType, with_type},
    matrix::{AnyGcoo, GcooArrays, GcooPlaces, Grouping},
};
use half::f16;

#[cfg(doc)]
use crate::Error;

const MAGIC: [u8; 4] = *b"GCOO";
const VERSION: [u8; 4] = *b"0001";

/// Element types by the numbers that stand for them in a file.
const ELEMENTS: [ElementType; 6] =
    [ElementType::F64, ElementType::F32, ElementType::F16, ElementType::U32, ElementType::I32, ElementType::U8];

/// Whether a file that begins with the bytes `first` is in the GCOO format, in any version.
pub(super) fn begins_with_magic(first: &[u8]) -> bool {
    first.starts_with(&MAGIC) && first.get(4..8).is_some_and(|version| version.iter().all(u8::is_ascii_digit))
}

/// Reads the file at `path`. The options' `sum_duplicates` has no effect.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Malformed`] for anything the format does
/// not allow; [`Error::Memory`] if the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<AnyGcoo> {
    let path = path.as_ref();
    read_from(ReportingFile::open(path, options.progress.clone())?, path, options)
}

/// Reads bytes from any reader. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read, name: impl AsRef<Path>, options: &ReadOptions) -> Result<AnyGcoo> {
    read_numbers(Numbers::new(reader, name.as_ref())?, options)
}

fn read_numbers(mut numbers: Numbers<'_>, options: &ReadOptions) -> Result<AnyGcoo> {
    let head = Head::read(&mut numbers, options)?;
    let group_ptr: Vec<u32> = numbers.array(head.groups() + 1, "offsets")?;
    let rows: Vec<u32> = numbers.array(head.entries, "rows")?;
    let cols: Vec<u32> = numbers.array(head.entries, "columns")?;
    let Head { nrows, ncols, shape, grouping, .. } = head;
    let places = GcooPlaces { nrows, ncols, shape, grouping, group_ptr: &group_ptr, rows: &rows, cols: &cols };
    places.check_order().map_err(|reason| numbers.refuse(format!("groups of {grouping}"), reason))?;
    let count = head.entries.checked_mul(shape.area());
    let count = count.ok_or_else(|| numbers.refuse("sizes", "more elements than can be counted"))?;
    with_type!(head.element, T => {
        let values: Vec<T> = numbers.array(count, "values")?;
        numbers.end()?;
        Ok(AnyGcoo::trusted((nrows, ncols), shape, grouping, GcooArrays { group_ptr, rows, cols, values }))
    })
}

/// The head of a GCOO file. Rows, columns and entries count blocks of `shape`.
struct Head {
    nrows: usize,
    ncols: usize,
    entries: usize,
    shape: BlockShape,
    element: ElementType,
    grouping: Grouping,
}

impl Head {
    fn read(numbers: &mut Numbers<'_>, options: &ReadOptions) -> Result<Self> {
        let magic: Vec<u8> = numbers.array(8, "magic")?;
        if magic[..4] != MAGIC {
            return Err(numbers.refuse("magic", "not GCOO"));
        }
        if magic[4..] != VERSION {
            let [found, known] = [&magic[4..], &VERSION].map(|version| version.escape_ascii().to_string());
            return Err(numbers.refuse("magic", format!("version {found}; version {known} is supported")));
        }
        let [nrows, ncols, entries, height, width, element, by, lines] = numbers.sizes()?;
        let narrow = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let shape = BlockShape::new(narrow(height), narrow(width)).map_err(|_| {
            let most = BlockShape::MAX_SIDE;
            numbers.refuse("sizes", format!("blocks of {height}x{width}; sides are 1 to {most}"))
        })?;
        let element = ELEMENTS.get(narrow(element)).copied().ok_or_else(|| {
            numbers.refuse("kinds", format!("elements of kind {element}; there are 0 to {}", ELEMENTS.len() - 1))
        })?;
        let grouping = match by {
            0 => Grouping::Rows(narrow(lines)),
            1 => Grouping::Columns(narrow(lines)),
            other => return Err(numbers.refuse("kinds", format!("groups of lines of kind {other}; there are 0 and 1"))),
        };
        grouping.check().map_err(|error| numbers.refuse("kinds", error.to_string()))?;
        let elements = entries.saturating_mul(shape.area() as u64);
        for (what, blocks, side) in [("rows", nrows, shape.rows()), ("columns", ncols, shape.cols())] {
            let scalars = blocks.saturating_mul(side as u64);
            assemble::check_lines(what, scalars, elements, options.max_unproven_lines)
                .map_err(|reason| numbers.refuse("sizes", reason))?;
        }
        if entries > u64::from(u32::MAX) {
            let reason = format!("{entries} entries, {} at most have 32-bit offsets", u32::MAX);
            return Err(numbers.refuse("sizes", reason));
        }
        let [nrows, ncols, entries] = [nrows, ncols, entries].map(narrow);
        Ok(Self { nrows, ncols, entries, shape, element, grouping })
    }

    fn groups(&self) -> usize {
        let lines = if self.grouping.of_columns() { self.ncols } else { self.nrows };
        lines.div_ceil(self.grouping.lines())
    }
}

/// Reads a file like a file of any other format. The result has the compressed matrix, and also the
/// groups as they are in the file.
pub(super) fn read_file(path: &Path, options: &ReadOptions) -> Result<MatrixFile> {
    let groups = read(path, options)?;
    let (places, values, shape) = (groups.places(), groups.values(), groups.shape());
    let [height, width] = [shape.rows(), shape.cols()];
    let elements = (0..groups.nnz()).flat_map(|entry| {
        let (row, col) = (places.rows[entry] as usize * height, places.cols[entry] as usize * width);
        let element = move |at| (row + at % height, col + at / height, values.number(entry * shape.area() + at));
        (0..shape.area()).map(element).map(|(row, col, value)| (row as u32, col as u32, value))
    });
    let (nrows, ncols) = (groups.nrows() * height, groups.ncols() * width);
    let matrix = assemble::compress(nrows, ncols, elements, false)?;
    Ok(MatrixFile {
        matrix: matrix.expect("entries ascend strictly in groups"),
        format: FileFormat::Gcoo,
        layout: (shape != BlockShape::SCALAR).then_some(BlockLayout::Uniform(shape)),
        field: if groups.element().is_integer() { ValueType::Integer } else { ValueType::Real },
        element: groups.element(),
        symmetry: Symmetry::General,
        stored: values.len() as u64,
        is_array: false,
        groups: Some(groups),
        warnings: Vec::new(),
    })
}

/// Writes `matrix` to the file at `path` and replaces an earlier file when the new file is
/// complete. The file is packed with gzip if its name ends in `.gz`, with bzip2 if it ends in
/// `.bz2`.
///
/// # Errors
/// [`Error::Io`] with the path. An earlier file stays unchanged.
pub fn write(path: impl AsRef<Path>, matrix: &AnyGcoo) -> Result<()> {
    write_whole(path.as_ref(), |writer| write_groups(writer, matrix))
}

/// Writes `matrix` to any writer.
///
/// # Errors
/// The errors of `writer`.
pub fn write_to(mut writer: impl Write, matrix: &AnyGcoo) -> io::Result<()> {
    write_groups(&mut writer, matrix)
}

fn write_groups(writer: &mut dyn Write, matrix: &AnyGcoo) -> io::Result<()> {
    let (places, element, values) = (matrix.places(), matrix.element(), matrix.values());
    let GcooPlaces { nrows, ncols, shape, grouping, group_ptr, rows, cols } = places;
    let kind = ELEMENTS.iter().position(|&kind| kind == element).expect("every type has a number");
    let by = usize::from(grouping.of_columns());
    writer.write_all(&MAGIC)?;
    writer.write_all(&VERSION)?;
    for size in [nrows, ncols, rows.len(), shape.rows(), shape.cols(), kind, by, grouping.lines()] {
        writer.write_all(&(size as i64).to_le_bytes())?;
    }
    for array in [group_ptr, rows, cols] {
        array.iter().try_for_each(|number| writer.write_all(&number.to_le_bytes()))?;
    }
    for at in 0..values.len() {
        let value = one_nan(values.number(at));
        match element {
            ElementType::F64 => writer.write_all(&value.to_le_bytes()),
            ElementType::F32 => writer.write_all(&(value as f32).to_le_bytes()),
            ElementType::F16 => writer.write_all(&f16::from_f64(value).to_le_bytes()),
            ElementType::U32 => writer.write_all(&(value as u32).to_le_bytes()),
            ElementType::I32 => writer.write_all(&(value as i32).to_le_bytes()),
            ElementType::U8 => writer.write_all(&[value as u8]),
        }?;
    }
    writer.flush()
}
