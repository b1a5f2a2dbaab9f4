//! Tuning: every number with which kernels are compiled or launched. There is one table for each
//! kind of device, which a file in the user's configuration folder may override.
//!
//! Results have the same bits for all numbers: the numbers decide which work-item computes, never
//! in which order terms are added. The numbers of GPUs were measured on an NVIDIA H200, those of
//! CPUs with PoCL on two cores of a Sapphire Rapids.
//!
//! The file is `blockmul/tuning.json` in the configuration folder of the platform (`~/.config` on
//! Linux), or the one that the environment variable `BLOCKMUL_TUNING` names; `off` means no file.
//! It gives numbers for kinds of devices, and for devices by a part of their name:
//!
//! ```json
//! {
//!     "gpu": {"tile_items": 4},
//!     "cpu": {"serial_short_max": 8192},
//!     "devices": {"radeon": {"group_size": 128}}
//! }
//! ```
//!
//! Numbers that the file does not name keep the value of the table. Opening a device fails if the
//! file cannot be read, has an unknown name, or has a number with which no kernel can be compiled.
//!
//! [`MethodCosts`] are what methods of products cost, in tables and sections of their own:
//!
//! ```json
//! {"devices": {"NVIDIA H200": {"costs": {"sort": {"launch_us": 6.0, "product_ps": 5.0}}}}}
//! ```
//!
//! `blockmul tune` fits them to a device and writes them into the file. `blockmul tune --dense`
//! times the numbers of products with dense matrices.
mod costs;
mod file;
mod fit;
mod formats;
mod numbers;
mod tables;

pub use costs::{BinSize, MethodCost, MethodCosts};
pub(crate) use file::check_file;
pub use file::{allow_missing_user_file, merged_costs, merged_numbers, read_text, user_file};
pub use fit::{Errors, Sample};
pub(crate) use formats::{BlockWeights, FormatWeights};
pub use numbers::Numbers;

use serde::Serialize;

/// The kind of processor a device is.
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
    /// Anything else.
    Other,
}

#[cfg(test)]
mod tests;
