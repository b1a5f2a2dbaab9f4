//! Parameters by which lines are divided and loaded. A long sum is added *by guesses* if teams of
//! items add its parts at the same time, each from a guess of the sum of the parts before
//! (`cl/vector/guesses.cl`).
use super::numbers::{DIRECT_ELEMENTS, DIRECT_TERMS, ELEMENTS, GROUP, LIGHT, LineNumbers, SKEWED_AHEAD, SKEWED_GROUP};
use crate::{BlockShape, DeviceInfo, primitives::segmented_reduce::RUN_PIECE};

/// The sizes by which lines are divided among work-groups and summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTuning {
    pub group_size: usize,
    /// Maximum number of entries plus lines of a tile; 0 if every line is in pieces.
    pub tile: usize,
    /// Maximum number of entries of a line in a tile, at most `RUN_PIECE` and `tile`. The number is
    /// less than `tile` only if items load lines by themselves, or if lines are added by guesses.
    pub longest: usize,
    /// Number of entries that are in local memory at once: at least the entries of two tiles.
    pub held: usize,
    /// Number of elements that an item loads before it multiplies them.
    pub ahead: usize,
    /// The pair replaces `group_size` and `ahead` if some lines are in pieces.
    pub skewed: (usize, usize),
    /// Number of entries that an item loads at once if it loads lines by itself, otherwise 0.
    pub direct: usize,
    /// Approximate number of terms that an item reads from local memory before it adds them.
    pub together: usize,
    /// The least number of terms of a piece of scalars that all items of a work-group add together,
    /// by guesses; 0 if no piece is added by guesses. If each sum of blocks has a work-group, every
    /// piece is added by guesses unless the number is 0.
    pub guessed: usize,
    /// Maximum number of entries of a line that is a single piece: `RUN_PIECE`, or more if a
    /// work-group adds the sums of several pieces at once by guesses.
    pub whole: usize,
    /// If the longest line of a tile has at least `light` entries, tiles differ in weight. `light`
    /// is at least 1.
    pub light: usize,
    /// If at most `apart` work-groups are needed, each sum of a piece has a work-group.
    pub apart: usize,
}

/// At least `MOST_APART` work-groups run at once on each compute unit. If each sum of a piece has a
/// work-group, the sums are added at the same time, but blocks are loaded in small parts.
const MOST_APART: usize = 4;

/// Number of parts of a sum that the teams of a work-group add by guesses (`cl/vector/guesses.cl`).
pub(crate) const STRETCHES: usize = 8;

/// Number of pieces of a line whose sums one work-group adds by guesses at once. Work-groups with
/// one piece each would have to exchange their sums.
const GUESSED_PIECES: usize = 2;

/// With at most `FEW_TILES` tiles for each compute unit, all tiles run at once.
const FEW_TILES: usize = 4;

/// Returns the number of entries, of `terms` terms each, that an item loads at once: the fewest
/// that have 2·`most` terms, but no more than `most` entries.
pub(crate) fn entries_ahead(most: usize, terms: usize) -> usize {
    (2 * most).div_ceil(terms).min(most)
}

impl LineTuning {
    pub fn new(info: &DeviceInfo, shape: BlockShape) -> Self {
        let numbers: LineNumbers = info.numbers();
        let entries = ELEMENTS / shape.area();
        // A few large blocks are enough to keep a work-group busy.
        let tile = if entries < 4 { 0 } else { entries };
        // On a CPU each work-item takes a tile of its own.
        let group_size = info.serial_or(GROUP);
        let skewed = match shape {
            BlockShape::SCALAR => (info.serial_or(SKEWED_GROUP), numbers.line_ahead.min(SKEWED_AHEAD)),
            _ => (group_size, numbers.line_ahead),
        };
        Self {
            group_size,
            tile,
            longest: tile,
            held: (numbers.line_held / shape.area()).max(2 * tile).max(1),
            ahead: numbers.line_ahead,
            skewed,
            direct: 0,
            together: numbers.line_together,
            guessed: 0,
            whole: RUN_PIECE,
            light: LIGHT,
            apart: MOST_APART * info.compute_units as usize,
        }
    }

    /// Adapts the tuning to lines of scalars. `places` is the number of entries plus lines. If all
    /// tiles run at once, the longest line determines their time, and work-groups add long lines by
    /// guesses. If not all tiles run at once, guesses cost more than they save: `rmat18_e8` took 25
    /// us on an H200 with guesses, and 22 us without.
    pub fn of(self, info: &DeviceInfo, places: usize) -> Self {
        let guessed = info.numbers::<LineNumbers>().guessed_line;
        let few = places <= FEW_TILES * info.compute_units as usize * self.tile;
        if guessed == 0 || guessed >= self.longest || !few {
            return self;
        }
        let few = Self { longest: guessed, guessed, ..self };
        let whole = GUESSED_PIECES * RUN_PIECE;
        match few.guessed_by(few.skewed.0) {
            0 => few,
            _ => Self { whole, held: few.held.max(whole), ..few },
        }
    }

    /// Returns `guessed` if a work-group of `group_size` items holds a whole piece and can be
    /// divided into equal teams for all [`STRETCHES`]; otherwise 0.
    pub fn guessed_by(&self, group_size: usize) -> usize {
        if self.held >= RUN_PIECE { self.guessed_in_rounds(group_size) } else { 0 }
    }

    /// Like [`LineTuning::guessed_by`], for a work-group that holds only a part of a piece at once.
    pub fn guessed_in_rounds(&self, group_size: usize) -> usize {
        let has_teams = group_size > STRETCHES && group_size.is_multiple_of(STRETCHES);
        if has_teams { self.guessed } else { 0 }
    }

    /// Makes the tuning for rows of scalars if items share long rows.
    pub fn shared(info: &DeviceInfo) -> Self {
        let LineNumbers { line_ahead, shared_line_elements: tile, .. } = info.numbers();
        let (group_size, ahead) = (info.serial_or(GROUP), line_ahead.min(SKEWED_AHEAD));
        Self {
            group_size,
            tile,
            longest: tile,
            held: 2 * tile,
            ahead,
            skewed: (group_size, ahead),
            ..Self::new(info, BlockShape::SCALAR)
        }
    }

    /// Makes the tuning for columns of packed blocks. If the number of rows of a block allows it
    /// and the device has work-groups of several items, items load a few blocks at once by
    /// themselves, two elements in each load.
    pub fn packed(info: &DeviceInfo, shape: BlockShape) -> Self {
        let (tuning, numbers) = (Self::new(info, shape), info.numbers::<LineNumbers>());
        let (terms, tile) = (shape.rows(), DIRECT_ELEMENTS / shape.area());
        let direct = DIRECT_TERMS / terms;
        if terms % 2 == 1 || !DIRECT.contains(&direct) || tuning.group_size == 1 || tile <= tuning.tile {
            return tuning;
        }
        Self { tile, direct, held: 2 * tuning.tile, guessed: numbers.guessed_line, ..tuning }
    }

    /// Adapts the tuning to `lines` lines with `entries` entries of packed blocks. If items load
    /// lines by themselves, a tile has a sum for each item of its work-group, and lines of more
    /// than about twice the mean are in pieces.
    pub fn of_blocks(self, info: &DeviceInfo, shape: BlockShape, [lines, entries]: [usize; 2]) -> Self {
        let sums = shape.cols();
        match longest_of_item(self.longest, [lines, entries], sums, info.compute_units as usize) {
            Some(longest) if self.direct > 0 => {
                let tile = self.tile.max(entries * self.group_size / (lines * sums));
                Self { tile, longest: longest.min(tile).min(RUN_PIECE), ..self }
            }
            _ => self,
        }
    }
}

/// With `MANY_SUMS` sums for each compute unit, one item for each sum keeps the unit busy.
const MANY_SUMS: usize = 256;

/// Returns the maximum number of entries of a line that an item loads by itself: `least`, or about
/// twice the mean. Returns `None` if there are too few lines, with `sums` sums each, for all items
/// of the device. The maximum is a power of two, so that few kernels serve all matrices.
pub(crate) fn longest_of_item(
    least: usize,
    [lines, entries]: [usize; 2],
    sums: usize,
    compute_units: usize,
) -> Option<usize> {
    let many = lines * sums >= MANY_SUMS * compute_units.max(1);
    many.then(|| (2 * entries / lines).next_power_of_two().max(least))
}

/// If the number of entries that an item loads at once is in range `DIRECT`, items load lines by
/// themselves. If the number is not in range `DIRECT`, work-groups load lines through local memory.
/// On an H200, blocks of 2x2 took 45.8 us if items loaded nine at once, and 41.0 us through local
/// memory. Blocks of 8x8 took 22.0 us if items loaded two at once, and 34.5 us through local
/// memory. Larger numbers of entries at once have not been measured.
const DIRECT: std::ops::RangeInclusive<usize> = 2..=4;
