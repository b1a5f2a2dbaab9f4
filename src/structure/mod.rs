//! Changes of structure: transposition, permutation, sum, and the conversion to scalars for sparse
//! factorizations.
//!
//! Each change is planned once from patterns, like a product ([`Plan`](crate::Plan)), and executed
//! any number of times with new values. An execution is one kernel over the elements of the result.
//! An execution allocates nothing and reads nothing back.
mod add;
mod move_blocks;
mod permute;
mod scalar_map;
mod scalars;
mod transpose;
mod union;

pub use add::Add;
pub(crate) use move_blocks::MovePlan;
pub use permute::Permute;
pub use scalar_map::ScalarMap;
pub use scalars::Scalars;
pub(crate) use scalars::ask_scalars;
pub use transpose::Transpose;
pub(crate) use union::Union;

use crate::{
    BlockShape, DeviceInfo, DeviceKind,
    device::{Grid, Options},
    element::ElementType,
};

/// Number of elements that a work-item of a CPU moves one after another, in whole blocks: enough to
/// hide the cost of starting a group.
const SERIAL_ELEMENTS: usize = 1 << 12;

/// Parameters of kernels that visit every element of many blocks once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elementwise {
    shape: BlockShape,
    group_size: usize,
    /// Number of blocks that a work-item processes one after another, on CPUs; 0 if a work-item
    /// processes one element.
    blocks: usize,
}

impl Elementwise {
    /// Parameters for blocks of `shape`.
    pub fn new(info: &DeviceInfo, shape: BlockShape) -> Self {
        match info.kind {
            // On a CPU one item takes whole blocks, so that the loop over a block has a constant
            // length.
            DeviceKind::Cpu => Self { shape, group_size: 1, blocks: (SERIAL_ELEMENTS / shape.area()).max(1) },
            _ => Self { shape, group_size: info.value_group(), blocks: 0 },
        }
    }

    /// Parameters with given numbers, for tests.
    #[cfg(test)]
    fn forced(shape: BlockShape, group_size: usize, blocks: usize) -> Self {
        Self { shape, group_size, blocks }
    }

    /// Options with the macros GROUP_SIZE, ROWS, COLS and BLOCKS, and the macros of the element
    /// type.
    pub fn options(&self, element: ElementType) -> Options {
        Options::group_size(self.group_size)
            .element(element)
            .define("ROWS", self.shape.rows())
            .define("COLS", self.shape.cols())
            .define("BLOCKS", self.blocks)
    }

    /// The launch grid for `nnz` blocks.
    pub fn over(&self, nnz: usize) -> Grid {
        match self.blocks {
            0 => Grid::items(nnz * self.shape.area(), self.group_size),
            blocks => Grid::items(nnz.div_ceil(blocks), self.group_size),
        }
    }
}

#[cfg(test)]
mod tests;
