//! Events for `tracing` that describe the library's work. Without a subscriber in the application
//! an event costs a comparison.
//!
//! Targets: `blockmul::device` (opened), `blockmul::pool` (each buffer, at trace), `blockmul::io`
//! (files), `blockmul::product` (products, and their bands at debug), `blockmul::plan` (structures
//! prepared, at debug).
use std::time::Instant;

/// Milliseconds since `start`, rounded to microseconds.
pub(crate) fn ms(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
