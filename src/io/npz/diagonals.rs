//! DIA: the diagonals of a matrix, row `k` of `data` at the distance `offsets[k]` above the main
//! one.
use std::collections::HashSet;
use std::io::{Read, Seek};

use super::archive::Archive;
use super::arrays::{Arrays, check_shape};
use crate::io::{ReadOptions, push};
use crate::{Error, Result};

/// Reads the matrix. As in SciPy's `tocoo`, `data[k, j]` is at row `j - offsets[k]` and column `j`.
/// What lies outside the matrix is ignored, and so are zeros, which fill the diagonals up.
pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>, shape: [u64; 2], options: &ReadOptions) -> Result<Arrays> {
    let data = archive.array("data")?;
    let (&[diagonals, length], &[of_diagonal, of_column]) = (data.shape(), data.strides()) else {
        return Err(data.refuse(format!("{} axes where 2 are expected", data.shape().len())));
    };
    drop(data);
    check_shape(archive, shape, diagonals.saturating_mul(length), options)?;
    let offsets = read_offsets(archive, diagonals)?;
    let (values, field) = archive.array("data")?.values(u64::MAX)?;
    let (mut rows, mut cols, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (diagonal, &offset) in (0u64..).zip(&offsets) {
        for col in 0..length.min(shape[1]) {
            let value = values[(diagonal * of_diagonal + col * of_column) as usize];
            let row = i128::from(col) - offset;
            if value != 0.0 && (0..i128::from(shape[0])).contains(&row) {
                push(&mut rows, row as u32, "entries")?;
                push(&mut cols, col as u32, "entries")?;
                push(&mut kept, value, "entries")?;
            }
        }
    }
    Ok(Arrays::of_entries(shape, field, (rows, cols, kept)))
}

/// The offsets of the diagonals, each another.
fn read_offsets<R: Read + Seek>(archive: &mut Archive<R>, diagonals: u64) -> Result<Vec<i128>> {
    let mut member = archive.array("offsets")?;
    member.check_len(diagonals, || "as many as the rows of data.npy".into())?;
    let (mut offsets, mut known) = (Vec::new(), HashSet::new());
    member.integers(|_, offset| match known.insert(offset) {
        true => Ok(push(&mut offsets, offset, "diagonals")?),
        false => Err(format!("a second diagonal {offset}").into()),
    })?;
    Ok::<_, Error>(offsets)
}
