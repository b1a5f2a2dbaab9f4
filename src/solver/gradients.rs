//! Conjugate gradients for several right-hand sides at once (M. R. Hestenes, E. Stiefel, *Methods
//! of Conjugate Gradients for Solving Linear Systems*, 1952).
use super::scale::Scales;
use crate::{
    DeviceDense, DeviceMatrix, DevicePattern, Error, Field, Matrix, Planned, Result,
    apply::ApplyDense,
    matrix::{DenseShape, Layout},
};

/// Conjugate gradients for A·X = B, where A is symmetric and positive definite, prepared for a
/// pattern and a number of right-hand sides.
///
/// Each column is solved independently, with its own alpha and beta. All columns share the products
/// of A with their directions, so that a step reads A once. The steps of a column do not depend on
/// the other columns, to the last bit.
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
pub struct ConjugateGradients<M: Matrix> {
    product: ApplyDense<M>,
    shape: DenseShape,
    tolerance: f64,
    steps: u32,
}

/// The result of solving for one column.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SolvedColumn {
    /// Steps taken.
    pub steps: u32,
    /// Norm of the residual divided by the norm of the right-hand side; 0 if the right-hand side is
    /// 0. The residual is the one that the steps update, not one computed from X.
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
}

impl<M: Matrix<Element: Field>> ConjugateGradients<M> {
    /// Prepares for n right-hand sides and for matrices of a square pattern.
    ///
    /// A column ends when its residual is 1e-10 of its right-hand side, or after as many steps as A
    /// has rows. [`ConjugateGradients::limits`] changes both limits.
    ///
    /// # Errors
    /// [`Error::Argument`] for a pattern that is not square or of another kind of matrix,
    /// [`Error::Memory`], [`Error::Unsupported`].
    pub fn new(a: &DevicePattern, n: usize) -> Result<Self> {
        let (rows, cols) = a.scalar_sides();
        if rows != cols {
            return Err(Error::Argument(format!(
                "A is {rows}x{cols} scalars: conjugate gradients take a square matrix"
            )));
        }
        let shape = DenseShape::new(rows, n, Layout::ByRows);
        let steps = rows.try_into().unwrap_or(u32::MAX);
        Ok(Self { product: ApplyDense::new(a, n)?, shape, tolerance: 1e-10, steps })
    }

    /// Sets the residual at which a column is solved, as a share of its right-hand side, and the
    /// maximum number of steps.
    pub fn limits(mut self, tolerance: f64, steps: u32) -> Self {
        (self.tolerance, self.steps) = (tolerance, steps);
        self
    }

    /// Solves A·X = B from X = 0. X is stored by rows. If the curvature of a column's direction is
    /// zero, negative or too large for the type, the column ends there, not converged. Right-hand
    /// sides may have any finite size: if the type cannot hold their squares, they are scaled by a
    /// power of two.
    ///
    /// # Errors
    /// [`Error::PlanPattern`] for a matrix of another pattern, [`Error::Argument`] for a B of other
    /// sides or with an element that is not finite, [`Error::Memory`], [`Error::OpenCl`].
    pub fn solve(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceDense<M::Element>,
    ) -> Result<(DeviceDense<M::Element>, Vec<SolvedColumn>)> {
        let found = b.shape();
        if (found.rows, found.cols) != (self.shape.rows, self.shape.cols) {
            let (DenseShape { rows, cols, .. }, n) = (self.shape, found.cols);
            return Err(Error::Argument(format!("B is {}x{n}, {rows}x{cols} expected", found.rows)));
        }
        let product = |p: &_, ap: &mut DeviceDense<M::Element>| self.product.execute((a, p), ap).map(drop);
        conjugate_gradients(b, self.tolerance, self.steps, product)
    }
}

/// Solves A·X = B by conjugate gradients, as [`ConjugateGradients::solve`] does, for an A that need
/// not be stored. `multiply` gets a P with the shape of B and writes A·P into its second argument.
/// Both matrices are stored by rows. `multiply` may return before A·P is computed. A must be
/// symmetric and positive definite.
///
/// A column is solved when its residual is `tolerance` of its right-hand side. If it is not solved
/// after `steps` steps, it has not converged.
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
    mut multiply: impl FnMut(&DeviceDense<T>, &mut DeviceDense<T>) -> Result<()>,
) -> Result<(DeviceDense<T>, Vec<SolvedColumn>)> {
    let DenseShape { rows, cols: n, .. } = b.shape();
    let room = || b.device().zero_dense::<T>(DenseShape::new(rows, n, Layout::ByRows));
    let (mut x, mut r, mut p, mut ap) = (room()?, room()?, room()?, room()?);
    let ones = vec![1.0; n];
    r.copy_from(b)?;
    let mut rr = r.column_dots(&r)?;
    let scales = Scales::apply(&mut r, &rr)?;
    if scales.is_some() {
        rr = r.column_dots(&r)?;
    }
    p.copy_from(&r)?;
    let norms: Vec<f64> = rr.iter().map(|rr| rr.sqrt()).collect();
    let enough = |col: usize, rr: f64| rr.sqrt() <= tolerance * norms[col];
    let mut solved: Vec<_> = (0..n)
        .map(|col| {
            let converged = enough(col, rr[col]);
            SolvedColumn { steps: 0, residual: if norms[col] > 0.0 { 1.0 } else { 0.0 }, converged }
        })
        .collect();
    let mut works: Vec<bool> = solved.iter().map(|column| !column.converged).collect();
    for step in 1..=steps {
        if !works.contains(&true) {
            break;
        }
        multiply(&p, &mut ap)?;
        let curvature = p.column_dots(&ap)?;
        // Columns that are solved, and columns without a minimum, stay unchanged.
        (0..n).for_each(|col| works[col] &= curvature[col] > 0.0 && curvature[col].is_finite());
        let of = |value: &dyn Fn(usize) -> f64, other: f64| -> Vec<f64> {
            (0..n).map(|col| if works[col] { value(col) } else { other }).collect()
        };
        let alpha = of(&|col| rr[col] / curvature[col], 0.0);
        let minus: Vec<f64> = alpha.iter().map(|alpha| -alpha).collect();
        x.axpby_columns(&alpha, &p, &ones)?;
        r.axpby_columns(&minus, &ap, &ones)?;
        let next = r.column_dots(&r)?;
        let (one, beta) = (of(&|_| 1.0, 0.0), of(&|col| next[col] / rr[col], 1.0));
        p.axpby_columns(&one, &r, &beta)?;
        for col in (0..n).filter(|&col| works[col]) {
            let converged = enough(col, next[col]);
            solved[col] = SolvedColumn { steps: step, residual: next[col].sqrt() / norms[col], converged };
        }
        (0..n).for_each(|col| works[col] &= !solved[col].converged);
        rr = next;
    }
    if let Some(scales) = scales {
        scales.undo(&mut x)?;
    }
    Ok((x, solved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, Csr, device::test_device, generate::Random};
    use nalgebra::DMatrix;

    /// The five-point Laplacian of a grid.
    fn grid(side: usize) -> Result<Csr<f64>> {
        Ok(Csr::from_transpose(laplacian(side)?))
    }

    fn laplacian(side: usize) -> Result<Csc<f64>> {
        let at = |i: usize, j: usize| i * side + j;
        let mut entries = Vec::new();
        for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
            entries.push((at(i, j), at(i, j), 4.0 + 0.01 * (i % 3) as f64));
            if i + 1 < side {
                entries.extend([(at(i, j), at(i + 1, j), -1.0), (at(i + 1, j), at(i, j), -1.0)]);
            }
            if j + 1 < side {
                entries.extend([(at(i, j), at(i, j + 1), -1.0), (at(i, j + 1), at(i, j), -1.0)]);
            }
        }
        Csc::from_triplets(side * side, side * side, entries)
    }

    #[test]
    fn several_systems_at_once_have_the_bits_of_one_after_another() -> Result<()> {
        let device = test_device();
        let (host, mut random) = (grid(20)?, Random::new(3));
        let a = device.upload(&host)?;
        // The columns: zeros, the product of A and a vector of ones, random numbers, an
        // eigenvector.
        let b = DMatrix::from_fn(400, 5, |row, col| match col {
            0 => 0.0,
            1 => 1.0,
            2 => f64::from(u8::from(row == 7)),
            _ => 2.0 * random.unit() - 1.0,
        });
        let (x, solved) = ConjugateGradients::new(&a.pattern(), 5)?.solve(&a, &device.upload_dense(&b)?)?;
        let x = x.download()?;
        let one = ConjugateGradients::new(&a.pattern(), 1)?;
        for (col, of_all) in solved.iter().enumerate() {
            let (alone, of_one) = one.solve(&a, &device.upload_dense(&b.columns(col, 1).into_owned())?)?;
            assert_eq!((alone.download()?, of_one[0]), (x.columns(col, 1).into_owned(), *of_all), "column {col}");
        }
        assert!(solved.iter().all(|column| column.converged && column.residual <= 1e-10), "{solved:?}");
        assert_eq!((solved[0].steps, x.column(0).norm()), (0, 0.0));
        let dense = host.as_cbc().to_dense().transpose();
        assert!((dense * &x - &b).norm() < 1e-8);
        Ok(())
    }

    /// The squares of the norms of these right-hand sides are infinite or 0 in their types.
    #[test]
    fn right_hand_sides_of_any_size_are_solved() -> Result<()> {
        fn solve<T: Field>(sizes: &[f64]) -> Result<()> {
            let host = laplacian(5)?;
            let a = test_device().upload(&host.cast::<T>())?;
            // B = A·(size, 2·size, ...), and another column of ordinary size.
            let ordinary = host.as_cbc().to_dense() * DMatrix::from_fn(25, 1, |row, _| (row + 1) as f64);
            let cg = ConjugateGradients::new(&a.pattern(), 2)?.limits(1e-5, 100);
            for &size in sizes {
                let b =
                    DMatrix::from_fn(25, 2, |row, col| T::from_f64(ordinary[row] * if col == 0 { size } else { 1.0 }));
                let (x, solved) = cg.solve(&a, &test_device().upload_dense(&b)?)?;
                assert!(solved.iter().all(|column| column.converged && column.steps > 3), "{size:e}: {solved:?}");
                for (row, x) in x.download()?.row_iter().enumerate() {
                    let want = (row + 1) as f64;
                    assert!((x[0].to_f64() / size - want).abs() < 1e-2 * want, "{size:e}, row {row}: {}", x[0]);
                    assert!((x[1].to_f64() - want).abs() < 1e-2 * want, "row {row}: {}", x[1]);
                }
            }
            Ok(())
        }
        solve::<f32>(&[2e34, 3e-25, 3e-36])?;
        solve::<f64>(&[1e300, 1e-200, 1e-300])
    }

    #[test]
    fn right_hand_sides_are_finite() -> Result<()> {
        let a = test_device().upload(&grid(2)?)?;
        let cg = ConjugateGradients::new(&a.pattern(), 1)?;
        for value in [f64::INFINITY, f64::NAN] {
            let b = test_device().upload_dense(&DMatrix::from_fn(4, 1, |row, _| if row == 2 { value } else { 1.0 }))?;
            let refused = cg.solve(&a, &b).err().unwrap().to_string();
            assert_eq!(refused, format!("B has {value} at row 2, column 0: a right-hand side is finite"));
        }
        Ok(())
    }

    #[test]
    fn systems_without_a_solution_end() -> Result<()> {
        let device = test_device();
        let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, -1.0)])?)?;
        let b = device.upload_dense(&nalgebra::dmatrix![1.0, 1.0; 0.0, 2.0])?;
        let (x, solved) = ConjugateGradients::new(&a.pattern(), 2)?.solve(&a, &b)?;
        assert_eq!((solved[0].converged, solved[1].converged, solved[1].steps), (true, false, 0));
        assert_eq!(x.download()?, nalgebra::dmatrix![1.0, 0.0; 0.0, 0.0]);
        let few = ConjugateGradients::new(&a.pattern(), 2)?.limits(0.0, 0);
        assert!(!few.solve(&a, &b)?.1[0].converged);
        let wide = device.upload(&Csc::<f64>::from_triplets(2, 3, [])?)?;
        let refused = ConjugateGradients::new(&a.pattern(), 1)?.solve(&a, &b).err().unwrap().to_string();
        assert_eq!(refused, "B is 2x2, 2x1 expected");
        let refused = ConjugateGradients::<Csc<f64>>::new(&wide.pattern(), 1).err().unwrap().to_string();
        assert_eq!(refused, "A is 2x3 scalars: conjugate gradients take a square matrix");
        Ok(())
    }
}
