//! The Schur complement as an operator: it multiplies vectors and is never formed.
use super::{Damping, cameras::Cameras, elimination, elimination::Elimination, side};
use crate::{
    Cbc, DeviceMatrix, DevicePattern, DeviceVector, Real, Result,
    apply::Apply,
    device::Work,
    element::Scaling,
    planned::{Accum, Planned},
    product::PlannedProduct,
};
use std::sync::{Mutex, PoisonError};

/// The Schur complement S of [`Schur`](crate::solver::Schur) as an operator that is never formed.
/// It serves preconditioned conjugate gradients if S has too many blocks (S. Agarwal, N. Snavely,
/// S. M. Seitz, R. Szeliski: *Bundle Adjustment in the Large*, 2010, section 5).
///
/// ```text
/// S·x = U'·x - Z·(Zᵀ·x),      Z·Zᵀ = W·V'⁻¹·Wᵀ,      r = b_c - W·V'⁻¹·b_p
/// ```
///
/// U, W, V and the damping are as in [`Schur`](crate::solver::Schur), and the same parts of them
/// are read. So are r and the points of back-substitution, to the bit. Memory and the time of a
/// product grow with the blocks of W and U. The formed S has a block for each pair of cameras that
/// see a point in common. It is the better choice if those are few, if S is factored, or if its
/// products are many.
///
/// Each execution forms the diagonal blocks of S, which a block-Jacobi preconditioner inverts
/// (Ceres Solver's `SCHUR_JACOBI`). The sums of a product are those of [`Apply`]: the same bits on
/// every device.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Apply;
/// use blockmul::solver::{Damping, ImplicitSchur};
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
/// // The structure, once, then values, many times.
/// let mut schur = ImplicitSchur::<f64>::new(&u.pattern(), &w.pattern(), &v.pattern())?;
/// schur.execute(&u, &w, &v, &b_c, &b_p, Damping::None)?;
///
/// // The preconditioner M: the diagonal blocks of S = | 2.5 -1; -1 2 |, inverted.
/// let m = schur.diagonal()?.download()?;
/// let inverses = m
///     .blocks()
///     .map(|(i, j, block)| (i, j, DMatrix::from(block).try_inverse().unwrap()));
/// let m = device.upload(&Cbc::from_triplets(2, 2, m.shape(), inverses)?)?;
/// let precondition = Apply::new(&m.pattern())?;
///
/// // Conjugate gradients: exact after two steps, there being two unknowns.
/// let zeros = || device.zero_vector(2);
/// let (mut x, mut r, mut z, mut s_p) = (zeros()?, zeros()?, zeros()?, zeros()?);
/// r.copy_from(schur.rhs()?)?;
/// precondition.execute((&m, &r), &mut z)?;
/// let (mut p, mut rz) = (device.upload_vector(&z.download()?)?, r.dot(&z)?);
/// for _ in 0..2 {
///     schur.multiply(&p, &mut s_p)?;
///     let alpha = rz / p.dot(&s_p)?;
///     x.axpy(alpha, &p)?;
///     r.axpy(-alpha, &s_p)?;
///     precondition.execute((&m, &r), &mut z)?;
///     let before = std::mem::replace(&mut rz, r.dot(&z)?);
///     p.axpby(1.0, &z, rz / before)?;
/// }
/// let mut x_p = device.zero_vector(1)?;
/// schur.back_substitute(&x, &mut x_p)?;
/// let (x, x_p) = (x.download()?, x_p.download()?);
/// assert!((x[0] - 2.75).abs() < 1e-14 && (x[1] - 3.375).abs() < 1e-14);
/// assert!((x_p[0] + 2.25).abs() < 1e-14);
/// # Ok(())
/// # }
/// ```
pub struct ImplicitSchur<T: Real> {
    elimination: Elimination<T>,
    cameras: Cameras<T>,
    /// The diagonal of Z·Zᵀ.
    product: PlannedProduct<T>,
    diagonal: DeviceMatrix<Cbc<T>>,
    z: Apply<Cbc<T>>,
    z_transposed: Apply<Cbc<T>>,
    /// Zᵀ·x. Two threads take turns to enqueue.
    at_points: Mutex<DeviceVector<T>>,
}

impl<T: Real> ImplicitSchur<T> {
    /// Prepares for matrices of these patterns.
    ///
    /// # Errors
    /// As [`Schur::new`](crate::solver::Schur::new); [`Error::Memory`](crate::Error::Memory) if Z
    /// or the arrays that find its rows do not fit the device.
    pub fn new(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        let work = &Work::new(u.device(), None);
        elimination::check_patterns::<T>(work, [u, w, v])?;
        Elimination::<T>::ask(work.device(), w.shape())?;
        elimination::check_diagonal(work, v)?;
        let cameras = Cameras::new(work, u)?;
        let pattern = cameras.diagonal().pattern();
        let z_transposed = Apply::transposed(w)?;
        Ok(Self {
            product: PlannedProduct::masked(work, &side(w, false), &side(w, true), &pattern.arrays)?,
            elimination: Elimination::new(work, [u, w, v])?,
            cameras,
            diagonal: DeviceMatrix::zeros(&pattern)?,
            z: Apply::new(w)?,
            at_points: Mutex::new(z_transposed.output()?),
            z_transposed,
        })
    }

    /// Computes Z, U', the diagonal of S, r and what [`ImplicitSchur::back_substitute`] needs, of
    /// new values.
    ///
    /// Enqueued, checked and reported as by [`Schur::execute`](crate::solver::Schur::execute).
    ///
    /// # Errors
    /// As [`Schur::execute`](crate::solver::Schur::execute).
    pub fn execute(
        &mut self,
        u: &DeviceMatrix<Cbc<T>>,
        w: &DeviceMatrix<Cbc<T>>,
        v: &DeviceMatrix<Cbc<T>>,
        b_c: &DeviceVector<T>,
        b_p: &DeviceVector<T>,
        damping: Damping,
    ) -> Result<()> {
        let work = &Work::new(&self.elimination.device, None);
        let Self { elimination, cameras, product, diagonal, .. } = self;
        elimination.execute(work, [u, w, v], [b_c, b_p], damping, |z, damped| {
            cameras.run(work, &u.cbc, damped)?;
            let of_u = &cameras.diagonal().cbc.values;
            work.copy(of_u, 0, &mut diagonal.cbc.values, 0, of_u.len())?;
            let minus = Scaling { alpha: -T::one(), beta: T::one() };
            product.execute(work, (&z.cbc, &z.cbc), minus, (&mut diagonal.cbc).into())
        })
    }

    /// y = S·x, with the S of the last execution.
    ///
    /// Returns when it is enqueued; allocates nothing. The first use of an execution checks it as
    /// [`ImplicitSchur::check`] does.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for a vector of another length than b_c,
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch); as [`ImplicitSchur::check`].
    pub fn multiply(&self, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        let Elimination { u, z, .. } = &self.elimination;
        self.elimination.check_vector("x", x, u)?;
        self.elimination.check_vector("y", y, u)?;
        self.check()?;
        let mut at_points = self.at_points.lock().unwrap_or_else(PoisonError::into_inner);
        self.z_transposed.execute((z, x), &mut *at_points)?;
        self.cameras.multiply(x, y)?;
        self.z.execute((z, &*at_points), Accum::into(y).alpha(-1.0).beta(1.0)).map(drop)
    }

    /// The diagonal blocks of S of the last execution, whole. Their bits are those of
    /// [`Schur::s`](crate::solver::Schur::s), and they are symmetric if those of U are.
    ///
    /// # Errors
    /// As [`ImplicitSchur::check`].
    pub fn diagonal(&self) -> Result<&DeviceMatrix<Cbc<T>>> {
        self.check().map(|()| &self.diagonal)
    }

    /// The right-hand side r of the last execution.
    ///
    /// # Errors
    /// As [`ImplicitSchur::check`].
    pub fn rhs(&self) -> Result<&DeviceVector<T>> {
        self.elimination.rhs()
    }

    /// Whether the last execution found every block of V' positive definite.
    ///
    /// Waits for it and reads one word, once an execution. The other methods check too; the first
    /// of them waits.
    ///
    /// # Errors
    /// As [`Schur::check`](crate::solver::Schur::check).
    pub fn check(&self) -> Result<()> {
        self.elimination.check()
    }

    /// x_p = V'⁻¹·(b_p - Wᵀ·x_c), with W, V' and b_p of the last execution. `x_c` is a
    /// solution of S·x_c = r, or close to one.
    ///
    /// Returns when it is enqueued; allocates nothing.
    ///
    /// # Errors
    /// As [`Schur::back_substitute`](crate::solver::Schur::back_substitute).
    pub fn back_substitute(&self, x_c: &DeviceVector<T>, x_p: &mut DeviceVector<T>) -> Result<()> {
        self.elimination.back_substitute(x_c, x_p)
    }

    /// Bytes of device memory held: Z, the factors, U', the diagonal of S, indices. The patterns of
    /// U, W and V belong to the matrices.
    pub fn device_bytes(&self) -> u64 {
        let at_points = self.at_points.lock().unwrap_or_else(PoisonError::into_inner).values.bytes();
        let of_z = self.z.cost().device_bytes + self.z_transposed.cost().device_bytes + at_points;
        // The pattern of the diagonal is counted with U'.
        let of_diagonal = self.diagonal.cbc.values.bytes() + self.product.bytes() - self.product.c.bytes();
        self.elimination.bytes() + self.cameras.bytes() + of_diagonal + of_z
    }
}

impl<T: Real> std::fmt::Debug for ImplicitSchur<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Elimination { u, w, .. } = &self.elimination;
        write!(f, "ImplicitSchur(U: {u:?}, W: {w:?})")
    }
}
