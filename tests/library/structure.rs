//! Transposition, permutation and sum on the device, compared with serial references: the same
//! bits, also with new values, and no memory taken by executions.

use crate::common::{FAMILIES, Family, Random, blocks, device, scalars};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Part, Planned, Product,
    generate::{self, Values},
    matrix,
    plan::{Add, Permute, Transpose},
};
use half::f16;
use nalgebra::DMatrix;

fn shape(rows: usize, cols: usize) -> BlockShape {
    BlockShape::new(rows, cols).unwrap()
}

/// Checks for equal bits, except in the padding between blocks.
fn same<M: Matrix>(got: &M, want: &M, what: &str) {
    let (got, want) = (got.as_cbc(), want.as_cbc());
    assert_eq!(got.pattern, want.pattern, "{what}: pattern");
    assert_eq!(got.shape, want.shape, "{what}: shape");
    for entry in 0..want.pattern.nnz() {
        let bits = |block: &[M::Element]| bytemuck::cast_slice::<_, u8>(block).to_vec();
        assert_eq!(bits(got.block(entry)), bits(want.block(entry)), "{what}: entry {entry}");
    }
}

fn up<M: Matrix>(matrix: &M) -> DeviceMatrix<M> {
    device().upload(matrix).unwrap()
}

fn order(n: usize, seed: u64) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Random(seed));
    (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
    order
}

/// The same matrix by rows.
fn by_rows<T: Element>(matrix: &Cbc<T>) -> Bsr<T> {
    Bsr::from_transpose(matrix.transpose())
}

/// Scalars; squares; wide and tall blocks; areas below, at and above a work-group's items; the
/// largest. Some types use the first few only: each shape and type is a program to compile.
const SHAPES: [(usize, usize); 8] = [(1, 1), (2, 3), (6, 6), (9, 3), (16, 16), (1, 32), (32, 5), (32, 32)];
const FEW: usize = 3;

fn every_transpose<T: Element>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let what = format!("{r}x{c} of {}", T::NAME);
        let a = blocks::<T>(FAMILIES[seed], 30, 41, 4, shape(r, c), seed as u64);
        same(&up(&a).transposed().unwrap().download().unwrap(), &a.transpose(), &what);
        let aligned = a.with_alignment(64).unwrap();
        same(&up(&aligned).transposed().unwrap().download().unwrap(), &a.transpose(), &format!("{what}, aligned"));
        let rows = by_rows(&a);
        let transposed = up(&rows).transposed().unwrap();
        assert_eq!((transposed.nrows(), transposed.ncols(), transposed.shape()), (41, 30, shape(c, r)));
        same(&transposed.download().unwrap(), &by_rows(&a.transpose()), &format!("{what}, by rows"));
    }
}

#[test]
fn transposes_of_every_shape_and_type() {
    every_transpose::<f64>(&SHAPES);
    every_transpose::<f32>(&SHAPES[..FEW]);
    every_transpose::<f16>(&SHAPES[..FEW]);
}

#[test]
fn transposes_of_every_family_and_of_nothing() {
    for (seed, family) in FAMILIES.into_iter().enumerate() {
        // More columns than a group has items.
        let a = scalars::<f32>(family, 200, 150, 5, seed as u64);
        same(&up(&a).transposed().unwrap().download().unwrap(), &a.transpose(), &format!("{family:?}"));
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csc::<f64>::from_triplets(m, n, []).unwrap();
        same(&up(&empty).transposed().unwrap().download().unwrap(), &empty.transpose(), "empty");
    }
}

#[test]
fn bits_are_moved_as_they_are() {
    // NaNs, -inf, -0, a subnormal.
    let values = [0x7e01u16, 0xfc00, 0x8000, 0x0001, 0x7c01, 0x3c00].map(f16::from_bits);
    let a = Cbc::new(blockmul::matrix::Pattern::new(1, 1, vec![0, 1], vec![0]).unwrap(), shape(2, 3), values.to_vec())
        .unwrap();
    let back = up(&up(&a).transposed().unwrap().download().unwrap()).transposed().unwrap().download().unwrap();
    same(&back, &a, "there and back");
}

#[test]
fn new_values_through_one_plan() {
    let a = generate::Visibility { cameras: 20, points: 300, views: 4, shape: shape(6, 3), ..Default::default() }
        .matrix()
        .unwrap();
    let (mut da, order_of_rows, order_of_cols) = (up(&a), order(20, 1), order(300, 2));
    let transpose = Transpose::<Cbc<f64>>::new(&da.pattern()).unwrap();
    let permute = Permute::<Cbc<f64>>::new(&da.pattern(), &order_of_rows, &order_of_cols).unwrap();
    let (mut at, mut p) = (transpose.output().unwrap(), permute.output().unwrap());
    for step in 0..3 {
        let values = a.values().iter().map(|x| x * (step as f64 + 0.1)).collect();
        let now = Cbc::new(a.pattern().clone(), a.shape(), values).unwrap();
        da.write_values(now.values()).unwrap();
        transpose.execute(&da, &mut at).unwrap();
        permute.execute(&da, &mut p).unwrap();
        same(&at.download().unwrap(), &now.transpose(), "transpose");
        same(&p.download().unwrap(), &permuted(&now, &order_of_rows, &order_of_cols), "permuted");
    }
}

/// P·A·Qᵀ, computed block by block.
fn permuted<T: Element>(a: &Cbc<T>, rows: &[usize], cols: &[usize]) -> Cbc<T> {
    let to = |order: &[usize], old: usize| order.iter().position(|&index| index == old).unwrap();
    let blocks = a.blocks().map(|(i, j, block)| (to(rows, i), to(cols, j), block.into_owned()));
    Cbc::from_triplets(a.nrows(), a.ncols(), a.shape(), blocks).unwrap()
}

fn every_permutation<T: Element>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let (seed, what) = (seed as u64, format!("{r}x{c} of {}", T::NAME));
        let a = blocks::<T>(FAMILIES[seed as usize], 31, 23, 4, shape(r, c), seed);
        let (rows, cols) = (order(31, seed), order(23, seed + 50));
        let want = permuted(&a, &rows, &cols);
        let run = |a: &Cbc<T>| {
            let plan = Permute::<Cbc<T>>::new(&up(a).pattern(), &rows, &cols).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&up(a), &mut c).unwrap();
            c.download().unwrap()
        };
        same(&run(&a), &want, &what);
        same(&run(&a.with_alignment(32).unwrap()), &want, &format!("{what}, aligned"));
        let (by_row, plan) =
            (up(&by_rows(&a)), |a: &DeviceMatrix<Bsr<T>>| Permute::<Bsr<T>>::new(&a.pattern(), &rows, &cols));
        let plan = plan(&by_row).unwrap();
        let mut c = plan.output().unwrap();
        plan.execute(&by_row, &mut c).unwrap();
        same(&c.download().unwrap(), &by_rows(&want), &format!("{what}, by rows"));
    }
}

#[test]
fn permutations_of_every_shape_and_type() {
    every_permutation::<f64>(&SHAPES);
    every_permutation::<f32>(&SHAPES[..FEW]);
    every_permutation::<f16>(&SHAPES[..FEW]);
}

#[test]
fn permutations_of_every_family_and_of_nothing() {
    for (seed, family) in FAMILIES.into_iter().enumerate() {
        let a = scalars::<f64>(family, 150, 200, 6, seed as u64);
        let (rows, cols) = (order(150, 7), order(200, 8));
        let plan = Permute::<Csc<f64>>::new(&up(&a).pattern(), &rows, &cols).unwrap();
        let mut c = plan.output().unwrap();
        plan.execute(&up(&a), &mut c).unwrap();
        let (got, dense) = (c.download().unwrap(), a.to_dense());
        assert_eq!(got.nnz(), a.nnz());
        let want = DMatrix::from_fn(150, 200, |i, j| dense[(rows[i], cols[j])]);
        assert_eq!(got.to_dense(), want, "{family:?}: entry (i, j) is entry (rows[i], cols[j])");
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csc::<f64>::from_triplets(m, n, []).unwrap();
        let plan = Permute::<Csc<f64>>::new(&up(&empty).pattern(), &order(m, 1), &order(n, 2)).unwrap();
        same(&plan.output().unwrap().download().unwrap(), &empty, "empty");
    }
}

/// The part of a matrix on one side of the diagonal.
fn part<T: Element>(of: &Cbc<T>, part: Part) -> Cbc<T> {
    let keep = |row: usize, col: usize| match part {
        Part::Full => true,
        Part::Lower => row >= col,
        _ => row <= col,
    };
    let blocks = of.blocks().filter(|&(i, j, _)| keep(i, j)).map(|(i, j, block)| (i, j, block.into_owned()));
    Cbc::from_triplets(of.nrows(), of.ncols(), of.shape(), blocks).unwrap()
}

fn symmetric_permutations<T: Element>(graphs: &[(usize, usize)]) {
    for &(poses, freedom) in graphs {
        let h: Cbc<T> =
            generate::PoseChain { poses, closures: 10.min(poses / 2), freedom, seed: 3, ..Default::default() }
                .matrix()
                .unwrap()
                .cast();
        let order = order(poses, freedom as u64);
        let whole = permuted(&h, &order, &order);
        for stored in [Part::Full, Part::Lower, Part::Upper] {
            let what = format!("{stored:?} of {freedom}x{freedom} of {}", T::NAME);
            let (s, want) = (part(&h, stored), part(&whole, stored));
            let ds = up(&s);
            let plan = Permute::<Cbc<T>>::symmetric(&ds.pattern(), &order, stored).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&ds, &mut c).unwrap();
            same(&c.download().unwrap(), &want, &what);
            let ds = up(&by_rows(&s));
            let plan = Permute::<Bsr<T>>::symmetric(&ds.pattern(), &order, stored).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&ds, &mut c).unwrap();
            same(&c.download().unwrap(), &by_rows(&want), &format!("{what}, by rows"));
        }
    }
}

#[test]
fn a_stored_triangle_stays_one() {
    let poses_and_freedom = [(40, 1), (40, 3), (1, 3), (30, 6), (12, 16)];
    symmetric_permutations::<f64>(&poses_and_freedom);
    symmetric_permutations::<f32>(&poses_and_freedom[..2]);
    symmetric_permutations::<f16>(&poses_and_freedom[..2]);
}

#[test]
fn what_is_no_permutation_or_no_triangle_is_refused() {
    let h = up(&generate::PoseChain { poses: 5, closures: 0, freedom: 2, ..Default::default() }.matrix().unwrap());
    let told = |result: Result<Permute<Cbc<f64>>, Error>| result.unwrap_err().to_string();
    let (good, short, twice, outside) = ([4, 3, 2, 1, 0], [0, 1, 2], [0, 1, 2, 3, 1], [0, 1, 2, 3, 5]);
    let plan = |rows: &[usize], cols: &[usize]| Permute::<Cbc<f64>>::new(&h.pattern(), rows, cols);
    assert_eq!(told(plan(&short, &good)), "row permutation: 3 indices for a matrix that has 5");
    assert_eq!(told(plan(&good, &twice)), "column permutation: index 1 is at place 1 and at place 4");
    assert_eq!(told(plan(&outside, &good)), "row permutation: index 5 at place 4 is outside 0..5");
    let symmetric = |stored| Permute::<Cbc<f64>>::symmetric(&h.pattern(), &good, stored);
    let lower = told(symmetric(Part::Lower));
    assert!(lower.contains("4 entries are above the diagonal"), "{lower}");
    assert!(told(symmetric(Part::Upper)).contains("4 entries are below the diagonal"));
    let rows = up(&by_rows(&part(&h.download().unwrap(), Part::Upper)));
    let told = Permute::<Bsr<f64>>::symmetric(&rows.pattern(), &good, Part::Lower).unwrap_err().to_string();
    assert!(told.contains("4 entries are above the diagonal"), "{told}");
    for wide in
        [blocks::<f64>(Family::Banded, 5, 5, 1, shape(2, 3), 1), blocks(Family::Banded, 5, 4, 1, shape(2, 2), 1)]
    {
        let result = Permute::<Cbc<f64>>::symmetric(&up(&wide).pattern(), &good, Part::Full);
        assert!(result.unwrap_err().to_string().contains("is not square"));
    }
    assert!(Permute::<Csc<f64>>::new(&h.pattern(), &good, &good).is_err(), "another type of matrix");
}

fn every_sum<T: Element<Arithmetic: From<f32>>>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let (seed, what) = (seed as u64, format!("{r}x{c} of {}", T::NAME));
        let real = |cols, seed| {
            generate::Uniform { rows: 30, cols, per_column: 4, shape: shape(r, c), seed, ..Default::default() }
                .matrix()
                .unwrap()
                .cast::<T>()
        };
        let (a, b) = (real(25, seed), blocks::<T>(FAMILIES[seed as usize], 30, 25, 3, shape(r, c), seed));
        for (alpha, beta) in [(1.0f32, 1.0f32), (-0.3, 0.7), (0.0, -1.5)] {
            let want = matrix::add(alpha.into(), &a, beta.into(), &b).unwrap();
            let aligned = (a.with_alignment(64).unwrap(), b.with_alignment(16).unwrap());
            for (a, b) in [(&a, &b), (&aligned.0, &b), (&a, &aligned.1)] {
                same(&sum(alpha.into(), a, beta.into(), b), &want, &what);
            }
            let got = sum(alpha.into(), &by_rows(&a), beta.into(), &by_rows(&b));
            same(&got, &by_rows(&want), &format!("{what}, by rows"));
        }
    }
}

fn sum<M: Matrix>(alpha: f64, a: &M, beta: f64, b: &M) -> M {
    let (a, b) = (up(a), up(b));
    let plan = Add::<M>::new(&a.pattern(), &b.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    plan.execute([(alpha, &a), (beta, &b)], &mut c).unwrap();
    c.download().unwrap()
}

#[test]
fn sums_have_the_bits_of_the_hosts() {
    every_sum::<f64>(&SHAPES);
    every_sum::<f32>(&SHAPES[..FEW]);
    every_sum::<f16>(&SHAPES[..FEW]);
}

#[test]
fn a_factor_of_zero_spreads_no_nan() {
    let a = scalars::<f64>(FAMILIES[0], 300, 200, 9, 1);
    let nan = Csc::new(a.pattern().clone(), vec![f64::NAN; a.nnz()]).unwrap();
    let b = scalars(FAMILIES[1], 300, 200, 8, 2);
    let c = sum(0.0, &nan, -1.0, &b);
    assert!(c.values().iter().all(|value| value.is_finite()) && c.nnz() > b.nnz());
    same(&c, &matrix::add(0.0, &nan, -1.0, &b).unwrap(), "A");
    same(&sum(-1.0, &b, 0.0, &nan), &c, "B");
}

#[test]
fn sums_of_every_two_families_and_of_nothing() {
    for (seed, left) in FAMILIES.into_iter().enumerate() {
        for right in FAMILIES {
            // More entries than a tile of the scan has.
            let (a, b) = (scalars::<f64>(left, 300, 900, 9, seed as u64), scalars(right, 300, 900, 8, 77));
            same(&sum(2.0, &a, -1.0, &b), &matrix::add(2.0, &a, -1.0, &b).unwrap(), &format!("{left:?} and {right:?}"));
        }
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csr::<f64>::new(m, n, vec![0; m + 1], vec![], vec![]).unwrap();
        same(&sum(1.0, &empty, 1.0, &empty), &empty, "empty");
    }
    // A zero that only one matrix has keeps its sign.
    let (a, b) =
        (Csc::from_triplets(2, 1, [(0, 0, -0.0f64)]).unwrap(), Csc::from_triplets(2, 1, [(1, 0, -0.0)]).unwrap());
    assert!(sum(1.0, &a, 1.0, &b).values().iter().all(|x| x.to_bits() == (-0.0f64).to_bits()));
}

#[test]
fn what_cannot_be_added_is_refused() {
    let of = |nrows, r, c| up(&blocks::<f64>(Family::Banded, nrows, 4, 2, shape(r, c), 1));
    let (a, other) = (of(6, 2, 3), of(6, 3, 2));
    let told = |b: &DeviceMatrix<Cbc<f64>>| Add::<Cbc<f64>>::new(&a.pattern(), &b.pattern()).unwrap_err().to_string();
    assert_eq!(told(&other), "cannot add: A is 6x4 blocks of 2x3, B is 6x4 blocks of 3x2");
    assert_eq!(told(&of(5, 2, 3)), "cannot add: A is 6x4 blocks of 2x3, B is 5x4 blocks of 2x3");
    let elsewhere = Device::open(device().info()).unwrap().upload(&a.download().unwrap()).unwrap();
    assert!(matches!(Add::<Cbc<f64>>::new(&a.pattern(), &elsewhere.pattern()), Err(Error::DeviceMismatch { .. })));
    assert!(Add::<Bsr<f64>>::new(&a.pattern(), &a.pattern()).is_err(), "another type of matrix");
}

#[test]
fn another_pattern_is_refused_and_an_equal_one_is_not() {
    let of = |seed| {
        up(&generate::Uniform { rows: 30, cols: 30, per_column: 4, shape: shape(2, 2), seed, ..Default::default() }
            .matrix()
            .unwrap())
    };
    let (a, other, again) = (of(1), of(2), of(1));
    assert_eq!(a.nnz(), other.nnz(), "the sizes are the same");
    let identity: Vec<_> = (0..30).collect();
    let transpose = Transpose::<Cbc<f64>>::new(&a.pattern()).unwrap();
    let permute = Permute::<Cbc<f64>>::new(&a.pattern(), &identity, &identity).unwrap();
    let add = Add::<Cbc<f64>>::new(&a.pattern(), &a.pattern()).unwrap();
    let (mut t, mut p, mut s) = (transpose.output().unwrap(), permute.output().unwrap(), add.output().unwrap());
    transpose.execute(&again, &mut t).unwrap();
    permute.execute(&again, &mut p).unwrap();
    add.execute([(1.0, &again), (1.0, &a)], &mut s).unwrap();
    same(&p.download().unwrap(), &a.download().unwrap(), "the identity");
    let told = |result: Result<blockmul::foreign::Marker, Error>, name: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with(&format!("{name} does not have the pattern of the plan")), "{message}");
    };
    told(transpose.execute(&other, &mut t), "A");
    told(permute.execute(&other, &mut p), "A");
    told(add.execute([(1.0, &other), (1.0, &a)], &mut s), "A");
    told(add.execute([(1.0, &a), (1.0, &other)], &mut s), "B");
    let mut wrong = of(2);
    told(transpose.execute(&a, &mut wrong), "C");
    told(permute.execute(&a, &mut wrong), "C");
    told(add.execute([(1.0, &a), (1.0, &a)], &mut wrong), "C");
}

#[test]
fn executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // counters of its own
    let h = part(
        &generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix().unwrap(),
        Part::Lower,
    );
    let (dh, order) = (device.upload(&h).unwrap(), order(60, 5));
    let transpose = Transpose::<Cbc<f64>>::new(&dh.pattern()).unwrap();
    let permute = Permute::<Cbc<f64>>::symmetric(&dh.pattern(), &order, Part::Lower).unwrap();
    let (mut t, mut p) = (transpose.output().unwrap(), permute.output().unwrap());
    let add = Add::<Cbc<f64>>::new(&dh.pattern(), transpose.pattern()).unwrap();
    let mut s = add.output().unwrap();
    let before = device.counters();
    for _ in 0..50 {
        transpose.execute(&dh, &mut t).unwrap();
        permute.execute(&dh, &mut p).unwrap();
        add.execute([(1.0, &dh), (1.0, &t)], &mut s).unwrap();
    }
    device.finish().unwrap();
    let after = device.counters();
    assert_eq!((after.buffers_taken, after.read_backs), (before.buffers_taken, before.read_backs));
    assert_eq!(after.commands, before.commands + 150, "one kernel each");
    same(&s.download().unwrap(), &matrix::add(1.0, &h, 1.0, &h.transpose()).unwrap(), "the sum");
    assert!(transpose.cost().device_bytes > 0 && permute.cost().device_bytes > 0 && add.cost().device_bytes > 0);
}

/// The use they are made for: S of a bundle adjustment, damped, in another order, from patterns
/// that were planned on the device.
#[test]
fn plans_meet_plans() {
    let w = generate::Visibility {
        cameras: 25,
        points: 200,
        views: 3,
        shape: shape(6, 3),
        values: Values::Integer,
        seed: 4,
    }
    .matrix()
    .unwrap();
    let dw = up(&w);
    let transpose = Transpose::<Cbc<f64>>::new(&dw.pattern()).unwrap();
    let mut wt = transpose.output().unwrap();
    let multiply = Product::of(&dw.pattern(), transpose.pattern()).plan::<Cbc<f64>>().unwrap();
    let mut s = multiply.output().unwrap();
    let add = Add::<Cbc<f64>>::new(multiply.pattern(), multiply.pattern()).unwrap();
    let order = order(25, 9);
    let permute = Permute::<Cbc<f64>>::new(add.pattern(), &order, &order).unwrap();
    let (mut d, mut p) = (add.output().unwrap(), permute.output().unwrap());

    transpose.execute(&dw, &mut wt).unwrap();
    multiply.execute((&dw, &wt), &mut s).unwrap();
    add.execute([(1.0, &s), (0.5, &s)], &mut d).unwrap();
    permute.execute(&d, &mut p).unwrap();
    let dense = w.to_dense() * w.to_dense().transpose() * 1.5;
    let want = DMatrix::from_fn(150, 150, |i, j| dense[(order[i / 6] * 6 + i % 6, order[j / 6] * 6 + j % 6)]);
    assert_eq!(p.download().unwrap().to_dense(), want);
}

#[test]
fn two_threads_execute_one_plan() {
    let a =
        generate::Uniform { rows: 200, cols: 200, per_column: 6, shape: shape(3, 3), seed: 8, ..Default::default() }
            .matrix()
            .unwrap();
    let (da, want) = (up(&a), a.transpose());
    let plan = Transpose::<Cbc<f64>>::new(&da.pattern()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut c = plan.output().unwrap();
                    plan.execute(&da, &mut c).unwrap();
                    same(&c.download().unwrap(), &want, "threads");
                }
            });
        }
    });
}
