//! Every number at both of its bounds, beside the other numbers of a table: results keep their
//! bits.
//!
//! The test sets the numbers of a whole process, and runs in one of its own. It says each number
//! before it is tried, so that a crash has a name.
mod operations;

use super::{DeviceKind, Numbers, file::TRIED};
use crate::{Device, Result, device::test_device};
use operations::{Operation, all};
use std::{process::Command, sync::PoisonError};

/// The variable that is set in the process that tries numbers.
const ALONE: &str = "BLOCKMUL_TEST_ALONE";

/// Numbers that were wrong at a bound: the sample has them.
const ALWAYS: [&str; 4] = ["scan_items", "scan_group_size", "drop_scan_items", "row_stretch"];

/// Of so many operations beside those of the sample a number runs one.
const OTHERS: usize = 24;

/// A device keeps the programs of so many numbers.
const KEPT: usize = 16;

/// What is tried.
struct Trial {
    /// A CPU runs the kernels of GPUs too.
    kind: DeviceKind,
    /// Numbers of which one bound is tried.
    numbers: usize,
    /// Only the operations of the sample are run. Otherwise each number runs these, and a few of
    /// the others in turn.
    sampled: bool,
}

#[test]
fn some_numbers_of_cpus_at_their_bounds_change_no_bit() {
    in_a_process_of_its_own("some_numbers_of_cpus", Trial { kind: DeviceKind::Cpu, numbers: 36, sampled: true });
}

#[test]
fn some_numbers_of_gpus_at_their_bounds_change_no_bit() {
    in_a_process_of_its_own("some_numbers_of_gpus", Trial { kind: DeviceKind::Gpu, numbers: 36, sampled: true });
}

#[test]
fn every_number_of_cpus_at_its_bounds_changes_no_bit() {
    in_a_process_of_its_own("every_number_of_cpus", Trial { kind: DeviceKind::Cpu, numbers: 1, sampled: false });
}

#[test]
fn every_number_of_gpus_at_its_bounds_changes_no_bit() {
    in_a_process_of_its_own("every_number_of_gpus", Trial { kind: DeviceKind::Gpu, numbers: 1, sampled: false });
}

fn in_a_process_of_its_own(test: &str, trial: Trial) {
    if std::env::var_os(ALONE).is_some() {
        return trial.run().unwrap();
    }
    let program = std::env::current_exe().unwrap();
    let ran = Command::new(program).args([test, "--nocapture"]).env(ALONE, "yes").output().unwrap();
    let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let last: Vec<&str> = said.lines().rev().take(20).collect();
    assert!(ran.status.success() && said.contains("1 passed"), "{}, the last line first: {last:#?}", ran.status);
}

/// The table with one number at a bound, or as near to it as the other numbers allow.
pub(in crate::tuning) fn at_bound(table: Numbers, name: &str, bound: usize) -> Numbers {
    let serde_json::Value::Object(mut all) = serde_json::to_value(table).unwrap() else { panic!("no object") };
    let before = all[name].as_u64().unwrap() as usize;
    let mut value = bound;
    loop {
        all.insert(name.into(), value.into());
        let numbers: Numbers = serde_json::from_value(all.clone().into()).unwrap();
        if numbers.check().is_ok() {
            assert!(value != before || bound == before, "{name} cannot be nearer to {bound} than {before}");
            return numbers;
        }
        assert_ne!(value, before, "{name}: {bound}");
        value = if bound > before { (value / 2).max(before) } else { (2 * value).min(before) };
    }
}

impl Trial {
    fn run(&self) -> Result<()> {
        let mut info = test_device().info().clone();
        info.kind = self.kind;
        let mut device = Device::open(&info)?;
        // Kernels, not the host, compute small products.
        let table = Numbers { host_entries: 0, ..Numbers::of(self.kind) };
        let operations: Vec<_> =
            all()?.into_iter().filter(|operation| !self.sampled || operation.is_sampled()).collect();
        let run = |device: &Device, numbers: Numbers, operation: &Operation| {
            *TRIED.lock().unwrap_or_else(PoisonError::into_inner) = Some(numbers);
            (operation.run)(device)
        };
        let want = operations.iter().map(|operation| run(&device, table, operation)).collect::<Result<Vec<_>>>()?;
        let refused = operations.iter().zip(&want).filter(|(_, want)| want.is_empty());
        let refused: Vec<_> = refused.map(|(operation, _)| operation).filter(|of| !of.may_be_refused()).collect();
        assert!(refused.is_empty(), "{:?}: nothing to compare: {refused:?}", self.kind);
        let bounds = table.bounds();
        let ends = bounds.iter().flat_map(|bound| [(bound, bound.least), (bound, bound.most)]);
        for (place, (bound, end)) in ends.enumerate() {
            if !self.sampled && place % KEPT == KEPT - 1 {
                device = Device::open(&info)?;
            }
            if !place.is_multiple_of(self.numbers) && !ALWAYS.contains(&bound.name) {
                continue;
            }
            let numbers = at_bound(table, bound.name, bound.nearest(end));
            eprintln!("{:?}: {} towards {end}", self.kind, bound.name);
            for (at, (operation, want)) in operations.iter().zip(&want).enumerate() {
                let is_in_turn = operation.is_sampled() || (at + place).is_multiple_of(OTHERS);
                if is_in_turn && operation.reads(bound.name) {
                    let found = run(&device, numbers, operation)?;
                    assert!(found == *want, "{:?}: {} towards {end}: {}", self.kind, bound.name, operation.name);
                }
            }
        }
        Ok(())
    }
}
