//! The choice among formats: a pure function of the rows' lengths, of the device and of the
//! request.
//!
//! The time of a format is estimated in bytes. The estimate is the sum of the bytes that an
//! execution moves, multiplied by a weight of the format, and a share of the conversion's bytes and
//! steps. The time of an item that adds a long row, and the time of a launch, also count as the
//! bytes that the device could have moved in that time.
//!
//! The rows' lengths are known only after a launch and a read, which take as long as several
//! executions of a small matrix. So the lengths are not counted if one format surely takes no
//! longer than every other format and the counting together, whatever the lengths of the rows are.
use super::{Block, Format, Request, csr_long, profile::Profile, slice_vectors, slices};
use crate::{
    DeviceKind,
    element::Order,
    io::words::counted,
    primitives::segmented_reduce::RUN_PIECE,
    tuning::{BlockWeights, FormatWeights},
    vector::lines::longest_of_item,
};
use std::sync::LazyLock;

/// The facts on which a choice depends.
#[derive(Clone, Copy)]
pub(super) struct Situation {
    pub profile: Profile,
    /// Columns of op(A).
    pub columns: u64,
    /// Entries of the longest row, if they are known without counting.
    pub longest: Option<u64>,
    pub request: Request,
    pub device: DeviceKind,
    pub compute_units: u64,
    /// Number of sums in a slice of sliced ELL.
    pub slice_sums: usize,
    pub element_bytes: u64,
    pub vector_bytes: u64,
    pub block: Block,
    /// Number of blocks in a tile, which a group of `csr-adaptive` loads together.
    pub tile: u64,
    /// The least number of entries of a packed row of blocks that an item of `csr-adaptive` adds by
    /// itself, or `None` if a work-group loads its rows together.
    pub of_item: Option<u64>,
    /// Whether A's values are in the order of the rows.
    pub in_order: bool,
    /// Whether only A's columns are stored, so that the rows have to be found first.
    pub by_columns: bool,
}

/// A format, and the reason for it.
#[derive(Debug)]
pub(super) struct FormatChoice {
    pub format: Format,
    /// The reason, written when it is requested. Writing the costs of all formats takes a few
    /// microseconds, as long as an execution of a small matrix.
    pub why: LazyLock<String, Box<dyn FnOnce() -> String + Send>>,
}

impl FormatChoice {
    pub fn new(format: Format, why: impl FnOnce() -> String + Send + 'static) -> Self {
        Self { format, why: LazyLock::new(Box::new(why)) }
    }
}

/// Number of work-items that run at once on a compute unit of a GPU.
const ROWS_AT_ONCE: u64 = 2048;

/// Number of work-groups of `csr-adaptive` that run at once on a compute unit.
const GROUPS_AT_ONCE: u64 = 16;

impl Situation {
    /// The cost of one execution in a format, in weighed bytes, or `None` if the format is not
    /// possible.
    fn cost(&self, format: Format) -> Option<u64> {
        let Profile { rows, entries, longest, sliced_places, near, .. } = self.profile;
        let weights = FormatWeights::of(self.device);
        let of_blocks = self.block.area() > 1;
        if of_blocks && !format.has_blocks() {
            return None;
        }
        if format == Format::Csc {
            return self.by_columns.then(|| self.cost_by_columns(weights)).flatten();
        }
        let on_diagonals = if format == Format::SlicedEll && self.in_vectors() { self.profile.on_diagonals } else { 0 };
        // Matrices of blocks have weights by the size of their elements.
        let (of, size) = (&weights.of_blocks, usize::from(self.element_bytes < 8));
        let items_load = self.longest_by_items();
        let (padded, weight, row_of_item) = match format {
            Format::Csr => (None, if of_blocks { of.csr[size] } else { self.weight_of_rows(weights) }, true),
            Format::CsrVector => (None, weights.csr_vector, false),
            Format::CsrAdaptive if items_load.is_some() => (None, of.by_items[size], false),
            Format::CsrAdaptive => (None, if of_blocks { of.together[size] } else { weights.csr_adaptive }, false),
            Format::CsrShared => (None, weights.csr_shared, false),
            Format::Ell if of_blocks => (Some(self.profile.ell_places()), of.padded[size], true),
            Format::SlicedEll if of_blocks => (Some(sliced_places), of.padded[size], true),
            Format::Ell => (Some(self.profile.ell_places()), weights.ell, true),
            Format::SlicedEll => {
                let [of_near, of_far] = weights.in_vectors;
                let weight = match (self.in_vectors(), near) {
                    (true, true) => of_near,
                    (true, false) => of_far,
                    (false, _) => weights.sliced_ell,
                };
                let share = 1000 * on_diagonals / sliced_places.max(1);
                (Some(sliced_places), (weight * (1000 - share) + weights.on_diagonals[0] * share) / 1000, true)
            }
            Format::Coo => (None, weights.coo, false),
            Format::SegmentedScan => (None, weights.segmented_scan?, false),
            Format::Scoo => (None, weights.scoo[0], true),
            // The times of the last formats of this list are not estimated, so `auto` never chooses
            // them.
            Format::Auto | Format::Csc | Format::Hyb | Format::CsrScalar => return None,
            Format::CsrAdaptiveAtomic | Format::CooAtomic | Format::HybAtomic | Format::ScooAtomic => return None,
        };
        let allowed = self.request.any_order || format.order() == Order::Ascending;
        // Values that are read through an index are scattered in every format, so padding saves no
        // time.
        let pads_for_nothing = padded.is_some_and(|places| !self.request.packed || self.profile.refuses(places));
        if !allowed || pads_for_nothing {
            return None;
        }
        let places = padded.unwrap_or(entries);
        let (value, [sums, depth]) = (self.element_bytes * self.block.area() as u64, self.block.sides());
        // For rows of a few entries a team takes longer than the number of its busy items would
        // suggest.
        let idle = if format == Format::CsrVector { rows * Order::LANES as u64 * 7 / 5 } else { 0 };
        let beside = match format {
            Format::Coo | Format::SegmentedScan => 4 * entries,
            Format::Scoo => rows * weights.scoo[1],
            _ => 0,
        };
        // Launches and reads of the conversion, counted as steps.
        let steps = match format {
            // One step lists the pieces.
            Format::Csr => 1 + u64::from(longest > self.longest_of_item()),
            Format::Coo | Format::SegmentedScan => 1,
            Format::CsrAdaptive if of_blocks => of.adaptive_steps,
            Format::CsrAdaptive | Format::CsrShared => weights.adaptive_steps,
            Format::CsrVector | Format::Scoo => 0,
            // The steps of diagonals include the steps that find and place the diagonals.
            Format::SlicedEll if self.in_vectors() => 16,
            _ => 4,
        };
        // In padded formats, whose values are packed, a column may take 16 bits. The eight places
        // of a slice on a diagonal share one column.
        let column = if padded.is_some() && near { 2 } else { 4 };
        let values = match self.request.packed || self.in_order {
            true => (places + idle) * (column + value) - on_diagonals * column + on_diagonals / 2,
            false if of_blocks => (places + idle) * 8 + entries * (value + weights.beside),
            false => (places + idle) * 8 + entries * value * weights.scattered / 100,
        };
        // Factors of a block come from the cache: about one cache line for each block.
        let (factors, of_rows) = (entries * self.vector_bytes * depth, rows * (2 * sums * self.vector_bytes + 4));
        let tiles = if format == Format::CsrAdaptive && of_blocks && items_load.is_none() { self.tiles(of) } else { 0 };
        let moved = match on_diagonals {
            0 => tiles + (values + beside + factors + of_rows) * weight / 100,
            _ => (values + factors) * weight / 100 + of_rows + rows * weights.on_diagonals[1],
        };
        // The conversion has an item for each row, which reads the row as an item of `csr` does.
        let placed = weights.placed * self.weight_of_rows(weights) / weights.csr;
        let placed = padded.map_or(0, |places| (12 * entries + 8 * places) * placed / 100);
        let packed = if self.request.packed { places * (4 + 2 * value) } else { 0 };
        let (piece, is_cut) = (longest.min(RUN_PIECE as u64), longest > RUN_PIECE as u64);
        let of_item = self.longest_of_item();
        let [term_of_csr, term_of_item, padded_term] = match of_blocks {
            true => [of.term_of_csr, of.term_of_item, of.padded_term].map(|term| term[size]),
            false => [weights.entry, weights.entry, weights.padded_entry],
        };
        // Unless values are in the order of the rows, an item first waits for the index of each
        // value.
        let entry = if self.request.packed || self.in_order { term_of_csr } else { 2 * term_of_csr };
        let serial = match format {
            Format::CsrVector => longest.div_ceil(Order::LANES as u64) * weights.entry,
            Format::Scoo => longest * weights.scoo[2],
            _ if padded.is_some() => longest * depth * padded_term,
            // If most rows have more entries than an item adds, a group adds all its rows one by
            // one. The other groups on the compute unit make that take 3/2 times as long.
            Format::Csr if entries > of_item.saturating_mul(rows) => {
                csr_long::rows_of_group(rows, self.compute_units) * piece * weights.term * 3 / 2
            }
            Format::Csr if longest > of_item => of_item * entry + piece * weights.term,
            _ if row_of_item => longest * depth * entry,
            Format::CsrAdaptive if let Some(most) = items_load => {
                let pieces = if longest > most { piece * depth * weights.term } else { 0 };
                longest.min(most) * depth * term_of_item + pieces
            }
            // An item adds a short row, or one lane of a long row and then the lanes' sums.
            Format::CsrShared => longest.min(Order::LONG as u64) * weights.term,
            _ => piece * depth * weights.term,
        };
        let launches = match format {
            // A group counts the finished pieces of its row, which takes about as long as a launch.
            Format::Csr => 1 + u64::from(longest > of_item),
            Format::CsrAdaptive if of_blocks => of.adaptive_launches,
            Format::CsrAdaptive => weights.adaptive_launches,
            Format::CsrShared => weights.shared_launches,
            Format::Coo | Format::SegmentedScan => weights.coo_launches,
            _ if row_of_item || format == Format::CsrVector => 1,
            // The sums of a row's pieces are added in a launch of their own.
            _ => 1 + u64::from(is_cut),
        };
        let waited = serial * self.compute_units;
        let both = if padded.is_some() { moved.max(waited) + moved.min(waited) / 3 } else { moved + waited };
        let executed = both + launches * weights.launch * self.compute_units;
        let index = if self.by_columns { (entries + rows) * weights.index } else { 0 };
        Some(executed + (index + placed + packed + steps * weights.step) / self.request.uses.max(1))
    }

    /// The weight of compressed rows of scalars with one work-item each. The weight grows with the
    /// bytes of the rows that a compute unit reads at the same time, if they exceed its cache.
    fn weight_of_rows(&self, weights: &FormatWeights) -> u64 {
        let Profile { rows, entries, .. } = self.profile;
        let rows_at_once = (rows / self.compute_units.max(1)).clamp(1, ROWS_AT_ONCE);
        let bytes = entries * rows_at_once * (4 + self.element_bytes) / rows.max(1);
        (weights.csr * bytes / weights.cached).clamp(weights.csr, weights.csr_far)
    }

    /// The time of the groups of `csr-adaptive` that load tiles together. A group loads a tile, or
    /// a longer row, and adds the terms of an average row.
    fn tiles(&self, of: &BlockWeights) -> u64 {
        let Self { profile: Profile { rows, entries, .. }, tile, .. } = *self;
        let (mean, [_, depth]) = (entries / rows.max(1), self.block.sides());
        let groups = if mean > tile { rows } else { entries / tile.max(1) };
        groups * (of.tile + mean.min(RUN_PIECE as u64) * depth * of.term_of_tile) / GROUPS_AT_ONCE
    }

    /// Entries of the longest row that an item of `csr-adaptive` adds by itself, or `None` if
    /// groups load rows together.
    fn longest_by_items(&self) -> Option<u64> {
        let Self { of_item, request: Request { packed, .. }, profile: Profile { rows, entries, .. }, .. } = *self;
        let (least, lines) = (of_item.filter(|_| packed)? as usize, [rows as usize, entries as usize]);
        let longest = longest_of_item(least, lines, self.block.sums, self.compute_units as usize)?;
        Some(longest.min(RUN_PIECE) as u64)
    }

    /// Entries of the longest row of `csr` that an item adds by itself.
    fn longest_of_item(&self) -> u64 {
        let in_pieces = self.slice_sums != slices::LANES && self.block.area() == 1;
        let Profile { rows, entries, .. } = self.profile;
        if in_pieces { csr_long::longest_of_item([rows, entries], self.compute_units) } else { u64::MAX }
    }

    /// The cost of counting the rows' lengths for a format that does not need them, in bytes for
    /// each execution.
    fn look(&self, format: Format) -> u64 {
        match format {
            // The conversion of padded formats counts the places anyway.
            Format::Ell | Format::SlicedEll => 0,
            _ => FormatWeights::of(self.device).step / self.request.uses.max(1),
        }
    }

    /// Whether sliced ELL adds the rows of a slice in a vector.
    fn in_vectors(&self) -> bool {
        let Self { request: Request { semiring, packed, .. }, block, profile, slice_sums, .. } = *self;
        slice_sums == slices::LANES && slice_vectors::suits_rows(block, packed, semiring, profile.longest)
    }

    /// The cost of [`Format::Csc`]: every item goes through all columns, and through the entries of
    /// its own rows.
    fn cost_by_columns(&self, weights: &FormatWeights) -> Option<u64> {
        let (Profile { rows, entries, .. }, [column, entry]) = (self.profile, weights.csc?);
        let packed = if self.request.packed { 2 * entries * self.element_bytes } else { 0 };
        let of_rows = rows * (3 * self.vector_bytes + 8);
        Some(self.columns * column * self.compute_units + entries * entry + of_rows + packed / self.request.uses.max(1))
    }
}

/// Chooses the format with the least cost. If several formats have the least cost, the first of
/// them in [`Format::ALL`] is chosen.
pub(super) fn choose(situation: &Situation) -> FormatChoice {
    let mut costs: Vec<_> = Format::ALL.iter().filter_map(|&format| Some((situation.cost(format)?, format))).collect();
    costs.sort_by_key(|&(cost, _)| cost);
    let (least, format) = costs[0];
    let situation = *situation;
    FormatChoice::new(format, move || {
        let Profile { rows, entries, longest, sliced_places, on_diagonals, near } = situation.profile;
        let columns = match format {
            Format::SlicedEll if situation.in_vectors() && on_diagonals > 0 => {
                format!(", {} % of its places on diagonals", 100 * on_diagonals / sliced_places)
            }
            Format::Ell | Format::SlicedEll if near => ", columns in 16 bits".to_string(),
            _ => String::new(),
        };
        format!(
            "{format}{columns} for {entries} entries in {rows} rows, the longest of {longest}: an execution takes as \
             long as a copy of {} ({}), with the conversion's share for {}",
            megabytes(least),
            others(&costs[1..]),
            counted(situation.request.uses as usize, "use")
        )
    })
}

/// Chooses without the rows' lengths, if possible. The highest cost of the chosen format, over all
/// possible lengths, is at most the least cost of every other format plus the cost of counting the
/// lengths. Only the numbers of rows and entries of the profile are used.
pub(super) fn foregone(situation: &Situation) -> Option<FormatChoice> {
    let Profile { rows, entries, .. } = situation.profile;
    let [least, most] = Profile::bounds(
        [rows, situation.columns],
        entries,
        [situation.slice_sums, situation.block.sums],
        situation.longest,
    );
    let with = |profile| Situation { profile, ..*situation };
    let (least, most) = (with(least), with(most));
    let looked_at = |&format: &Format| Some((least.cost(format)? + situation.look(format), format));
    let mut costs: Vec<_> = Format::ALL.iter().filter_map(looked_at).collect();
    costs.sort_by_key(|&(cost, _)| cost);
    let highest = costs.iter().filter_map(|&(_, format)| Some((most.cost(format)?, format))).min_by_key(|of| of.0)?;
    let (cost, format) = highest;
    costs.retain(|(_, other)| *other != format);
    if costs.first().is_some_and(|(other, _)| *other < cost) {
        return None;
    }
    let uses = situation.request.uses;
    Some(FormatChoice::new(format, move || {
        format!(
            "{format} for {entries} entries in {rows} rows, however long they are: an execution takes as long as a copy \
             of {} at most ({} at least), with the conversion's share for {}",
            megabytes(cost),
            others(&costs),
            counted(uses as usize, "use")
        )
    }))
}

/// Chooses the format that needs no index of the rows. The format `csc` is for a matrix stored by
/// columns on a device without memory for the index. Returns `None` if the device or the matrix
/// does not support the format.
pub(super) fn without_rows(situation: &Situation) -> Option<FormatChoice> {
    let format = Format::Csc;
    situation
        .cost(format)
        .map(|_| FormatChoice::new(format, move || format!("{format}: an index of the rows has no room")))
}

fn others(costs: &[(u64, Format)]) -> String {
    let others: Vec<_> = costs.iter().map(|(cost, format)| format!("{format} {}", megabytes(*cost))).collect();
    format!("others: {}", others.join(", "))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.3} MB", bytes as f64 * 1e-6)
}

#[cfg(test)]
mod tests;
