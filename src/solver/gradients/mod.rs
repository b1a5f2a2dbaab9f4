//! Conjugate gradients for several right-hand sides at once (M. R. Hestenes, E. Stiefel, *Methods
//! of Conjugate Gradients for Solving Linear Systems*, 1952).
//!
//! | file | makes |
//! |---|---|
//! | [`steps`] | the steps on a device |
//! | [`preconditioner`] | block-Jacobi |
//! | [`way`] | steps until every column has ended |
mod preconditioner;
mod steps;
#[cfg(test)]
mod tests;
mod way;

use crate::{
    DeviceDense, DeviceMatrix, DevicePattern, Error, Field, Matrix, Planned, Progress, Result,
    apply::{Apply, ApplyDense, ApplyOptions, DenseOptions},
    device::Work,
    element::Scaling,
    matrix::{DenseShape, HostMatrix, Layout, MatrixType},
    vector::Diagonal,
};
use preconditioner::Inverses;
use steps::StepKernels;
use way::{End, Way};

pub use way::SolvedColumn;

/// Conjugate gradients for A·X = B, where A is symmetric and positive definite, prepared for a
/// pattern and a number of right-hand sides.
///
/// Each column is solved by itself, with numbers alpha and beta of its own. All columns share the
/// products of A with their directions, so that a step reads A once. The steps of a column have the
/// same bits whatever the other columns are.
///
/// Products with a single column use the format that [`Format::Auto`](crate::plan::Format::Auto)
/// chooses, and each solution copies A's values into it. Products with several columns read A in
/// place.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, solver::ConjugateGradients};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// // [4 1; 1 3]
/// let a = Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![4.0, 1.0, 1.0, 3.0])?;
/// let a = device.upload(&a)?;
/// let b = device.upload_dense(&dmatrix![5.0, 4.0; 4.0, 1.0])?;
/// let (x, solved) = ConjugateGradients::new(&a.pattern(), 2)?.solve(&a, &b)?;
/// assert!((x.download()? - dmatrix![1.0, 1.0; 1.0, 0.0]).norm() < 1e-9);
/// assert!(solved.iter().all(|column| column.converged && column.steps <= 2));
/// # Ok(())
/// # }
/// ```
///
/// [`conjugate_gradients`] takes an A that is not stored.
pub struct ConjugateGradients<M: HostMatrix> {
    a: DevicePattern,
    of: MatrixType<M>,
    product: Times<M>,
    shape: DenseShape,
    /// The blocks to invert, if there is a preconditioner.
    diagonal: Option<Diagonal<M>>,
    kernels: StepKernels,
    end: End,
}

/// The product of A with the directions.
enum Times<M: HostMatrix> {
    Vector(Box<Apply<M>>),
    Dense(Box<ApplyDense<M>>),
}

impl<M: Matrix<Element: Field>> ConjugateGradients<M> {
    /// Prepares solutions for n right-hand sides and for matrices on a square pattern.
    ///
    /// Steps for a right-hand side end when the norm of the residual is at most 1e-10 times that of
    /// the right-hand side, or after one step for each scalar row of A.
    /// [`ConjugateGradients::limits`] sets other limits.
    ///
    /// # Errors
    /// [`Error::Argument`] for a pattern that is not square or of another kind of matrix,
    /// [`Error::Memory`], [`Error::Unsupported`].
    pub fn new(a: &DevicePattern, n: usize) -> Result<Self> {
        Self::of_type(a.clone(), MatrixType::OF, n)
    }
}

impl<M: HostMatrix> ConjugateGradients<M> {
    /// Does as [`ConjugateGradients::new`] for the type and pattern of `a`, whose element type may
    /// be known at run time only.
    ///
    /// # Errors
    /// See [`ConjugateGradients::new`]; [`Error::Argument`] for a matrix of integers.
    pub fn of(a: &DeviceMatrix<M>, n: usize) -> Result<Self> {
        if a.element().is_integer() {
            let element = a.element();
            return Err(Error::Argument(format!("A has elements of {element}: conjugate gradients take real numbers")));
        }
        Self::of_type(a.pattern(), a.type_of(), n)
    }

    fn of_type(a: DevicePattern, of: MatrixType<M>, n: usize) -> Result<Self> {
        let (rows, cols) = a.scalar_sides();
        if rows != cols {
            return Err(Error::Argument(format!(
                "A is {rows}x{cols} scalars: conjugate gradients take a square matrix"
            )));
        }
        let product = match n {
            1 => Times::Vector(Box::new(ApplyOptions::new(a.clone(), of).plan_packed()?)),
            _ => Times::Dense(Box::new(DenseOptions::new(a.clone(), of, n).plan()?)),
        };
        let shape = DenseShape::new(rows, n, Layout::ByRows);
        let kernels = StepKernels::new(a.device(), of.element, shape, 0)?;
        let end = End { tolerance: 1e-10, steps: rows.try_into().unwrap_or(u32::MAX), progress: None };
        Ok(Self { shape, a, of, product, diagonal: None, kernels, end })
    }

    /// Sets the residual at which a column is solved, as a share of its right-hand side, and the
    /// maximum number of steps.
    pub fn limits(mut self, tolerance: f64, steps: u32) -> Self {
        (self.end.tolerance, self.end.steps) = (tolerance, steps);
        self
    }

    /// Preconditions by block-Jacobi: the residual is multiplied by the inverses of the blocks on
    /// A's diagonal, which are computed on the host for each solution. A matrix of scalars is
    /// preconditioned by its diagonal.
    ///
    /// # Errors
    /// [`Error::Argument`] if A's blocks are not square, [`Error::Memory`].
    pub fn block_jacobi(mut self) -> Result<Self> {
        self.diagonal = Some(Diagonal::of_type(&self.a, self.of)?);
        self.kernels = StepKernels::new(self.a.device(), self.of.element, self.shape, self.a.shape().rows())?;
        Ok(self)
    }

    /// Reports the number of steps after each step, and their maximum number.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.end.progress = Some(progress);
        self
    }

    /// Solves A·X = B from X = 0. X is stored by rows. If the curvature of a column's direction is
    /// zero, negative or too large for the type, the column's steps end, and it has not converged.
    /// Right-hand sides may have any finite size: if the type cannot hold their squares, they are
    /// scaled by a power of two.
    ///
    /// # Errors
    /// [`Error::PlanPattern`] for a matrix of another pattern, [`Error::Argument`] for a B of other
    /// sides or with an element that is not finite; [`Error::NotPositiveDefinite`] for a block that
    /// [`ConjugateGradients::block_jacobi`] cannot invert; [`Error::Memory`], [`Error::OpenCl`].
    pub fn solve(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceDense<M::Word>,
    ) -> Result<(DeviceDense<M::Word>, Vec<SolvedColumn>)> {
        a.check("A", &self.a, self.of)?;
        b.check_element("B", self.of.element)?;
        let found = b.shape();
        if (found.rows, found.cols) != (self.shape.rows, self.shape.cols) {
            let (DenseShape { rows, cols, .. }, n) = (self.shape, found.cols);
            return Err(Error::Argument(format!("B is {}x{n}, {rows}x{cols} expected", found.rows)));
        }
        let inverses = self.diagonal.as_ref().map(|diagonal| Inverses::new(diagonal, a)).transpose()?;
        let way = Way { kernels: &self.kernels, inverses: inverses.as_ref(), end: &self.end };
        match &self.product {
            Times::Vector(plan) => {
                let (values, scaling) = (plan.pack(a)?, Scaling::plain(self.of.element));
                way.solve(b, |p, ap| {
                    let work = Work::new(p.device(), None);
                    plan.sums().run(&work, values.stored(), p.buffer().values, scaling, ap.buffer_mut().values)
                })
            }
            Times::Dense(plan) => way.solve(b, |p, ap| plan.execute((a, p), ap).map(drop)),
        }
    }
}

/// Solves A·X = B by conjugate gradients, as [`ConjugateGradients::solve`] does, for an A that need
/// not be stored: `multiply` writes A·P into its second argument, for a P with the shape of B. Both
/// are stored by rows. `multiply` may return before A·P is computed. A is symmetric and positive
/// definite.
///
/// A column is solved when its residual is at most `tolerance` times its right-hand side. If that
/// takes more than `steps` steps, it has not converged.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Device, dense::DeviceDense, solver::conjugate_gradients};
/// use nalgebra::dmatrix;
/// let b = Device::auto()?.upload_dense(&dmatrix![4.0, 2.0; 8.0, 6.0])?;
/// // A = 2·I
/// let twice = |p: &_, ap: &mut _| DeviceDense::axpby_columns(ap, &[2.0; 2], p, &[0.0; 2]);
/// let (x, solved) = conjugate_gradients(&b, 1e-10, 5, twice)?;
/// assert_eq!(x.download()?, dmatrix![2.0, 1.0; 4.0, 3.0]);
/// assert!(solved.iter().all(|column| column.converged));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`] for an element of B that is not finite; [`Error::Memory`],
/// [`Error::OpenCl`]; the errors of `multiply`.
pub fn conjugate_gradients<T: Field>(
    b: &DeviceDense<T>,
    tolerance: f64,
    steps: u32,
    multiply: impl FnMut(&DeviceDense<T>, &mut DeviceDense<T>) -> Result<()>,
) -> Result<(DeviceDense<T>, Vec<SolvedColumn>)> {
    let kernels = StepKernels::new(b.device(), T::TYPE, b.shape(), 0)?;
    Way { kernels: &kernels, inverses: None, end: &End { tolerance, steps, progress: None } }.solve(b, multiply)
}
