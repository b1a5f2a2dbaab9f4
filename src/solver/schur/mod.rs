//! The Schur complement of bundle adjustment: points are eliminated, cameras remain (Triggs,
//! McLauchlan, Hartley, Fitzgibbon: *Bundle Adjustment - A Modern Synthesis*, 2000, section 6.1).
//! This module is for solvers that repeat the reduction with the same patterns and new values.
//!
//! An execution factors V' = L·Lᵀ and solves for Z = W·L⁻ᵀ and y = L⁻¹·b_p. Then the execution
//! computes S = U' - Z·Zᵀ in one of two [forms](Form), and finally r = b_c - Z·y. The plan holds
//! everything that depends on patterns, and the output holds every value. So back-substitution and
//! products by S are methods of the plan that read an output.
mod base;
mod cameras;
mod core;
mod equations;
mod factor;
mod form;
mod formed;
mod implicit;
mod lines;
mod numbers;
mod reduced;
mod several;
mod solve;
mod structure;
pub(crate) mod system;

use self::core::{Core, factors_of_square};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Element, Marker, Result,
    device::Buffer,
    planned::{Accum, Cost, On, Planned, prepared::check_unscaled},
    vector::check_vector,
};
use equations::Equations;
pub use equations::{Floors, NormalEquations};
pub use form::Form;
pub use formed::Formed;
pub use implicit::Implicit;
pub(crate) use numbers::SchurNumbers;
pub use reduced::Reduced;
pub use several::Several;
use std::marker::PhantomData;
pub use system::Damping;
use system::block_rows;

/// The reduction of the normal equations of bundle adjustment to the cameras, prepared for fixed
/// patterns.
///
/// ```text
/// | U  W | |x_c|   |b_c|    S·x_c = r,    S = U' - W·V'⁻¹·Wᵀ,  r = b_c - W·V'⁻¹·b_p
/// | Wᵀ V | |x_p| = |b_p|    x_p = V'⁻¹·(b_p - Wᵀ·x_c)
/// ```
///
/// U has cameras by cameras, in blocks of c x c elements. Only its blocks on and below the diagonal
/// are read, so it may be stored whole or as its lower triangle. A block above the diagonal without
/// its mirror image below is refused. V has points by points, in blocks of p x p elements. V must
/// have exactly the diagonal blocks, and only elements on and below their diagonals are read. W has
/// cameras by points, in blocks of c x p elements. The sides c and p are any numbers from 1 to 32.
/// U' and V' are U and V with the damping; the matrices U and V do not change. Elements are `f64`
/// or `f32`.
///
/// On the device each diagonal block of V' is factored as L·Lᵀ. Then Z = W·L⁻ᵀ, y = L⁻¹·b_p,
/// S = U' - Z·Zᵀ and r = b_c - Z·y are computed. No inverse is formed, and the matrix subtracted
/// from U' is exactly symmetric. There are two forms of S:
///
/// * [`Elimination::formed`] computes S as a matrix with the blocks on and below its diagonal:
///   the blocks of U and of W·Wᵀ, and every diagonal block. Diagonal blocks are complete.
/// * [`Elimination::implicit`] computes products by S without forming it, for an S with too many
///   blocks. See [`Implicit`].
///
/// The results have the same bits as [`reference::schur`](crate::reference::schur), which documents
/// the order of every sum. An execution reads [`NormalEquations`] and overwrites a [`Reduced`]; it
/// cannot add to the old contents. One plan may be executed with any number of [`NormalEquations`]
/// and [`Reduced`], also from several threads at once.
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
    core: Core,
    form: PhantomData<fn() -> F>,
}

impl<F: Form> Elimination<F> {
    /// Requests the kernels of a plan with `cameras` cameras and a W of `entries` blocks of this
    /// shape, so that the kernels of several plans are compiled together.
    #[cfg(feature = "faer")] // only the solvers of least-squares problems call it
    pub(crate) fn ask(device: &Device, shape: crate::BlockShape, cameras: usize, entries: usize) -> Result<()> {
        Core::ask(F::FORMED, F::Element::TYPE, device, shape, cameras, entries)
    }

    fn new(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        Ok(Self { core: Core::new(F::FORMED, F::Element::TYPE, [u, w, v])?, form: PhantomData })
    }

    /// Computes x_p = V'⁻¹·(b_p - Wᵀ·x_c), with W, V' and b_p of the last execution that wrote
    /// `reduced`. `x_c` is a solution of S·x_c = r, or an approximation of it.
    ///
    /// Returns when the substitution is enqueued. Substitutions after the first allocate nothing.
    /// The first use of `reduced` after an execution checks it like [`Reduced::check`].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) for the output of a plan for other
    /// patterns; the errors of [`Reduced::check`].
    pub fn back_substitute(
        &self,
        reduced: &Reduced<F>,
        x_c: &DeviceVector<F::Element>,
        x_p: &mut DeviceVector<F::Element>,
    ) -> Result<Marker> {
        self.check_vector("x_c", x_c, &self.core.u)?;
        self.check_vector("x_p", x_p, &self.core.v)?;
        self.core.back_substitute(&reduced.core, &x_c.values, &mut x_p.values)
    }

    /// Refuses a vector whose length is not the number of rows of U (cameras) or V (points).
    fn check_vector(&self, array: &'static str, vector: &DeviceVector<F::Element>, of: &DevicePattern) -> Result<()> {
        check_vector(array, vector, &self.core.device, of.scalar_sides().0, || block_rows(of.dimensions()))
    }

    /// The floors of the diagonals of U and of V, if there are any.
    fn floors<'a>(&self, of: &NormalEquations<'a, F::Element>) -> Result<[Option<&'a Buffer>; 2]> {
        let Some(Floors { cameras, points }) = of.floors else { return Ok([None; 2]) };
        let (device, sides) = (&self.core.device, self.core.w.shape());
        let why = || "a floor for each coordinate of a block".into();
        check_vector("floors of cameras", cameras, device, sides.rows(), why)?;
        check_vector("floors of points", points, device, sides.cols(), why)?;
        Ok([cameras, points].map(|floors| Some(floors.values.any())))
    }
}

impl<F: Form> Planned for Elimination<F> {
    type Inputs<'a> = NormalEquations<'a, F::Element>;
    type Output = Reduced<F>;

    fn device(&self) -> &Device {
        &self.core.device
    }

    fn output(&self) -> Result<Reduced<F>> {
        let core = self.core.output()?;
        let rhs = self.core.device.zero_vector(self.core.u.scalar_sides().0)?;
        Ok(Reduced { core, rhs, matrix: DeviceMatrix::zeros(self.core.form.pattern())? })
    }

    /// The products that are counted multiply a block of Z with a block of Zᵀ. A formed S takes
    /// such a product for each point and each pair of cameras that see the point, including each
    /// camera with itself. An implicit S takes such a product only for each point and each camera
    /// that sees the point. The operations of damping, roots and divisions, of back-substitution,
    /// and of products by S are not counted.
    fn cost(&self) -> Cost {
        self.core.cost()
    }

    fn enqueue(&self, On(work): On<'_>, of: Self::Inputs<'_>, into: Accum<'_, Reduced<F>>) -> Result<()> {
        check_unscaled("a reduced system", &into)?;
        let (u, w, v) = (&of.u.cbc, &of.w.cbc, &of.v.cbc);
        self.core.check_matrices([u, w, v])?;
        self.check_vector("b_c", of.b_c, &self.core.u)?;
        self.check_vector("b_p", of.b_p, &self.core.v)?;
        let Reduced { core: reduced, rhs, matrix } = into.c;
        self.core.check_reduced(reduced)?;
        let damped = of.damping.of(F::Element::TYPE)?;
        let floors = self.floors(&of)?;
        let equations = Equations { u, w, v, b_c: &of.b_c.values, b_p: &of.b_p.values, damped, floors };
        self.core.run(work, equations, reduced, &mut rhs.values, &mut matrix.cbc)
    }
}

impl<F: Form> std::fmt::Debug for Elimination<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Elimination(U: {:?}, W: {:?}, {} products)", self.core.u, self.core.w, self.core.form.products())
    }
}
