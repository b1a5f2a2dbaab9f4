//! Interruption of long operations by the caller.
use crate::{Error, Result};
use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

thread_local! {
    /// The interrupt of the operations of this thread.
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// A flag by which another thread ends an operation early.
///
/// The operation checks the flag before each kernel, and on the host from time to time. Then it
/// fails with [`Error::Interrupted`], like after any other error: outputs may be written in part,
/// and everything else stays usable.
///
/// ```
/// use blockmul::{Error, extra::host::Interrupt, generate, reference};
/// let a = generate::Uniform { rows: 100, cols: 100, per_column: 5, ..Default::default()
/// }.matrix()?; let interrupt = Interrupt::default(); assert!(interrupt.during(||
/// reference::multiply(&a, &a)).is_ok()); interrupt.raise(); // from any thread
/// assert!(matches!(interrupt.during(|| reference::multiply(&a, &a)), Err(Error::Interrupted)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// Puts back the interrupt that a thread had before, also after a panic.
struct Before(Option<Interrupt>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Interrupt {
    /// Ends the operations that run in [`Interrupt::during`], now and later.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }

    /// Runs `work`, whose operations can be interrupted.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// The interrupt of this thread, to be checked by the threads to which it gives work.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Fails if the operation is to end.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Fails if the operation of this thread is to end.
    pub(crate) fn check_current() -> Result<()> {
        CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), Self::check))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cbc, Product, device::test_device, generate::Uniform, reference};

    #[test]
    fn operations_end_only_in_their_own_scope() -> Result<()> {
        let a: Cbc<f64> = Uniform { rows: 500, cols: 500, per_column: 20, ..Default::default() }.matrix()?;
        let on_device = test_device().upload(&a)?;
        let host = || reference::multiply(&a, &a);
        let device = || Product::of(&on_device, &on_device).run()?.download();
        let (raised, other) = (Interrupt::default(), Interrupt::default());
        raised.raise();
        let ended = |error| matches!(error, Some(Error::Interrupted));
        assert!(raised.during(|| ended(host().err()) && ended(device().err())));
        assert!(raised.during(|| other.during(|| host().is_ok() && device().is_ok())));
        assert!(raised.during(|| other.during(|| Ok::<_, Error>(())).and_then(|()| host()).is_err()));
        let after_panic = std::panic::catch_unwind(|| raised.during(|| panic!("in the work")));
        assert!(after_panic.is_err());
        assert_eq!(device()?, host()?);
        Ok(())
    }

    #[test]
    fn a_product_ends_while_it_runs() -> Result<()> {
        let a: Cbc<f64> = Uniform { rows: 20_000, cols: 20_000, per_column: 30, ..Default::default() }.matrix()?;
        let interrupt = Interrupt::default();
        let (started, whole) = (std::time::Instant::now(), reference::multiply(&a, &a)?.nnz());
        let (whole_time, begun) = (started.elapsed(), std::time::Instant::now());
        assert!(whole > 0);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(whole_time / 20);
                interrupt.raise();
            });
            interrupt.during(|| reference::multiply(&a, &a))
        });
        assert!(matches!(ended, Err(Error::Interrupted)));
        assert!(begun.elapsed() < whole_time / 2, "{:?} of {whole_time:?}", begun.elapsed());
        Ok(())
    }
}
