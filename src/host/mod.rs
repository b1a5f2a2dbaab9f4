//! The host: its memory and its threads, and progress reports for the caller.
pub(crate) mod memory;
mod progress;
pub(crate) mod threads;

pub use memory::check;
pub use progress::Progress;
