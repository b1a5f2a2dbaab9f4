//! The profile of the rows' lengths, on which the choice of a format depends, and the bound on
//! padding.
use super::{
    Format,
    slices::{MOST_NEAR, height},
};
use crate::{Error, Result};

/// Number of places that a padded format may always have: 16 MB of doubles with their two indices.
const FREE_PLACES: u64 = 1 << 20;

/// Above [`FREE_PLACES`], a padded format may have at most `MOST_PADDING` places for each entry and
/// row. A format with more places reads more padding than any other format reads entries.
const MOST_PADDING: u64 = 8;

/// Sums and maxima of the rows' lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Profile {
    pub rows: u64,
    pub entries: u64,
    /// Entries of the longest row.
    pub longest: u64,
    /// Number of places of sliced ELL. `on_diagonals` of these places are in slices on diagonals,
    /// see `diagonals`.
    pub sliced_places: u64,
    pub on_diagonals: u64,
    /// Whether the columns of each slice of sliced ELL are near enough to fit 16 bits.
    pub near: bool,
}

impl Profile {
    /// The profiles of the shortest and of the longest rows that are possible with the given
    /// numbers of rows, columns and entries. Each row has `sums` sums, and each slice has
    /// `slice_sums` sums. `known` is the length of the longest row if it is known.
    pub fn bounds(
        [rows, columns]: [u64; 2],
        entries: u64,
        [slice_sums, sums]: [usize; 2],
        known: Option<u64>,
    ) -> [Self; 2] {
        let [shortest, longest] =
            known.map_or([entries.div_ceil(rows.max(1)), entries.min(columns)], |longest| [longest; 2]);
        let padded = rows.next_multiple_of(height(slice_sums, sums) as u64).saturating_mul(longest);
        [(shortest, entries, entries, true), (longest, padded, 0, columns <= MOST_NEAR.into())].map(
            |(longest, sliced_places, on_diagonals, near)| Self {
                rows,
                entries,
                longest,
                sliced_places,
                on_diagonals,
                near,
            },
        )
    }

    /// Number of places of ELL.
    pub fn ell_places(&self) -> u64 {
        self.rows.saturating_mul(self.longest)
    }

    /// Whether a padded format with `places` places is refused.
    pub fn refuses(&self, places: u64) -> bool {
        is_mostly_padding(self.rows, self.entries, places)
    }
}

fn is_mostly_padding(rows: u64, entries: u64, places: u64) -> bool {
    places > FREE_PLACES && places / MOST_PADDING > entries + rows
}

/// Refuses a padded format whose places are mostly padding. The matrix has `rows` rows with
/// `entries` entries in all. The longest row has `longest` entries, and a block has `value_bytes`
/// bytes.
pub(super) fn check_places(
    format: Format,
    [rows, entries, longest]: [u64; 3],
    places: u64,
    value_bytes: u64,
) -> Result<()> {
    if !is_mostly_padding(rows, entries, places) {
        return Ok(());
    }
    let (needed, held) = (places.saturating_mul(8 + value_bytes), entries * (8 + value_bytes));
    Err(Error::Argument(format!(
        "the format {format} would take {needed} bytes for {entries} entries of {held} bytes, because the longest of \
         {rows} rows has {longest}: more than {MOST_PADDING} places for each entry and row"
    )))
}
