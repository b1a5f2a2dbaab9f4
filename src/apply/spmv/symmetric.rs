//! The rows of a symmetric matrix of which one triangle is stored: the pattern of the whole matrix,
//! and for each of its entries the index of its value in the triangle. Kernels:
//! `cl/apply/spmv/symmetric.cl`.
//!
//! Every format is made from the whole pattern, so its sums have the same bits as if the matrix
//! were stored whole.
use super::{Block, Request, RowNumbers, Rows};
use crate::{
    BlockShape, Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, at_most, kernel},
    primitives::{
        scan::{Scan, ScanTuning},
        transpose::{Transpose, Transposed},
    },
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    in "apply/spmv/symmetric.cl":
    struct CountWhole = "count_whole" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        row_ptr: In<u32>,
        record: InOut<u32>,
        whole_ptr: InOut<u32>,
        lines: u32,
    }
    struct PlaceWhole = "place_whole" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        row_ptr: In<u32>,
        col_idx: In<u32>,
        source: In<u32>,
        whole_ptr: In<u32>,
        whole_idx: Out<u32>,
        whole_source: Out<u32>,
        lines: u32,
        lower: u32,
        of_rows: u32,
    }
}

/// Makes the rows of the whole matrix, or its columns. Reads back 16 bytes.
pub(super) fn whole(
    work: &Work,
    arrays: &Arc<PatternArrays>,
    shape: BlockShape,
    of_rows: bool,
    Request { elements, packed, semiring, .. }: Request,
) -> Result<Rows> {
    let (rows, lines, device) = (arrays.nrows, arrays.ncols, work.device());
    let is_scalar = shape == BlockShape::SCALAR;
    if rows != lines || shape.rows() != shape.cols() {
        let blocks = if is_scalar { String::new() } else { format!(" blocks of {shape}") };
        return Err(Error::Argument(format!("A is {rows} x {lines}{blocks}, a symmetric matrix is square")));
    }
    if !is_scalar {
        // The highest bit of an index says whether the block is transposed.
        at_most("blocks of a symmetric matrix", arrays.nnz() as u64, i32::MAX as u64)?;
    }
    let group_size = device.info().elementwise_group();
    let options = Options::group_size(group_size).define("BLOCKS", u8::from(!is_scalar));
    let count: Kernel<CountWhole<'_>> = Kernel::new(device, &options)?;
    let place: Kernel<PlaceWhole<'_>> = Kernel::new(device, &options)?;
    let scan = Scan::new(device, ScanTuning::new(device.info()))?;
    let Transposed { pattern: by_rows, source, .. } = Transpose::new(device)?.run(work, arrays)?;

    let (col_ptr, row_idx, row_ptr, of_lines) = (&arrays.col_ptr, &arrays.row_idx, &by_rows.col_ptr, lines as u32);
    let (mut record, mut whole_ptr) = (work.buffer(4)?, work.buffer(lines + 1)?);
    work.fill_zero(&mut record)?;
    let counts = (&mut record, &mut whole_ptr);
    let args = CountWhole { col_ptr, row_idx, row_ptr, record: counts.0, whole_ptr: counts.1, lines: of_lines };
    count.launch(work, Grid::items(lines + 1, group_size), args)?;
    let found = record.download(work)?;
    if found[0] > 0 && found[1] > 0 {
        return Err(Error::Argument(
            "A has entries below its diagonal and above it: one triangle of a symmetric matrix is expected".into(),
        ));
    }
    at_most("entries on the diagonal", found[2].into(), lines as u64)?;
    let longest = Some(u64::from(found[3]));
    let entries = 2 * arrays.nnz() as u64 - u64::from(found[2]);
    at_most("entries of the whole symmetric matrix", entries, PatternArrays::MAX_NNZ)?;
    scan.run(work, &mut whole_ptr)?;
    let (mut whole_idx, mut whole_source) = (work.buffer(entries as usize)?, work.buffer(entries as usize)?);
    let args = PlaceWhole {
        col_ptr,
        row_idx,
        row_ptr,
        col_idx: &by_rows.row_idx,
        source: &source,
        whole_ptr: &whole_ptr,
        whole_idx: &mut whole_idx,
        whole_source: &mut whole_source,
        lines: of_lines,
        lower: u32::from(found[1] == 0),
        of_rows: of_rows.into(),
    };
    place.launch(work, Grid::items(lines, group_size), args)?;
    let pattern = PatternArrays::new(device, lines, lines, whole_ptr, whole_idx);
    let source: Buffer<u32> = whole_source;
    let RowNumbers { row_ahead: ahead, .. } = device.info().numbers();
    Ok(Rows { pattern, source: Some(source), packed, elements, semiring, block: Block::flagged(shape), ahead, longest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pattern, Semiring,
        apply::spmv::{Elements, Format, Split},
        device::test_device,
        element::ElementType,
    };

    const MIRRORED: u32 = 1 << 31;

    /// The expected whole matrix: where each line begins, and for each entry its other index and
    /// its index in the triangle. For blocks, the highest bit says whether the line is a row of the
    /// stored block.
    fn model(triangle: &Pattern, is_scalar: bool, of_rows: bool) -> [Vec<u32>; 3] {
        let flag = |mirrored: bool| if mirrored && !is_scalar { MIRRORED } else { 0 };
        let mut whole = Vec::new();
        for col in 0..triangle.ncols() {
            for entry in triangle.entries(col) {
                let (row, col, number) = (triangle.row_idx()[entry], col as u32, entry as u32);
                if row != col {
                    whole.push((col, row, number));
                }
                whole.push((row, col, number | flag(row != col || of_rows)));
            }
        }
        whole.sort_unstable();
        let begin = |line: usize| whole.iter().filter(|entry| (entry.0 as usize) < line).count() as u32;
        let ptr = (0..=triangle.ncols()).map(begin).collect();
        [ptr, whole.iter().map(|entry| entry.1).collect(), whole.iter().map(|entry| entry.2).collect()]
    }

    #[test]
    fn small_triangles_become_the_whole() -> Result<()> {
        let work = Work::new(&test_device(), None);
        // No line, one line, fewer lines than a group has items, and more lines. Each of the 150
        // lines has 0 to 8 entries, and line 5 has most.
        for n in [0, 1, 9, 150] {
            let others = |line: usize| (0..line).filter(move |other| (line * 7 + other * 13) % 31 < 2 || *other == 5);
            let lower: Vec<Vec<u32>> = (0..n)
                .map(|col| {
                    let diagonal = (col % 3 != 1).then_some(col as u32);
                    let below = (col + 1..n).filter(|&row| others(row).any(|other| other == col));
                    diagonal.into_iter().chain(below.map(|row| row as u32)).collect()
                })
                .collect();
            let upper: Vec<Vec<u32>> = (0..n)
                .map(|col| (0..=col as u32).filter(|&row| lower[row as usize].contains(&(col as u32))).collect())
                .collect();
            let diagonal: Vec<Vec<u32>> = (0..n as u32).map(|col| vec![col]).collect();
            for columns in [lower, upper, diagonal] {
                let ptr = std::iter::once(0).chain(columns.iter().scan(0, |end, rows| {
                    *end += rows.len() as u64;
                    Some(*end)
                }));
                let triangle = Pattern::new(n, n, ptr.collect(), columns.concat())?;
                let arrays = PatternArrays::upload(&work, &triangle)?;
                for (side, of_rows) in [(1, false), (2, false), (2, true)] {
                    let request = Request {
                        elements: Elements::both(ElementType::F32),
                        format: Format::Csr,
                        semiring: Semiring::PlusTimes,
                        any_order: false,
                        split: Split::Bytes,
                        uses: 1,
                        packed: false,
                        symmetric: true,
                    };
                    let rows = whole(&work, &arrays, BlockShape::new(side, side)?, of_rows, request)?;
                    let [ptr, others, numbers] = model(&triangle, side == 1, of_rows);
                    let longest = ptr.windows(2).map(|of| of[1] - of[0]).max().unwrap_or(0);
                    assert_eq!(rows.longest, Some(longest.into()));
                    assert_eq!(rows.pattern.col_ptr.download(&work)?, ptr);
                    assert_eq!(rows.pattern.row_idx.download(&work)?, others, "{n} lines, {side}, of rows {of_rows}");
                    let source: Vec<u32> = rows.source.expect("numbers of values").download(&work)?;
                    assert_eq!(source, numbers, "{n} lines, {side}, of rows {of_rows}");
                }
            }
        }
        Ok(())
    }
}
