//! A folder for the files of a test, in which a program runs. The tests of the laboratory also use
//! this file.
#![allow(dead_code, reason = "each program uses its part")]
pub use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

pub const SQUARE: &str = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 2\n3 1 3\n2 2 -1\n3 3 5\n";

/// The outcome of a run of the command: exit status, stdout, stderr.
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A folder for the files of a test, in which the command runs.
pub struct Desk(pub TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with these files.
    pub fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let desk = Self::new();
        files.iter().for_each(|(name, text)| desk.put(name, text));
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(super::PROGRAM);
        command.args(line.split_whitespace()).current_dir(self.0.path());
        ["BLOCKMUL_DEVICE", "BLOCKMUL_LOG", "RUST_LOG"].iter().for_each(|variable| {
            command.env_remove(variable);
        });
        // With 1 GiB of memory, PoCL copies 128 MiB instead of 256 to measure the bandwidth. Each
        // run measures it, and no test uses the result.
        if ["bench ", "paper ", "regret "].iter().any(|study| line.starts_with(study)) {
            command.env("POCL_MEMORY_LIMIT", "1");
        }
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        ran(self.command(line))
    }

    /// Runs the command, which must succeed.
    pub fn ok(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.status, 0, "{line}\n{}", ran.stderr);
        ran
    }

    /// Runs the command, which must fail with `status` and print each of `words`.
    pub fn fails(&self, line: &str, status: i32, words: &[&str]) {
        let ran = self.run(line);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{line}\n{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{line}: no \"{word}\" in: {}", ran.stderr);
        }
    }

    /// Runs `bench` on the device under test.
    pub fn bench(&self, line: &str) -> Ran {
        self.run(&format!("bench --device {} {line}", super::common::device().info().index))
    }

    /// Runs `bench` with three rounds. Returns the records of the run.
    pub fn benched(&self, line: &str) -> Value {
        let ran = self.bench(&format!("{line} --json - --rounds 3"));
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Runs `bench`. Returns the records of the run with their variants.
    pub fn by_variant(&self, line: &str) -> Vec<(String, Value)> {
        let all = self.benched(line);
        let records = all["results"].as_array().unwrap().iter();
        records.map(|record| (record["variant"].as_str().unwrap().to_owned(), record.clone())).collect()
    }

    /// Runs `bench`, which must verify and time these variants.
    pub fn times(&self, line: &str, variants: &[&str]) {
        let records = self.by_variant(line);
        let found: Vec<&str> = records.iter().map(|(variant, _)| variant.as_str()).collect();
        assert_eq!(found, variants, "{line}");
        for (variant, record) in &records {
            let runs = record["runs_ms"].as_array().unwrap().len();
            assert_eq!((&record["verified"], runs), (&true.into(), 3), "{variant}: {record}");
        }
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { status: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}
