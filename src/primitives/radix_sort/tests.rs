use super::*;
use crate::device::test_device;

/// Sorts `n` keys below `keys`, and compares the result with the standard library's stable sort.
fn check(tuning: RadixTuning, n: usize, keys: usize, key: impl Fn(usize) -> u32) -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let sort = RadixSort::new(&device, tuning)?;
    let host: Vec<u32> = (0..n).map(key).collect();
    let mut from: Vec<usize> = (0..n).collect();
    from.sort_by_key(|&i| host[i]);
    let what = format!("{n} elements, {keys} keys, {tuning:?}");

    let on_device = work.upload(&host)?;
    let elements = Elements { key: &on_device, keys, order: None };
    let sorted = sort.run(&work, elements)?;
    let sorted_keys = sorted.key.download(&work)?;
    assert!(from.iter().map(|&i| host[i]).eq(sorted_keys.iter().copied()), "keys: {what}");
    assert!(from.iter().map(|&i| i as u32).eq(sorted.order.download(&work)?), "order: {what}");
    let keys = keys.min(1 << 20);
    let starts = sort.starts(&work, &sorted.key, keys)?.download(&work)?;
    let before = |key: usize| sorted_keys.partition_point(|&other| (other as usize) < key) as u32;
    assert!((0..=keys).map(before).eq(starts), "starts: {what}");

    // Elements carry the words of `carried` in place of their indices.
    let carried: Vec<u32> = (0..n as u32).map(|i| !(i * 3)).collect();
    let order = work.upload(&carried)?;
    let sorted = sort.run(&work, Elements { order: Some(&order), ..elements })?;
    assert!(from.iter().map(|&i| carried[i]).eq(sorted.order.download(&work)?), "carried: {what}");
    Ok(())
}

/// Keys below `keys`, many of them equal, some at both ends of the range.
fn scattered(keys: usize) -> impl Fn(usize) -> u32 {
    move |i| {
        let hash = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let last = keys as u64 - 1;
        (match hash % 8 {
            0 => hash / 8 % 3,
            1 => last.saturating_sub(hash / 8 % 3),
            _ => hash / 8 % (last + 1),
        })
        .min(last) as u32
    }
}

/// Groups of `group_size` work-items, and groups of one.
fn tunings(group_size: usize, items: usize, digit_bits: usize) -> [RadixTuning; 2] {
    [RadixTuning::parallel(group_size, items, digit_bits), RadixTuning::serial(items, digit_bits, 3)]
}

#[test]
fn small_tiles_and_digits_of_every_width() -> Result<()> {
    for (group_size, digit_bits, items) in [(32, 1, 2), (64, 2, 3), (64, 5, 4), (32, 8, 5), (64, 11, 2)] {
        for tuning in tunings(group_size, items, digit_bits) {
            let tile = tuning.tile(1);
            // Less than a tile, and several tiles of which the last has one element.
            for n in [tile - 1, 2 * tile + 1] {
                check(tuning, n, 300, scattered(300))?;
            }
        }
    }
    Ok(())
}

#[test]
fn agrees_with_the_standard_library() -> Result<()> {
    for tuning in tunings(128, 4, 5) {
        let tile = tuning.tile(1);
        for n in [0, 1, 2, tile - 1, tile, tile + 1, 3 * tile, 3 * tile + 1, 20 * tile + 7] {
            // The numbers of keys are one, which has no bit, and numbers around a power of two,
            // around one pass, and around two passes.
            for keys in [1, 2, 3, 31, 32, 33, 1024, 1025] {
                check(tuning, n, keys, scattered(keys))?;
            }
        }
        check(tuning, 1000, u32::MAX as usize, |i| (i * 4_294_967) as u32)?;
        check(tuning, 1000, 1000, |i| 999 - i as u32)?;
        check(tuning, 1000, 1000, |_| 999)?;
    }
    for digit_bits in 1..=11 {
        for tuning in tunings(64, 2, digit_bits) {
            check(tuning, 500, 5000, scattered(5000))?;
        }
    }
    Ok(())
}

#[test]
fn the_largest_key_may_be_all_ones() -> Result<()> {
    for tuning in tunings(32, 2, 3) {
        for keys in [2, 8, 9, 100] {
            check(tuning, 300, keys, |i| if i % 3 == 0 { u32::MAX } else { (i % (keys - 1)) as u32 })?;
        }
    }
    Ok(())
}

#[test]
fn of_the_devices_tuning() -> Result<()> {
    let tuning = RadixTuning::new(test_device().info());
    check(tuning, 100_003, 50_000, scattered(50_000))
}

#[test]
fn passes_share_the_bits_of_the_keys() {
    let digits = |keys, bits| RadixTuning::serial(1, bits, 1).digits(keys).collect::<Vec<_>>();
    assert_eq!(digits(0, 8), [[0, 1]]);
    assert_eq!(digits(1, 8), [[0, 1]]);
    assert_eq!(digits(2, 8), [[0, 2]]);
    assert_eq!(digits(256, 8), [[0, 256]]);
    assert_eq!(digits(257, 8), [[0, 32], [5, 16]]);
    assert_eq!(digits(1 << 20, 8), [[0, 128], [7, 128], [14, 64]]);
    assert_eq!(digits(1 << 20, 11), [[0, 1024], [10, 1024]]);
    assert_eq!(digits(u32::MAX as usize, 8), [[0, 256], [8, 256], [16, 256], [24, 256]]);
}

#[test]
fn more_elements_than_positions_are_refused() {
    assert!(refuse_more((1 << 31) - 1).is_ok());
    let told = refuse_more(1 << 31).unwrap_err().to_string();
    assert!(told.contains("2147483648") && told.contains("2147483647"), "{told}");
}

#[test]
fn tunings_fit_the_local_memory() {
    let mut info = test_device().info().clone();
    (info.kind, info.max_group_size) = (crate::DeviceKind::Gpu, 1024);
    for local_bytes in [4 << 10, 8 << 10, 32 << 10, 48 << 10] {
        info.local_bytes = local_bytes;
        let tuning = RadixTuning::new(&info);
        assert!(tuning.group_size >= 32 && tuning.local_bytes() as u64 <= local_bytes, "{tuning:?}");
        assert!(tuning.items >= 2 && tuning.digit_bits >= 1);
    }
    info.max_group_size = 16;
    assert_eq!(RadixTuning::new(&info).group_size, 1);
}
