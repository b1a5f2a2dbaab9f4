//! The reports of commands: the JSON object of `--report`, its sizes and times.
mod executed;
mod product;
mod size;

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use blockmul::{Semiring, device::StageTime};
pub use executed::Executed;
pub use product::Product;
use serde::Serialize;
pub use size::Size;
use std::path::PathBuf;

/// Number of the schema of JSON objects. It is increased by changes that a reader must know.
pub const SCHEMA: u32 = 1;

/// The JSON object of `--report`: the fields that all reports begin with, then those of the
/// command.
#[derive(Serialize)]
pub struct Report<T> {
    pub schema: u32,
    command: String,
    device: DeviceName,
    #[serde(flatten)]
    pub of: T,
}

/// The device or reference that has computed.
#[derive(Serialize)]
pub struct DeviceName {
    pub name: String,
    pub platform: String,
    pub driver: String,
}

impl<T: Serialize> Report<T> {
    pub fn new(target: &Target, of: T) -> Self {
        Self { schema: SCHEMA, command: command_line(), device: target.name(), of }
    }

    /// The name of the device.
    pub fn device(&self) -> &str {
        &self.device.name
    }

    /// Writes the object to a file, if there is one.
    pub fn write(&self, path: &Option<PathBuf>) -> Result<(), Failure> {
        let json = || serde_json::to_string_pretty(self).expect("plain data");
        path.as_deref().map_or(Ok(()), |path| output::write(path, &json()))
    }
}

/// A stage of a product, and its busy time.
#[derive(Serialize, Clone, Copy)]
pub struct Stage {
    pub name: &'static str,
    pub ms: Option<f64>,
    /// Whether the stage computed or enqueued anything.
    #[serde(skip)]
    pub ran: bool,
}

impl Stage {
    pub fn of(time: &StageTime) -> Self {
        // The host computes without commands.
        Self { name: time.name, ms: time.ms, ran: time.commands > 0 || time.ms > Some(0.0) }
    }

    /// Whether the host computed a product with these stages.
    pub fn are_of_host(stages: &[Self]) -> bool {
        stages.iter().any(|stage| stage.name == "multiply")
    }
}

/// The command and its arguments, for a report. File names need not be UTF-8.
pub fn command_line() -> String {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The algebra of a product in its summary, unless it is the usual one.
pub fn over(semiring: Semiring) -> String {
    if semiring == Semiring::PlusTimes { String::new() } else { format!(" over {semiring}") }
}
