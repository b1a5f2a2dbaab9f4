//! OpenCL's error codes as [`Error`]s.
use crate::{Error, Result};
use opencl3::error_codes::{ClError, error_text};

/// Names the call that failed.
pub(super) fn check<T>(call: &'static str, result: opencl3::Result<T>) -> Result<T> {
    result.map_err(|error| failed(call, error))
}

/// As [`check`], for the calls of cl3.
pub(super) fn check_code<T>(call: &'static str, result: std::result::Result<T, i32>) -> Result<T> {
    result.map_err(|code| failed(call, ClError(code)))
}

fn failed(call: &'static str, error: ClError) -> Error {
    let name = error_text(error.0);
    Error::OpenCl { call, code: error.0, name }
}
