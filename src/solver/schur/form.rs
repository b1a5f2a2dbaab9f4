//! The forms of S, of which an elimination has one.
use super::{cameras::Cameras, equations::Floored};
use crate::{BlockShape, Cbc, Device, DeviceMatrix, DevicePattern, Real, Result, planned::On};

/// What an [`Elimination`](super::Elimination) makes of S: [`Formed`](super::Formed) or
/// [`Implicit`](super::Implicit). Implemented here only.
pub trait Form: Sized + Send + Sync {
    /// Elements of the matrices.
    type Element: Real;
    /// S of an execution, or what multiplies by it.
    #[doc(hidden)]
    type System: Send + Sync;

    /// Requests kernels that [`Form::new`] and an execution launch, so that they are made together.
    #[doc(hidden)]
    fn ask(device: &Device, shape: BlockShape, cameras: usize) -> Result<()>;
    #[doc(hidden)]
    fn new(on: On<'_>, u: &DevicePattern, w: &DevicePattern) -> Result<Self>;
    #[doc(hidden)]
    fn output(&self) -> Result<Self::System>;
    /// Makes S of Z and U.
    #[doc(hidden)]
    fn enqueue(
        &self,
        on: On<'_>,
        z: &DeviceMatrix<Cbc<Self::Element>>,
        u: &DeviceMatrix<Cbc<Self::Element>>,
        damped: Floored<'_, Self::Element>,
        system: &mut Self::System,
    ) -> Result<()>;
    /// U' as an operator, if S is not formed.
    #[doc(hidden)]
    fn cameras(&self) -> Option<&Cameras<Self::Element>> {
        None
    }
    /// Products of blocks of Z with blocks of Zᵀ.
    #[doc(hidden)]
    fn products(&self) -> u64;
    #[doc(hidden)]
    fn bytes(&self) -> u64;
    #[doc(hidden)]
    fn system_bytes(system: &Self::System) -> u64;
}
