//! The numbers of a device: the numbers of stages, and sizes of work-groups that are the same on
//! every kind of device.
use super::{DeviceInfo, DeviceKind};
use crate::{
    Result,
    tuning::{MethodCosts, StageNumbers, bounds},
};
use std::{collections::BTreeMap, sync::Arc};

/// Number of work-items in a work-group whose items each process one entry, line or row of a block.
/// 64 items are two warps or one wavefront. In kernels that check patterns, groups of more than 64
/// items were not faster than groups of 64.
const ELEMENTWISE: usize = 64;

/// Work-items of a work-group in which each item processes one element of a matrix's blocks.
const VALUES: usize = 256;

/// Number of work-items in a work-group that processes elements of vectors. Groups of 128 items
/// fill any device that allows them.
const VECTOR: usize = 128;

impl DeviceInfo {
    /// The numbers of a stage.
    pub(crate) fn numbers<N: StageNumbers>(&self) -> N {
        N::with(self.kind, &self.tuning.numbers).within(self.max_group_size)
    }

    /// The costs of the product methods on this device.
    pub fn costs(&self) -> MethodCosts {
        self.tuning.costs(self.kind)
    }

    /// The numbers of all stages, by name, for studies of the choices made with them.
    #[doc(hidden)]
    pub fn numbers_by_name(&self) -> BTreeMap<&'static str, usize> {
        let all = bounds(self.kind, &self.tuning.numbers, self.max_group_size);
        all.into_iter().map(|bound| (bound.name, bound.value)).collect()
    }

    /// Returns this device with the numbers and costs of the text of a tuning file; numbers that
    /// the file does not contain stay. A device that is opened with the result uses the numbers of
    /// the tuning file.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `text` is not a tuning file, or if no kernel
    /// can be compiled with the numbers.
    #[doc(hidden)]
    pub fn with_file(&self, text: &str) -> Result<Self> {
        let tuning = crate::tuning::with_file(&self.tuning, text, self.kind, &self.name)?;
        Ok(Self { tuning: Arc::new(tuning), ..self.clone() })
    }

    /// The work-group size for items that each process one entry, line or row of a block. Small
    /// kernels and kernels that make or check patterns use this size, because no other size is
    /// faster for them.
    pub(crate) fn elementwise_group(&self) -> usize {
        self.limited(ELEMENTWISE)
    }

    /// The work-group size of kernels that move, copy, weigh and add blocks.
    pub(crate) fn value_group(&self) -> usize {
        self.limited(VALUES)
    }

    /// The work-group size of kernels that process elements of vectors.
    pub(crate) fn vector_group(&self) -> usize {
        self.limited(VECTOR)
    }

    /// The preferred work-group size, or the largest power of two that the device allows if the
    /// device does not allow the preferred size.
    pub(crate) fn limited(&self, preferred: usize) -> usize {
        preferred.min(1 << self.max_group_size.max(1).ilog2())
    }

    /// The work-group size for work-items that wait for one another: `preferred`, or 1 on a CPU,
    /// where a work-group of one item needs no barriers.
    pub(crate) fn serial_or(&self, preferred: usize) -> usize {
        if self.kind == DeviceKind::Cpu { 1 } else { preferred.min(self.max_group_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn work_groups_are_powers_of_two_that_the_device_allows() {
        for max_group_size in [1, 8, 100, 1024] {
            let info = DeviceInfo { max_group_size, ..test_device().info().clone() };
            for size in [info.elementwise_group(), info.value_group(), info.vector_group()] {
                assert!(size <= max_group_size && size.is_power_of_two(), "{size} of {max_group_size}");
            }
        }
    }

    #[test]
    fn the_numbers_of_a_file_are_those_of_the_device() -> Result<()> {
        let info = DeviceInfo { max_group_size: 100, kind: DeviceKind::Gpu, ..test_device().info().clone() };
        let tuned = info.with_file(r#"{"gpu": {"radix_group": 1024, "radix_bits": 5}}"#)?;
        let tuned = tuned.with_file(r#"{"gpu": {"radix_bits": 6}, "cpu": {"radix_items": 9}}"#)?;
        let (before, after) = (info.numbers_by_name(), tuned.numbers_by_name());
        assert_eq!((after["radix_group"], after["radix_bits"]), (64, 6));
        let other = |numbers: &BTreeMap<_, _>| {
            let others = numbers.iter().filter(|(name, _)| !["radix_group", "radix_bits"].contains(*name));
            others.map(|(name, value)| (*name, *value)).collect::<Vec<_>>()
        };
        assert_eq!(other(&before), other(&after));
        // The tuning file's number is allowed together with the table's number of the same stage.
        let scan = tuned.with_file(r#"{"gpu": {"scan_items": 1000}}"#)?;
        let refused = scan.with_file(r#"{"gpu": {"scan_group_size": 512}}"#).unwrap_err().to_string();
        assert!(refused.contains("scan_group_size is 512, not a power of two from 1 to 262 if"), "{refused}");
        let costs = tuned.with_file(r#"{"gpu": {"costs": {"sort": {"launch_us": 77}}}}"#)?.costs();
        assert_eq!(costs.of("sort").map(|cost| cost.launch_us), Some(77.0));
        Ok(())
    }
}
