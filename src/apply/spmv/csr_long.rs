//! Compressed rows of scalars on a device that gives each row a work-item, if some rows are long.
//! Kernel: `cl/apply/spmv/csr_long.cl`.
//!
//! An item adds a row alone, and each addition waits for the one before. So rows of many entries
//! are cut in pieces, which work-groups take in the same launch. The device lists the pieces, and
//! the host does not need their number: a plan reads nothing back.
use super::{
    Rows,
    terms::{InTerms, RowTerms},
};
use crate::{
    Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scratch, Work, kernel},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    vector::{
        InOutScaled, ScaledInto,
        lines::{LineTuning, Uncounted},
    },
};

kernel! {
    struct SumRowsAndPieces = "sum_rows_and_pieces" in "ptx.cl", "once.cl", "vector/parts.cl", "vector/terms.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/pieces.cl", "apply/spmv/csr_long.cl" {
        row_ptr: In<u32>,
        counts: In<u32>,
        piece: In<Piece>,
        terms: InTerms<u32>,
        arrived: InOut<u32>,
        y: InOutScaled,
        rows: u32,
        longest: u32,
        groups: u32,
        parts: u32,
    }
}

/// Work-groups for pieces on each compute unit: as many as run at once. If there are no pieces,
/// each group reads their number and ends. With 8 an H100 took 43 us for `cnr-2000`, not 32.
const GROUPS: usize = 16;

/// A row is long if it has more than this many times the average number of entries. The other rows
/// of a group of items wait for its longest row. With 2 and 8 no time changed by more than the
/// noise.
const LONGER: u64 = 4;

/// Fewest entries of a long row. An item adds about as many while a group begins, loads a piece and
/// publishes its sum. With 24 and 32 an H100 took 56 us for `cnr-2000`, not 43.
const SHORTEST: u64 = 64;

/// Entries that an item adds while a group adds a piece of some hundred, running beside the other
/// groups of its compute unit. An H100 takes 19 us for 6000 rows of 300 in pieces, 45 with an item
/// each; 28 and 41 for 10,000 of 250, 100 and 141 for 20,000 of 500, 177 and 155 for 30,000 of 600.
const MEANWHILE: u64 = 48;

/// Most entries that an item adds, if there are so few rows that groups add all of them before an
/// item adds an average row. With 64 an H100 took 11 us for 1000 rows of 128, not 24, but the
/// pieces cost a plan three more launches.
const LONGEST: u64 = 128;

/// Number of rows that each group takes if all rows are in pieces.
pub(super) fn rows_of_group(rows: u64, compute_units: u64) -> u64 {
    rows.div_ceil(GROUPS as u64 * compute_units)
}

/// The most entries of a row that one item adds.
pub(super) fn longest_of_item([rows, entries]: [u64; 2], compute_units: u64) -> u64 {
    let mean = entries.div_ceil(rows.max(1));
    let few = rows_of_group(rows, compute_units) * MEANWHILE <= mean;
    (LONGER * mean).clamp(SHORTEST, if few { LONGEST } else { RUN_PIECE as u64 })
}

/// The kernel that adds whole rows and pieces, and the list of the pieces.
pub(super) struct RowsAndPieces {
    kernel: Kernel<SumRowsAndPieces<'static>>,
    group_size: usize,
    longest: usize,
    long: Uncounted,
    groups: usize,
    /// For each row that is cut: the number of its finished pieces. The sums of pieces follow as
    /// words.
    arrived: Scratch<u32>,
}

impl RowsAndPieces {
    /// Prepares sums of rows of scalars. Rows of more than `longest` entries are cut in pieces.
    pub fn new(work: &Work, rows: &Rows, longest: usize) -> Result<Self> {
        let (device, info) = (rows.device(), rows.device().info());
        // On a CPU a group is one item, which needs no barriers. PoCL 3.1, where it optimises,
        // omits what the first item of a larger group does between the barriers of the kernel's
        // loop.
        let (group_size, nnz) = (info.serial_or(info.vector_group()), rows.pattern.nnz() as u64);
        let options = rows.options(Options::group_size(group_size));
        let options = rows.by_item(options, nnz, 1, longest as u64, false);
        let options = rows.in_pieces(options, RUN_PIECE, LineTuning::shared(info).together);
        let kernel = Kernel::new(device, &options)?;
        let long = Uncounted::new(work, &rows.pattern, longest)?;
        let words = rows.elements.sum().bytes().div_ceil(size_of::<u32>());
        let arrived = Scratch::reserve_zeroed(work, long.parts * (1 + words))?;
        let groups = (GROUPS * info.compute_units as usize).min(long.pieces.len());
        Ok(Self { kernel, group_size, longest, long, groups, arrived })
    }

    /// y = alpha·A·x + beta·y, for rows that begin at `row_ptr`.
    pub fn run(&self, work: &Work, row_ptr: &Buffer<u32>, terms: RowTerms<'_>, y: ScaledInto<'_>) -> Result<()> {
        let Self { long, groups, group_size, .. } = self;
        let rows = row_ptr.len() - 1;
        let args = SumRowsAndPieces {
            row_ptr,
            counts: &long.counts,
            piece: &long.pieces,
            terms,
            arrived: &mut *self.arrived.take(work)?,
            y,
            rows: rows as u32,
            longest: self.longest as u32,
            groups: *groups as u32,
            parts: long.parts as u32,
        };
        self.kernel.launch(work, Grid::groups(groups + rows.div_ceil(*group_size), *group_size), args)
    }

    /// Bytes of device memory held beside the rows.
    pub fn bytes(&self) -> u64 {
        self.long.bytes() + self.arrived.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_pieces_if_they_are_few_and_long_or_longer_than_others() {
        let of = |rows: u64, mean: u64| longest_of_item([rows, rows * mean], 132);
        // Two rows for each group; one for some of the groups; one whose entries are as many as the
        // group's items; five rows.
        assert_eq!([of(2500, 400), of(25, 400), of(1000, 128), of(10_000, 250)], [128; 4]);
        // Too many rows for the groups; too short rows; no row; no entries.
        assert_eq!([of(20_000, 200), of(40_000, 150), of(2500, 90)], [800, 600, 360]);
        assert_eq!([of(2500, 8), of(0, 0), of(2500, 0), of(30_000, 600)], [64, 64, 64, RUN_PIECE as u64]);
    }
}
