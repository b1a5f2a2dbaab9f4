//! Scan: replaces each value by the sum of all values before it, for any length, in place. Kernel:
//! `cl/primitives/scan.cl`.
//!
//! Values that fit one tile take one launch. Up to some million values take two launches: the first
//! sums the tiles, the second scans them. In the second, each tile adds up the sums of the tiles
//! before it. If there are more values than that, the tiles' sums are first scanned in the same
//! way.
mod numbers;

pub(crate) use numbers::ScanNumbers;

use crate::{
    DeviceInfo, Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel, pool_bytes},
    tuning::least_of_tile,
};

/// Parameters with which the scan is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanTuning {
    pub group_size: usize,
    /// Number of consecutive values of a work-item.
    pub items: usize,
    /// If there are at most `direct_tiles` tiles, each tile adds up the sums of the tiles before
    /// it. The number of sums that are read is quadratic in the number of tiles, but a launch or
    /// two are saved.
    pub direct_tiles: usize,
}

impl ScanTuning {
    pub fn new(info: &DeviceInfo) -> Self {
        let ScanNumbers { scan_group_size: group_size, scan_items: items, scan_direct_tiles: direct_tiles } =
            info.numbers();
        // The device may have smaller groups than the numbers are for.
        Self { group_size, items: items.max(least_of_tile(group_size)), direct_tiles }
    }

    /// Number of values in a tile.
    pub fn tile(&self) -> usize {
        self.group_size * self.items
    }

    /// Bytes that a scan of `count` values of `word` bytes allocates, rounded up to size classes.
    pub fn scratch_bytes(&self, word: u64, count: u64) -> u64 {
        let partials = count.div_ceil(self.tile() as u64);
        let further = if partials > self.direct_tiles as u64 { self.scratch_bytes(word, partials) } else { 0 };
        pool_bytes(word * partials) + further
    }
}

kernel! {
    in "primitives/scan.cl":
    struct Reduce<W: Word> = "scan_reduce" { data: In<W>, partials: Out<W>, n: u32 }
    struct Tiles<W: Word> = "scan_tiles" { data: InOut<W>, partials: In<W>, n: u32, scanned: u32 }
}

pub(crate) struct Scan<W: Word> {
    reduce: Kernel<Reduce<'static, W>>,
    tiles: Kernel<Tiles<'static, W>>,
    tuning: ScanTuning,
}

impl<W: Word> Scan<W> {
    pub fn new(device: &Device, tuning: ScanTuning) -> Result<Self> {
        let scan = Self::finishing(device, tuning)?;
        scan.ask(device);
        Ok(scan)
    }

    /// Makes the kernels for scans that rarely have more than one tile. The kernel that adds up
    /// tiles is compiled when it is first launched.
    pub fn finishing(device: &Device, tuning: ScanTuning) -> Result<Self> {
        let options = Self::options(tuning);
        Ok(Self { reduce: Kernel::rare(device, &options)?, tiles: Kernel::new(device, &options)?, tuning })
    }

    /// Starts to compile the kernel that adds up tiles.
    pub fn ask(&self, device: &Device) {
        self.reduce.ask(device);
    }

    fn options(tuning: ScanTuning) -> Options {
        let at_once = (16 / size_of::<W>()).min(1 << tuning.items.trailing_zeros());
        let options = Options::group_size(tuning.group_size).word::<W>("SCAN_WORD");
        options.define("ITEMS", tuning.items).define("AT_ONCE", at_once)
    }

    /// Scans all of `data`.
    pub fn run(&self, work: &Work, data: &mut Buffer<W>) -> Result<()> {
        self.run_first(work, data, data.len())
    }

    /// Scans the first `count` values.
    pub fn run_first(&self, work: &Work, data: &mut Buffer<W>, count: usize) -> Result<()> {
        let tiles = count.div_ceil(self.tuning.tile());
        let mut partials = work.buffer(tiles)?;
        if tiles > 1 {
            let grid = Grid::groups(tiles, self.tuning.group_size);
            self.reduce.launch(work, grid, Reduce { data, partials: &mut partials, n: count as u32 })?;
        }
        self.finish(work, data, count, partials)
    }

    /// Scans the first `count` values, if the sum of each [`ScanTuning::tile`] is known already.
    pub fn finish(&self, work: &Work, data: &mut Buffer<W>, count: usize, mut partials: Buffer<W>) -> Result<()> {
        let scanned = partials.len() > self.tuning.direct_tiles;
        if scanned {
            self.run(work, &mut partials)?;
        }
        let grid = Grid::groups(partials.len(), self.tuning.group_size);
        let args = Tiles { data, partials: &partials, n: count as u32, scanned: u32::from(scanned) };
        self.tiles.launch(work, grid, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    fn model(data: &[u64]) -> Vec<u64> {
        let mut sum = 0;
        let before = |&value: &u64| {
            sum += value;
            sum - value
        };
        data.iter().map(before).collect()
    }

    /// Lengths around a tile (64 * 4), around the number of tiles that are added up directly (3),
    /// around the square of a tile, and zero.
    const LENGTHS: [usize; 14] = [0, 1, 63, 64, 65, 255, 256, 257, 768, 769, 1000, 65_536, 65_537, 300_001];
    const TUNING: ScanTuning = ScanTuning { group_size: 64, items: 4, direct_tiles: 3 };
    /// Numbers of values of an item. If the number is even, an item moves two or four values at
    /// once.
    const ITEMS: [usize; 3] = [4, 2, 3];

    #[test]
    fn agrees_with_its_model_across_tile_edges() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        for (items, n) in ITEMS.into_iter().flat_map(|items| LENGTHS.map(|n| (items, n))) {
            let tuning = ScanTuning { items, ..TUNING };
            let (wide, narrow) = (Scan::<u64>::new(&device, tuning)?, Scan::<u32>::new(&device, tuning)?);
            let data: Vec<u64> = (0..n as u64).map(|i| (i * 2_654_435_761) % 1000).collect();
            let mut buffer = work.upload(&data)?;
            wide.run(&work, &mut buffer)?;
            assert_eq!(buffer.download(&work)?, model(&data), "u64, {n} values");
            let mut buffer = work.upload(&data.iter().map(|&x| x as u32).collect::<Vec<_>>())?;
            narrow.run_first(&work, &mut buffer, n - n / 3)?;
            let mut want: Vec<u32> = model(&data).iter().map(|&x| x as u32).collect();
            want[n - n / 3..].iter_mut().zip(&data[n - n / 3..]).for_each(|(want, &x)| *want = x as u32);
            assert_eq!(buffer.download(&work)?, want, "u32, {n} values but the last third");
        }
        Ok(())
    }

    #[test]
    fn scratch_bytes_are_what_a_scan_allocates() -> Result<()> {
        let device = test_device();
        for n in LENGTHS {
            let work = Work::new(&device, None);
            let mut buffer = work.upload(&vec![1u64; n])?;
            let before = work.used_bytes();
            Scan::<u64>::new(&device, TUNING)?.run(&work, &mut buffer)?;
            assert_eq!(work.most_used_bytes() - before, TUNING.scratch_bytes(8, n as u64), "{n} values");
        }
        Ok(())
    }

    #[test]
    fn sums_pass_32_bits() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let mut buffer = work.upload(&[u64::from(u32::MAX); 1000])?;
        Scan::new(&device, TUNING)?.run(&work, &mut buffer)?;
        assert_eq!(buffer.download(&work)?[999], 999 * u64::from(u32::MAX));
        Ok(())
    }
}
