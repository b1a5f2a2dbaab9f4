//! `blockmul devices`: what there is to compute on.
use crate::{Failure, values::human};
use blockmul::{Device, DeviceKind};
use comfy_table::{Table, presets};
use std::io::Write;

/// Lists the OpenCL devices.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  blockmul devices\n  blockmul devices --json | jq '.[0].name'")]
pub struct Devices {
    /// One JSON array, with every limit.
    #[arg(long)]
    json: bool,
}

impl Devices {
    pub fn run(self) -> Result<(), Failure> {
        let devices = Device::list()?;
        let mut out = std::io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &devices).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["index", "kind", "name", "platform", "units", "memory", "buffer", "local", "group", "fp64"]);
        for device in devices {
            let kind = match device.kind {
                DeviceKind::Gpu => "gpu",
                DeviceKind::Cpu => "cpu",
                DeviceKind::Accelerator => "accelerator",
                _ => "other",
            };
            table.add_row([
                device.index.to_string(),
                kind.into(),
                device.name,
                device.platform,
                device.compute_units.to_string(),
                human(device.global_bytes),
                human(device.max_alloc_bytes),
                human(device.local_bytes),
                device.max_group_size.to_string(),
                if device.fp64 { "yes" } else { "no" }.into(),
            ]);
        }
        writeln!(out, "{table}")?;
        Ok(())
    }
}
