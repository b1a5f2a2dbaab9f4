//! Tests of the command as a user runs it: results, reports, messages, exit statuses.
mod apply;
mod bench;
mod bench_tools;
#[path = "../../../../tests/library/outside.rs"]
mod common;
mod compare;
mod demo;
mod dense;
mod drop;
mod environment;
mod failures;
mod field;
mod files;
mod gauge;
mod graphs;
mod influence;
mod info;
mod inputs;
mod kernels;
mod mask;
mod multiply;
mod numbers;
mod overflow;
mod packings;
mod padding;
mod pages;
mod papers;
mod patches;
mod paths;
mod peers;
mod places;
mod problems;
mod regret;
mod regret_formats;
mod report;
mod residuals;
mod shell;
mod solve;
mod spy;
mod tune;

use assert_cmd::Command;
use blockmul::{
    BlockShape, Csc, Element, Matrix, Method,
    io::matrix_market,
    matrix::{self, Threshold},
    reference,
};
use half::f16;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The outcome of a run of the command: exit status, stdout, stderr.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

/// A folder for the files of a test, in which the command runs.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blockmul"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        ["BLOCKMUL_DEVICE", "BLOCKMUL_LOG", "RUST_LOG"].iter().for_each(|variable| {
            command.env_remove(variable);
        });
        // With 1 GiB of memory PoCL copies 128 MiB to measure the bandwidth, not 256: each run
        // does, and no test reads the figure.
        if line.starts_with("bench ") {
            command.env("POCL_MEMORY_LIMIT", "1");
        }
        command
    }

    fn run(&self, line: &str) -> Ran {
        ran(self.command(line))
    }

    /// Runs the command, which must succeed.
    fn ok(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.status, 0, "{line}\n{}", ran.stderr);
        ran
    }

    /// Runs the command, which must fail with `status` and print every one of `words`.
    fn fails(&self, line: &str, status: i32, words: &[&str]) {
        let ran = self.run(line);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{line}\n{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{line}: no \"{word}\" in: {}", ran.stderr);
        }
    }

    /// Runs `multiply` on the device under test. A missing device is a failure, the reference does
    /// not replace it.
    fn multiply(&self, line: &str) -> Ran {
        self.ok(&format!("multiply --device {} {line}", common::device().info().index))
    }

    fn report(&self, line: &str) -> Value {
        serde_json::from_str(&self.multiply(&format!("{line} --report -")).stdout).unwrap()
    }

    fn read<T: Element>(&self, name: &str) -> Csc<T> {
        matrix_market::read(self.path(name), &Default::default()).unwrap().matrix.cast()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { status: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

const SQUARE: &str = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 2\n3 1 3\n2 2 -1\n3 3 5\n";
const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n";
const WIDE: &str = "%%MatrixMarket matrix coordinate real general\n2 4 3\n1 1 0.5\n2 3 1e3\n1 4 -2\n";
const EMPTY: &str = "%%MatrixMarket matrix coordinate real general\n4 4 0\n";

#[test]
fn devices_are_listed_for_people_and_programs() {
    let (desk, device) = (Desk::new(), common::device());
    let table = desk.ok("devices").stdout;
    assert!(table.contains("index") && table.contains(&device.info().name), "{table}");
    let list: Value = serde_json::from_str(&desk.ok("devices --json").stdout).unwrap();
    let listed = &list[device.info().index];
    assert_eq!(listed["name"], device.info().name.as_str());
    assert_eq!(listed["platform"], device.info().platform.as_str());
    for field in
        ["driver", "version", "kind", "compute_units", "global_bytes", "max_alloc_bytes", "local_bytes", "fp64"]
    {
        assert!(!listed[field].is_null(), "{field}: {listed}");
    }
}
