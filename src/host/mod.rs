//! The host: its memory, and progress reports to the caller.
pub(crate) mod memory;
mod progress;

pub use memory::check;
pub use progress::Progress;
