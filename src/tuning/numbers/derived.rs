//! The numbers of a device, and values derived from them.
use super::{Numbers, check::least_of_tile};
use crate::tuning::{
    DeviceKind,
    tables::{CPU, GPU},
};

impl Numbers {
    /// The table for a kind of device. All kinds except CPUs share that of GPUs;
    /// [`Numbers::within`] adapts it to a device's limits.
    pub(crate) fn of(kind: DeviceKind) -> Self {
        if kind == DeviceKind::Cpu { CPU } else { GPU }
    }

    /// Limits work-groups to at most `most` items. Tiles of scans keep at least two words.
    pub(crate) fn within(self, most: usize) -> Self {
        let most = 1 << most.max(1).ilog2();
        let (group_size, scan_group_size) = (self.group_size.min(most), self.scan_group_size.min(most));
        Self {
            group_size,
            elementwise_group: self.elementwise_group.min(most),
            value_group: self.value_group.min(most),
            vector_group: self.vector_group.min(most),
            dense_group: self.dense_group.min(most),
            dense_lanes: self.dense_lanes.min(most),
            dense_common_lanes: self.dense_common_lanes.min(most),
            scan_group_size,
            scan_items: self.scan_items.max(least_of_tile(scan_group_size)),
            drop_scan_items: self.drop_scan_items.max(least_of_tile(group_size)),
            sort_group_size: self.sort_group_size.min(most),
            radix_group: self.radix_group.min(most),
            arrival_group: self.arrival_group.min(most),
            window_group_size: self.window_group_size.min(most),
            tile_group_size: self.tile_group_size.min(most),
            frontier_group: self.frontier_group.min(most),
            ..self
        }
    }

    /// Whether one work-item sorts alone. That is so on CPUs, and on devices with work-groups below
    /// 8 items.
    pub(crate) fn sorts_serially(&self) -> bool {
        self.sort_group_size < 8
    }

    /// Bits of a digit by which a CPU distributes elements.
    pub(crate) const DIGIT_BITS: usize = 8;

    /// Most runs that a CPU merges. Merging them costs less than 4 passes that distribute by
    /// digits, which are always enough. There are at most 1024, because an item stores where each
    /// run begins.
    pub(crate) fn serial_runs_max(&self) -> usize {
        let digits = (1 << Self::DIGIT_BITS) / 4 * self.serial_digit_cost;
        let dealt = 4 * (self.serial_deal_cost + digits.div_ceil(self.serial_insertion_max.max(1)));
        1 << dealt.div_ceil(self.serial_merge_cost.max(1)).min(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;

    #[test]
    fn the_tables_can_be_compiled_with() -> Result<()> {
        for kind in [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Accelerator, DeviceKind::Other] {
            Numbers::of(kind).check()?;
            for most in [1, 8, 100, 1024] {
                let cut = Numbers::of(kind).within(most);
                for size in [cut.group_size, cut.elementwise_group, cut.value_group, cut.vector_group] {
                    assert!(size <= most && size.is_power_of_two());
                }
            }
        }
        assert_eq!(CPU.serial_runs_max(), 128, "fewer than 8 merge passes");
        let cheap = Numbers { serial_merge_cost: 1, serial_deal_cost: 900, ..CPU };
        assert_eq!((cheap.check()?, cheap.serial_runs_max()), ((), 1024));
        Ok(())
    }
}
