//! Matrix files: Matrix Market, plain and gzip.
mod output;

pub mod matrix_market;

pub use output::write_beside;
