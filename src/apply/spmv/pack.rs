//! A's values in the order of a format. Kernel: `cl/apply/spmv/pack.cl`.
use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    vector::line_sums::Stored,
};

kernel! {
    struct PackValues<T: Element> = "pack" in "apply/spmv/pack.cl" {
        source: In<u32>,
        values: In<T>,
        packed: Out<T>,
        places: u64,
        stride: u32,
    }
}

pub(super) struct Pack<T: Element> {
    kernel: Kernel<PackValues<'static, T>>,
    /// Stands for the index of values that are in order.
    none: Buffer<u32>,
    group_size: usize,
}

impl<T: Element> Pack<T> {
    /// `through` says whether places have an index.
    pub fn new(device: &Device, through: bool) -> Result<Self> {
        let group_size = device.info().numbers().vector_group;
        let options = Options::group_size(group_size).element::<T>().define("THROUGH", u8::from(through));
        let none = Work::new(device, None).buffer(0)?;
        Ok(Self { kernel: Kernel::new(device, &options)?, none, group_size })
    }

    pub fn run(
        &self,
        work: &Work,
        source: Option<&Buffer<u32>>,
        Stored { values, stride }: Stored<'_, T>,
        packed: &mut Buffer<T>,
    ) -> Result<()> {
        let (source, places) = (source.unwrap_or(&self.none), packed.len());
        let args = PackValues { source, values, packed, places: places as u64, stride };
        self.kernel.launch(work, Grid::items(places, self.group_size), args)
    }
}
