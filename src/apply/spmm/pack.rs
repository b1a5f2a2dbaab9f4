//! Copies of A's values in the order of the sums. Kernel: `cl/apply/spmm/pack.cl`.
use super::prepared::{Prepared, Wanted};
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Maybe, Options, Out, Work, kernel},
    element::ElementType,
    resident::DeviceCbc,
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

pub(super) struct BlockPack {
    kernel: Kernel<PackBlocks<'static>>,
    group_size: usize,
}

impl BlockPack {
    /// A kernel that copies blocks of `area` elements unchanged. `through` says whether the blocks
    /// are read through an index.
    pub fn new(device: &Device, element: ElementType, through: bool, area: usize) -> Result<Self> {
        Self::tuned(device, element, through, area, 0)
    }

    /// A kernel that also transposes the blocks. The blocks become column-major blocks of shape
    /// `to`.
    pub fn transposing(device: &Device, element: ElementType, through: bool, to: BlockShape) -> Result<Self> {
        Self::tuned(device, element, through, to.area(), to.rows())
    }

    fn tuned(device: &Device, element: ElementType, through: bool, area: usize, turned: usize) -> Result<Self> {
        let group_size = device.info().vector_group();
        let options = Options::group_size(group_size)
            .element(element)
            .define("THROUGH", u8::from(through))
            .define("AREA", area)
            .define("TURNED", turned);
        Ok(Self { kernel: Kernel::new(device, &options)?, group_size })
    }

    pub fn run(&self, work: &Work, source: Option<&Buffer<u32>>, a: Stored<'_>, packed: &mut Buffer) -> Result<()> {
        let Stored { values, stride } = a;
        let elements = packed.len();
        let args = PackBlocks { source, values, packed, elements: elements as u64, stride };
        self.kernel.launch(work, Grid::items(elements, self.group_size), args)
    }
}

/// A's values in the order of the sums of a product.
pub(super) struct PackedLines {
    pack: BlockPack,
    values: Buffer,
    /// Number of elements of a block.
    area: u32,
}

impl PackedLines {
    /// Prepares a product for a matrix's pattern, and copies its values.
    pub fn prepare(wanted: &Wanted, a: &DeviceCbc) -> Result<(Prepared, Self)> {
        let (device, area, element) = (wanted.a.device(), wanted.a.shape().area(), wanted.request.element);
        let work = Work::new(device, None);
        let mut values = work.buffer_of(element.word(), wanted.a.nnz() * area)?;
        let mut copied = |source: Option<&Buffer<u32>>| -> Result<_> {
            let pack = BlockPack::new(device, element, source.is_some(), area)?;
            pack.run(&work, source, a.into(), &mut values)?;
            Ok(pack)
        };
        // If lines are columns of the arrays and do not form groups, the values keep their order,
        // and are copied while the host waits for the number of long lines.
        let in_order = if wanted.of_rows() { None } else { Some(copied(None)?) };
        let prepared = Prepared::new(&work, wanted)?;
        let pack = match (in_order, prepared.spmm.source()) {
            (Some(pack), None) => pack,
            (_, source) => copied(source)?,
        };
        Ok((prepared, Self { pack, values, area: area as u32 }))
    }

    /// Copies A's current values.
    pub fn update(&mut self, prepared: &Prepared, a: &DeviceCbc) -> Result<()> {
        let work = Work::new(prepared.a.device(), None);
        self.pack.run(&work, prepared.spmm.source(), a.into(), &mut self.values)
    }

    pub fn stored(&self) -> Stored<'_> {
        Stored { values: &self.values, stride: self.area }
    }

    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}
