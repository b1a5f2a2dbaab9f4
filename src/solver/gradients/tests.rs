//! Tests of conjugate gradients.
use super::*;
use crate::{
    BlockShape, Csc, Csr, Element, Semiring,
    device::test_device,
    element::{Order, Real},
    generate::Random,
    matrix::{AnyDense, AnyMatrix},
    reference,
};
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
    // Columns of different difficulty: zeros, ones, a unit vector, and random numbers.
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

/// The squares of these norms are infinite or 0 in their types.
#[test]
fn right_hand_sides_of_any_size_are_solved() -> Result<()> {
    fn solve<T: Field>(sizes: &[f64]) -> Result<()> {
        let host = laplacian(5)?;
        let a = test_device().upload(&host.cast::<T>())?;
        // B = A·(size, 2·size, ...), and a second column of ordinary size.
        let ordinary = host.as_cbc().to_dense() * DMatrix::from_fn(25, 1, |row, _| (row + 1) as f64);
        let cg = ConjugateGradients::new(&a.pattern(), 2)?.limits(1e-5, 100);
        for &size in sizes {
            let b = DMatrix::from_fn(25, 2, |row, col| T::from_f64(ordinary[row] * if col == 0 { size } else { 1.0 }));
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

fn number<T: Element>(value: f64) -> T {
    T::from_f64(value)
}

/// Solves a column on the host, in the order of the kernels. Returns x, the number of steps, and
/// whether the column converged.
fn model<T: Real>(a: &AnyMatrix, inverses: &[T], b: &[T], tolerance: f64, steps: u32) -> Result<(Vec<T>, u32, bool)> {
    let dot = |x: &[T], y: &[T]| reference::dot(x, y).map(number::<T>);
    let side = inverses.len() / b.len();
    let preconditioned = |r: &[T]| -> Vec<T> {
        let row = |(row, terms): (usize, &[T])| {
            let first = row / side * side;
            terms.iter().zip(&r[first..]).map(|(&term, &r)| term * r).reduce(|sum, term| sum + term).unwrap()
        };
        if side == 0 { r.to_vec() } else { inverses.chunks(side).enumerate().map(row).collect() }
    };
    let sum = |alpha: T, x: &[T], y: &[T]| x.iter().zip(y).map(|(&x, &y)| alpha * x + y).collect::<Vec<T>>();
    let (mut x, mut r, mut p) = (vec![number::<T>(0.0); b.len()], b.to_vec(), preconditioned(b));
    let (mut rz, enough) = (dot(&r, &p)?, reference::dot(b, b)? * tolerance.powi(2));
    for step in 1..=steps {
        let ap = reference::multiply_any_vector(Semiring::PlusTimes, Order::Ascending, a, &T::any(p.clone()))?;
        let ap = ap.get::<T>().unwrap();
        let alpha = rz / dot(&p, ap)?;
        (x, r) = (sum(alpha, &p, &x), sum(-alpha, ap, &r));
        let z = preconditioned(&r);
        let next = dot(&r, &z)?;
        p = sum(next / rz, &p, &z);
        rz = next;
        if reference::dot(&r, &r)? <= enough {
            return Ok((x, step, true));
        }
    }
    Ok((x, steps, false))
}

/// Solves columns at once and alone, and compares them with the model. The preconditioner has
/// blocks of `side` rows; there is none if `side` is 0.
fn has_the_bits_of_the_model<T: Real>(n: usize, side: usize, cols: usize, tolerance: f64, steps: u32) -> Result<()> {
    let device = test_device();
    // Neighbours are coupled within blocks and across them.
    let coupled = (0..n - 1).flat_map(|i| [(i, i + 1), (i + 1, i)].map(|(row, col)| (row, col, -0.4)));
    let diagonal = (0..n).map(|i| (i, i, 1.0 + 3.0 * (i % 7) as f64));
    let host = Csc::from_triplets(n, n, diagonal.chain(coupled))?.cast::<T>();
    let shape = BlockShape::new(side.max(1), side.max(1))?;
    let blocks = device.upload(&host.to_blocks(shape)?)?;
    let mut random = Random::new(5);
    let b = DMatrix::from_fn(n, cols, |_, _| number::<T>(2.0 * random.unit() - 1.0));
    let solve = |b: &DMatrix<T>| {
        let plan = ConjugateGradients::of(&blocks, b.ncols())?.limits(tolerance, steps);
        let plan = if side == 0 { plan } else { plan.block_jacobi()? };
        let (x, solved) = plan.solve(&blocks, &device.upload_dense(b)?)?;
        Ok::<_, crate::Error>((x.download()?, solved))
    };
    let mut inverses = vec![number::<T>(0.0); n * side];
    for (at, to) in inverses.chunks_mut((side * side).max(1)).enumerate() {
        let element = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 1.0 + 3.0 * ((at * side + i) % 7) as f64,
            1 => Element::to_f64(number::<T>(-0.4)),
            _ => 0.0,
        };
        let inverse = DMatrix::from_fn(side, side, element).cholesky().unwrap().inverse();
        // A number is inverted by one division.
        let inverse = if side == 1 { DMatrix::from_element(1, 1, 1.0 / element(0, 0)) } else { inverse };
        to.iter_mut().zip(&inverse).for_each(|(to, &value)| *to = number(value));
    }
    let (x, solved) = solve(&b)?;
    let host = AnyMatrix::from(host);
    for (col, &end) in solved.iter().enumerate() {
        let b = b.columns(col, 1).into_owned();
        let want = model(&host, &inverses, b.as_slice(), tolerance, steps)?;
        let (alone, of_one) = solve(&b)?;
        for (x, end) in [(x.columns(col, 1).into_owned(), end), (alone, of_one[0])] {
            let what = format!("{n} of {}, blocks of {side}, column {col} of {cols}", T::NAME);
            assert_eq!((end.steps, end.converged), (want.1, want.2), "{what}");
            assert!(x.iter().zip(&want.0).all(|(x, want)| x == want), "{what}");
        }
    }
    Ok(())
}

/// The sizes are two blocks; less than a piece of 1024 rows; two pieces and a half, of blocks that
/// pieces cut; more pieces than one share has on a CPU; and so many pieces that their sums are
/// added up twice.
#[test]
fn every_preconditioner_has_the_bits_of_the_model() -> Result<()> {
    for (n, side, cols) in [(6, 3, 2), (700, 1, 5), (700, 10, 1), (2598, 0, 2), (2598, 3, 1)] {
        has_the_bits_of_the_model::<f64>(n, side, cols, 1e-9, 60)?;
    }
    for (n, side, cols) in [(2598, 1, 2), (2598, 3, 1)] {
        has_the_bits_of_the_model::<f32>(n, side, cols, 1e-4, 60)?;
    }
    for (n, side, cols) in [(18_000, 3, 1), (18_000, 3, 2), (18_000, 0, 1)] {
        has_the_bits_of_the_model::<f64>(n, side, cols, 1e-9, 3)?;
    }
    has_the_bits_of_the_model::<f64>(1024 * 1024 + 1, 1, 1, 1e-9, 2)
}

/// The scaled solution is finite, but the solution is not.
#[test]
fn a_solution_too_large_for_the_type_has_not_converged() -> Result<()> {
    let device = test_device();
    let a = device.upload(&Csr::from_triplets(2, 2, [(0, 0, 1e-20), (1, 1, 1.0)])?)?;
    let b = device.upload_dense(&DMatrix::from_row_slice(2, 2, &[1e300, 1.0, 0.0, 1.0]))?;
    let (x, solved) = ConjugateGradients::new(&a.pattern(), 2)?.block_jacobi()?.solve(&a, &b)?;
    let x: DMatrix<f64> = x.download()?;
    assert!(x[(0, 0)].is_infinite() && x[(1, 1)] == 1.0, "{x}");
    assert_eq!(solved.iter().map(|column| column.converged).collect::<Vec<_>>(), [false, true]);
    Ok(())
}

#[test]
fn matrices_that_are_not_positive_definite_end() -> Result<()> {
    let device = test_device();
    let upload = |entries: &[(usize, usize, f64)]| device.upload(&Csc::from_triplets(4, 4, entries.iter().copied())?);
    let b = device.upload_dense(&nalgebra::dmatrix![1.0; 1.0; 1.0; 1.0])?;
    // The blocks [1 2; 2 1] and [1 0; 0 1] have a positive diagonal.
    let a = upload(&[(0, 0, 1.0), (1, 0, -2.0), (0, 1, -2.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0)])?;
    let (_, solved) = ConjugateGradients::new(&a.pattern(), 1)?.block_jacobi()?.solve(&a, &b)?;
    assert_eq!((solved[0].converged, solved[0].steps, solved[0].curvature), (false, 0, Some(0.0)));
    let blocks = device.upload(&a.download()?.to_blocks(BlockShape::new(2, 2)?)?)?;
    let cg = ConjugateGradients::new(&blocks.pattern(), 1)?.block_jacobi()?;
    let refused = cg.solve(&blocks, &b).err().unwrap();
    assert_eq!(refused.to_string(), "diagonal block 0 of A is not positive definite");
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let a = upload(&[(0, 0, 1.0), (1, 1, 1.0), (2, 2, value), (3, 3, 1.0)])?;
        let refused = ConjugateGradients::new(&a.pattern(), 1)?.block_jacobi()?.solve(&a, &b).err().unwrap();
        assert_eq!(refused.to_string(), "diagonal block 2 of A is not positive definite", "{value}");
    }
    let flat = device.upload(&Csc::<f64>::from_triplets(4, 4, [])?.to_blocks(BlockShape::new(1, 2)?)?)?;
    assert!(ConjugateGradients::of(&flat, 1)?.block_jacobi().is_err());
    Ok(())
}

#[test]
fn matrices_of_values_have_their_checks() -> Result<()> {
    let device = test_device();
    let entries = Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 1, 4.0)])?;
    let a = device.upload(&AnyMatrix::from(entries.clone()))?;
    let cg = ConjugateGradients::of(&a, 1)?;
    let b = device.upload_any_dense(&AnyDense::from(nalgebra::dmatrix![2.0f32; 2.0]))?;
    assert_eq!(
        cg.solve(&a, &b)?.0.download()?,
        AnyDense::from(nalgebra::dmatrix![1.0f32; 0.5]).to_layout(Layout::ByRows)?
    );
    let b = device.upload_any_dense(&AnyDense::from(nalgebra::dmatrix![2.0; 2.0]))?;
    assert!(cg.solve(&a, &b).is_err(), "B of f64");
    let a = device.upload(&AnyMatrix::from(entries.cast::<i32>()))?;
    let refused = ConjugateGradients::of(&a, 1).err().unwrap().to_string();
    assert_eq!(refused, "A has elements of i32: conjugate gradients take real numbers");
    Ok(())
}
