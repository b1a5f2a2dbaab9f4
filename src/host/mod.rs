//! The host: its memory and threads, and progress reports to the caller.
pub(crate) mod memory;
mod progress;
pub(crate) mod threads;

pub use memory::check;
pub use progress::Progress;
