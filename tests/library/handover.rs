//! Symmetric block matrices are converted to scalars for sparse factorizations, on the host and on
//! the device. The map that converts a matrix also copies new values.

use crate::common::{Family, blocks, device, part};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Device, Element, Error, Matrix, Part, Planned, Product,
    generate::{self, Values},
    plan::{ScalarMap, Scalars},
};
use half::f16;

/// The scalars of a matrix of blocks; if `lower`, only those on and below the diagonal.
fn serial<T: Element>(h: &Cbc<T>, lower: bool) -> Csc<T> {
    let scalars = h.to_scalars();
    let mut kept = Vec::new();
    for col in 0..scalars.ncols() {
        for entry in scalars.pattern().entries(col) {
            let row = scalars.pattern().row_idx()[entry] as usize;
            if !lower || row >= col {
                kept.push((row, col, scalars.values()[entry]));
            }
        }
    }
    Csc::from_triplets(scalars.nrows(), scalars.ncols(), kept).unwrap()
}

fn on_host<M: Matrix>(map: &ScalarMap, h: &M) -> Csc<M::Element> {
    let mut values = vec![<M::Element as Element>::from_f64(f64::NAN); map.nnz()];
    map.copy_values(h, &mut values).unwrap();
    Csc::new(map.pattern().clone(), values).unwrap()
}

fn on_device<M: Matrix>(plan: &Scalars<M>, h: &M) -> Csc<M::Element> {
    let (dh, mut there) = (device().upload(h).unwrap(), plan.output().unwrap());
    let nan = vec![<M::Element as Element>::from_f64(f64::NAN); plan.map().nnz()];
    there.write(&nan).unwrap();
    plan.execute(&dh, &mut there).unwrap();
    Csc::new(plan.map().pattern().clone(), there.download().unwrap()).unwrap()
}

/// Checks that the host and the device convert `h` to `want`, however `h` is stored.
fn check<M: Matrix>(h: &M, want: &[Csc<M::Element>; 2], what: &str) {
    let pattern = device().upload(h).unwrap().pattern();
    let plans = [Scalars::<M>::lower(&pattern).unwrap(), Scalars::full(&pattern).unwrap()];
    let maps = [ScalarMap::lower(h).unwrap(), ScalarMap::full(h).unwrap()];
    for ((plan, map), want) in plans.iter().zip(&maps).zip(want) {
        assert!(on_host(map, h) == *want, "{what}, on the host");
        assert!(on_device(plan, h) == *want, "{what}, on the device");
    }
}

/// The graphs, each with its numbers of poses, of closures and of unknowns in a pose: scalars;
/// poses in the plane; poses in space; a single pose; blocks with more elements than a work-group
/// has items; no closures.
const GRAPHS: [(usize, usize, usize); 6] = [(40, 30, 1), (40, 30, 3), (30, 20, 6), (1, 0, 6), (5, 3, 17), (20, 0, 2)];

fn every_storage<T: Element>(graphs: &[(usize, usize, usize)]) {
    for &(poses, closures, freedom) in graphs {
        let h: Cbc<T> =
            generate::PoseChain { poses, closures, freedom, seed: 3, ..Default::default() }.matrix().unwrap().cast();
        let want = [serial(&h, true), serial(&h, false)];
        for stored in [Part::Full, Part::Lower, Part::Upper] {
            let what = format!("{stored:?}, {poses} poses of {freedom}, {}", T::NAME);
            let h = part(&h, stored);
            check(&h, &want, &what);
            check(&h.with_alignment(64).unwrap(), &want, &format!("{what}, aligned"));
            check(&Bsr::from_transpose(h.transpose()), &want, &format!("{what}, by rows"));
        }
    }
}

#[test]
fn every_storage_and_type_gives_the_same_scalars() {
    every_storage::<f64>(&GRAPHS);
    every_storage::<f32>(&GRAPHS[..3]);
    every_storage::<f16>(&GRAPHS[..3]);
}

#[test]
fn of_a_whole_matrix_the_lower_triangle_is_read() {
    // The values of this matrix are not symmetric.
    let h = generate::PoseChain { poses: 10, closures: 8, freedom: 3, seed: 3, ..Default::default() }.matrix().unwrap();
    let values = (0..h.values().len()).map(|i| i as f64).collect();
    let h = Cbc::new(h.pattern().clone(), h.shape(), values).unwrap();
    let (lower, dense) = (serial(&h, true), h.to_dense());
    check_lower(&h, &lower);
    check_lower(&Bsr::from_transpose(h.transpose()), &lower);
    let full = on_host(&ScalarMap::full(&h).unwrap(), &h).to_dense();
    assert!((0..30).all(|i| (0..=i).all(|j| full[(i, j)] == dense[(i, j)] && full[(j, i)] == dense[(i, j)])));
    assert!(on_device(&Scalars::full(&device().upload(&h).unwrap().pattern()).unwrap(), &h).to_dense() == full);
}

fn check_lower<M: Matrix>(h: &M, want: &Csc<M::Element>) {
    assert!(on_host(&ScalarMap::lower(h).unwrap(), h) == *want);
    assert!(on_device(&Scalars::lower(&device().upload(h).unwrap().pattern()).unwrap(), h) == *want);
}

#[test]
fn diagonal_blocks_may_be_missing_and_columns_empty() {
    let all =
        generate::PoseChain { poses: 9, closures: 10, freedom: 2, values: Values::Integer, seed: 3 }.matrix().unwrap();
    let kept = all.blocks().filter(|&(i, j, _)| (i != j || i % 3 == 1) && i != 5 && j != 5);
    let kept = kept.map(|(i, j, block)| (i, j, block.into_owned()));
    let h = Cbc::from_triplets(9, 9, all.shape(), kept).unwrap();
    assert!(h.pattern().column(5).is_empty() && !h.pattern().column(0).contains(&0));
    check(&h, &[serial(&h, true), serial(&h, false)], "holes");
    for n in [0, 3] {
        let empty = Csc::<f32>::from_triplets(n, n, []).unwrap();
        check(&empty, &[empty.clone(), empty.clone()], "empty");
    }
}

#[test]
fn what_is_not_symmetric_is_refused() {
    let told = |h: &Cbc<f64>| ScalarMap::lower(h).unwrap_err().to_string();
    let shape = |r, c| BlockShape::new(r, c).unwrap();
    assert_eq!(
        told(&blocks(Family::Banded, 4, 4, 1, shape(2, 3), 1)),
        "4x4 blocks of 2x3 are not square, so not symmetric"
    );
    assert!(told(&blocks(Family::Banded, 4, 5, 1, shape(2, 2), 1)).contains("4x5 blocks of 2x2 are not square"));
    let one_sided = Csc::from_triplets(3, 3, [(1, 0, 1.0), (0, 2, 1.0)]).unwrap();
    let told = ScalarMap::full(&one_sided).unwrap_err().to_string();
    assert!(told.contains("1 entries are below the diagonal, 1 above it"), "{told}");
    assert!(Scalars::<Csc<f64>>::full(&device().upload(&one_sided).unwrap().pattern()).is_err());
}

#[test]
fn another_pattern_and_another_length_are_refused() {
    let of = |seed| {
        generate::PoseChain { poses: 20, closures: 10, freedom: 3, seed, ..Default::default() }.matrix().unwrap()
    };
    let (h, other) = (of(1), of(2));
    assert_eq!(h.nnz(), other.nnz(), "the sizes are the same");
    let map = ScalarMap::lower(&h).unwrap();
    let mut values = vec![0.0; map.nnz()];
    let message = map.copy_values(&other, &mut values).unwrap_err().to_string();
    assert!(message.starts_with("H does not have the pattern of the map"), "{message}");
    assert!(map.copy_values(&Bsr::from_transpose(h.clone()), &mut values).is_err());
    assert!(matches!(map.copy_values(&h, &mut values[1..]), Err(Error::Length { .. })));

    let dh = device().upload(&h).unwrap();
    let plan = Scalars::<Cbc<f64>>::lower(&dh.pattern()).unwrap();
    let mut there = plan.output().unwrap();
    let message = plan.execute(&device().upload(&other).unwrap(), &mut there).unwrap_err().to_string();
    assert!(message.starts_with("H does not have the pattern of the plan"), "{message}");
    let mut short = device().zero_vector(3).unwrap();
    assert!(matches!(plan.execute(&dh, &mut short), Err(Error::Length { found: 3, .. })));
    let elsewhere = Device::open(device().info()).unwrap();
    let mut there = elsewhere.zero_vector(map.nnz()).unwrap();
    assert!(matches!(plan.execute(&dh, &mut there), Err(Error::DeviceMismatch { .. })));
    assert!(Scalars::<Bsr<f64>>::lower(&dh.pattern()).is_err(), "another type of matrix");
}

#[test]
fn an_execution_takes_no_memory_and_is_read_by_one_read() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let j = generate::Uniform {
        rows: 200,
        cols: 40,
        per_column: 6,
        shape: BlockShape::new(3, 6).unwrap(),
        values: Values::Integer,
        ..Default::default()
    }
    .matrix()
    .unwrap();
    let dj = device.upload(&j).unwrap();
    let gram = Product::gram(&dj).part(Part::Lower).plan().unwrap();
    let mut h = gram.output().unwrap();
    let plan = Scalars::<Cbc<f64>>::lower(gram.pattern()).unwrap();
    let (mut there, mut values) = (plan.output().unwrap(), vec![0.0; plan.map().nnz()]);
    let before = device.counters();
    for _ in 0..10 {
        gram.execute(&dj, &mut h).unwrap();
        plan.execute(&h, &mut there).unwrap();
    }
    there.download_into(&mut values).unwrap();
    let after = device.counters();
    assert_eq!((after.buffers_taken, after.read_backs), (before.buffers_taken, before.read_backs + 1));
    let dense = j.to_dense().transpose() * j.to_dense();
    let got = Csc::new(plan.map().pattern().clone(), values).unwrap().to_dense();
    assert!((0..240).all(|row| (0..=row).all(|col| got[(row, col)] == dense[(row, col)])));
    assert!(plan.cost().device_bytes > 0);
}

/// Hessians of one pose graph, and a right-hand side.
#[cfg(any(feature = "faer", feature = "nalgebra-sparse"))]
fn problem() -> (Vec<Cbc<f64>>, nalgebra::DVector<f64>) {
    let h =
        generate::PoseChain { poses: 50, closures: 40, freedom: 6, seed: 7, ..Default::default() }.matrix().unwrap();
    // The diagonal is made larger, so that H is still positive definite.
    let scaled = |factor: f64| {
        let mut values = h.values().to_vec();
        for (entry, (row, col, _)) in h.blocks().enumerate() {
            (0..36)
                .filter(|_| row == col)
                .for_each(|i| values[entry * 36 + i] *= if i % 7 == 0 { factor } else { 1.0 });
        }
        Cbc::new(h.pattern().clone(), h.shape(), values).unwrap()
    };
    let b = nalgebra::DVector::from_fn(300, |i, _| ((i * 37) % 101) as f64 - 50.0);
    (vec![h.clone(), scaled(1.5), scaled(40.0)], b)
}

/// Checks that the residual is within Cholesky's backward error (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2002, theorem 10.4). |H - LLᵀ| is at most (3n + 1) u |L||Lᵀ|, whose
/// norm is at most n times that of H.
#[cfg(any(feature = "faer", feature = "nalgebra-sparse"))]
fn assert_solves(h: &Cbc<f64>, x: &nalgebra::DVector<f64>, b: &nalgebra::DVector<f64>) {
    let (h, n) = (h.to_dense(), x.len() as f64);
    let norm = h.row_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let bound = 4.0 * n * n * f64::EPSILON * norm * x.amax();
    let residual = (&h * x - b).amax();
    assert!(residual <= bound && x.amax() > 0.0, "{residual} > {bound}");
}

#[cfg(feature = "faer")]
#[test]
fn faer_factors_and_solves_with_new_values_each_time() {
    use faer::{
        Side,
        linalg::solvers::Solve,
        sparse::{
            SparseColMatRef,
            linalg::solvers::{Llt, SymbolicLlt},
        },
    };
    let (hessians, b) = problem();
    let mut there = device().upload(&part(&hessians[0], Part::Lower)).unwrap();
    let plan = Scalars::<Cbc<f64>>::lower(&there.pattern()).unwrap();
    let symbolic = plan.map().symbolic();
    let factor = SymbolicLlt::try_new(symbolic.as_ref(), Side::Lower).unwrap();
    let (mut scalars, mut values) = (plan.output().unwrap(), vec![0.0; plan.map().nnz()]);
    for h in &hessians {
        there.write_values(part(h, Part::Lower).values()).unwrap();
        plan.execute(&there, &mut scalars).unwrap();
        scalars.download_into(&mut values).unwrap();
        let matrix = SparseColMatRef::new(symbolic.as_ref(), &values);
        let llt = Llt::try_new_with_symbolic(factor.clone(), matrix, Side::Lower).unwrap();
        let mut x = b.clone();
        llt.solve_in_place(faer::ColMut::from_slice_mut(x.as_mut_slice()).as_mat_mut());
        assert_solves(h, &x, &b);
    }
    // The host also converts a matrix of which both triangles are stored to these scalars.
    let (last, map) = (hessians.last().unwrap(), ScalarMap::lower(&hessians[0]).unwrap());
    let mut by_host = vec![0.0; map.nnz()];
    map.copy_values(last, &mut by_host).unwrap();
    assert_eq!((map.symbolic().col_ptr(), by_host), (symbolic.col_ptr(), values));
}

#[cfg(feature = "nalgebra-sparse")]
#[test]
fn nalgebra_sparse_factors_and_solves_with_new_values_each_time() {
    use nalgebra_sparse::factorization::{CscCholesky, CscSymbolicCholesky};
    let (hessians, b) = problem();
    let map = ScalarMap::full(&part(&hessians[0], Part::Lower)).unwrap();
    let symbolic = CscSymbolicCholesky::factor(map.sparsity_pattern());
    let mut values = vec![0.0; map.nnz()];
    map.copy_values(&part(&hessians[0], Part::Lower), &mut values).unwrap();
    let mut cholesky = CscCholesky::factor_numerical(symbolic, &values).unwrap();
    for h in &hessians {
        map.copy_values(&part(h, Part::Lower), &mut values).unwrap();
        cholesky.refactor(&values).unwrap();
        let x = cholesky.solve(&b);
        assert_solves(h, &x.column(0).into_owned(), &b);
    }
}
