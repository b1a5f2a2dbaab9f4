//! Counts the entries of columns.
use crate::Pattern;
use serde::Serialize;

/// Distribution of the entries over the columns of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnLengths {
    /// Number of columns without an entry.
    pub empty: usize,
    /// Number of entries in the shortest column; 0 if there are no columns.
    pub shortest: usize,
    /// Number of entries in the longest column.
    pub longest: usize,
    /// Number of columns with 1, 2 to 3, 4 to 7, ... entries: element `k` counts the columns with
    /// `2^k` to `2^(k + 1) - 1` entries. The longest column is counted in the last element.
    pub histogram: Vec<usize>,
}

/// Counts the entries of every column.
///
/// ```
/// use blockmul::extra::analysis::column_lengths;
/// use blockmul::matrix::Pattern;
/// let pattern = Pattern::new(3, 4, vec![0, 0, 1, 3, 6], vec![0, 0, 1, 0, 1, 2])?;
/// let lengths = column_lengths(&pattern);
/// assert_eq!((lengths.empty, lengths.longest, lengths.histogram), (1, 3, vec![1, 2]));
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn column_lengths(pattern: &Pattern) -> ColumnLengths {
    let lengths = || pattern.col_ptr().windows(2).map(|ends| (ends[1] - ends[0]) as usize);
    let mut histogram = Vec::new();
    for length in lengths().filter(|&length| length > 0) {
        let class = length.ilog2() as usize;
        if histogram.len() <= class {
            histogram.resize(class + 1, 0);
        }
        histogram[class] += 1;
    }
    ColumnLengths {
        empty: lengths().filter(|&length| length == 0).count(),
        shortest: lengths().min().unwrap_or(0),
        longest: lengths().max().unwrap_or(0),
        histogram,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_begin_at_powers_of_two() -> crate::Result<()> {
        // Column lengths on both sides of 2, 4 and 8.
        let lengths = [0u32, 1, 2, 3, 4, 7, 8, 9];
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
        for length in lengths {
            row_idx.extend(0..length);
            col_ptr.push(row_idx.len() as u64);
        }
        let found = column_lengths(&Pattern::new(9, lengths.len(), col_ptr, row_idx)?);
        let expected = ColumnLengths { empty: 1, shortest: 0, longest: 9, histogram: vec![1, 2, 2, 2] };
        assert_eq!(found, expected);
        let none = column_lengths(&Pattern::new(9, 0, vec![0], vec![])?);
        assert_eq!((none.shortest, none.longest, none.histogram.len()), (0, 0, 0));
        Ok(())
    }
}
