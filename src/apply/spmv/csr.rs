//! Compressed rows. On a GPU a work-item takes a scalar row; on a CPU it takes a stretch of rows.
//! Kernels: `cl/apply/spmv/csr.cl`.
//!
//! On a CPU an item adds its rows in a serial loop. All stretches have about the same number of
//! entries and rows, so that their items end together. On a GPU neighbouring items read entries
//! that lie a row apart, and [long rows](super::csr_long) are cut in pieces.
use super::{PackedOrder, RowNumbers, Rows, Sums, csr_long, numbers::ROW_SHORTEST, terms::InTerms};
use crate::{
    Device, DeviceInfo, Result,
    apply::LEAST_SHARES,
    device::{Buffer, Grid, In, Kernel, Options, Work, kernel},
    vector::{InOutScaled, ScaledInto, line_sums::Stored, lines},
};

kernel! {
    in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/csr.cl":
    struct SumRows = "sum_rows" { row_ptr: In<u32>, terms: InTerms<u32>, y: InOutScaled, rows: u32 }
    struct SumStretches = "sum_stretches" {
        row_ptr: In<u32>,
        stretch_row: In<u32>,
        terms: InTerms<u32>,
        y: InOutScaled,
    }
}

/// The size of a stretch, counted in entries and rows, or `None` if each item takes one row. The
/// matrix has `places` entries and rows, and its blocks have `area` elements.
fn stretch(info: &DeviceInfo, places: usize, area: usize) -> Option<usize> {
    let RowNumbers { row_stretch: most, .. } = info.numbers();
    let share = places.div_ceil(LEAST_SHARES * info.compute_units as usize);
    (most > 0).then(|| (share.max(ROW_SHORTEST / area).min(most / area)).max(1))
}

/// Starts to compile the kernel that cuts rows into stretches, together with the kernels that find
/// the rows.
pub(super) fn ask(device: &Device) -> Result<()> {
    if device.info().numbers::<RowNumbers>().row_stretch > 0 { lines::ask_stretches(device) } else { Ok(()) }
}

pub(super) struct Csr {
    rows: Rows,
    shares: Shares,
}

/// The division of the rows among work-items.
enum Shares {
    Rows { kernel: Kernel<SumRows<'static>>, group_size: usize },
    RowsAndPieces(Box<csr_long::RowsAndPieces>),
    Stretches { kernel: Kernel<SumStretches<'static>>, first_row: Buffer<u32> },
}

impl Csr {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let stretch = stretch(rows.device().info(), rows.pattern.nnz() + rows.len(), rows.block.area());
        let nnz = rows.pattern.nnz() as u64;
        let compute_units = rows.device().info().compute_units.into();
        let of_item = csr_long::longest_of_item([rows.len() as u64, nnz], compute_units);
        let has_long = rows.longest.unwrap_or(nnz) > of_item;
        if stretch.is_none() && rows.block.area() == 1 && has_long {
            return Self::in_pieces(work, rows, of_item as usize);
        }
        Self::tuned(work, rows, stretch)
    }

    /// Prepares sums with a work-item for each row, as published for CSR-Scalar (Evtushenko 2019,
    /// listing 1; Garland 2008, section 3.1).
    pub fn scalar(work: &Work, rows: Rows) -> Result<Self> {
        Self::tuned(work, rows, None)
    }

    /// Prepares sums in which rows of more than `longest` entries are cut in pieces.
    fn in_pieces(work: &Work, rows: Rows, longest: usize) -> Result<Self> {
        let sums = csr_long::RowsAndPieces::new(work, &rows, longest)?;
        Ok(Self { rows, shares: Shares::RowsAndPieces(Box::new(sums)) })
    }

    fn tuned(work: &Work, rows: Rows, stretch: Option<usize>) -> Result<Self> {
        let device = rows.device();
        let nnz = rows.pattern.nnz() as u64;
        let options = |group_size| rows.by_item(rows.options(Options::group_size(group_size)), nnz, 1, nnz, false);
        let shares = match stretch {
            None => {
                let group_size = device.info().vector_group();
                Shares::Rows { kernel: Kernel::new(device, &options(group_size))?, group_size }
            }
            Some(length) => {
                let kernel = Kernel::new(device, &options(1))?;
                Shares::Stretches { kernel, first_row: lines::stretches(work, &rows.pattern, length)? }
            }
        };
        Ok(Self { rows, shares })
    }
}

impl Sums for Csr {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let (row_ptr, terms) = (self.rows.row_ptr(), self.rows.terms(a, x));
        match &self.shares {
            Shares::Rows { kernel, group_size } => {
                let args = SumRows { row_ptr, terms, y, rows: self.rows.len() as u32 };
                kernel.launch(work, Grid::items(self.rows.sums(), *group_size), args)
            }
            Shares::RowsAndPieces(sums) => sums.run(work, row_ptr, terms, y),
            Shares::Stretches { kernel, first_row: stretch_row } => {
                let args = SumStretches { row_ptr, stretch_row, terms, y };
                kernel.launch(work, Grid::groups(stretch_row.len() - 1, 1), args)
            }
        }
    }

    fn order(&self) -> PackedOrder<'_> {
        self.rows.order()
    }

    fn bytes(&self) -> u64 {
        let shares = match &self.shares {
            Shares::Rows { .. } => 0,
            Shares::RowsAndPieces(sums) => sums.bytes(),
            Shares::Stretches { first_row, .. } => first_row.bytes(),
        };
        self.rows.bytes() + shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        apply::spmv::tests::{Expected, rows_of},
        element::Order,
        primitives::segmented_reduce::RUN_PIECE,
    };

    /// Tests rows of 0 to 6 entries, and one row of several pieces.
    #[test]
    fn small_rows_have_the_same_bits_in_every_share() -> Result<()> {
        let length = |row: usize| if row == 40 { 2 * RUN_PIECE + 1 } else { row * 5 % 7 };
        let host = rows_of::<f32>(2500, &(0..70).map(length).collect::<Vec<_>>(), |row| row)?;
        let expected = Expected::of(&host, Order::Ascending)?;
        let work = expected.work();
        let stretches = [Some(1), Some(2), Some(7), Some(1024), Some(1 << 20)].map(|stretch| (stretch, 1));
        let rows = |ahead| Rows { ahead, ..expected.rows() };
        for (stretch, ahead) in [(None, 1), (None, 3), (None, 5)].into_iter().chain(stretches) {
            expected.check(&Csr::tuned(work, rows(ahead), stretch)?, &format!("{stretch:?}, {ahead} ahead"))?;
        }
        // Cuts nearly every row in pieces, some rows, only the longest row, or no row.
        for (longest, ahead) in [(1, 1), (3, 5), (64, 3), (3 * RUN_PIECE, 5)] {
            for packed in [false, true] {
                let rows = Rows { packed, ..rows(ahead) };
                let what = format!("pieces beyond {longest}, {ahead} ahead, packed {packed}");
                expected.check(&Csr::in_pieces(work, rows, longest)?, &what)?;
            }
        }
        Ok(())
    }
}
