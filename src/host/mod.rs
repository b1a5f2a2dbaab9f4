//! The host: its memory and its threads, progress reports for the caller, and interruption by it.
mod interrupt;
pub(crate) mod memory;
mod progress;
pub(crate) mod threads;

pub use interrupt::Interrupt;
pub use memory::check;
pub use progress::Progress;
