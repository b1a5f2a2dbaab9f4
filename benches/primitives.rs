//! What the pipeline rests on, each on its own: scan, segmented sort over several mixes of segment lengths, segmented reduction, transposition.
//!
//! ```text
//! cargo bench --bench primitives -- [--device NAME] [--elements N] [--rounds N]
//! ```
//!
//! Every result is compared with a plain model on the host before its time counts. The bytes are those that must move, each input read and
//! each output written once; the last column says how many times longer they take than a copy of as many bytes in the same run.
#[path = "common/median.rs"]
mod median;

use blockmul::{BlockShape, Device, device::DeviceKind, generate, primitives_bench as primitives};
use median::median;

type Anything = Result<(), Box<dyn std::error::Error>>;

struct Bench {
    device: Device,
    rounds: usize,
    /// Bytes a millisecond, read and written.
    copy: f64,
}

fn main() -> Anything {
    let (mut wanted, mut elements, mut rounds) = ("auto".to_owned(), None, 11);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--elements" => elements = Some(args.next().ok_or("--elements needs a number")?.parse()?),
            "--rounds" => rounds = args.next().ok_or("--rounds needs a number")?.parse()?,
            _ => {}
        }
    }
    let device = Device::select(&wanted)?;
    // Well above what caches keep.
    let elements: usize = elements.unwrap_or(if device.info().kind == DeviceKind::Cpu { 1 << 23 } else { 1 << 26 });
    println!("{}, {elements} elements, medians of {rounds}", device.info().name);
    let values: Vec<u64> = (0..elements as u64).map(|i| random(i) % 1000).collect();
    let copy = device.copy_bandwidth()? / 1e3;
    let bench = Bench { device, rounds, copy };
    println!("{:<28} {:>10} {:>9} {:>9} {:>8}", "", "bytes", "ms", "GB/s", "x copy");
    bench.scan(&values)?;
    for (name, length) in SEGMENTS {
        bench.sort(name, &segments(elements, length))?;
    }
    for (name, length) in RUNS {
        bench.reduce(name, &segments(elements, length))?;
    }
    bench.transpose(elements)
}

/// Numbers without order, the same in every run: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn random(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The length of a segment from the number of a segment.
type Length = fn(u64) -> usize;

/// Columns of products: a mesh's, a random graph's, those of a Schur complement, a few among many as in a graph with hubs (one in
/// 4096 has tens of thousands), and hubs alone.
const SEGMENTS: [(&str, Length); 6] = [
    ("sort, segments of 1 to 16", |i| 1 + random(i) as usize % 16),
    ("sort, of 64", |_| 64),
    ("sort, of 300 to 700", |i| 300 + random(i) as usize % 400),
    ("sort, of 5400", |_| 5400),
    ("sort, of 8 and hubs", |i| if i % 4096 == 0 { 50_000 } else { 8 }),
    ("sort, of 500000", |_| 500_000),
];

/// Products summed into one entry: mostly one, some, and long ones.
const RUNS: [(&str, Length); 3] = [
    ("reduce, runs of 1 to 3", |i| 1 + random(i) as usize % 3),
    ("reduce, of 100", |_| 100),
    ("reduce, of 1 and of 10000", |i| if i % 1000 == 0 { 10_000 } else { 1 }),
];

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

impl Bench {
    fn tell(&self, name: &str, bytes: usize, times: Vec<f64>) {
        let (bytes, ms) = (bytes as f64, median(times));
        println!("{name:<28} {bytes:>10.0} {ms:>9.3} {:>9.2} {:>8.2}", bytes / ms / 1e6, ms * self.copy / bytes);
    }

    fn scan(&self, values: &[u64]) -> Anything {
        let (sums, times) = primitives::scan(&self.device, values, self.rounds)?;
        let mut before = 0;
        for (i, (&value, &sum)) in values.iter().zip(&sums).enumerate() {
            assert_eq!(sum, before, "scan: value {i}");
            before += value;
        }
        self.tell("scan", 16 * values.len(), times);
        Ok(())
    }

    fn sort(&self, name: &str, ptr: &[u32]) -> Anything {
        let n = ptr[ptr.len() - 1];
        let rows: Vec<u32> = (0..n).map(|i| (random(u64::from(i)) % 1_000_000) as u32).collect();
        let payload: Vec<u32> = (0..n).collect();
        let ((found, carried), times) = primitives::sort(&self.device, ptr, &rows, &payload, self.rounds)?;
        let mut want = payload;
        for segment in ptr.windows(2) {
            want[segment[0] as usize..segment[1] as usize].sort_by_key(|&i| rows[i as usize]);
        }
        assert!(carried == want, "{name}: payloads are not the model's");
        assert!(found.iter().zip(&want).all(|(&row, &i)| row == rows[i as usize]), "{name}: rows are not the model's");
        self.tell(name, 16 * n as usize + 4 * ptr.len(), times);
        Ok(())
    }

    fn reduce(&self, name: &str, ptr: &[u32]) -> Anything {
        let n = ptr[ptr.len() - 1] as usize;
        let ends: Vec<u32> = ptr[1..].iter().map(|&end| end - 1).collect();
        // Integers: their sums are exact in any order.
        let values: Vec<f64> = (0..n as u64).map(|i| (random(i) % 1000) as f64).collect();
        let (sums, times) = primitives::reduce(&self.device, &ends, &values, self.rounds)?;
        for (run, (segment, &sum)) in ptr.windows(2).zip(&sums).enumerate() {
            let want: f64 = values[segment[0] as usize..segment[1] as usize].iter().sum();
            assert_eq!(sum, want, "{name}: run {run}");
        }
        self.tell(name, 8 * n + 12 * ends.len(), times);
        Ok(())
    }

    fn transpose(&self, elements: usize) -> Anything {
        let (nodes, edges) = (elements / 16, elements / 2);
        let a = generate::power_law(nodes, edges, BlockShape::SCALAR, generate::Values::Integer, 5)?;
        let pattern = a.pattern();
        let ((found, source), times) = primitives::transpose(&self.device, pattern, self.rounds)?;
        let (want, from) = pattern.transpose();
        assert!(found == want, "transpose: not the model's");
        assert!(
            source.iter().zip(&from).all(|(&x, &y)| u64::from(x) == y as u64),
            "transpose: entries not the model's"
        );
        self.tell(&format!("transpose, {} entries", pattern.nnz()), 12 * pattern.nnz() + 8 * (nodes + 1), times);
        Ok(())
    }
}
