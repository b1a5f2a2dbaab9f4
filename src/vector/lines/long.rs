//! Lines that are too long for one work-group or slot, cut in pieces.
use super::{CountPieces, Index, Kernels, Limits, PlacePieces, group_size};
use crate::{
    Result,
    device::{Buffer, Grid, Work, at_most},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    resident::PatternArrays,
};

/// The lines that are cut in pieces.
pub(crate) struct LongLines {
    /// The pieces of lines.
    pub pieces: Buffer<Piece>,
    /// The lines of more than one piece; see [`Shares`](super::Shares).
    pub cuts: Buffer<Piece>,
    /// Number of pieces of the lines in `cuts`.
    pub parts: usize,
    /// Number of entries of all lines that are in pieces.
    pub entries: usize,
}

/// The pieces of long lines, if the host does not know their number.
pub(crate) struct Uncounted {
    /// The pieces. The buffer is large enough for all pieces that there can be.
    pub pieces: Buffer<Piece>,
    /// The number of pieces, followed by other counts.
    pub counts: Buffer<u32>,
    /// Upper bound of the number of pieces that belong to lines of several pieces.
    pub parts: usize,
}

impl Uncounted {
    /// Cuts the columns of `pattern` that have more than `longest` entries. Reads nothing back.
    pub fn new(work: &Work, pattern: &PatternArrays, longest: usize) -> Result<Self> {
        let Kernels { count, place, .. } = Kernels::of(work.device())?;
        count.ask(work.device());
        place.ask(work.device());
        let (lines, nnz) = (pattern.ncols, pattern.nnz());
        // A line has a piece for each RUN_PIECE entries, and one for the remaining entries.
        let (cuts, parts) = (nnz / RUN_PIECE, 2 * nnz / RUN_PIECE);
        let most = cuts + lines.min(nnz / (longest + 1));
        let (mut left, mut counts) = (work.buffer(4)?, work.buffer(4)?);
        work.fill_zero(&mut left)?;
        let (line_ptr, grid) = (&pattern.col_ptr, Grid::items(lines, group_size(work.device())));
        let (lines, longest, whole, before) = (lines as u32, longest as u32, RUN_PIECE as u32, 0);
        count.launch(work, grid, CountPieces { line_ptr, counts: &mut left, lines, longest, whole, before })?;
        work.copy(&left, 0, &mut counts, 0, 4)?;
        let (mut pieces, mut cut) = (work.buffer(most)?, work.buffer(cuts)?);
        let args = PlacePieces {
            line_ptr,
            counts: &mut left,
            piece: &mut pieces,
            cut: &mut cut,
            lines,
            longest,
            whole,
            before,
        };
        place.launch(work, grid, args)?;
        Ok(Self { pieces, counts, parts })
    }

    /// Bytes of device memory, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        self.pieces.bytes() + self.counts.bytes()
    }
}

impl LongLines {
    pub fn none(work: &Work) -> Result<Self> {
        Ok(Self { pieces: work.buffer(0)?, cuts: work.buffer(0)?, parts: 0, entries: 0 })
    }

    /// Number of lines that are in pieces.
    pub fn len(&self) -> usize {
        self.pieces.len() - self.parts + self.cuts.len()
    }

    /// Cuts the lines of an index that have more than `most` entries; `most` is not 0. Reads back
    /// the number of pieces, unless it is known that no line is so long.
    pub fn new(work: &Work, index: &Index, most: usize) -> Result<Self> {
        if index.longest().is_some_and(|longest| longest <= most) {
            return Self::none(work);
        }
        let pattern = index.pattern();
        let kernels = Kernels::of(work.device())?;
        kernels.count.ask(work.device());
        kernels.place.ask(work.device());
        Self::by(kernels, work, &pattern.col_ptr, [pattern.ncols, pattern.nnz()], Limits::of_tiles(most), 0)
    }

    /// Cuts the lines that are too long for a tile; see [`Shares::new`](super::Shares::new).
    pub(super) fn by(
        Kernels { count, place, .. }: Kernels,
        work: &Work,
        line_ptr: &Buffer<u32>,
        [lines, nnz]: [usize; 2],
        limits: Limits,
        before: usize,
    ) -> Result<Self> {
        let grid = Grid::items(lines, group_size(work.device()));
        let [longest, whole, before] = [limits.longest, limits.whole, before].map(|entries| entries as u32);
        let (places, lines) = ((nnz + lines) as u64, lines as u32);

        let mut counts = work.buffer(4)?;
        work.fill_zero(&mut counts)?;
        count.launch(work, grid, CountPieces { line_ptr, counts: &mut counts, lines, longest, whole, before })?;
        let found = counts.download(work)?;
        // Every piece has at least one entry, except the piece of an empty line.
        for (what, count) in ["pieces of lines", "parts of lines", "lines that are cut"].into_iter().zip(&found) {
            at_most(what, (*count).into(), places)?;
        }
        let [pieces, parts, cuts, entries] = [found[0], found[1], found[2], found[3]].map(|count| count as usize);
        let (mut pieces, mut cuts) = (work.buffer(pieces)?, work.buffer(cuts)?);
        if pieces.len() > 0 {
            let (counts, piece, cut) = (&mut counts, &mut pieces, &mut cuts);
            place.launch(work, grid, PlacePieces { line_ptr, counts, piece, cut, lines, longest, whole, before })?;
        }
        Ok(Self { pieces, cuts, parts, entries })
    }
}
