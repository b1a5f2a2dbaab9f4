//! The equations of the cameras that remain after an elimination.
use super::{Form, cameras::DampedU, factor::Factors};
use crate::{Cbc, DeviceMatrix, DevicePattern, DeviceVector, Error, Result, resident::DeviceCbc};
use std::sync::OnceLock;

/// The normal equations reduced to the cameras, S·x_c = r, and the values that back-substitution
/// needs. A reduced system is the output of an [`Elimination`](super::Elimination), which creates
/// it by [`output`](crate::Planned::output).
///
/// A reduced system holds the results of the last execution that wrote it. An execution that is
/// refused changes nothing. After an execution that ends in an OpenCL error, the reduced system
/// counts as never executed.
pub struct Reduced<F: Form> {
    pub(super) core: ReducedCore,
    pub(super) rhs: DeviceVector<F::Element>,
    /// S, or its diagonal blocks.
    pub(super) matrix: DeviceMatrix<Cbc<F::Element>>,
}

/// The values of a reduced system in addition to its results.
pub(super) struct ReducedCore {
    /// The pattern of U.
    pub u: DevicePattern,
    /// The matrix Z = W·L⁻ᵀ.
    pub z: DeviceCbc,
    pub factors: Factors,
    /// U', if S is not formed.
    pub damped_u: Option<DampedU>,
    /// Whether all commands of an execution have been enqueued.
    pub executed: bool,
    /// The first block of V' that was not positive definite, if it has been read from the device.
    pub failed: OnceLock<Option<usize>>,
}

impl<F: Form> Reduced<F> {
    /// Whether the last execution found every block of V' positive definite.
    ///
    /// The first call after an execution waits for the execution and reads one word. All functions
    /// that read the reduced system also make this check.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] with the number of the first block of V' that is not positive
    /// definite, [`Error::Argument`] if nothing was executed, [`Error::OpenCl`].
    pub fn check(&self) -> Result<()> {
        self.core.check()
    }

    /// The right-hand side r.
    ///
    /// # Errors
    /// The errors of [`Reduced::check`].
    pub fn rhs(&self) -> Result<&DeviceVector<F::Element>> {
        self.check().map(|()| &self.rhs)
    }

    /// Bytes of device memory held: the values of Z, the factors, r, and S or the values of its
    /// operator. The patterns belong to the plan and to the input matrices.
    pub fn device_bytes(&self) -> u64 {
        self.core.bytes() + self.rhs.values.bytes() + self.matrix.cbc.values.bytes()
    }
}

impl ReducedCore {
    /// See [`Reduced::check`].
    pub fn check(&self) -> Result<()> {
        if !self.executed {
            return Err(Error::Argument("the Schur complement has not been executed".into()));
        }
        let failed = match self.failed.get() {
            Some(known) => *known,
            None => {
                let found = self.factors.failed(&self.z.device)?;
                *self.failed.get_or_init(|| found)
            }
        };
        match failed {
            Some(block) => Err(Error::NotPositiveDefinite { matrix: "V, damped,", block }),
            None => Ok(()),
        }
    }

    fn bytes(&self) -> u64 {
        self.factors.bytes() + self.z.values.bytes() + self.damped_u.as_ref().map_or(0, DampedU::bytes)
    }
}

impl<F: Form> std::fmt::Debug for Reduced<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ReducedCore { u, z, executed, .. } = &self.core;
        let w = DevicePattern { arrays: z.pattern.clone(), array_shape: z.shape, row_major: false };
        write!(f, "Reduced(U: {u:?}, W: {w:?}, executed: {executed})")
    }
}
