//! Events for `tracing` that describe the library's work. If the application has no subscriber, an
//! event costs one comparison.
//!
//! Targets: `blockmul::device` (opened devices), `blockmul::pool` (each buffer, at level trace),
//! `blockmul::io` (files), `blockmul::product` (products, and their bands at level debug),
//! `blockmul::plan` (prepared structures, at level debug).
use std::time::Instant;

/// Milliseconds since `start`, rounded to microseconds.
pub(crate) fn ms(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
