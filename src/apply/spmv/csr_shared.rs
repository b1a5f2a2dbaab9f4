//! Compressed rows, divided as in `csr-adaptive`: a work-group takes a stretch of short rows, or a
//! piece of a long row. In this format 32 work-items share a row of more than 64 entries. Kernel:
//! `cl/apply/spmv/csr_shared.cl`.
//!
//! If the terms of a piece were added in ascending order, one item would add up to 1024 terms one
//! after another, and its group would wait. In this format no item adds more than 64 terms. The
//! order of addition is [`Order::Shared`], which does not depend on the device.
//!
//! [`Order::Shared`]: crate::element::Order::Shared
use super::{PackedOrder, Rows, Sums, terms::InTerms};
use crate::{
    Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scratch, Teams, Work, kernel},
    element::{Order, Piece},
    primitives::segmented_reduce::RUN_PIECE,
    vector::{
        InOutScaled, ScaledInto,
        line_sums::Stored,
        lines::{Index, LineTuning, Lines},
    },
};

kernel! {
    struct SumShared = "sum_shared" in "ptx.cl", "once.cl", "vector/parts.cl", "vector/terms.cl", "apply/spmv/values.cl", "apply/spmv/pieces.cl", "apply/spmv/csr_shared.cl" {
        row_ptr: In<u32>,
        task: In<Piece>,
        terms: InTerms<u32>,
        arrived: InOut<u32>,
        y: InOutScaled,
        pieces: u32,
        parts: u32,
    }
}

pub(super) struct CsrShared {
    rows: Rows,
    lines: Lines,
    kernel: Kernel<SumShared<'static>>,
    /// For each row that is cut, the number of its finished pieces. The sums of all pieces come
    /// after the numbers of finished pieces, as words.
    arrived: Scratch<u32>,
    group_size: usize,
}

impl CsrShared {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let tuning = LineTuning::shared(rows.device().info());
        Self::tuned(work, rows, tuning)
    }

    fn tuned(work: &Work, rows: Rows, tuning: LineTuning) -> Result<Self> {
        let LineTuning { group_size, tile, held, ahead, together, .. } = tuning;
        let device = rows.device();
        let lines = Lines::new(work, Index::Columns(rows.pattern.clone()), tuning)?;
        let options = rows.options(Options::group_size(group_size));
        let options = rows
            .in_pieces(options, held.max(RUN_PIECE), together)
            .define("TILE", tile)
            .define("PIECE", RUN_PIECE)
            .define("AHEAD", ahead)
            .define("LONG", Order::LONG)
            .define("LANES", Order::LANES);
        let kernel = Kernel::new(device, &Teams::options_of(device.info(), options))?;
        let words = rows.elements.sum().bytes().div_ceil(size_of::<u32>());
        let arrived = Scratch::reserve_zeroed(work, lines.parts * (1 + words))?;
        Ok(Self { rows, lines, kernel, arrived, group_size })
    }
}

impl Sums for CsrShared {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Self { rows, lines, kernel, arrived, group_size } = self;
        let args = SumShared {
            row_ptr: rows.row_ptr(),
            task: &lines.tasks,
            terms: rows.terms(a, x),
            arrived: &mut *arrived.take(work)?,
            y,
            pieces: lines.pieces as u32,
            parts: lines.parts as u32,
        };
        kernel.launch(work, Grid::groups(lines.tasks.len(), *group_size), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.rows.order()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes() + self.lines.bytes() + self.arrived.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        apply::spmv::tests::{Expected, rows_of},
        device::test_device,
        element::Field,
    };

    /// Lengths of rows of all kinds: no term; the most terms that an item adds, and one more; a
    /// tile; a piece, and one term more; parts that take two rounds of local memory.
    const LENGTHS: [usize; 16] = [3, 0, 64, 65, 1, 127, 1024, 1025, 0, 200, 200, 5000, 33, 2048 + 64, 2048 + 65, 96];

    fn check<T: Field>(lengths: &[usize], tuning: LineTuning, packed: &[bool]) -> Result<()> {
        let cols = lengths.iter().copied().max().unwrap_or(0);
        let expected = Expected::of(&rows_of::<T>(cols, lengths, |_| 0)?, Order::Shared)?;
        for &packed in packed {
            let sums = CsrShared::tuned(expected.work(), Rows { packed, ..expected.rows() }, tuning)?;
            expected.check(&sums, &format!("{tuning:?}, packed {packed}"))?;
        }
        Ok(())
    }

    /// Tunings with groups of fewer items than lanes, of as many items as lanes, and of more. Rows
    /// are in tiles or in pieces. Every number of terms is loaded and read ahead.
    fn tunings() -> [LineTuning; 6] {
        let most = test_device().info().max_group_size;
        let of = |group_size: usize, tile, [ahead, together]: [usize; 2]| LineTuning {
            group_size: group_size.min(most),
            tile,
            longest: tile,
            held: 2 * tile,
            ahead,
            skewed: (group_size.min(most), ahead),
            direct: 0,
            together,
            apart: 0,
            guessed: 0,
            whole: RUN_PIECE,
            light: 64,
        };
        [
            of(1, 1024, [1, 1]),
            of(8, 0, [3, 2]),
            of(32, 200, [2, 8]),
            of(128, 1024, [8, 8]),
            of(64, 16, [1, 4]),
            of(64, 512, [4, 8]),
        ]
    }

    #[test]
    fn groups_of_every_size_have_the_bits_of_the_reference() -> Result<()> {
        let [of_f32 @ .., of_f64] = tunings();
        of_f32.into_iter().try_for_each(|tuning| check::<f32>(&LENGTHS, tuning, &[false, true]))?;
        check::<f64>(&LENGTHS, of_f64, &[false, true])
    }

    /// Tests each tuning with one kind of index.
    #[test]
    fn small_groups_and_large_ones_have_the_bits_of_the_reference() -> Result<()> {
        let lengths = [3, 0, 64, 65, 1, 127, 1024, 1025, 0, 200, 33, 2048 + 65, 96];
        let [of_f32 @ .., of_f64] = tunings();
        for (number, tuning) in of_f32.into_iter().enumerate() {
            check::<f32>(&lengths, tuning, &[number % 2 == 1])?;
        }
        check::<f64>(&lengths, of_f64, &[true])
    }

    /// Tests a row with more parts than local memory holds sums.
    #[test]
    fn the_parts_of_a_long_row_have_the_bits_of_the_reference() -> Result<()> {
        let tuning = LineTuning::shared(test_device().info());
        let tuning = LineTuning { held: RUN_PIECE, tile: 512, longest: 512, ..tuning };
        check::<f32>(&[5, 1030 * RUN_PIECE + 7, 70], tuning, &[false, true])
    }
}
