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
    /// The damping that the computation adds to the diagonals of U and V. The matrices stay as they
    /// are.
    pub damping: Damping,
    /// Least elements of the diagonals for [`Damping::Marquardt`]; `None` for no floors.
    pub floors: Option<Floors<'a, T>>,
}

/// Floors of damping. An unknown without influence has zeros in its row of the matrix, and λ times
/// zero does not make the system solvable. With floors, an element x of a diagonal becomes x +
/// λ·max(x, floor), where each coordinate of a block has its own floor. So a group of unknowns has
/// as many floors as the side of its blocks (J. J. Moré, *The Levenberg-Marquardt Algorithm:
/// Implementation and Theory*, 1978, section 6, bounds its scales below by the largest so far).
///
/// A good floor is far below every element that matters, such as 1e-30 of the largest element of
/// its coordinate. It then scales with the unit of the coordinate, and leaves x + λ·x as it is for
/// every element x above it. λ·floor must be a normal number of the type. Floors of 0 change
/// nothing. A floor of infinity holds the coordinate, with any damping and without: 1 replaces the
/// elements of the diagonal. It is for a coordinate whose rows are zero in all members of the
/// group. Their step is then 0.
#[derive(Debug, Clone, Copy)]
pub struct Floors<'a, T: Element> {
    /// For the coordinates of a block of U: c elements.
    pub cameras: &'a DeviceVector<T>,
    /// For the coordinates of a block of V: p elements.
    pub points: &'a DeviceVector<T>,
}

/// Damping of a diagonal, and its floors.
#[derive(Clone, Copy)]
pub(super) struct Floored<'a> {
    pub damped: Damped,
    pub floors: Option<&'a Buffer>,
}

/// Normal equations whose elements the host does not name.
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
