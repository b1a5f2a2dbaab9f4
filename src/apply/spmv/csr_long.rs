//! Compressed rows of scalars on a device that gives each row a work-item, if some rows are long.
//! Kernel: `cl/apply/spmv/csr_long.cl`.
//!
//! If one item adds a row, each addition waits for the addition before it. So rows of many entries
//! are cut in pieces, which work-groups add in the same launch. The device lists the pieces. The
//! host does not need their number, so a plan reads nothing back.
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

/// Number of work-groups for pieces on each compute unit, which run at the same time. If there are
/// no pieces, each group reads their number and ends. For `cnr-2000` an H100 took 32 us with 16
/// groups on each compute unit, and 43 us with 8.
const GROUPS: usize = 16;

/// A row is long if it has more than `LONGER` times the average number of entries. In a group of
/// items, all rows wait for the longest row. If `LONGER` is 2 or 8, no time differs from the time
/// with 4 by more than the noise.
const LONGER: u64 = 4;

/// Fewest entries of a long row. An item adds about `SHORTEST` entries while a group begins, loads
/// a piece and publishes its sum. For `cnr-2000` an H100 took 43 us with 64, and 56 us with 24 and
/// with 32.
const SHORTEST: u64 = 64;

/// Number of entries that an item adds while a group adds a piece of some hundred entries, beside
/// the other groups of its compute unit. An H100 was measured with rows in pieces, and with an item
/// for each row: 6000 rows of 300 entries take 19 us and 45 us, 10,000 rows of 250 take 28 us and
/// 41 us, 20,000 rows of 500 take 100 us and 141 us, and 30,000 rows of 600 take 177 us and 155 us.
const MEANWHILE: u64 = 48;

/// Most entries that an item adds, if there are so few rows that groups add all of them before an
/// item adds an average row. For 1000 rows of 128 entries an H100 took 24 us with a limit of 128
/// and 11 us with a limit of 64, but with a limit of 64 a plan takes three additional launches to
/// cut the pieces.
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
    /// For each row that is cut, the number of its finished pieces. The sums of all pieces come
    /// after the numbers of finished pieces, as words.
    arrived: Scratch<u32>,
}

impl RowsAndPieces {
    /// Prepares sums of rows of scalars. Rows of more than `longest` entries are cut in pieces.
    pub fn new(work: &Work, rows: &Rows, longest: usize) -> Result<Self> {
        let (device, info) = (rows.device(), rows.device().info());
        // On a CPU a group is one item, which needs no barriers. If PoCL 3.1 optimises, it omits
        // the code that the first item of a larger group runs between the barriers of the kernel's
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

    /// Bytes of device memory held in addition to the rows.
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
        // The four cases have two rows for each group, one row for some of the groups, one row for
        // some of the groups with an entry for each item, and five rows for each group.
        assert_eq!([of(2500, 400), of(25, 400), of(1000, 128), of(10_000, 250)], [128; 4]);
        // The next cases have too many rows for the groups, rows that are too short, no row, or no
        // entries.
        assert_eq!([of(20_000, 200), of(40_000, 150), of(2500, 90)], [800, 600, 360]);
        assert_eq!([of(2500, 8), of(0, 0), of(2500, 0), of(30_000, 600)], [64, 64, 64, RUN_PIECE as u64]);
    }
}
