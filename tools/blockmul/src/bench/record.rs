//! Times of a product or of another operation, with its sizes and its work.
use crate::matrix_size::Size;
use blockmul::{
    Element, Method,
    device::{DeviceInfo, DeviceKind, StageTime},
    plan::Cost,
    product::Bin,
};
use serde::Serialize;

/// A product or another operation that was timed, or whose result was wrong.
#[derive(Serialize, Default)]
pub struct Record {
    pub library: &'static str,
    pub version: &'static str,
    /// The method of a product, or the name of another operation.
    pub variant: String,
    pub device: String,
    pub platform: String,
    pub driver: String,
    /// Number of threads, for work on a CPU.
    pub threads: Option<u32>,
    pub matrix: String,
    pub a: Size,
    pub b: Size,
    pub element: &'static str,
    /// Entries (blocks) of the result.
    pub c_nnz: usize,
    /// Bandwidth of a copy on the device, in 10^9 bytes read or written a second, or `None` for
    /// work on the host.
    pub copy_gb_s: Option<f64>,
    pub products: u64,
    /// The floating-point operations; for matrix products 2 x products x block_rows x inner x
    /// block_cols.
    pub flops: u64,
    /// Whether the result has the reference's bits.
    pub verified: bool,
    /// The milliseconds of each run, from operands on the device until C is complete there; empty
    /// if C was wrong. If executions are enqueued together, a time is the mean of the executions.
    pub runs_ms: Vec<f64>,
    /// Median of `runs_ms`.
    pub ms: Option<f64>,
    pub gflops: Option<f64>,
    /// Bytes to move, if they are known for the whole operation: every input is read once, every
    /// output is written once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `bytes` divided by the median time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gb_s: Option<f64>,
    /// `gb_s` as a fraction of the bandwidth of a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_copy: Option<f64>,
    /// Milliseconds to make the plan, without compilation of kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_ms: Option<f64>,
    /// Numbers of kernels launched, of blocking reads, and of bands.
    pub launches: u32,
    pub read_backs: u32,
    pub bands: usize,
    /// The largest number of products of an entry of C; null if the methods do not count them.
    pub longest_run: Option<u32>,
    pub peak_device_bytes: u64,
    /// For products without a plan, the columns of C that each method computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<Bin>,
    pub stages: Vec<Stage>,
}

#[derive(Serialize)]
pub struct Stage {
    pub name: &'static str,
    pub launches: u32,
    runs_ms: Vec<f64>,
    pub ms: Option<f64>,
    /// Lower bound of the bytes that the stage has to move.
    pub bytes: Option<u64>,
    flops: Option<u64>,
    /// `bytes` divided by the median time.
    pub gb_s: Option<f64>,
    /// `gb_s` as a fraction of the bandwidth of a copy.
    pub of_copy: Option<f64>,
}

impl Record {
    /// The record of one execution, without a device and without times.
    pub fn new(matrix: String, variant: String) -> Self {
        let (library, version, element) = ("blockmul", env!("CARGO_PKG_VERSION"), f64::NAME);
        Self { library, version, matrix, variant, element, bands: 1, ..Self::default() }
    }

    /// The record of work on a device.
    pub fn on(self, device: &DeviceInfo, copy_gb_s: f64) -> Self {
        Self {
            device: device.name.clone(),
            platform: device.platform.clone(),
            driver: device.driver.clone(),
            threads: (device.kind == DeviceKind::Cpu).then_some(device.compute_units),
            copy_gb_s: Some(copy_gb_s),
            ..self
        }
    }

    /// The record of an execution of a plan.
    pub fn costing(self, cost: Cost) -> Self {
        Self { products: cost.products, flops: cost.flops, peak_device_bytes: cost.device_bytes, ..self }
    }

    /// The record with the times of at least one round, and the times of stages in each round.
    pub fn timed(self, runs_ms: Vec<f64>, rounds: &[Vec<StageTime>]) -> Self {
        let speed = |bytes: Option<u64>, ms| {
            let gb_s = bytes.and_then(|bytes| rate(bytes, ms));
            (gb_s, gb_s.zip(self.copy_gb_s).map(|(gb_s, copy)| gb_s / copy))
        };
        let stage = |(at, stage): (usize, &StageTime)| {
            let runs_ms: Vec<f64> = rounds.iter().filter_map(|stages| stages[at].ms).collect();
            let ms = median(&runs_ms);
            let (gb_s, of_copy) = speed(stage.bytes, ms);
            let StageTime { name, launches, bytes, flops, .. } = *stage;
            Stage { name, launches, runs_ms, ms, bytes, flops, gb_s, of_copy }
        };
        let stages = rounds.last().map(|stages| stages.iter().enumerate().map(stage).collect()).unwrap_or_default();
        let ms = median(&runs_ms);
        let gflops = rate(self.flops, ms).filter(|_| self.flops > 0);
        let (gb_s, of_copy) = speed(self.bytes, ms);
        Self { runs_ms, ms, gflops, gb_s, of_copy, stages, ..self }
    }

    /// The product in words, such as `uniform:16000x8 in 3x3 f64 by esc`.
    pub fn what(&self) -> String {
        format!("{} in {} {} by {}", self.matrix, self.block(), self.element, self.variant)
    }

    /// The name of the device; for work on the host it includes the number of threads.
    pub fn place(&self) -> String {
        match (self.copy_gb_s, self.threads) {
            (None, Some(threads)) => format!("{} ({threads} threads)", self.device),
            _ => self.device.clone(),
        }
    }

    /// The shape of A's blocks.
    pub fn block(&self) -> String {
        self.a.block.map_or_else(String::new, |[rows, cols]| format!("{rows}x{cols}"))
    }

    /// The variant as text. If a requested method left columns to others, the methods that ran come
    /// first: `esc (asked: hash)`, or in another algebra `esc (asked: hash) over min-plus`.
    pub fn variant(&self) -> String {
        let variant = &self.variant;
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

    /// The noise: the interquartile range, divided by the median.
    pub fn spread(&self) -> Option<f64> {
        spread(&self.runs_ms)
    }
}

/// The rate in billions a second, for `number` in `ms` milliseconds.
pub fn rate(number: u64, ms: Option<f64>) -> Option<f64> {
    ms.filter(|&ms| ms > 0.0).map(|ms| number as f64 / ms / 1e6)
}

pub fn median(times: &[f64]) -> Option<f64> {
    quantile(times, 0.5)
}

/// The interquartile range, divided by the median.
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
