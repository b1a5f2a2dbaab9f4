//! Blocks moved to other places, optionally transposed: the execution of a planned transposition or
//! permutation. Kernel: `cl/structure/move_blocks.cl`.
use super::Elementwise;
use crate::{
    Element, Result,
    device::{Buffer, Device, In, Kernel, Out, Work, kernel},
    resident::DeviceCbc,
};

kernel! {
    /// The kernel compiled to transpose no block, or every block.
    struct MoveAlike<T: Element> = "move_blocks" in "structure/move_blocks.cl" {
        source: In<u32>,
        from: In<T>,
        to: Out<T>,
        nnz: u32,
        from_stride: u32,
        to_stride: u32,
    }
}

kernel! {
    /// The kernel compiled to transpose some blocks.
    struct MoveTurning<T: Element> = "move_blocks" in "structure/move_blocks.cl" {
        source: In<u32>,
        turned: In<u32>,
        from: In<T>,
        to: Out<T>,
        nnz: u32,
        from_stride: u32,
        to_stride: u32,
    }
}

/// The source of each block, and the blocks that are transposed.
pub(crate) struct Moves {
    pub source: Buffer<u32>,
    pub turn: Turn,
}

pub(crate) enum Turn {
    None,
    All,
    /// The blocks with a 1 in this array.
    Some(Buffer<u32>),
}

pub(crate) struct MoveBlocks<T: Element> {
    kernel: Moving<T>,
    moves: Moves,
    grid: Elementwise,
}

enum Moving<T: Element> {
    Alike(Kernel<MoveAlike<'static, T>>),
    Turning(Kernel<MoveTurning<'static, T>>),
}

impl<T: Element> MoveBlocks<T> {
    /// Prepares moves of blocks with the shape of `grid`, which is that before transposing.
    pub fn new(device: &Device, grid: Elementwise, moves: Moves) -> Result<Self> {
        let turn = match moves.turn {
            Turn::None => 0,
            Turn::All => 1,
            Turn::Some(_) => 2,
        };
        let options = grid.options::<T>().define("TURN", turn);
        let kernel = match moves.turn {
            Turn::Some(_) => Moving::Turning(Kernel::new(device, &options)?),
            _ => Moving::Alike(Kernel::new(device, &options)?),
        };
        Ok(Self { kernel, moves, grid })
    }

    /// Moves the blocks of `from`; writes every block of `to`.
    pub fn run(&self, work: &Work, from: &DeviceCbc<T>, to: &mut DeviceCbc<T>) -> Result<()> {
        let source = &self.moves.source;
        let (grid, nnz) = (self.grid.over(source.len()), source.len() as u32);
        let (from_stride, to_stride) = (from.stride as u32, to.stride as u32);
        let (from, to) = (&from.values, &mut to.values);
        match (&self.kernel, &self.moves.turn) {
            (Moving::Turning(kernel), Turn::Some(turned)) => {
                let args = MoveTurning { source, turned, from, to, nnz, from_stride, to_stride };
                kernel.launch(work, grid, args)
            }
            (Moving::Alike(kernel), _) => {
                kernel.launch(work, grid, MoveAlike { source, from, to, nnz, from_stride, to_stride })
            }
            _ => unreachable!("the kernel was chosen by the moves"),
        }
    }

    /// Bytes of device memory held.
    pub fn bytes(&self) -> u64 {
        let turned = match &self.moves.turn {
            Turn::Some(turned) => turned.bytes(),
            _ => 0,
        };
        self.moves.source.bytes() + turned
    }
}
