//! The Schur complement of bundle adjustment: points eliminated, cameras left (Triggs, McLauchlan, Hartley, Fitzgibbon: *Bundle Adjustment -
//! A Modern Synthesis*, 2000, section 6.1), for solvers that repeat it with the same patterns and new values.
mod base;
mod factor;
mod lines;
pub(crate) mod reference;
mod solve;
mod structure;

use crate::{
    Cbc, Device, DeviceMatrix, DevicePattern, DeviceVector, Element, Error, Pattern, Real, Result, StageTime,
    device::{DeviceCbc, PatternArrays, Work},
    error::Dimensions,
    esc::{Part, PlannedProduct, Scaling, Side},
    primitives::transpose::Transpose,
};
use base::Base;
use factor::Factor;
use lines::{Columns, Rows};
use solve::Solve;
use std::sync::{Mutex, OnceLock, PoisonError};
use structure::Structure;

/// What is added to the diagonal of the Hessian, so that a step is defined and not too long.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Damping {
    /// Nothing.
    #[default]
    None,
    /// λ times the diagonal: steps that do not depend on units (Marquardt, 1963).
    Marquardt(f64),
    /// λ (Levenberg, 1944).
    Levenberg(f64),
}

/// Damping in the type of the elements: x + (scale·x + shift) for each x on the diagonal.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Damped<T> {
    scale: T,
    shift: T,
}

impl Damping {
    fn of<T: Real>(self) -> Result<Damped<T>> {
        let (scale, shift) = match self {
            Self::None => (0.0, 0.0),
            Self::Marquardt(lambda) => (lambda, 0.0),
            Self::Levenberg(lambda) => (0.0, lambda),
        };
        let damped = Damped { scale: <T as Element>::from_f64(scale), shift: <T as Element>::from_f64(shift) };
        match [scale, shift, Element::to_f64(damped.scale), Element::to_f64(damped.shift)]
            .iter()
            .all(|x| x.is_finite() && *x >= 0.0)
        {
            true => Ok(damped),
            false => Err(Error::Argument(format!("{self:?} is no damping: λ must be a finite {} from 0 on", T::NAME))),
        }
    }
}

/// The normal equations of bundle adjustment reduced to the cameras, prepared for patterns that stay the same.
///
/// ```text
/// | U  W | |x_c|   |b_c|      S·x_c = r,      S = U' - W·V'⁻¹·Wᵀ,   r = b_c - W·V'⁻¹·b_p
/// | Wᵀ V | |x_p| = |b_p|      x_p = V'⁻¹·(b_p - Wᵀ·x_c)
/// ```
///
/// U (cameras by cameras, blocks c x c) is read on and below the block diagonal: store it whole or its lower triangle. V (points by points,
/// blocks p x p) has exactly the diagonal blocks, of which what is on and below the diagonal is read. W is cameras by points, blocks c x p; c and
/// p are any from 1 to 32. U' and V' are damped on the way: the matrices stay as they are. Elements are `f64` or `f32`.
///
/// On the device each V' = L·Lᵀ is factored, Z = W·L⁻ᵀ and y = L⁻¹·b_p are solved for, and S = U' - Z·Zᵀ and r = b_c - Z·y come of them:
/// no inverse is formed, and what is subtracted from U' is symmetric to the bit. S holds the blocks on and below its diagonal, those of U and
/// of W·Wᵀ and every diagonal one; diagonal blocks are whole.
///
/// An execution allocates nothing, reads nothing back and returns when it is enqueued. Its bits are those of
/// [`reference::schur`](crate::reference::schur), which says the order of every sum.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{BlockShape, Cbc, Damping, Device, Schur};
/// use nalgebra::DMatrix;
/// let device = Device::auto()?;
/// // One camera of two parameters that sees one point of one:
/// //   | 3 1 | 1 |   | 6 |
/// //   | 1 4 | 2 | x=| 9 |
/// //   | 1 2 | 2 |   | 5 |
/// let block = |rows, cols, values: &[f64]| {
///     Cbc::from_triplets(1, 1, BlockShape::new(rows, cols)?, [(0, 0, DMatrix::from_column_slice(rows, cols, values))])
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
    device: Device,
    u: DevicePattern,
    w: DevicePattern,
    v: DevicePattern,
    pattern: DevicePattern,
    factor: Factor<T>,
    solve: Solve<T>,
    z: DeviceCbc<T>,
    product: PlannedProduct<T>,
    base: Base<T>,
    s: DeviceMatrix<Cbc<T>>,
    rows: Rows<T>,
    rhs: DeviceVector<T>,
    /// Kernels hold their arguments, so that two threads take turns to enqueue.
    columns: Mutex<Columns<T>>,
    executed: bool,
    /// The first block of V' that was not positive definite, once somebody has asked.
    failed: OnceLock<Option<usize>>,
}

impl<T: Real> Schur<T> {
    /// Prepares for matrices of these patterns.
    ///
    /// # Errors
    /// [`Error::Argument`] when sizes do not meet, V's pattern is not the diagonal or a pattern is row-major; [`Error::DeviceMismatch`];
    /// [`Error::Unsupported`]; [`Error::Memory`] when Z, S or the pairs of blocks to multiply do not fit the device; [`Error::TooLarge`].
    pub fn new(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        let device = u.device();
        if let Some(other) = [w.device(), v.device()].into_iter().find(|other| !device.same_as(other)) {
            return Err(Error::DeviceMismatch { a: device.info().name.clone(), b: other.info().name.clone() });
        }
        device.require::<T>()?;
        if let Some(pattern) = [u, w, v].into_iter().find(|pattern| pattern.row_major) {
            return Err(Error::Argument(format!("{pattern:?} is of a row-major matrix: blocks by columns are wanted")));
        }
        check_sizes([u, w, v].map(dimensions))?;
        let work = Work::new(device, None);
        let diagonal = (0..v.ncols() as u32).collect::<Vec<_>>();
        let col_ptr = (0..=v.ncols() as u64).collect();
        let diagonal = Pattern::trusted(v.ncols(), v.ncols(), col_ptr, diagonal);
        if v.nnz() != v.ncols() || !v.arrays.same_as(&PatternArrays::upload(&work, &diagonal)?)? {
            return Err(Error::Argument(format!("V must have exactly its {} diagonal blocks", v.ncols())));
        }
        Self::prepare(&work, u, w, v)
    }

    fn prepare(work: &Work, u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        let (device, shape, entries) = (work.device(), w.shape(), w.nnz());
        let side = |transposed| Side { pattern: w.arrays.clone(), shape, transposed };
        let mut product = PlannedProduct::new(work, &side(false), &side(true), Part::Lower)?;
        let Structure { pattern, places, slots } = Structure::new(work, &u.arrays, &product.c)?;
        product.onto(work, &places, pattern.clone())?;
        let pattern = DevicePattern { arrays: pattern, array_shape: u.array_shape, row_major: false };
        let transposed = Transpose::new(device)?.run(work, &w.arrays)?;
        let values = work.buffer(entries * shape.area())?;
        Ok(Self {
            device: device.clone(),
            u: u.clone(),
            w: w.clone(),
            v: v.clone(),
            factor: Factor::new(work, shape.cols(), v.ncols())?,
            solve: Solve::new(work, shape, structure::columns(work, &transposed)?)?,
            z: DeviceCbc { pattern: w.arrays.clone(), shape, stride: shape.area(), values },
            product,
            base: Base::new(work, shape.rows(), slots)?,
            s: DeviceMatrix::zeros(&pattern)?,
            pattern,
            rows: Rows::new(work, shape, transposed.pattern, transposed.source)?,
            rhs: device.zero_vector(u.ncols() * shape.rows())?,
            columns: Mutex::new(Columns::new(work, shape, w.arrays.clone())?),
            executed: false,
            failed: OnceLock::new(),
        })
    }

    /// S, r and what [`Schur::back_substitute`] needs, of new values.
    ///
    /// Returns when it is enqueued; allocates nothing and reads nothing back. Matrices that were not made on the very patterns given to
    /// [`Schur::new`] are told by a fingerprint, which is computed once (one small read-back). Whether every block of V' was positive
    /// definite, [`Schur::check`] tells; after an error S, r and the rest are undefined.
    ///
    /// # Errors
    /// [`Error::Argument`] for a matrix of another pattern or block shape, a λ that is negative or not finite;
    /// [`Error::Length`] for a vector of another length; [`Error::DeviceMismatch`]; [`Error::OpenCl`].
    pub fn execute(
        &mut self,
        u: &DeviceMatrix<Cbc<T>>,
        w: &DeviceMatrix<Cbc<T>>,
        v: &DeviceMatrix<Cbc<T>>,
        b_c: &DeviceVector<T>,
        b_p: &DeviceVector<T>,
        damping: Damping,
    ) -> Result<()> {
        self.enqueue(&Work::new(&self.device, None), [u, w, v], [b_c, b_p], damping)
    }

    /// As [`Schur::execute`], waits, and tells what each stage took.
    ///
    /// # Errors
    /// As [`Schur::execute`].
    pub fn execute_with_stages(
        &mut self,
        [u, w, v]: [&DeviceMatrix<Cbc<T>>; 3],
        [b_c, b_p]: [&DeviceVector<T>; 2],
        damping: Damping,
    ) -> Result<Vec<StageTime>> {
        let work = Work::new(&self.device, None);
        self.enqueue(&work, [u, w, v], [b_c, b_p], damping)?;
        work.wait()?;
        work.stage_times(&STAGES)
    }

    fn enqueue(
        &mut self,
        work: &Work,
        [u, w, v]: [&DeviceMatrix<Cbc<T>>; 3],
        [b_c, b_p]: [&DeviceVector<T>; 2],
        damping: Damping,
    ) -> Result<()> {
        for (name, pattern, matrix) in [("U", &self.u, u), ("W", &self.w, w), ("V", &self.v, v)] {
            pattern.check(name, &matrix.cbc)?;
        }
        self.check_vector("b_c", self.rhs.len(), b_c)?;
        self.check_vector("b_p", self.factor.y.len(), b_p)?;
        let damped = damping.of::<T>()?;
        (self.executed, self.failed) = (false, OnceLock::new());
        let Self { factor, solve, z, product, base, s, rows, rhs, .. } = self;
        factor.run(work, &v.cbc, &b_p.values, damped)?;
        solve.run(work, &w.cbc, factor, z)?;
        let minus = Scaling { alpha: -T::one(), beta: T::zero() };
        product.execute(work, (z, z), minus, (&mut s.cbc).into())?;
        base.run(work, &u.cbc, damped, &mut s.cbc)?;
        rows.run(work, &z.values, &factor.y, &b_c.values, &mut rhs.values)?;
        self.executed = true;
        Ok(())
    }

    /// Whether the last execution found every block of V' positive definite.
    ///
    /// Waits for it and reads one word, once an execution: [`Schur::s`], [`Schur::rhs`] and [`Schur::back_substitute`] ask too, and the first
    /// of them waits.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] with the smallest number of such a block of V, [`Error::Argument`] when nothing was executed,
    /// [`Error::OpenCl`].
    pub fn check(&self) -> Result<()> {
        if !self.executed {
            return Err(Error::Argument("the Schur complement has not been executed".into()));
        }
        let failed = match self.failed.get() {
            Some(known) => *known,
            None => {
                let found = self.factor.failed(&self.device)?;
                *self.failed.get_or_init(|| found)
            }
        };
        match failed {
            Some(block) => Err(Error::NotPositiveDefinite { matrix: "V, damped,", block }),
            None => Ok(()),
        }
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
        self.check().map(|()| &self.rhs)
    }

    /// x_p = V'⁻¹·(b_p - Wᵀ·x_c), with W, V' and b_p of the last execution: `x_c` is a solution of S·x_c = r, or near one.
    ///
    /// Returns when it is enqueued; allocates nothing.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::DeviceMismatch`]; as [`Schur::check`].
    pub fn back_substitute(&self, x_c: &DeviceVector<T>, x_p: &mut DeviceVector<T>) -> Result<()> {
        self.check_vector("x_c", self.rhs.len(), x_c)?;
        self.check_vector("x_p", self.factor.y.len(), x_p)?;
        self.check()?;
        let work = Work::new(&self.device, None);
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        columns.run(&work, &self.z.values, &x_c.values, &self.factor, &mut x_p.values)
    }

    fn check_vector(&self, array: &'static str, expected: usize, vector: &DeviceVector<T>) -> Result<()> {
        if !self.device.same_as(&vector.device) {
            let (a, b) = (self.device.info().name.clone(), vector.device.info().name.clone());
            return Err(Error::DeviceMismatch { a, b });
        }
        match vector.len() == expected {
            true => Ok(()),
            false => {
                let lines = if array.ends_with('c') { dimensions(&self.u) } else { dimensions(&self.v) };
                Err(length(array, vector.len(), lines))
            }
        }
    }
}

impl<T: Element> Schur<T> {
    /// The pattern of S.
    pub fn pattern(&self) -> &DevicePattern {
        &self.pattern
    }

    /// Products of blocks in an execution: pairs of cameras that see a point, each pair once, and of each camera with itself.
    pub fn products(&self) -> u64 {
        self.product.products
    }

    /// Bytes of device memory held: Z, the factors, S, the operand pairs of its products, indices; the patterns of U, W and V are the
    /// matrices'.
    pub fn device_bytes(&self) -> u64 {
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        let of_s = self.s.cbc.values.bytes() + self.product.bytes() + self.base.bytes();
        let of_points = self.factor.bytes() + self.solve.bytes() + self.z.values.bytes();
        of_s + of_points + self.rows.bytes() + self.rhs.values.bytes() + columns
    }
}

impl<T: Element> std::fmt::Debug for Schur<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { u, w, pattern, .. } = self;
        write!(f, "Schur(U: {u:?}, W: {w:?}, S: {pattern:?})")
    }
}

/// The stages of an execution, in order.
const STAGES: [&str; 5] = ["factor", "solve", "compression", "base", "rhs"];

fn dimensions(pattern: &DevicePattern) -> Dimensions {
    let (shape, nrows, ncols) = (pattern.shape(), pattern.nrows(), pattern.ncols());
    Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() }
}

/// Refuses U, W, V that are not the blocks of one symmetric matrix.
fn check_sizes([u, w, v]: [Dimensions; 3]) -> Result<()> {
    let square = |rows, side| Dimensions { nrows: rows, ncols: rows, block_rows: side, block_cols: side };
    if u == square(w.nrows, w.block_rows) && v == square(w.ncols, w.block_cols) {
        return Ok(());
    }
    let told = |d: Dimensions| format!("{}x{} blocks of {}x{}", d.nrows, d.ncols, d.block_rows, d.block_cols);
    Err(Error::Argument(format!("not the blocks of one matrix: U is {}, W is {}, V is {}", told(u), told(w), told(v))))
}

/// A vector of another length than the rows of a matrix.
fn length(array: &'static str, found: usize, of: Dimensions) -> Error {
    let why = format!("{} blocks of {}", of.nrows, of.block_rows);
    Error::Length { array, found, expected: of.nrows * of.block_rows, why }
}
