//! Blocks moved to other places, transposed on the way or not: what a transposition and a permutation of a matrix with a known pattern are.
//! Kernel: `cl/structure/move_blocks.cl`.
use super::Elementwise;
use crate::{
    Element, Result,
    device::{Buffer, Device, In, Kernel, Out, Work, source},
    resident::DeviceCbc,
};

/// Sources, values from and to, blocks, elements from one block to the next.
type Signature<T> = (In<u32>, In<T>, Out<T>, u32, u32, u32);
/// The same with what is transposed.
type FoldSignature<T> = (In<u32>, In<u32>, In<T>, Out<T>, u32, u32, u32);

/// Where each block comes from, and which are transposed on the way.
pub(crate) struct Moves {
    pub source: Buffer<u32>,
    pub turn: Turn,
}

pub(crate) enum Turn {
    None,
    All,
    /// Those that have a 1 here.
    Some(Buffer<u32>),
}

pub(crate) struct MoveBlocks<T: Element> {
    kernel: Moving<T>,
    moves: Moves,
    grid: Elementwise,
}

enum Moving<T: Element> {
    Plain(Kernel<Signature<T>>),
    Folding(Kernel<FoldSignature<T>>),
}

impl<T: Element> MoveBlocks<T> {
    /// For blocks of the shape that `grid` has, before they are moved.
    pub fn new(device: &Device, grid: Elementwise, moves: Moves) -> Result<Self> {
        let source = source!("structure/move_blocks.cl");
        let turn = match moves.turn {
            Turn::None => 0,
            Turn::All => 1,
            Turn::Some(_) => 2,
        };
        let options = grid.options::<T>().define("TURN", turn);
        let kernel = match moves.turn {
            Turn::Some(_) => Moving::Folding(device.kernel(source, &options, "move_blocks")?),
            _ => Moving::Plain(device.kernel(source, &options, "move_blocks")?),
        };
        Ok(Self { kernel, moves, grid })
    }

    /// Writes every block of `to`.
    pub fn run(&self, work: &Work, from: &DeviceCbc<T>, to: &mut DeviceCbc<T>) -> Result<()> {
        let (source, nnz) = (&self.moves.source, self.moves.source.len());
        let (grid, n) = (self.grid.over(nnz), nnz as u32);
        let (from_stride, to_stride) = (from.stride as u32, to.stride as u32);
        match (&self.kernel, &self.moves.turn) {
            (Moving::Folding(kernel), Turn::Some(turned)) => {
                kernel.launch(work, grid, (source, turned, &from.values, &mut to.values, n, from_stride, to_stride))
            }
            (Moving::Plain(kernel), _) => {
                kernel.launch(work, grid, (source, &from.values, &mut to.values, n, from_stride, to_stride))
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
