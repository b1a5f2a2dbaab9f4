//! Copies of A's values in the order of a format. Kernel: `cl/apply/spmv/pack.cl`.
use super::rows::Block;
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Maybe, Options, Out, Work, kernel},
    element::ElementType,
    vector::line_sums::Stored,
};

kernel! {
    struct PackValues = "pack" in "apply/spmv/values.cl", "apply/spmv/pack.cl" {
        source: Maybe<u32>,
        values: In<Elem>,
        packed: Out<Elem>,
        places: u64,
        heads: u64,
        height: u64,
        stride: u32,
    }
}

/// The order of the elements of packed blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// The terms of a block for one sum lie one after another.
    WholeSums,
    /// The first `heads` places are in slices of `height` rows, so that neighbouring work-items
    /// read neighbouring elements. Each place after the heads is interleaved in the same way, as a
    /// slice of its own.
    Sliced { heads: usize, height: usize },
}

impl Layout {
    /// The order in which every place is a slice of its own, for formats that store the places of a
    /// row one after another.
    pub const PLAIN: Self = Self::Sliced { heads: 0, height: 1 };
}

/// The order in which a format stores the blocks of A's values.
pub(super) struct PackedOrder<'a> {
    /// Number of blocks, padding included.
    pub places: usize,
    /// The index in A's values of the block in each place, or `None` if the format keeps the order
    /// of A's values.
    pub source: Option<&'a Buffer<u32>>,
    pub layout: Layout,
}

pub(super) struct ValuePack {
    kernel: Kernel<PackValues<'static>>,
    block: Block,
    layout: Layout,
    group_size: usize,
}

impl ValuePack {
    /// Prepares a copy. `through` says whether the values are read through an index.
    pub fn new(device: &Device, element: ElementType, through: bool, block: Block, layout: Layout) -> Result<Self> {
        let group_size = device.info().vector_group();
        let options = block
            .options(Options::group_size(group_size).element(element).value(element))
            .define("THROUGH", u8::from(through))
            .define("PACKED", 0)
            .define("WHOLE_SUMS", u8::from(layout == Layout::WholeSums));
        Ok(Self { kernel: Kernel::new(device, &options)?, block, layout, group_size })
    }

    pub fn run(&self, work: &Work, source: Option<&Buffer<u32>>, a: Stored<'_>, packed: &mut Buffer) -> Result<()> {
        let Stored { values, stride } = a;
        let places = packed.len() / self.block.area();
        // With an item for each sum, an H200 wrote 200 MB of whole sums in 294 us, and 200 MB in
        // other layouts in 122 us.
        let (heads, height, items) = match self.layout {
            Layout::WholeSums => (0, 1, self.block.area()),
            Layout::Sliced { heads, height } => (heads as u64, height as u64, self.block.sums),
        };
        let args = PackValues { source, values, packed, places: places as u64, heads, height, stride };
        self.kernel.launch(work, Grid::items(places * items, self.group_size), args)
    }
}
