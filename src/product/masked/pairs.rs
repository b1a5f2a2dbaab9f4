//! Finds the operand pairs of the places of a mask, column by column. The first pass counts the
//! hits of each place, and the second pass writes them. Kernels: `cl/product/masked/pairs.cl`.
use super::{
    bands::MaskBand,
    columns::{ColumnAnalyser, ColumnTuning, InShares, Steps, places_of_rows},
    long_runs::LongRuns,
};
use crate::{
    OperandPair, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Work, arguments, kernel},
    primitives::scan::Scan,
    product::{
        esc::Tally,
        terms::{Factors, FoundRuns, PayloadKind, Spec},
        tuning::Tuning,
    },
    resident::{InPattern, PatternArrays},
};

arguments! {
    /// The steps of columns, the ranges taken, and the arrays of all work-groups.
    struct InRoom {
        steps: In<u64>,
        record: In<u64>,
        taken: InOut<u32>,
        words: InOut<u64>,
        next: InOut<u32>,
        list: InOut<u32>,
    }
}

kernel! {
    in "product/terms/payload.cl", "product/masked/hits.cl", "product/masked/pairs.cl":
    struct ColumnHits = "column_hits" {
        a: InPattern,
        b: InPattern,
        mask: InPattern,
        room: InRoom<'static>,
        hit_ptr: Out<u64>,
        shares: InShares<'static>,
        places: u32,
    }
    struct WritePairs = "column_pairs" {
        a: InPattern,
        a_operand: In<u32>,
        b: InPattern,
        b_operand: In<u32>,
        mask: InPattern,
        room: InRoom<'static>,
        hit_ptr: In<u64>,
        payload: Out<OperandPair>,
        run_end: Out<u32>,
        shares: InShares<'static>,
        first_place: u32,
        places: u32,
    }
}

/// The kernels that find operand pairs by columns.
pub(super) struct ColumnPairs {
    analyser: ColumnAnalyser,
    hits: Kernel<ColumnHits<'static>>,
    pairs: Kernel<WritePairs<'static>>,
    scan: Scan<u64>,
    runs: LongRuns,
    tuning: ColumnTuning,
}

/// A product on a mask whose hits are counted.
pub(super) struct CountedColumns<'a> {
    factors: Factors<'a>,
    mask: &'a PatternArrays,
    steps: Steps,
    room: Room,
    /// Number of hits before each place; the last element is the number of all hits.
    pub hit_ptr: Buffer<u64>,
}

/// The arrays of all work-groups.
struct Room {
    groups: usize,
    places: usize,
    words: Buffer<u64>,
    next: Buffer<u32>,
    list: Buffer<u32>,
}

impl Room {
    fn new(work: &Work, groups: usize, places: usize) -> Result<Self> {
        let all = groups * places;
        Ok(Self { groups, places, words: work.buffer(all / 64)?, next: work.buffer(all)?, list: work.buffer(all)? })
    }

    /// Bytes of the arrays of one group.
    fn bytes(places: usize) -> u64 {
        (places / 8 + 2 * places * size_of::<u32>()) as u64
    }
}

impl<'a> InRoom<'a> {
    fn of(steps: &'a Steps, taken: &'a mut Buffer<u32>, room: &'a mut Room) -> Self {
        let Room { words, next, list, .. } = room;
        Self { steps: &steps.of_columns, record: &steps.record, taken, words, next, list }
    }
}

impl ColumnPairs {
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning, columns: ColumnTuning) -> Result<Self> {
        let options = PayloadKind::Pairs.define(columns.options(), spec);
        Ok(Self {
            analyser: ColumnAnalyser::new(device, &columns)?,
            hits: Kernel::new(device, &options)?,
            pairs: Kernel::new(device, &options)?,
            scan: Scan::new(device, tuning.scan)?,
            runs: LongRuns::new(device, tuning)?,
            tuning: columns,
        })
    }

    /// Counts the hits of A·B. Returns `None` if counting by columns is expected to take longer
    /// than a product from the places of the mask, or if there is no memory. The host reads once
    /// from the device.
    pub fn count<'a>(
        &self,
        work: &Work,
        factors: Factors<'a>,
        mask: &'a PatternArrays,
    ) -> Result<Option<CountedColumns<'a>>> {
        let (tuning, places) = (&self.tuning, places_of_rows(factors.a.nrows));
        let steps = self.analyser.run(work, factors.a, factors.b, mask)?;
        let groups = tuning.groups(Room::bytes(places), work.free_bytes());
        if groups == 0 || tuning.steps_from_places(factors.a, factors.b, mask.nnz()) < steps.all {
            return Ok(None);
        }
        work.stage("expansion");
        let mut room = Room::new(work, groups, places)?;
        let mut hit_ptr = work.buffer(mask.nnz() + 1)?;
        let mut taken = work.upload(&[0])?;
        let args = ColumnHits {
            a: factors.a,
            b: factors.b,
            mask,
            room: InRoom::of(&steps, &mut taken, &mut room),
            hit_ptr: &mut hit_ptr,
            shares: tuning.shares(&steps, places, mask),
            places: mask.nnz() as u32,
        };
        self.hits.launch(work, Grid::groups(groups, 1), args)?;
        self.scan.run(work, &mut hit_ptr)?;
        Ok(Some(CountedColumns { factors, mask, steps, room, hit_ptr }))
    }

    /// Finds the runs of the places of a band, whose `probes` are hits. The host reads once from
    /// the device.
    pub fn place(&self, work: &Work, counted: &mut CountedColumns<'_>, band: MaskBand) -> Result<FoundRuns> {
        work.stage("expansion");
        let CountedColumns { factors, mask, steps, room, hit_ptr } = counted;
        let (mut payload, mut run_end) =
            (work.buffer::<OperandPair>(band.probes as usize)?, work.buffer(band.places as usize)?);
        let (grid, shares) = (Grid::groups(room.groups, 1), self.tuning.shares(steps, room.places, mask));
        let mut taken = work.upload(&[0])?;
        let args = WritePairs {
            a: factors.a,
            a_operand: factors.a_operand.typed(),
            b: factors.b,
            b_operand: factors.b_operand.typed(),
            mask,
            room: InRoom::of(steps, &mut taken, room),
            hit_ptr,
            payload: &mut payload,
            run_end: &mut run_end,
            shares,
            first_place: band.first,
            places: band.places,
        };
        self.pairs.launch(work, grid, args)?;
        let record = self.runs.count(work, &run_end)?;
        let Tally { longest, pieces, parts, .. } = Tally::read(work, &record, 0, band.probes.into())?;
        let pieces = self.runs.pieces(work, &run_end, record, pieces)?;
        Ok(FoundRuns { run_end, pieces, parts, payload: payload.into_any(), longest })
    }
}
