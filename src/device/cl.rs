//! OpenCL's error codes as [`Error`]s.
use crate::{Error, Result};
use opencl3::error_codes::error_text;

/// Names the call that failed.
pub(super) fn check<T>(call: &'static str, result: std::result::Result<T, i32>) -> Result<T> {
    result.map_err(|code| failed(call, code))
}

pub(super) fn failed(call: &'static str, code: i32) -> Error {
    Error::OpenCl { call, code, name: error_text(code) }
}

/// No memory of the device for a buffer (`CL_MEM_OBJECT_ALLOCATION_FAILURE`).
pub(super) const OUT_OF_MEMORY: i32 = -4;
/// Registers, local memory, memory or the device itself (`CL_OUT_OF_RESOURCES`).
pub(super) const OUT_OF_RESOURCES: i32 = -5;
/// `CL_OUT_OF_HOST_MEMORY`.
pub(super) const OUT_OF_HOST_MEMORY: i32 = -6;
/// The compiler has refused a source (`CL_BUILD_PROGRAM_FAILURE`).
pub(super) const BUILD_FAILURE: i32 = -11;
/// A buffer above the device's largest (`CL_INVALID_BUFFER_SIZE`).
pub(super) const INVALID_BUFFER_SIZE: i32 = -61;
