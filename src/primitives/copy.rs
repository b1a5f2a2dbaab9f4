//! Measures the bandwidth of the device's memory, with which the times of kernels are compared.
//! Kernel: `cl/primitives/copy.cl`.
use crate::{
    Device, DeviceKind, Result,
    device::{Grid, In, Kernel, Options, Out, Work, kernel},
};
use std::time::Instant;

kernel! {
    struct CopyPairs = "copy" in "primitives/copy.cl" { from: In<u64>, to: Out<u64>, n: u32 }
}

/// Bytes of a copy, on GPUs and on CPUs. The copied bytes are far larger than caches, and the
/// launch takes no noticeable part of the time.
const BYTES: [u64; 2] = [1 << 30, 256 << 20];
/// Most copies that are timed after a first one that touches the memory. The median of the times
/// counts.
const ROUNDS: usize = 5;
/// If `ENOUGH` seconds have passed and one copy is timed, no further copy begins.
const ENOUGH: f64 = 0.2;

impl Device {
    /// Bytes read and written per second by a copy within device memory. A copy by a kernel and a
    /// copy by the driver are timed; the faster one counts.
    ///
    /// Takes some tenths of a second and two buffers of 1 GiB (256 MiB on CPUs), or smaller ones if
    /// the device has less memory.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn copy_bandwidth(&self) -> Result<f64> {
        let info = self.info();
        let preferred = BYTES[usize::from(info.kind == DeviceKind::Cpu)];
        let bytes = preferred.min(info.max_alloc_bytes / 2).min(info.global_bytes / 8);
        copy_bandwidth(self, (bytes / 8) as usize & !1)
    }
}

fn copy_bandwidth(device: &Device, words: usize) -> Result<f64> {
    let work = Work::new(device, None);
    let group_size = device.info().value_group();
    let kernel: Kernel<CopyPairs<'_>> = Kernel::new(device, &Options::group_size(group_size))?;
    let (mut from, mut to) = (work.buffer::<u64>(words)?, work.buffer(words)?);
    work.fill_zero(&mut from)?;
    let grid = Grid::items(words / 2, group_size);
    let by_kernel =
        median(device, || kernel.launch(&work, grid, CopyPairs { from: &from, to: &mut to, n: (words / 2) as u32 }))?;
    let by_driver = median(device, || work.copy(&from, 0, &mut to, 0, words))?;
    // The two large buffers must not stay in the pool.
    drop((from, to));
    device.trim();
    Ok(2.0 * 8.0 * words as f64 / by_kernel.min(by_driver))
}

/// The median wall-clock seconds of `copy`. The host's clock is used, because not every queue
/// records times.
fn median(device: &Device, mut copy: impl FnMut() -> Result<()>) -> Result<f64> {
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < 2 || times.len() <= ROUNDS && begin.elapsed().as_secs_f64() < ENOUGH {
        let start = Instant::now();
        copy()?;
        device.finish()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn small_copies_are_whole() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let kernel: Kernel<CopyPairs<'_>> = Kernel::new(&device, &Options::group_size(16))?;
        // Pairs of words: none, one, and numbers around a work-group.
        for pairs in [0usize, 1, 15, 16, 17, 40] {
            let words: Vec<u64> = (0..2 * pairs as u64).map(|word| word << 33 | 5).collect();
            let (from, mut to) = (work.upload(&words)?, work.buffer(words.len())?);
            let args = CopyPairs { from: &from, to: &mut to, n: pairs as u32 };
            kernel.launch(&work, Grid::items(pairs, 16), args)?;
            assert_eq!(to.download(&work)?, words);
        }
        Ok(())
    }

    #[test]
    fn bandwidth_is_that_of_some_memory() -> Result<()> {
        // A plausible bandwidth is above that of a tape drive and below that of a few hundred
        // stacks of HBM.
        let bandwidth = copy_bandwidth(&test_device(), 1 << 16)?;
        assert!((1e6..1e15).contains(&bandwidth), "{bandwidth}");
        Ok(())
    }
}
