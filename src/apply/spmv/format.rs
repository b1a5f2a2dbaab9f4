//! The formats of A·x.
use crate::{Error, Result, element::Order};

/// How the rows of a matrix are stored and shared out for A·x. Matrices of blocks have some of the
/// formats, see [`Format::has_blocks`]; their entries are blocks, and their rows rows of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// The format with the least estimated time, see [`Apply::why`](crate::plan::Apply::why).
    #[default]
    Auto,
    /// Compressed rows, a work-item for each scalar row; on a CPU for each stretch of rows.
    Csr,
    /// Compressed rows, a team of 32 work-items for each row.
    CsrVector,
    /// Compressed rows, a work-group for each stretch of short rows and for each piece of a long
    /// one.
    CsrAdaptive,
    /// The same, but 32 work-items share a row of more than 64 entries, or a piece of one.
    CsrShared,
    /// Compressed columns, a work-item for each compute unit's share of the rows: column-major
    /// matrices are multiplied as they are, without an index of their rows. For a few executions on
    /// a CPU.
    Csc,
    /// All rows padded to the longest, stored one entry of every row after the other.
    Ell,
    /// The same for each slice of rows, of 32 scalar rows or a few more.
    SlicedEll,
    /// Rows padded to a width, which a [`Split`](crate::plan::Split) says; entries beyond it row
    /// after row.
    Hyb,
    /// Entries with their rows, a work-group for each tile of 1024 entries.
    Coo,
    /// Entries with their rows, by a segmented scan: each work-item has as many entries, however
    /// long the rows are.
    SegmentedScan,
    /// A work-group for each slice of 64 rows, four work-items for each row.
    Scoo,
    /// [`Format::CsrAdaptive`] with the pieces of a long row added in the order in which their
    /// work-groups arrive. It is there to be compared with: the bits differ from run to run.
    CsrAdaptiveAtomic,
    /// Entries with their rows, added in the order in which work-items arrive, likewise.
    CooAtomic,
    /// [`Format::Hyb`] with heads and entries of tails added in the order in which work-items
    /// arrive, likewise.
    HybAtomic,
    /// [`Format::Scoo`] with a work-item for each entry and sums in the order of arrival, likewise.
    ScooAtomic,
}

impl Format {
    /// Every format, without the choice among them.
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
        Self::CsrAdaptiveAtomic,
        Self::CooAtomic,
        Self::HybAtomic,
        Self::ScooAtomic,
    ];

    /// The name that the command and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Csr => "csr",
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

    /// The order of its sums. [`Format::Auto`] chooses among formats of any order only if
    /// [`ApplyOptions::any_order`](crate::plan::ApplyOptions::any_order) allows it, and never those
    /// that are not [reproducible](Format::reproducible).
    pub fn order(self) -> Order {
        match self {
            Self::CsrVector => Order::Lanes,
            Self::CsrShared => Order::Shared,
            Self::Coo => Order::Tiles,
            Self::SegmentedScan => Order::Scan,
            Self::Scoo => Order::FewLanes,
            Self::CsrAdaptiveAtomic | Self::CooAtomic | Self::HybAtomic | Self::ScooAtomic => Order::Arrival,
            Self::Auto | Self::Csr | Self::CsrAdaptive | Self::Csc | Self::Ell | Self::SlicedEll | Self::Hyb => {
                Order::Ascending
            }
        }
    }

    /// Whether matrices of blocks have it.
    pub fn has_blocks(self) -> bool {
        match self {
            Self::Auto | Self::Csr | Self::CsrAdaptive | Self::Ell | Self::SlicedEll | Self::Hyb => true,
            Self::CsrVector | Self::CsrShared | Self::Csc | Self::Coo | Self::SegmentedScan | Self::Scoo => false,
            Self::CsrAdaptiveAtomic | Self::CooAtomic | Self::HybAtomic | Self::ScooAtomic => false,
        }
    }

    /// Whether its bits are the same in every run.
    pub fn reproducible(self) -> bool {
        self.order() != Order::Arrival
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Format {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = [Self::Auto].iter().chain(Self::ALL).copied();
        known.clone().find(|format| format.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names: Vec<_> = known.map(Self::name).collect();
            Error::Argument(format!("no format \"{text}\"; there are: {}", names.join(", ")))
        })
    }
}
