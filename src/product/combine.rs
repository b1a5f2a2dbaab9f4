//! Combination of the columns of C that several methods computed into one band. Kernels:
//! `cl/product/combine.cl`.
use super::{
    analysis::BandSegments,
    runs::{CPattern, FoundColumns, FoundRuns},
};
use crate::{
    Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Work, kernel},
    element::Piece,
    primitives::scan::{Scan, ScanTuning},
};

kernel! {
    struct ColumnLengths = "column_lengths" in "product/combine.cl" {
        columns: In<u32>,
        part_ptr: In<u32>,
        c_col_ptr: InOut<u32>,
        listed: u32,
    }
}

kernel! {
    struct MoveRuns = "move_runs" in "product/combine.cl" {
        columns: In<u32>,
        part_ptr: In<u32>,
        part_segment: In<u32>,
        segment_ptr: In<u32>,
        c_col_ptr: In<u32>,
        part_row: In<u32>,
        part_end: In<u32>,
        c_row_idx: InOut<u32>,
        run_end: InOut<u32>,
        listed: u32,
        part_nnz: u32,
    }
}

kernel! {
    struct MoveProducts<W: Word> = "move_products" in "product/combine.cl" {
        columns: In<u32>,
        part_segment: In<u32>,
        segment_ptr: In<u32>,
        part_payload: In<W>,
        payload: InOut<W>,
        listed: u32,
        part_products: u32,
    }
}

kernel! {
    struct MovePieces = "move_pieces" in "product/combine.cl" {
        columns: In<u32>,
        part_ptr: In<u32>,
        part_segment: In<u32>,
        segment_ptr: In<u32>,
        c_col_ptr: In<u32>,
        part_piece: In<Piece>,
        piece: InOut<Piece>,
        listed: u32,
        pieces: u32,
        first_piece: u32,
        first_part: u32,
    }
}

/// The kernels that combine columns.
pub(super) struct Combine<W: Word> {
    lengths: Kernel<ColumnLengths<'static>>,
    runs: Kernel<MoveRuns<'static>>,
    products: Kernel<MoveProducts<'static, W>>,
    pieces: Kernel<MovePieces<'static>>,
    scan: Scan<u32>,
    group_size: usize,
}

/// Columns that one method computed.
pub(super) struct MadeColumns<W> {
    /// The numbers of the columns, ascending, counted from the band's first.
    pub columns: Buffer<u32>,
    pub found: FoundColumns<W>,
    pub segments: BandSegments,
}

impl<W: Word> Combine<W> {
    pub fn new(device: &Device, group_size: usize, scan: ScanTuning) -> Result<Self> {
        let options = Options::group_size(group_size).word::<W>("PAYLOAD");
        Ok(Self {
            lengths: Kernel::new(device, &options)?,
            runs: Kernel::new(device, &options)?,
            products: Kernel::new(device, &options)?,
            pieces: Kernel::rare(device, &options)?,
            scan: Scan::new(device, scan)?,
            group_size,
        })
    }

    /// The runs of the band whose columns have the products of `segments`. Every column is in
    /// exactly one element of `made`.
    pub fn run(&self, work: &Work, segments: &BandSegments, made: Vec<MadeColumns<W>>) -> Result<FoundColumns<W>> {
        work.stage("gather");
        let cols = segments.ptr.len() - 1;
        let grid = |items: usize| Grid::items(items, self.group_size);
        let sum = |of: fn(&FoundRuns<W>) -> usize| made.iter().map(|part| of(&part.found.runs)).sum::<usize>();
        let (nnz, products) = (sum(|found| found.run_end.len()), sum(|found| found.payload.len()));
        let (mut pieces, parts) = (work.buffer(sum(|found| found.pieces.len()))?, sum(|found| found.parts));
        let longest = made.iter().map(|part| part.found.runs.longest).max().unwrap_or(0);

        let mut col_ptr = work.buffer(cols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        for MadeColumns { columns, found, .. } in &made {
            let (part_ptr, listed) = (&found.pattern.col_ptr, columns.len() as u32);
            let args = ColumnLengths { columns, part_ptr, c_col_ptr: &mut col_ptr, listed };
            self.lengths.launch(work, grid(columns.len()), args)?;
        }
        self.scan.run(work, &mut col_ptr)?;

        let (mut row_idx, mut run_end) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let mut payload = work.buffer(products)?;
        let (mut first_piece, mut first_part) = (0, 0);
        for MadeColumns { columns, found: FoundColumns { pattern, runs }, segments: of_part } in made {
            let (columns, listed) = (&columns, columns.len() as u32);
            let (part_ptr, part_segment, segment_ptr) = (&pattern.col_ptr, &of_part.ptr, &segments.ptr);
            let args = MoveRuns {
                columns,
                part_ptr,
                part_segment,
                segment_ptr,
                c_col_ptr: &col_ptr,
                part_row: &pattern.row_idx,
                part_end: &runs.run_end,
                c_row_idx: &mut row_idx,
                run_end: &mut run_end,
                listed,
                part_nnz: runs.run_end.len() as u32,
            };
            self.runs.launch(work, grid(runs.run_end.len()), args)?;
            let args = MoveProducts {
                columns,
                part_segment,
                segment_ptr,
                part_payload: &runs.payload,
                payload: &mut payload,
                listed,
                part_products: runs.payload.len() as u32,
            };
            self.products.launch(work, grid(runs.payload.len()), args)?;
            let args = MovePieces {
                columns,
                part_ptr,
                part_segment,
                segment_ptr,
                c_col_ptr: &col_ptr,
                part_piece: &runs.pieces,
                piece: &mut pieces,
                listed,
                pieces: runs.pieces.len() as u32,
                first_piece,
                first_part,
            };
            self.pieces.launch(work, grid(runs.pieces.len()), args)?;
            first_piece += runs.pieces.len() as u32;
            first_part += runs.parts as u32;
        }
        let runs = FoundRuns { run_end, pieces, parts, payload, longest };
        Ok(FoundColumns { pattern: CPattern { col_ptr, row_idx }, runs })
    }
}
