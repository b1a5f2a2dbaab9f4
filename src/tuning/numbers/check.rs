//! The bounds of numbers: those with which kernels can be compiled.
use super::Numbers;
use crate::{Error, Result};

impl Numbers {
    /// Refuses numbers with which no kernel can be compiled.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: usize, why: &str| Err(Error::Argument(format!("{name} is {value}, {why}")));
        for (name, value) in [
            ("group_size", self.group_size),
            ("elementwise_group", self.elementwise_group),
            ("value_group", self.value_group),
            ("vector_group", self.vector_group),
            ("line_group", self.line_group),
            ("skewed_line_group", self.skewed_line_group),
            ("shared_line_group", self.shared_line_group),
            ("dense_group", self.dense_group),
            ("dense_lanes", self.dense_lanes),
            ("dense_common_lanes", self.dense_common_lanes),
            ("dense_vector_bytes", self.dense_vector_bytes),
            ("dense_vectors", self.dense_vectors),
            ("scan_group_size", self.scan_group_size),
            ("sort_group_size", self.sort_group_size),
            ("radix_group", self.radix_group),
            ("arrival_group", self.arrival_group),
            ("window_group_size", self.window_group_size),
            ("tile_group_size", self.tile_group_size),
            ("block_staged_group", self.block_staged_group),
            ("schur_group", self.schur_group),
            ("scalar_group", self.scalar_group),
            ("frontier_group", self.frontier_group),
        ] {
            if !value.is_power_of_two() || value > 1024 {
                return refuse(name, value, "not a power of two up to 1024");
            }
        }
        if self.schur_group < 32 {
            return refuse("schur_group", self.schur_group, "less than the longest side of a block");
        }
        if self.dense_lanes > 1 && self.dense_common_lanes == 1 {
            return refuse("dense_common_lanes", 1, "of one lane no line is shared");
        }
        for (name, value, most) in [
            ("serial_elements", self.serial_elements, 1 << 24),
            ("line_elements", self.line_elements, 1024),
            ("line_held", self.line_held, 2048),
            ("line_ahead", self.line_ahead, 16),
            ("skewed_line_ahead", self.skewed_line_ahead, 16),
            ("shared_line_elements", self.shared_line_elements, 1024),
            ("shared_line_ahead", self.shared_line_ahead, 16),
            ("direct_line_elements", self.direct_line_elements, 1 << 16),
            ("direct_line_terms", self.direct_line_terms, 32),
            ("line_group", self.line_group, 1024),
            ("line_together", self.line_together, 64),
            ("line_light", self.line_light, 1 << 24),
            ("least_shares", self.least_shares, 1 << 10),
            ("row_shortest", self.row_shortest, 1 << 24),
            ("scaled_elements", self.scaled_elements, 1 << 16),
            ("checked_items", self.checked_items, 1 << 16),
            ("binned_items", self.binned_items, 1 << 16),
            ("record_groups", self.record_groups, 1 << 16),
            ("list_record_groups", self.list_record_groups, 1 << 16),
            ("row_ahead", self.row_ahead, 16),
            ("dense_group", self.dense_group, 128),
            ("dense_lanes", self.dense_lanes, self.dense_group),
            ("dense_common", self.dense_common, 1 << 20),
            ("dense_common_lanes", self.dense_common_lanes, self.dense_lanes),
            ("dense_vector_bytes", self.dense_vector_bytes, 128),
            ("dense_vectors", self.dense_vectors, 4),
            ("dense_ahead", self.dense_ahead, 8),
            ("dense_long_ahead", self.dense_long_ahead, 64),
            ("dense_long", self.dense_long, 1 << 24),
            ("dense_long_average", self.dense_long_average, 1 << 10),
            ("dense_held_lines", self.dense_held_lines, 32),
            ("dense_tile", self.dense_tile, 1 << 24),
            ("dense_block_tile", self.dense_block_tile, 1 << 24),
            ("dense_group_lines", self.dense_group_lines, 32),
            ("dense_placed", self.dense_placed, 1 << 16),
            ("dense_chunk", self.dense_chunk, 1 << 16),
            ("dense_group_ahead", self.dense_group_ahead, 16),
            ("dense_staged", self.dense_staged, 1024),
            ("dense_copied_rows", self.dense_copied_rows, 1 << 16),
            ("dense_copied_cols", self.dense_copied_cols, 1 << 10),
            ("dense_kept_rows", self.dense_kept_rows, 512),
            ("dense_sum_bytes", self.dense_sum_bytes, 24 << 10),
            ("dense_cache_bytes", self.dense_cache_bytes, 1 << 40),
            ("dense_past_bytes", self.dense_past_bytes, 1 << 40),
            ("dense_reuse_percent", self.dense_reuse_percent, 1 << 30),
            ("scan_items", self.scan_items, 1 << 16),
            ("scan_direct_tiles", self.scan_direct_tiles, 1 << 20),
            ("drop_scan_items", self.drop_scan_items, 1 << 16),
            ("drop_scan_direct_tiles", self.drop_scan_direct_tiles, 1 << 20),
            ("sort_items", self.sort_items, 15),
            ("radix_items", self.radix_items, if self.radix_group < 32 { 1 << 24 } else { 32 }),
            ("radix_bits", self.radix_bits, 11),
            ("radix_shares", self.radix_shares, 1 << 10),
            ("tally_shares", self.tally_shares, 1 << 10),
            ("tally_counters", self.tally_counters, 1 << 10),
            ("tally_stretch", self.tally_stretch, 1 << 24),
            ("arrival_items", self.arrival_items, 32),
            ("arrival_average", self.arrival_average, 1 << 30),
            ("expansion_items", self.expansion_items, 15),
            ("expansion_local_bytes", self.expansion_local_bytes, 1 << 30),
            ("expansion_short_max", self.expansion_short_max, self.window_group_size * self.window_items / 2),
            ("serial_short_max", self.serial_short_max, 1 << 24),
            ("serial_insertion_max", self.serial_insertion_max, 1 << 10),
            ("serial_merge_cost", self.serial_merge_cost, 1 << 10),
            ("serial_deal_cost", self.serial_deal_cost, 1 << 10),
            ("serial_digit_cost", self.serial_digit_cost, 1 << 10),
            ("chunk_items", self.chunk_items, 12),
            ("chunk_entries", self.chunk_entries, 3584),
            ("chunk_look_products", self.chunk_look_products, 1 << 20),
            ("window_items", self.window_items, 15),
            ("tile_items", self.tile_items, 1 << 16),
            ("block_compiled_side", self.block_compiled_side, 16),
            ("block_held_area", self.block_held_area, 256),
            ("block_staged_bytes", self.block_staged_bytes, 12 << 10),
            ("block_long_run", self.block_long_run, 1024),
            ("block_serial_runs", self.block_serial_runs, 1 << 16),
            ("block_pairs_ahead", self.block_pairs_ahead, 1 << 10),
            ("scalar_ahead", self.scalar_ahead, 16),
            ("scalar_stretch", self.scalar_stretch, 1024),
            ("schur_short_line", self.schur_short_line, 1024),
            ("schur_line_bytes", self.schur_line_bytes, 24 << 10),
            ("schur_factor_side", self.schur_factor_side, 8),
            ("schur_factor_bytes", self.schur_factor_bytes, 24 << 10),
            ("range_sampled_products", self.range_sampled_products, 1 << 30),
            ("range_ahead", self.range_ahead, 1 << 10),
            ("host_products", self.host_products, 1 << 31),
            ("host_entry_ps", self.host_entry_ps, 1 << 30),
            ("host_far_ps", self.host_far_ps, 1 << 30),
            ("host_row_ps", self.host_row_ps, 1 << 30),
            ("host_multiplication_ps", self.host_multiplication_ps, 1 << 30),
            ("range_multiplication_ps", self.range_multiplication_ps, 1 << 30),
            ("mask_lookup_steps", self.mask_lookup_steps, 1 << 20),
            ("mask_probe_steps", self.mask_probe_steps, 1 << 20),
            ("mask_transpose_steps", self.mask_transpose_steps, 1 << 20),
            ("mask_hit_products", self.mask_hit_products, 1 << 20),
            ("plan_sums_percent", self.plan_sums_percent, 1 << 30),
            ("plan_sums_products", self.plan_sums_products, 1 << 31),
            ("adaptive_narrow_words", self.adaptive_narrow_words, self.adaptive_medium_words),
            ("adaptive_medium_words", self.adaptive_medium_words, 2560),
            ("adaptive_wide_words", self.adaptive_wide_words, 10_600),
            ("adaptive_small_hash_words", self.adaptive_small_hash_words, self.adaptive_medium_hash_words),
            ("adaptive_medium_hash_words", self.adaptive_medium_hash_words, self.adaptive_hash_words.min(6000)),
            ("adaptive_hash_words", self.adaptive_hash_words, 10_600),
            ("adaptive_hash_products", self.adaptive_hash_products, 1 << 31),
            ("adaptive_hash_bytes", self.adaptive_hash_bytes, 1 << 31),
            ("adaptive_far_words", self.adaptive_far_words, 1 << 27),
            ("adaptive_far_products", self.adaptive_far_products, 3584),
            ("adaptive_paired_products", self.adaptive_paired_products, 1 << 30),
            ("adaptive_big_products", self.adaptive_big_products, 1 << 30),
            ("adaptive_room_percent", self.adaptive_room_percent, 1000),
            ("adaptive_sampled_products", self.adaptive_sampled_products, 1 << 30),
            ("adaptive_equal_percent", self.adaptive_equal_percent, 101),
            ("adaptive_equal_products", self.adaptive_equal_products, 1 << 30),
            ("adaptive_equal_columns", self.adaptive_equal_columns, 8),
            ("adaptive_equal_piece", self.adaptive_equal_piece, 2560 / (self.adaptive_equal_columns + 1)),
            ("adaptive_sorted_products", self.adaptive_sorted_products, 3584),
            ("adaptive_long_column", self.adaptive_long_column, 1 << 30),
            ("adaptive_few_columns", self.adaptive_few_columns, 1 << 30),
            ("adaptive_resident_bytes", self.adaptive_resident_bytes, 1 << 30),
            ("adaptive_lanes", self.adaptive_lanes, 15),
            ("adaptive_lane_products", self.adaptive_lane_products, 1 << 30),
            ("adaptive_groups", self.adaptive_groups, 1 << 10),
            ("adaptive_analysis_us", self.adaptive_analysis_us, 1 << 30),
            ("adaptive_column_ps", self.adaptive_column_ps, 1 << 30),
            ("adaptive_bin_us", self.adaptive_bin_us, 1 << 30),
            ("adaptive_visit_ps", self.adaptive_visit_ps, 1 << 30),
            ("adaptive_longest_ns", self.adaptive_longest_ns, 1 << 30),
            ("frontier_tile", self.frontier_tile, 1 << 9),
            ("frontier_share", self.frontier_share, self.frontier_tile),
            ("frontier_groups", self.frontier_groups, 1 << 10),
            ("frontier_edges", self.frontier_edges, 1 << 20),
        ] {
            if value == 0 || value > most {
                return refuse(name, value, &format!("not from 1 to {most}"));
            }
        }
        if !self.adaptive_piece.is_power_of_two() || !(128..=1024).contains(&self.adaptive_piece) {
            return refuse("adaptive_piece", self.adaptive_piece, "not a power of two from 128 to 1024");
        }
        if self.radix_items < 2 {
            return refuse("radix_items", self.radix_items, "less than 2");
        }
        if !self.chunk_group_size.is_power_of_two() || !(64..=256).contains(&self.chunk_group_size) {
            return refuse("chunk_group_size", self.chunk_group_size, "not a power of two from 64 to 256");
        }
        if self.chunk_items < 2 || self.chunk_items >> self.chunk_items.trailing_zeros() > 7 {
            return refuse("chunk_items", self.chunk_items, "no odd number up to 7 times a power of two from 2 on");
        }
        // Of the widest elements, with a place more for each column.
        if self.dense_lanes > 1 && 8 * (self.dense_copied_rows + 1) * self.dense_copied_cols > 32 << 10 {
            return refuse("dense_copied_rows", self.dense_copied_rows, "too many for local memory of 32 KiB");
        }
        if self.adaptive_equal_piece < 64 {
            return refuse("adaptive_equal_piece", self.adaptive_equal_piece, "less than 64");
        }
        if self.host_entries > 1 << 31 {
            return refuse("host_entries", self.host_entries, "more than 2147483648");
        }
        if self.adaptive_hub_percent > 1 << 30 {
            return refuse("adaptive_hub_percent", self.adaptive_hub_percent, "more than 1073741824");
        }
        if self.range_one_pass_percent > 101 {
            return refuse("range_one_pass_percent", self.range_one_pass_percent, "more than 101");
        }
        if !self.frontier_tile.is_multiple_of(8) {
            return refuse("frontier_tile", self.frontier_tile, "not a multiple of 8");
        }
        if self.frontier_hops > 1 << 10 {
            return refuse("frontier_hops", self.frontier_hops, "more than 1024");
        }
        if self.range_shares > 1 << 10 {
            return refuse("range_shares", self.range_shares, "more than 1024");
        }
        if self.warp_instructions > 1 {
            return refuse("warp_instructions", self.warp_instructions, "neither 0 nor 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::tables::{CPU, GPU};

    #[test]
    fn numbers_that_cannot_be_are_refused_by_name() {
        let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
        assert!(refused(Numbers { group_size: 96, ..GPU }).contains("group_size is 96, not a power of two"));
        assert!(refused(Numbers { tile_items: 0, ..GPU }).contains("tile_items is 0"));
        assert!(refused(Numbers { schur_group: 16, ..GPU }).contains("schur_group is 16, less than the longest side"));
        assert!(refused(Numbers { line_elements: 1025, ..CPU }).contains("line_elements is 1025, not from 1 to 1024"));
        assert!(refused(Numbers { expansion_short_max: 577, ..GPU }).contains("expansion_short_max is 577"));
        assert!(refused(Numbers { dense_copied_rows: 128, ..GPU }).contains("dense_copied_rows is 128, too many"));
        assert!(refused(Numbers { frontier_tile: 20, ..CPU }).contains("frontier_tile is 20, not a multiple of 8"));
        assert!(refused(Numbers { warp_instructions: 2, ..GPU }).contains("warp_instructions is 2, neither 0 nor 1"));
        assert!(
            refused(Numbers { adaptive_piece: 32, ..GPU })
                .contains("adaptive_piece is 32, not a power of two from 128")
        );
        assert!(
            refused(Numbers { adaptive_equal_piece: 63, ..GPU }).contains("adaptive_equal_piece is 63, less than 64")
        );
        assert!(
            refused(Numbers { adaptive_equal_columns: 6, ..GPU }).contains("adaptive_equal_piece is 512, not from 1")
        );
        assert!(refused(Numbers { adaptive_narrow_words: 1537, ..GPU }).contains("adaptive_narrow_words is 1537"));
    }
}
