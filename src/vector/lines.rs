//! The lines of a pattern, divided among work-groups once for all sums. Short lines form tiles,
//! which are bounded in entries and lines. Long lines are cut into pieces. The order of a sum does
//! not depend on the division. Kernels: `cl/vector/lines.cl`.
mod long;
mod numbers;
mod tuning;

pub(crate) use long::{LongLines, Uncounted};
pub(crate) use numbers::{ELEMENTS, LineNumbers};
pub(crate) use tuning::{LineTuning, STRETCHES, entries_ahead, longest_of_item};

use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Options, Out, Work, kernel, kernels},
    element::Piece,
    primitives::{
        segmented_reduce::RUN_PIECE,
        transpose::{Transpose, Transposed},
    },
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    in "vector/lines.cl":
    struct TileLines = "tile_lines" { line_ptr: In<u32>, tile_line: Out<u32>, lines: u32, tile: u32, tiles: u32 }
    struct PlaceTiles = "place_tiles" {
        line_ptr: In<u32>,
        tile_line: In<u32>,
        order: In<u32>,
        task: InOut<Piece>,
        first: u32,
        tiles: u32,
        longest: u32,
        is_ordered: u32,
    }
    struct WeighTiles = "weigh_tiles" { line_ptr: In<u32>, tile_weight: InOut<u32>, lines: u32, tile: u32, light: u32 }
    struct CountPieces = "count_pieces" {
        line_ptr: In<u32>,
        counts: InOut<u32>,
        lines: u32,
        longest: u32,
        whole: u32,
        before: u32,
    }
    struct PlacePieces = "place_pieces" {
        line_ptr: In<u32>,
        counts: InOut<u32>,
        piece: Out<Piece>,
        cut: Out<Piece>,
        lines: u32,
        longest: u32,
        whole: u32,
        before: u32,
    }
}

/// The lines of column-major blocks: their columns, their rows, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Columns,
    Rows,
    /// A bit of each block's index says which side it is: rows if the highest bit is set, else
    /// columns.
    Flagged,
}

impl Side {
    /// The value of the macro ACROSS in kernels.
    pub fn across(self) -> u8 {
        match self {
            Self::Columns => 0,
            Self::Rows => 1,
            Self::Flagged => 2,
        }
    }
}

/// The lines: columns or rows of the arrays, with the way to find their entries.
pub(crate) enum Index {
    /// The columns as they are stored.
    Columns(Arc<PatternArrays>),
    /// The rows, by the transposed pattern.
    Rows(Transposed),
    /// The rows of a symmetric matrix of square blocks that stores one triangle. The highest bit of
    /// a block's index is set if the line is a row of the stored block, and clear if it is a
    /// column.
    Mirrored(Transposed),
}

/// The lines of a pattern, and their division among work-groups.
pub(crate) struct Lines {
    pub index: Index,
    /// The tasks of work-groups in their order: first the pieces of long lines, then the tiles. A
    /// tile is given by its first line, the end of its lines that are not in pieces, the first
    /// entry of these lines, and the end of their entries. A group reads one task at once.
    pub tasks: Buffer<Piece>,
    /// Number of pieces.
    pub pieces: usize,
    /// Number of pieces that belong to lines of several pieces.
    pub parts: usize,
    /// Whether tiles with long lines come first. If not, tiles are in the order of their lines.
    #[cfg(test)]
    pub is_ordered: bool,
}

/// The limits by which lines are divided among tiles and pieces, in entries.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of entries and of lines in a tile; 0 if every line is in pieces.
    pub tile: usize,
    /// Maximum number of entries of a line in a tile, at most the entries of a tile.
    pub longest: usize,
    /// Maximum number of entries of a line that is a single piece, at least `RUN_PIECE`.
    pub whole: usize,
}

impl Limits {
    /// Limits in which lines that do not fit a tile are cut in pieces of `RUN_PIECE` entries.
    pub fn of_tiles(tile: usize) -> Self {
        Self { tile, longest: tile, whole: RUN_PIECE }
    }
}

/// Lines divided among work-groups.
pub(crate) struct Shares {
    /// First line of each tile.
    pub tile_line: Buffer<u32>,
    /// The pieces of lines that are too long for a tile.
    pub pieces: Buffer<Piece>,
    /// The lines of more than one piece: index of the line, its first part, and the end of its
    /// parts.
    pub cuts: Buffer<Piece>,
    /// Number of pieces of the lines in `cuts`.
    pub parts: usize,
}

kernels! {
    /// The kernels that divide lines. The kernels are the same for every matrix.
    pub(super) struct Kernels {
        rare tile_lines: TileLines,
        rare place_tiles: PlaceTiles,
        rare weigh: WeighTiles,
        rare count: CountPieces,
        rare place: PlacePieces,
    }
}

fn group_size(device: &Device) -> usize {
    device.info().elementwise_group()
}

impl Kernels {
    pub fn of(device: &Device) -> Result<Self> {
        Self::new(device, &Options::group_size(group_size(device)).define("PIECE", RUN_PIECE))
    }

    /// Starts to compile the kernels that most [`Shares`] need.
    pub fn ask(&self, device: &Device) {
        self.tile_lines.ask(device);
        self.count.ask(device);
        self.place.ask(device);
    }

    /// The first line of each tile of at most `tile` entries and lines, and then the number of
    /// lines.
    fn tile_lines(
        &self,
        work: &Work,
        line_ptr: &Buffer<u32>,
        [lines, nnz]: [usize; 2],
        tile: usize,
    ) -> Result<Buffer<u32>> {
        let tiles = (nnz + lines).div_ceil(tile);
        let mut first = work.buffer(tiles + 1)?;
        let (lines, tile, of_tiles) = (lines as u32, tile as u32, tiles as u32);
        let args = TileLines { line_ptr, tile_line: &mut first, lines, tile, tiles: of_tiles };
        self.tile_lines.launch(work, Grid::items(tiles + 1, group_size(work.device())), args)?;
        Ok(first)
    }
}

/// Starts to compile the kernels of [`Lines::new`], while other kernels are compiled.
pub(crate) fn ask(device: &Device) -> Result<()> {
    let kernels = Kernels::of(device)?;
    kernels.ask(device);
    kernels.place_tiles.ask(device);
    Ok(())
}

/// Starts to compile the kernel of [`stretches`].
pub(crate) fn ask_stretches(device: &Device) -> Result<()> {
    Kernels::of(device)?.tile_lines.ask(device);
    Ok(())
}

/// Cuts the columns of a pattern into stretches. A stretch has at most `length` columns and at most
/// `length` entries, or is a single column with more entries. Returns the first column of each
/// stretch, and then the number of columns.
pub(crate) fn stretches(work: &Work, pattern: &PatternArrays, length: usize) -> Result<Buffer<u32>> {
    Kernels::of(work.device())?.tile_lines(work, &pattern.col_ptr, [pattern.ncols, pattern.nnz()], length)
}

impl Index {
    pub fn new(work: &Work, pattern: &Arc<PatternArrays>, rows: bool) -> Result<Self> {
        match rows {
            true => Ok(Self::Rows(Transpose::new(work.device())?.run(work, pattern)?)),
            false => Ok(Self::Columns(pattern.clone())),
        }
    }

    /// Whether the lines are rows or columns of the blocks.
    pub fn side(&self) -> Side {
        match self {
            Self::Columns(_) => Side::Columns,
            Self::Rows(_) => Side::Rows,
            Self::Mirrored(_) => Side::Flagged,
        }
    }

    /// The pattern whose columns are the lines.
    pub fn pattern(&self) -> &PatternArrays {
        match self {
            Self::Columns(pattern) => pattern,
            Self::Rows(transposed) | Self::Mirrored(transposed) => &transposed.pattern,
        }
    }

    /// Entries of the longest line, if they have been counted.
    pub fn longest(&self) -> Option<usize> {
        match self {
            Self::Columns(pattern) => pattern.lengths.map(|lengths| lengths.longest as usize),
            Self::Rows(transposed) | Self::Mirrored(transposed) => transposed.longest,
        }
    }

    /// For each entry of a line, the index of its block in the values, or `None` if lines are
    /// columns.
    pub fn source(&self) -> Option<&Buffer<u32>> {
        match self {
            Self::Columns(_) => None,
            Self::Rows(transposed) | Self::Mirrored(transposed) => Some(&transposed.source),
        }
    }
}

impl Shares {
    /// Divides `lines` lines with `nnz` entries, which begin at the offsets `line_ptr`. Each line
    /// has `before` further entries, which are added elsewhere: its pieces are cut as if these
    /// entries were at its start. Reads back the number of pieces.
    pub fn new(
        work: &Work,
        line_ptr: &Buffer<u32>,
        [lines, nnz]: [usize; 2],
        limits: Limits,
        before: usize,
    ) -> Result<Self> {
        let kernels = Kernels::of(work.device())?;
        kernels.ask(work.device());
        let tile_line = match limits.tile {
            0 => work.buffer(1)?,
            tile => kernels.tile_lines(work, line_ptr, [lines, nnz], tile)?,
        };
        let LongLines { pieces, cuts, parts, .. } =
            LongLines::by(kernels, work, line_ptr, [lines, nnz], limits, before)?;
        Ok(Self { tile_line, pieces, cuts, parts })
    }

    /// Number of tiles.
    pub fn tiles(&self) -> usize {
        self.tile_line.len() - 1
    }

    /// Bytes of device memory, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        self.tile_line.bytes() + self.pieces.bytes() + self.cuts.bytes()
    }
}

/// The order of tiles in which those with long lines come first, so that no work-group starts a
/// long line when the other work-groups have nearly finished. Empty if tiles stay in their order.
/// Reads back a number for each tile.
fn heavy_tiles_first(
    work: &Work,
    pattern: &PatternArrays,
    tiles: usize,
    LineTuning { group_size: items, tile, light, .. }: LineTuning,
) -> Result<Buffer<u32>> {
    // In a group of one item the time depends only on the tile's entries.
    if items == 1 || tiles < 2 || tile < light {
        return work.buffer(0);
    }
    let Kernels { weigh, .. } = Kernels::of(work.device())?;
    let mut weights = work.buffer(tiles)?;
    work.fill_zero(&mut weights)?;
    let (line_ptr, lines) = (&pattern.col_ptr, pattern.ncols);
    let args = WeighTiles {
        line_ptr,
        tile_weight: &mut weights,
        lines: lines as u32,
        tile: tile as u32,
        light: light.min(u32::MAX as usize) as u32,
    };
    weigh.launch(work, Grid::items(lines, group_size(work.device())), args)?;
    let weights = weights.download(work)?;
    if weights.iter().all(|weight| *weight == weights[0]) {
        return work.buffer(0);
    }
    let mut order: Vec<u32> = (0..tiles as u32).collect();
    order.sort_by_key(|&tile| std::cmp::Reverse(weights[tile as usize]));
    work.upload(&order)
}

impl Lines {
    /// Divides the lines of an index among work-groups.
    pub fn new(work: &Work, index: Index, tuning: LineTuning) -> Result<Self> {
        let (pattern, LineTuning { tile, longest, whole, .. }) = (index.pattern(), tuning);
        let limits = Limits { tile, longest, whole };
        let shares = Shares::new(work, &pattern.col_ptr, [pattern.ncols, pattern.nnz()], limits, 0)?;
        let Kernels { place_tiles, .. } = Kernels::of(work.device())?;
        place_tiles.ask(work.device());
        let count = shares.tiles();
        let order = heavy_tiles_first(work, pattern, count, tuning)?;
        let Shares { tile_line, pieces, parts, .. } = shares;
        let mut tasks = work.buffer(pieces.len() + count)?;
        work.copy(&pieces, 0, &mut tasks, 0, pieces.len())?;
        let args = PlaceTiles {
            line_ptr: &pattern.col_ptr,
            tile_line: &tile_line,
            order: &order,
            task: &mut tasks,
            first: pieces.len() as u32,
            tiles: count as u32,
            longest: longest as u32,
            is_ordered: u32::from(order.len() > 0),
        };
        place_tiles.launch(work, Grid::items(count, group_size(work.device())), args)?;
        Ok(Self {
            #[cfg(test)]
            is_ordered: order.len() > 0,
            index,
            tasks,
            pieces: pieces.len(),
            parts,
        })
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.index.pattern().ncols
    }

    /// Bytes of device memory held in addition to the pattern, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        let index = match &self.index {
            Index::Columns(_) => 0,
            Index::Rows(transposed) | Index::Mirrored(transposed) => {
                transposed.pattern.bytes() + transposed.source.bytes()
            }
        };
        index + self.tasks.bytes()
    }
}

#[cfg(test)]
mod tests;
