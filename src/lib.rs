//! blockmul: sparse and block-sparse matrix products on any OpenCL device.
#![warn(missing_docs)]

mod device;
mod element;
pub mod error;
pub mod matrix;

pub use device::{Device, DeviceInfo, DeviceKind, DeviceMatrix};
pub use element::{Element, OperandPair, Word};
pub use error::{Error, Result};
pub use matrix::{BlockShape, Cbc, Csc, Matrix, Pattern};
