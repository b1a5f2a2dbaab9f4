//! The Schur complement as an operator that multiplies vectors. S itself is never formed.
use super::{
    Core, Elimination, Form, Reduced,
    base::Base,
    cameras::{Cameras, DampedU},
    equations::Floored,
    factors_of_square,
    form::FormCore,
    reduced::ReducedCore,
};
use crate::{
    BlockShape, Cbc, Device, DeviceMatrix, DevicePattern, DeviceVector, Error, Marker, Real, Result, Semiring,
    apply::Spmv,
    device::{Buffer, Scratch, Work},
    element::{ElementType, Scaling},
    product::{Destination, PlannedProduct},
    resident::DeviceCbc,
    vector::{line_sums::Stored, lines},
};
use std::marker::PhantomData;

/// The form of an [`Elimination`] in which S is an operator and never formed. The implicit form is
/// meant for preconditioned conjugate gradients, if S has too many blocks to be stored (S. Agarwal,
/// N. Snavely, S. M. Seitz, R. Szeliski: *Bundle Adjustment in the Large*, 2010, section 5).
///
/// ```text
/// S·x = U'·x - Z·(Zᵀ·x),      Z·Zᵀ = W·V'⁻¹·Wᵀ,      r = b_c - W·V'⁻¹·b_p
/// ```
///
/// U, W, V and the damping are as for [`Formed`](super::Formed), and the same parts of the matrices
/// are read. The right-hand side r and the results of back-substitution have the same bits as with
/// [`Formed`](super::Formed). Memory and the time of a product by S grow with the number of blocks
/// of W and U. A formed S has a block for each pair of cameras that see a common point. Forming S
/// is the better choice if there are few pairs of such cameras, if S is factored, or if there are
/// many products by S.
///
/// Each execution computes Z, U', r and the diagonal blocks of S, which a block-Jacobi
/// preconditioner inverts (Ceres Solver's `SCHUR_JACOBI`). A product adds in the order of
/// [`Apply`](crate::plan::Apply), so its bits are the same on every device.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Apply;
/// use blockmul::solver::{Damping, Elimination, NormalEquations};
/// use blockmul::{BlockShape, Cbc, Device, Planned};
/// use nalgebra::{DMatrix, dmatrix};
/// let device = Device::auto()?;
/// // Two cameras of one parameter that see one point of one:
/// //   | 3   | 1 |   | 6 |
/// //   |   4 | 2 | x=| 9 |
/// //   | 1 2 | 2 |   | 5 |
/// let matrix = |rows, cols, blocks: &[(usize, usize, f64)]| {
///     let blocks = blocks.iter().map(|&(i, j, x)| (i, j, dmatrix![x]));
///     device.upload(&Cbc::from_triplets(rows, cols, BlockShape::SCALAR, blocks)?)
/// };
/// let u = matrix(2, 2, &[(0, 0, 3.0), (1, 1, 4.0)])?;
/// let w = matrix(2, 1, &[(0, 0, 1.0), (1, 0, 2.0)])?;
/// let v = matrix(1, 1, &[(0, 0, 2.0)])?;
/// let (b_c, b_p) = (device.upload_vector(&[6.0, 9.0])?, device.upload_vector(&[5.0])?);
///
/// let plan = Elimination::implicit(&u.pattern(), &w.pattern(), &v.pattern())?; // structure, once
/// let mut reduced = plan.output()?;
/// let damping = Damping::None;
/// let (b_c, b_p, floors) = (&b_c, &b_p, None);
/// let equations = NormalEquations { u: &u, w: &w, v: &v, b_c, b_p, damping, floors };
/// plan.execute(equations, &mut reduced)?; // values, many times
///
/// // The preconditioner M: the diagonal blocks of S = | 2.5 -1; -1 2 |, inverted.
/// let m = reduced.diagonal()?.download()?;
/// let inverses = m
///     .blocks()
///     .map(|(i, j, block)| (i, j, DMatrix::from(block).try_inverse().unwrap()));
/// let m = device.upload(&Cbc::from_triplets(2, 2, m.shape(), inverses)?)?;
/// let precondition = Apply::new(&m.pattern())?;
///
/// // Conjugate gradients: exact after two steps, there being two unknowns.
/// let zeros = || device.zero_vector(2);
/// let (mut x, mut r, mut z, mut s_p) = (zeros()?, zeros()?, zeros()?, zeros()?);
/// r.copy_from(reduced.rhs()?)?;
/// precondition.execute((&m, &r), &mut z)?;
/// let (mut p, mut rz) = (device.upload_vector(&z.download()?)?, r.dot(&z)?);
/// for _ in 0..2 {
///     plan.multiply(&reduced, &p, &mut s_p)?;
///     let alpha = rz / p.dot(&s_p)?;
///     x.axpy(alpha, &p)?;
///     r.axpy(-alpha, &s_p)?;
///     precondition.execute((&m, &r), &mut z)?;
///     let before = std::mem::replace(&mut rz, r.dot(&z)?);
///     p.axpby(1.0, &z, rz / before)?;
/// }
/// let mut x_p = device.zero_vector(1)?;
/// plan.back_substitute(&reduced, &x, &mut x_p)?;
/// let (x, x_p) = (x.download()?, x_p.download()?);
/// assert!((x[0] - 2.75).abs() < 1e-14 && (x[1] - 3.375).abs() < 1e-14);
/// assert!((x_p[0] + 2.25).abs() < 1e-14);
/// # Ok(())
/// # }
/// ```
pub struct Implicit<T: Real>(PhantomData<fn() -> T>);

/// The part of a plan that multiplies by S.
pub(super) struct ImplicitCore {
    pub cameras: Cameras,
    /// The plan for the diagonal of Z·Zᵀ.
    pub product: PlannedProduct,
    z: Spmv,
    z_transposed: Spmv,
    /// Memory for Zᵀ·x.
    at_points: Scratch,
}

impl<T: Real> Elimination<Implicit<T>> {
    /// Prepares to multiply by S for matrices with these patterns.
    ///
    /// # Errors
    /// The errors of [`Elimination::formed`]; [`Error::Memory`](crate::Error::Memory) if the arrays
    /// that find the rows of Z do not fit the device.
    pub fn implicit(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        Self::new(u, w, v)
    }

    /// Computes y = S·x, with the S of the last execution that wrote `reduced`.
    ///
    /// Returns when the product is enqueued. Products after the first allocate nothing. The first
    /// use of `reduced` after an execution checks it like [`Reduced::check`].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for a vector of another length than b_c,
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for the output of a plan for other
    /// patterns, [`Error::DeviceMismatch`](crate::Error::DeviceMismatch); the errors of
    /// [`Reduced::check`].
    pub fn multiply(
        &self,
        reduced: &Reduced<Implicit<T>>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<Marker> {
        self.check_vector("x", x, &self.core.u)?;
        self.check_vector("y", y, &self.core.u)?;
        self.core.multiply(&reduced.core, &x.values, &mut y.values)
    }
}

impl Core {
    /// See [`Elimination::multiply`].
    fn multiply(&self, reduced: &ReducedCore, x: &Buffer, y: &mut Buffer) -> Result<Marker> {
        self.check_reduced(reduced)?;
        reduced.check()?;
        let (FormCore::Implicit(form), Some(u)) = (&self.form, &reduced.damped_u) else {
            return Err(Error::Argument("this elimination forms S".into()));
        };
        let work = &Work::new(&self.device, None);
        work.stage("multiply");
        let ImplicitCore { cameras, z, z_transposed, at_points, .. } = &**form;
        let (at_points, of_z) = (&mut *at_points.take(work)?, Stored::from(&reduced.z));
        z_transposed.run(work, of_z, x, Scaling::plain(self.element), at_points)?;
        cameras.multiply(work, u, x, y)?;
        z.run(work, of_z, at_points, Scaling::of(self.element, -1.0, 1.0), y)?;
        Ok(work.marker())
    }
}

impl<T: Real> Reduced<Implicit<T>> {
    /// The diagonal blocks of S, complete. The blocks have the same bits as in the formed S, and
    /// they are symmetric if the diagonal blocks of U are symmetric.
    ///
    /// # Errors
    /// The errors of [`Reduced::check`].
    pub fn diagonal(&self) -> Result<&DeviceMatrix<Cbc<T>>> {
        self.check().map(|()| &self.matrix)
    }
}

impl<T: Real> Form for Implicit<T> {
    type Element = T;
    const FORMED: bool = false;
}

impl ImplicitCore {
    pub fn ask(device: &Device, element: ElementType, shape: BlockShape) -> Result<()> {
        lines::ask(device)?;
        Base::ask(device, element, shape.rows())
    }

    pub fn new(work: &Work, element: ElementType, u: &DevicePattern, w: &DevicePattern) -> Result<Self> {
        let (cameras, (z, zt)) = (Cameras::new(work, u, element)?, factors_of_square(w));
        Ok(Self {
            product: PlannedProduct::masked(work, &z, &zt, &cameras.diagonal().arrays, element, Semiring::PlusTimes)?,
            cameras,
            z: Spmv::often(w, element, true)?,
            z_transposed: Spmv::often(w, element, false)?,
            at_points: Scratch::of(work.device(), element.word(), w.arrays.ncols * w.array_shape.cols())?,
        })
    }

    pub fn run(
        &self,
        work: &Work,
        (z, u): (&DeviceCbc, &DeviceCbc),
        damped: Floored<'_>,
        damped_u: &mut DampedU,
        diagonal: &mut DeviceCbc,
    ) -> Result<()> {
        self.cameras.run(work, u, damped, damped_u)?;
        let of_u = &damped_u.diagonal.values;
        work.copy(of_u, 0, &mut diagonal.values, 0, of_u.len())?;
        let minus = Scaling::of(z.element(), -1.0, 1.0);
        self.product.execute(work, (z, z), minus, Destination::from(diagonal))
    }

    pub fn bytes(&self) -> u64 {
        let of_z = self.z.bytes() + self.z_transposed.bytes() + self.at_points.bytes();
        // The pattern of the diagonal is included in the bytes of U'.
        of_z + self.cameras.bytes() + self.product.bytes() - self.product.c.bytes()
    }
}
