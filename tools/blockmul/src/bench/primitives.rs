//! The primitives on arrays: scan, segmented sort, segmented reduction; the transposition of a
//! pattern. Each result is compared with a plain model. Bytes are those of every input, read once,
//! and of every output, written once.
use super::measure::{Bench, Case, Place, Subject, same_bits};
use super::operation::Operation;
use super::record::Record;
use crate::report::Size;
use blockmul::{Element, Result, matrix::Pattern, primitives_bench as primitives, reference};

/// The length of a segment from the number of a segment.
type Length = fn(u64) -> usize;

/// Columns of products: a mesh's, a random graph's, those of a Schur complement, a few among many
/// as in a graph with hubs (one in 4096 has tens of thousands), and hubs alone.
const SEGMENTS: [(&str, Length); 6] = [
    ("1 to 16", |i| 1 + random(i) as usize % 16),
    ("64", |_| 64),
    ("300 to 700", |i| 300 + random(i) as usize % 400),
    ("5400", |_| 5400),
    ("8 and hubs", |i| if i % 4096 == 0 { 50_000 } else { 8 }),
    ("500000", |_| 500_000),
];

/// Products summed into one entry: mostly one, some, and long ones.
const RUNS: [(&str, Length); 3] = [
    ("1 to 3", |i| 1 + random(i) as usize % 3),
    ("100", |_| 100),
    ("1 and 10000", |i| if i % 1000 == 0 { 10_000 } else { 1 }),
];

/// Numbers without order, the same in every run: the finalizer of SplitMix64 (Steele, Lea, Flood
/// 2014).
fn random(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Where segments begin that hold `elements` together, and that number.
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

impl Bench<'_> {
    /// Measures an operation on arrays of `elements` elements.
    pub fn arrays(&self, operation: Operation, place: &Place, elements: usize) -> Result<Vec<Record>> {
        let on = |name: String| self.on(place, operation, name);
        let of = |(text, length): &(&str, Length)| {
            (on(format!("{elements} in segments of {text}")), segments(elements, *length))
        };
        match operation {
            Operation::SegmentedScan => SEGMENTS.iter().map(of).map(|(on, ptr)| on.segmented_scan(&ptr)).collect(),
            Operation::Sort => SEGMENTS.iter().map(of).map(|(on, ptr)| on.sort(&ptr)).collect(),
            Operation::Reduce => RUNS.iter().map(of).map(|(on, ptr)| on.reduce(&ptr)).collect(),
            _ => Ok(vec![on(elements.to_string()).scan(elements)?]),
        }
    }
}

impl Subject<'_> {
    fn scan(&self, elements: usize) -> Result<Record> {
        let values: Vec<u64> = (0..elements as u64).map(|i| random(i) % 1000).collect();
        let (sums, runs) = primitives::scan(self.device(), &values, self.rounds())?;
        let before = values.iter().scan(0, |end, value| {
            *end += value;
            Some(*end - value)
        });
        let right = sums.len() == values.len() && sums.iter().copied().eq(before);
        self.measured(array("scan", "u64", elements, 16 * elements, right), runs)
    }

    fn segmented_scan(&self, ptr: &[u32]) -> Result<Record> {
        let n = ptr[ptr.len() - 1] as usize;
        let values: Vec<f64> = (0..n as u64).map(|i| random(i) as f64 * 2f64.powi(i as i32 % 41 - 20)).collect();
        let (sums, runs) = primitives::segmented_scan(self.device(), ptr, &values, self.rounds())?;
        let segments = ptr.windows(2).map(|ends| &values[ends[0] as usize..ends[1] as usize]);
        let want: Vec<f64> = segments.flat_map(|segment| reference::scan(segment, |x, y| x + y)).collect();
        let right = same_bits(&sums, &want);
        self.measured(array("segmented-scan", f64::NAME, n, 16 * n + 4 * ptr.len(), right), runs)
    }

    fn sort(&self, ptr: &[u32]) -> Result<Record> {
        let n = ptr[ptr.len() - 1];
        let rows: Vec<u32> = (0..n).map(|i| (random(u64::from(i)) % 1_000_000) as u32).collect();
        let payload: Vec<u32> = (0..n).collect();
        let ((found, carried), runs) = primitives::sort(self.device(), ptr, &rows, &payload, self.rounds())?;
        let mut want = payload;
        for segment in ptr.windows(2) {
            want[segment[0] as usize..segment[1] as usize].sort_by_key(|&i| rows[i as usize]);
        }
        let right = carried == want && found.iter().copied().eq(want.iter().map(|&i| rows[i as usize]));
        self.measured(array("sort", "u32", n as usize, 16 * n as usize + 4 * ptr.len(), right), runs)
    }

    fn reduce(&self, ptr: &[u32]) -> Result<Record> {
        let n = ptr[ptr.len() - 1] as usize;
        let ends: Vec<u32> = ptr[1..].iter().map(|&end| end - 1).collect();
        // Integers: their sums are exact in any order.
        let values: Vec<f64> = (0..n as u64).map(|i| (random(i) % 1000) as f64).collect();
        let (sums, runs) = primitives::reduce(self.device(), &ends, &values, self.rounds())?;
        let sum = |segment: &[u32]| values[segment[0] as usize..segment[1] as usize].iter().sum();
        let want: Vec<f64> = ptr.windows(2).map(sum).collect();
        let right = same_bits(&sums, &want);
        self.measured(array("reduce", f64::NAME, n, 8 * n + 12 * ends.len(), right), runs)
    }

    /// Times the transposition of a pattern.
    pub fn transpose_pattern(&self, pattern: &Pattern) -> Result<Record> {
        let ((found, source), runs) = primitives::transpose(self.device(), pattern, self.rounds())?;
        let (want, from) = pattern.transpose();
        let right = found == want && source.iter().map(|&entry| entry as usize).eq(from);
        let (entries, lines) = (pattern.nnz(), pattern.nrows() + pattern.ncols());
        let bytes = 12 * entries + 4 * (lines + 2);
        self.measured(array("transpose-pattern", "u32", entries, bytes, right), runs)
    }
}

fn array(variant: &str, element: &'static str, len: usize, bytes: usize, right: bool) -> Case {
    let bytes = Some(bytes as u64);
    Case { variant: variant.into(), element, a: Size::of_vector(len), c_nnz: len, bytes, right, ..Case::default() }
}
