//! Compares the bounds that the host computes with the memory that products use.
use super::*;
use crate::product::{
    columns::adaptive::{AdaptiveMemory, bound, bound::HostProfile, find::Finder},
    terms::{Bound, CountedProduct},
};

/// Checks the bound of A·B: the bound predicts whether ESC computes all columns. For a product in
/// one band the bound is at most 1.5 times the memory that is used.
pub(super) fn check_bound<T: Element>(
    (a, b): (&Csc<T>, &Csc<T>),
    tuning: &AdaptiveTuning,
    free_bytes: u64,
    (counts, used_bytes): (&Counts, u64),
) -> Result<()> {
    let (device, (esc, _)) = (test_device(), numbers());
    let memory = AdaptiveMemory::new(device.info(), &esc, tuning, T::TYPE, a.nrows(), BandConsumer::ANY);
    let counted = CountedProduct::new(a.pattern(), b.pattern());
    let Bound { bands, peak_bytes: most } = bound(&memory, &counted, free_bytes)?;
    assert_eq!(bands.is_none(), counts.pipeline == Pipeline::Esc, "{:?} by {tuning:?}", counts.bins);
    let Some(bands) = bands else { return Ok(()) };
    assert_eq!(counted.all_products(), counts.products, "{tuning:?}");
    assert!(counts.bands <= bands && (bands == 1 || free_bytes < u64::MAX), "{} of {bands} bands", counts.bands);
    assert!(used_bytes <= most && most <= free_bytes, "{used_bytes} of {most}, {free_bytes} free by {tuning:?}");
    assert!(bands > 1 || most <= used_bytes + used_bytes / 2, "{used_bytes} of {most} by {tuning:?}");
    Ok(())
}

/// Checks that the host finds the sums of the classes and the samples that the device finds.
fn check_profile<T: Element>((a, b): (&Csc<T>, &Csc<T>), tuning: &AdaptiveTuning) -> Result<()> {
    let (device, (numbers, teams)) = (test_device(), numbers());
    let work = Work::new(&device, None);
    let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let finder = Finder::new(&device, teams, &numbers, tuning, T::TYPE)?;
    let patterns = (&*x.pattern, &*y.pattern);
    let rules = finder.rules(patterns);
    let on_device = finder.profile(&work, patterns, &rules)?;
    let on_host = HostProfile::new(&rules, &CountedProduct::new(a.pattern(), b.pattern()));
    assert_eq!(on_host.sizes, on_device.sizes, "{tuning:?}");
    assert_eq!(on_host.columns, on_device.column_sizes(&work, patterns.1)?, "{tuning:?}");
    Ok(())
}

#[test]
fn the_host_finds_the_classes_of_the_device() -> Result<()> {
    let different = |(spread, wide)| operands::<f64>(spread, wide);
    let same = equal::operands::<f64>(11, 40_000, &equal::LENGTHS);
    let all = [(1, 3000), (11, 40_000), (300, 900_000)].map(different).into_iter().chain([same]);
    for factors in all {
        let (a, b) = factors?;
        for method in [Method::Auto, Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash] {
            let usual = tuning(method);
            let few = AdaptiveTuning { sorted_most: usual.sorted_most.min(32), sampled_products: 0, ..usual };
            let far = AdaptiveTuning { far_words: 3, far_products: 1000, hub_percent: 100, ..few };
            let small =
                AdaptiveTuning { narrow_words: 8, medium_words: 40, wide_words: 1000, big_products: 500, ..few };
            let least = AdaptiveTuning { wide_words: 1, hash_products: 3000, hash_words: [40, 80, 160], ..usual };
            for tuning in [usual, few, far, small, least] {
                check_profile((&a, &b), &tuning)?;
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
        let memory = AdaptiveMemory::new(&info, &esc, &tuning, f64::TYPE, 1000, BandConsumer::ANY);
        let [with, without] = [Some(Class::Sorted64), None].map(|class| memory.need_sorted(columns, 100, class).bytes);
        assert!(with > without, "{columns}");
        memory.keeps_sorted(Class::Sorted64, columns, 100, free_bytes)
    };
    // Keys take 256 bytes a column. At most a 64th of the free memory, here of 64 MB, is kept.
    assert_eq!([4000, 4096, 5000].map(|columns| keeps(columns, u64::MAX)), [true, true, false]);
    assert_eq!([1 << 20, 2 << 20].map(|free_bytes| keeps(4000, free_bytes)), [false, true]);
}
