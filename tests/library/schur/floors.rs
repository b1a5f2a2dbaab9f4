//! Damping with floors: a coordinate without influence is damped by its floor, on the device and in
//! the reference.
use super::*;
use blockmul::{reference::FlooredDamping, solver::Floors};

/// The floors of the coordinates of a camera and of a point.
struct Given {
    cameras: Vec<f64>,
    points: Vec<f64>,
}

/// A problem in which some coordinates have no influence: their rows and columns are zero. The
/// function also returns which coordinates have no influence, and floors with which the problem can
/// be solved. Coordinate 0 of every point and the last coordinate of every camera are zero. The
/// floors of coordinate 0 of points and of the last coordinate of cameras are infinite, so these
/// coordinates are held. All coordinates of point 5, coordinate 1 of point 7 if there is one, and
/// coordinate 0 of camera 3 are zero, too. The floors of the other zero coordinates are finite.
fn without_influence(c: usize, p: usize) -> (Problem, [Vec<bool>; 2], Given) {
    let Problem { u, w, v, mut b_c, mut b_p } = problem(&seen(12, 40, 4, c as u64), 3, c, p, p as u64);
    let cameras: Vec<bool> = (0..12 * c).map(|row| row % c == c - 1 || row == 3 * c).collect();
    let points: Vec<bool> = (0..40 * p).map(|row| row % p == 0 || row / p == 5 || row == 7 * p + 1).collect();
    let zeroed = |matrix: &Cbc<f64>, rows: &[bool], cols: &[bool]| {
        let (r, s) = (matrix.shape().rows(), matrix.shape().cols());
        let blocks = matrix.blocks().map(|(i, j, block)| {
            let element = |k, l| if rows[i * r + k] || cols[j * s + l] { 0.0 } else { block[(k, l)] };
            (i, j, DMatrix::from_fn(r, s, element))
        });
        Cbc::from_triplets(matrix.nrows(), matrix.ncols(), matrix.shape(), blocks).unwrap()
    };
    b_c.iter_mut().zip(&cameras).for_each(|(x, &zero)| *x = if zero { 0.0 } else { *x });
    b_p.iter_mut().zip(&points).for_each(|(x, &zero)| *x = if zero { 0.0 } else { *x });
    let (u, w, v) = (zeroed(&u, &cameras, &cameras), zeroed(&w, &cameras, &points), zeroed(&v, &points, &points));
    let mut floors = Given { cameras: vec![1e-20; c], points: vec![1e-20; p] };
    (floors.cameras[c - 1], floors.points[0]) = (f64::INFINITY, f64::INFINITY);
    (Problem { u, w, v, b_c, b_p }, [cameras, points], floors)
}

fn host<T: Real>(problem: &Problem, damping: Damping, [cameras, points]: [&[T]; 2]) -> reference::Reduced<T> {
    let Problem { u, w, v, b_c, b_p } = problem;
    let damping = FlooredDamping { damping, cameras, points };
    reference::schur(&u.cast::<T>(), &w.cast::<T>(), &v.cast::<T>(), &cast::<T>(b_c), &cast::<T>(b_p), damping).unwrap()
}

/// Checks that the formed and the implicit elimination have the bits of the reference. Returns r
/// and the points that the reference computes from the solution x_c of S·x_c = r.
fn same_bits_with_floors<T: Real>(problem: &Problem, damping: Damping, given: &Given, what: &str) -> [Vec<f64>; 2] {
    let (data, device) = (Uploaded::<T>::new(&device(), problem), device());
    let of_host = [cast::<T>(&given.cameras), cast::<T>(&given.points)];
    let [cameras, points] = [0, 1].map(|group: usize| device.upload_vector(&of_host[group]).unwrap());
    let floors = Some(Floors { cameras: &cameras, points: &points });
    let equations = NormalEquations { floors, ..data.equations(damping) };
    let want = host::<T>(problem, damping, [&of_host[0], &of_host[1]]);
    let ((formed, mut reduced), (implicit, mut operator)) = (data.formed(), data.implicit());
    formed.execute(equations, &mut reduced).unwrap();
    implicit.execute(equations, &mut operator).unwrap();
    let s = reduced.s().unwrap().download().unwrap();
    assert_eq!(bits(s.values()), bits(want.s.values()), "{what}: S");
    let on_diagonal = reference::diagonal(&want.s).unwrap();
    assert_eq!(operator.diagonal().unwrap().download().unwrap(), on_diagonal, "{what}: the diagonal of S");

    let dense = mirrored(&s.cast::<f64>().to_dense());
    let right = DVector::from_iterator(dense.nrows(), want.rhs.iter().map(|&x| <T as blockmul::Element>::to_f64(x)));
    let x_c = dense.cholesky().expect("positive definite").solve(&right);
    let x = device.upload_vector(&cast::<T>(x_c.as_slice())).unwrap();
    let x_want = want.back_substitute(&cast::<T>(x_c.as_slice())).unwrap();
    let mut x_p = device.zero_vector(x_want.len()).unwrap();
    for (rhs, step) in [
        (reduced.rhs().unwrap(), formed.back_substitute(&reduced, &x, &mut x_p).map(|_| x_p.download().unwrap())),
        (operator.rhs().unwrap(), implicit.back_substitute(&operator, &x, &mut x_p).map(|_| x_p.download().unwrap())),
    ] {
        assert_eq!(bits(&rhs.download().unwrap()), bits(&want.rhs), "{what}: r");
        assert_eq!(bits(&step.unwrap()), bits(&x_want), "{what}: x_p");
    }
    [x_c.as_slice().to_vec(), x_want.iter().map(|&x| <T as blockmul::Element>::to_f64(x)).collect()]
}

/// The sides are those for which points are factored by one work-item, and sides for which a group
/// factors them.
const BOTH: [(usize, usize); 4] = [(9, 3), (6, 6), (4, 7), (3, 10)];

#[test]
fn unknowns_without_influence_keep_their_place_and_the_others_their_step() {
    for (c, p) in BOTH {
        let (problem, zero, floors) = without_influence(c, p);
        let what = format!("{c}x{p}");
        let damping = Damping::Marquardt(1e-4);
        let x = same_bits_with_floors::<f64>(&problem, damping, &floors, &what);
        // The dense system has 1 on the diagonal in the rows of held coordinates.
        let n = problem.b_c.len();
        let (u, w, v) = (mirrored(&problem.u.to_dense()), problem.w.to_dense(), mirrored(&problem.v.to_dense()));
        let mut h = DMatrix::zeros(n + v.nrows(), n + v.nrows());
        h.view_mut((0, 0), (n, n)).copy_from(&u);
        h.view_mut((0, n), w.shape()).copy_from(&w);
        h.view_mut((n, 0), (w.ncols(), n)).copy_from(&w.transpose());
        h.view_mut((n, n), v.shape()).copy_from(&v);
        let zero = zero.concat();
        (0..h.nrows()).for_each(|i| h[(i, i)] = if zero[i] { 1.0 } else { h[(i, i)] * (1.0 + 1e-4) });
        let right = DVector::from_vec([&problem.b_c[..], &problem.b_p].concat());
        let want = h.cholesky().unwrap().solve(&right);
        let found = DVector::from_vec(x.concat());
        assert!((&found - &want).norm() < 1e-9 * want.norm(), "{what}");
        assert!(zero.iter().zip(&found).all(|(&zero, &x)| !zero || x == 0.0), "{what}: held");
    }
}

#[test]
fn floors_have_the_bits_of_the_reference_in_single_precision_and_without_damping() {
    for (c, p) in BOTH {
        let (problem, _, floors) = without_influence(c, p);
        // λ is chosen so that λ·floor is a normal number of f32.
        same_bits_with_floors::<f32>(&problem, Damping::Marquardt(1e-3), &floors, &format!("f32, {c}x{p}"));
        // No damping is needed if every coordinate without influence is zero in all members.
        let mut all = problem.clone();
        all.u = with_identity(&problem.u, &[3 * c]);
        all.v = with_identity(&problem.v, &(5 * p + 1..6 * p).chain([7 * p + 1]).collect::<Vec<_>>());
        same_bits_with_floors::<f64>(&all, Damping::None, &floors, &format!("none, {c}x{p}"));
        same_bits_with_floors::<f64>(&problem, Damping::Levenberg(0.5), &floors, &format!("Levenberg, {c}x{p}"));
    }
}

/// Returns the matrix with 1 at these places of its diagonal.
fn with_identity(matrix: &Cbc<f64>, rows: &[usize]) -> Cbc<f64> {
    let side = matrix.shape().rows();
    let blocks = matrix.blocks().map(|(i, j, block)| {
        let mut block = block.into_owned();
        let here = rows.iter().filter(|&&row| i == j && row / side == i);
        here.for_each(|&row| block[(row % side, row % side)] = 1.0);
        (i, j, block)
    });
    Cbc::from_triplets(matrix.nrows(), matrix.ncols(), matrix.shape(), blocks).unwrap()
}

#[test]
fn floors_below_every_element_change_no_bit() {
    let problem = problem(&seen(12, 150, 4, 1), 3, 6, 3, 5);
    let damping = Damping::Marquardt(1e-2);
    let none = host::<f64>(&problem, damping, [&[], &[]]);
    let low = Given { cameras: vec![1e-30; 6], points: vec![0.0; 3] };
    let floored = host::<f64>(&problem, damping, [&low.cameras, &low.points]);
    assert_eq!((bits(floored.s.values()), bits(&floored.rhs)), (bits(none.s.values()), bits(&none.rhs)));
    same_bits_with_floors::<f64>(&problem, damping, &low, "below");
    let above = host::<f64>(&problem, damping, [&[1e9; 6], &low.points]);
    assert!(bits(above.s.values()) != bits(none.s.values()), "above");
}

#[test]
fn floors_of_another_length_are_refused() {
    let problem = problem(&seen(8, 30, 3, 1), 2, 6, 3, 5);
    let data = Uploaded::<f64>::new(&device(), &problem);
    let (plan, mut reduced) = data.formed();
    let (three, six) = (device().zero_vector(3).unwrap(), device().zero_vector(6).unwrap());
    let mut refused = |cameras, points| {
        let floors = Some(Floors { cameras, points });
        let equations = NormalEquations { floors, ..data.equations(Damping::None) };
        plan.execute(equations, &mut reduced).unwrap_err().to_string()
    };
    let words = |array, found, expected| {
        format!("{array} has {found} elements, {expected} expected (a floor for each coordinate of a block)")
    };
    assert_eq!(refused(&three, &three), words("floors of cameras", 3, 6));
    assert_eq!(refused(&six, &six), words("floors of points", 6, 3));
    let Problem { u, w, v, b_c, b_p } = &problem;
    let damping = FlooredDamping { damping: Damping::None, cameras: &[0.0; 6], points: &[0.0; 2] };
    let host = reference::schur(u, w, v, b_c, b_p, damping).unwrap_err().to_string();
    assert_eq!(host, words("floors of points", 2, 3));
}
