//! Moves blocks to other places, and transposes them if requested: the execution of a planned
//! transposition or permutation. Kernel: `cl/structure/move_blocks.cl`.
use super::Elementwise;
use crate::{
    DevicePattern, Result,
    device::{Buffer, Device, Elem, In, Kernel, Out, Work, kernel},
    element::ElementType,
    planned::{Accum, Cost, prepared::check_unscaled},
    resident::DeviceCbc,
};

kernel! {
    in "structure/move_blocks.cl":
    /// Arguments of the kernel that transposes no block, or every block.
    struct MoveAlike = "move_blocks" {
        source: In<u32>,
        from: In<Elem>,
        to: Out<Elem>,
        nnz: u32,
        from_stride: u32,
        to_stride: u32,
    }
    /// Arguments of the kernel that transposes some blocks.
    struct MoveTurning = "move_blocks" {
        source: In<u32>,
        turned: In<u32>,
        from: In<Elem>,
        to: Out<Elem>,
        nnz: u32,
        from_stride: u32,
        to_stride: u32,
    }
}

/// The source of each block, and which blocks are transposed.
pub(crate) struct Moves {
    pub source: Buffer<u32>,
    pub turn: Turn,
}

pub(crate) enum Turn {
    None,
    All,
    /// Transposes the blocks that have a 1 in this array.
    Some(Buffer<u32>),
}

pub(crate) struct MoveBlocks {
    kernel: Moving,
    source: Buffer<u32>,
    grid: Elementwise,
}

enum Moving {
    Alike(Kernel<MoveAlike<'static>>),
    Turning { kernel: Kernel<MoveTurning<'static>>, turned: Buffer<u32> },
}

impl MoveBlocks {
    /// Prepares moves of blocks. `grid` has the shape of the blocks before they are transposed.
    pub fn new(
        device: &Device,
        element: ElementType,
        grid: Elementwise,
        Moves { source, turn }: Moves,
    ) -> Result<Self> {
        let options = |turn: u8| grid.options(element).define("TURN", turn);
        let kernel = match turn {
            Turn::None => Moving::Alike(Kernel::new(device, &options(0))?),
            Turn::All => Moving::Alike(Kernel::new(device, &options(1))?),
            Turn::Some(turned) => Moving::Turning { kernel: Kernel::new(device, &options(2))?, turned },
        };
        Ok(Self { kernel, source, grid })
    }

    /// Moves the blocks of `from`, and so writes every block of `to`.
    pub fn run(&self, work: &Work, from: &DeviceCbc, to: &mut DeviceCbc) -> Result<()> {
        let source = &self.source;
        let (grid, nnz) = (self.grid.over(source.len()), source.len() as u32);
        let (from_stride, to_stride) = (from.stride as u32, to.stride as u32);
        let (from, to) = (&from.values, &mut to.values);
        match &self.kernel {
            Moving::Alike(kernel) => {
                kernel.launch(work, grid, MoveAlike { source, from, to, nnz, from_stride, to_stride })
            }
            Moving::Turning { kernel, turned } => {
                let args = MoveTurning { source, turned, from, to, nnz, from_stride, to_stride };
                kernel.launch(work, grid, args)
            }
        }
    }

    /// Bytes of device memory held.
    pub fn bytes(&self) -> u64 {
        let turned = match &self.kernel {
            Moving::Turning { turned, .. } => turned.bytes(),
            Moving::Alike(_) => 0,
        };
        self.source.bytes() + turned
    }
}

/// A plan that moves the blocks of a matrix A to the places of a matrix C.
pub(crate) struct MovePlan {
    pub a: DevicePattern,
    pub c: DevicePattern,
    blocks: MoveBlocks,
}

impl MovePlan {
    pub fn new(
        element: ElementType,
        a: &DevicePattern,
        c: DevicePattern,
        grid: Elementwise,
        moves: Moves,
    ) -> Result<Self> {
        Ok(Self { blocks: MoveBlocks::new(a.device(), element, grid, moves)?, a: a.clone(), c })
    }

    pub fn cost(&self) -> Cost {
        Cost { device_bytes: self.blocks.bytes() + self.c.device_bytes(), ..Cost::default() }
    }

    /// Moves the blocks of arrays that the caller has checked.
    pub fn run(&self, work: &Work, a: &DeviceCbc, c: &mut DeviceCbc) -> Result<()> {
        self.blocks.run(work, a, c)
    }

    /// Checks the matrices, and moves the blocks in a stage called `stage`. `what` names the
    /// operation in error messages.
    pub fn enqueue(
        &self,
        work: &Work,
        (stage, what): (&'static str, &str),
        a: &DeviceCbc,
        into: Accum<'_, DeviceCbc>,
    ) -> Result<()> {
        check_unscaled(what, &into)?;
        self.a.check("A", a)?;
        self.c.check("C", into.c)?;
        work.stage(stage);
        self.run(work, a, into.c)
    }
}
