//! The Schur complement of bundle adjustment: points are eliminated, cameras remain (Triggs,
//! McLauchlan, Hartley, Fitzgibbon: *Bundle Adjustment - A Modern Synthesis*, 2000, section 6.1).
//! It is for solvers that repeat it with the same patterns and new values.
mod base;
mod cameras;
mod elimination;
mod factor;
mod implicit;
mod lines;
mod solve;
mod structure;
pub(crate) mod system;

use crate::{
    Cbc, DeviceMatrix, DevicePattern, DeviceVector, Element, Real, Result, StageTime,
    device::Work,
    element::Scaling,
    error::Dimensions,
    events::ms,
    matrix::Part,
    product::{FactorPattern, Method, PlannedProduct},
    structure::Scalars,
};
use base::Base;
use elimination::Elimination;
pub use implicit::ImplicitSchur;
use std::time::Instant;
use structure::Structure;
pub use system::Damping;

/// The normal equations of bundle adjustment reduced to the cameras, prepared for patterns that
/// stay the same.
///
/// ```text
/// | U  W | |x_c|   |b_c|    S·x_c = r,    S = U' - W·V'⁻¹·Wᵀ,  r = b_c - W·V'⁻¹·b_p
/// | Wᵀ V | |x_p| = |b_p|    x_p = V'⁻¹·(b_p - Wᵀ·x_c)
/// ```
///
/// U (cameras by cameras, blocks c x c) is read on and below the block diagonal: store it whole or
/// its lower triangle. V (points by points, blocks p x p) has exactly the diagonal blocks; they are
/// read on and below their diagonals. W is cameras by points, blocks c x p; c and p are any from 1
/// to 32. U' and V' are damped in the computation: the matrices stay as they are. Elements are
/// `f64` or `f32`.
///
/// On the device each V' = L·Lᵀ is factored, and Z = W·L⁻ᵀ and y = L⁻¹·b_p are solved
/// for. Then S = U' - Z·Zᵀ and r = b_c - Z·y. No inverse is formed, and the matrix subtracted
/// from U' is symmetric to the bit. S holds the blocks on and below its diagonal: those of U and of
/// W·Wᵀ, and every diagonal one. Diagonal blocks are whole. If S has too many blocks,
/// [`ImplicitSchur`] multiplies by it without forming it.
///
/// An execution allocates nothing, reads nothing back and returns when it is enqueued. Its bits are
/// those of [`reference::schur`](crate::reference::schur), which gives the order of every sum.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::solver::{Damping, Schur};
/// use blockmul::{BlockShape, Cbc, Device};
/// use nalgebra::DMatrix;
/// let device = Device::auto()?;
/// // One camera of two parameters that sees one point of one:
/// //   | 3 1 | 1 |   | 6 |
/// //   | 1 4 | 2 | x=| 9 |
/// //   | 1 2 | 2 |   | 5 |
/// let block = |rows, cols, values: &[f64]| {
///     let values = DMatrix::from_column_slice(rows, cols, values);
///     Cbc::from_triplets(1, 1, BlockShape::new(rows, cols)?, [(0, 0, values)])
/// };
/// let u = device.upload(&block(2, 2, &[3.0, 1.0, 1.0, 4.0])?)?;
/// let w = device.upload(&block(2, 1, &[1.0, 2.0])?)?;
/// let v = device.upload(&block(1, 1, &[2.0])?)?;
/// let (b_c, b_p) = (device.upload_vector(&[6.0, 9.0])?, device.upload_vector(&[5.0])?);
///
/// let mut schur = Schur::<f64>::new(&u.pattern(), &w.pattern(), &v.pattern())?; // structure, once
/// schur.execute(&u, &w, &v, &b_c, &b_p, Damping::None)?; // values, many times
/// let s = schur.s()?.download()?.to_dense();
/// let r = nalgebra::DVector::from(schur.rhs()?.download()?);
/// assert!((&s - nalgebra::dmatrix![2.5, 0.0; 0.0, 2.0]).norm() < 1e-14);
///
/// let x_c = s.cholesky().unwrap().solve(&r); // a solver's part
/// let mut x_p = device.zero_vector(1)?;
/// schur.back_substitute(&device.upload_vector(x_c.as_slice())?, &mut x_p)?;
/// assert!((x_p.download()?[0] + 0.2).abs() < 1e-14 && (x_c[0] - 1.4).abs() < 1e-14);
/// # Ok(())
/// # }
/// ```
pub struct Schur<T: Element> {
    elimination: Elimination<T>,
    pattern: DevicePattern,
    product: PlannedProduct<T>,
    base: Base<T>,
    s: DeviceMatrix<Cbc<T>>,
}

impl<T: Real> Schur<T> {
    /// Prepares for matrices of these patterns.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if sizes do not match, V's pattern is not the
    /// diagonal or a pattern is row-major; [`Error::DeviceMismatch`](crate::Error::DeviceMismatch);
    /// [`Error::Unsupported`](crate::Error::Unsupported); [`Error::Memory`](crate::Error::Memory)
    /// if Z, S or the pairs of blocks to multiply do not fit the device;
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn new(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        let (start, work) = (Instant::now(), &Work::new(u.device(), None));
        elimination::check_patterns::<T>(work, [u, w, v])?;
        let (z, zt) = (side(w, false), side(w, true));
        PlannedProduct::<T>::ask_retarget(work.device(), &z, &zt, Part::Lower)?;
        structure::Kernels::new(work.device())?;
        Elimination::<T>::ask(work.device(), w.shape())?;
        Base::<T>::ask(work.device(), w.shape().rows())?;
        PlannedProduct::<T>::ask(work.device(), &z, &zt, Part::Lower, Method::Auto)?;
        // The kernel that hands S over to a sparse Cholesky factorization.
        Scalars::<Cbc<T>>::ask(work.device(), u.shape())?;
        elimination::check_diagonal(work, v)?;
        let mut product = PlannedProduct::new(work, &z, &zt, Part::Lower, Method::Auto)?;
        let Structure { pattern, places, slots } = Structure::new(work, &u.arrays, &product.c)?;
        product.retarget(work, &places, pattern.clone())?;
        let (nnz, products, bytes) = (pattern.nnz(), product.products, product.bytes());
        tracing::debug!(target: "blockmul::plan", nnz, products, bytes, ms = ms(start), "Schur complement planned");
        let pattern = DevicePattern { arrays: pattern, array_shape: u.array_shape, row_major: false };
        Ok(Self {
            elimination: Elimination::new(work, [u, w, v])?,
            product,
            base: Base::new(work, w.shape().rows(), slots)?,
            s: DeviceMatrix::zeros(&pattern)?,
            pattern,
        })
    }

    /// Computes S, r and what [`Schur::back_substitute`] needs, of new values.
    ///
    /// Returns when it is enqueued; allocates nothing and reads nothing back. If a matrix was not
    /// made on the very pattern given to [`Schur::new`], its fingerprint is compared. It is
    /// computed once (one small read-back). [`Schur::check`] reports whether every block of V' was
    /// positive definite. After an error S, r and the rest are undefined.
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for a matrix of another pattern or block
    /// shape, [`Error::Argument`](crate::Error::Argument) for a λ that is negative or not finite;
    /// [`Error::Length`](crate::Error::Length) for a vector of another length;
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch);
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn execute(
        &mut self,
        u: &DeviceMatrix<Cbc<T>>,
        w: &DeviceMatrix<Cbc<T>>,
        v: &DeviceMatrix<Cbc<T>>,
        b_c: &DeviceVector<T>,
        b_p: &DeviceVector<T>,
        damping: Damping,
    ) -> Result<()> {
        self.enqueue(&Work::new(&self.elimination.device, None), [u, w, v], [b_c, b_p], damping)
    }

    /// As [`Schur::execute`]. Waits, and returns the time of each stage.
    ///
    /// # Errors
    /// As [`Schur::execute`].
    pub fn execute_with_stages(
        &mut self,
        [u, w, v]: [&DeviceMatrix<Cbc<T>>; 3],
        [b_c, b_p]: [&DeviceVector<T>; 2],
        damping: Damping,
    ) -> Result<Vec<StageTime>> {
        let work = Work::new(&self.elimination.device, None);
        self.enqueue(&work, [u, w, v], [b_c, b_p], damping)?;
        work.wait()?;
        work.stage_times(&STAGES)
    }

    fn enqueue(
        &mut self,
        work: &Work,
        matrices: [&DeviceMatrix<Cbc<T>>; 3],
        vectors: [&DeviceVector<T>; 2],
        damping: Damping,
    ) -> Result<()> {
        let Self { elimination, product, base, s, .. } = self;
        elimination.execute(work, matrices, vectors, damping, |z, damped| {
            let minus = Scaling { alpha: -T::one(), beta: T::zero() };
            product.execute(work, (&z.cbc, &z.cbc), minus, (&mut s.cbc).into())?;
            base.run(work, &matrices[0].cbc, damped, &mut s.cbc)
        })
    }

    /// Whether the last execution found every block of V' positive definite.
    ///
    /// Waits for it and reads one word, once an execution. [`Schur::s`], [`Schur::rhs`] and
    /// [`Schur::back_substitute`] check too; the first of them waits.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) with the smallest number
    /// of such a block of V, [`Error::Argument`](crate::Error::Argument) if nothing was executed,
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn check(&self) -> Result<()> {
        self.elimination.check()
    }

    /// S of the last execution: blocks on and below the diagonal.
    ///
    /// # Errors
    /// As [`Schur::check`].
    pub fn s(&self) -> Result<&DeviceMatrix<Cbc<T>>> {
        self.check().map(|()| &self.s)
    }

    /// The right-hand side r of the last execution.
    ///
    /// # Errors
    /// As [`Schur::check`].
    pub fn rhs(&self) -> Result<&DeviceVector<T>> {
        self.elimination.rhs()
    }

    /// x_p = V'⁻¹·(b_p - Wᵀ·x_c), with W, V' and b_p of the last execution. `x_c` is a
    /// solution of S·x_c = r, or close to one.
    ///
    /// Returns when it is enqueued; allocates nothing.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch); as [`Schur::check`].
    pub fn back_substitute(&self, x_c: &DeviceVector<T>, x_p: &mut DeviceVector<T>) -> Result<()> {
        self.elimination.back_substitute(x_c, x_p)
    }
}

impl<T: Element> Schur<T> {
    /// The pattern of S.
    pub fn pattern(&self) -> &DevicePattern {
        &self.pattern
    }

    /// Products of blocks in an execution: one for each point and each pair of cameras that see it,
    /// and for each camera with itself.
    pub fn products(&self) -> u64 {
        self.product.products
    }

    /// Bytes of device memory held: Z, the factors, S, the operand pairs of its products, indices.
    /// The patterns of U, W and V belong to the matrices.
    pub fn device_bytes(&self) -> u64 {
        self.s.cbc.values.bytes() + self.product.bytes() + self.base.bytes() + self.elimination.bytes()
    }
}

impl<T: Element> std::fmt::Debug for Schur<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Elimination { u, w, .. }, s) = (&self.elimination, &self.pattern);
        write!(f, "Schur(U: {u:?}, W: {w:?}, S: {s:?})")
    }
}

/// The stages of an execution, in order.
const STAGES: [&str; 5] = ["factor", "solve", "compression", "base", "rhs"];

fn dimensions(pattern: &DevicePattern) -> Dimensions {
    let (shape, nrows, ncols) = (pattern.shape(), pattern.nrows(), pattern.ncols());
    Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() }
}

/// A factor of Z·Zᵀ; Z has the pattern of W.
fn side(w: &DevicePattern, transposed: bool) -> FactorPattern {
    FactorPattern { pattern: w.arrays.clone(), shape: w.array_shape, transposed }
}
