//! Runs a computation once or several times, and measures its times.
use crate::numbers::some;
use blockmul::Device;
use std::{num::NonZero, path::PathBuf, time::Instant};

/// The options of commands that compute a result on a device or by the reference.
#[derive(clap::Args)]
pub struct RunArgs {
    /// auto (a GPU, else a CPU, else the reference), reference, gpu, cpu, an index or part of a
    /// name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Check the result against the reference; exit status 1, and no output file, if it is wrong.
    #[arg(long)]
    pub verify: bool,
    /// Write sizes, costs and times as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Compute N times after one warm-up; the times reported are those of the median run.
    #[arg(long, value_name = "N", value_parser = some)]
    pub repeat: Option<NonZero<u32>>,
}

/// Runs once, or several times after a warm-up. Returns the last result and the milliseconds of
/// each run.
pub fn repeatedly<T, E>(
    repeat: Option<NonZero<u32>>,
    mut run: impl FnMut() -> Result<(T, f64), E>,
) -> Result<(T, Vec<f64>), E> {
    if repeat.is_some() {
        run()?;
    }
    let (mut found, first) = run()?;
    let mut runs_ms = vec![first];
    for _ in 1..repeat.map_or(1, NonZero::get) {
        let (again, ms) = run()?;
        found = again;
        runs_ms.push(ms);
    }
    Ok((found, runs_ms))
}

/// The time of the median run; if the number of runs is even, the shorter of the two in the middle.
pub fn median_run(runs_ms: &[f64]) -> f64 {
    let mut sorted = runs_ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}

/// Returns a result with its milliseconds on a device, without the time in which kernels were
/// compiled or loaded.
pub fn timed_on<T, E>(device: &Device, run: impl Fn() -> Result<T, E>) -> Result<(T, f64), E> {
    let waited = device.counters().kernel_wait_ns;
    let (found, ms) = timed(run)?;
    let for_kernels = (device.counters().kernel_wait_ns - waited) as f64 / 1e6;
    Ok((found, (ms - for_kernels).max(0.0)))
}

/// Returns a result with its milliseconds.
pub fn timed<T, E>(run: impl Fn() -> Result<T, E>) -> Result<(T, f64), E> {
    let clock = Instant::now();
    let found = run()?;
    Ok((found, clock.elapsed().as_secs_f64() * 1e3))
}
