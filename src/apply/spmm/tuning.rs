//! The division of the columns of D among work-items. The functions of this file are pure. The
//! functions depend on the number of columns, the element type and the device.
use super::{
    ByRows, DenseNumbers,
    numbers::{HELD_LINES, SUM_BYTES},
};
use crate::{
    Result, Semiring,
    device::{Options, at_most},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    resident::PatternArrays,
};

/// A slot is the work-items that share a line, and the columns that each of them holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub group_size: usize,
    /// Number of items that share the columns of a line.
    pub lanes: usize,
    /// Number of neighbouring columns that an item keeps in one vector.
    pub vec: usize,
    /// Number of vectors of an item.
    pub vectors: usize,
    /// Whether rows of D and C must begin at multiples of `vec`.
    pub aligned: bool,
    pub ahead: usize,
}

/// The entries of its GCOO group that a slot stages in local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StagedEntries {
    pub entries: usize,
    /// Whether the values are staged, too. Values that are not staged are read in place.
    pub values: bool,
}

/// A pass over some columns of D, and how they are divided among work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    pub column: usize,
    pub columns: usize,
    /// Number of columns of a task: a multiple of [`Slot::width`], or all.
    pub share: usize,
    pub slot: Slot,
}

/// The local memory of a work-group in bytes. Every device of OpenCL 1.2 has at least 32 KiB of
/// local memory, so one number serves all devices.
const MOST_LOCAL_BYTES: u64 = 32 << 10;

/// Returns the number of elements that a CPU transposes and then writes at once. The elements fill
/// a cache line of 64 bytes if a vector can hold a cache line.
pub(super) fn turned(element: ElementType) -> usize {
    (64 / element.bytes()).clamp(8, 16)
}

impl Slot {
    /// Returns the number of columns that a slot holds at once.
    pub fn width(&self) -> usize {
        self.lanes * self.vec * self.vectors
    }

    pub fn slots(&self) -> usize {
        self.group_size / self.lanes
    }

    /// Returns 1 if tasks on the same share of the columns should be computed one after another.
    /// Tasks are ordered in this way if the cache holds one share of D's columns but not all of D.
    pub fn shares_last(&self, cache_bytes: usize, d: &ByRows<'_>) -> u32 {
        let kept = |columns: usize| d.rows * columns * d.values.word().bytes() <= cache_bytes;
        u32::from(kept(self.width()) && !kept(d.cols))
    }

    /// Makes the slot of a piece of a long line. An item has one column, and loads many rows of D
    /// ahead.
    pub fn of_piece(numbers: &DenseNumbers, n: usize) -> Self {
        let lanes = n.next_power_of_two().min(numbers.dense_lanes);
        // Many narrow slots must not stage more entries than fit local memory.
        let ahead = numbers.dense_long_ahead.min(lanes.max(4));
        Self { group_size: numbers.dense_group, lanes, vec: 1, vectors: 1, aligned: false, ahead }
    }

    /// Returns the number of entries of a line that a slot stages at once. Each item loads only a
    /// few of the staged entries.
    pub fn staged_in_turn(&self, numbers: &DenseNumbers) -> usize {
        numbers.dense_staged.min(4 * self.lanes).next_multiple_of(self.ahead)
    }

    /// Returns the bytes of local memory that the slots of a work-group need for their staged
    /// entries.
    fn staged_bytes(&self, element: ElementType, numbers: &DenseNumbers) -> usize {
        let room = self.staged_in_turn(numbers).next_multiple_of(4) + 4;
        self.slots() * room * (size_of::<u32>() + element.arithmetic().bytes())
    }

    /// Returns the number of lines of a work-group, at least one for each slot. If C is by columns,
    /// all sums must fit local memory together with the staged entries, for lines and for pieces.
    pub fn tile_lines(&self, element: ElementType, numbers: &DenseNumbers, of_piece: &Self, by_columns: bool) -> usize {
        let bytes = self.width() * element.arithmetic().bytes();
        let staged = self.staged_bytes(element, numbers).max(of_piece.staged_bytes(element, numbers));
        let free = (MOST_LOCAL_BYTES as usize).saturating_sub(staged);
        let fitting = if by_columns { SUM_BYTES.min(free) / bytes } else { usize::MAX };
        let most = numbers.dense_tile.min(fitting);
        (most / self.slots()).max(1) * self.slots()
    }

    /// Returns the entries that a slot stages if a value has `area` elements: all that fit the
    /// local memory of a work-group. For scalars the number of staged entries is a multiple of
    /// [`Slot::ahead`].
    pub fn staged(&self, element: ElementType, numbers: &DenseNumbers, local_bytes: u64, area: usize) -> StagedEntries {
        let step = if area == 1 { self.ahead } else { 1 };
        // An entry needs an index, a line, and a value or its index. Each slot needs memory for one
        // more entry.
        let fitting = |of_value: usize| {
            let bytes = self.slots() * (size_of::<u32>() + size_of::<u8>() + of_value);
            (local_bytes.min(MOST_LOCAL_BYTES) as usize / bytes).saturating_sub(1) / step * step
        };
        let with_values = fitting(area * element.arithmetic().bytes());
        let values = area == 1 || with_values > 0;
        let fitting = if values { with_values } else { fitting(size_of::<u32>()) };
        let most = numbers.dense_staged.next_multiple_of(step);
        StagedEntries { entries: most.min(fitting).max(step), values }
    }

    /// Returns the options of `cl/apply/spmm/vectors.cl`.
    pub fn options(&self, element: ElementType, semiring: Semiring, c_by_columns: bool) -> Options {
        Options::group_size(self.group_size)
            .element_in(element, semiring)
            .define("TURNED", turned(element))
            .define("LANES", self.lanes)
            .define("VEC", self.vec)
            .define("VECTORS", self.vectors)
            .define("ALIGNED", u8::from(self.aligned))
            .define("AHEAD", self.ahead)
            .define("C_BY_COLUMNS", u8::from(c_by_columns))
    }
}

impl Pass {
    /// Returns the number of work-items for `tasks` tasks over all columns. Kernels count slots in
    /// 32 bits.
    pub fn items(&self, tasks: usize) -> Result<usize> {
        let slots = tasks as u64 * self.columns.div_ceil(self.share) as u64;
        at_most("slots of a product with a dense matrix", slots, u32::MAX.into())?;
        Ok(slots as usize * self.slot.lanes)
    }
}

/// Makes the passes over `n` columns. If `aligned`, rows of D and C begin at multiples of a vector.
/// The result is then `None` if `n` is no multiple of a vector, or if alignment saves nothing.
/// `held` is the number of lines of a block that an item adds at once. If `held` is above 1, an
/// item has only one vector, because the sums need the registers of the other vectors.
pub(super) fn passes(
    element: ElementType,
    numbers: DenseNumbers,
    n: usize,
    held: usize,
    aligned: bool,
) -> Option<Vec<Pass>> {
    let vec = prev_power_of_two((numbers.dense_vector_bytes / element.bytes()).clamp(1, 16));
    let vectors = if held > 1 { 1 } else { numbers.dense_vectors };
    match numbers.dense_lanes {
        1 => (!aligned).then(|| serial(numbers, n, vec, vectors)),
        _ if aligned && (vec == 1 || !n.is_multiple_of(vec)) => None,
        _ => Some(together(numbers, n, if aligned { vec } else { 1 }, vectors, aligned)),
    }
}

/// Makes the passes of a CPU. One item takes all columns. Most columns are in the longest vectors,
/// and the last few columns are in shorter vectors.
fn serial(numbers: DenseNumbers, n: usize, longest: usize, vectors: usize) -> Vec<Pass> {
    let (mut passes, mut column) = (Vec::new(), 0);
    let mut slot = |vec, vectors| {
        let slot = Slot {
            group_size: numbers.dense_group,
            lanes: 1,
            vec,
            vectors,
            aligned: false,
            ahead: numbers.dense_ahead,
        };
        let columns = (n - column) / slot.width() * slot.width();
        if columns > 0 {
            passes.push(Pass { column, columns, share: columns, slot });
            column += columns;
        }
    };
    slot(longest, vectors);
    (0..=longest.ilog2()).rev().for_each(|power| slot(1 << power, 1));
    passes
}

/// Makes the pass of a GPU. Neighbouring items take neighbouring vectors.
fn together(numbers: DenseNumbers, n: usize, vec: usize, vectors: usize, aligned: bool) -> Vec<Pass> {
    if n == 0 {
        return Vec::new();
    }
    let units = n.div_ceil(vec);
    let lanes = units.next_power_of_two().min(numbers.dense_lanes);
    let vectors = units.div_ceil(lanes).min(vectors);
    // The vectors that an item loads ahead must fit the registers, whatever number of vectors it
    // has in each row.
    let ahead = (numbers.dense_ahead / vectors).max(1);
    let slot = Slot { group_size: numbers.dense_group, lanes, vec, vectors, aligned, ahead };
    vec![Pass { column: 0, columns: n, share: slot.width(), slot }]
}

fn prev_power_of_two(n: usize) -> usize {
    1 << n.ilog2()
}

/// Returns the numbers for lines that are not cut. An item loads at most as many entries ahead as
/// an average line has. If an average line has many entries, fewer items share its columns. Lines
/// of 128 entries and more were not measured.
pub(super) fn of_lines(numbers: DenseNumbers, [lines, entries]: [usize; 2]) -> DenseNumbers {
    let lines = lines.max(1);
    let average = (entries + lines / 2) / lines;
    let many = numbers.dense_common..8 * numbers.dense_common;
    let most = if many.contains(&average) { numbers.dense_common_lanes } else { numbers.dense_lanes };
    DenseNumbers {
        dense_ahead: numbers.dense_ahead.min(prev_power_of_two(average.max(1))),
        dense_lanes: numbers.dense_lanes.min(most),
        ..numbers
    }
}

/// Returns the most entries of a line that is not cut. Longer lines are cut into pieces of 1024
/// entries, each of which has a slot of its own.
pub(super) fn longest(numbers: &DenseNumbers, pattern: &PatternArrays) -> usize {
    let average = pattern.nnz() / pattern.ncols.max(1);
    (numbers.dense_long_average * average).max(numbers.dense_long).min(RUN_PIECE)
}

/// Returns the number of lines in a GCOO group. A line is a row of scalars, or a row of blocks with
/// `side` scalar lines. A group has about the same number of sums for scalars and for blocks.
pub(super) fn group_lines(numbers: &DenseNumbers, side: usize) -> usize {
    numbers.dense_group_lines.div_ceil(side)
}

/// Returns the number of lines of a block that an item adds at once. The lines are divided evenly
/// among the rounds.
pub(super) fn held_lines(side: usize) -> usize {
    side.div_ceil(side.div_ceil(HELD_LINES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceKind, tuning::StageNumbers};

    #[test]
    fn many_items_share_short_lines() {
        let lanes = |lines, entries| {
            let numbers = of_lines(DenseNumbers::of(DeviceKind::Gpu), [lines, entries]);
            let passes = passes(ElementType::F64, numbers, 128, 1, true).unwrap_or_default();
            passes.iter().map(|pass| (pass.slot.lanes, numbers.dense_ahead)).collect::<Vec<_>>()
        };
        assert_eq!(lanes(1000, 2400), [(32, 2)]);
        assert_eq!(lanes(1000, 8000), [(32, 8)]);
        assert_eq!(lanes(1000, 27_000), [(16, 8)]);
        assert_eq!(lanes(1000, 200_000), [(32, 8)]);
        assert_eq!(lanes(0, 0), [(32, 1)]);
    }

    #[test]
    fn what_is_staged_fits_every_device() {
        let gpu = DenseNumbers::of(DeviceKind::Gpu);
        for n in [1, 2, 3, 4, 7, 8, 32, 33, 128] {
            for (aligned, dense_staged) in [(false, gpu.dense_staged), (true, gpu.dense_staged), (true, 1024)] {
                let numbers = DenseNumbers { dense_staged, ..gpu };
                for Pass { slot, .. } in passes(ElementType::F64, numbers, n, 1, aligned).unwrap_or_default() {
                    let slots = slot.group_size / slot.lanes;
                    for area in [1, 2, 6, 36, 1024] {
                        let StagedEntries { entries, values } = slot.staged(ElementType::F64, &numbers, 1 << 20, area);
                        let bytes = 5 + if values { 8 * area } else { 4 };
                        assert!(slots * (entries + 1) * bytes <= 32 << 10, "{n}: {slot:?}, {entries} of {area}");
                        assert!(entries > 0 && (area > 1 || values && entries.is_multiple_of(slot.ahead)), "{slot:?}");
                        assert!(area < 1024 || !values, "a block of 32x32 is not staged");
                    }
                    let least = StagedEntries { entries: slot.ahead, values: true };
                    assert_eq!(
                        slot.staged(ElementType::F64, &numbers, 100, 1),
                        least,
                        "the least that the kernel takes"
                    );
                    let of_piece = Slot::of_piece(&numbers, n);
                    let sums =
                        slot.tile_lines(ElementType::F64, &numbers, &of_piece, true) * slot.width() / slot.vectors * 8;
                    let staged = slot
                        .staged_bytes(ElementType::F64, &numbers)
                        .max(of_piece.staged_bytes(ElementType::F64, &numbers));
                    assert!(staged + sums <= 32 << 10, "{n}: {slot:?}, {staged} and {sums}");
                }
            }
        }
    }

    /// Every column is in one pass, and the columns of a pass fit its slot.
    #[test]
    fn passes_cover_the_columns() {
        for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
            let numbers = DenseNumbers::of(kind);
            for (n, aligned, held) in (0..140).flat_map(|n| [(n, false, 1), (n, true, 1), (n, false, 6)]) {
                let Some(passes) = passes(ElementType::F64, numbers, n, held, aligned) else { continue };
                let mut next = 0;
                for Pass { column, columns, share, slot } in passes {
                    assert_eq!(column, next);
                    assert!(share.is_multiple_of(slot.width()) && columns.is_multiple_of(slot.vec), "{n} {slot:?}");
                    assert!(held == 1 || slot.vectors == 1);
                    next += columns;
                }
                assert_eq!(next, n, "{kind:?} {aligned}");
            }
        }
    }

    #[test]
    fn wide_loads_are_used_where_they_fit() {
        let gpu = DenseNumbers::of(DeviceKind::Gpu);
        let slot = |n, aligned| passes(ElementType::F64, gpu, n, 1, aligned).map(|passes| passes[0].slot);
        let sides = |slot: Option<Slot>| slot.map(|slot| (slot.lanes, slot.vec, slot.vectors));
        assert_eq!(sides(slot(32, true)), Some((16, 2, 1)));
        assert_eq!(sides(slot(128, true)), Some((32, 2, 2)));
        assert_eq!(sides(slot(33, true)), None);
        assert_eq!(sides(slot(33, false)), Some((32, 1, 2)));
        assert_eq!(sides(slot(1, false)), Some((1, 1, 1)));
        let cpu = passes(ElementType::F64, DenseNumbers::of(DeviceKind::Cpu), 53, 1, false).unwrap();
        assert_eq!(cpu.iter().map(|pass| pass.columns).collect::<Vec<_>>(), [32, 16, 4, 1]);
        assert_eq!((held_lines(9), held_lines(6), held_lines(1)), (5, 6, 1));
        assert_eq!([1, 2, 3, 6].map(|side| group_lines(&gpu, side)), [4, 2, 2, 1]);
    }
}
