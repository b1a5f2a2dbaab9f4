//! The Schur complement of bundle adjustment: points are eliminated, cameras remain (Triggs,
//! McLauchlan, Hartley, Fitzgibbon: *Bundle Adjustment - A Modern Synthesis*, 2000, section 6.1).
//! It is for solvers that repeat it with the same patterns and new values.
//!
//! An execution factors V' = L·Lᵀ and solves for Z = W·L⁻ᵀ and y = L⁻¹·b_p. A [`Form`] makes
//! S = U' - Z·Zᵀ. Last, the execution computes r = b_c - Z·y. The plan holds all that depends on
//! patterns, and the output every value. So back-substitution and products by S are methods of the
//! plan that read an output.
mod base;
mod cameras;
mod equations;
mod factor;
mod form;
mod formed;
mod implicit;
mod lines;
mod reduced;
mod several;
mod solve;
mod structure;
pub(crate) mod system;

use crate::{
    BlockShape, Device, DeviceMatrix, DevicePattern, DeviceVector, Error, Marker, Real, Result,
    device::{Buffer, Work},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_unscaled, same_device},
    },
    primitives::transpose::Transpose,
    product::FactorPattern,
    resident::PatternArrays,
    vector::check_vector,
};
use equations::Floored;
pub use equations::{Floors, NormalEquations};
use factor::Factor;
pub use form::Form;
pub use formed::Formed;
pub use implicit::Implicit;
use lines::{BackSubstitution, ReducedRightSide};
pub use reduced::Reduced;
pub use several::Several;
use solve::Solve;
use std::sync::OnceLock;
pub use system::Damping;
use system::{block_rows, check_sizes, identity};

/// The normal equations of bundle adjustment reduced to the cameras, prepared for patterns that
/// stay the same.
///
/// ```text
/// | U  W | |x_c|   |b_c|    S·x_c = r,    S = U' - W·V'⁻¹·Wᵀ,  r = b_c - W·V'⁻¹·b_p
/// | Wᵀ V | |x_p| = |b_p|    x_p = V'⁻¹·(b_p - Wᵀ·x_c)
/// ```
///
/// U (cameras by cameras, blocks c x c) is read on and below the block diagonal: store it whole or
/// its lower triangle. A block above the diagonal without its mirror image below is refused. V
/// (points by points, blocks p x p) has exactly the diagonal blocks; they are read on and below
/// their diagonals. W is cameras by points, blocks c x p; c and p are any from 1 to 32. U' and V'
/// are damped in the computation: the matrices stay as they are. Elements are
/// `f64` or `f32`.
///
/// On the device each V' = L·Lᵀ is factored, and Z = W·L⁻ᵀ and y = L⁻¹·b_p are solved
/// for. Then S = U' - Z·Zᵀ and r = b_c - Z·y. No inverse is formed, and the matrix subtracted
/// from U' is symmetric to the bit. There are two forms:
///
/// * [`Elimination::formed`]: S as a matrix of the blocks on and below its diagonal: those of U and
///   of W·Wᵀ, and every diagonal one. Diagonal blocks are whole.
/// * [`Elimination::implicit`]: if S has too many blocks, products by S without forming it. See
///   [`Implicit`].
///
/// The bits are those of [`reference::schur`](crate::reference::schur), which gives the order of
/// every sum. An execution reads [`NormalEquations`] and writes a [`Reduced`], which cannot be
/// scaled or added to what was there. One plan serves any number of them, also from several threads
/// at once.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::solver::{Damping, Elimination, NormalEquations};
/// use blockmul::{BlockShape, Cbc, Device, Planned};
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
/// let plan = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?; // structure, once
/// let mut reduced = plan.output()?;
/// let damping = Damping::None;
/// let (b_c, b_p, floors) = (&b_c, &b_p, None);
/// let equations = NormalEquations { u: &u, w: &w, v: &v, b_c, b_p, damping, floors };
/// plan.execute(equations, &mut reduced)?; // values, many times
/// let s = reduced.s()?.download()?.to_dense();
/// let r = nalgebra::DVector::from(reduced.rhs()?.download()?);
/// assert!((&s - nalgebra::dmatrix![2.5, 0.0; 0.0, 2.0]).norm() < 1e-14);
///
/// let x_c = s.cholesky().unwrap().solve(&r); // a solver's part
/// let mut x_p = device.zero_vector(1)?;
/// plan.back_substitute(&reduced, &device.upload_vector(x_c.as_slice())?, &mut x_p)?;
/// assert!((x_p.download()?[0] + 0.2).abs() < 1e-14 && (x_c[0] - 1.4).abs() < 1e-14);
/// # Ok(())
/// # }
/// ```
pub struct Elimination<F: Form> {
    device: Device,
    u: DevicePattern,
    w: DevicePattern,
    v: DevicePattern,
    factor: Factor<F::Element>,
    solve: Solve<F::Element>,
    form: F,
    right_side: ReducedRightSide<F::Element>,
    back_substitution: BackSubstitution<F::Element>,
}

impl<F: Form> Elimination<F> {
    /// Requests the kernels of a plan with `cameras` cameras and a W of `entries` blocks of this
    /// shape, so that those of several plans are compiled together.
    pub(crate) fn ask(device: &Device, shape: BlockShape, cameras: usize, entries: usize) -> Result<()> {
        F::ask(device, shape, cameras)?;
        Transpose::ask(device, cameras, entries)?;
        structure::scatter(device)?;
        Factor::<F::Element>::ask(device, shape.cols())?;
        Solve::<F::Element>::ask(device, shape)?;
        lines::ask::<F::Element>(device, shape)
    }

    fn new(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        let (work, shape) = (&Work::new(u.device(), None), w.shape());
        check_patterns::<F::Element>(work, [u, w, v])?;
        let device = work.device();
        Self::ask(device, shape, w.nrows(), w.nnz())?;
        check_diagonal(work, v)?;
        let form = F::new(On(work), u, w)?;
        let transposed = Transpose::new(device)?.run(work, &w.arrays)?;
        Ok(Self {
            device: device.clone(),
            u: u.clone(),
            w: w.clone(),
            v: v.clone(),
            factor: Factor::new(device, shape.cols(), v.ncols())?,
            solve: Solve::new(work, shape, structure::columns(work, &transposed)?)?,
            form,
            right_side: ReducedRightSide::new(work, shape, transposed.pattern, transposed.source)?,
            back_substitution: BackSubstitution::new(work, shape, w.arrays.clone())?,
        })
    }

    /// x_p = V'⁻¹·(b_p - Wᵀ·x_c), with W, V' and b_p of the last execution that has written
    /// `reduced`. `x_c` is a solution of S·x_c = r, or close to one.
    ///
    /// Returns when it is enqueued; allocates nothing after the first substitution. The first use
    /// of `reduced` after an execution checks it as [`Reduced::check`] does.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::DeviceMismatch`], [`Error::PlanPattern`] for the output of a
    /// plan for other patterns; as [`Reduced::check`].
    pub fn back_substitute(
        &self,
        reduced: &Reduced<F>,
        x_c: &DeviceVector<F::Element>,
        x_p: &mut DeviceVector<F::Element>,
    ) -> Result<Marker> {
        self.check_vector("x_c", x_c, &self.u)?;
        self.check_vector("x_p", x_p, &self.v)?;
        self.check_reduced(reduced)?;
        reduced.check()?;
        let work = Work::new(&self.device, None);
        let z = &reduced.z.cbc.values;
        self.back_substitution.run(&work, z, &x_c.values, &reduced.factors, &mut x_p.values)?;
        Ok(work.marker())
    }

    /// Refuses a vector whose length is not that of the rows of U (cameras) or V (points).
    fn check_vector(&self, array: &'static str, vector: &DeviceVector<F::Element>, of: &DevicePattern) -> Result<()> {
        check_vector(array, vector, &self.device, of.scalar_sides().0, || block_rows(of.dimensions()))
    }

    /// The floors of the diagonals of U and of V, if there are any.
    fn floors<'a>(&self, of: &NormalEquations<'a, F::Element>) -> Result<[Option<&'a Buffer<F::Element>>; 2]> {
        let Some(Floors { cameras, points }) = of.floors else { return Ok([None; 2]) };
        let sides = self.w.shape();
        for (name, floors, side) in
            [("floors of cameras", cameras, sides.rows()), ("floors of points", points, sides.cols())]
        {
            check_vector(name, floors, &self.device, side, || "a floor for each coordinate of a block".into())?;
        }
        Ok([cameras, points].map(|floors| Some(&floors.values)))
    }

    /// Refuses the output of a plan for other patterns.
    fn check_reduced(&self, reduced: &Reduced<F>) -> Result<()> {
        self.u.check_same("U of the reduced system", &reduced.u)?;
        self.w.check("W of the reduced system", &reduced.z.cbc)
    }
}

impl<F: Form> Planned for Elimination<F> {
    type Inputs<'a> = NormalEquations<'a, F::Element>;
    type Output = Reduced<F>;

    fn device(&self) -> &Device {
        &self.device
    }

    fn output(&self) -> Result<Reduced<F>> {
        Ok(Reduced {
            u: self.u.clone(),
            z: DeviceMatrix::zeros(&self.w)?,
            factors: self.factor.output(&Work::new(&self.device, None))?,
            rhs: self.device.zero_vector(self.u.scalar_sides().0)?,
            system: self.form.output()?,
            executed: false,
            failed: OnceLock::new(),
        })
    }

    /// Products are those of blocks of Z with blocks of Zᵀ: in a formed S one for each point and
    /// each pair of cameras that see it, and for each camera with itself; else the latter alone.
    /// Operations of damping, roots and divisions are not counted, nor are back-substitution and
    /// products by S.
    fn cost(&self) -> Cost {
        let shape = self.w.shape();
        let (products, entries) = (self.form.products(), self.w.nnz() as u64);
        let (c, p) = (shape.rows() as u64, shape.cols() as u64);
        // Z is solved for by p² operations a row of each block, and multiplied by y.
        let of_z = entries * (c * p * p + 2 * c * p);
        Cost {
            products,
            flops: self.factor.flops() + of_z + 2 * products * c * p * c,
            device_bytes: self.solve.bytes()
                + self.right_side.bytes()
                + self.back_substitution.bytes()
                + self.form.bytes(),
        }
    }

    fn enqueue(&self, on: On<'_>, of: Self::Inputs<'_>, into: Accum<'_, Reduced<F>>) -> Result<()> {
        check_unscaled("a reduced system", &into)?;
        for (name, pattern, matrix) in [("U", &self.u, of.u), ("W", &self.w, of.w), ("V", &self.v, of.v)] {
            pattern.check(name, &matrix.cbc)?;
        }
        self.check_vector("b_c", of.b_c, &self.u)?;
        self.check_vector("b_p", of.b_p, &self.v)?;
        self.check_reduced(into.c)?;
        let damped = of.damping.of::<F::Element>()?;
        let floors = self.floors(&of)?;
        let [of_u, of_v] = floors.map(|floors| Floored { damped, floors });
        let (On(work), Reduced { z, factors, rhs, system, executed, failed, .. }) = (on, into.c);
        (*executed, *failed) = (false, OnceLock::new());
        self.factor.run(work, &of.v.cbc, &of.b_p.values, of_v, factors)?;
        self.solve.run(work, &of.w.cbc, factors, &mut z.cbc)?;
        self.form.enqueue(on, z, of.u, of_u, system)?;
        self.right_side.run(work, &z.cbc.values, &factors.y, &of.b_c.values, &mut rhs.values)?;
        *executed = true;
        Ok(())
    }
}

impl<F: Form> std::fmt::Debug for Elimination<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Elimination(U: {:?}, W: {:?}, {} products)", self.u, self.w, self.form.products())
    }
}

/// Refuses patterns of U, W, V whose sizes are not those of one matrix on `work`'s device.
fn check_patterns<T: Real>(work: &Work, patterns: [&DevicePattern; 3]) -> Result<()> {
    let device = work.device();
    patterns.into_iter().try_for_each(|pattern| same_device(device, pattern.device()))?;
    device.require(T::TYPE)?;
    if let Some(pattern) = patterns.into_iter().find(|pattern| pattern.row_major) {
        return Err(Error::Argument(format!("{pattern:?} is of a row-major matrix: blocks by columns are wanted")));
    }
    check_sizes(patterns.map(DevicePattern::dimensions))
}

/// Refuses a V that is not block-diagonal. [`check_patterns`] must have passed.
fn check_diagonal(work: &Work, v: &DevicePattern) -> Result<()> {
    if v.nnz() != v.ncols() || !v.arrays.same_as(&PatternArrays::upload(work, &identity(v.ncols()))?)? {
        return Err(Error::Argument(format!("V must have exactly its {} diagonal blocks", v.ncols())));
    }
    Ok(())
}

/// The factors of Z·Zᵀ; Z has the pattern of W.
fn factors_of_square(w: &DevicePattern) -> (FactorPattern, FactorPattern) {
    let z = |transposed| FactorPattern { pattern: w.arrays.clone(), shape: w.array_shape, transposed };
    (z(false), z(true))
}
