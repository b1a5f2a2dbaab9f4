//! The bounds of numbers with which kernels can be compiled and run.
use super::Numbers;
use crate::{Error, Result};

/// Most words in a scan's tile. A CPU keeps the words of a whole group on the stack of a thread: 2
/// MiB if they have 64 bits. PoCL's threads have 8 MiB, and exceeding that ends the process.
const SCANNED: usize = 1 << 18;

/// Most elements of a tile that a group copies. Elements of the widest type fit 32 KiB of local
/// memory.
const COPIED: usize = 4096;

/// Most products that a work-group sorts before they are written
/// (`cl/product/esc/sorted_expansion.cl`) in the 32 KiB of local memory that every device has: 16
/// bytes for each product, and 6 for each work-item.
const SORTED: usize = 1792;

/// Bytes of local memory of every NVIDIA GPU.
const MORE_LOCAL_BYTES: usize = 48 << 10;

/// Most products that a work-group sorts in [`MORE_LOCAL_BYTES`].
const SORTED_IN_MORE: usize = 2816;

/// Most products of a tile of the expansion. For each 32 products `cl/product/esc/gather.cl` has
/// two words of local memory, 16 KiB in all.
const TILED: usize = 1 << 16;

/// Most work-items that share the tiles of a block (`src/product/tuning/blocks.rs`).
const STAGED_TEAM: usize = 32;

/// Most work-items that add up lines, times the terms of a sum that each loads at once. Blocks have
/// at most half as many rows as such terms, and a group holds the terms of two blocks for each item
/// (`cl/vector/line_pieces.cl`): 16 KiB of floats.
const LOADED: usize = 4096;

/// The kind of values that a number may have between its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    All,
    PowersOfTwo,
    MultiplesOf8,
    /// Odd numbers up to 7, times powers of two.
    OddTimesPowers,
}

/// A number with the values that it may have, given the other numbers.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub name: &'static str,
    pub value: usize,
    pub least: usize,
    pub most: usize,
    pub values: Values,
    /// The other numbers on which these bounds depend.
    pub beside: Vec<(&'static str, usize)>,
}

impl Bound {
    pub fn allows(&self, value: usize) -> bool {
        let is_of_kind = match self.values {
            Values::All => true,
            Values::PowersOfTwo => value.is_power_of_two(),
            Values::MultiplesOf8 => value.is_multiple_of(8),
            Values::OddTimesPowers => value >> value.trailing_zeros().min(63) <= 7,
        };
        is_of_kind && (self.least..=self.most).contains(&value)
    }

    /// The allowed value that is nearest to a bound.
    #[cfg(test)]
    pub fn nearest(&self, bound: usize) -> usize {
        let mut upwards = self.least..=self.most;
        let mut downwards = (self.least..=self.most).rev();
        let is_least = bound == self.least;
        if is_least { upwards.find(|&value| self.allows(value)) } else { downwards.find(|&value| self.allows(value)) }
            .unwrap()
    }

    fn check(&self) -> Result<()> {
        if self.allows(self.value) {
            return Ok(());
        }
        let Self { name, value, least, most, values, ref beside } = *self;
        let of_kind = match values {
            Values::All => "",
            Values::PowersOfTwo => "a power of two ",
            Values::MultiplesOf8 => "a multiple of 8 ",
            Values::OddTimesPowers => "an odd number up to 7 times a power of two ",
        };
        let beside: Vec<_> = beside.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" if {}", beside.join(" and ")) };
        Err(Error::Argument(format!("{name} is {value}, not {of_kind}from {least} to {most}{beside}")))
    }
}

/// The least value of a factor of a scan's tile if the other factor is `other`. A tile must have
/// two words: tiles of one word would be as many as the words, and scanning their sums would never
/// end.
pub(super) fn least_of_tile(other: usize) -> usize {
    if other > 1 { 1 } else { 2 }
}

/// The largest value of a factor, up to `most`, such that the product with `other` is at most
/// `room`.
fn most_of(room: usize, other: usize, most: usize) -> usize {
    (room / other.max(1)).min(most)
}

impl Numbers {
    /// Refuses numbers with which a kernel cannot be compiled or run.
    pub(crate) fn check(&self) -> Result<()> {
        self.bounds().iter().try_for_each(Bound::check)
    }

    /// Every number with its bounds.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let n = self;
        macro_rules! bound {
            ($values:ident, $name:ident, $least:expr, $most:expr $(, $beside:ident)*) => {
                Bound {
                    name: stringify!($name),
                    value: n.$name,
                    least: $least,
                    most: $most,
                    values: Values::$values,
                    beside: vec![$((stringify!($beside), n.$beside)),*],
                }
            };
        }
        macro_rules! range { ($($of:tt)*) => { bound!(All, $($of)*) } }
        macro_rules! powers { ($($of:tt)*) => { bound!(PowersOfTwo, $($of)*) } }
        macro_rules! eights { ($($of:tt)*) => { bound!(MultiplesOf8, $($of)*) } }
        macro_rules! odd { ($($of:tt)*) => { bound!(OddTimesPowers, $($of)*) } }
        vec![
            powers!(
                group_size,
                least_of_tile(n.drop_scan_items),
                most_of(SCANNED, n.drop_scan_items, 1024),
                drop_scan_items
            ),
            powers!(elementwise_group, 1, 1024),
            powers!(value_group, 1, 1024),
            range!(serial_elements, 1, 1 << 24),
            powers!(vector_group, 1, 1024),
            powers!(line_group, 1, most_of(LOADED, n.direct_line_terms, 1024), direct_line_terms),
            range!(line_elements, 1, 1024),
            range!(line_held, 1, 2048),
            range!(line_together, 1, 64),
            range!(guessed_line, 0, 1 << 24),
            range!(line_ahead, 1, 16),
            powers!(skewed_line_group, 1, 1024),
            range!(skewed_line_ahead, 1, 16),
            powers!(shared_line_group, 1, 1024),
            range!(shared_line_elements, 1, 1024),
            range!(shared_line_ahead, 1, 16),
            range!(direct_line_elements, 1, 1 << 16),
            range!(direct_line_terms, 1, most_of(LOADED, n.line_group, 32), line_group),
            range!(line_light, 1, 1 << 24),
            range!(row_stretch, 0, 1 << 24),
            range!(least_shares, 1, 1 << 10),
            range!(row_shortest, 1, 1 << 24),
            range!(row_ahead, 1, 16),
            powers!(dense_group, 1, 128),
            powers!(dense_lanes, 1, n.dense_group, dense_group),
            range!(dense_common, 1, 1 << 20),
            powers!(dense_common_lanes, if n.dense_lanes > 1 { 2 } else { 1 }, n.dense_lanes, dense_lanes),
            powers!(dense_vector_bytes, 1, 128),
            powers!(dense_vectors, 1, 4),
            range!(dense_ahead, 1, 8),
            range!(dense_long_ahead, 1, 64),
            range!(dense_long, 1, 1 << 24),
            range!(dense_long_average, 1, 1 << 10),
            range!(dense_held_lines, 1, 32),
            range!(dense_tile, 1, 1 << 24),
            range!(dense_block_tile, 1, 1 << 24),
            range!(dense_group_lines, 1, 32),
            range!(dense_placed, 1, 1 << 16),
            range!(dense_chunk, 1, 1 << 16),
            range!(dense_group_ahead, 1, 16),
            range!(dense_staged, 1, 1024),
            range!(
                dense_copied_rows,
                1,
                if n.dense_lanes > 1 { (COPIED / n.dense_copied_cols.max(1)).saturating_sub(1) } else { 1 << 16 }
            ),
            range!(
                dense_copied_cols,
                1,
                if n.dense_lanes > 1 { COPIED / n.dense_copied_rows.saturating_add(1) } else { 1 << 10 }
            ),
            range!(dense_kept_rows, 1, 512),
            range!(dense_sum_bytes, 1, 24 << 10),
            range!(dense_cache_bytes, 1, 1 << 40),
            range!(dense_past_bytes, 1, 1 << 40),
            range!(dense_reuse_percent, 1, 1 << 30),
            range!(scaled_elements, 1, 1 << 16),
            range!(checked_items, 1, 1 << 16),
            range!(binned_items, 1, 1 << 16),
            range!(record_groups, 1, 1 << 16),
            // The seven words of each item in `cl/product/esc/analysis.cl` fit 32 KiB.
            powers!(scan_group_size, least_of_tile(n.scan_items), most_of(SCANNED, n.scan_items, 512), scan_items),
            range!(
                scan_items,
                least_of_tile(n.scan_group_size),
                most_of(SCANNED, n.scan_group_size, 1 << 16),
                scan_group_size
            ),
            range!(scan_direct_tiles, 1, 1 << 20),
            range!(drop_scan_items, least_of_tile(n.group_size), most_of(SCANNED, n.group_size, 1 << 16), group_size),
            range!(drop_scan_direct_tiles, 1, 1 << 20),
            powers!(
                sort_group_size,
                1,
                most_of(SORTED, n.sort_items, 1024).min(SORTED_IN_MORE / n.expansion_items.max(1)),
                sort_items,
                expansion_items
            ),
            range!(sort_items, 1, most_of(SORTED, n.sort_group_size, 15), sort_group_size),
            powers!(radix_group, 1, 1024),
            range!(radix_items, 2, if n.radix_group < 32 { 1 << 24 } else { 32 }, radix_group),
            range!(radix_bits, 1, 11),
            range!(radix_shares, 1, 1 << 10),
            powers!(arrival_group, 1, 1024),
            range!(arrival_items, 1, 32),
            range!(arrival_average, 1, 1 << 30),
            range!(tally_shares, 1, 1 << 10),
            range!(tally_counters, 1, 1 << 10),
            range!(tally_stretch, 1, 1 << 24),
            range!(expansion_items, 1, most_of(SORTED_IN_MORE, n.sort_group_size, 15), sort_group_size),
            range!(expansion_local_bytes, MORE_LOCAL_BYTES, 1 << 30),
            range!(
                expansion_short_max,
                1,
                n.window_group_size.saturating_mul(n.window_items) / 2,
                window_group_size,
                window_items
            ),
            powers!(chunk_group_size, 64, 256),
            odd!(chunk_items, 2, 12),
            range!(chunk_entries, 1, 3584),
            range!(chunk_look_products, 1, 1 << 20),
            range!(serial_short_max, 1, 1 << 24),
            range!(serial_insertion_max, 1, 1 << 10),
            range!(serial_merge_cost, 1, 1 << 10),
            range!(serial_deal_cost, 1, 1 << 10),
            range!(serial_digit_cost, 1, 1 << 10),
            powers!(
                window_group_size,
                n.expansion_short_max.saturating_mul(2).div_ceil(n.window_items.max(1)),
                most_of(SORTED, n.window_items, 1024),
                window_items,
                expansion_short_max
            ),
            range!(
                window_items,
                n.expansion_short_max.saturating_mul(2).div_ceil(n.window_group_size.max(1)),
                most_of(SORTED, n.window_group_size, 15),
                window_group_size,
                expansion_short_max
            ),
            powers!(tile_group_size, 1, most_of(TILED, n.tile_items, 1024), tile_items),
            range!(tile_items, 1, most_of(TILED, n.tile_group_size, 1 << 16), tile_group_size),
            range!(block_compiled_side, 1, 16),
            range!(block_held_area, 1, 128),
            range!(block_staged_bytes, 1, 12 << 10),
            powers!(block_staged_group, STAGED_TEAM, 1024),
            range!(block_long_run, 1, 1024),
            range!(block_serial_runs, 1, 1 << 16),
            range!(block_pairs_ahead, 1, 1 << 10),
            powers!(scalar_group, 1, 1024),
            range!(scalar_ahead, 1, 16),
            range!(scalar_stretch, 1, 1024),
            powers!(schur_group, 32, 1024),
            range!(schur_short_line, 1, 1024),
            range!(schur_line_bytes, 1, 24 << 10),
            range!(schur_factor_side, 1, 8),
            range!(schur_factor_bytes, 1, 24 << 10),
            range!(warp_instructions, 0, 1),
            range!(host_entries, 0, 1 << 31),
            range!(host_products, 1, 1 << 31),
            range!(host_entry_ps, 1, 1 << 30),
            range!(host_far_ps, 1, 1 << 30),
            range!(host_row_ps, 1, 1 << 30),
            range!(host_multiplication_ps, 1, 1 << 30),
            range!(range_shares, 0, 1 << 10),
            range!(range_one_pass_percent, 0, 101),
            range!(range_sampled_products, 1, 1 << 30),
            range!(range_ahead, 1, 1 << 10),
            range!(range_multiplication_ps, 1, 1 << 30),
            range!(mask_lookup_steps, 1, 1 << 20),
            range!(mask_probe_steps, 1, 1 << 20),
            range!(mask_transpose_steps, 1, 1 << 20),
            range!(mask_hit_products, 1, 1 << 20),
            range!(plan_sums_percent, 1, 1 << 30),
            range!(plan_sums_products, 1, 1 << 31),
            range!(adaptive_narrow_words, 1, n.adaptive_medium_words, adaptive_medium_words),
            range!(adaptive_medium_words, 1, 2560),
            range!(adaptive_wide_words, 1, 10_600),
            range!(adaptive_paired_products, 1, 1 << 30),
            range!(adaptive_big_products, 1, 1 << 30),
            range!(adaptive_small_hash_words, 1, n.adaptive_medium_hash_words, adaptive_medium_hash_words),
            range!(adaptive_medium_hash_words, 1, n.adaptive_hash_words.min(6000), adaptive_hash_words),
            range!(adaptive_hash_words, 1, 10_600),
            range!(adaptive_hash_products, 1, 1 << 31),
            range!(adaptive_hash_bytes, 1, 1 << 31),
            range!(adaptive_far_words, 1, 1 << 27),
            range!(adaptive_far_products, 1, 3584),
            powers!(adaptive_piece, 128, 1024),
            range!(adaptive_room_percent, 1, 1000),
            range!(adaptive_sampled_products, 1, 1 << 30),
            range!(adaptive_hub_percent, 0, 1 << 30),
            range!(adaptive_equal_percent, 1, 101),
            range!(adaptive_equal_products, 1, 1 << 30),
            range!(
                adaptive_equal_columns,
                1,
                (2560 / n.adaptive_equal_piece.max(1)).saturating_sub(1).min(8),
                adaptive_equal_piece
            ),
            range!(adaptive_equal_piece, 64, 2560 / n.adaptive_equal_columns.saturating_add(1), adaptive_equal_columns),
            range!(adaptive_sorted_products, 1, 3584),
            range!(adaptive_long_column, 1, 1 << 30),
            range!(adaptive_few_columns, 1, 1 << 30),
            range!(adaptive_resident_bytes, 1, 1 << 30),
            range!(adaptive_lanes, 1, 15),
            range!(adaptive_lane_products, 1, 1 << 30),
            range!(adaptive_groups, 1, 1 << 10),
            range!(adaptive_analysis_us, 1, 1 << 30),
            range!(adaptive_column_ps, 1, 1 << 30),
            range!(adaptive_bin_us, 1, 1 << 30),
            range!(adaptive_visit_ps, 1, 1 << 30),
            range!(adaptive_longest_ns, 1, 1 << 30),
            powers!(frontier_group, 1, 1024),
            eights!(frontier_tile, n.frontier_share.max(8), 1 << 9, frontier_share),
            range!(frontier_share, 1, n.frontier_tile, frontier_tile),
            range!(frontier_hops, 0, 1 << 10),
            range!(frontier_groups, 1, 1 << 10),
            range!(frontier_edges, 1, 1 << 20),
        ]
    }
}

#[cfg(test)]
mod tests;
