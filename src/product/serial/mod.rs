//! A method for tests of the seam between methods: an item for each column, which it computes by
//! looking through its products again and again. Kernels: `cl/product/serial/serial.cl`.
use super::{
    analysis::BandSegments,
    method::{Algorithm, Columns, Method, PlacedColumns, Record, Tally},
    problem::{Part, Payload, Spec},
    runs::{CPattern, FoundColumns, FoundRuns},
    tuning::Tuning,
};
use crate::{
    Element, Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    element::Piece,
    primitives::{scan::Scan, segmented_reduce::RUN_PIECE},
    resident::InPattern,
};
use std::marker::PhantomData;

/// The method takes columns with fewer products, so that others are left for another method.
pub(super) const MOST_PRODUCTS: u64 = 20;

kernel! {
    struct SerialCount = "serial_count" in "product/payload.cl", "product/serial/serial.cl" {
        a: InPattern,
        b: InPattern,
        b_prods: In<u64>,
        c_col_ptr: Out<u32>,
        record: InOut<u32>,
        first_col: u32,
        cols: u32,
    }
}

kernel! {
    struct SerialPlace<O: Word, W: Word> = "serial_place" in "product/payload.cl", "product/serial/serial.cl" {
        a: InPattern,
        a_operand: In<O>,
        b: InPattern,
        b_operand: In<O>,
        b_prods: In<u64>,
        segment_ptr: In<u32>,
        c_col_ptr: In<u32>,
        record: InOut<u32>,
        c_row_idx: Out<u32>,
        payload: Out<W>,
        run_end: Out<u32>,
        piece: Out<Piece>,
        first_col: u32,
        cols: u32,
    }
}

/// The method, compiled.
pub(super) struct Serial<T: Element, P: Payload<T>> {
    count: Kernel<SerialCount<'static>>,
    place: Kernel<SerialPlace<'static, P::Operand, P::Word>>,
    scan: Scan<u32>,
    element: PhantomData<fn(T)>,
}

/// Columns whose runs are counted.
pub(super) struct Counted {
    segments: BandSegments,
    col_ptr: Buffer<u32>,
    record: Buffer<u32>,
}

impl<T: Element, P: Payload<T>> Algorithm<T, P> for Serial<T, P> {
    const METHOD: Method = Method::Serial;
    type Task<'t> = Columns<'t, P::Operand>;
    type Counted = Counted;
    type Placed = PlacedColumns<P::Word>;

    fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let options = P::define(Options::group_size(1), spec)
            .define("FROM_END", u8::from(spec.part == Part::Lower))
            .define("LONG_RUN", tuning.long_run())
            .define("RUN_PIECE", RUN_PIECE);
        Ok(Self {
            count: Kernel::new(device, &options)?,
            place: Kernel::new(device, &options)?,
            scan: Scan::new(device, tuning.scan)?,
            element: PhantomData,
        })
    }

    fn count(&self, work: &Work, task: &mut Columns<'_, P::Operand>) -> Result<Counted> {
        let segments = task.segments(work)?;
        let cols = task.band.columns.len();
        let (mut col_ptr, mut record) = (work.buffer(cols + 1)?, work.buffer(Tally::WORDS + 2)?);
        work.fill_zero(&mut record)?;
        let args = SerialCount {
            a: task.factors.a,
            b: task.factors.b,
            b_prods: &task.analysis.prods,
            c_col_ptr: &mut col_ptr,
            record: &mut record,
            first_col: task.band.columns.start,
            cols: cols as u32,
        };
        self.count.launch(work, Grid::items(cols + 1, 1), args)?;
        self.scan.run(work, &mut col_ptr)?;
        Ok(Counted { segments, col_ptr, record })
    }

    fn record<'c>(&self, counted: &'c Counted) -> Record<'c> {
        Record { words: &counted.record, start: 0 }
    }

    fn place(
        &self,
        work: &Work,
        task: &Columns<'_, P::Operand>,
        counted: Counted,
        tally: Tally,
    ) -> Result<PlacedColumns<P::Word>> {
        let Counted { segments, col_ptr, mut record } = counted;
        let Tally { count: nnz, longest, pieces, parts } = tally;
        let products = task.band.sizes.products as usize;
        let (mut row_idx, mut run_end) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let (mut payload, mut piece) = (work.buffer(products)?, work.buffer(pieces)?);
        let cols = task.band.columns.len();
        let args = SerialPlace {
            a: task.factors.a,
            a_operand: task.factors.a_operand,
            b: task.factors.b,
            b_operand: task.factors.b_operand,
            b_prods: &task.analysis.prods,
            segment_ptr: &segments.ptr,
            c_col_ptr: &col_ptr,
            record: &mut record,
            c_row_idx: &mut row_idx,
            payload: &mut payload,
            run_end: &mut run_end,
            piece: &mut piece,
            first_col: task.band.columns.start,
            cols: cols as u32,
        };
        self.place.launch(work, Grid::items(cols, 1), args)?;
        let pattern = CPattern { col_ptr, row_idx };
        let runs = FoundRuns { run_end, pieces: piece, parts, payload, longest };
        Ok((FoundColumns { pattern, runs }, segments))
    }
}

mod tests;
