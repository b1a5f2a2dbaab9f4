//! Computes without the interpreter's lock, on so many threads, until the user interrupts.
use crate::errors::{of_class, raised};
use blockmul::extra::host::Interrupt;
use pyo3::prelude::*;
use std::{
    any::Any,
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

/// Time after which a long call looks for signals, such as that of Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Multiplications from which a call looks for signals. A call with fewer takes some milliseconds,
/// and runs on the thread that calls.
const LONG: u64 = 1 << 22;

thread_local! {
    /// Whether this thread runs handlers of signals while a call waits, which may hold locks.
    static HANDLES: Cell<bool> = const { Cell::new(false) };
}

/// Refuses a call by a handler of a signal that runs during another call of the same thread. It
/// might wait for a lock that the other call holds.
pub fn check_no_handler() -> PyResult<()> {
    match HANDLES.get() {
        true => Err(of_class(
            "Error",
            "a signal's handler uses a device or a plan while its thread waits for another call of blockmul".into(),
            Vec::new(),
        )),
        false => Ok(()),
    }
}

/// The size of a computation, which says whether a user may want to interrupt it.
#[derive(Clone, Copy)]
pub enum Size {
    /// So many multiplications.
    Multiplications(u64),
    /// Kernels may be compiled first, which takes seconds.
    OnDevice,
}

/// Computes without the interpreter's lock. A panic becomes an exception.
pub fn detached<R: Send>(py: Python<'_>, compute: impl FnOnce() -> blockmul::Result<R> + Send) -> PyResult<R> {
    without_panic(py.detach(|| catch_unwind(AssertUnwindSafe(compute))))
}

/// Like [`detached`], on so many threads, or on all cores. A long computation runs on other threads
/// than the one that calls, which looks for signals meanwhile. If a handler of a signal raises an
/// exception, as that of Ctrl-C does, the computation ends at its next stage.
pub fn watched<R: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    size: Size,
    compute: impl FnOnce() -> blockmul::Result<R> + Send,
) -> PyResult<R> {
    let pool = pool(threads);
    if matches!(size, Size::Multiplications(count) if count < LONG) {
        return detached(py, || installed(pool, compute));
    }
    match pool {
        Some(pool) => pool.in_place_scope(|scope| watch(py, scope, compute)),
        None => rayon::in_place_scope(|scope| watch(py, scope, compute)),
    }
}

/// Computes on so many threads, or on all cores, without the interpreter's lock: the threads may
/// be busy with another call.
pub fn in_pool<R: Send>(py: Python<'_>, threads: Option<usize>, compute: impl FnOnce() -> R + Send) -> R {
    py.detach(|| installed(pool(threads), compute))
}

fn installed<R: Send>(pool: Option<Arc<rayon::ThreadPool>>, compute: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(compute),
        None => compute(),
    }
}

fn watch<'scope, R: Send + 'scope>(
    py: Python<'_>,
    scope: &rayon::Scope<'scope>,
    compute: impl FnOnce() -> blockmul::Result<R> + Send + 'scope,
) -> PyResult<R> {
    let (interrupt, (end, ended)) = (Interrupt::default(), sync_channel(1));
    let flag = interrupt.clone();
    scope.spawn(move |_| {
        let computed = catch_unwind(AssertUnwindSafe(|| flag.during(compute)));
        // The receiver waits below, so the result is always taken.
        let _ = end.send(computed);
    });
    let (computed, signal) = py.detach(move || {
        let mut signal = None;
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(computed) => return (Some(computed), signal),
                Err(RecvTimeoutError::Disconnected) => return (None, signal),
                Err(RecvTimeoutError::Timeout) => {
                    let outer = HANDLES.replace(true);
                    let handled = Python::attach(|py| py.check_signals());
                    HANDLES.set(outer);
                    if let Err(error) = handled {
                        interrupt.raise();
                        signal = Some(error);
                    }
                }
            }
        }
    });
    match (signal, computed) {
        (Some(signal), _) => Err(signal),
        (None, Some(computed)) => without_panic(computed),
        (None, None) => Err(of_class("Error", "a thread of blockmul ended early".into(), Vec::new())),
    }
}

fn without_panic<R>(computed: thread::Result<blockmul::Result<R>>) -> PyResult<R> {
    computed.unwrap_or_else(|panic| Err(unexpected(&*panic))).map_err(raised)
}

/// A panic as an error of the library.
fn unexpected(panic: &(dyn Any + Send)) -> blockmul::Error {
    let of = panic.downcast_ref::<String>().map(String::as_str);
    let message = of.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    blockmul::Error::Contradiction(format!("an error of blockmul itself: {message}"))
}

/// The pool of so many threads, or `None` for rayon's own, which has a thread for each core.
fn pool(threads: Option<usize>) -> Option<Arc<rayon::ThreadPool>> {
    type Pools = Mutex<BTreeMap<(u32, usize), Arc<rayon::ThreadPool>>>;
    static POOLS: OnceLock<Pools> = OnceLock::new();
    // The threads of rayon's own pool do not exist in a child by fork.
    let threads = match (threads, crate::devices::in_child()) {
        (None, false) => return None,
        (Some(threads), _) => threads.max(1),
        (None, true) => thread::available_parallelism().map_or(1, usize::from),
    };
    let key = (std::process::id(), threads);
    let mut pools = POOLS.get_or_init(Pools::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key) {
        return Some(pool.clone());
    }
    // If the system has no more threads, those of rayon's own pool compute.
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?);
    pools.insert(key, pool.clone());
    Some(pool)
}
