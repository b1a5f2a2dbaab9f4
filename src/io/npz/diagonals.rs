//! Reads SciPy's format DIA, which stores the diagonals of a matrix. Row `k` of `data` is the
//! diagonal that lies `offsets[k]` places above the main diagonal.
use std::io::{Read, Seek};

use super::archive::Archive;
use super::arrays::{Arrays, check_shape};
use crate::Result;
use crate::io::{ReadOptions, assemble, push, room};

/// Reads the matrix. As in SciPy's `tocoo`, `data[k, j]` is at row `j - offsets[k]` and column `j`.
/// Values outside of the matrix and zeros are ignored, because they pad the diagonals.
pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>, shape: [u64; 2], options: &ReadOptions) -> Result<Arrays> {
    let data = archive.array("data")?;
    let (&[diagonals, length], &[of_diagonal, of_column]) = (data.shape(), data.strides()) else {
        return Err(data.refuse(format!("{} axes where 2 are expected", data.shape().len())));
    };
    drop(data);
    let elements = diagonals.saturating_mul(length);
    check_shape(archive, shape, elements, options)?;
    assemble::check_lines("diagonals", diagonals, elements, options.max_unproven_lines)
        .map_err(|reason| archive.refuse("member data.npy", reason))?;
    let offsets = read_offsets(archive, diagonals)?;
    if !options.sum_duplicates {
        check_offsets(archive, &offsets)?;
    }
    let (values, declared) = archive.array("data")?.values(u64::MAX)?;
    let (mut rows, mut cols, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (diagonal, &offset) in (0u64..).zip(&offsets) {
        for col in 0..length.min(shape[1]) {
            let value = values[(diagonal * of_diagonal + col * of_column) as usize];
            let row = i128::from(col) - i128::from(offset);
            if value != 0.0 && (0..i128::from(shape[0])).contains(&row) {
                push(&mut rows, row as u32, "entries")?;
                push(&mut cols, col as u32, "entries")?;
                push(&mut kept, value, "entries")?;
            }
        }
    }
    Ok(Arrays::of_entries(shape, declared, rows, cols, kept))
}

/// The offsets of the diagonals.
fn read_offsets<R: Read + Seek>(archive: &mut Archive<R>, diagonals: u64) -> Result<Vec<i64>> {
    let mut member = archive.array("offsets")?;
    member.check_len(diagonals, || "as many as the rows of data.npy".into())?;
    let mut offsets = Vec::new();
    member.integers(&mut |_, offset| match i64::try_from(offset) {
        Ok(offset) => Ok(push(&mut offsets, offset, "diagonals")?),
        Err(_) => Err(format!("there is no diagonal {offset}").into()),
    })?;
    Ok(offsets)
}

/// Refuses a diagonal that occurs twice.
fn check_offsets<R: Read + Seek>(archive: &Archive<R>, offsets: &[i64]) -> Result<()> {
    let mut sorted = room(offsets.len(), "diagonals")?;
    sorted.extend_from_slice(offsets);
    sorted.sort_unstable();
    let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) else { return Ok(()) };
    let again = offsets.iter().enumerate().filter(|(_, offset)| **offset == pair[0]).nth(1);
    let (place, offset) = again.expect("it is there twice");
    let reason = format!("a second diagonal {offset}{}", assemble::HOW_TO_SUM);
    Err(archive.refuse(format!("member offsets.npy, element {place}"), reason))
}
