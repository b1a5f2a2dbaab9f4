//! Tests of the command as a user runs it: results, reports, messages, exit statuses.
mod apply;
mod bench;
mod cg;
#[path = "../../../../tests/library/outside.rs"]
mod common;
mod compare;
mod demo;
mod dense;
mod desk;
mod drop;
mod environment;
mod failures;
mod field;
mod files;
mod gauge;
mod gcoo;
mod graphs;
mod influence;
mod info;
mod inputs;
mod kernels;
mod mask;
mod mixed;
mod multiply;
mod numbers;
mod overflow;
mod packings;
mod padding;
mod pages;
mod patches;
mod paths;
mod peers;
mod places;
mod problems;
mod report;
mod residuals;
mod shell;
mod solve;
mod spy;
mod tune;

use blockmul::{
    BlockShape, Csc, Element, Matrix, Method,
    io::matrix_market,
    matrix::{self, Threshold},
    reference,
};
use desk::{Command, Desk, Ran, SQUARE, ran};
use half::f16;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The root of the repository, and the program that is tested.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PROGRAM: &str = env!("CARGO_BIN_EXE_blockmul");

impl Desk {
    /// Runs `multiply` on the device under test. If the device is missing, the test fails; the
    /// reference is not used instead.
    fn multiply(&self, line: &str) -> Ran {
        self.ok(&format!("multiply --device {} {line}", common::device().info().index))
    }

    fn report(&self, line: &str) -> Value {
        serde_json::from_str(&self.multiply(&format!("{line} --report -")).stdout).unwrap()
    }

    fn read<T: Element>(&self, name: &str) -> Csc<T> {
        matrix_market::read(self.path(name), &Default::default()).unwrap().matrix.cast()
    }
}

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
