//! Compares bounds of the host, and its model of the classes, with products.
use super::*;
use crate::product::{
    columns::adaptive::AdaptiveMemory,
    terms::{ColumnCounts, EngineBound, no_columns},
};

/// Checks the bound of A·B within `free_bytes` bytes.
pub(super) fn check_bound<T: Element>(
    (a, b): (&Csc<T>, &Csc<T>),
    tuning: &AdaptiveTuning,
    free_bytes: u64,
    (counts, used_bytes): (&Counts, u64),
) -> Result<()> {
    let (device, (esc, _)) = (test_device(), numbers());
    let memory = AdaptiveMemory::new(device.info(), (&esc, tuning), (T::TYPE, a.nrows()), None);
    let of_columns = ColumnCounts::new(a.pattern(), b.pattern());
    let within = |free_bytes| memory.bound((a.pattern(), b.pattern()), &of_columns, free_bytes);
    assert_eq!(of_columns.all_products(), counts.products, "{tuning:?}");
    let bound = match within(free_bytes)? {
        EngineBound::Esc { .. } => {
            assert!(counts.pipeline == Pipeline::Esc, "{:?} by {tuning:?}", counts.bins);
            return Ok(());
        }
        EngineBound::OwnOrEsc(_) if counts.pipeline == Pipeline::Esc => return Ok(()),
        EngineBound::Own(bound) | EngineBound::OwnOrEsc(bound) => bound,
    };
    let most = bound.peak_bytes;
    assert!(counts.bands <= bound.bands, "{} of {} bands by {tuning:?}", counts.bands, bound.bands);
    assert!(used_bytes <= most && most <= free_bytes, "{used_bytes} of {most}, {free_bytes} free by {tuning:?}");
    assert!(bound.bands > 1 || most <= FACTOR * used_bytes, "{used_bytes} of {most} by {tuning:?}");
    if bound.bands == 1 {
        let (EngineBound::Own(again) | EngineBound::OwnOrEsc(again)) = within(most)? else { panic!("by {tuning:?}") };
        assert_eq!(again, bound, "{tuning:?}");
    }
    Ok(())
}

/// A bound of the operands of these tests is at most so many times what is used.
const FACTOR: u64 = 5;

/// The sums of the classes are those of the rules, for the columns that the device analysed.
#[test]
fn the_rules_are_those_of_the_device() -> Result<()> {
    let (device, (numbers, teams)) = (test_device(), numbers());
    let same = equal::operands::<f64>(11, 40_000, &equal::LENGTHS);
    for factors in [operands::<f64>(11, 40_000), operands(300, 900_000), same] {
        let ((a, b), work) = (factors?, Work::new(&device, None));
        let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
        let patterns = (&*x.pattern, &*y.pattern);
        for method in [Method::Auto, Method::Hash] {
            let usual = tuning(method);
            let small =
                AdaptiveTuning { hub_percent: 100, narrow_words: 8, medium_words: 40, big_products: 500, ..usual };
            let least = AdaptiveTuning { wide_words: 1, hash_products: 3000, hash_words: [40, 80, 160], ..usual };
            for tuning in [usual, small, least] {
                let finder = Finder::new(&device, teams, (numbers.group_size, numbers.scan), &tuning, f64::TYPE)?;
                let rules = finder.rules(patterns);
                let profile = finder.profile(&work, patterns, &rules)?;
                let mut sums = no_columns();
                let columns = profile.column_sizes(&work, patterns.1)?;
                columns.iter().for_each(|column| rules.add(&mut sums, column));
                assert_eq!(profile.sizes.sums, sums, "{tuning:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn sorted_keys_are_kept_if_there_is_room() {
    let (mut info, (esc, _)) = (test_device().info().clone(), numbers());
    (info.global_bytes, info.max_alloc_bytes) = (64 << 20, 32 << 20);
    let tuning = tuning(Method::Sort);
    let keeps = |columns: u64, free_bytes: u64| {
        let memory = AdaptiveMemory::new(&info, (&esc, &tuning), (f64::TYPE, 1000), None);
        let [with, without] = [Some(Class::Sorted64), None].map(|class| memory.need_sorted(columns, 100, class).bytes);
        assert!(with > without, "{columns}");
        memory.keeps_sorted(Class::Sorted64, columns, 100, free_bytes)
    };
    // Keys take 256 bytes a column. At most a 64th of 64 MB is kept.
    assert_eq!([4000, 4096, 5000].map(|columns| keeps(columns, u64::MAX)), [true, true, false]);
    assert_eq!([1 << 20, 2 << 20].map(|free_bytes| keeps(4000, free_bytes)), [false, true]);
}
