//! Factors the damped diagonal blocks of V, V + damping = L·Lᵀ, and computes y = L⁻¹·b_p.
//! Kernels: `cl/solver/schur/factor.cl`, behind `damping.cl`.
use super::{
    equations::Floored,
    system::{Damped, least_pivot, packed},
};
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Scalar, Work, kernel},
    resident::DeviceCbc,
};

kernel! {
    struct FactorEach<T: Element> = "factor_each" in "solver/schur/damping.cl", "solver/schur/factor.cl" {
        v: In<T>,
        b: In<T>,
        floors: In<T>,
        factor: Out<T>,
        y: Out<T>,
        status: InOut<u32>,
        blocks: u32,
        stride: u32,
        floored: u32,
        scale: Scalar<T>,
        shift: Scalar<T>,
    }
}

kernel! {
    struct FactorGroup<T: Element> = "factor_group" in "solver/schur/damping.cl", "solver/schur/factor.cl" {
        v: In<T>,
        b: In<T>,
        floors: In<T>,
        factor: Out<T>,
        y: Out<T>,
        status: InOut<u32>,
        blocks: u32,
        stride: u32,
        floored: u32,
        scale: Scalar<T>,
        shift: Scalar<T>,
    }
}

/// Work-items of a group that factors one block, an item for each row: the longest side of a block.
const ROWS: usize = BlockShape::MAX_SIDE;

pub(super) struct Factor<T: Element> {
    kernel: BySide<T>,
    groups: Groups,
    side: usize,
    blocks: usize,
}

/// The factors of an execution.
pub(super) struct Factors<T: Element> {
    /// L of each block: its columns from the diagonal down, one after another. The diagonal holds
    /// reciprocals.
    pub l: Buffer<T>,
    pub y: Buffer<T>,
    /// 0, or `blocks` less the number of a block that is not positive definite. The first such
    /// block has the largest value.
    status: Buffer<u32>,
    blocks: usize,
}

/// The kernel for blocks that one work-item factors, or the one for larger blocks.
enum BySide<T: Element> {
    Each(Kernel<FactorEach<'static, T>>),
    Group(Kernel<FactorGroup<'static, T>>),
}

/// How blocks are shared out to work-groups.
#[derive(Clone, Copy)]
struct Groups {
    /// Work-items of a group.
    size: usize,
    /// Blocks of a group.
    blocks: usize,
}

impl<T: Element> Factor<T> {
    /// Prepares for `blocks` blocks of `side` x `side`.
    pub fn new(device: &Device, side: usize, blocks: usize) -> Result<Self> {
        let (kernel, groups) = Self::kernel(device, side)?;
        Ok(Self { kernel, groups, side, blocks })
    }

    /// Memory for the factors of an execution, its contents undefined.
    pub fn output(&self, work: &Work) -> Result<Factors<T>> {
        let Self { side, blocks, .. } = *self;
        let l = work.buffer(blocks * packed(side))?;
        Ok(Factors { l, y: work.buffer(blocks * side)?, status: work.buffer(1)?, blocks })
    }

    /// Requests its kernel.
    pub fn ask(device: &Device, side: usize) -> Result<()> {
        Self::kernel(device, side).map(drop)
    }

    fn kernel(device: &Device, side: usize) -> Result<(BySide<T>, Groups)> {
        let numbers = device.info().numbers();
        let each = side <= numbers.schur_factor_side;
        let groups = match each {
            true => {
                let room = numbers.schur_factor_bytes / (side * side * size_of::<f64>());
                let blocks = 1 << room.clamp(1, numbers.schur_group).ilog2();
                Groups { size: device.info().serial_or(blocks), blocks }
            }
            false => Groups { size: ROWS, blocks: 1 },
        };
        let options = Options::group_size(groups.size)
            .element::<T>()
            .exact_division(device.info(), T::TYPE)
            .define("P", side)
            .define("TOGETHER", groups.blocks)
            // A power of 2, exact in either type.
            .define("LEAST_PIVOT", format!("((ARITHMETIC){:e})", least_pivot::<T>()))
            .define("EACH", u8::from(each));
        let kernel = match each {
            true => BySide::Each(Kernel::new(device, &options)?),
            false => BySide::Group(Kernel::new(device, &options)?),
        };
        Ok((kernel, groups))
    }

    pub fn run(
        &self,
        work: &Work,
        v: &DeviceCbc<T>,
        b: &Buffer<T>,
        damped: Floored<'_, T>,
        factors: &mut Factors<T>,
    ) -> Result<()> {
        work.stage("factor");
        work.fill_zero(&mut factors.status)?;
        let grid = Grid::groups(self.blocks.div_ceil(self.groups.blocks), self.groups.size);
        let (v, stride, blocks) = (&v.values, v.stride as u32, self.blocks as u32);
        let Floored { damped: Damped { scale, shift }, floors } = damped;
        let floored = floors.map_or(0, |floors| floors.len() as u32);
        // Not read if there are no floors.
        let floors = floors.unwrap_or(b);
        let Factors { l: factor, y, status, .. } = factors;
        match &self.kernel {
            BySide::Each(kernel) => {
                let args = FactorEach { v, b, floors, factor, y, status, blocks, stride, floored, scale, shift };
                kernel.launch(work, grid, args)
            }
            BySide::Group(kernel) => {
                let args = FactorGroup { v, b, floors, factor, y, status, blocks, stride, floored, scale, shift };
                kernel.launch(work, grid, args)
            }
        }
    }

    /// Floating-point operations of an execution, without damping, roots and divisions.
    pub fn flops(&self) -> u64 {
        let (side, blocks) = (self.side as u64, self.blocks as u64);
        // Of a block: products that are subtracted, multiplications by reciprocals, and y.
        blocks * ((side.pow(3) - side) / 3 + side * (side - 1) / 2 + side * side)
    }
}

impl<T: Element> Factors<T> {
    /// The first block of V' that was not positive definite. Waits, and reads one word.
    pub fn failed(&self, device: &Device) -> Result<Option<usize>> {
        let status = self.status.download(&Work::new(device, None))?[0] as usize;
        Ok((status > 0).then(|| self.blocks - status))
    }

    pub fn bytes(&self) -> u64 {
        self.l.bytes() + self.y.bytes() + self.status.bytes()
    }
}
