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
    /// The matrix U, cameras by cameras, with blocks of c x c elements. Only blocks on and below
    /// the block diagonal are read.
    pub u: &'a DeviceMatrix<Cbc<T>>,
    /// The matrix W, cameras by points, with blocks of c x p elements.
    pub w: &'a DeviceMatrix<Cbc<T>>,
    /// The matrix V, points by points, with blocks of p x p elements. V must have exactly the
    /// diagonal blocks, and only elements on and below the diagonal of each block are read.
    pub v: &'a DeviceMatrix<Cbc<T>>,
    /// Right-hand side of the cameras.
    pub b_c: &'a DeviceVector<T>,
    /// Right-hand side of the points.
    pub b_p: &'a DeviceVector<T>,
    /// The damping that the computation adds to the diagonals of U and V. The matrices stay as they
    /// are.
    pub damping: Damping,
    /// Least elements of the diagonals for [`Damping::Marquardt`], or `None` for no floors.
    pub floors: Option<Floors<'a, T>>,
}

/// Floors of damping. An unknown on which no residual depends has zeros in its row of the matrix,
/// and adding λ times zero does not make the system solvable. With floors, a diagonal element x
/// becomes x + λ·max(x, floor). Each coordinate of a block has its own floor, so the vector of
/// floors of a group of unknowns has the length of a side of the group's blocks. Similarly, J. J.
/// Moré, *The Levenberg-Marquardt Algorithm: Implementation and Theory*, 1978, section 6, never
/// lets a scale fall below its largest value so far.
///
/// A good floor is far below every diagonal element that matters, for example 1e-30 of the largest
/// element for the same coordinate. A floor that is a share of the largest element scales with the
/// unit of the coordinate, and does not change the damping of any element above the floor. λ·floor
/// must be a normal number of the type. Floors of 0 change nothing. An infinite floor holds the
/// coordinate fixed, with or without damping: its diagonal elements are replaced by 1. An infinite
/// floor is meant for a coordinate whose rows are zero in all members of the group, so that the
/// step of the coordinate is 0.
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

/// Normal equations whose element type is known at run time only.
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
