//! Free memory for a CPU device. A CPU device uses the host's memory, which other programs use,
//! too.
use crate::host::memory;
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The host's free memory, from the view of one device.
pub(super) struct HostRoom {
    available: fn() -> Option<u64>,
    /// The time of the last query, and the bytes that the device could hold at that time.
    asked: Mutex<Option<(Instant, u64)>>,
}

/// Time for which the result of a query is used again. A query takes 25 microseconds.
const HOLDS: Duration = Duration::from_millis(100);

impl HostRoom {
    pub fn new() -> Self {
        Self::of(memory::available)
    }

    pub(super) fn of(available: fn() -> Option<u64>) -> Self {
        Self { available, asked: Mutex::default() }
    }

    /// Number of bytes that may still be allocated if the device uses `used` bytes and also keeps
    /// `kept` bytes for reuse. An eighth of the host's free memory is left to other programs.
    pub fn left(&self, used: u64, kept: u64) -> u64 {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let in_all = match *asked {
            Some((when, in_all)) if when.elapsed() < HOLDS => in_all,
            _ => {
                let free = (self.available)().map(|free| free - free / 8);
                let in_all = free.map_or(u64::MAX, |free| free.saturating_add(used + kept));
                *asked = Some((Instant::now(), in_all));
                in_all
            }
        };
        in_all.saturating_sub(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Error, Product, Result,
        device::{Device, DeviceInfo, DeviceKind, Work, test_device},
        generate::{self, Values},
        reference,
    };
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_the_device_uses_is_counted_between_two_questions() {
        let room = HostRoom::of(|| Some(800));
        assert_eq!(room.left(100, 50), 750);
        assert_eq!([room.left(150, 0), room.left(850, 0), room.left(900, 0)], [700, 0, 0]);
        std::thread::sleep(HOLDS);
        assert_eq!(room.left(150, 0), 700);
        assert_eq!(HostRoom::of(|| None).left(5, 0), u64::MAX - 5, "a system that does not say");
    }

    /// A CPU device on a host where `available` returns the free memory.
    fn cpu(available: fn() -> Option<u64>) -> Result<Device> {
        let info = DeviceInfo { kind: DeviceKind::Cpu, ..test_device().info().clone() };
        Device::open_in(&info, HostRoom::of(available))
    }

    #[test]
    fn a_buffer_that_the_host_has_no_memory_for_is_refused() -> Result<()> {
        // At the second query, the system's free memory is smaller by the bytes held.
        static HELD: AtomicU64 = AtomicU64::new(0);
        let device = cpu(|| Some((192 << 20) - HELD.load(Ordering::Relaxed)))?;
        let work = Work::new(&device, None);
        let held = work.buffer::<u8>(96 << 20)?;
        HELD.store(96 << 20, Ordering::Relaxed);
        let refused = work.buffer::<u8>(96 << 20).map(drop);
        let Err(Error::Memory { needed, available, place, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((needed, available), (96 << 20, 72 << 20));
        assert!(place.starts_with("host"), "{place}");
        drop(held);
        HELD.store(0, Ordering::Relaxed);
        work.buffer::<u8>(96 << 20)?;
        Ok(())
    }

    #[test]
    fn a_product_is_cut_into_bands_that_the_host_has_memory_for() -> Result<()> {
        let a =
            generate::Uniform { rows: 3000, cols: 3000, per_column: 20, values: Values::Integer, ..Default::default() }
                .matrix()?
                .to_scalars();
        let whole = reference::multiply(&a, &a)?;
        let bands = |available| -> Result<_> {
            let device = cpu(available)?;
            let operand = device.upload(&a)?;
            let (c, report) = Product::of(&operand, &operand).method(crate::Method::Esc).run_to_host()?;
            assert_eq!(c, whole);
            Ok(report.bands)
        };
        assert_eq!(bands(|| None)?, 1);
        assert!(bands(|| Some(12 << 20))? > 1);
        Ok(())
    }
}
