//! A's values in another order, that of the sums. Kernel: `cl/apply/spmm/pack.cl`.
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Maybe, Options, Out, Work, kernel},
    vector::line_sums::Stored,
};

kernel! {
    struct PackBlocks<T: Element> = "pack_blocks" in "apply/spmm/pack.cl" {
        source: Maybe<u32>,
        values: In<T>,
        packed: Out<T>,
        elements: u64,
        stride: u32,
    }
}

pub(super) struct Pack<T: Element> {
    kernel: Kernel<PackBlocks<'static, T>>,
    group_size: usize,
}

impl<T: Element> Pack<T> {
    /// Of blocks of `area` elements, which stay as they are; `through` says whether they have an
    /// index.
    pub fn new(device: &Device, through: bool, area: usize) -> Result<Self> {
        Self::tuned(device, through, area, 0)
    }

    /// Transposes the blocks besides, which become column-major blocks of this shape.
    pub fn transposing(device: &Device, through: bool, to: BlockShape) -> Result<Self> {
        Self::tuned(device, through, to.area(), to.rows())
    }

    fn tuned(device: &Device, through: bool, area: usize, turned: usize) -> Result<Self> {
        let group_size = device.info().numbers().vector_group;
        let options = Options::group_size(group_size)
            .element::<T>()
            .define("THROUGH", u8::from(through))
            .define("AREA", area)
            .define("TURNED", turned);
        Ok(Self { kernel: Kernel::new(device, &options)?, group_size })
    }

    pub fn run(
        &self,
        work: &Work,
        source: Option<&Buffer<u32>>,
        Stored { values, stride }: Stored<'_, T>,
        packed: &mut Buffer<T>,
    ) -> Result<()> {
        let elements = packed.len();
        let args = PackBlocks { source, values, packed, elements: elements as u64, stride };
        self.kernel.launch(work, Grid::items(elements, self.group_size), args)
    }
}
