//! Times of a product as JSON. Programs that time other libraries write the same schema, so that
//! one table can hold them all.
use crate::report::{Size, command_line};
use blockmul::{Device, Element, Matrix, Method, device::DeviceKind, plan::Cost, product::Report};
use serde::Serialize;

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: &str = "blockmul-bench/1";

#[derive(Serialize)]
pub struct Results {
    schema: &'static str,
    command: String,
    host: Host,
    results: Vec<Record>,
}

#[derive(Serialize)]
struct Host {
    cpu: Option<String>,
    threads: Option<usize>,
    os: &'static str,
    arch: &'static str,
}

/// A product that was timed, or that was wrong.
#[derive(Serialize)]
pub struct Record {
    #[serde(flatten)]
    pub sizes: Sizes,
    pub products: u64,
    /// 2 x products x block_rows x inner x block_cols.
    pub flops: u64,
    pub verified: bool,
    /// From operands on the device to C complete there; empty if C was wrong.
    pub runs_ms: Vec<f64>,
    /// Median of `runs_ms`.
    pub ms: Option<f64>,
    pub gflops: Option<f64>,
    /// Kernels launched; below, blocking reads and bands.
    pub launches: u32,
    pub read_backs: u32,
    pub bands: usize,
    pub longest_run: u32,
    pub peak_device_bytes: u64,
    pub stages: Vec<Stage>,
}

/// Properties known before a product is timed.
#[derive(Serialize)]
pub struct Sizes {
    library: &'static str,
    version: &'static str,
    /// The method.
    pub variant: &'static str,
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
    /// Bandwidth of a copy on the device, bytes read and written, in 10^9 a second.
    pub copy_gb_s: f64,
    /// Floating-point operations of a product of two entries.
    #[serde(skip)]
    flops_each: u64,
}

/// Costs of executing a plan, independent of the values.
#[derive(Clone, Copy)]
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

impl Results {
    pub fn new() -> Self {
        Self {
            schema: SCHEMA,
            command: command_line(),
            host: Host {
                cpu: cpu_name(),
                threads: std::thread::available_parallelism().ok().map(usize::from),
                os: std::env::consts::OS,
                arch: std::env::consts::ARCH,
            },
            results: Vec::new(),
        }
    }

    pub fn push(&mut self, record: Record) {
        self.results.push(record);
    }

    pub fn records(&self) -> &[Record] {
        &self.results
    }

    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Number of results that were not the product.
    pub fn wrong(&self) -> usize {
        self.results.iter().filter(|record| !record.verified).count()
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }
}

/// Name of the CPU, if Linux provides it.
fn cpu_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

impl Sizes {
    pub fn new<M: Matrix>(
        matrix: &str,
        device: &Device,
        copy_gb_s: f64,
        method: Method,
        (a, b, c): (&M, &M, &M),
    ) -> Self {
        let c = c.as_cbc();
        Self {
            variant: method.name(),
            matrix: matrix.to_owned(),
            a: Size::of(a),
            b: Size::of(b),
            element: M::Element::NAME,
            c_nnz: c.pattern.nnz(),
            flops_each: 2 * (c.shape.area() * a.as_cbc().shape.cols()) as u64,
            ..Self::on(device, copy_gb_s)
        }
    }

    /// The fields of a device, with those of the product empty.
    fn on(device: &Device, copy_gb_s: f64) -> Self {
        let info = device.info();
        Self {
            library: "blockmul",
            version: env!("CARGO_PKG_VERSION"),
            variant: "",
            device: info.name.clone(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            threads: (info.kind == DeviceKind::Cpu).then_some(info.compute_units),
            matrix: String::new(),
            a: Size::default(),
            b: Size::default(),
            element: f64::NAME,
            c_nnz: 0,
            copy_gb_s,
            flops_each: 0,
        }
    }

    /// The fields of a plan's execution with `c_nnz` entries in C.
    pub fn planned(matrix: String, device: &Device, copy_gb_s: f64, [a, b]: [Size; 2], c_nnz: usize) -> Self {
        Self { matrix, a, b, c_nnz, variant: "plan", flops_each: 0, ..Self::on(device, copy_gb_s) }
    }

    /// The product in words, such as `uniform:16000x8 in 3x3 f64 by esc`.
    pub fn what(&self) -> String {
        format!("{} in {} {} by {}", self.matrix, self.block(), self.element, self.variant)
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

    /// The record of at least one run.
    pub fn right(sizes: Sizes, runs: &[Report]) -> Self {
        let copy_gb_s = sizes.copy_gb_s;
        let last = runs.last().expect("a round");
        let stages = last.stages.iter().enumerate().map(|(at, stage)| {
            let runs_ms: Vec<f64> = runs.iter().filter_map(|run| run.stages[at].ms).collect();
            let ms = median(&runs_ms);
            let gb_s = stage.bytes.zip(ms.filter(|&ms| ms > 0.0)).map(|(bytes, ms)| bytes as f64 / ms / 1e6);
            Stage {
                name: stage.name,
                launches: stage.launches,
                runs_ms,
                ms,
                bytes: stage.bytes,
                flops: stage.flops,
                gb_s,
                of_copy: gb_s.map(|gb_s| gb_s / copy_gb_s),
            }
        });
        let stages = stages.collect();
        Self { stages, ..Self::of(sizes, last, runs.iter().map(|run| run.total_ms).collect()) }
    }

    /// The record of a plan's executions; `runs_ms` is empty if the result was wrong.
    pub fn planned(sizes: Sizes, took: &Execution, runs_ms: Vec<f64>) -> Self {
        let (ms, Execution { products, flops, launches, bytes }) = (median(&runs_ms), *took);
        Self {
            products,
            flops,
            verified: !runs_ms.is_empty(),
            gflops: ms.filter(|&ms| ms > 0.0).map(|ms| flops as f64 / ms / 1e6),
            ms,
            runs_ms,
            launches,
            read_backs: 0,
            bands: 1,
            longest_run: 0,
            peak_device_bytes: bytes,
            stages: Vec::new(),
            sizes,
        }
    }

    fn of(sizes: Sizes, report: &Report, runs_ms: Vec<f64>) -> Self {
        let ms = median(&runs_ms);
        let flops = report.products * sizes.flops_each;
        Self {
            products: report.products,
            flops,
            verified: true,
            ms,
            gflops: ms.filter(|&ms| ms > 0.0).map(|ms| flops as f64 / ms / 1e6),
            runs_ms,
            launches: report.launches,
            read_backs: report.read_backs,
            bands: report.bands,
            longest_run: report.longest_run,
            peak_device_bytes: report.peak_device_bytes,
            stages: Vec::new(),
            sizes,
        }
    }

    /// The noise: the distance between the first and the third quartile, over the median.
    pub fn spread(&self) -> Option<f64> {
        let (first, third) = (quantile(&self.runs_ms, 0.25)?, quantile(&self.runs_ms, 0.75)?);
        self.ms.filter(|&ms| ms > 0.0).map(|ms| (third - first) / ms)
    }
}

pub fn median(times: &[f64]) -> Option<f64> {
    quantile(times, 0.5)
}

/// A quantile, interpolated linearly between the two nearest times.
fn quantile(times: &[f64], part: f64) -> Option<f64> {
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
