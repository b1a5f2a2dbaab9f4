//! `blockmul devices`: the devices to compute on.
use crate::{
    failure::Failure,
    messages::in_a_line,
    output,
    sizes::{count, show_bytes},
    table,
};
use blockmul::{
    Device,
    device::{DeviceInfo, DeviceKind, kernel_cache},
};

/// List the OpenCL devices of this machine.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul devices            a table
  blockmul devices --json     every limit, for programs
  blockmul devices --clear-cache    remove the compiled kernels that are kept for later runs

Kernels are kept in the user's cache folder, or in the folder named by the environment variable
BLOCKMUL_CACHE; BLOCKMUL_CACHE=off keeps none. --device takes the number in the first column, or a part of a
name. If there is no device, the exit status is 3 and the message says what to install.")]
pub struct Args {
    /// Print a JSON array with every limit.
    #[arg(long)]
    json: bool,
    /// Remove the stored kernels of all devices instead of listing devices.
    #[arg(long, conflicts_with = "json")]
    clear_cache: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.clear_cache {
        return clear_cache();
    }
    let devices = Device::list()?;
    match args.json {
        true => output::print(&serde_json::to_string_pretty(&devices).expect("plain data")),
        false => output::print(&table(&devices)),
    }
}

fn clear_cache() -> Result<(), Failure> {
    let Some(folder) = kernel_cache::folder() else {
        return output::print("kernels are not kept: BLOCKMUL_CACHE is off, or there is no cache folder");
    };
    let cleared = kernel_cache::clear().map_err(output::of_output)?;
    let (kernels, size) = (count(cleared.kernels as usize, "kernel"), show_bytes(cleared.bytes));
    output::print(&format!("{}: {kernels} removed, {size}", in_a_line(&folder.display().to_string())))
}

fn table(devices: &[DeviceInfo]) -> String {
    let row = |info: &DeviceInfo| {
        let kind = match info.kind {
            DeviceKind::Gpu => "gpu",
            DeviceKind::Cpu => "cpu",
            DeviceKind::Accelerator => "accelerator",
            _ => "other",
        };
        [
            ("index", info.index.to_string()),
            ("name", info.name.clone()),
            ("platform", info.platform.clone()),
            ("kind", kind.into()),
            ("units", info.compute_units.to_string()),
            ("memory", show_bytes(info.global_bytes)),
            ("largest buffer", show_bytes(info.max_alloc_bytes)),
            ("local", show_bytes(info.local_bytes)),
            ("f64", if info.fp64 { "yes" } else { "no" }.into()),
            ("version", info.version.clone()),
        ]
    };
    table::named(10, devices.iter().map(row))
}
