//! The lines that are too long for one work-group or slot, in pieces.
use super::{CountPieces, Index, Kernels, PlacePieces};
use crate::{
    Result,
    device::{Buffer, Grid, Work, at_most},
    element::Piece,
};

/// The lines that are in pieces.
pub(crate) struct LongLines {
    /// The pieces of lines.
    pub pieces: Buffer<Piece>,
    /// The lines of more than one piece, as in [`Shares`](super::Shares).
    pub cuts: Buffer<Piece>,
    /// Number of pieces of those lines.
    pub parts: usize,
    /// Entries of all lines that are in pieces.
    pub entries: usize,
}

impl LongLines {
    pub fn none(work: &Work) -> Result<Self> {
        Ok(Self { pieces: work.buffer(0)?, cuts: work.buffer(0)?, parts: 0, entries: 0 })
    }

    /// Number of lines that are in pieces.
    pub fn len(&self) -> usize {
        self.pieces.len() - self.parts + self.cuts.len()
    }

    /// The lines of an index of more than `most` entries, which is not 0. Reads back the number of
    /// pieces, unless it is known that no line is so long.
    pub fn new(work: &Work, index: &Index, most: usize) -> Result<Self> {
        if index.longest().is_some_and(|longest| longest <= most) {
            return Self::none(work);
        }
        let pattern = index.pattern();
        let kernels = Kernels::new(work.device())?;
        kernels.count.ask(work.device());
        kernels.place.ask(work.device());
        Self::by(kernels, work, &pattern.col_ptr, [pattern.ncols, pattern.nnz()], most, 0)
    }

    /// The pieces of lines of more than `longest` entries; see [`Shares::new`](super::Shares::new).
    pub(super) fn by(
        Kernels { count, place, group_size, .. }: Kernels,
        work: &Work,
        line_ptr: &Buffer<u32>,
        [lines, nnz]: [usize; 2],
        longest: usize,
        before: usize,
    ) -> Result<Self> {
        let (grid, longest, before) = (Grid::items(lines, group_size), longest as u32, before as u32);
        let (places, lines) = ((nnz + lines) as u64, lines as u32);

        let mut counts = work.buffer(4)?;
        work.fill_zero(&mut counts)?;
        count.launch(work, grid, CountPieces { line_ptr, counts: &mut counts, lines, longest, before })?;
        let found = counts.download(work)?;
        // Every piece has an entry, except that of an empty line.
        for (what, count) in ["pieces of lines", "parts of lines", "lines that are cut"].into_iter().zip(&found) {
            at_most(what, (*count).into(), places)?;
        }
        let [pieces, parts, cuts, entries] = [found[0], found[1], found[2], found[3]].map(|count| count as usize);
        let (mut pieces, mut cuts) = (work.buffer(pieces)?, work.buffer(cuts)?);
        if pieces.len() > 0 {
            let (counts, piece, cut) = (&mut counts, &mut pieces, &mut cuts);
            place.launch(work, grid, PlacePieces { line_ptr, counts, piece, cut, lines, longest, before })?;
        }
        Ok(Self { pieces, cuts, parts, entries })
    }
}
