//! Tests of the Schur complement. The results of eliminations are compared with dense nalgebra and
//! with the library's general products, and must have the bits of their reference. Other tests
//! check refusals, costs of executions, S as an operator, and S in a solver.
mod accuracy;
mod floors;
mod implicit;
mod refusals;
mod repeated;
mod solver;

use crate::common::{device, nothing_taken, shape};
use blockmul::{
    BlockShape, Bsr, Cbc, Device, DeviceMatrix, DeviceVector, Error, Part, Planned, Product,
    element::Real,
    foreign::Marker,
    generate::{self, Random, Values},
    matrix::{self, Pattern},
    plan::{Accum, Apply},
    reference,
    solver::{Damping, Elimination, Form, Formed, Implicit, NormalEquations, Reduced},
};
use nalgebra::{DMatrix, DVector};

/// The normal equations [U W; Wᵀ V] with their right-hand side.
#[derive(Clone)]
struct Problem {
    u: Cbc<f64>,
    w: Cbc<f64>,
    v: Cbc<f64>,
    b_c: Vec<f64>,
    b_p: Vec<f64>,
}

fn random_block(rows: usize, cols: usize, random: &mut Random) -> DMatrix<f64> {
    DMatrix::from_fn(rows, cols, |_, _| 2.0 * random.unit() - 1.0)
}

/// H = JᵀJ and b = Jᵀe. J has a row of blocks, with `rows` rows and widths c and p, for each
/// observation. J also has an identity for each camera and point, so that H is well conditioned.
fn problem(visible: &Pattern, rows: usize, c: usize, p: usize, seed: u64) -> Problem {
    let random = &mut Random::new(seed);
    let (n, m) = (visible.nrows(), visible.ncols());
    let (mut u, mut v) = (vec![DMatrix::identity(c, c); n], vec![DMatrix::identity(p, p); m]);
    let (mut w, mut b_c, mut b_p) = (Vec::new(), DVector::zeros(n * c), DVector::zeros(m * p));
    for (point, v) in v.iter_mut().enumerate() {
        for &camera in visible.column(point) {
            let camera = camera as usize;
            let (a, b, e) =
                (random_block(rows, c, random), random_block(rows, p, random), random_block(rows, 1, random));
            u[camera] += a.transpose() * &a;
            *v += b.transpose() * &b;
            w.push((camera, point, a.transpose() * &b));
            b_c.rows_mut(camera * c, c).gemv_tr(1.0, &a, &e.column(0), 1.0);
            b_p.rows_mut(point * p, p).gemv_tr(1.0, &b, &e.column(0), 1.0);
        }
    }
    let diagonal = |blocks: Vec<DMatrix<f64>>, n, side| {
        Cbc::from_triplets(n, n, shape(side, side), blocks.into_iter().enumerate().map(|(i, block)| (i, i, block)))
    };
    Problem {
        u: diagonal(u, n, c).unwrap(),
        w: Cbc::from_triplets(n, m, shape(c, p), w).unwrap(),
        v: diagonal(v, m, p).unwrap(),
        b_c: b_c.as_slice().to_vec(),
        b_p: b_p.as_slice().to_vec(),
    }
}

fn seen(cameras: usize, points: usize, views: usize, seed: u64) -> Pattern {
    generate::Visibility { cameras, points, views, shape: BlockShape::SCALAR, seed, ..Default::default() }
        .matrix()
        .unwrap()
        .into_parts()
        .0
}

/// The arrays of a problem on a device.
struct Uploaded<T: Real> {
    u: DeviceMatrix<Cbc<T>>,
    w: DeviceMatrix<Cbc<T>>,
    v: DeviceMatrix<Cbc<T>>,
    b_c: DeviceVector<T>,
    b_p: DeviceVector<T>,
}

fn cast<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| <T as blockmul::Element>::from_f64(x)).collect()
}

impl<T: Real> Uploaded<T> {
    fn new(device: &Device, problem: &Problem) -> Self {
        let matrix = |matrix: &Cbc<f64>| device.upload(&matrix.cast::<T>()).unwrap();
        let vector = |values: &[f64]| device.upload_vector(&cast::<T>(values)).unwrap();
        let Problem { u, w, v, b_c, b_p } = problem;
        Self { u: matrix(u), w: matrix(w), v: matrix(v), b_c: vector(b_c), b_p: vector(b_p) }
    }

    fn formed(&self) -> (Elimination<Formed<T>>, Reduced<Formed<T>>) {
        let plan = Elimination::formed(&self.u.pattern(), &self.w.pattern(), &self.v.pattern()).unwrap();
        let reduced = plan.output().unwrap();
        (plan, reduced)
    }

    fn implicit(&self) -> (Elimination<Implicit<T>>, Reduced<Implicit<T>>) {
        let plan = Elimination::implicit(&self.u.pattern(), &self.w.pattern(), &self.v.pattern()).unwrap();
        let reduced = plan.output().unwrap();
        (plan, reduced)
    }

    fn equations(&self, damping: Damping) -> NormalEquations<'_, T> {
        let Self { u, w, v, b_c, b_p } = self;
        NormalEquations { u, w, v, b_c, b_p, damping, floors: None }
    }

    fn execute<F: Form<Element = T>>(
        &self,
        plan: &Elimination<F>,
        reduced: &mut Reduced<F>,
        damping: Damping,
    ) -> blockmul::Result<()> {
        plan.execute(self.equations(damping), reduced).map(drop)
    }
}

/// Returns the symmetric matrix whose lower triangle is given.
fn mirrored(lower: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(lower.nrows(), lower.ncols(), |i, j| if i >= j { lower[(i, j)] } else { lower[(j, i)] })
}

/// Returns H + damping.
fn damped(h: &DMatrix<f64>, damping: Damping) -> DMatrix<f64> {
    let mut h = h.clone();
    for i in 0..h.nrows() {
        match damping {
            Damping::Marquardt(lambda) => h[(i, i)] *= 1.0 + lambda,
            Damping::Levenberg(lambda) => h[(i, i)] += lambda,
            _ => {}
        }
    }
    h
}

fn near(found: &DMatrix<f64>, want: &DMatrix<f64>, bound: f64, what: &str) {
    let error = (found - want).norm() / want.norm();
    assert!(error <= bound, "{what}: {error:e} > {bound:e}");
}

fn bits<T: Real>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Checks that S, r and x_p have the bits of the reference.
fn same_bits<T: Real>(problem: &Problem, damping: Damping, what: &str) {
    let data = Uploaded::<T>::new(&device(), problem);
    let (plan, mut reduced) = data.formed();
    data.execute(&plan, &mut reduced, damping).unwrap();
    let Problem { u, w, v, b_c, b_p } = problem;
    let (b_c, b_p) = (cast::<T>(b_c), cast::<T>(b_p));
    let want = reference::schur(&u.cast::<T>(), &w.cast::<T>(), &v.cast::<T>(), &b_c, &b_p, damping).unwrap();
    let s = reduced.s().unwrap().download().unwrap();
    assert_eq!(s.pattern(), want.s.pattern(), "{what}");
    assert_eq!(bits(s.values()), bits(want.s.values()), "{what}: S");
    assert_eq!(bits(&reduced.rhs().unwrap().download().unwrap()), bits(&want.rhs), "{what}: r");
    let x_c: Vec<T> = cast(&(0..b_c.len()).map(|i| (i as f64 * 0.7).sin()).collect::<Vec<_>>());
    let mut x_p = device().zero_vector(b_p.len()).unwrap();
    plan.back_substitute(&reduced, &device().upload_vector(&x_c).unwrap(), &mut x_p).unwrap();
    assert_eq!(bits(&x_p.download().unwrap()), bits(&want.back_substitute(&x_c).unwrap()), "{what}: x_p");
    assert_eq!(plan.pattern().nnz(), s.nnz());
    let upper = (0..s.ncols()).any(|col| s.pattern().column(col).first() != Some(&(col as u32)));
    assert!(!upper, "{what}: every column begins on the diagonal");
}

/// The sides of the blocks of cameras and points are usual sides, scalars, sides below and above 6,
/// at which the factorization changes, the largest sides, and sides without compiled products.
const SIDES: [(usize, usize); 8] = [(9, 3), (6, 3), (1, 1), (6, 6), (4, 7), (2, 32), (32, 2), (10, 11)];

#[test]
fn every_shape_and_type_has_the_bits_of_the_reference() {
    for (c, p) in SIDES {
        let problem = problem(&seen(12, 150, 4, c as u64), 3, c, p, p as u64);
        for damping in [Damping::None, Damping::Marquardt(1e-4), Damping::Levenberg(0.3)] {
            same_bits::<f64>(&problem, damping, &format!("f64, {c}x{p}, {damping:?}"));
        }
        // The sides lead to factors by a work-item and by a group, for compiled products and for
        // the general product.
        if [(9, 3), (4, 7), (10, 11)].contains(&(c, p)) {
            same_bits::<f32>(&problem, Damping::Marquardt(1e-3), &format!("f32, {c}x{p}"));
        }
    }
}

#[test]
fn long_rows_and_columns_are_cut_where_the_reference_cuts_them() {
    // The cameras see 0, 33, 1024, 1025 and all 2500 points. In the second case cameras and points
    // change places: the points are seen by these numbers of cameras.
    let lengths = [0usize, 33, 1024, 1025, 2500];
    let mut columns = vec![Vec::new(); 2500];
    for (camera, n) in lengths.into_iter().enumerate() {
        (0..n).for_each(|i| columns[i * 2500 / n].push(camera as u32));
    }
    let pattern = |nrows, columns: &[Vec<u32>]| {
        let ends = columns.iter().scan(0, |end, column| {
            *end += column.len() as u64;
            Some(*end)
        });
        let col_ptr = std::iter::once(0).chain(ends).collect();
        Pattern::new(nrows, columns.len(), col_ptr, columns.concat()).unwrap()
    };
    let rows = problem(&pattern(5, &columns), 2, 6, 3, 5);
    same_bits::<f64>(&rows, Damping::Marquardt(1e-4), "rows");
    // U has further blocks before those with products, so that the pieces of long runs have other
    // places.
    let u = with_neighbours(&rows.u, false, &[]);
    same_bits::<f64>(&Problem { u, ..rows }, Damping::Marquardt(1e-4), "rows, and neighbours");
    let columns = [0, 32, 33, 1024, 1025, 1300].map(|n| (0..n).map(|i| i * (1300 / n.max(1))).collect());
    same_bits::<f64>(&problem(&pattern(1300, &columns), 2, 2, 3, 6), Damping::Marquardt(1e-4), "columns");
}

/// Returns U with further blocks off its diagonal: the whole U or its lower triangle, without some
/// diagonal blocks.
fn with_neighbours(u: &Cbc<f64>, whole: bool, without: &[usize]) -> Cbc<f64> {
    let (n, side, random) = (u.ncols(), u.shape().rows(), &mut Random::new(9));
    let mut blocks: Vec<_> = u.blocks().map(|(i, j, block)| (i, j, block.into_owned())).collect();
    for (i, j) in (1..n).map(|i| (i, i - 1)).chain((7..n).map(|i| (i, i - 7))) {
        let block = random_block(side, side, random);
        if whole {
            blocks.push((j, i, block.transpose()));
        }
        blocks.push((i, j, block));
    }
    blocks.retain(|(i, j, _)| i != j || !without.contains(i));
    Cbc::from_triplets(n, n, u.shape(), blocks).unwrap()
}

#[test]
fn u_whole_or_lower_with_and_without_its_diagonal() {
    // Each point is seen by two neighbouring cameras, so only U has blocks at a distance of 7.
    // Cameras 0 and 11 see no points, so S has no products there.
    let inner = seen(10, 60, 2, 4);
    let rows = inner.row_idx().iter().map(|&row| row + 1).collect();
    let visible = Pattern::new(12, 60, inner.col_ptr().to_vec(), rows).unwrap();
    let problem = problem(&visible, 2, 6, 3, 5);
    let mut sums = Vec::new();
    for whole in [true, false] {
        for without in [&[][..], &[0, 4, 11], &[5]] {
            let problem = Problem { u: with_neighbours(&problem.u, whole, without), ..problem.clone() };
            same_bits::<f64>(&problem, Damping::Levenberg(0.5), &format!("whole {whole}, without {without:?}"));
            let data = Uploaded::<f64>::new(&device(), &problem);
            let (plan, mut reduced) = data.formed();
            data.execute(&plan, &mut reduced, Damping::None).unwrap();
            sums.push(reduced.s().unwrap().download().unwrap());
        }
    }
    assert_eq!(sums[..3], sums[3..], "blocks above the diagonal are not read");
    assert_eq!(sums[0].pattern(), sums[1].pattern());
    assert!(sums[0] != sums[1]);
    let empty = Problem { u: Cbc::from_triplets(12, 12, shape(6, 6), no_blocks()).unwrap(), ..problem };
    same_bits::<f64>(&empty, Damping::Levenberg(0.5), "no U");
}

fn no_blocks() -> [(usize, usize, DMatrix<f64>); 0] {
    []
}

#[test]
fn strides_points_without_cameras_and_nothing_at_all() {
    let visible = Pattern::new(3, 6, vec![0, 0, 2, 2, 3, 3, 3], vec![0, 2, 1]).unwrap();
    let problem = |visible: &Pattern| problem(visible, 2, 9, 3, 5);
    same_bits::<f64>(&problem(&visible), Damping::Marquardt(1e-4), "blind points");
    let aligned = |bytes| {
        let Problem { u, w, v, b_c, b_p } = problem(&visible);
        let at = |matrix: Cbc<f64>| matrix.with_alignment(bytes).unwrap();
        Problem { u: at(u), w: at(w), v: at(v), b_c, b_p }
    };
    same_bits::<f64>(&aligned(64), Damping::Marquardt(1e-4), "aligned");
    for (cameras, points) in [(0, 0), (0, 4), (3, 0), (3, 4)] {
        let none = Pattern::new(cameras, points, vec![0; points + 1], vec![]).unwrap();
        same_bits::<f64>(&problem(&none), Damping::Marquardt(1e-4), &format!("{cameras} cameras, {points} points"));
    }
}

#[test]
fn upper_triangles_of_blocks_of_v_are_not_read() {
    let problem = problem(&seen(5, 40, 3, 1), 2, 6, 3, 5);
    let lower = problem.v.blocks().map(|(i, j, block)| (i, j, block.lower_triangle()));
    let v = Cbc::from_triplets(40, 40, shape(3, 3), lower).unwrap();
    let s = |problem: &Problem| {
        let data = Uploaded::<f64>::new(&device(), problem);
        let (plan, mut reduced) = data.formed();
        data.execute(&plan, &mut reduced, Damping::Marquardt(0.1)).unwrap();
        reduced.s().unwrap().download().unwrap()
    };
    assert_eq!(s(&Problem { v, ..problem.clone() }), s(&problem));
}
