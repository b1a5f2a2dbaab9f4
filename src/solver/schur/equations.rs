//! What an elimination reads.
use super::Damping;
use crate::{Cbc, DeviceMatrix, DeviceVector, Element};

/// The normal equations of bundle adjustment, as an execution of an
/// [`Elimination`](super::Elimination) reads them:
///
/// ```text
/// | U  W | |x_c|   |b_c|
/// | Wᵀ V | |x_p| = |b_p|
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NormalEquations<'a, T: Element> {
    /// Cameras by cameras, blocks c x c; read on and below the block diagonal.
    pub u: &'a DeviceMatrix<Cbc<T>>,
    /// Cameras by points, blocks c x p.
    pub w: &'a DeviceMatrix<Cbc<T>>,
    /// Points by points, exactly the diagonal blocks, p x p; read on and below their diagonals.
    pub v: &'a DeviceMatrix<Cbc<T>>,
    /// Right-hand side of the cameras.
    pub b_c: &'a DeviceVector<T>,
    /// Right-hand side of the points.
    pub b_p: &'a DeviceVector<T>,
    /// What is added to the diagonals of U and V in the computation. The matrices stay as they are.
    pub damping: Damping,
}
