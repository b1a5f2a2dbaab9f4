//! Costs of a product: the JSON object of `--report`, and the table.
mod executed;
mod size;

use crate::overflow::Overflow;
use crate::sizes::show_bytes;
use crate::table::{self, number};
use crate::target::{Run, Target};
use blockmul::{Method, Semiring, device::StageTime, matrix::AnyMatrix, product::Bin, reference::verify::Verification};
pub use executed::Executed;
use serde::Serialize;
pub use size::Size;

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: u32 = 3;

/// The JSON object of `--report`. `products` and `nnz` count entries (blocks for blocks), `rows`
/// and `cols` scalars.
#[derive(Serialize)]
pub struct Report {
    schema: u32,
    command: String,
    device: DeviceName,
    /// The method requested.
    method: &'static str,
    /// The columns of C that each method computed, their products and times; empty for the
    /// reference.
    bins: Vec<Bin>,
    /// Whether the table shows them.
    #[serde(skip)]
    explained: bool,
    element: &'static str,
    semiring: Semiring,
    a: Size,
    b: Size,
    c: Size,
    /// The places of C to compute, in its blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    mask: Option<Size>,
    products: u64,
    /// Entries (blocks) left out of C by --drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    /// 2 x products x block_rows x inner x block_cols, as other libraries count.
    flops: u64,
    /// Multiplications and additions, as Polok 2015 counts: the first term of a sum needs no
    /// addition. It is unknown for a masked product, where some sums have no terms.
    flops_paper: Option<u64>,
    expansion_factor: Option<f64>,
    bands: usize,
    peak_device_bytes: u64,
    held_device_bytes: u64,
    /// Kernels launched.
    launches: u32,
    stages: Vec<Stage>,
    total_ms: f64,
    /// Waiting for kernels to be compiled or loaded, which `total_ms` excludes.
    kernels_ms: f64,
    gflops: Option<f64>,
    verified: Option<Verification>,
    /// Finite values that became infinite.
    overflowed: Option<Overflow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_ms: Option<Vec<f64>>,
}

#[derive(Serialize)]
pub struct DeviceName {
    name: String,
    platform: String,
    driver: String,
}

impl DeviceName {
    pub fn new(name: &str, platform: &str, driver: &str) -> Self {
        Self { name: name.into(), platform: platform.into(), driver: driver.into() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A stage of a product, and its busy time.
#[derive(Serialize, Clone, Copy)]
pub struct Stage {
    pub name: &'static str,
    pub ms: Option<f64>,
    /// Whether anything was computed or enqueued in it.
    #[serde(skip)]
    pub ran: bool,
}

impl Stage {
    pub fn of(time: &StageTime) -> Self {
        // The host computes without commands.
        Self { name: time.name, ms: time.ms, ran: time.commands > 0 || time.ms > Some(0.0) }
    }

    /// Whether the host computed a product with these stages.
    pub fn are_of_host(stages: &[Self]) -> bool {
        stages.iter().any(|stage| stage.name == "multiply")
    }
}

/// The command and its arguments, for a report. File names need not be UTF-8.
pub fn command_line() -> String {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

impl Report {
    /// Makes a report of `run`, the one whose times are reported; `runs_ms` has the totals of all
    /// runs if there were several.
    pub fn new(
        target: &Target,
        (a, b, c): (&AnyMatrix, &AnyMatrix, Size),
        mask: Option<Size>,
        run: &Run,
        runs_ms: Option<Vec<f64>>,
        verification: Option<Verification>,
    ) -> Self {
        let (name, platform, driver) = target.describe();
        let a_shape = a.shape();
        // Entries that are dropped were computed too.
        let (c_area, c_nnz) = (c.area() as u64, c.nnz as u64 + run.dropped.unwrap_or(0));
        let flops = 2 * run.products * c_area * a_shape.cols() as u64;
        Self {
            schema: SCHEMA,
            command: command_line(),
            device: DeviceName::new(name, platform, driver),
            method: run.method,
            bins: run.bins.clone(),
            explained: false,
            element: a.element().name(),
            semiring: Semiring::PlusTimes,
            a: Size::of(a),
            b: Size::of(b),
            c,
            products: run.products,
            dropped: run.dropped,
            flops,
            flops_paper: mask.is_none().then(|| flops - c_nnz * c_area),
            mask,
            expansion_factor: (c_nnz > 0).then(|| run.products as f64 / c_nnz as f64),
            bands: run.bands,
            peak_device_bytes: run.peak_device_bytes,
            held_device_bytes: run.held_device_bytes,
            launches: run.launches,
            stages: run.stages.clone(),
            total_ms: run.total_ms,
            kernels_ms: run.kernels_ms,
            gflops: (run.total_ms > 0.0).then(|| flops as f64 / run.total_ms / 1e6),
            verified: verification,
            overflowed: None,
            runs_ms,
        }
    }

    /// The report with the counts of values that became infinite.
    pub fn overflowed(self, overflow: Overflow) -> Self {
        Self { overflowed: Some(overflow), ..self }
    }

    /// The report of a product over a semiring.
    pub fn over(self, semiring: Semiring) -> Self {
        Self { semiring, ..self }
    }

    /// The report with a table of its bins.
    pub fn explained(self) -> Self {
        Self { explained: true, ..self }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    /// The sizes, the stages with their times, and the total, as text.
    pub fn table(&self) -> String {
        let c = if self.mask.is_some() { "C = A·B where M has entries," } else { "C = A·B" };
        let over = match self.semiring {
            Semiring::PlusTimes => String::new(),
            semiring => format!(" over {semiring}"),
        };
        let mut lines = vec![match self.stages.is_empty() {
            true => format!("{c}{over} in {} by the reference, on the CPU", self.element),
            false => {
                let mut methods = Vec::new();
                for name in self.bins.iter().map(|bin| bin.method.name()) {
                    if !methods.contains(&name) {
                        methods.push(name);
                    }
                }
                // Without products there are no bins.
                let by_host = || if Stage::are_of_host(&self.stages) { Method::Host.name() } else { self.method };
                let methods = if methods.is_empty() { by_host().into() } else { methods.join(" and ") };
                format!("{c}{over} in {} by {methods} on {}", self.element, self.device.name)
            }
        }];
        let sizes = [("A", Some(&self.a)), ("B", Some(&self.b)), ("M", self.mask.as_ref()), ("C", Some(&self.c))];
        for (name, size) in sizes.into_iter().filter_map(|(name, size)| size.map(|size| (name, size))) {
            let entries = size.entries();
            let dropped = self.dropped.filter(|_| name == "C").map(|n| format!(", {n} dropped")).unwrap_or_default();
            lines.push(format!("  {name}  {} x {}, {} {entries}{dropped}", size.rows, size.cols, size.nnz));
        }
        let factor = self.expansion_factor.map(|f| format!(", {f:.2} for each entry of C")).unwrap_or_default();
        lines.push(format!("  {} products{factor}; {} floating-point operations\n", self.products, self.flops));
        lines.push(self.stage_table());
        if self.explained && !self.bins.is_empty() {
            lines.push(format!("\n{}", self.bin_table()));
        }
        if let Some(runs) = &self.runs_ms {
            let (least, most) = runs.iter().fold((f64::MAX, 0.0_f64), |(low, high), &ms| (low.min(ms), high.max(ms)));
            lines.push(format!("\nmedian of {} runs, {least:.3} to {most:.3} ms", runs.len()));
        }
        if let Some(v) = &self.verified {
            lines.push(match (v.passed, v.bits_equal) {
                (true, true) => "\nverified: equal to the reference, bit for bit".into(),
                (true, false) => {
                    format!("\nverified: largest relative error {:.1e}, within the bound", v.max_rel_error)
                }
                (false, _) => "\nNOT VERIFIED".into(),
            });
        }
        lines.join("\n")
    }

    /// The columns that each method computed, with the times that were predicted and measured.
    fn bin_table(&self) -> String {
        let header = ["columns of C", "number", "products", "method", "predicted ms", "measured ms"];
        let row = |bin: &Bin| {
            [
                bin.which.into(),
                bin.columns.to_string(),
                bin.products.to_string(),
                bin.method.name().into(),
                number(bin.predicted_ms, 3),
                number(bin.measured_ms, 3),
            ]
        };
        table::plain(header, self.bins.iter().map(row), [1, 2, 4, 5])
    }

    fn stage_table(&self) -> String {
        let sum: f64 = self.stages.iter().filter_map(|stage| stage.ms).sum();
        let stages = self.stages.iter().map(|Stage { name, ms, .. }| {
            let share = ms.filter(|_| sum > 0.0).map(|ms| 100.0 * ms / sum);
            vec![(*name).into(), number(*ms, 3), number(share, 0)]
        });
        let speed = self.gflops.map(|g| format!("{g:.2} Gflop/s")).unwrap_or_default();
        let total = vec!["total (wall clock)".into(), number(Some(self.total_ms), 3), String::new(), speed];
        let kernels = || vec!["loading kernels".into(), number(Some(self.kernels_ms), 3)];
        let rows = stages.chain([total]).chain((!self.stages.is_empty()).then(kernels));
        let table = table::plain(["stage", "ms", "%"], rows, [1, 2]);
        if self.stages.is_empty() {
            return table;
        }
        let bands = if self.bands == 1 { "1 band".into() } else { format!("{} bands", self.bands) };
        format!("{table}\n{bands}, {} of device memory", show_bytes(self.peak_device_bytes))
    }
}
