//! [`Overlap`]: the entries that two patterns share, and the entries that only one of them has.
use crate::{Error, Pattern, Result};

/// The entries of two patterns of one size, split into three patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// Entries that are in both patterns.
    pub both: Pattern,
    /// Entries that are only in the first pattern. If the first pattern is that of a product and
    /// the second that of a factor, these entries are the fill-in.
    pub first_only: Pattern,
    /// Entries that are only in the second pattern.
    pub second_only: Pattern,
}

impl Overlap {
    /// Splits the entries of two patterns.
    ///
    /// ```
    /// use blockmul::matrix::Pattern;
    /// use blockmul::extra::spy::Overlap;
    /// let product = Pattern::new(3, 1, vec![0, 2], vec![0, 1])?;
    /// let factor = Pattern::new(3, 1, vec![0, 2], vec![1, 2])?;
    /// let overlap = Overlap::of(&product, &factor)?;
    /// assert_eq!((overlap.first_only.column(0), overlap.both.column(0)), (&[0][..], &[1][..]));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the sizes differ.
    pub fn of(first: &Pattern, second: &Pattern) -> Result<Self> {
        let size = |pattern: &Pattern| (pattern.nrows(), pattern.ncols());
        if size(first) != size(second) {
            let ((m, n), (p, q)) = (size(first), size(second));
            return Err(Error::Argument(format!(
                "a pattern of {m}x{n} entries cannot be compared with one of {p}x{q}"
            )));
        }
        let mut parts = [(); 3].map(|()| (vec![0u64], Vec::new()));
        for column in 0..first.ncols() {
            let (mut left, mut right) = (first.column(column), second.column(column));
            // Two ascending lists are merged.
            while let Some(&row) = left.first().into_iter().chain(right.first()).min() {
                let (in_first, in_second) = (left.first() == Some(&row), right.first() == Some(&row));
                left = &left[usize::from(in_first)..];
                right = &right[usize::from(in_second)..];
                let part = if in_first && in_second { 0 } else { 1 + usize::from(in_second) };
                parts[part].1.push(row);
            }
            parts.iter_mut().for_each(|(col_ptr, row_idx)| col_ptr.push(row_idx.len() as u64));
        }
        let (nrows, ncols) = size(first);
        let [both, first_only, second_only] =
            parts.map(|(col_ptr, row_idx)| Pattern::trusted(nrows, ncols, col_ptr, row_idx));
        Ok(Self { both, first_only, second_only })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn pattern(places: &BTreeSet<(u32, u32)>) -> Pattern {
        let col_ptr = (0..=8).map(|col| places.range(..(col, 0)).count() as u64).collect();
        Pattern::new(9, 8, col_ptr, places.iter().map(|&(_, row)| row).collect()).unwrap()
    }

    proptest! {
        #[test]
        fn is_what_sets_of_places_say(
            first in prop::collection::btree_set((0..8u32, 0..9u32), 0..40),
            second in prop::collection::btree_set((0..8u32, 0..9u32), 0..40),
        ) {
            let overlap = Overlap::of(&pattern(&first), &pattern(&second)).unwrap();
            prop_assert_eq!(overlap.both, pattern(&(&first & &second)));
            prop_assert_eq!(overlap.first_only, pattern(&(&first - &second)));
            prop_assert_eq!(overlap.second_only, pattern(&(&second - &first)));
        }
    }

    #[test]
    fn patterns_of_other_sizes_are_refused() {
        let (a, b) = (Pattern::new(2, 1, vec![0, 0], vec![]).unwrap(), Pattern::new(1, 2, vec![0; 3], vec![]).unwrap());
        let error = Overlap::of(&a, &b).unwrap_err().to_string();
        assert!(error.contains("2x1") && error.contains("1x2"), "{error}");
    }
}
