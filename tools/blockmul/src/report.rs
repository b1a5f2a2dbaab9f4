//! The reports of commands: the JSON object of `--report`, and its times.
mod executed;
mod product;

use crate::failure::Failure;
use crate::output;
use crate::target::{DeviceName, Target};
use blockmul::Semiring;
pub use executed::Executed;
pub use product::{Factors, Product};
use serde::Serialize;
use std::path::PathBuf;

/// The schema of the JSON objects. The number of the schema is increased by changes that a reader
/// must know.
pub const SCHEMA: u32 = 1;

/// The JSON object of `--report`: first the fields that all reports have, then those of the
/// command.
#[derive(Serialize)]
pub struct Report<T> {
    pub schema: u32,
    command: String,
    device: DeviceName,
    #[serde(flatten)]
    pub of: T,
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

/// The command and its arguments, for a report. File names need not be UTF-8.
pub fn command_line() -> String {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The words of a summary that name what a product is added to: `name` times beta. The words are
/// empty if there is no beta.
pub fn onto(name: &str, beta: Option<f64>) -> String {
    match beta {
        None => String::new(),
        Some(1.0) => format!(" + {name}"),
        Some(beta) => format!(" + {beta}·{name}"),
    }
}

/// The algebra of a product in its summary. The text is empty for plus-times.
pub fn over(semiring: Semiring) -> String {
    if semiring == Semiring::PlusTimes { String::new() } else { format!(" over {semiring}") }
}
