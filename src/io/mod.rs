//! Matrices in files, one file or folder here per format.
//!
//! Readers take nothing on trust: what a file says is checked against what it holds, memory is asked for as the data
//! proves it, and a refusal is [`Error::Parse`](crate::Error::Parse), `path:line: reason`.
pub mod matrix_market;
mod output;

pub use output::write_whole;
