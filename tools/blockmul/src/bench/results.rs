//! The records of a run as one JSON object. Programs that time other libraries write the same
//! schema, so that one table can hold them all.
use super::record::Record;
use crate::report::command_line;
use serde::Serialize;

/// The schema of the JSON. The number of the schema is increased by changes that a reader must
/// know.
const SCHEMA: &str = "blockmul-bench/1";

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    command: String,
    host: Host,
    results: &'a [Record],
}

/// The records of this run.
pub fn json(results: &[Record]) -> String {
    let results = Results { schema: SCHEMA, command: command_line(), host: Host::this(), results };
    serde_json::to_string_pretty(&results).expect("plain data")
}

/// The machine on which the command runs.
#[derive(Serialize)]
pub struct Host {
    cpu: Option<String>,
    threads: Option<usize>,
    os: &'static str,
    arch: &'static str,
}

impl Host {
    /// The machine of this process.
    pub fn this() -> Self {
        Self {
            cpu: cpu_name(),
            threads: std::thread::available_parallelism().ok().map(usize::from),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
        }
    }
}

/// Name of the CPU, if Linux provides it.
pub fn cpu_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}
