//! Turns OpenCL's error codes into [`Error`]s.
use crate::{Error, Result};
use opencl3::error_codes::error_text;

/// Turns an error code into an [`Error`] that names the call.
pub(super) fn check<T>(call: &'static str, result: std::result::Result<T, i32>) -> Result<T> {
    result.map_err(|code| failed(call, code))
}

pub(super) fn failed(call: &'static str, code: i32) -> Error {
    Error::OpenCl { call, code, name: error_text(code) }
}

/// The device has no memory for a buffer (`CL_MEM_OBJECT_ALLOCATION_FAILURE`).
pub(super) const OUT_OF_MEMORY: i32 = -4;
/// The command lacks registers, local memory or memory, or the device was lost
/// (`CL_OUT_OF_RESOURCES`).
pub(super) const OUT_OF_RESOURCES: i32 = -5;
/// The host has no memory (`CL_OUT_OF_HOST_MEMORY`).
pub(super) const OUT_OF_HOST_MEMORY: i32 = -6;
/// The compiler refused a source (`CL_BUILD_PROGRAM_FAILURE`).
pub(super) const BUILD_FAILURE: i32 = -11;
/// The buffer is larger than the device allows (`CL_INVALID_BUFFER_SIZE`).
pub(super) const INVALID_BUFFER_SIZE: i32 = -61;
