//! The two forms of S, of which each elimination uses one.
use super::{
    cameras::{Cameras, DampedU},
    equations::Floored,
    formed::FormedCore,
    implicit::ImplicitCore,
};
use crate::{BlockShape, Device, DevicePattern, Real, Result, device::Work, element::ElementType, resident::DeviceCbc};

/// The form in which an [`Elimination`](super::Elimination) computes S: [`Formed`](super::Formed)
/// or [`Implicit`](super::Implicit). Only `Formed` and `Implicit` implement the trait.
pub trait Form: Sized + Send + Sync {
    /// Elements of the matrices.
    type Element: Real;
    /// Whether S is computed as a matrix.
    #[doc(hidden)]
    const FORMED: bool;
}

/// The part of a plan that depends on the form of S.
pub(super) enum FormCore {
    Formed(Box<FormedCore>),
    Implicit(Box<ImplicitCore>),
}

impl FormCore {
    /// Requests the kernels that [`FormCore::new`] and an execution launch, so that they are
    /// compiled together.
    pub fn ask(
        is_formed: bool,
        device: &Device,
        element: ElementType,
        shape: BlockShape,
        cameras: usize,
    ) -> Result<()> {
        match is_formed {
            true => FormedCore::ask(device, element, shape, cameras),
            false => ImplicitCore::ask(device, element, shape),
        }
    }

    pub fn new(
        is_formed: bool,
        work: &Work,
        element: ElementType,
        u: &DevicePattern,
        w: &DevicePattern,
    ) -> Result<Self> {
        Ok(match is_formed {
            true => Self::Formed(Box::new(FormedCore::new(work, element, u, w)?)),
            false => Self::Implicit(Box::new(ImplicitCore::new(work, element, u, w)?)),
        })
    }

    /// The pattern of S, or of its diagonal.
    pub fn pattern(&self) -> &DevicePattern {
        match self {
            Self::Formed(form) => &form.pattern,
            Self::Implicit(form) => form.cameras.diagonal(),
        }
    }

    /// Allocates U' if S is not formed.
    pub fn damped_u(&self) -> Result<Option<DampedU>> {
        self.cameras().map(Cameras::output).transpose()
    }

    /// Computes S from Z and U. If S is not formed, computes U' and the diagonal of S instead.
    pub fn run(
        &self,
        work: &Work,
        (z, u): (&DeviceCbc, &DeviceCbc),
        damped: Floored<'_>,
        damped_u: &mut Option<DampedU>,
        matrix: &mut DeviceCbc,
    ) -> Result<()> {
        match (self, damped_u) {
            (Self::Formed(form), _) => form.run(work, z, u, damped, matrix),
            (Self::Implicit(form), Some(damped_u)) => form.run(work, (z, u), damped, damped_u, matrix),
            (Self::Implicit(_), None) => Ok(()),
        }
    }

    /// U' as an operator, or `None` if S is formed.
    pub fn cameras(&self) -> Option<&Cameras> {
        match self {
            Self::Formed(_) => None,
            Self::Implicit(form) => Some(&form.cameras),
        }
    }

    /// Number of products of a block of Z with a block of Zᵀ.
    pub fn products(&self) -> u64 {
        match self {
            Self::Formed(form) => form.product.products,
            Self::Implicit(form) => form.product.products,
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Formed(form) => form.bytes(),
            Self::Implicit(form) => form.bytes(),
        }
    }
}
