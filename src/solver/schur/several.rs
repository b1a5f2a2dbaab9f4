//! Operations with several right-hand sides at once: products by S, reduced right-hand sides and
//! back-substitution. Each column of a dense matrix is a right-hand side.
mod core;

use self::core::SeveralCore;
use super::{Elimination, Form, Implicit, Reduced};
use crate::{
    DeviceDense, DevicePattern, Error, Marker, Real, Result, matrix::DenseShape, planned::prepared::same_device,
};
use std::marker::PhantomData;

/// The preparation of an [`Elimination`] for several right-hand sides at once, made by
/// [`Elimination::several`].
pub struct Several<T: Real> {
    core: SeveralCore,
    element: PhantomData<fn() -> T>,
}

impl<F: Form> Elimination<F> {
    /// Prepares for `n` right-hand sides at once.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::OpenCl`].
    pub fn several(&self, n: usize) -> Result<Several<F::Element>> {
        Ok(Several { core: SeveralCore::new(&self.core, n)?, element: PhantomData })
    }

    /// Computes R = B_c - W·V'⁻¹·B_p for several right-hand sides, with the matrices of the last
    /// execution that wrote `reduced`. Each column has the same bits as r of an execution with this
    /// column of B_c and B_p. Returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Argument`] for dense matrices of other sides, or if `several` belongs to another
    /// elimination; the errors of [`Elimination::back_substitute`].
    pub fn reduce_several(
        &self,
        Several { core: several, .. }: &Several<F::Element>,
        Reduced { core: reduced, .. }: &Reduced<F>,
        (b_c, b_p): (&DeviceDense<F::Element>, &DeviceDense<F::Element>),
        r: &mut DeviceDense<F::Element>,
    ) -> Result<Marker> {
        several.check(&self.core, reduced)?;
        self.check_dense("B_c", b_c, &self.core.u, several.n)?;
        self.check_dense("B_p", b_p, &self.core.v, several.n)?;
        self.check_dense("R", r, &self.core.u, several.n)?;
        r.copy_from(b_c)?;
        several.reduce(reduced, b_p.buffer(), r.buffer_mut())
    }

    /// Computes X_p = V'⁻¹·(B_p - Wᵀ·X_c) for several solutions X_c. Each column has the same bits
    /// as [`Elimination::back_substitute`] after an execution with this column of B_p. Returns when
    /// the work is enqueued.
    ///
    /// # Errors
    /// The errors of [`Elimination::reduce_several`].
    pub fn back_substitute_several(
        &self,
        Several { core: several, .. }: &Several<F::Element>,
        Reduced { core: reduced, .. }: &Reduced<F>,
        (b_p, x_c): (&DeviceDense<F::Element>, &DeviceDense<F::Element>),
        x_p: &mut DeviceDense<F::Element>,
    ) -> Result<Marker> {
        several.check(&self.core, reduced)?;
        self.check_dense("B_p", b_p, &self.core.v, several.n)?;
        self.check_dense("X_c", x_c, &self.core.u, several.n)?;
        self.check_dense("X_p", x_p, &self.core.v, several.n)?;
        several.back_substitute(reduced, b_p.buffer(), x_c.buffer(), x_p.buffer_mut())
    }

    fn check_dense(&self, name: &str, dense: &DeviceDense<F::Element>, of: &DevicePattern, n: usize) -> Result<()> {
        same_device(&self.core.device, dense.device())?;
        check_sides(name, dense.shape(), [of.scalar_sides().0, n])
    }
}

impl<T: Real> Elimination<Implicit<T>> {
    /// Computes Y = S·X for several vectors, with the S of the last execution that wrote `reduced`.
    /// Each column has the same bits as [`Elimination::multiply`]. Returns when the work is
    /// enqueued.
    ///
    /// # Errors
    /// The errors of [`Elimination::reduce_several`].
    pub fn multiply_several(
        &self,
        Several { core: several, .. }: &Several<T>,
        Reduced { core: reduced, .. }: &Reduced<Implicit<T>>,
        x: &DeviceDense<T>,
        y: &mut DeviceDense<T>,
    ) -> Result<Marker> {
        several.check(&self.core, reduced)?;
        self.check_dense("X", x, &self.core.u, several.n)?;
        self.check_dense("Y", y, &self.core.u, several.n)?;
        several.multiply(reduced, x.buffer(), y.buffer_mut())
    }
}

/// Refuses a dense matrix that does not have `expected` rows and `n` columns.
fn check_sides(name: &str, DenseShape { rows, cols, .. }: DenseShape, [expected, n]: [usize; 2]) -> Result<()> {
    match (rows, cols) == (expected, n) {
        true => Ok(()),
        false => Err(Error::Argument(format!("{name} is {rows}x{cols}, {expected}x{n} expected"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Cbc, Planned,
        device::test_device,
        generate::{Random, Visibility},
        matrix::Layout,
        solver::{Damping, Formed, NormalEquations, conjugate_gradients},
    };
    use nalgebra::DMatrix;

    fn dense(rows: usize, cols: usize, seed: u64) -> DMatrix<f64> {
        let mut random = Random::new(seed);
        DMatrix::from_fn(rows, cols, |_, _| 2.0 * random.unit() - 1.0)
    }

    /// Positive definite blocks on the diagonal.
    fn diagonal(n: usize, side: usize, seed: u64) -> Result<Cbc<f64>> {
        let block = |i: usize| {
            let half = dense(side, side, seed + i as u64);
            &half * half.transpose() + DMatrix::identity(side, side) * 40.0
        };
        Cbc::from_triplets(n, n, BlockShape::new(side, side)?, (0..n).map(|i| (i, i, block(i))))
    }

    #[test]
    fn columns_have_the_bits_of_one_after_another() -> Result<()> {
        let device = test_device();
        let (cameras, points, n) = (7, 40, 3);
        let w = device.upload(&Visibility { cameras, points, views: 3, ..Default::default() }.matrix()?)?;
        // U has a block below the diagonal in addition to its diagonal blocks.
        let mut blocks: Vec<_> =
            diagonal(cameras, 6, 5)?.blocks().map(|(i, j, block)| (i, j, DMatrix::from(block))).collect();
        blocks.push((4, 2, dense(6, 6, 8)));
        let u = device.upload(&Cbc::from_triplets(cameras, cameras, BlockShape::new(6, 6)?, blocks)?)?;
        let v = device.upload(&diagonal(points, 3, 100)?)?;
        let (b_c, b_p) = (dense(6 * cameras, n, 1), dense(3 * points, n, 2));
        let x_c = dense(6 * cameras, n, 3);
        let (u_pattern, w_pattern, v_pattern) = (u.pattern(), w.pattern(), v.pattern());
        let plan = Elimination::implicit(&u_pattern, &w_pattern, &v_pattern)?;
        let several = plan.several(n)?;
        let mut reduced = plan.output()?;
        let column = |of: &DMatrix<f64>, col: usize| device.upload_vector(of.column(col).as_slice());
        let execute = |reduced: &mut Reduced<Implicit<f64>>, col: usize| -> Result<()> {
            let (b_c, b_p) = (column(&b_c, col)?, column(&b_p, col)?);
            let damping = Damping::None;
            plan.execute(NormalEquations { u: &u, w: &w, v: &v, b_c: &b_c, b_p: &b_p, damping, floors: None }, reduced)
                .map(drop)
        };
        execute(&mut reduced, 0)?;
        let upload = |of: &DMatrix<f64>| device.upload_dense(of);
        let zeros = |rows, layout| device.zero_dense::<f64>(DenseShape::new(rows, n, layout));
        let (mut r, mut y) = (zeros(6 * cameras, Layout::ByColumns)?, zeros(6 * cameras, Layout::ByRows)?);
        let mut x_p = zeros(3 * points, Layout::ByRows)?;
        plan.reduce_several(&several, &reduced, (&upload(&b_c)?, &upload(&b_p)?), &mut r)?;
        plan.multiply_several(&several, &reduced, &upload(&x_c)?, &mut y)?;
        plan.back_substitute_several(&several, &reduced, (&upload(&b_p)?, &upload(&x_c)?), &mut x_p)?;
        let mut x_by_columns = zeros(3 * points, Layout::ByColumns)?;
        plan.back_substitute_several(&several, &reduced, (&upload(&b_p)?, &upload(&x_c)?), &mut x_by_columns)?;
        let (r, y, x_p) = (r.download()?, y.download()?, x_p.download()?);
        assert_eq!(x_by_columns.download()?, x_p);
        for col in 0..n {
            execute(&mut reduced, col)?;
            assert_eq!(reduced.rhs()?.download()?, r.column(col).as_slice(), "R, column {col}");
            let (x, mut of_one) = (column(&x_c, col)?, device.zero_vector(6 * cameras)?);
            plan.multiply(&reduced, &x, &mut of_one)?;
            assert_eq!(of_one.download()?, y.column(col).as_slice(), "S·X, column {col}");
            let mut of_points = device.zero_vector(3 * points)?;
            plan.back_substitute(&reduced, &x, &mut of_points)?;
            assert_eq!(of_points.download()?, x_p.column(col).as_slice(), "X_p, column {col}");
        }
        // Solves S·X = B_c with an S that is never formed.
        let product = |p: &_, ap: &mut _| plan.multiply_several(&several, &reduced, p, ap).map(drop);
        let (x, solved) = conjugate_gradients(&upload(&b_c)?, 1e-12, 100, product)?;
        assert!(solved.iter().all(|column| column.converged), "{solved:?}");
        let mut again = zeros(6 * cameras, Layout::ByRows)?;
        plan.multiply_several(&several, &reduced, &x, &mut again)?;
        assert!((again.download()? - &b_c).norm() < 1e-9);
        let formed: Elimination<Formed<f64>> = Elimination::formed(&u_pattern, &w_pattern, &v_pattern)?;
        assert!(formed.several(2)?.core.cameras.is_none());
        let refused = plan.multiply_several(&several, &reduced, &zeros(5, Layout::ByRows)?, &mut upload(&x_c)?);
        assert_eq!(refused.err().unwrap().to_string(), "X is 5x3, 42x3 expected");
        Ok(())
    }
}
