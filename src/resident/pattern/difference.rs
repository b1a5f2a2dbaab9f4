//! Finds the first difference between two patterns of equal size, for the error of a plan. The
//! search may take time but must not take much memory.
use super::PatternArrays;
use crate::{
    Result,
    device::{Buffer, Work},
};

/// Number of rows that are read and compared at once.
const AT_ONCE: usize = 1 << 20;

/// A place with an entry in only one of two patterns. The place is given in the order of the
/// arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub row: usize,
    pub col: usize,
    /// Whether the entry is in the first pattern.
    pub in_first: bool,
}

/// Finds the first place, column by column, with an entry in only one of two patterns. The patterns
/// have the same number of columns.
pub(super) fn first_difference(work: &Work, x: &PatternArrays, y: &PatternArrays) -> Result<Option<Place>> {
    let (x_ptr, y_ptr) = (x.col_ptr.download(work)?, y.col_ptr.download(work)?);
    let by_ends = x_ptr.iter().zip(&y_ptr).position(|(x, y)| x != y).map(|end| end - 1);
    let by_rows = first_unequal(work, &x.row_idx, &y.row_idx)?.map(|entry| x_ptr.partition_point(|&p| p <= entry) - 1);
    let Some(col) = by_ends.into_iter().chain(by_rows).min() else { return Ok(None) };
    let column = |ptr: &[u32], rows: &Buffer<u32>| {
        let (start, end) = (ptr[col] as usize, ptr[col + 1] as usize);
        work.read(rows, start, end - start)
    };
    let (of_x, of_y) = (column(&x_ptr, &x.row_idx)?, column(&y_ptr, &y.row_idx)?);
    let same = of_x.iter().zip(&of_y).take_while(|(x, y)| x == y).count();
    let place = |row: u32, in_first| Some(Place { row: row as usize, col, in_first });
    // Rows ascend, so the pattern with the larger row lacks the smaller row.
    Ok(match (of_x.get(same), of_y.get(same)) {
        (Some(&x), Some(&y)) if y < x => place(y, false),
        (Some(&x), _) => place(x, true),
        (None, Some(&y)) => place(y, false),
        (None, None) => None,
    })
}

/// The first entry whose row differs between `x` and `y`.
fn first_unequal(work: &Work, x: &Buffer<u32>, y: &Buffer<u32>) -> Result<Option<u32>> {
    let entries = x.len().min(y.len());
    for start in (0..entries).step_by(AT_ONCE) {
        let count = AT_ONCE.min(entries - start);
        let (x, y) = (work.read(x, start, count)?, work.read(y, start, count)?);
        if let Some(place) = x.iter().zip(&y).position(|(x, y)| x != y) {
            return Ok(Some((start + place) as u32));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, Matrix, device::test_device};

    #[test]
    fn the_first_place_that_only_one_has() -> Result<()> {
        let work = Work::new(&test_device(), None);
        let on_device = |places: &[(usize, usize)]| {
            let matrix = Csc::from_triplets(9, 4, places.iter().map(|&(i, j)| (i, j, 1.0)))?;
            PatternArrays::upload(&work, matrix.as_cbc().pattern)
        };
        let place = |row, col, in_first| Some(Place { row, col, in_first });
        let base = [(0, 0), (3, 0), (5, 2), (7, 2), (8, 3)];
        for (other, want) in [
            (&base[..], None),
            (&[(0, 0), (4, 0), (5, 2), (7, 2), (8, 3)], place(3, 0, true)),
            (&[(0, 0), (2, 0), (5, 2), (7, 2), (8, 3)], place(2, 0, false)),
            // The rows are the same, but one entry has moved to the next column.
            (&[(0, 0), (3, 1), (5, 2), (7, 2), (8, 3)], place(3, 0, true)),
            (&[(0, 0), (3, 0), (5, 1), (7, 2), (8, 3)], place(5, 1, false)),
            (&[(0, 0), (3, 0), (5, 2), (7, 2), (6, 3)], place(6, 3, false)),
            (&[(0, 0), (3, 0), (5, 2), (8, 2), (8, 3)], place(7, 2, true)),
        ] {
            assert_eq!(first_difference(&work, &*on_device(&base)?, &*on_device(other)?)?, want, "{other:?}");
        }
        Ok(())
    }
}
