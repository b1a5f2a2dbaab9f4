//! Checks of operands that all plans make.
use super::Accum;
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Result,
    matrix::{HostMatrix, Kind, MatrixType},
};

/// Refuses operands that are on different devices.
pub(crate) fn same_device(a: &Device, b: &Device) -> Result<()> {
    match a.same_as(b) {
        true => Ok(()),
        false => Err(Error::DeviceMismatch { a: a.info().name.clone(), b: b.info().name.clone() }),
    }
}

/// Refuses patterns that are on another device than `device` or belong to another kind of matrix,
/// and element types that the device does not support.
pub(crate) fn check_patterns<'a, M: HostMatrix>(
    device: &Device,
    of: MatrixType<M>,
    patterns: impl IntoIterator<Item = &'a DevicePattern>,
) -> Result<()> {
    for pattern in patterns {
        same_device(device, pattern.device())?;
        pattern.check_kind(of.kind.get())?;
    }
    device.require(of.element)
}

/// Refuses matrices, each given with its name, whose element type or order (by rows or by columns)
/// differs from that of the plan.
pub(crate) fn check_types<const N: usize, M: HostMatrix>(
    of: MatrixType<M>,
    matrices: [(&str, &DeviceMatrix<M>); N],
) -> Result<()> {
    matrices.into_iter().try_for_each(|(name, matrix)| of.check(name, matrix.type_of()))
}

/// Refuses factors alpha and beta in an operation that cannot scale its output, such as a copy or a
/// square root. `what` names the operation in the message.
pub(crate) fn check_unscaled<C>(what: &str, into: &Accum<'_, C>) -> Result<()> {
    match (into.alpha, into.beta) {
        (1.0, 0.0) => Ok(()),
        (alpha, beta) => {
            let why = "the output is replaced as it is: alpha must be 1, and beta 0";
            Err(Error::Argument(format!(
                "{what} cannot be scaled by {alpha} and added to {beta} times what was there; {why}"
            )))
        }
    }
}
