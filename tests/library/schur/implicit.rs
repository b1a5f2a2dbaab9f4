//! Tests of S as an operator. Products with the operator are equal, within rounding, to those with
//! the formed S and with dense nalgebra. The other outputs of the operator have the same bits as
//! those of the formed S.
use super::*;

const DAMPINGS: [Damping; 3] = [Damping::None, Damping::Marquardt(1e-4), Damping::Levenberg(0.3)];

fn sines(len: usize) -> Vec<f64> {
    (0..len).map(|i| (i as f64 * 0.7 + 0.3).sin()).collect()
}

fn multiplied<T: Real>(plan: &Elimination<Implicit<T>>, reduced: &Reduced<Implicit<T>>, x: &[T]) -> Vec<T> {
    let x = device().upload_vector(x).unwrap();
    let mut y = device().upload_vector(&vec![<T as blockmul::Element>::from_f64(f64::NAN); x.len()]).unwrap();
    plan.multiply(reduced, &x, &mut y).unwrap();
    y.download().unwrap()
}

fn column(x: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(x.len(), 1, x)
}

/// Returns the values of the blocks on the diagonal, one block after another.
fn on_diagonal<T: Real>(s: &Cbc<T>) -> Vec<T> {
    s.blocks().filter(|(i, j, _)| i == j).flat_map(|(.., block)| block.iter().copied().collect::<Vec<_>>()).collect()
}

/// Returns the whole matrix U + damping. The given U may be stored whole or by its lower triangle.
fn whole_u(problem: &Problem, damping: Damping) -> DMatrix<f64> {
    let (mut u, c) = (DMatrix::zeros(problem.b_c.len(), problem.b_c.len()), problem.u.shape().rows());
    for (i, j, block) in problem.u.blocks().filter(|(i, j, _)| i >= j) {
        u.view_mut((j * c, i * c), (c, c)).copy_from(&block.transpose());
        u.view_mut((i * c, j * c), (c, c)).copy_from(&block);
    }
    damped(&u, damping)
}

/// Checks that y is equal to `want` within rounding. Each element of y is a sum of the products of
/// `want` in another order, and is rounded at most `roundings` times.
fn within(found: &[f64], want: &DMatrix<f64>, roundings: usize, sizes: &DMatrix<f64>, what: &str) {
    for (i, (&found, &want)) in found.iter().zip(want.iter()).enumerate() {
        // The bound of the difference uses u·m / (1 - u·m) < 1.01·u·m.
        let bound = 1.01 * roundings as f64 * f64::EPSILON / 2.0 * sizes[i];
        let error = (found - want).abs();
        assert!(error <= bound, "{what}: element {i}: {found:e}, not {want:e}: {error:e} > {bound:e}");
    }
}

/// Compares products of the operator with products of the formed S and of a dense S. The other
/// outputs must have the bits of the formed elimination.
fn agrees(problem: &Problem, damping: Damping, what: &str) {
    let data = Uploaded::<f64>::new(&device(), problem);
    let ((formed, mut formed_out), (plan, mut reduced)) = (data.formed(), data.implicit());
    data.execute(&formed, &mut formed_out, damping).unwrap();
    data.execute(&plan, &mut reduced, damping).unwrap();
    let (cameras, points) = (problem.b_c.len(), problem.b_p.len());
    let host_x = sines(cameras);
    let (x, y) = (column(&host_x), multiplied(&plan, &reduced, &host_x));

    // Computes |U'|, and Z from the dense factor of V'.
    let (u, v) = (whole_u(problem, damping), damped(&problem.v.to_dense(), damping));
    let l = v.clone().cholesky().unwrap().l();
    let inverse = l.clone().try_inverse().unwrap();
    let z = problem.w.to_dense() * inverse.transpose();
    let (u_size, z_size) = (u.abs(), z.abs());

    // If S is formed, an element of S is a sum of at most `points` products and one element of U',
    // and each row has `cameras` products with x. As an operator, Zᵀ·x is a sum of at most
    // `cameras` products, Z·(Zᵀ·x) of `points`, and the three parts of U' of `cameras`. Damping,
    // alpha and the last additions add a few roundings to this number.
    let roundings = 2 * (points + 2 * cameras) + 16;
    let s = formed_out.s().unwrap().download().unwrap();
    let dense = mirrored(&s.to_dense());
    let sizes = (&u_size + &z_size * z_size.transpose()) * x.abs();
    within(&y, &(&dense * &x), roundings, &sizes, &format!("{what}: formed"));

    // V' = L·Lᵀ and Z = W·L⁻ᵀ are exact for a V' and a W with errors of p + 1 roundings of |L|·|Lᵀ|
    // and of |Z|·|Lᵀ| (Higham, Accuracy and Stability of Numerical Algorithms, 10.1 and 8.1).
    // Therefore Z·Zᵀ has an error of the same number of roundings of |Z|·(M + 1)·(Mᵀ + 1)·|Zᵀ|,
    // where M = |L⁻¹|·|L| has 1 on its diagonal. The rounding error of Z·Zᵀ is counted once for
    // each of the two computations.
    let p = problem.v.shape().rows();
    let m = inverse.abs() * l.abs() + DMatrix::identity(points, points);
    let zm = &z_size * m;
    let sizes = (&u_size + &zm * zm.transpose()) * x.abs();
    let y_want = &u * &x - problem.w.to_dense() * v.cholesky().unwrap().solve(&(problem.w.to_dense().transpose() * &x));
    within(&y, &y_want, 2 * (roundings + p + 1), &sizes, &format!("{what}: dense"));

    let diagonal = reduced.diagonal().unwrap().download().unwrap();
    let want = on_diagonal(&s);
    assert_eq!(bits(diagonal.values()), bits(&want), "{what}: the diagonal");
    for (i, j, block) in diagonal.blocks() {
        assert!(i == j && block.transpose() == block, "{what}: block {i}, {j}");
    }
    let (rhs, rhs_want) = (reduced.rhs().unwrap().download().unwrap(), formed_out.rhs().unwrap().download().unwrap());
    assert_eq!(bits(&rhs), bits(&rhs_want), "{what}: r");
    let x_c = device().upload_vector(&host_x).unwrap();
    let (mut x_p, mut x_p_want) = (device().zero_vector(points).unwrap(), device().zero_vector(points).unwrap());
    plan.back_substitute(&reduced, &x_c, &mut x_p).unwrap();
    formed.back_substitute(&formed_out, &x_c, &mut x_p_want).unwrap();
    assert_eq!(bits(&x_p.download().unwrap()), bits(&x_p_want.download().unwrap()), "{what}: x_p");
}

#[test]
fn every_kind_of_u_and_damping_agrees_with_the_formed_and_the_dense() {
    for (c, p) in [(9, 3), (6, 3), (5, 8), (3, 2)] {
        let problem = problem(&seen(9, 25, 3, c as u64), 2, c, p, p as u64);
        for damping in DAMPINGS {
            agrees(&problem, damping, &format!("{c}x{p}, {damping:?}"));
            for whole in [true, false] {
                let u = with_neighbours(&problem.u, whole, &[]);
                agrees(&Problem { u, ..problem.clone() }, damping, &format!("{c}x{p}, {damping:?}, whole {whole}"));
            }
        }
    }
}

#[test]
fn what_is_missing_is_zero() {
    // Cameras 0 and 11 see no points, and U has no block for some cameras. Further cases have
    // points that no camera sees, and empty problems.
    let inner = seen(10, 60, 2, 4);
    let rows = inner.row_idx().iter().map(|&row| row + 1).collect();
    let good = problem(&Pattern::new(12, 60, inner.col_ptr().to_vec(), rows).unwrap(), 2, 6, 3, 5);
    for whole in [true, false] {
        let u = with_neighbours(&good.u, whole, &[0, 4, 11]);
        agrees(&Problem { u, ..good.clone() }, Damping::Levenberg(0.5), &format!("without, whole {whole}"));
    }
    let empty = Problem { u: Cbc::from_triplets(12, 12, shape(6, 6), no_blocks()).unwrap(), ..good };
    agrees(&empty, Damping::Levenberg(0.5), "no U");
    for (cameras, points) in [(0, 0), (0, 4), (3, 0), (3, 4)] {
        let none = Pattern::new(cameras, points, vec![0; points + 1], vec![]).unwrap();
        agrees(&problem(&none, 2, 9, 3, 5), DAMPINGS[1], &format!("{cameras} cameras, {points} points"));
    }
    let visible = Pattern::new(3, 6, vec![0, 0, 2, 2, 3, 3, 3], vec![0, 2, 1]).unwrap();
    let Problem { u, w, v, b_c, b_p } = problem(&visible, 2, 9, 3, 5);
    let at = |matrix: Cbc<f64>| matrix.with_alignment(64).unwrap();
    agrees(&Problem { u: at(u), w: at(w), v: at(v), b_c, b_p }, DAMPINGS[1], "blind points, aligned");
}

#[test]
fn long_rows_are_cut_on_the_diagonal_as_in_the_formed() {
    // Cameras 1 to 4 see 33, 1024, 1025 and 2500 points, so that sums of more than 1024 terms are
    // computed in pieces.
    let lengths = [0usize, 33, 1024, 1025, 2500];
    let mut columns = vec![Vec::new(); 2500];
    for (camera, n) in lengths.into_iter().enumerate() {
        (0..n).for_each(|i| columns[i * 2500 / n].push((camera, i * 2500 / n)));
    }
    let visible =
        Cbc::from_triplets(5, 2500, BlockShape::SCALAR, columns.concat().into_iter().map(|(i, j)| (i, j, one())))
            .unwrap();
    let problem = problem(visible.pattern(), 2, 6, 3, 5);
    let data = Uploaded::<f32>::new(&device(), &problem);
    let ((formed, mut formed_out), (plan, mut reduced)) = (data.formed(), data.implicit());
    data.execute(&formed, &mut formed_out, DAMPINGS[1]).unwrap();
    data.execute(&plan, &mut reduced, DAMPINGS[1]).unwrap();
    let s = formed_out.s().unwrap().download().unwrap();
    let want = on_diagonal(&s);
    assert_eq!(bits(reduced.diagonal().unwrap().download().unwrap().values()), bits(&want));
    assert_eq!(bits(&reduced.rhs().unwrap().download().unwrap()), bits(&formed_out.rhs().unwrap().download().unwrap()));
    let y = multiplied(&plan, &reduced, &cast(&sines(30)));
    let want = mirrored(&s.cast::<f64>().to_dense()) * column(&sines(30));
    near(&column(&y.iter().map(|&y| f64::from(y)).collect::<Vec<_>>()), &want, 1e-4, "f32");
}

fn one() -> DMatrix<f64> {
    DMatrix::identity(1, 1)
}

#[test]
fn executions_and_products_repeat_to_the_bit_take_no_memory_and_read_one_word() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let (first, second) = (problem(&seen(10, 100, 3, 1), 2, 6, 3, 5), problem(&seen(10, 100, 3, 1), 2, 6, 3, 6));
    let with_neighbours = |problem: Problem| Problem { u: with_neighbours(&problem.u, true, &[]), ..problem };
    let data = Uploaded::<f64>::new(&device, &with_neighbours(first));
    let other = Uploaded::<f64>::new(&device, &with_neighbours(second));
    let (plan, mut reduced) = data.implicit();
    let x = device.upload_vector(&sines(60)).unwrap();
    let (mut y, mut x_p) = (device.zero_vector(60).unwrap(), device.zero_vector(300).unwrap());
    let once = |reduced: &mut Reduced<Implicit<f64>>, data: &Uploaded<f64>, y: &mut DeviceVector<f64>| {
        data.execute(&plan, reduced, Damping::Marquardt(1e-4)).unwrap();
        plan.multiply(reduced, &x, y).unwrap();
    };
    let mut made = |reduced: &Reduced<Implicit<f64>>, y: &DeviceVector<f64>| {
        plan.back_substitute(reduced, &x, &mut x_p).unwrap();
        let (d, r) = (reduced.diagonal().unwrap().download().unwrap(), reduced.rhs().unwrap().download().unwrap());
        [d.into_parts().1, r, y.download().unwrap(), x_p.download().unwrap()].concat()
    };
    once(&mut reduced, &data, &mut y);
    let want = made(&reduced, &y);
    once(&mut reduced, &other, &mut y);
    assert!(made(&reduced, &y).iter().zip(&want).all(|(x, y)| x != y), "other values, other results");
    let bytes = (plan.cost().device_bytes, reduced.device_bytes());

    let before = device.counters();
    for _ in 0..50 {
        data.execute(&plan, &mut reduced, Damping::Marquardt(1e-4)).unwrap();
    }
    let after = nothing_taken(&device, &before);
    assert!(after.commands >= before.commands + 50 * 7);
    for _ in 0..50 {
        plan.multiply(&reduced, &x, &mut y).unwrap();
    }
    let multiplied = device.counters();
    assert_eq!(
        (multiplied.buffers_created, multiplied.buffers_taken, multiplied.read_backs),
        (after.buffers_created, after.buffers_taken, after.read_backs + 1)
    );
    assert_eq!(bits(&made(&reduced, &y)), bits(&want));
    assert_eq!((plan.cost().device_bytes, reduced.device_bytes()), bytes);
    // The expected bytes include Z, the diagonal blocks of U' and those of S.
    assert!(bytes.1 > (300 * 18 + 2 * 10 * 36) * 8, "{bytes:?}");
}

#[test]
fn what_does_not_fit_is_refused_and_what_failed_is_told() {
    let good = problem(&seen(8, 30, 3, 1), 2, 6, 3, 5);
    let mut data = Uploaded::<f64>::new(&device(), &good);
    let (plan, mut reduced) = data.implicit();
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    let product = |result: blockmul::Result<Marker>| text(result.map(drop));
    let new = |u: &DeviceMatrix<Cbc<f64>>, w: &DeviceMatrix<Cbc<f64>>, v: &DeviceMatrix<Cbc<f64>>| {
        Elimination::<Implicit<f64>>::implicit(&u.pattern(), &w.pattern(), &v.pattern()).map(drop)
    };
    assert!(text(new(&data.v, &data.w, &data.u)).starts_with("not the blocks of one matrix: U is 30x30 blocks of 3x3"));
    let missing = good.v.blocks().filter(|(i, ..)| *i != 17);
    let missing = device().upload(&Cbc::from_triplets(30, 30, shape(3, 3), missing).unwrap()).unwrap();
    assert_eq!(text(new(&data.u, &data.w, &missing)), "V must have exactly its 30 diagonal blocks");
    let rows = device().upload(&Bsr::from_transpose(good.w.transpose())).unwrap();
    let result =
        Elimination::<Implicit<f64>>::implicit(&data.u.pattern(), &rows.pattern(), &data.v.pattern()).map(drop);
    assert!(text(result).contains("row-major"));
    let elsewhere = Device::open(device().info()).unwrap();
    let other = Uploaded::<f64>::new(&elsewhere, &good);
    assert!(matches!(new(&data.u, &other.w, &data.v), Err(Error::DeviceMismatch { .. })));

    // Errors are returned before an execution, for arguments that do not match, and after an
    // execution that failed.
    let (x, mut y) = (device().zero_vector::<f64>(48).unwrap(), device().zero_vector(48).unwrap());
    assert_eq!(product(plan.multiply(&reduced, &x, &mut y)), "the Schur complement has not been executed");
    assert!(reduced.check().is_err() && reduced.diagonal().is_err() && reduced.rhs().is_err());
    let (Uploaded { v, b_p, .. }, none) = (&data, Damping::None);
    let fits = data.equations(none);
    let mut refused = |equations| text(plan.execute(equations, &mut reduced).map(drop));
    assert!(refused(NormalEquations { u: v, ..fits }).starts_with("U does not have the pattern of the plan"));
    assert!(refused(NormalEquations { u: &other.u, ..fits }).starts_with("U does not have the pattern of the plan"));
    assert_eq!(refused(NormalEquations { b_c: b_p, ..fits }), "b_c has 90 elements, 48 expected (8 blocks of 6)");
    assert!(refused(data.equations(Damping::Levenberg(-1.0))).contains("is no damping"));
    assert!(reduced.check().is_err(), "nothing was executed yet");
    data.execute(&plan, &mut reduced, none).unwrap();
    assert_eq!(product(plan.multiply(&reduced, b_p, &mut y)), "x has 90 elements, 48 expected (8 blocks of 6)");
    let mut short = device().zero_vector(47).unwrap();
    assert_eq!(product(plan.multiply(&reduced, &x, &mut short)), "y has 47 elements, 48 expected (8 blocks of 6)");
    assert!(matches!(plan.multiply(&reduced, &other.b_c, &mut y), Err(Error::DeviceMismatch { .. })));
    assert!(matches!(plan.back_substitute(&reduced, b_p, &mut y), Err(Error::Length { array: "x_c", .. })));
    plan.multiply(&reduced, &x, &mut y).unwrap();

    let mut values = good.v.values().to_vec();
    [21, 7].into_iter().for_each(|block| values[block * 9] = -1.0);
    data.v.write_values(&values).unwrap();
    data.execute(&plan, &mut reduced, none).unwrap();
    let mut x_p = device().zero_vector(90).unwrap();
    let errors = [
        reduced.check().err(),
        plan.multiply(&reduced, &x, &mut y).err(),
        reduced.diagonal().err(),
        reduced.rhs().err(),
        plan.back_substitute(&reduced, &x, &mut x_p).err(),
    ];
    for error in errors {
        assert!(matches!(error, Some(Error::NotPositiveDefinite { block: 7, .. })), "{error:?}");
    }
    data.v.write_values(good.v.values()).unwrap();
    data.execute(&plan, &mut reduced, none).unwrap();
    plan.multiply(&reduced, &x, &mut y).unwrap();
}
