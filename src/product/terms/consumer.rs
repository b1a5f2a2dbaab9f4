//! The consumer of the bands of a product: the options that drop entries and limit columns.
use crate::primitives::drop_entries::DropMemory;

/// The limits that the consumer of a product's bands sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BandConsumer {
    /// Extra device memory that dropping entries needs while a band is held.
    pub drop: Option<DropMemory>,
    /// Most columns of a band.
    pub most_columns: u64,
}

impl BandConsumer {
    /// A consumer that takes bands of any size, and needs no memory.
    pub const ANY: Self = Self { drop: None, most_columns: u64::MAX };

    /// Whether a band may have `columns` columns.
    pub fn admits(&self, columns: u64) -> bool {
        columns <= self.most_columns
    }

    /// Extra device bytes for a band of `columns` columns with `nnz` entries.
    pub fn peak(&self, nnz: u64, columns: u64) -> u64 {
        self.drop.map_or(0, |drop| drop.peak(nnz, columns))
    }
}
