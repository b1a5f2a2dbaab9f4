//! Sums that work-items add to in the order in which they arrive: `cl/apply/spmv/arrival.cl`.
use crate::{DeviceInfo, Element, Error, Result, Semiring, Word, device::Options};

/// Adds the words of `arrival.cl` for sums of vectors of `V`.
///
/// # Errors
/// [`Error::Unsupported`] if sums have 64 bits and the device does not exchange them atomically.
pub(super) fn options<V: Element>(info: &DeviceInfo, semiring: Semiring, options: Options) -> Result<Options> {
    let wide = size_of::<V::Arithmetic>() == 8;
    if wide && !info.long_atomics {
        return Err(Error::Unsupported {
            device: info.name.clone(),
            feature: "atomic operations of 64 bits (cl_khr_int64_base_atomics)",
            hint: "formats that do not end in -atomic need none".into(),
        });
    }
    let floating = semiring.adds() && ["float", "double"].contains(&V::Arithmetic::CL_NAME);
    let options = options.define("ARRIVAL", 1).define("WIDE", u8::from(wide));
    Ok(options.define("FLOATING", u8::from(floating)))
}

/// Adds the word of kernels without such sums.
pub(super) fn none(options: Options) -> Options {
    options.define("ARRIVAL", 0)
}
