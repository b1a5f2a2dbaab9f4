//! The inputs of an elimination.
use super::{Damping, system::Damped};
use crate::{Cbc, DeviceMatrix, DeviceVector, Element, device::Buffer, resident::DeviceCbc};

/// The normal equations of bundle adjustment, as an execution of an
/// [`Elimination`](super::Elimination) reads them:
///
/// ```text
/// | U  W | |x_c|   |b_c|
/// | Wᵀ V | |x_p| = |b_p|
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NormalEquations<'a, T: Element> {
    /// Cameras by cameras, blocks c x c; only blocks on and below the block diagonal are read.
    pub u: &'a DeviceMatrix<Cbc<T>>,
    /// Cameras by points, blocks c x p.
    pub w: &'a DeviceMatrix<Cbc<T>>,
    /// Points by points, blocks p x p, with exactly the diagonal blocks. Only elements on and below
    /// the diagonal of each block are read.
    pub v: &'a DeviceMatrix<Cbc<T>>,
    /// Right-hand side of the cameras.
    pub b_c: &'a DeviceVector<T>,
    /// Right-hand side of the points.
    pub b_p: &'a DeviceVector<T>,
    /// The damping that the computation adds to the diagonals of U and V. The matrices stay as they
    /// are.
    pub damping: Damping,
    /// Least elements of the diagonals for [`Damping::Marquardt`]; `None` for no floors.
    pub floors: Option<Floors<'a, T>>,
}

/// Floors of damping. An unknown without influence has zeros in its row of the matrix, and λ times
/// zero does not make the system solvable. With floors, a diagonal element x becomes x + λ·max(x,
/// floor). Each coordinate of a block has its own floor, so a group of unknowns has a vector of
/// floors with the length of its blocks' side. J. J. Moré, *The Levenberg-Marquardt Algorithm:
/// Implementation and Theory*, 1978, section 6, bounds scales below by the largest so far.
///
/// A good floor is far below every element that matters, such as 1e-30 of the largest element of
/// the same coordinate. Then it scales with the unit of the coordinate, and does not change x + λ·x
/// for any element x above the floor. λ·floor must be a normal number of the type. Floors of 0
/// change nothing. An infinite floor holds the coordinate fixed, with or without damping: its
/// diagonal elements are replaced by 1. Use it for a coordinate whose rows are zero in all members
/// of the group. The step of that coordinate is then 0.
#[derive(Debug, Clone, Copy)]
pub struct Floors<'a, T: Element> {
    /// Floors of the c coordinates of a camera (a block of U).
    pub cameras: &'a DeviceVector<T>,
    /// Floors of the p coordinates of a point (a block of V).
    pub points: &'a DeviceVector<T>,
}

/// Damping of a diagonal, and its floors.
#[derive(Clone, Copy)]
pub(super) struct Floored<'a> {
    pub damped: Damped,
    pub floors: Option<&'a Buffer>,
}

/// Normal equations without element types.
#[derive(Clone, Copy)]
pub(super) struct Equations<'a> {
    pub u: &'a DeviceCbc,
    pub w: &'a DeviceCbc,
    pub v: &'a DeviceCbc,
    pub b_c: &'a Buffer,
    pub b_p: &'a Buffer,
    pub damped: Damped,
    /// The floors of cameras and of points.
    pub floors: [Option<&'a Buffer>; 2],
}
