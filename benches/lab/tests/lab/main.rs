//! Tests of the program `lab` as its user runs it, and of the scripts next to it.
mod bench;
mod bench_tools;
#[path = "../../../../tests/library/outside.rs"]
mod common;
#[path = "../../../../tools/blockmul/tests/command/desk.rs"]
mod desk;
mod papers;
mod regret;
mod regret_formats;

use blockmul::{
    Method, generate,
    io::{self, WriteOptions},
};
use desk::{Command, Desk, Ran, SQUARE, ran};
use serde_json::Value;
use std::path::Path;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lab");

/// Runs a study on the device under test.
fn lab(desk: &Desk, line: &str) -> Ran {
    let (study, rest) = line.split_once(' ').unwrap_or((line, ""));
    desk.run(&format!("{study} --device {} {rest}", common::device().info().index))
}

/// Runs a study that must fail with status 2 and print `words`.
fn refused(desk: &Desk, line: &str, words: &str) {
    let ran = lab(desk, line);
    assert_eq!(ran.status, 2, "{line}: {}", ran.stderr);
    assert!(ran.stderr.contains(words), "{line}: no \"{words}\" in {}", ran.stderr);
}

/// Writes a square matrix with equally many entries in each column to a file.
fn put_uniform(desk: &Desk, name: &str, rows: usize, per_column: usize) {
    let matrix = generate::Uniform { rows, cols: rows, per_column, ..Default::default() }.matrix().unwrap();
    io::write(desk.path(name), &matrix, &WriteOptions::default()).unwrap();
}
