//! The host: its memory, and reports of progress to the caller.
pub(crate) mod memory;
mod progress;

pub use progress::Progress;
