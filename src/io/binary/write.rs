//! Writes `BSR1`, or `BCSR0001` if the name ends in `.bcsr`.
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::{BCSR, BSR};
use crate::io::{one_nan, without_packing, write_whole};
use crate::{BlockShape, Error, Result, matrix::AnyView};

/// Writes `matrix` to the file at `path`. An earlier file is replaced when the new file is
/// complete.
/// The file is packed with gzip if its name ends in `.gz`, with bzip2 if it ends in `.bz2`.
///
/// If the name ends in `.bcsr`, scalars are written as `BCSR0001`; everything else is written as
/// `BSR1`. Values are written as `f64`.
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] for blocks if the name ends in `.bcsr`, and for
/// 2^31 entries or more, which neither format can hold. An earlier file stays unchanged.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>) -> Result<()> {
    write_view(path.as_ref(), matrix.into())
}

pub(in crate::io) fn write_view(path: &Path, view: AnyView<'_>) -> Result<()> {
    let name = without_packing(path);
    let bcsr = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bcsr"));
    let refuse = |reason: &str| Err(Error::Argument(format!("{}: {reason}", path.display())));
    if bcsr && view.shape != BlockShape::SCALAR {
        return refuse("BCSR0001 holds scalars only; write blocks to a .bin file");
    }
    if i32::try_from(view.pattern.nnz()).is_err() {
        return refuse("2^31 entries or more have no place in this format");
    }
    write_whole(path, |writer| write_as(writer, view, bcsr))
}

/// Writes `matrix` as `BSR1` to any writer.
///
/// # Errors
/// The errors of `writer`; [`ErrorKind::InvalidInput`] for 2^31 entries or more.
pub fn write_to<'m>(mut writer: impl Write, matrix: impl Into<AnyView<'m>>) -> io::Result<()> {
    write_as(&mut writer, matrix.into(), false)
}

fn write_as(writer: &mut dyn Write, view: AnyView<'_>, bcsr: bool) -> io::Result<()> {
    let row_major = view.kind.is_row_major();
    // The arrays of row-major matrices are in the order of rows already.
    let transposed = (!row_major).then(|| view.pattern.transpose());
    let rows = transposed.as_ref().map_or(view.pattern, |(pattern, _)| pattern);
    let narrow = |number: u64| i32::try_from(number).map_err(|_| io::Error::from(ErrorKind::InvalidInput));
    let shape = if row_major { view.shape.transpose() } else { view.shape };
    let sizes = [rows.ncols(), rows.nrows(), rows.nnz(), shape.rows(), shape.cols()].map(|size| size as i64);
    if bcsr {
        writer.write_all(&BCSR)?;
        sizes[..3].iter().try_for_each(|size| writer.write_all(&size.to_le_bytes()))?;
        [1i32, 2].iter().try_for_each(|kind| writer.write_all(&kind.to_le_bytes()))?;
    } else {
        writer.write_all(&BSR)?;
        sizes.iter().try_for_each(|size| writer.write_all(&size.to_le_bytes()))?;
    }
    rows.col_ptr().iter().try_for_each(|&end| writer.write_all(&narrow(end)?.to_le_bytes()))?;
    rows.row_idx().iter().try_for_each(|&col| writer.write_all(&narrow(col.into())?.to_le_bytes()))?;
    for entry in 0..rows.nnz() {
        let entry = transposed.as_ref().map_or(entry, |(_, source)| source[entry]);
        for at in 0..shape.area() {
            // Blocks are stored by columns; the blocks of row-major matrices are stored transposed.
            let place = if row_major { at } else { at % shape.cols() * shape.rows() + at / shape.cols() };
            writer.write_all(&one_nan(view.number(entry, place)).to_le_bytes())?;
        }
    }
    writer.flush()
}
