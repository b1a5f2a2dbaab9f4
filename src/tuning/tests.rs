//! Tests every number at both of its bounds. In each round half of the numbers are at a bound. No
//! bit of a result may change.
//!
//! Kernels with wrong numbers may end the process, so the test runs in a separate process. The test
//! prints the numbers before it uses them, so that a crash can be traced. Because many numbers
//! change at once, the test also finds numbers that change bits only together.
mod operations;

use super::{DeviceKind, GivenNumbers, bounds, stage::check};
use crate::{Device, DeviceInfo, Result, device::test_device, generate::Random};
use operations::all;
use std::process::Command;

/// The environment variable that is set in the separate process.
const ALONE: &str = "BLOCKMUL_TEST_ALONE";

/// Number of rounds. A number has its least value in one round, its largest value in another, and
/// the value of the table in two rounds.
const ROUNDS: usize = 4;

/// A set of operations to run.
struct Trial {
    /// The kind of device. A CPU can also run the kernels of GPUs.
    kind: DeviceKind,
    /// Whether only the operations of the sample are run. Operations of the sample are run in every
    /// round; all other operations are run in every second round.
    sampled: bool,
}

#[test]
fn numbers_of_cpus_at_their_bounds_change_no_bit() {
    in_a_process_of_its_own("numbers_of_cpus_at", Trial { kind: DeviceKind::Cpu, sampled: true });
}

#[test]
fn numbers_of_gpus_at_their_bounds_change_no_bit() {
    in_a_process_of_its_own("numbers_of_gpus_at", Trial { kind: DeviceKind::Gpu, sampled: true });
}

#[test]
fn bounds_of_numbers_of_cpus_change_no_bit_of_any_operation() {
    in_a_process_of_its_own("bounds_of_numbers_of_cpus", Trial { kind: DeviceKind::Cpu, sampled: false });
}

#[test]
fn bounds_of_numbers_of_gpus_change_no_bit_of_any_operation() {
    in_a_process_of_its_own("bounds_of_numbers_of_gpus", Trial { kind: DeviceKind::Gpu, sampled: false });
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

/// Sets one number to a bound, or to the nearest value that the other numbers allow.
pub(super) fn at_bound(kind: DeviceKind, mut given: GivenNumbers, name: &str, bound: usize) -> GivenNumbers {
    let all = bounds(kind, &given, usize::MAX);
    let before = all.iter().find(|one| one.name == name).unwrap().value;
    let mut value = bound;
    loop {
        given.insert(name.to_owned(), value);
        if check(kind, &given).is_ok() {
            return given;
        }
        assert_ne!(value, before, "{name}: {bound}");
        value = if bound > before { (value / 2).max(before) } else { (2 * value).min(before) };
    }
}

/// Names of numbers, with the bound to which each is set.
type Ends = Vec<(&'static str, usize)>;

/// Makes [`ROUNDS`] rounds. In each round half of the numbers are at a bound.
fn rounds(kind: DeviceKind, random: &mut Random) -> [Ends; ROUNDS] {
    let mut rounds = [const { Vec::new() }; ROUNDS];
    for bound in bounds(kind, &GivenNumbers::new(), usize::MAX) {
        let first = random.below(ROUNDS as u64) as usize;
        let second = (first + 1 + random.below(ROUNDS as u64 - 1) as usize) % ROUNDS;
        for (end, round) in [(bound.least, first), (bound.most, second)] {
            let round = &mut rounds[round];
            // Numbers that depend on each other are set in a random order.
            let place = random.below(round.len() as u64 + 1) as usize;
            round.insert(place, (bound.name, bound.nearest(end)));
        }
    }
    rounds
}

impl Trial {
    /// Opens the device with some numbers at a bound.
    fn with_ends(&self, info: &DeviceInfo, ends: &[(&'static str, usize)]) -> Result<Device> {
        // With this number set to 0, kernels also compute the small products that the host would
        // compute.
        let first = GivenNumbers::from([("host_entries".to_owned(), 0)]);
        let given = ends.iter().fold(first, |given, &(name, bound)| at_bound(self.kind, given, name, bound));
        let kind = if self.kind == DeviceKind::Cpu { "cpu" } else { "gpu" };
        Device::open(&info.with_file(&serde_json::json!({ kind: given }).to_string())?)
    }

    fn run(&self) -> Result<()> {
        let mut info = test_device().info().clone();
        info.kind = self.kind;
        let operations: Vec<_> =
            all()?.into_iter().filter(|operation| !self.sampled || operation.is_sampled()).collect();
        let device = self.with_ends(&info, &[])?;
        let want = operations.iter().map(|operation| (operation.run)(&device)).collect::<Result<Vec<_>>>()?;
        let refused = operations.iter().zip(&want).filter(|(_, want)| want.is_empty());
        let refused: Vec<_> = refused.map(|(operation, _)| operation).filter(|of| !of.may_be_refused()).collect();
        assert!(refused.is_empty(), "{:?}: nothing to compare: {refused:?}", self.kind);
        let mut random = Random::new(1);
        for (round, ends) in rounds(self.kind, &mut random).into_iter().enumerate() {
            eprintln!("{:?}: round {round}, {ends:?}", self.kind);
            let device = self.with_ends(&info, &ends)?;
            let in_turn = operations.iter().zip(&want).enumerate();
            let in_turn = in_turn.filter(|(at, (operation, _))| operation.is_sampled() || (at + round) % 2 == 0);
            for (_, (operation, want)) in in_turn {
                eprintln!("{}", operation.name);
                if (operation.run)(&device)? == *want {
                    continue;
                }
                let mut guilty = ends.clone();
                for end in &ends {
                    let without: Ends = guilty.iter().copied().filter(|other| other != end).collect();
                    if (operation.run)(&self.with_ends(&info, &without)?)? != *want {
                        guilty = without;
                    }
                }
                panic!("{:?}: {}: {guilty:?}", self.kind, operation.name);
            }
        }
        Ok(())
    }
}
