//! Neighbouring columns of B with the same rows, such as those of the unknowns of one node of a
//! finite element. If columns of B have the same rows, their columns of C have the same rows too.
//! The first column is the *leader*, whose rows are found. The columns that *follow* share the rows
//! of the leader. Kernels: `cl/product/columns/adaptive/equal.cl`,
//! `cl/product/columns/adaptive/share_rows.cl`.
use crate::{
    Pattern, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Work, kernel},
    product::{
        columns::tasks::Purpose,
        terms::{Class, ClassSums, ClassesSums},
        tuning::AdaptiveTuning,
    },
};

kernel! {
    struct ShareRows = "share_rows" in "product/columns/adaptive/equal.cl", "product/columns/tasks/found.cl", "product/columns/adaptive/share_rows.cl" {
        class: In<u32>,
        lengths: InOut<u32>,
        place: InOut<u32>,
        cols: u32,
        windows: u32,
        purpose: u32,
    }
}

/// A column whose number is a multiple of this constant never follows another column, so that the
/// leader of a column is near the column. The constant is a multiple of 2, 3 and 6, the usual
/// numbers of unknowns of a node.
pub(super) const LEADING: usize = 192;

/// A column of B with more entries than `LONG` is analysed by a whole work-group, and never follows
/// another column.
pub(super) const LONG: usize = 512;

/// Whether the word of a column has the flag `FOLLOWS` of the kernel file.
pub(super) fn follows(word: u32) -> bool {
    word & 0x100 != 0
}

/// Whether a column of B follows the column before it, provided that its rows of C are to be found.
/// `cl/product/columns/adaptive/profile.cl` decides in the same way for the first band.
pub(super) fn is_equal(b: &Pattern, col: usize) -> bool {
    !col.is_multiple_of(LEADING) && b.entries(col).len() <= LONG && b.column(col) == b.column(col - 1)
}

/// Whether columns that follow share the rows of their leaders. Rows are shared if the columns that
/// follow are a large enough part of all columns whose rows are found, and if all these columns
/// together have enough products.
pub(super) fn shares_rows(sums: &ClassesSums, tuning: &AdaptiveTuning) -> bool {
    let sum = |number: fn(&ClassSums) -> u64| -> u64 {
        Class::FOUND.iter().map(|&class| number(&sums[class as usize])).sum()
    };
    let [columns, followers] = [sum(|sums| sums.columns.into()), sum(|sums| sums.followers.into())];
    let enough = followers > 0 && 100 * followers >= tuning.equal_percent * columns;
    enough && sum(|sums| sums.products) >= tuning.equal_products
}

/// The kernel that shares the rows of leaders with the columns that follow.
pub(super) struct SharedRows {
    kernel: Kernel<ShareRows<'static>>,
    group_size: usize,
}

impl SharedRows {
    pub fn new(device: &Device, group_size: usize) -> Result<Self> {
        Ok(Self { kernel: Kernel::rare(device, &Options::group_size(group_size))?, group_size })
    }

    /// Copies places from leaders to the columns that follow, and lengths too if `purpose` is
    /// [`Purpose::All`].
    pub fn run(
        &self,
        work: &Work,
        class: &Buffer<u32>,
        windows: usize,
        purpose: Purpose,
        [lengths, place]: [&mut Buffer<u32>; 2],
    ) -> Result<()> {
        let (cols, chunks) = (class.len(), class.len() * windows);
        let purpose = purpose as u32;
        let args = ShareRows { class, lengths, place, cols: cols as u32, windows: windows as u32, purpose };
        self.kernel.launch(work, Grid::items(chunks, self.group_size), args)
    }
}
