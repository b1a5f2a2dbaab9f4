//! How lines are shared out and loaded.
use crate::{BlockShape, DeviceInfo, primitives::segmented_reduce::RUN_PIECE};

/// The sizes by which lines are shared out and summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTuning {
    pub group_size: usize,
    /// Entries and lines of a tile. 0 if every line is in pieces.
    pub tile: usize,
    /// Entries of the longest line in a tile, at most `RUN_PIECE` and a tile's. It is a tile's
    /// unless items load lines by themselves.
    pub longest: usize,
    /// Entries that are in local memory at once: those of two tiles at least.
    pub held: usize,
    /// Elements that an item loads before it multiplies them.
    pub ahead: usize,
    /// `group_size` and `ahead` if some lines are in pieces.
    pub skewed: (usize, usize),
    /// Entries that an item loads at once if it loads lines by itself, otherwise 0.
    pub direct: usize,
    /// Terms that an item reads from local memory before it adds them, or a few more.
    pub together: usize,
    /// Fewest terms of a piece of scalars that all items of a group add, 0 if none is so added. Of
    /// blocks whose sums have groups of their own every piece is so added, unless it is 0.
    pub guessed: usize,
    /// Entries of the longest line that is one piece: `RUN_PIECE`, or more if a group adds the sums
    /// of several pieces by guesses at once.
    pub whole: usize,
    /// Entries of a line from which tiles differ in weight, at least 1.
    pub light: usize,
    /// Each sum of a piece has a group of its own if so many groups suffice for all.
    pub apart: usize,
}

/// Groups for each compute unit that a device has room for at once, or fewer. The sums of a piece
/// are added at the same time if each has a group, but blocks are then loaded piecemeal.
const MOST_APART: usize = 4;

/// Parts of a sum that teams of a group add by guesses (`cl/vector/guesses.cl`).
pub(crate) const STRETCHES: usize = 8;

/// Pieces of a line whose sums a group adds by guesses at once: groups that have one each have to
/// exchange their sums.
const GUESSED_PIECES: usize = 2;

/// Tiles for each compute unit, of which a device has room for all at once.
const FEW_TILES: usize = 4;

/// Entries of `terms` terms each that an item loads at once: as few as have 2·`most` terms, and no
/// more than `most`.
pub(crate) fn entries_ahead(most: usize, terms: usize) -> usize {
    (2 * most).div_ceil(terms).min(most)
}

impl LineTuning {
    pub fn new(info: &DeviceInfo, shape: BlockShape) -> Self {
        let numbers = info.numbers();
        let entries = numbers.line_elements / shape.area();
        // A few large blocks keep a group busy.
        let tile = if entries < 4 { 0 } else { entries };
        // On a CPU each work-item has a tile of its own.
        let group_size = info.serial_or(numbers.line_group);
        let skewed = match shape {
            BlockShape::SCALAR => (info.serial_or(numbers.skewed_line_group), numbers.skewed_line_ahead),
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
            light: numbers.line_light,
            apart: MOST_APART * info.compute_units as usize,
        }
    }

    /// For lines of scalars with so many entries and lines. If a device has room for all tiles at
    /// once, the longest line decides how long they take, and groups add long ones by guesses.
    /// Without room guesses cost more than they save: `rmat18_e8` took 25 us on an H200, not 22.
    pub fn of(self, info: &DeviceInfo, places: usize) -> Self {
        let guessed = info.numbers().guessed_line;
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

    /// `guessed`, or 0 unless a group of `group_size` holds a whole piece and has teams of equal
    /// size for all [`STRETCHES`].
    pub fn guessed_by(&self, group_size: usize) -> usize {
        if self.held >= RUN_PIECE { self.guessed_in_rounds(group_size) } else { 0 }
    }

    /// The same of a piece of which a group holds a part at once.
    pub fn guessed_in_rounds(&self, group_size: usize) -> usize {
        let has_teams = group_size > STRETCHES && group_size.is_multiple_of(STRETCHES);
        if has_teams { self.guessed } else { 0 }
    }

    /// Rows of scalars whose items share the long ones.
    pub fn shared(info: &DeviceInfo) -> Self {
        let numbers = info.numbers();
        let (group_size, ahead) = (info.serial_or(numbers.shared_line_group), numbers.shared_line_ahead);
        let tile = numbers.shared_line_elements;
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

    /// Columns of blocks that are packed: items load a few of them at once by themselves, two
    /// elements in each load, if the blocks' rows allow that and the device has groups.
    pub fn packed(info: &DeviceInfo, shape: BlockShape) -> Self {
        let (tuning, numbers) = (Self::new(info, shape), info.numbers());
        let (terms, tile) = (shape.rows(), numbers.direct_line_elements / shape.area());
        let direct = numbers.direct_line_terms / terms;
        if terms % 2 == 1 || !DIRECT.contains(&direct) || tuning.group_size == 1 || tile <= tuning.tile {
            return tuning;
        }
        Self { tile, direct, held: 2 * tuning.tile, guessed: numbers.guessed_line, ..tuning }
    }

    /// For so many lines of packed blocks, which have so many entries. If items load them by
    /// themselves, a tile has a sum for each item of its group, and only lines of more than about
    /// twice the mean are in pieces.
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

/// Sums for each compute unit that keep it busy if each has an item.
const MANY_SUMS: usize = 256;

/// Entries of the longest line that an item loads by itself if there are enough lines, each with so
/// many `sums`, for all items of a device: `least`, or about twice those of the mean line. A power
/// of two, so that few kernels serve all matrices.
pub(crate) fn longest_of_item(
    least: usize,
    [lines, entries]: [usize; 2],
    sums: usize,
    compute_units: usize,
) -> Option<usize> {
    let many = lines * sums >= MANY_SUMS * compute_units.max(1);
    many.then(|| (2 * entries / lines).next_power_of_two().max(least))
}

/// Entries that items load at once by themselves. Nine blocks of 2x2 at once took 45.8 us on the
/// H200, through local memory 41.0; two of 8x8 took 22.0 us, through local memory 34.5. Larger ones
/// have not been measured.
const DIRECT: std::ops::RangeInclusive<usize> = 2..=4;
