//! blockmul: sparse and block-sparse matrix products on any OpenCL device.
#![warn(missing_docs)]

mod element;
pub mod error;
pub mod generate;
pub mod io;
pub mod matrix;

pub use element::{Element, OperandPair, Word};
pub use error::{Error, Result};
pub use matrix::{BlockShape, Cbc, Csc, Matrix, Pattern};
