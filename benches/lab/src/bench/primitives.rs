//! The primitives on arrays: scan, segmented sort, segmented reduction. Each result is compared
//! with a plain model. The bytes count each input as read once and each output as written once.
use blockmul::{Element, Result, extra::primitives::bench as primitives, reference};
use blockmul_cli::bench::{
    measure::{Subject, same_bits},
    record::Record,
};
use blockmul_cli::matrix_size::Size;

/// Returns the length of a segment from the segment's number.
type Length = fn(u64) -> usize;

/// Lengths of segments as in the columns of products: columns of a mesh, of a random graph, of two
/// Schur complements, and of a graph with hubs, in which one column in 4096 is long. The last
/// segments are as long as the long columns of a graph with hubs.
const SEGMENTS: [(&str, Length); 6] = [
    ("1 to 16", |i| 1 + random(i) as usize % 16),
    ("64", |_| 64),
    ("300 to 700", |i| 300 + random(i) as usize % 400),
    ("5400", |_| 5400),
    ("8 and hubs", |i| if i % 4096 == 0 { 50_000 } else { 8 }),
    ("500000", |_| 500_000),
];

/// A single segment with all elements.
const WHOLE: (&str, Length) = ("all elements", |_| u32::MAX as usize);

/// Numbers of products that are summed into one entry: up to 3, 100, and mostly 1 but sometimes
/// 10,000.
const RUNS: [(&str, Length); 3] = [
    ("1 to 3", |i| 1 + random(i) as usize % 3),
    ("100", |_| 100),
    ("1 and 10000", |i| if i % 1000 == 0 { 10_000 } else { 1 }),
];

/// Random numbers that are the same in every run: the finalizer of SplitMix64 (Steele, Lea, Flood
/// 2014).
fn random(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns where each segment begins, and at the end `elements`, the number of elements in all
/// segments.
fn segments(elements: usize, length: Length) -> Vec<u32> {
    let mut ptr = vec![0];
    let mut total = 0;
    for i in 0.. {
        if total == elements {
            break;
        }
        total = elements.min(total + length(i));
        ptr.push(total as u32);
    }
    ptr
}

/// Times a scan of `elements` elements.
pub fn scan(on: &Subject<'_>, elements: usize) -> Result<Vec<Record>> {
    let values: Vec<u64> = (0..elements as u64).map(|i| random(i) % 1000).collect();
    let (sums, runs) = primitives::scan(on.device(), &values, rounds(on))?;
    let before = values.iter().scan(0, |end, value| {
        *end += value;
        Some(*end - value)
    });
    let right = sums.len() == values.len() && sums.iter().copied().eq(before);
    let array = Array { name: elements.to_string(), element: "u64", len: elements, bytes: 16 * elements };
    Ok(vec![array.record(on, right, runs)?])
}

/// Times scans of segments of several lengths.
pub fn segmented_scan(on: &Subject<'_>, elements: usize) -> Result<Vec<Record>> {
    let scan = |(text, length): &(&str, Length)| {
        let ptr = segments(elements, *length);
        let values: Vec<f64> = (0..elements as u64).map(|i| random(i) as f64 * 2f64.powi(i as i32 % 41 - 20)).collect();
        let (sums, runs) = primitives::segmented_scan(on.device(), &ptr, &values, rounds(on))?;
        let segments = ptr.windows(2).map(|ends| &values[ends[0] as usize..ends[1] as usize]);
        let want: Vec<f64> = segments.flat_map(|segment| reference::scan(segment, |x, y| x + y)).collect();
        let bytes = 16 * elements + 4 * ptr.len();
        Array::of_segments(text, f64::NAME, elements, bytes).record(on, same_bits(&sums, &want), runs)
    };
    SEGMENTS.iter().chain([&WHOLE]).map(scan).collect()
}

/// Times sorts of segments of several lengths.
pub fn sort(on: &Subject<'_>, elements: usize) -> Result<Vec<Record>> {
    let sort = |(text, length): &(&str, Length)| {
        let ptr = segments(elements, *length);
        let rows: Vec<u32> = (0..elements as u64).map(|i| (random(i) % 1_000_000) as u32).collect();
        let payload: Vec<u32> = (0..elements as u32).collect();
        let ((found, carried), runs) = primitives::sort(on.device(), &ptr, &rows, &payload, rounds(on))?;
        let mut want = payload;
        for segment in ptr.windows(2) {
            want[segment[0] as usize..segment[1] as usize].sort_by_key(|&i| rows[i as usize]);
        }
        let right = carried == want && found.iter().copied().eq(want.iter().map(|&i| rows[i as usize]));
        Array::of_segments(text, "u32", elements, 16 * elements + 4 * ptr.len()).record(on, right, runs)
    };
    SEGMENTS.iter().map(sort).collect()
}

/// Times sums of segments of several lengths.
pub fn reduce(on: &Subject<'_>, elements: usize) -> Result<Vec<Record>> {
    let reduce = |(text, length): &(&str, Length)| {
        let ptr = segments(elements, *length);
        let ends: Vec<u32> = ptr[1..].iter().map(|&end| end - 1).collect();
        // The values are integers, so that their sums are exact in any order.
        let values: Vec<f64> = (0..elements as u64).map(|i| (random(i) % 1000) as f64).collect();
        let (sums, runs) = primitives::reduce(on.device(), &ends, &values, rounds(on))?;
        let sum = |segment: &[u32]| values[segment[0] as usize..segment[1] as usize].iter().sum();
        let want: Vec<f64> = ptr.windows(2).map(sum).collect();
        let bytes = 8 * elements + 12 * ends.len();
        Array::of_segments(text, f64::NAME, elements, bytes).record(on, same_bits(&sums, &want), runs)
    };
    RUNS.iter().map(reduce).collect()
}

fn rounds(on: &Subject<'_>) -> usize {
    on.bench.args.patience.rounds.get() as usize
}

/// A primitive's input and output. The library itself measures the times.
struct Array {
    name: String,
    element: &'static str,
    len: usize,
    bytes: usize,
}

impl Array {
    fn of_segments(lengths: &str, element: &'static str, len: usize, bytes: usize) -> Self {
        Self { name: format!("{len} in segments of {lengths}"), element, len, bytes }
    }

    /// Returns the record of the times `runs`, without times if the result is wrong.
    fn record(self, on: &Subject<'_>, right: bool, runs: Vec<f64>) -> Result<Record> {
        let Self { name, element, len, bytes } = self;
        let record = on.place.record(&on.bench.messages, name, on.operation.to_owned())?;
        let (a, bytes) = (Size::of_vector(len), Some(bytes as u64));
        let record = Record { element, a, c_nnz: len, bytes, verified: right, ..record };
        Ok(if right { record.timed(runs, &[]) } else { record })
    }
}
