//! The product on the places of a mask, `C<M> = A·B`. Products are looked for from the places of C,
//! so that products outside the mask are never formed. Kernels: `cl/product/masked/`. Sums are
//! computed by `cl/product/esc/blocks/`.
//!
//! An entry (i, j) of the mask is a *place*. The sum of a place (i, j) has the products of row i of
//! A and column j of B. If the row is shorter than the column, each entry of the row is looked up
//! in the column. If the row is not shorter, each entry of the column is looked up in the row. A
//! lookup is a *probe*. Probes are scanned and divided as the expansion divides products. Probes
//! that find an entry are *hits*. Hits are written in the order of the probes. The order of the
//! probes is the order of the entries of C, and within an entry the order of its terms, so nothing
//! is sorted. Memory is proportional to the mask and the hits. Time is proportional to the probes:
//! for each place, the entries of the shorter of its row and its column.
//!
//! | step | file | reads |
//! |---|---|---|
//! | the rows of A as columns of Aᵀ, if not stored so | `primitives/transpose.rs` | a longest row |
//! | probes of each place; bands of places | `masked/bands.rs` | probes; bands, if several |
//! | hits counted, and placed | here | the [`Tally`] of each band |
//! | hits summed, or kept to be summed | `masked/once.rs`, `masked/planned.rs` | |
//!
//! On a CPU a probe costs as much as tens of products. So CPUs compute one column of C after
//! another. Among the products of a whole column, a bitmap of the mask's rows finds the products on
//! the mask, and all other products are skipped. In a product of scalars that runs once, products
//! are summed as they are found. If long columns have few places, all places are computed by
//! probes.
//!
//! | step | file | reads |
//! |---|---|---|
//! | steps of each column, ranges of columns | `masked/columns.rs` | steps |
//! | scalars: sums by row | `masked/sums.rs` | products |
//! | others: hits of each place | `masked/pairs.rs` | |
//! | bands of places | `masked/bands.rs` | hits; bands, if several |
//! | hits placed | `masked/pairs.rs` | |
//! | their runs counted | `masked/long_runs.rs` | the [`Tally`] of each band |
mod bands;
mod columns;
mod long_runs;
mod once;
mod pairs;
mod planned;
mod sums;

use super::{
    esc::Tally,
    terms::{Factors, FoundRuns, PayloadKind, Spec},
    tuning::{TileTuning, Tuning},
};
use crate::{
    OperandPair, Result,
    device::{Buffer, Device, Grid, In, InOut, Options, Out, Work, kernel, kernels},
    primitives::scan::Scan,
    resident::InPattern,
};
use bands::{MaskBand, ProbedMask};
use long_runs::{LongRuns, options_of_runs};
pub(crate) use once::multiply_masked;

kernel! {
    in "product/terms/payload.cl", "product/masked/tally.cl", "product/masked/masked.cl":
    struct CountHits = "count_hits" {
        a_t: InPattern,
        b: InPattern,
        mask_row_idx: In<u32>,
        mask_col: In<u32>,
        probe_ptr: In<u64>,
        hits: Out<u32>,
        place_hits: Out<u32>,
        first_place: u32,
        places: u32,
        probes: u32,
    }
    struct MaskRecord = "mask_record" {
        probe_ptr: In<u64>,
        hits: In<u32>,
        place_hits: In<u32>,
        record: InOut<u32>,
        first_place: u32,
        places: u32,
    }
    struct WriteHits = "write_hits" {
        a_t: InPattern,
        a_operand: In<u32>,
        b: InPattern,
        b_operand: In<u32>,
        mask_row_idx: In<u32>,
        mask_col: In<u32>,
        probe_ptr: In<u64>,
        hits: In<u32>,
        payload: Out<OperandPair>,
        run_end: Out<u32>,
        first_place: u32,
        places: u32,
        probes: u32,
    }
}

kernels! {
    struct Kernels { new count: CountHits, new record: MaskRecord, new write: WriteHits }
}

/// The kernels of method `masked`.
pub(super) struct Masked {
    kernels: Kernels,
    runs: LongRuns,
    scan: Scan<u32>,
    tiles: TileTuning,
}

/// A task: places of a mask.
pub(super) struct MaskedPlaces<'a> {
    /// The factors. Aᵀ stands in place of A, because its columns are the rows of A.
    factors: Factors<'a>,
    mask: &'a ProbedMask<'a>,
    band: MaskBand,
}

/// Places whose hits are counted.
pub(super) struct CountedHits {
    /// Number of hits of all work-items before each work-item.
    hits: Buffer<u32>,
    record: Buffer<u32>,
}

impl Masked {
    /// Requests the kernels of masked products.
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let options = options(spec, tuning);
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            runs: LongRuns::new(device, tuning)?,
            scan: Scan::new(device, tuning.scan)?,
            tiles: tuning.tiles,
        })
    }

    /// Finds the runs of a task: counts the hits, reads the tally, and places the hits.
    pub fn run(&self, work: &Work, task: &MaskedPlaces<'_>) -> Result<FoundRuns> {
        let counted = self.count(work, task)?;
        let tally = Tally::read(work, &counted.record, 0, task.band.probes.into())?;
        self.place(work, task, counted, tally)
    }

    /// Counts the hits of a task. The host reads nothing.
    fn count(&self, work: &Work, task: &MaskedPlaces<'_>) -> Result<CountedHits> {
        work.stage("expansion");
        let &MaskedPlaces { factors, mask, band: MaskBand { first, places, probes } } = task;
        let (tiles, group_size) = (self.tiles.count(probes), self.tiles.group_size);
        let mut hits = work.buffer(tiles * group_size + 1)?;
        let mut place_hits = work.buffer(places as usize)?;
        let args = CountHits {
            a_t: factors.a,
            b: factors.b,
            mask_row_idx: mask.row_idx,
            mask_col: &mask.col,
            probe_ptr: &mask.probe_ptr,
            hits: &mut hits,
            place_hits: &mut place_hits,
            first_place: first,
            places,
            probes,
        };
        self.kernels.count.launch(work, Grid::groups(tiles, group_size), args)?;
        self.scan.run(work, &mut hits)?;
        let mut record = LongRuns::new_record(work)?;
        let args = MaskRecord {
            probe_ptr: &mask.probe_ptr,
            hits: &hits,
            place_hits: &place_hits,
            record: &mut record,
            first_place: first,
            places,
        };
        self.kernels.record.launch(work, Grid::items(places as usize, group_size), args)?;
        Ok(CountedHits { hits, record })
    }

    /// Writes the counted hits in the order of their places. The host reads nothing.
    fn place(
        &self,
        work: &Work,
        &MaskedPlaces { factors, mask, band: MaskBand { first, places, probes } }: &MaskedPlaces<'_>,
        CountedHits { hits, record }: CountedHits,
        Tally { count: products, longest, pieces, parts }: Tally,
    ) -> Result<FoundRuns> {
        let (mut payload, mut run_end) = (work.buffer::<OperandPair>(products)?, work.buffer(places as usize)?);
        let args = WriteHits {
            a_t: factors.a,
            a_operand: factors.a_operand.typed(),
            b: factors.b,
            b_operand: factors.b_operand.typed(),
            mask_row_idx: mask.row_idx,
            mask_col: &mask.col,
            probe_ptr: &mask.probe_ptr,
            hits: &hits,
            payload: &mut payload,
            run_end: &mut run_end,
            first_place: first,
            places,
            probes,
        };
        self.kernels.write.launch(work, Grid::groups(self.tiles.count(probes), self.tiles.group_size), args)?;
        let pieces = self.runs.pieces(work, &run_end, record, pieces)?;
        Ok(FoundRuns { run_end, pieces, parts, payload: payload.into_any(), longest })
    }
}

/// The options of all kernels except the kernels of runs.
fn options(spec: &Spec, tuning: &Tuning) -> Options {
    PayloadKind::Pairs.define(options_of_runs(tuning), spec)
}

#[cfg(test)]
mod tests;
