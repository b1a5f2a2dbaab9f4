//! Scan: sums (exclusive) or maxima (inclusive) of everything before, over any length, in place. Kernel: `cl/primitives/scan.cl`.
//!
//! Three kernels a level (reduce, scan the partials, scan the tiles); a level divides the length by some thousands, so that 2^32 values
//! take three.
use crate::{
    DeviceInfo, DeviceKind, Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, source},
};

/// Numbers the scan is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanTuning {
    pub group_size: usize,
    /// Consecutive values an item takes.
    pub items: usize,
}

impl ScanTuning {
    /// On a CPU, where a group is a loop, few items with much each.
    pub fn new(info: &DeviceInfo) -> Self {
        let (group_size, items) = if info.kind == DeviceKind::Cpu { (16, 256) } else { (256, 8) };
        Self { group_size: group_size.min(1 << info.max_group_size.max(1).ilog2()), items }
    }
}

/// What is accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Sum of all values before, without the value itself.
    ExclusiveSum,
    /// Largest of all values up to and including the value itself.
    InclusiveMax,
}

pub(crate) struct Scan<W> {
    reduce: Kernel<(In<W>, Out<W>, u32)>,
    tiles: Kernel<(InOut<W>, In<W>, u32, u32)>,
    tuning: ScanTuning,
}

impl<W: Word> Scan<W> {
    pub fn new(device: &Device, tuning: ScanTuning, operation: Operation) -> Result<Self> {
        let options = Options::group_size(tuning.group_size)
            .word::<W>("SCAN_WORD")
            .define("ITEMS", tuning.items)
            .define("MAXIMUM", u8::from(operation == Operation::InclusiveMax));
        Ok(Self {
            reduce: device.kernel(source!("primitives/scan.cl"), &options, "scan_reduce")?,
            tiles: device.kernel(source!("primitives/scan.cl"), &options, "scan_tiles")?,
            tuning,
        })
    }

    /// Scans all of `data`.
    pub fn run(&self, work: &Work, data: &mut Buffer<W>) -> Result<()> {
        let tile = self.tuning.group_size * self.tuning.items;
        let tiles = data.len().div_ceil(tile);
        let grid = Grid::groups(tiles, self.tuning.group_size);
        let (n, mut partials) = (data.len() as u32, work.buffer(tiles)?);
        if tiles > 1 {
            self.reduce.launch(work, grid, (data, &mut partials, n))?;
            self.run(work, &mut partials)?;
        }
        self.tiles.launch(work, grid, (data, &partials, n, tiles as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    fn model(data: &[u64], operation: Operation) -> Vec<u64> {
        let mut before = 0;
        let step = |&value: &u64| match operation {
            Operation::ExclusiveSum => {
                before += value;
                before - value
            }
            Operation::InclusiveMax => {
                before = before.max(value);
                before
            }
        };
        data.iter().map(step).collect()
    }

    /// Around the tile (64 * 4), around the square of the tile (a third level begins), and nothing.
    const LENGTHS: [usize; 12] = [0, 1, 63, 64, 65, 255, 256, 257, 1000, 65_536, 65_537, 300_001];
    const TUNING: ScanTuning = ScanTuning { group_size: 64, items: 4 };

    #[test]
    fn agrees_with_its_model_across_tile_edges() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        for operation in [Operation::ExclusiveSum, Operation::InclusiveMax] {
            let (wide, narrow) =
                (Scan::<u64>::new(&device, TUNING, operation)?, Scan::<u32>::new(&device, TUNING, operation)?);
            for n in LENGTHS {
                let data: Vec<u64> = (0..n as u64).map(|i| (i * 2_654_435_761) % 1000).collect();
                let mut buffer = work.upload(&data)?;
                wide.run(&work, &mut buffer)?;
                assert_eq!(buffer.download(&work)?, model(&data, operation), "u64, {operation:?}, {n} values");
                let mut buffer = work.upload(&data.iter().map(|&x| x as u32).collect::<Vec<_>>())?;
                narrow.run(&work, &mut buffer)?;
                let want: Vec<u32> = model(&data, operation).iter().map(|&x| x as u32).collect();
                assert_eq!(buffer.download(&work)?, want, "u32, {operation:?}, {n} values");
            }
        }
        Ok(())
    }

    #[test]
    fn sums_pass_32_bits() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let mut buffer = work.upload(&[u64::from(u32::MAX); 1000])?;
        Scan::new(&device, TUNING, Operation::ExclusiveSum)?.run(&work, &mut buffer)?;
        assert_eq!(buffer.download(&work)?[999], 999 * u64::from(u32::MAX));
        Ok(())
    }
}
