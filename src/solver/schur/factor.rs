//! Factors the damped diagonal blocks of V, V + damping = L·Lᵀ, and computes y = L⁻¹·b_p. Kernels:
//! `cl/solver/schur/factor.cl`, after `damping.cl`.
use super::{
    equations::Floored,
    numbers::{FACTOR_BYTES, FACTOR_SIDE, GROUP},
    system::{Damped, least_pivot, packed},
};
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Options, Out, Scalar, Sum, Work, kernel},
    element::ElementType,
    resident::DeviceCbc,
};

/// Declares one of the two kernels that factor blocks, which have the same arguments.
macro_rules! factor_kernel {
    ($name:ident, $kernel:literal) => {
        kernel! {
            struct $name = $kernel in "solver/schur/damping.cl", "solver/schur/factor.cl" {
                v: In<Elem>,
                b: In<Elem>,
                floors: In<Elem>,
                factor: Out<Elem>,
                y: Out<Elem>,
                status: InOut<u32>,
                blocks: u32,
                stride: u32,
                floored: u32,
                scale: Scalar<Sum>,
                shift: Scalar<Sum>,
            }
        }
    };
}
factor_kernel!(FactorEach, "factor_each");
factor_kernel!(FactorGroup, "factor_group");

/// Number of work-items in a work-group that factors one block. Each item takes a row, so 32 items
/// are enough for the largest block.
const ROWS: usize = BlockShape::MAX_SIDE;

pub(super) struct Factor {
    element: ElementType,
    kernel: BySide,
    groups: Groups,
    side: usize,
    blocks: usize,
}

/// The factors of an execution.
pub(super) struct Factors {
    /// The factor L of each block, stored column after column, each from the diagonal downwards.
    /// The diagonal elements are stored as reciprocals.
    pub l: Buffer,
    pub y: Buffer,
    /// 0, or `blocks` minus the number of a block that is not positive definite. Of several blocks
    /// that are not positive definite, the first one has the largest value.
    status: Buffer<u32>,
    blocks: usize,
}

/// The kernel for blocks that one work-item factors, or the kernel for larger blocks.
enum BySide {
    Each(Kernel<FactorEach<'static>>),
    Group(Kernel<FactorGroup<'static>>),
}

/// The distribution of blocks to work-groups.
#[derive(Clone, Copy)]
struct Groups {
    /// Number of work-items in a group.
    size: usize,
    /// Number of blocks in a group.
    blocks: usize,
}

impl Factor {
    /// Prepares for `blocks` blocks of `side` x `side`.
    pub fn new(device: &Device, element: ElementType, side: usize, blocks: usize) -> Result<Self> {
        let (kernel, groups) = Self::kernel(device, element, side)?;
        Ok(Self { element, kernel, groups, side, blocks })
    }

    /// Allocates the factors of an execution, with undefined contents.
    pub fn output(&self, work: &Work) -> Result<Factors> {
        let Self { side, blocks, .. } = *self;
        let word = self.element.word();
        let l = work.buffer_of(word, blocks * packed(side))?;
        Ok(Factors { l, y: work.buffer_of(word, blocks * side)?, status: work.buffer(1)?, blocks })
    }

    /// Requests the kernel.
    pub fn ask(device: &Device, element: ElementType, side: usize) -> Result<()> {
        Self::kernel(device, element, side).map(drop)
    }

    fn kernel(device: &Device, element: ElementType, side: usize) -> Result<(BySide, Groups)> {
        let each = side <= FACTOR_SIDE;
        let groups = match each {
            true => {
                let room = FACTOR_BYTES / (side * side * size_of::<f64>());
                let blocks = 1 << room.clamp(1, GROUP).ilog2();
                Groups { size: device.info().serial_or(blocks), blocks }
            }
            false => Groups { size: ROWS, blocks: 1 },
        };
        let options = Options::group_size(groups.size)
            .element(element)
            .exact_division(device.info(), element)
            .define("P", side)
            .define("TOGETHER", groups.blocks)
            // The least pivot is a power of 2, which the decimal text gives exactly for both types.
            .define("LEAST_PIVOT", format!("((ARITHMETIC){:e})", least_pivot(element)))
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
        v: &DeviceCbc,
        b: &Buffer,
        damped: Floored<'_>,
        factors: &mut Factors,
    ) -> Result<()> {
        work.stage("factor");
        work.fill_zero(&mut factors.status)?;
        let grid = Grid::groups(self.blocks.div_ceil(self.groups.blocks), self.groups.size);
        let (v, stride, blocks) = (&v.values, v.stride as u32, self.blocks as u32);
        let Floored { damped: Damped { scale, shift }, floors } = damped;
        let floored = floors.map_or(0, |floors| floors.len() as u32);
        // If there are no floors, the kernel does not read this argument.
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
        // The operations of a block are the products that are subtracted, the multiplications by
        // reciprocals, and the operations for y.
        blocks * ((side.pow(3) - side) / 3 + side * (side - 1) / 2 + side * side)
    }
}

impl Factors {
    /// The first block of V' that is not positive definite. Waits for the device, and reads one
    /// word.
    pub fn failed(&self, device: &Device) -> Result<Option<usize>> {
        let status = self.status.download(&Work::new(device, None))?[0] as usize;
        Ok((status > 0).then(|| self.blocks - status))
    }

    pub fn bytes(&self) -> u64 {
        self.l.bytes() + self.y.bytes() + self.status.bytes()
    }
}
