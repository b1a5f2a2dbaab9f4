//! Products of blocks of several shapes on a device.
use super::{Run, repeatedly};
use crate::failure::Failure;
use blockmul::{
    Device, Method, Product, Semiring,
    extra::host::Progress,
    groups::{BlockGroups, DeviceGroups},
    matrix::AnyMatrix,
};
use std::num::NonZero;

/// A product of groups to compute.
pub struct GroupsTask<'a> {
    pub a: &'a BlockGroups<AnyMatrix>,
    /// B, or `None` if B is A.
    pub b: Option<&'a BlockGroups<AnyMatrix>>,
    pub method: Method,
    pub semiring: Semiring,
    /// Each block of C begins at a multiple of this many bytes.
    pub align: Option<usize>,
    /// Whether to measure each bin.
    pub explain: bool,
}

/// The factors of a product of groups, on a device.
struct OnDevice<'a> {
    task: &'a GroupsTask<'a>,
    a: DeviceGroups<AnyMatrix>,
    b: Option<DeviceGroups<AnyMatrix>>,
}

impl<'a> OnDevice<'a> {
    fn new(device: &Device, task: &'a GroupsTask<'a>) -> blockmul::Result<Self> {
        let b = task.b.map(|b| device.upload_groups(b)).transpose()?;
        Ok(Self { task, a: device.upload_groups(task.a)?, b })
    }

    fn product(&self) -> Product<'_, DeviceGroups<AnyMatrix>> {
        let product = Product::of(&self.a, self.b.as_ref().unwrap_or(&self.a));
        let product = product.method(self.task.method).semiring(self.task.semiring);
        let product = self.task.align.into_iter().fold(product, Product::alignment);
        if self.task.explain { product.explained() } else { product }
    }
}

/// Computes C = A·B.
pub fn multiply_groups(
    device: &Device,
    task: &GroupsTask<'_>,
    progress: Progress,
) -> Result<(BlockGroups<AnyMatrix>, Run), Failure> {
    let factors = OnDevice::new(device, task)?;
    let (c, report) = factors.product().progress(progress).run_to_host()?;
    Ok((c, Run::of(report)))
}

/// Computes C = A·B `repeat` times after a warm-up, with the costs of each run. `step` is called
/// with the number of each run.
pub fn multiply_groups_repeatedly(
    device: &Device,
    task: &GroupsTask<'_>,
    repeat: NonZero<u32>,
    step: impl Fn(u32),
) -> Result<(BlockGroups<AnyMatrix>, Vec<Run>), Failure> {
    let factors = OnDevice::new(device, task)?;
    let (c, runs) = repeatedly(repeat, step, || {
        let (c, report) = factors.product().run_with_report()?;
        Ok((c, Run::of(report)))
    })?;
    Ok((c.download()?, runs))
}
