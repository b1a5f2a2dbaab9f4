//! blockmul: sparse and block-sparse matrix products on any OpenCL device.
#![warn(missing_docs)]

mod device;
mod element;
pub mod error;
mod esc;
pub mod generate;
mod host_memory;
pub mod io;
pub mod matrix;
mod primitives;
pub mod reference;
mod spgemm;
pub mod verify;

#[cfg(feature = "ocl")]
pub use device::OclMatrix;
pub use device::{Device, DeviceInfo, DeviceKind, DeviceMatrix, StageTime};
pub use device::{Marker, RawContext, RawDevice, RawEvent, RawMatrix, RawMemory, RawQueue};
pub use element::{Element, OperandPair, Word};
pub use error::{Error, Result};
pub use matrix::{BlockShape, Bsr, Cbc, Csc, Csr, Matrix, Pattern};
pub use spgemm::{Method, Report, Spgemm, multiply};

/// The README's example is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
