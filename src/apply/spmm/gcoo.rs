//! Grouped coordinates (GCOO): groups of lines. The entries of a group are sorted by their place,
//! which is the number of the row of D that they multiply. So entries that multiply the same row of
//! D are consecutive (S. Shi, Q. Wang, X. Chu: *Efficient Sparse-Dense Matrix-Matrix Multiplication
//! on GPUs Using the Customized Sparse Storage Format*, 2020, section III). Kernels:
//! `cl/apply/spmm/gcoo.cl`.
//!
//! Each line of a group is a sorted list. The position of an entry in its group is therefore the
//! number of entries that come before it in each of the lines. On a GPU a work-item finds the
//! position of one entry by binary searches. On a CPU a work-item finds the positions of several
//! entries, advancing from one to the next. So all work-items take about the same time, whatever
//! the lengths of the lines are. The entries of a line that is too long for a group keep their
//! order, after the other entries of the group. In a matrix of blocks, entries and lines mean
//! blocks and lines of blocks.
use super::{DenseNumbers, groups::GroupArrays};
use crate::{
    Result,
    device::{Buffer, Grid, In, InOut, Kernel, Maybe, Options, Out, Work, kernel},
    element::Piece,
    vector::lines::{Index, LongLines},
};

kernel! {
    in "apply/spmm/gcoo.cl":
    struct PlaceEntries = "place_entries" {
        line_ptr: In<u32>,
        other: In<u32>,
        source: Maybe<u32>,
        group_len: Out<u32>,
        g_other: Out<u32>,
        g_line: Out<u8>,
        g_source: Out<u32>,
        distinct: InOut<u32>,
        lines: u32,
        groups: u32,
        nnz: u32,
    }
    struct MovePieces = "move_pieces" {
        line_ptr: In<u32>,
        piece: In<Piece>,
        moved: Out<Piece>,
        lines: u32,
        pieces: u32,
    }
}

/// The entries of a pattern in the order of groups.
pub(super) struct Gcoo {
    pub group_lines: usize,
    /// Number of entries of each group without its long lines. A group begins where its first line
    /// begins; the entries of its long lines come last.
    pub group_len: Buffer<u32>,
    /// Each entry's place, which is the number of the row of D that it multiplies.
    pub other: Buffer<u32>,
    /// Each entry's line in the group. The highest bit is set if the entry before this one in the
    /// group has the same place.
    pub line: Buffer<u8>,
    /// The index of each entry in A's values.
    pub source: Buffer<u32>,
    pub long: LongLines,
    /// Number of rows of D that all groups load: the different places in each group, added up.
    pub loads: u32,
    /// Number of entries that use the loaded rows.
    pub merged: u32,
}

impl Gcoo {
    /// Divides the lines of an index into groups of `group_lines` lines. The entries of a line with
    /// more than `longest` entries keep their order. Reads the number of different places back.
    pub fn new(work: &Work, index: &Index, group_lines: usize, longest: usize) -> Result<Self> {
        let DenseNumbers { dense_placed: items, .. } = work.device().info().numbers();
        Self::placed(work, index, (group_lines, longest), items)
    }

    /// Does what [`Gcoo::new`] does, with work-items of `items` entries each.
    fn placed(work: &Work, index: &Index, (group_lines, longest): (usize, usize), items: usize) -> Result<Self> {
        let (device, pattern) = (work.device(), index.pattern());
        let (nnz, lines) = (pattern.nnz(), pattern.ncols);
        let groups = lines.div_ceil(group_lines);
        let (line_ptr, other, source) = (&pattern.col_ptr, &pattern.row_idx, index.source());
        let group_size = device.info().elementwise_group();
        let through = matches!(index, Index::Rows(_));
        let options = Options::group_size(group_size)
            .define("LINES", group_lines)
            .define("LONG", format!("{longest}u"))
            .define("THROUGH", u8::from(through))
            .define("ITEMS", items);
        let place: Kernel<PlaceEntries<'_>> = Kernel::new(device, &options)?;
        let mut group_len = work.buffer(groups)?;
        let (mut g_other, mut g_line, mut g_source) = (work.buffer(nnz)?, work.buffer(nnz)?, work.buffer(nnz)?);
        let mut distinct = work.buffer(1)?;
        work.fill_zero(&mut distinct)?;
        let args = PlaceEntries {
            line_ptr,
            other,
            source,
            group_len: &mut group_len,
            g_other: &mut g_other,
            g_line: &mut g_line,
            g_source: &mut g_source,
            distinct: &mut distinct,
            lines: lines as u32,
            groups: groups as u32,
            nnz: nnz as u32,
        };
        place.launch(work, Grid::items(groups.max(nnz.div_ceil(items)), group_size), args)?;

        let long = if nnz > longest { LongLines::new(work, index, longest)? } else { LongLines::none(work)? };
        let LongLines { pieces, cuts, parts, entries } = long;
        let mut moved = work.buffer(pieces.len())?;
        if pieces.len() > 0 {
            let move_pieces: Kernel<MovePieces<'_>> = Kernel::new(device, &options)?;
            let (count, lines) = (pieces.len(), lines as u32);
            let args = MovePieces { line_ptr, piece: &pieces, moved: &mut moved, lines, pieces: count as u32 };
            move_pieces.launch(work, Grid::items(count, group_size), args)?;
        }
        let loads = distinct.download(work)?[0];
        let merged = match pieces.len() {
            0 => nnz as u32,
            _ => group_len.download(work)?.iter().sum(),
        };
        let (other, line, source) = (g_other, g_line, g_source);
        let long = LongLines { pieces: moved, cuts, parts, entries };
        Ok(Self { group_lines, group_len, other, line, source, long, loads, merged })
    }

    /// Moves the pieces of long lines to the caller, which computes their sums.
    pub fn take_long(&mut self, work: &Work) -> Result<LongLines> {
        Ok(std::mem::replace(&mut self.long, LongLines::none(work)?))
    }

    /// The arrays that kernels read.
    pub fn arrays<'a>(&'a self, line_ptr: &'a Buffer<u32>) -> GroupArrays<'a> {
        let Self { group_len, other, line, source, .. } = self;
        GroupArrays { line_ptr, group_len, other, line, source }
    }

    /// Bytes of device memory held, without long lines.
    pub fn bytes(&self) -> u64 {
        self.group_len.bytes() + self.other.bytes() + self.line.bytes() + self.source.bytes()
    }

    /// Number of entries for every 100 rows of D that groups load.
    pub fn reuse_percent(&self) -> u64 {
        100 * u64::from(self.merged) / u64::from(self.loads.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Matrix, Pattern, device::test_device, primitives::segmented_reduce::RUN_PIECE, resident::PatternArrays,
    };
    use std::sync::Arc;

    /// Returns for each entry of a group its place, its line in the group, whether its place is
    /// new, and its index. The entries of long lines come last.
    fn model(pattern: &Pattern, group_lines: usize, source: impl Fn(usize) -> u32) -> Vec<(u32, u8, bool, u32)> {
        let mut all = Vec::new();
        for first in (0..pattern.ncols()).step_by(group_lines) {
            let lines = first..(first + group_lines).min(pattern.ncols());
            let entries = |line: usize| pattern.entries(line).map(move |entry| (pattern.row_idx()[entry], line, entry));
            let is_long = |line: &usize| pattern.entries(*line).len() > RUN_PIECE;
            let mut merged: Vec<_> = lines.clone().filter(|line| !is_long(line)).flat_map(entries).collect();
            merged.sort_unstable();
            let ends = merged.len();
            merged.extend(lines.filter(is_long).flat_map(entries));
            all.extend(merged.iter().enumerate().map(|(at, &(other, line, entry))| {
                let new = at >= ends || at == 0 || merged[at - 1].0 != other;
                (other, (line - first) as u8, new, source(entry))
            }));
        }
        all
    }

    #[test]
    fn small_groups_have_their_entries_in_order() -> Result<()> {
        let work = Work::new(&test_device(), None);
        for (rows, cols, long) in
            [(0, 3, vec![]), (7, 0, vec![]), (23, 9, vec![]), (11, 1200, vec![(4, 1030), (5, 1100)])]
        {
            let a = super::super::tests::matrix::<f32>(rows, cols.max(1), crate::BlockShape::SCALAR, &long)?;
            let host = a.as_cbc().pattern;
            let arrays: Arc<PatternArrays> = PatternArrays::upload(&work, host)?;
            // A work-item has one entry on a GPU, and several of one line or of many lines on a
            // CPU.
            let cases = [(false, 1, 64), (false, 4, 1), (true, 4, 64), (true, 3, 1), (true, 3, 5), (true, 32, 64)];
            for (of_rows, group_lines, items) in cases {
                let index = Index::new(&work, &arrays, of_rows)?;
                let found = Gcoo::placed(&work, &index, (group_lines, RUN_PIECE), items)?;
                let want = match of_rows {
                    false => model(host, group_lines, |entry| entry as u32),
                    true => {
                        let (transposed, source) = host.transpose();
                        model(&transposed, group_lines, |entry| source[entry] as u32)
                    }
                };
                let line = found.line.download(&work)?;
                let entries: Vec<_> = (found.other.download(&work)?.into_iter())
                    .zip(&line)
                    .zip(found.source.download(&work)?)
                    .map(|((other, line), source)| (other, line & 0x7f, line & 0x80 == 0, source))
                    .collect();
                assert_eq!(entries, want, "{rows}x{cols}, groups of {group_lines}");
                let of_long: u32 = found.long.pieces.download(&work)?.iter().map(|piece| piece.end - piece.begin).sum();
                assert_eq!(found.merged as usize + of_long as usize, want.len());
                let new = want.iter().filter(|(_, _, new, _)| *new).count();
                assert_eq!(found.loads, new as u32 - of_long);
            }
        }
        Ok(())
    }
}
