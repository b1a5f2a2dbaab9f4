//! The formats of A·x.
use crate::{element::Order, named::named};

/// A format of A·x: the way in which the rows of A are stored and divided among work-items.
/// Matrices of blocks support some of the formats, see [`Format::has_blocks`]. The rows of a matrix
/// of blocks are rows of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// The format with the least estimated time; see [`Apply::why`](crate::plan::Apply::why).
    #[default]
    Auto,
    /// Compressed rows. A work-item adds a scalar row, or on a CPU a stretch of rows.
    Csr,
    /// Compressed rows. On every device a work-item adds a scalar row, however long the row is. The
    /// format gives the bits of [`Format::Csr`] and exists for comparison with it.
    CsrScalar,
    /// Compressed rows. A team of 32 work-items adds a row.
    CsrVector,
    /// Compressed rows. A work-group adds a stretch of short rows, or a piece of a long row.
    CsrAdaptive,
    /// [`Format::CsrAdaptive`] with 32 work-items that share a row of more than 64 entries, or a
    /// piece of such a row.
    CsrShared,
    /// Compressed columns. Each compute unit runs one work-item, which adds a share of the rows. A
    /// column-major matrix is multiplied as it is, without an index of its rows. The format suits a
    /// few executions on a CPU.
    Csc,
    /// All rows are padded to the length of the longest. The first entries of all rows are stored
    /// first, then all second entries, and so on.
    Ell,
    /// Each slice of rows is stored as ELL. A slice has 32 scalar rows or a few more. On a CPU a
    /// slice has 8 rows or a few more.
    SlicedEll,
    /// Rows are padded to the width that a [`Split`](crate::plan::Split) chooses. Entries beyond
    /// the width are stored row after row.
    Hyb,
    /// Entries are stored with their rows. A work-group adds a tile of 1024 entries.
    Coo,
    /// Entries are stored with their rows and added by a segmented scan. Every work-item has the
    /// same number of entries, however long the rows are.
    SegmentedScan,
    /// Entries are stored with their rows. A work-group adds a slice of 64 rows, with four
    /// work-items for each row.
    Scoo,
    /// [`Format::CsrAdaptive`] as published: several work-items may share a row, and work-groups
    /// add their sums of a long row in the order in which they arrive. The format exists for
    /// comparison: its bits differ from run to run.
    CsrAdaptiveAtomic,
    /// Entries are stored with their rows, and added in the order in which work-items arrive. The
    /// bits differ from run to run.
    CooAtomic,
    /// [`Format::Hyb`] that adds heads and entries of tails in the order in which work-items
    /// arrive. The bits differ from run to run.
    HybAtomic,
    /// [`Format::Scoo`] in which a work-item adds one entry, in the order of arrival. The bits
    /// differ from run to run.
    ScooAtomic,
}

impl Format {
    /// Every format among which [`Format::Auto`] may choose. Formats that `Auto` may choose give
    /// the same bits in every run.
    pub const ALL: &[Self] = &[
        Self::Csr,
        Self::CsrVector,
        Self::CsrAdaptive,
        Self::CsrShared,
        Self::Csc,
        Self::Ell,
        Self::SlicedEll,
        Self::Hyb,
        Self::Coo,
        Self::SegmentedScan,
        Self::Scoo,
    ];

    /// The formats that exist for comparison. [`Format::Auto`] never chooses them. All except
    /// [`Format::CsrScalar`] add in the order in which work-items arrive, so their bits differ from
    /// run to run.
    pub const COMPARED: &[Self] =
        &[Self::CsrScalar, Self::CsrAdaptiveAtomic, Self::CooAtomic, Self::HybAtomic, Self::ScooAtomic];

    /// The name that the command and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Csr => "csr",
            Self::CsrScalar => "csr-scalar",
            Self::CsrVector => "csr-vector",
            Self::CsrAdaptive => "csr-adaptive",
            Self::CsrShared => "csr-shared",
            Self::Csc => "csc",
            Self::Ell => "ell",
            Self::SlicedEll => "sliced-ell",
            Self::Hyb => "hyb",
            Self::Coo => "coo",
            Self::SegmentedScan => "segmented-scan",
            Self::CsrAdaptiveAtomic => "csr-adaptive-atomic",
            Self::CooAtomic => "coo-atomic",
            Self::HybAtomic => "hyb-atomic",
            Self::Scoo => "scoo",
            Self::ScooAtomic => "scoo-atomic",
        }
    }

    /// The order in which the format adds the terms of a row. Unless
    /// [`ApplyOptions::any_order`](crate::plan::ApplyOptions::any_order) allows any order,
    /// [`Format::Auto`] chooses formats that add in ascending order. [`Format::Auto`] never chooses
    /// formats that are not [reproducible](Format::reproducible).
    pub fn order(self) -> Order {
        match self {
            Self::CsrVector => Order::Lanes,
            Self::CsrShared => Order::Shared,
            Self::Coo => Order::Tiles,
            Self::SegmentedScan => Order::Scan,
            Self::Scoo => Order::FewLanes,
            Self::CsrAdaptiveAtomic | Self::CooAtomic | Self::HybAtomic | Self::ScooAtomic => Order::Arrival,
            Self::Auto | Self::Csr | Self::CsrScalar | Self::CsrAdaptive | Self::Csc => Order::Ascending,
            Self::Ell | Self::SlicedEll | Self::Hyb => Order::Ascending,
        }
    }

    /// Whether the format supports matrices of blocks.
    pub fn has_blocks(self) -> bool {
        match self {
            Self::Auto | Self::Csr | Self::CsrScalar | Self::CsrAdaptive => true,
            Self::Ell | Self::SlicedEll | Self::Hyb => true,
            Self::CsrVector | Self::CsrShared | Self::Csc | Self::Coo | Self::SegmentedScan | Self::Scoo => false,
            Self::CsrAdaptiveAtomic | Self::CooAtomic | Self::HybAtomic | Self::ScooAtomic => false,
        }
    }

    /// Whether the format gives the same bits in every run.
    pub fn reproducible(self) -> bool {
        self.order() != Order::Arrival
    }
}

named!(Format, "format", &[Format::Auto], Format::ALL, Format::COMPARED);
