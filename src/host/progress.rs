//! Word of how far a long task is, for whoever shows it.
use std::sync::Arc;

/// Is told, now and then and from any thread, how much is done of how much: bytes of a file read, entries written.
///
/// ```
/// use blockmul::host::Progress;
/// use blockmul::io;
/// let progress = Progress::new(|done, total| eprint!("\r{} %", 100 * done / total.max(1)));
/// let options = io::ReadOptions { progress: Some(progress), ..Default::default() };
/// assert!(io::read("none.mtx", &options).is_err());
/// ```
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(u64, u64) + Send + Sync>);

impl Progress {
    /// `tell(done, total)` returns soon; `total` is 0 where nobody knows it.
    pub fn new(tell: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Passes word on.
    pub fn tell(&self, done: u64, total: u64) {
        (self.0)(done, total);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}
