//! Products of prepared matrices, in reports.
use crate::runs::median_run;
use serde::Serialize;

/// The times of a product with a prepared matrix, in the JSON object of `--report`.
#[derive(Serialize)]
pub struct Executed {
    pub flops: u64,
    /// Milliseconds to convert the matrix, including the time to compile or load its kernels.
    convert_ms: Option<f64>,
    device_bytes: u64,
    total_ms: f64,
    gflops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_ms: Option<Vec<f64>>,
    /// Whether the result has the reference's bits; `None` without --verify.
    verified: Option<bool>,
    /// Whether the result was compared within rounding instead.
    #[serde(skip)]
    pub rounded: bool,
}

impl Executed {
    /// The fields for one or more runs of `flops` operations each. The reported time is the median
    /// of the runs. The report has the times of all runs if they were requested. `different` is the
    /// number of elements that differ from the reference's.
    pub fn new(
        flops: u64,
        convert_ms: Option<f64>,
        device_bytes: u64,
        runs_ms: Vec<f64>,
        all: bool,
        different: Option<usize>,
    ) -> Self {
        let total_ms = median_run(&runs_ms);
        let gflops = (total_ms > 0.0).then(|| flops as f64 / total_ms / 1e6);
        let runs_ms = all.then_some(runs_ms);
        let verified = different.map(|count| count == 0);
        Self { flops, convert_ms, device_bytes, total_ms, gflops, runs_ms, verified, rounded: false }
    }

    /// The time, the rate if there is one, and whether it is verified, as text.
    pub fn text(&self) -> String {
        let rate = self.gflops.map(|gflops| format!(", {gflops:.2} GFLOP/s")).unwrap_or_default();
        let verified = match (self.verified, self.rounded) {
            (Some(true), false) => "\nverified: equal to the reference, bit for bit",
            (Some(true), true) => "\nverified: equal to the reference within rounding",
            _ => "",
        };
        format!("{:.3} ms{rate}{verified}", self.total_ms)
    }
}
