//! Tests that invalid numbers are refused, and that every number has bounds.
use super::*;
use crate::{
    device::test_device,
    primitives::{drop_entries, scan::ScanTuning},
    tuning::{SharedNumbers, tests::at_bound},
};
use std::collections::BTreeSet;

const KINDS: [DeviceKind; 2] = [DeviceKind::Cpu, DeviceKind::Gpu];

fn given<const N: usize>(numbers: [(&str, usize); N]) -> GivenNumbers {
    numbers.map(|(name, value)| (name.to_owned(), value)).into()
}

fn refused<const N: usize>(kind: DeviceKind, numbers: [(&str, usize); N]) -> String {
    check(kind, &given(numbers)).unwrap_err().to_string()
}

#[test]
fn the_tables_can_be_compiled_with() -> Result<()> {
    for kind in [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Accelerator, DeviceKind::Other] {
        bounds(kind, &given([]), usize::MAX).iter().try_for_each(Bound::check)?;
    }
    Ok(())
}

#[test]
fn numbers_that_cannot_be_are_refused_by_name() {
    let [cpu, gpu] = KINDS;
    assert!(refused(gpu, [("group_size", 96)]).contains("group_size is 96, not a power of two"));
    assert!(refused(gpu, [("tile_items", 0)]).contains("tile_items is 0"));
    assert!(refused(gpu, [("schur_short_line", 1025)]).contains("schur_short_line is 1025, not from 1 to 1024"));
    assert!(refused(gpu, [("dense_copied_rows", 128)]).contains("dense_copied_rows is 128, not from 1 to 127"));
    assert!(refused(cpu, [("frontier_tile", 20)]).contains("frontier_tile is 20, not a multiple of 8"));
    assert!(refused(gpu, [("warp_instructions", 2)]).contains("warp_instructions is 2, not from 0 to 1"));
    assert!(refused(gpu, [("adaptive_piece", 32)]).contains("adaptive_piece is 32, not a power of two from 128"));
    let why = "adaptive_narrow_words is 1537, not from 1 to 1536 if adaptive_medium_words is 1536";
    assert!(refused(gpu, [("adaptive_narrow_words", 1537)]).contains(why));
    let unknown = refused(gpu, [("adaptive_groups", 32), ("tile_items", 8)]);
    assert!(unknown.contains("there is no number `adaptive_groups` (earlier versions had more): remove it, or give"));
}

/// Tests numbers that are within their own bounds, but whose product is too large.
#[test]
fn products_of_numbers_are_bounded() {
    let [cpu, gpu] = KINDS;
    let why = refused(cpu, [("scan_group_size", 512)]);
    assert!(why.contains("scan_group_size is 512, not a power of two from 1 to 64 if scan_items is 4096"), "{why}");
    let why = refused(gpu, [("sort_group_size", 512)]);
    assert!(why.contains("sort_group_size is 512, not a power of two from 1 to 256"), "{why}");
    assert!(refused(cpu, [("scan_items", 1 << 16), ("scan_group_size", 16)]).contains("scan_"));
    assert!(refused(cpu, [("scan_items", 1)]).contains("scan_"));
    assert!(refused(cpu, [("drop_scan_items", 257)]).contains("drop_scan_items is 257, not from 2 to 256"));
}

/// A kernel whose local memory grows with two numbers: the number of items of a work-group, and the
/// number of elements that each item holds.
struct Group {
    kernel: &'static str,
    numbers: [&'static str; 2],
    local_bytes: usize,
}

fn groups(items: usize, held: usize) -> [Group; 2] {
    let words = if held > 32 { items * held / 32 } else { items };
    [
        Group {
            kernel: "setup_segments",
            numbers: ["scan_group_size", "scan_items"],
            local_bytes: 7 * size_of::<u64>() * items,
        },
        Group {
            kernel: "gather_runs",
            numbers: ["tile_group_size", "tile_items"],
            local_bytes: 2 * 4 * words + 4 * items + 64,
        },
    ]
}

#[test]
fn work_groups_of_accepted_numbers_fit_local_memory() {
    let held = || (1..=33).chain([64, 1000, 4096, 1 << 16]);
    let sizes = (0..=10).map(|power| 1 << power).flat_map(|items| held().map(move |held| (items, held)));
    let (mut accepted, mut all) = (0, 0);
    for (kind, (items, held)) in sizes.flat_map(|size| KINDS.map(|kind| (kind, size))) {
        for Group { kernel, numbers: [of_items, of_held], local_bytes } in groups(items, held) {
            let fits = check(kind, &given([(of_items, items), (of_held, held)])).is_ok();
            assert!(!fits || local_bytes <= 32 << 10, "{kernel}: {local_bytes} bytes for {items} items of {held}");
            (accepted, all) = (accepted + usize::from(fits), all + 1);
        }
    }
    assert!(accepted > all / 2 && accepted < all, "{accepted} of {all} are accepted");
}

/// Many sets of numbers for a kind of device. In each set one number is at one of its bounds.
fn at_bounds(kind: DeviceKind) -> impl Iterator<Item = GivenNumbers> {
    let end = move |bound: &Bound, end| {
        let numbers = at_bound(kind, given([]), bound.name, bound.nearest(end));
        let moved = numbers[bound.name] != bound.value;
        assert!(moved || bound.nearest(end) == bound.value, "{} cannot be nearer to {end}", bound.name);
        numbers
    };
    let all = bounds(kind, &given([]), usize::MAX);
    all.into_iter().flat_map(move |bound| [end(&bound, bound.least), end(&bound, bound.most)])
}

/// Tests that tiles have at least two words. If a tile had one word, the scan of the sums of tiles
/// would never end.
#[test]
fn tiles_of_scans_have_two_words_in_groups_of_any_size() -> Result<()> {
    for (kind, numbers) in KINDS.into_iter().flat_map(|kind| at_bounds(kind).map(move |numbers| (kind, numbers))) {
        for max_group_size in [1, 2, 64] {
            let mut info = test_device().info().clone();
            (info.kind, info.max_group_size) = (kind, max_group_size);
            let section = if kind == DeviceKind::Cpu { "cpu" } else { "gpu" };
            let info = info.with_file(&serde_json::json!({ section: numbers }).to_string())?;
            let group_size = info.numbers::<SharedNumbers>().group_size;
            for tuning in [ScanTuning::new(&info), drop_entries::scan_tuning(&info, group_size)] {
                assert!(tuning.tile() >= 2 && tuning.group_size <= max_group_size, "{tuning:?}");
                assert!(tuning.scratch_bytes(4, 1 << 20) > 0);
            }
        }
    }
    Ok(())
}

#[test]
fn every_number_has_a_name_of_its_own_and_bounds_that_do_not_overflow() {
    let all: BTreeSet<_> = names().collect();
    assert_eq!(all.len(), names().count(), "two stages have the same name");
    for kind in KINDS {
        for bound in bounds(kind, &given([]), usize::MAX) {
            assert!(all.contains(bound.name));
            assert!(check(kind, &given([(bound.name, bound.value)])).is_ok(), "{}", bound.name);
            for value in [0, bound.least.wrapping_sub(1), bound.most + 1, usize::MAX] {
                let refused = check(kind, &given([(bound.name, value)])).is_err();
                assert!(refused || bound.allows(value), "{} = {value}", bound.name);
            }
        }
        for value in [0, usize::MAX] {
            let every = names().map(|name| (name.to_owned(), value)).collect();
            assert!(check(kind, &every).is_err());
        }
    }
}
