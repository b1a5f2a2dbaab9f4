//! Tests of refused numbers, and that every number has bounds.
use super::*;
use crate::{
    primitives::scan::ScanTuning,
    tuning::{
        tables::{CPU, GPU},
        tests::at_bound,
    },
};
use std::collections::BTreeSet;

#[test]
fn numbers_that_cannot_be_are_refused_by_name() {
    let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
    assert!(refused(Numbers { elementwise_group: 96, ..GPU }).contains("elementwise_group is 96, not a power of two"));
    assert!(refused(Numbers { tile_items: 0, ..GPU }).contains("tile_items is 0"));
    assert!(refused(Numbers { schur_group: 16, ..GPU }).contains("schur_group is 16, not a power of two from 32"));
    assert!(refused(Numbers { line_elements: 1025, ..CPU }).contains("line_elements is 1025, not from 1 to 1024"));
    assert!(refused(Numbers { expansion_short_max: 577, ..GPU }).contains("expansion_short_max is 577"));
    assert!(refused(Numbers { dense_copied_rows: 128, ..GPU }).contains("dense_copied_rows is 128, not from 1 to"));
    assert!(refused(Numbers { frontier_tile: 20, ..CPU }).contains("frontier_tile is 20, not a multiple of 8"));
    assert!(refused(Numbers { warp_instructions: 2, ..GPU }).contains("warp_instructions is 2, not from 0 to 1"));
    assert!(refused(Numbers { chunk_items: 9, ..GPU }).contains("chunk_items is 9, not an odd number up to 7"));
    assert!(
        refused(Numbers { adaptive_piece: 32, ..GPU }).contains("adaptive_piece is 32, not a power of two from 128")
    );
    let equal = Numbers { adaptive_equal_columns: 6, ..GPU };
    let why = "adaptive_equal_columns is 6, not from 1 to 4 if adaptive_equal_piece is 512";
    assert!(refused(equal).contains(why), "{}", refused(equal));
    assert!(refused(Numbers { adaptive_narrow_words: 1537, ..GPU }).contains("adaptive_narrow_words is 1537"));
}

/// Numbers whose product is bounded, while each alone is within its bounds.
#[test]
fn products_of_numbers_are_bounded() {
    let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
    let why = refused(Numbers { scan_group_size: 512, ..CPU });
    assert!(why.contains("scan_group_size is 512, not a power of two from 1 to 64 if scan_items is 4096"), "{why}");
    let why = refused(Numbers { sort_group_size: 512, ..GPU });
    let beside = "from 1 to 256 if sort_items is 7 and expansion_items is 11";
    assert!(why.contains("sort_group_size is 512, not a power of two ") && why.contains(beside), "{why}");
    for numbers in [
        Numbers { scan_items: 1 << 16, scan_group_size: 16, ..CPU },
        Numbers { scan_items: 1, ..CPU },
        Numbers { drop_scan_items: 1 << 16, ..CPU },
        Numbers { group_size: 1, drop_scan_items: 1, ..CPU },
    ] {
        assert!(refused(numbers).contains("_scan_items is") || refused(numbers).contains("scan_"));
    }
}

/// The work-groups of a kernel.
struct Group {
    kernel: &'static str,
    numbers: Numbers,
    local_bytes: usize,
    room: usize,
}

/// The kernels whose local memory grows with two numbers: the items of a group, and the elements
/// that each holds.
fn groups(table: Numbers, items: usize, held: usize) -> [Group; 6] {
    let (least, more) = (32 << 10, 48 << 10);
    // For each product a row, two words of payload, a place and a segment start; for each item a
    // word and a segment.
    let sorted = 16 * items * held + 6 * items + 64;
    // Blocks with an even number of rows, of which an item loads 2 to 4 at once. The items hold the
    // terms of two blocks each, and a word and a byte. After them come terms that are read
    // together.
    let rows = (2..=32).step_by(2).filter(|rows| (2..=4).contains(&(held / rows))).max().unwrap_or(0);
    let added = 2 * 4 * items * rows + 4 * (items + 16) + items + 4 * table.line_together + 64;
    let words = if held > 32 { items * held / 32 } else { items };
    let of = |kernel, numbers, local_bytes, room| Group { kernel, numbers, local_bytes, room };
    [
        of(
            "sorted_expansion of windows",
            Numbers { window_group_size: items, window_items: held, expansion_short_max: 1, ..table },
            sorted,
            least,
        ),
        of(
            "sorted_expansion of chunks",
            Numbers { sort_group_size: items, sort_items: held, expansion_items: 1, ..table },
            sorted,
            least,
        ),
        of(
            "sorted_expansion of chunks in more memory",
            Numbers { sort_group_size: items, sort_items: 1, expansion_items: held, ..table },
            sorted,
            more,
        ),
        of("sum_lines", Numbers { line_group: items, direct_line_terms: held, ..table }, added, least),
        of(
            "setup_segments",
            Numbers { scan_group_size: items, scan_items: held, ..table },
            7 * size_of::<u64>() * items,
            least,
        ),
        of(
            "gather_runs",
            Numbers { tile_group_size: items, tile_items: held, ..table },
            2 * 4 * words + 4 * items + 64,
            least,
        ),
    ]
}

#[test]
fn work_groups_of_accepted_numbers_fit_local_memory() {
    let held = || (1..=33).chain([64, 1000, 4096, 1 << 16]);
    let sizes = (0..=10).map(|power| 1 << power).flat_map(|items| held().map(move |held| (items, held)));
    for (table, (items, held)) in sizes.flat_map(|size| [(CPU, size), (GPU, size)]) {
        for Group { kernel, numbers, local_bytes, room } in groups(table, items, held) {
            let refused = numbers.check().is_err();
            assert!(refused || local_bytes <= room, "{kernel}: {local_bytes} bytes for {items} items with {held} each");
            let is_of_table = [CPU, GPU].contains(&numbers);
            assert!(!(refused && is_of_table), "{kernel}: the table's numbers are refused");
        }
    }
    for table in [CPU, GPU] {
        assert!(Numbers { expansion_local_bytes: (48 << 10) - 1, ..table }.check().is_err());
    }
}

/// The numbers of `table`, with each number in turn at each of its bounds.
fn at_bounds(table: Numbers) -> impl Iterator<Item = Numbers> {
    let end = move |bound: &Bound, end| {
        let numbers = at_bound(table, bound.name, bound.nearest(end));
        assert!(numbers != table || bound.nearest(end) == bound.value, "{} cannot be nearer to {end}", bound.name);
        numbers
    };
    table.bounds().into_iter().flat_map(move |bound| [end(&bound, bound.least), end(&bound, bound.most)])
}

/// Scanning the sums of tiles of one word would never end.
#[test]
fn tiles_of_scans_have_two_words_in_groups_of_any_size() {
    for numbers in [CPU, GPU].into_iter().flat_map(at_bounds) {
        for most in [1, 2, 64] {
            let cut = numbers.within(most);
            assert!(cut.scan_group_size <= most && cut.group_size <= most);
            let scan = (cut.scan_group_size, cut.scan_items, cut.scan_direct_tiles);
            let scan_of_drops = (cut.group_size, cut.drop_scan_items, cut.drop_scan_direct_tiles);
            for (group_size, items, direct_tiles) in [scan, scan_of_drops] {
                let tuning = ScanTuning { group_size, items, direct_tiles };
                assert!(tuning.tile() >= 2, "{tuning:?}");
                assert!(tuning.scratch_bytes(4, 1 << 20) > 0);
            }
        }
    }
}

#[test]
fn every_number_has_bounds_and_none_overflows() {
    for table in [CPU, GPU] {
        let bounds = table.bounds();
        let names: BTreeSet<_> = bounds.iter().map(|bound| bound.name).collect();
        assert_eq!(names, Numbers::NAMES.iter().copied().collect());
        let with = |names: &[&str], value| {
            let mut given = table;
            names.iter().for_each(|name| *given.named(name).unwrap() = value);
            given
        };
        for bound in &bounds {
            assert_eq!(with(&[bound.name], bound.value), table, "{}", bound.name);
            for value in [0, bound.least.wrapping_sub(1), bound.most + 1, usize::MAX] {
                let refused = with(&[bound.name], value).check().is_err();
                assert!(refused || bound.allows(value), "{} = {value}", bound.name);
            }
        }
        for value in [0, usize::MAX] {
            assert!(with(Numbers::NAMES, value).check().is_err());
        }
    }
}
