//! Options, rounds and files of records that the benchmarks of other libraries share.
#![allow(dead_code, reason = "each program uses its part")]
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub type Anything<T> = Result<T, Box<dyn Error>>;

const FEWEST_ROUNDS: usize = 3;

/// The files, and how long each is timed.
#[derive(clap::Args)]
pub struct Options {
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write every time as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Timed rounds of each file.
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// End the rounds of a file after so many seconds, but not before the third.
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// Cargo adds this option.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// Returns the milliseconds of each round after a first round to warm up. The results of a
    /// round are dropped outside of the measured time.
    pub fn time<T>(&self, mut run: impl FnMut() -> T) -> Vec<f64> {
        drop(run());
        let (mut runs, began) = (Vec::new(), Instant::now());
        while runs.len() < self.rounds && (runs.len() < FEWEST_ROUNDS || began.elapsed().as_secs_f64() < self.patience)
        {
            let start = Instant::now();
            let made = run();
            runs.push(start.elapsed().as_secs_f64() * 1e3);
            drop(made);
        }
        runs
    }

    /// Measures every file, and writes the records after each.
    pub fn each(&self, mut measure: impl FnMut(&Path) -> Anything<Vec<Value>>) -> Anything<()> {
        let mut results = Vec::new();
        for file in &self.files {
            results.extend(measure(file)?);
            if let Some(path) = &self.json {
                let host = json!({"threads": std::thread::available_parallelism()?.get()});
                let whole = json!({"schema": "blockmul-bench/1", "host": host, "results": results});
                std::fs::write(path, serde_json::to_string_pretty(&whole)?)?;
            }
        }
        Ok(())
    }
}

/// The median of some numbers.
pub fn median(runs: &[f64]) -> f64 {
    let mut sorted = runs.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The version of a library that is locked.
pub fn version(library: &str) -> &'static str {
    let locked = include_str!("../../../../Cargo.lock").split_once(&format!("name = \"{library}\"\nversion = \""));
    locked.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("unknown")
}
