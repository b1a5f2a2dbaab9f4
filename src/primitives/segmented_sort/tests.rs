use super::*;
use crate::{OperandPair, Word, device::test_device};

/// The sort in plain Rust, stable within each segment. The payload is the element's former
/// position.
fn model(ptr: &[u32], rows: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut from: Vec<u32> = (0..rows.len() as u32).collect();
    ptr.windows(2).for_each(|ends| from[ends[0] as usize..ends[1] as usize].sort_by_key(|&i| rows[i as usize]));
    (from.iter().map(|&i| rows[i as usize]).collect(), from)
}

fn check<P: Word + PartialEq + std::fmt::Debug>(
    tuning: SortTuning,
    lengths: &[usize],
    row: impl Fn(usize) -> u32,
    payload: impl Fn(u32) -> P,
) -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let sums = |of: &dyn Fn(usize) -> usize| -> Vec<u32> {
        let ends = lengths.iter().scan(0, |end, &length| {
            *end += of(length) as u32;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let ptr = sums(&|length| length);
    let chunk_ptr = sums(&|length| if length > tuning.short_max { length.div_ceil(tuning.chunk) } else { 0 });
    let rows: Vec<u32> = (0..*ptr.last().unwrap() as usize).map(row).collect();
    let segments = SortSegments {
        ptr: &work.upload(&ptr)?,
        chunk_ptr: &work.upload(&chunk_ptr)?,
        longest: *lengths.iter().max().unwrap_or(&0) as u32,
        chunks: *chunk_ptr.last().unwrap(),
        has_short: lengths.iter().any(|length| (1..=tuning.short_max).contains(length)),
    };
    let payloads: Vec<P> = (0..rows.len() as u32).map(&payload).collect();
    let sort = SegmentedSort::new(&device, tuning, WordType::of::<P>())?;
    let (got_rows, got_payload) = sort.run(&work, segments, work.upload(&rows)?, work.upload(&payloads)?.into_any())?;
    let (want_rows, from) = model(&ptr, &rows);
    let brief = &lengths[..lengths.len().min(12)];
    assert!(got_rows.download(&work)? == want_rows, "rows differ: {tuning:?}, lengths {brief:?}");
    let want_payload: Vec<P> = from.into_iter().map(payload).collect();
    assert!(
        got_payload.typed::<P>().download(&work)? == want_payload,
        "payloads differ (stability): {tuning:?}, lengths {brief:?}"
    );
    Ok(())
}

/// Parameters so small that small inputs reach every size class, one for each kernel file.
fn tunings() -> [SortTuning; 2] {
    [SortTuning::parallel(32, 7), SortTuning { group_size: 1, short_max: 100, chunk: 200, serial: true }]
}

/// Many equal rows, some of them at the end of the range.
fn scattered(i: usize) -> u32 {
    let hash = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    if hash.is_multiple_of(50) { u32::MAX - (hash % 3) as u32 } else { (hash % 97) as u32 }
}

#[test]
fn agrees_with_its_model_where_classes_and_chunks_begin_and_end() -> Result<()> {
    for tuning in tunings() {
        let (short, chunk) = (tuning.short_max, tuning.chunk);
        // Sizes: zero; one; those of an item and of the insertion sort; around the longest short
        // segment, a chunk, and one to four passes.
        let sizes =
            [0, 1, 2, 8, 9, 10, 24, 25, short - 1, short, short + 1, chunk - 1, chunk, chunk + 1, 2 * chunk - 1];
        let sizes =
            [&sizes[..], &[2 * chunk, 2 * chunk + 1, 3 * chunk, 4 * chunk + 1, 5 * chunk + 7, 9 * chunk]].concat();
        for &size in &sizes {
            check(tuning, &[size], scattered, f64::from)?;
            check(tuning, &[0, 3, size, 0, 0, size, 1, 0], scattered, |i| i as f32)?;
        }
        check(tuning, &sizes, scattered, |i| OperandPair { a: i, b: !i })?;
        check(tuning, &sizes, |i| i as u32, f64::from)?;
        check(tuning, &sizes, |i| !i as u32, f64::from)?;
        check(tuning, &sizes, |_| 7, f64::from)?;
    }
    Ok(())
}

#[test]
fn empty_segments_cost_nothing_wherever_they_are() -> Result<()> {
    for tuning in tunings() {
        let mut lengths = vec![0; 300_000];
        check(tuning, &lengths, scattered, f64::from)?;
        for at in [0, 1, 150_000, 150_001, 299_999] {
            lengths[at] = if at == 150_000 { 3 * tuning.chunk } else { 50 };
        }
        check(tuning, &lengths, scattered, f64::from)?;
    }
    Ok(())
}

#[test]
fn every_mix_of_lengths() -> Result<()> {
    for tuning in tunings() {
        for seed in 0..6usize {
            let length = |i: usize| match scattered(i * 7 + seed * 1000) % 29 {
                0..=9 => 0,
                10..=24 => scattered(i + seed) as usize % 40,
                25..=27 => scattered(i) as usize % tuning.short_max * 2,
                _ => scattered(i) as usize % (7 * tuning.chunk),
            };
            check(tuning, &(0..500).map(length).collect::<Vec<_>>(), scattered, |i| OperandPair { a: i, b: 1 })?;
        }
    }
    Ok(())
}

#[test]
fn one_segment_of_millions_and_millions_of_tiny_ones() -> Result<()> {
    let info = test_device().info().clone();
    for tuning in [SortTuning::new(&info), SortTuning::parallel(64, 7)] {
        // A work-item that sorts alone does all passes by itself.
        check(tuning, &[if tuning.serial { 200_003 } else { 1_000_003 }], scattered, f64::from)?;
        check(tuning, &(0..1_000_000).map(|i| i % 4).collect::<Vec<_>>(), scattered, f64::from)?;
    }
    Ok(())
}

#[test]
fn tunings_fit_the_smallest_local_memory() {
    for group_size in [32, 64, 128, 256] {
        let tuning = SortTuning::parallel(group_size, 7);
        assert!(tuning.chunk * (size_of::<u32>() + size_of::<u16>()) + 64 <= 32 << 10);
        assert_eq!(tuning.chunk, 2 * tuning.short_max);
    }
    // Local memory in bytes for an expansion that is sorted before it is written. Local memory
    // holds rows, two words of payload, the former position of each product, and segment starts;
    // and for each item a segment and a word for a scan.
    let mut info = test_device().info().clone();
    info.kind = crate::DeviceKind::Gpu;
    for (group_size, local_bytes) in
        [(64, 32 << 10), (256, 32 << 10), (256, 47 << 10), (256, 48 << 10), (1024, 64 << 10)]
    {
        (info.max_group_size, info.local_bytes) = (group_size, local_bytes);
        let tuning = SortTuning::for_expansion(&info);
        assert!(tuning.chunk * (3 * 4 + 2 + 2) + tuning.group_size * (2 + 4) + 64 <= local_bytes as usize);
        assert!(tuning.short_max <= tuning.chunk);
    }
    info.max_group_size = 1;
    assert!(SortTuning::for_expansion(&info).serial);
    assert_eq!(
        [1, 896, 897, 1792, 1793, 3584, 3585].map(|n| SortTuning::parallel(256, 7).passes(n)),
        [0, 0, 0, 0, 1, 1, 2]
    );
}
