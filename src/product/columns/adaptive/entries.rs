//! The entries of C in a band of an adaptive product, on which its memory depends.
use crate::product::terms::{Class, ClassSizes};

/// The entries of C in a band: counted numbers or upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct EntriesOfC {
    pub all: u64,
    /// Entries in columns whose rows are found before they are summed.
    pub of_found: u64,
    /// Rows found for these entries. Rows that several columns share count once.
    pub found: u64,
    /// Entries in columns that ESC computes.
    pub by_esc: u64,
}

impl EntriesOfC {
    /// Upper bounds for a band.
    pub fn most(band: &ClassSizes) -> Self {
        let of = |classes: &[Class]| band.sum(classes, |sums| sums.most_entries);
        let [all, of_found, by_esc] = [of(&Class::ALL), of(&Class::FOUND), of(&[Class::Rest])];
        Self { all, of_found, found: band.most_found(), by_esc }
    }

    /// Upper bounds for a band, if only `room` rows are found.
    pub fn expected(band: &ClassSizes, room: u64) -> Self {
        let most = Self::most(band);
        let of_found = u128::from(room) * u128::from(most.of_found) / u128::from(most.found.max(1));
        let of_found = of_found as u64;
        Self { all: most.all - most.of_found + of_found, of_found, found: room, ..most }
    }

    /// Upper bounds for a band whose entries were counted: `all` in all.
    pub fn counted(band: &ClassSizes, all: u64) -> Self {
        let most = Self::most(band);
        let [of_found, found, by_esc] = [most.of_found, most.found, most.by_esc].map(|most| most.min(all));
        Self { all, of_found, found, by_esc }
    }
}
