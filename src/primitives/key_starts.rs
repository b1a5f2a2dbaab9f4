//! The start of each key among sorted keys. Kernel: `cl/primitives/key_starts.cl`.
use crate::{
    Device, Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
};

kernel! {
    struct FindStarts = "key_starts" in "primitives/key_starts.cl" {
        key: In<u32>,
        key_ptr: Out<u32>,
        keys: u32,
        n: u32,
    }
}

/// The kernel that searches.
pub(crate) struct KeyStarts {
    kernel: Kernel<FindStarts<'static>>,
    group_size: usize,
}

impl KeyStarts {
    pub fn new(device: &Device) -> Result<Self> {
        let group_size = device.info().elementwise_group();
        Ok(Self { kernel: Kernel::new(device, &Options::group_size(group_size))?, group_size })
    }

    /// Finds where each of `keys` keys begins in ascending keys. The last element is the number of
    /// elements whose keys are less than `keys`.
    pub fn run(&self, work: &Work, key: &Buffer<u32>, keys: usize) -> Result<Buffer<u32>> {
        let mut key_ptr = work.buffer(keys + 1)?;
        let args = FindStarts { key, key_ptr: &mut key_ptr, keys: keys as u32, n: key.len() as u32 };
        self.kernel.launch(work, Grid::items(keys + 1, self.group_size), args)?;
        Ok(key_ptr)
    }
}
