//! Adds U and its damping to S, after the products are written to S. Kernels:
//! `cl/solver/schur/base.cl`, after `damping.cl`.
//!
//! Because U is added after the products, the products write each entry of S once. Only entries of
//! S that U also has, which are few, are written twice.
use super::equations::Floored;
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Options, Scalar, Sum, Work, kernel},
    element::ElementType,
    resident::DeviceCbc,
};

kernel! {
    struct AddBase = "add_base" in "solver/schur/damping.cl", "solver/schur/base.cl" {
        u: In<Elem>,
        floors: In<Elem>,
        place: In<u32>,
        source: In<u32>,
        kind: In<u32>,
        s: InOut<Elem>,
        slots: u32,
        stride: u32,
        floored: u32,
        scale: Scalar<Sum>,
        shift: Scalar<Sum>,
    }
}

/// For each block of U and each block of the diagonal, the numbers of its entries in S and in U.
/// `cl/solver/schur/structure.cl` computes them.
pub(super) struct Slots {
    /// The entry of S for each slot; `u32::MAX` if the slot is unused.
    pub place: Buffer<u32>,
    /// The entry of U for each slot; `u32::MAX` if U does not have the block.
    pub source: Buffer<u32>,
    /// Two bits for each slot. Bit 0 is set if the entry of S also has products, and bit 1 if the
    /// entry is on the diagonal.
    pub kind: Buffer<u32>,
}

impl Slots {
    /// Slots for a matrix whose entries are copies of U's entries `source`, in this order, without
    /// products. `on_diagonal` says whether the entries are on its diagonal.
    pub fn copying(work: &Work, source: &[u32], on_diagonal: bool) -> Result<Self> {
        let place: Vec<u32> = (0..source.len() as u32).collect();
        let kind = work.upload(&vec![u32::from(on_diagonal) << 1; source.len()])?;
        Ok(Self { place: work.upload(&place)?, source: work.upload(source)?, kind })
    }
}

pub(super) struct Base {
    kernel: Kernel<AddBase<'static>>,
    slots: Slots,
}

impl Base {
    /// Prepares for blocks of `side` x `side`.
    pub fn new(work: &Work, element: ElementType, side: usize, slots: Slots) -> Result<Self> {
        Ok(Self { kernel: Self::kernel(work.device(), element, side)?, slots })
    }

    /// Requests the kernel.
    pub fn ask(device: &Device, element: ElementType, side: usize) -> Result<()> {
        Self::kernel(device, element, side).map(drop)
    }

    fn kernel(device: &Device, element: ElementType, side: usize) -> Result<Kernel<AddBase<'static>>> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size).element(element).define("C", side);
        Kernel::new(device, &options)
    }

    pub fn run(&self, work: &Work, u: &DeviceCbc, damped: Floored<'_>, s: &mut DeviceCbc) -> Result<()> {
        work.stage("base");
        let Slots { place, source, kind } = &self.slots;
        let Floored { damped, floors } = damped;
        let args = AddBase {
            u: &u.values,
            // If there are no floors, the kernel does not read this argument.
            floors: floors.unwrap_or(&u.values),
            place,
            source,
            kind,
            s: &mut s.values,
            slots: place.len() as u32,
            stride: u.stride as u32,
            floored: floors.map_or(0, |floors| floors.len() as u32),
            scale: damped.scale,
            shift: damped.shift,
        };
        let group_size = work.device().info().elementwise_group();
        self.kernel.launch(work, Grid::items(place.len() * u.shape.area(), group_size), args)
    }

    pub fn bytes(&self) -> u64 {
        let Slots { place, source, kind } = &self.slots;
        place.bytes() + source.bytes() + kind.bytes()
    }
}
