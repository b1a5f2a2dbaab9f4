//! Times of a product or of another operation, with its sizes and its work.
use super::results::cpu_name;
use crate::report::Size;
use blockmul::{
    Device, Element, Method,
    device::{DeviceKind, StageTime},
    matrix::AnyMatrix,
    plan::Cost,
    product::{Bin, Report},
};
use serde::Serialize;

/// A product or another operation that was timed, or that was wrong.
#[derive(Serialize)]
pub struct Record {
    #[serde(flatten)]
    pub sizes: Sizes,
    pub products: u64,
    /// Of products 2 x products x block_rows x inner x block_cols.
    pub flops: u64,
    pub verified: bool,
    /// From operands on the device to C complete there; empty if C was wrong. Of executions that
    /// are enqueued together, the mean.
    pub runs_ms: Vec<f64>,
    /// Median of `runs_ms`.
    pub ms: Option<f64>,
    pub gflops: Option<f64>,
    /// Bytes that are to be moved, if they are known as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// These bytes over the median time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gb_s: Option<f64>,
    /// The same as a fraction of the bandwidth of a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_copy: Option<f64>,
    /// The time to plan, with kernels compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_ms: Option<f64>,
    /// Kernels launched; below, blocking reads and bands.
    pub launches: u32,
    pub read_backs: u32,
    pub bands: usize,
    /// Most products of an entry of C; null if the methods do not count them.
    pub longest_run: Option<u32>,
    pub peak_device_bytes: u64,
    /// The columns of C that each method computed; of products from nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<Bin>,
    pub stages: Vec<Stage>,
}

/// Properties known before a product is timed.
#[derive(Serialize)]
pub struct Sizes {
    library: &'static str,
    version: &'static str,
    /// The method of a product, else the operation.
    pub variant: String,
    pub device: String,
    platform: String,
    driver: String,
    /// Threads of a CPU.
    threads: Option<u32>,
    pub matrix: String,
    a: Size,
    b: Size,
    pub element: &'static str,
    /// Entries (blocks).
    pub c_nnz: usize,
    /// Bandwidth of a copy on the device, bytes read and written, in 10^9 a second. The host has
    /// none.
    pub copy_gb_s: Option<f64>,
    /// Floating-point operations of a product of two entries.
    #[serde(skip)]
    flops_each: u64,
}

/// Costs of executing a plan, independent of the values.
#[derive(Clone, Copy, Default)]
pub struct Execution {
    pub products: u64,
    pub flops: u64,
    pub launches: u32,
    /// Bytes held by the plan.
    pub bytes: u64,
}

impl Execution {
    pub fn of(cost: Cost, launches: u32) -> Self {
        let Cost { products, flops, device_bytes: bytes, .. } = cost;
        Self { products, flops, launches, bytes }
    }
}

#[derive(Serialize)]
pub struct Stage {
    pub name: &'static str,
    pub launches: u32,
    pub runs_ms: Vec<f64>,
    pub ms: Option<f64>,
    /// Lower bound of the bytes that the stage moves.
    pub bytes: Option<u64>,
    pub flops: Option<u64>,
    /// These bytes over the median time.
    pub gb_s: Option<f64>,
    /// The same as a fraction of the bandwidth of a copy.
    pub of_copy: Option<f64>,
}

impl Sizes {
    pub fn new(
        matrix: &str,
        device: &Device,
        copy_gb_s: f64,
        method: Method,
        (a, b, c): (&AnyMatrix, &AnyMatrix, &AnyMatrix),
    ) -> Self {
        let element = a.element().name();
        let (a, b) = (Size::of(a), Size::of(b));
        Self {
            variant: method.name().into(),
            matrix: matrix.to_owned(),
            a,
            b,
            element,
            c_nnz: c.nnz(),
            flops_each: 2 * (c.shape().area() * a.block[1]) as u64,
            ..Self::on(device, copy_gb_s)
        }
    }

    /// The fields of a device, with those of the product empty.
    fn on(device: &Device, copy_gb_s: f64) -> Self {
        let info = device.info();
        Self {
            library: "blockmul",
            version: env!("CARGO_PKG_VERSION"),
            variant: String::new(),
            device: info.name.clone(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            threads: (info.kind == DeviceKind::Cpu).then_some(info.compute_units),
            matrix: String::new(),
            a: Size::default(),
            b: Size::default(),
            element: f64::NAME,
            c_nnz: 0,
            copy_gb_s: Some(copy_gb_s),
            flops_each: 0,
        }
    }

    /// The fields of a plan's execution with `c_nnz` entries in C.
    pub fn planned(matrix: String, device: &Device, copy_gb_s: f64, [a, b]: [Size; 2], c_nnz: usize) -> Self {
        Self { matrix, a, b, c_nnz, variant: "plan".into(), ..Self::on(device, copy_gb_s) }
    }

    /// The fields of work by `threads` threads of the host.
    pub fn host(matrix: String, variant: &str, threads: usize, a: Size) -> Self {
        Self {
            library: "blockmul",
            version: env!("CARGO_PKG_VERSION"),
            variant: variant.into(),
            device: cpu_name().unwrap_or_else(|| "host".into()),
            platform: String::new(),
            driver: String::new(),
            threads: Some(threads as u32),
            matrix,
            a,
            b: Size::default(),
            element: f64::NAME,
            c_nnz: 0,
            copy_gb_s: None,
            flops_each: 0,
        }
    }

    /// The product in words, such as `uniform:16000x8 in 3x3 f64 by esc`.
    pub fn what(&self) -> String {
        format!("{} in {} {} by {}", self.matrix, self.block(), self.element, self.variant)
    }

    /// The device; of work on the host, its threads too.
    pub fn place(&self) -> String {
        match (self.copy_gb_s, self.threads) {
            (None, Some(threads)) => format!("{} ({threads} threads)", self.device),
            _ => self.device.clone(),
        }
    }

    /// The shape of A's blocks.
    pub fn block(&self) -> String {
        let [rows, cols] = self.a.block;
        format!("{rows}x{cols}")
    }
}

impl Record {
    /// The record of a product that differs from the reference, without times.
    pub fn wrong(sizes: Sizes, report: &Report) -> Self {
        Self { verified: false, stages: Vec::new(), ..Self::of(sizes, report, Vec::new()) }
    }

    /// The record of at least one round: the time of a run, and the report of another one, which
    /// has the times of its stages.
    pub fn right(sizes: Sizes, rounds: Vec<(f64, Report)>) -> Self {
        let (runs_ms, reports): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        let stages: Vec<_> = reports.iter().map(|report| report.stages.clone()).collect();
        Self::of(sizes, reports.last().expect("a round"), runs_ms).with_stages(&stages)
    }

    /// The record of executions; `runs_ms` is empty if the result was wrong.
    pub fn planned(sizes: Sizes, took: &Execution, runs_ms: Vec<f64>) -> Self {
        let Execution { products, flops, launches, bytes } = *took;
        let verified = !runs_ms.is_empty();
        let record = Self::new(sizes, products, flops, runs_ms);
        let gflops = record.gflops.filter(|_| flops > 0);
        Self { verified, gflops, launches, bands: 1, peak_device_bytes: bytes, ..record }
    }

    fn of(sizes: Sizes, report: &Report, runs_ms: Vec<f64>) -> Self {
        let flops = report.products * sizes.flops_each;
        Self {
            launches: report.launches,
            read_backs: report.read_backs,
            bands: report.bands,
            longest_run: report.longest_run,
            peak_device_bytes: report.peak_device_bytes,
            bins: report.bins.clone(),
            ..Self::new(sizes, report.products, flops, runs_ms)
        }
    }

    /// A record of times alone.
    fn new(sizes: Sizes, products: u64, flops: u64, runs_ms: Vec<f64>) -> Self {
        let ms = median(&runs_ms);
        Self {
            products,
            flops,
            verified: true,
            ms,
            gflops: rate(flops, ms),
            runs_ms,
            bytes: None,
            gb_s: None,
            of_copy: None,
            plan_ms: None,
            launches: 0,
            read_backs: 0,
            bands: 0,
            longest_run: None,
            peak_device_bytes: 0,
            bins: Vec::new(),
            stages: Vec::new(),
            sizes,
        }
    }

    /// The record of an operation that moves `bytes`.
    pub fn moving(self, bytes: Option<u64>) -> Self {
        let gb_s = bytes.and_then(|bytes| rate(bytes, self.ms));
        let of_copy = gb_s.zip(self.sizes.copy_gb_s).map(|(gb_s, copy)| gb_s / copy);
        Self { bytes, gb_s, of_copy, ..self }
    }

    /// The record with the times of the stages in each round.
    pub fn with_stages(self, rounds: &[Vec<StageTime>]) -> Self {
        let stage = |(at, stage): (usize, &StageTime)| {
            let runs_ms: Vec<f64> = rounds.iter().filter_map(|stages| stages[at].ms).collect();
            let ms = median(&runs_ms);
            let gb_s = stage.bytes.and_then(|bytes| rate(bytes, ms));
            Stage {
                name: stage.name,
                launches: stage.launches,
                runs_ms,
                ms,
                bytes: stage.bytes,
                flops: stage.flops,
                gb_s,
                of_copy: gb_s.zip(self.sizes.copy_gb_s).map(|(gb_s, copy)| gb_s / copy),
            }
        };
        let stages = rounds.last().map(|stages| stages.iter().enumerate().map(stage).collect()).unwrap_or_default();
        Self { stages, ..self }
    }

    /// The variant for people. If a method that was asked for left columns to others, these are
    /// named: `esc (asked: hash)`, over another algebra `esc (asked: hash) over min-plus`.
    pub fn variant(&self) -> String {
        let variant = &self.sizes.variant;
        let (asked, over) = variant.split_at(variant.find(" over ").unwrap_or(variant.len()));
        let mut ran: Vec<&str> = Vec::new();
        for bin in self.bins.iter().filter(|bin| bin.products > 0) {
            if !ran.contains(&bin.method.name()) {
                ran.push(bin.method.name());
            }
        }
        match ran[..] {
            _ if asked == Method::Auto.name() => variant.clone(),
            [] => variant.clone(),
            [one] if one == asked => variant.clone(),
            _ => format!("{} (asked: {asked}){over}", ran.join(", ")),
        }
    }

    /// The noise: the distance between the first and the third quartile, over the median.
    pub fn spread(&self) -> Option<f64> {
        spread(&self.runs_ms)
    }
}

/// Billions a second, of so many in so many milliseconds.
fn rate(number: u64, ms: Option<f64>) -> Option<f64> {
    ms.filter(|&ms| ms > 0.0).map(|ms| number as f64 / ms / 1e6)
}

pub fn median(times: &[f64]) -> Option<f64> {
    quantile(times, 0.5)
}

/// The distance between the first and the third quartile, over the median.
pub fn spread(times: &[f64]) -> Option<f64> {
    let (first, third) = (quantile(times, 0.25)?, quantile(times, 0.75)?);
    median(times).filter(|&ms| ms > 0.0).map(|ms| (third - first) / ms)
}

/// A quantile, interpolated linearly between the two nearest times.
pub fn quantile(times: &[f64], part: f64) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0, 5.0], 0.25), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.75), Some(1.75));
    }
}
