//! Tuning: the numbers with which kernels are compiled or launched. Each stage declares its own
//! numbers in a separate file, with a table for each kind of device. A file in the user's
//! configuration folder may override the tables.
//!
//! No number changes a bit of a result. Numbers determine which work-item computes a value, but
//! never the order in which terms are added. The numbers of GPUs were measured on an NVIDIA H200,
//! the numbers of CPUs with PoCL on two cores of a Sapphire Rapids.
//!
//! The user's tuning file is `blockmul/tuning.json` in the configuration folder of the platform
//! (`~/.config` on Linux), or the file that the environment variable `BLOCKMUL_TUNING` names. If
//! the variable is `off`, no file is read. The file gives numbers for kinds of devices, and for
//! devices whose name contains a given text:
//!
//! ```json
//! {
//!     "gpu": {"tile_items": 4},
//!     "cpu": {"scan_items": 2048},
//!     "devices": {"radeon": {"group_size": 128}}
//! }
//! ```
//!
//! Numbers that the file does not contain have the values of the table. Opening a device fails if
//! the file cannot be read, contains an unknown name, or has a number with which no kernel can be
//! compiled. A value is a number of a stage, and not a constant, if it differs between kinds of
//! devices, if `blockmul tune` measures it, or if studies and tests vary it. So the name of a
//! number may be removed from one version to the next. A file that still contains the removed name
//! is refused.
//!
//! [`MethodCosts`] are the costs of the methods of products. The costs have tables and sections of
//! their own:
//!
//! ```json
//! {"devices": {"NVIDIA H200": {"costs": {"sort": {"launch_us": 6.0, "product_ps": 5.0}}}}}
//! ```
//!
//! `blockmul tune` fits the costs to a device and writes them into the file. `blockmul tune
//! --dense` measures the best numbers for products with dense matrices.
mod costs;
mod file;
mod fit;
mod formats;
mod shared;
mod stage;

pub use costs::{BinSize, MethodCost, MethodCosts};
pub(crate) use file::{Given, check_file, given, with_file};
pub use file::{allow_missing_user_file, merged_costs, merged_numbers, read_text, user_file};
pub use fit::{Errors, Sample};
pub(crate) use formats::{BlockWeights, FormatWeights};
pub(crate) use shared::{LOOKUP_STEPS, RANGE_AHEAD, SharedNumbers};
pub(crate) use stage::{Bound, GivenNumbers, Stage, StageNumbers, Values, bounds, least_of_tile, most_of, numbers};

use serde::Serialize;

/// The kind of processor of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DeviceKind {
    /// A graphics processor.
    Gpu,
    /// The host's own cores.
    Cpu,
    /// A dedicated accelerator.
    Accelerator,
    /// A processor that is no GPU, no CPU and no accelerator.
    Other,
}

#[cfg(test)]
mod tests;
