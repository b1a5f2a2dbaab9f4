//! Progress reporting for long-running operations.
use std::sync::Arc;

/// A callback for progress. The arguments of the callback are the finished part and the total, in
/// bytes of a file that is read, in entries that are written, or in other units that the operation
/// names. The callback is called from time to time, from any thread.
///
/// ```
/// use blockmul::extra::host::Progress;
/// use blockmul::io;
/// let progress = Progress::new(|done, total| eprint!("\r{} %", 100 * done / total.max(1)));
/// let options = io::ReadOptions { progress: Some(progress), ..Default::default() };
/// assert!(io::read("none.mtx", &options).is_err());
/// ```
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(u64, u64) + Send + Sync>);

impl Progress {
    /// Makes `tell(done, total)` the callback. The callback must return quickly. `total` is 0 if
    /// the total is unknown.
    pub fn new(tell: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Calls the callback.
    pub fn tell(&self, done: u64, total: u64) {
        (self.0)(done, total);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}
