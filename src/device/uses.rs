//! Finds the first command that uses some memory or a kernel. A driver may allocate memory at the
//! first command that uses it, and load a kernel at its first launch. The first command that uses
//! memory or a kernel may fail for lack of memory, so it gets an event.
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Whether the device has accepted a command that uses some memory or a kernel. A use does not
/// count if the device failed after it, because the command that made the use may have failed.
#[derive(Debug, Default)]
pub(super) struct FirstUse {
    /// 0 before the first use, then 1 plus the number of failures that the device had forgotten at
    /// the first use.
    since: AtomicU64,
}

/// The memory and kernels that one command uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Number of failures that the device has forgotten.
    failures: u64,
    /// Bytes of device memory used.
    bytes: u64,
    /// The memory and kernels that the command is the first to use.
    first: Vec<Arc<FirstUse>>,
}

impl Uses {
    /// Starts the list for a command on a device that has forgotten `failures` failures.
    pub(super) fn new(failures: u64) -> Self {
        Self { failures, ..Self::default() }
    }

    /// Adds device memory.
    pub(super) fn memory(&mut self, bytes: u64, first_use: &Arc<FirstUse>) {
        self.bytes += bytes;
        self.note(first_use);
    }

    /// Adds a kernel, which uses no memory of the pool.
    pub(super) fn note(&mut self, first_use: &Arc<FirstUse>) {
        if first_use.since.load(Relaxed) != 1 + self.failures {
            self.first.push(first_use.clone());
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the command is the first to use its kernel or some of its memory.
    pub(super) fn is_first(&self) -> bool {
        !self.first.is_empty()
    }

    /// Records that the device has accepted the command.
    pub(super) fn taken(&self) {
        for first_use in &self.first {
            first_use.since.store(1 + self.failures, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Result,
        device::{
            Buffer, Device, File, Grid, InOut, Kernel, Options, Source, Work,
            faked::{EndFaked, fake},
            kernel, test_device,
        },
    };
    use opencl3::event::set_user_event_status;

    const INCREASE: Source = Source {
        files: &[&File { path: "uses.cl", text: "KERNEL increase(global uint* a) { a[get_global_id(0)] += 1; }" }],
    };
    kernel! { struct Increase = "increase" in (INCREASE) { a: InOut<u32> } }

    const GROUP: usize = 16;

    /// Whether launches of a kernel on some memory have events. Launches with too large work-groups
    /// are refused.
    fn have_events(
        work: &Work,
        kernel: &Kernel<Increase<'static>>,
        a: &mut Buffer<u32>,
        groups: &[usize],
    ) -> Result<Vec<bool>> {
        let launch = |&size| {
            let launched = kernel.launch(work, Grid::groups(1, size), Increase { a: &mut *a });
            assert_eq!(launched.is_ok(), size == GROUP, "{launched:?}");
            Ok(launched.is_ok() && work.last_has_event())
        };
        groups.iter().map(launch).collect()
    }

    #[test]
    fn the_first_command_that_is_taken_has_an_event() -> Result<()> {
        let device = Device::open_silently(test_device().info(), true, true)?;
        let _end = EndFaked;
        let work = Work::new(&device, None);
        let kernel = || Kernel::new(&device, &Options::group_size(GROUP));
        let (one, other, third) = (kernel()?, kernel()?, kernel()?);
        let [mut a, mut b, mut c] = [GROUP, 10_000, 100_000].map(|len| work.buffer(len).unwrap());
        let wrong = 2 * GROUP;
        assert_eq!(have_events(&work, &one, &mut a, &[GROUP, GROUP])?, [true, false]);
        assert_eq!(have_events(&work, &other, &mut a, &[GROUP, GROUP])?, [true, false], "another kernel");
        assert_eq!(have_events(&work, &one, &mut b, &[GROUP, GROUP])?, [true, false], "other memory");
        // A refused command does not count as a use.
        assert_eq!(have_events(&work, &third, &mut a, &[wrong, GROUP, GROUP])?, [false, true, false]);
        assert_eq!(have_events(&work, &third, &mut c, &[wrong, GROUP, GROUP])?, [false, true, false]);
        // Memory in the pool keeps the information that it was used.
        drop(b);
        b = work.buffer(10_000)?;
        assert_eq!(have_events(&work, &one, &mut b, &[GROUP])?, [false]);
        // A command that fails after it was accepted may have been a first use.
        let failing = work.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, _| fake(device.inner.context.get()))?;
        set_user_event_status(failing.get()?, -5).unwrap();
        assert!(device.finish().is_err());
        assert_eq!(have_events(&work, &one, &mut b, &[GROUP, GROUP])?, [true, false]);
        assert_eq!(have_events(&work, &other, &mut a, &[GROUP, GROUP])?, [true, false]);
        device.finish()
    }
}
