//! Tuning: every number with which kernels of the sparse product are compiled or launched. There is
//! one table for each kind of device, which a file in the user's configuration folder may override.
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
mod file;

pub(crate) use file::check_file;

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

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

/// The numbers of one kind of device. Sizes of work-groups are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Numbers {
    /// Work-items of a work-group if each item processes one entry, column, run or block column.
    pub group_size: usize,
    /// Work-groups that reduce a record.
    pub record_groups: usize,
    /// Work-items of a work-group of a scan.
    pub scan_group_size: usize,
    /// Consecutive values that one work-item of a scan adds up.
    pub scan_items: usize,
    /// Most tiles of a scan for which each tile adds up the sums of the tiles before it.
    pub scan_direct_tiles: usize,
    /// Work-items of a work-group of a sort; 1 selects the kernels for CPUs.
    pub sort_group_size: usize,
    /// Elements that one work-item of a parallel sort holds: odd, so that neighbours use different
    /// banks of local memory, and few enough for registers.
    pub sort_items: usize,
    /// Elements per work-item for the chunks of an expansion, if local memory has at least 48 KiB.
    pub expansion_items: usize,
    /// Most products of a column that an expansion in local memory sorts whole.
    pub expansion_short_max: usize,
    /// Most elements of a segment that a CPU sorts whole. The chunks of longer segments have twice
    /// as many.
    pub serial_short_max: usize,
    /// Most elements of a segment that a CPU sorts by insertion.
    pub serial_insertion_max: usize,
    /// Cost of an element in a merge pass, in nanoseconds. By this cost and the next two a CPU
    /// chooses between merging runs and distributing elements by digits.
    pub serial_merge_cost: usize,
    /// Cost of an element that is distributed, in nanoseconds.
    pub serial_deal_cost: usize,
    /// Cost of four values of a digit, in nanoseconds.
    pub serial_digit_cost: usize,
    /// Work-items of a work-group that sorts short segments of an expansion in local memory.
    pub window_group_size: usize,
    /// Products of each of these work-items: odd, and few enough for registers.
    pub window_items: usize,
    /// Work-items of a work-group that processes a tile of the expansion.
    pub tile_group_size: usize,
    /// Products of each of these work-items.
    pub tile_items: usize,
    /// Largest side of blocks for which kernels are compiled; larger blocks share a program.
    pub block_compiled_side: usize,
    /// Most elements of a block of A that a work-item of a GPU holds in registers; larger blocks
    /// are staged in local memory.
    pub block_held_area: usize,
    /// Bytes of blocks that a work-group stages at once.
    pub block_staged_bytes: usize,
    /// Work-items that stage blocks together.
    pub block_staged_group: usize,
    /// Products from which a run of small blocks gets its own work-group on a GPU.
    pub block_long_run: usize,
    /// Runs of blocks that a work-item of a CPU sums one after another.
    pub block_serial_runs: usize,
}

/// GPUs like the NVIDIA H200.
const GPU: Numbers = Numbers {
    // Several groups of 256 items fill a multiprocessor and leave registers.
    group_size: 256,
    record_groups: 256,
    scan_group_size: 256,
    scan_items: 8,
    // 4096 tiles read 8 M partial sums, which takes as long as a launch if they are cached.
    scan_direct_tiles: 4096,
    sort_group_size: 256,
    sort_items: 7,
    // Of 15 pairs, chunks of 2816 and short segments up to 576 were the fastest, or within 3 % of
    // the fastest, on ten matrices.
    expansion_items: 11,
    expansion_short_max: 576,
    window_group_size: 128,
    window_items: 9,
    tile_group_size: 256,
    tile_items: 8,
    // Sides in use: points 3, poses 3 and 6, cameras 9, observations 2, similarity transforms 7,
    // tetrahedra 4, hexahedra 8; finite elements up to 16.
    block_compiled_side: 16,
    block_held_area: 64,
    // Meanwhile the items of the group hold the next blocks, in 48 registers each.
    block_staged_bytes: 6 << 10,
    // Few items wait for each other, and many groups are resident (13x13: 1.00 ms; with 64 items
    // 1.23 ms).
    block_staged_group: 32,
    // One item adds a product of small blocks in about a microsecond, most of it waiting for
    // memory. A group hides that latency.
    block_long_run: 32,
    ..CPU
};

/// CPUs. A work-group is a loop, and memory is cached.
const CPU: Numbers = Numbers {
    group_size: 64,
    record_groups: 256,
    // One item with many values: kernels without barriers compile and run faster. Tiles of tiles
    // gain nothing.
    scan_group_size: 1,
    scan_items: 4096,
    scan_direct_tiles: 64,
    sort_group_size: 1,
    sort_items: 7,
    expansion_items: 7,
    expansion_short_max: 576,
    // Half a chunk of keys and payloads, twice for both directions, fits a second-level cache.
    serial_short_max: 1 << 14,
    serial_insertion_max: 24,
    serial_merge_cost: 8,
    serial_deal_cost: 3,
    serial_digit_cost: 2,
    window_group_size: 128,
    window_items: 9,
    // The one item moves a cursor forward through the tile, which is long enough to hide the start
    // of a group.
    tile_group_size: 1,
    tile_items: 4096,
    block_compiled_side: 16,
    block_held_area: 64,
    block_staged_bytes: 6 << 10,
    block_staged_group: 32,
    block_long_run: 1024,
    block_serial_runs: 64,
};

impl Numbers {
    /// The table of a kind of device. All kinds but CPUs share that of GPUs; [`Numbers::within`]
    /// adapts it to a device's limits.
    pub(crate) fn of(kind: DeviceKind) -> Self {
        if kind == DeviceKind::Cpu { CPU } else { GPU }
    }

    /// The same numbers, with work-groups of at most `most` items.
    pub(crate) fn within(self, most: usize) -> Self {
        let most = 1 << most.max(1).ilog2();
        Self {
            group_size: self.group_size.min(most),
            scan_group_size: self.scan_group_size.min(most),
            sort_group_size: self.sort_group_size.min(most),
            window_group_size: self.window_group_size.min(most),
            tile_group_size: self.tile_group_size.min(most),
            ..self
        }
    }

    /// Whether one work-item sorts alone, as on CPUs and on devices with work-groups below 8 items.
    pub(crate) fn sorts_serially(&self) -> bool {
        self.sort_group_size < 8
    }

    /// Refuses numbers with which no kernel can be compiled.
    fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: usize, why: &str| Err(Error::Argument(format!("{name} is {value}, {why}")));
        for (name, value) in [
            ("group_size", self.group_size),
            ("scan_group_size", self.scan_group_size),
            ("sort_group_size", self.sort_group_size),
            ("window_group_size", self.window_group_size),
            ("tile_group_size", self.tile_group_size),
            ("block_staged_group", self.block_staged_group),
        ] {
            if !value.is_power_of_two() || value > 1024 {
                return refuse(name, value, "not a power of two up to 1024");
            }
        }
        for (name, value, most) in [
            ("record_groups", self.record_groups, 1 << 16),
            ("scan_items", self.scan_items, 1 << 16),
            ("scan_direct_tiles", self.scan_direct_tiles, 1 << 20),
            ("sort_items", self.sort_items, 15),
            ("expansion_items", self.expansion_items, 15),
            ("expansion_short_max", self.expansion_short_max, self.window_group_size * self.window_items / 2),
            ("serial_short_max", self.serial_short_max, 1 << 24),
            ("serial_insertion_max", self.serial_insertion_max, 1 << 10),
            ("serial_merge_cost", self.serial_merge_cost, 1 << 10),
            ("serial_deal_cost", self.serial_deal_cost, 1 << 10),
            ("serial_digit_cost", self.serial_digit_cost, 1 << 10),
            ("window_items", self.window_items, 15),
            ("tile_items", self.tile_items, 1 << 16),
            ("block_compiled_side", self.block_compiled_side, 16),
            ("block_held_area", self.block_held_area, 256),
            ("block_staged_bytes", self.block_staged_bytes, 12 << 10),
            ("block_long_run", self.block_long_run, 1024),
            ("block_serial_runs", self.block_serial_runs, 1 << 16),
        ] {
            if value == 0 || value > most {
                return refuse(name, value, &format!("not from 1 to {most}"));
            }
        }
        if self.serial_runs_max() > 1 << 10 {
            return refuse("serial_deal_cost", self.serial_deal_cost, "too much for so cheap merges");
        }
        Ok(())
    }

    /// Bits of a digit by which a CPU distributes elements.
    pub(crate) const DIGIT_BITS: usize = 8;

    /// Most runs that a CPU merges. A segment is merged only if its merge passes cost less than 4
    /// passes that distribute by digits, which are always enough. This bounds the merge passes, and
    /// so the runs.
    pub(crate) fn serial_runs_max(&self) -> usize {
        let digits = (1 << Self::DIGIT_BITS) / 4 * self.serial_digit_cost;
        let dealt = 4 * (self.serial_deal_cost + digits.div_ceil(self.serial_insertion_max.max(1)));
        1 << dealt.div_ceil(self.serial_merge_cost.max(1)).min(11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_compiled_with() -> Result<()> {
        for kind in [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Accelerator, DeviceKind::Other] {
            Numbers::of(kind).check()?;
            for most in [1, 8, 100, 1024] {
                let cut = Numbers::of(kind).within(most);
                assert!(cut.group_size <= most && cut.group_size.is_power_of_two());
            }
        }
        assert_eq!(CPU.serial_runs_max(), 32, "fewer than 5 merge passes");
        Ok(())
    }

    #[test]
    fn numbers_that_cannot_be_are_refused_by_name() {
        let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
        assert!(refused(Numbers { group_size: 96, ..GPU }).contains("group_size is 96, not a power of two"));
        assert!(refused(Numbers { tile_items: 0, ..GPU }).contains("tile_items is 0"));
        assert!(refused(Numbers { expansion_short_max: 577, ..GPU }).contains("expansion_short_max is 577"));
        assert!(refused(Numbers { serial_merge_cost: 1, serial_deal_cost: 900, ..CPU }).contains("serial_deal_cost"));
    }
}
