//! Data on a device: patterns, matrices on them, and vectors, uploaded or adopted from an
//! application.
mod cbc;
mod dense;
mod foreign;
mod matrix;
#[cfg(feature = "ocl")]
mod ocl;
mod pattern;
mod scratch_matrix;
mod validate;
mod vector;

pub(crate) use cbc::DeviceCbc;
pub use dense::DeviceDense;
pub(crate) use dense::{DenseBuffer, DenseBufferMut};
pub use foreign::RawMatrix;
pub use matrix::DeviceMatrix;
pub(crate) use matrix::DeviceView;
#[cfg(feature = "ocl")]
pub use ocl::OclMatrix;
pub use pattern::DevicePattern;
pub(crate) use pattern::{ColumnLengths, Fingerprint, InPattern, PatternArrays, RECORD_GROUPS};
pub(crate) use scratch_matrix::{ScratchMatrix, TakenMatrix};
pub use vector::DeviceVector;

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<DeviceMatrix<crate::Csc<f64>>>();
    shared::<DeviceVector<f64>>();
    shared::<DeviceDense<f64>>();
};
