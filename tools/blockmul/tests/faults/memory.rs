//! The device memory that the command reports, compared with the memory that it allocated by
//! OpenCL.
use super::{
    process,
    sweep::End,
    verdict::Verdict,
    workshop::{LIMIT, Workshop},
};
use std::{error::Error, fs, process::Command};

/// The limits of memory of the runs, in MiB; the first run has no limit. With 3 MiB or less the
/// product is computed in bands.
const LIMITS: [Option<u64>; 6] = [None, Some(100), Some(6), Some(4), Some(3), Some(2)];

/// Checks that `held_device_bytes` is the most memory that OpenCL held at once, and that it is
/// within the limit.
pub fn is_told(workshop: &Workshop) -> Result<Vec<End>, Box<dyn Error>> {
    LIMITS.into_iter().map(|limit| within(workshop, limit)).collect()
}

fn within(workshop: &Workshop, limit: Option<u64>) -> Result<End, Box<dyn Error>> {
    let bench = workshop.bench()?;
    let report = bench.out.join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_blockmul"));
    command.args(["multiply", "B.mtx", "--block", "2", "--quiet", "-o"]).arg(bench.out.join("C.mtx"));
    command.arg("--report").arg(&report).env("BLOCKMUL_CACHE", workshop.kernels());
    if let Some(limit) = limit {
        command.arg("--memory-limit").arg(format!("{limit}MiB"));
    }
    workshop.prepare(&mut command);
    let ran = process::run(command, &bench.folder, &bench.out, 10 * LIMIT, |_| ())?;
    let text = fs::read(&report).map_err(|_| format!("within {limit:?} MiB: {}", ran.stderr))?;
    let report: serde_json::Value = serde_json::from_slice(&text)?;
    let number = |name: &str| report[name].as_u64().unwrap_or(0);
    let (told, bands, held) = (number("held_device_bytes"), number("bands"), ran.counts.get("most bytes"));
    let cut = limit.is_some_and(|limit| limit <= 3);
    let right = told == held && limit.is_none_or(|limit| held <= limit << 20) && (bands > 1) == cut;
    Ok(End {
        row: "command: device memory reported".into(),
        what: format!("multiply within {limit:?} MiB"),
        verdict: if right { Verdict::Same } else { Verdict::Wrong },
        words: format!("{told} bytes reported, {held} held, {bands} bands"),
        hit: true,
    })
}
