//! A's values in another order, that of the sums. Kernel: `cl/apply/spmm/pack.cl`.
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Maybe, Options, Out, Work, kernel},
    element::ElementType,
    vector::line_sums::Stored,
};

kernel! {
    struct PackBlocks = "pack_blocks" in "apply/spmm/pack.cl" {
        source: Maybe<u32>,
        values: In<Elem>,
        packed: Out<Elem>,
        elements: u64,
        stride: u32,
    }
}

pub(super) struct Pack {
    kernel: Kernel<PackBlocks<'static>>,
    group_size: usize,
}

impl Pack {
    /// Of blocks of `area` elements, which stay as they are; `through` says whether they have an
    /// index.
    pub fn new(device: &Device, element: ElementType, through: bool, area: usize) -> Result<Self> {
        Self::tuned(device, element, through, area, 0)
    }

    /// Transposes the blocks besides, which become column-major blocks of this shape.
    pub fn transposing(device: &Device, element: ElementType, through: bool, to: BlockShape) -> Result<Self> {
        Self::tuned(device, element, through, to.area(), to.rows())
    }

    fn tuned(device: &Device, element: ElementType, through: bool, area: usize, turned: usize) -> Result<Self> {
        let group_size = device.info().numbers().vector_group;
        let options = Options::group_size(group_size)
            .of(element)
            .define("THROUGH", u8::from(through))
            .define("AREA", area)
            .define("TURNED", turned);
        Ok(Self { kernel: Kernel::new(device, &options)?, group_size })
    }

    pub fn run(
        &self,
        work: &Work,
        source: Option<&Buffer<u32>>,
        Stored { values, stride }: Stored<'_>,
        packed: &mut Buffer,
    ) -> Result<()> {
        let elements = packed.len();
        let args = PackBlocks { source, values, packed, elements: elements as u64, stride };
        self.kernel.launch(work, Grid::items(elements, self.group_size), args)
    }
}
