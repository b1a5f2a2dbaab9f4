//! Matrices with vectors against the reference: the same bits for every matrix type, block shape and direction; nothing allocated or read
//! in an execution.
mod common;

use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceVector, Diagonal, Element, Error, MatVec, Matrix, Norms, generate,
    generate::Values, reference,
};
use common::{FAMILIES, Family, Random, blocks, device, scalars};
use half::f16;
use nalgebra::{DMatrix, DVector};

fn shape(rows: usize, cols: usize) -> BlockShape {
    BlockShape::new(rows, cols).unwrap()
}

fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Numbers of many magnitudes, so that another order of summation gives other bits.
fn reals<T: Element>(n: usize, seed: u64) -> Vec<T> {
    let mut random = Random(seed);
    let real = |random: &mut Random| (random.below(2001) as f64 - 1000.0) * 2f64.powi(random.below(13) as i32 - 16);
    (0..n).map(|_| T::from_f64(real(&mut random))).collect()
}

/// The same places with other values.
fn with_reals<T: Element>(a: &Cbc<T>, seed: u64) -> Cbc<T> {
    Cbc::with_stride(a.pattern().clone(), a.shape(), a.stride(), reals(a.values().len(), seed)).unwrap()
}

fn scalar_sides<M: Matrix>(a: &M) -> (usize, usize) {
    let a = a.as_cbc();
    let (rows, cols) = (a.pattern.nrows() * a.shape.rows(), a.pattern.ncols() * a.shape.cols());
    if M::ROW_MAJOR { (cols, rows) } else { (rows, cols) }
}

/// Everything that is made of one matrix, against the reference.
fn check<M: Matrix>(a: &M, what: &str) {
    let device = device();
    let (rows, cols) = scalar_sides(a);
    let da = device.upload(a).unwrap();
    for (transposed, x_len, y_len) in [(false, cols, rows), (true, rows, cols)] {
        let (x, y) = (reals::<M::Element>(x_len, 11), reals::<M::Element>(y_len, 12));
        let plan = match transposed {
            false => MatVec::<M>::multiply(&da.pattern()),
            true => MatVec::<M>::multiply_transposed(&da.pattern()),
        };
        let plan = plan.unwrap();
        assert_eq!((plan.x_len(), plan.y_len()), (x_len, y_len));
        let (dx, mut dy) = (device.upload_vector(&x).unwrap(), device.upload_vector(&y).unwrap());
        for (alpha, beta) in [(1.0, 0.0), (-0.3, 1.7)] {
            dy.write(&y).unwrap();
            plan.execute_scaled(alpha, &da, &dx, beta, &mut dy).unwrap();
            let mut want = y.clone();
            match transposed {
                false => reference::multiply_vector(alpha, a, &x, beta, &mut want).unwrap(),
                true => reference::multiply_vector_transposed(alpha, a, &x, beta, &mut want).unwrap(),
            }
            assert_eq!(bits(&dy.download().unwrap()), bits(&want), "{what}, {alpha} {beta}, transposed {transposed}");
        }
    }
    for (norms, want, name) in [
        (Norms::<M>::columns(&da.pattern()), reference::column_norms(a), "columns"),
        (Norms::<M>::rows(&da.pattern()), reference::row_norms(a), "rows"),
        (Norms::<M>::block_columns(&da.pattern()), reference::block_column_norms(a), "block columns"),
        (Norms::<M>::block_rows(&da.pattern()), reference::block_row_norms(a), "block rows"),
    ] {
        let norms = norms.unwrap();
        let mut found = norms.output().unwrap();
        norms.execute(&da, &mut found).unwrap();
        assert_eq!(bits(&found.download().unwrap()), bits(&want), "norms of {name} of {what}");
    }
    for by_columns in [false, true] {
        let d = reals::<M::Element>(if by_columns { cols } else { rows }, 13);
        let mut scaled = device.upload(a).unwrap();
        let dd = device.upload_vector(&d).unwrap();
        let want = match by_columns {
            true => scaled.scale_columns(&dd).and_then(|()| reference::scale_columns(a, &d)),
            false => scaled.scale_rows(&dd).and_then(|()| reference::scale_rows(a, &d)),
        };
        let (found, want) = (scaled.download().unwrap(), want.unwrap());
        assert_eq!(bits(found.as_cbc().values), bits(want.as_cbc().values), "{what} scaled, columns {by_columns}");
    }
}

/// The same entries in every matrix type that holds them, and with blocks apart.
fn check_types<T: Element>(a: &Cbc<T>, what: &str) {
    check(a, what);
    check(&Bsr::from_transpose(a.clone()), &format!("{what} by rows"));
    if a.shape() == BlockShape::SCALAR {
        check(&a.to_scalars(), &format!("{what} as scalars"));
        check(&Csr::from_transpose(a.to_scalars()), &format!("{what} as scalars by rows"));
    } else {
        check(&a.with_alignment(64).unwrap(), &format!("{what}, aligned"));
    }
}

/// Blocks in tiles of many, of few (16x16 is the last), and too large for tiles; rows, columns, squares.
const SHAPES: [(usize, usize); 5] = [(2, 3), (18, 17), (1, 1), (16, 16), (32, 32)];

fn every_shape<T: Element>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let a = blocks::<T>(Family::Uniform, 23, 19, 4, shape(r, c), seed as u64);
        check_types(&with_reals(&a, seed as u64), &format!("{r}x{c} of {}", T::NAME));
    }
}

#[test]
fn doubles_of_every_shape_have_the_bits_of_the_reference() {
    every_shape::<f64>(&SHAPES);
}

#[test]
fn floats_and_halves_have_the_bits_of_the_reference() {
    every_shape::<f32>(&SHAPES[..2]);
    every_shape::<f16>(&SHAPES[..2]);
}

#[test]
fn every_family_of_patterns() {
    for family in FAMILIES {
        for (r, c) in [(1, 1), (2, 3)] {
            let a = blocks::<f64>(family, 150, 130, 6, shape(r, c), 5);
            check_types(&with_reals(&a, 7), &format!("{family:?} of {r}x{c}"));
        }
    }
}

#[test]
fn matrices_without_rows_columns_or_entries() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (2, 3), (3000, 2000)] {
        for block in [shape(1, 1), shape(2, 3), shape(18, 17)] {
            let none: [(usize, usize, DMatrix<f64>); 0] = [];
            let a = Cbc::from_triplets(rows, cols, block, none).unwrap();
            check_types(&a, &format!("{rows}x{cols} of {block}"));
        }
    }
    // A sum of nothing is 0, not -0.
    let a = device().upload(&Csc::<f64>::from_triplets(2, 2, []).unwrap()).unwrap();
    let mut y = device().upload_vector(&[f64::NAN; 2]).unwrap();
    let x = device().zero_vector(2).unwrap();
    MatVec::<Csc<f64>>::multiply(&a.pattern()).unwrap().execute(&a, &x, &mut y).unwrap();
    assert_eq!(bits(&y.download().unwrap()), bits(&[0.0f64; 2]));
}

/// Rows and columns at, above and far above what a piece holds, among short ones.
#[test]
fn long_rows_and_columns_are_cut_where_the_reference_cuts_them() {
    for (block, length) in [((1, 1), 1024), ((1, 1), 1025), ((1, 1), 20_000), ((2, 3), 2500), ((18, 17), 1030)] {
        let block = shape(block.0, block.1);
        let mut random = Random(3);
        let long = (0..length).flat_map(|k| [(2, k), (k % 6, (k * 7) % length)]);
        let block_of = |random: &mut Random| {
            DMatrix::from_fn(block.rows(), block.cols(), |_, _| random.below(2001) as f64 * 0.001 - 1.0)
        };
        let mut places: Vec<(usize, usize)> = long.collect();
        places.sort_unstable();
        places.dedup();
        let triplets = places.into_iter().map(|(i, j)| (i, j, block_of(&mut random)));
        let a = Cbc::from_triplets(6, length, block, triplets).unwrap();
        check_types(&a, &format!("{length} of {block}"));
    }
}

/// The order of a row's sum is that of a product with a matrix of one column.
#[test]
fn a_vector_is_a_matrix_of_one_column() {
    let a = generate::uniform(40, 3000, 30, shape(3, 2), Values::Real, 4).unwrap();
    let x = reals::<f64>(a.scalar_cols(), 5);
    let column = Cbc::from_triplets(
        a.ncols(),
        1,
        shape(2, 1),
        x.chunks(2).enumerate().map(|(k, x)| (k, 0, DMatrix::from_column_slice(2, 1, x))),
    );
    let product = reference::multiply(&a, &column.unwrap()).unwrap();
    let mut y = vec![0.0; a.scalar_rows()];
    reference::multiply_vector(1.0, &a, &x, 0.0, &mut y).unwrap();
    assert_eq!(product.nnz(), a.nrows());
    assert_eq!(bits(product.values()), bits(&y));
}

/// Integers, where every order gives the same: against nalgebra.
#[test]
fn whole_numbers_agree_with_dense_matrices() {
    let a = blocks::<f64>(Family::Arrow, 30, 20, 3, shape(2, 3), 9);
    let rows = Bsr::from_transpose(a.transpose());
    let dense = a.to_dense();
    let x = DVector::from_fn(dense.ncols(), |i, _| (i % 7) as f64 - 3.0);
    let z = DVector::from_fn(dense.nrows(), |i, _| (i % 5) as f64 - 2.0);
    let vector = |x: &DVector<f64>| device().upload_vector(x.as_slice()).unwrap();
    let (da, dr) = (device().upload(&a).unwrap(), device().upload(&rows).unwrap());
    let (mut y, mut g) = (vector(&z), vector(&x));

    MatVec::<Cbc<f64>>::multiply(&da.pattern()).unwrap().execute_scaled(2.0, &da, &vector(&x), 3.0, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), (2.0 * &dense * &x + 3.0 * &z).as_slice());
    let transposed = MatVec::<Bsr<f64>>::multiply_transposed(&dr.pattern()).unwrap();
    transposed.execute_scaled(-1.0, &dr, &vector(&z), 1.0, &mut g).unwrap();
    assert_eq!(g.download().unwrap(), (&x - dense.transpose() * &z).as_slice());
    assert_eq!(transposed.flops(), 2 * 6 * a.nnz() as u64);

    let norms = Norms::<Bsr<f64>>::columns(&dr.pattern()).unwrap();
    let mut found = norms.output().unwrap();
    norms.execute(&dr, &mut found).unwrap();
    let want: Vec<f64> = dense.column_iter().map(|column| column.norm_squared().sqrt()).collect();
    assert_eq!(found.download().unwrap(), want);
    let frobenius = Norms::<Cbc<f64>>::block_rows(&da.pattern()).unwrap();
    let mut found = frobenius.output().unwrap();
    frobenius.execute(&da, &mut found).unwrap();
    let want: Vec<f64> = (0..30).map(|i| dense.rows(2 * i, 2).norm_squared().sqrt()).collect();
    assert_eq!(found.download().unwrap(), want);

    let mut scaled = device().upload(&rows).unwrap();
    scaled.scale_columns(&vector(&x)).unwrap();
    scaled.scale_rows(&vector(&z)).unwrap();
    let want = DMatrix::from_diagonal(&z) * dense * DMatrix::from_diagonal(&x);
    assert_eq!(scaled.download().unwrap().into_transpose().to_dense(), want.transpose());
}

/// Roots of floats, from the least subnormal to the largest sum, are rounded to nearest.
#[test]
fn norms_of_single_floats_are_their_magnitudes_and_of_pairs_rounded_to_nearest() {
    let mut random = Random(1);
    let mut values: Vec<f32> = vec![0.0, 1e-45, 3e-23, 1.5e-22, 1.1e-19, 1.0, 3.0, 1.8e19, 1e20, f32::NAN];
    values.extend((0..2000).map(|_| f32::from_bits((random.below(0x3000_0000) + 0x2000_0000) as u32)));
    let n = values.len();
    let a: Csc<f32> =
        Csc::from_triplets(2, n, values.iter().enumerate().flat_map(|(j, &v)| [(0, j, v), (1, j, 0.7 * v)])).unwrap();
    let da = device().upload(&a).unwrap();
    let norms = Norms::<Csc<f32>>::columns(&da.pattern()).unwrap();
    let mut found = norms.output().unwrap();
    norms.execute(&da, &mut found).unwrap();
    for (&v, found) in values.iter().zip(found.download().unwrap()) {
        let want = (v * v + (0.7 * v) * (0.7 * v)).sqrt();
        assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{v}: {found} for {want}");
    }
}

fn diagonal_of<M: Matrix + PartialEq + std::fmt::Debug>(a: &M) {
    let da = device().upload(a).unwrap();
    let diagonal = Diagonal::<M>::new(&da.pattern()).unwrap();
    let mut d = diagonal.output().unwrap();
    let mut scalars = device().upload_vector(&reals::<M::Element>(scalar_sides(a).0, 2)).unwrap();
    diagonal.execute(&da, &mut d).unwrap();
    diagonal.execute_scalars(&da, &mut scalars).unwrap();
    let want = reference::diagonal(a).unwrap();
    assert_eq!(d.download().unwrap(), want);
    let (dense, scalars) = (a.as_cbc().to_dense(), scalars.download().unwrap());
    assert!((0..scalars.len()).all(|i| scalars[i] == dense[(i, i)]));
    // What was in the output does not matter, nor how far apart its blocks are.
    diagonal.execute(&da, &mut d).unwrap();
    assert_eq!(d.download().unwrap(), want);
}

#[test]
fn diagonals_of_blocks_and_of_scalars() {
    for side in [1, 3, 6, 7, 32] {
        for family in [Family::Uniform, Family::Banded, Family::Arrow, Family::AllEmpty] {
            let a = blocks::<f64>(family, 40, 40, 9, shape(side, side), 3);
            diagonal_of(&a);
            diagonal_of(&a.with_alignment(64).unwrap());
            diagonal_of(&Bsr::from_transpose(a.clone()));
            diagonal_of(&a.cast::<f16>());
        }
    }
    diagonal_of(&scalars::<f32>(Family::Uniform, 500, 500, 20, 1));
    diagonal_of(&Csr::from_transpose(scalars::<f64>(Family::DenseRow, 500, 500, 20, 1)));
    diagonal_of(&Csc::<f64>::from_triplets(0, 0, []).unwrap());
    let oblong = |rows, cols, r, c| {
        let a = device().upload(&blocks::<f64>(Family::Uniform, rows, cols, 2, shape(r, c), 1)).unwrap();
        Diagonal::<Cbc<f64>>::new(&a.pattern()).err()
    };
    for error in [oblong(4, 5, 2, 2), oblong(4, 4, 2, 3), oblong(6, 4, 2, 3)] {
        assert!(matches!(error, Some(Error::Argument(message)) if message.contains("not square")));
    }
}

fn vector_arithmetic<T: Element>(longest: usize) {
    // Around a group, a piece, and pieces.
    for n in [0, 1, 2, 127, 128, 511, 512, 513, 1023, 1024, 1025, 5000, longest] {
        let (x, y) = (reals::<T>(n, 1), reals::<T>(n, 2));
        let (dx, mut dy) = (device().upload_vector(&x).unwrap(), device().upload_vector(&y).unwrap());
        let dot = dx.dot(&dy).unwrap();
        assert_eq!(dot.to_bits(), reference::dot(&x, &y).unwrap().to_bits(), "{n} of {}", T::NAME);
        let exact: f64 = x.iter().zip(&y).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
        let size: f64 = x.iter().zip(&y).map(|(x, y)| (x.to_f64() * y.to_f64()).abs()).sum();
        assert!((dot - exact).abs() <= 30.0 * T::ARITHMETIC_ROUNDOFF * size, "{n} of {}: {dot} {exact}", T::NAME);
        assert_eq!(dx.norm().unwrap(), reference::dot(&x, &x).unwrap().sqrt());

        let number = |x: f64| nalgebra::convert::<f64, T::Arithmetic>(x);
        dy.axpby(0.3, &dx, -1.7).unwrap();
        let want: Vec<T> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| {
                let second = number(-1.7) * y.widen();
                T::narrow(number(0.3) * x.widen() + second)
            })
            .collect();
        assert_eq!(bits(&dy.download().unwrap()), bits(&want));
        dy.axpy(0.3, &dx).unwrap();
        let want: Vec<T> = x.iter().zip(&want).map(|(x, y)| T::narrow(number(0.3) * x.widen() + y.widen())).collect();
        assert_eq!(bits(&dy.download().unwrap()), bits(&want));
        dy.scale(0.1).unwrap();
        let want: Vec<T> = want.iter().map(|y| T::narrow(number(0.1) * y.widen())).collect();
        assert_eq!(bits(&dy.download().unwrap()), bits(&want));
        dy.copy_from(&dx).unwrap();
        assert_eq!(bits(&dy.download().unwrap()), bits(&x));
    }
    let mut y = device().upload_vector(&[T::from_f64(f64::NAN)]).unwrap();
    y.axpby(2.0, &device().upload_vector(&[T::from_f64(3.0)]).unwrap(), 0.0).unwrap();
    assert_eq!(y.download().unwrap(), [T::from_f64(6.0)]);
}

#[test]
fn vectors_with_vectors() {
    vector_arithmetic::<f64>(10_000);
    vector_arithmetic::<f32>(1024 * 1024 + 1);
    vector_arithmetic::<f16>(3000);
}

#[test]
fn operands_of_other_lengths_patterns_types_or_devices_are_refused() {
    let of = |seed| device().upload(&blocks::<f64>(Family::Uniform, 30, 20, 3, shape(2, 3), seed)).unwrap();
    let (a, other) = (of(1), of(2));
    let plan = MatVec::<Cbc<f64>>::multiply(&a.pattern()).unwrap();
    let vector = |n| device().zero_vector::<f64>(n).unwrap();
    let (x, mut y) = (vector(60), plan.output().unwrap());
    plan.execute(&of(1), &x, &mut y).unwrap();
    assert!(plan.execute(&other, &x, &mut y).unwrap_err().to_string().starts_with("A has not the pattern of the plan"));
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    assert_eq!(text(plan.execute(&a, &vector(59), &mut y)), "x has 59 elements, 60 expected (A is 60x60 scalars)");
    assert!(text(plan.execute(&a, &x, &mut vector(61))).starts_with("y has 61 elements"));
    let mut scaled = of(1);
    assert!(text(scaled.scale_columns(&vector(20))).starts_with("d has 20 elements, 60 expected"));
    assert!(text(scaled.scale_rows(&vector(30))).starts_with("d has 30 elements, 60 expected"));
    assert!(text(x.dot(&vector(3)).map(|_| ())).starts_with("other has 3 elements, 60 expected"));
    let norms = Norms::<Cbc<f64>>::columns(&a.pattern()).unwrap();
    assert!(norms.execute(&other, &mut vector(60)).is_err());
    assert!(text(norms.execute(&a, &mut vector(20))).starts_with("norms has 20 elements, 60 expected"));
    assert!(matches!(MatVec::<Bsr<f64>>::multiply(&a.pattern()), Err(Error::Argument(_))));
    assert!(matches!(Norms::<Csc<f64>>::rows(&a.pattern()), Err(Error::Argument(_))));

    let elsewhere = Device::open(device().info()).unwrap();
    let foreign: DeviceVector<f64> = elsewhere.zero_vector(60).unwrap();
    assert!(matches!(plan.execute(&a, &foreign, &mut y), Err(Error::DeviceMismatch { .. })));
    assert!(matches!(x.dot(&foreign), Err(Error::DeviceMismatch { .. })));
    assert!(matches!(scaled.scale_rows(&foreign), Err(Error::DeviceMismatch { .. })));

    let square = device().upload(&blocks::<f64>(Family::Banded, 30, 30, 3, shape(2, 2), 1)).unwrap();
    let diagonal = Diagonal::<Cbc<f64>>::new(&square.pattern()).unwrap();
    let mut wrong = device().upload(&blocks::<f64>(Family::Banded, 30, 30, 1, shape(3, 3), 1)).unwrap();
    assert!(diagonal.execute(&square, &mut wrong).is_err());
    assert!(diagonal.execute(&wrong, &mut diagonal.output().unwrap()).is_err());
    assert!(diagonal.execute_scalars(&square, &mut vector(30)).is_err());
}

#[test]
fn executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // counters of its own
    let host = generate::pose_graph(60, 90, 3, Values::Real, 2).unwrap();
    let mut a = device.upload(&host).unwrap();
    let pattern = a.pattern();
    let multiply = MatVec::<Cbc<f64>>::multiply(&pattern).unwrap();
    let transposed = MatVec::<Cbc<f64>>::multiply_transposed(&pattern).unwrap();
    let norms = Norms::<Cbc<f64>>::columns(&pattern).unwrap();
    let diagonal = Diagonal::<Cbc<f64>>::new(&pattern).unwrap();
    let x = device.upload_vector(&reals::<f64>(180, 1)).unwrap();
    let (mut y, mut g, mut n) = (multiply.output().unwrap(), transposed.output().unwrap(), norms.output().unwrap());
    let (mut d, mut s) = (diagonal.output().unwrap(), diagonal.scalar_output().unwrap());
    let ones = device.upload_vector(&[1.0; 180]).unwrap();
    let before = device.counters();
    for _ in 0..100 {
        multiply.execute(&a, &x, &mut y).unwrap();
        transposed.execute(&a, &y, &mut g).unwrap();
        norms.execute(&a, &mut n).unwrap();
        diagonal.execute(&a, &mut d).unwrap();
        diagonal.execute_scalars(&a, &mut s).unwrap();
        a.scale_columns(&ones).unwrap();
        a.scale_rows(&ones).unwrap();
        g.axpby(1.0, &n, 0.0).unwrap();
    }
    device.finish().unwrap();
    let after = device.counters();
    assert_eq!(
        (after.buffers_created, after.buffers_taken, after.read_backs),
        (before.buffers_created, before.buffers_taken, before.read_backs)
    );
    assert!(after.commands >= before.commands + 800);
    // A dot product reads one number and takes its memory from the pool, which made it once.
    x.dot(&ones).unwrap();
    let before = device.counters();
    x.dot(&ones).unwrap();
    let after = device.counters();
    assert_eq!((after.buffers_created, after.read_backs), (before.buffers_created, before.read_backs + 1));
}

#[test]
fn conjugate_gradients_by_blocks_and_two_threads() {
    // H = JᵀJ + I of a pose graph, solved matrix-free, preconditioned by nothing; both threads share the plans.
    let j = generate::pose_graph(40, 60, 3, Values::Real, 6).unwrap();
    let (dj, n) = (device().upload(&j).unwrap(), j.scalar_cols());
    let forward = MatVec::<Cbc<f64>>::multiply(&dj.pattern()).unwrap();
    let adjoint = MatVec::<Cbc<f64>>::multiply_transposed(&dj.pattern()).unwrap();
    let b = reals::<f64>(n, 8);
    let solve = || {
        let (mut x, mut r) = (device().zero_vector(n).unwrap(), device().upload_vector(&b).unwrap());
        let mut p = device().upload_vector(&b).unwrap();
        let (mut jp, mut hp) = (forward.output().unwrap(), adjoint.output().unwrap());
        let mut rr = r.dot(&r).unwrap();
        for _ in 0..400 {
            forward.execute(&dj, &p, &mut jp).unwrap();
            hp.copy_from(&p).unwrap();
            adjoint.execute_scaled(1.0, &dj, &jp, 1.0, &mut hp).unwrap();
            let alpha = rr / p.dot(&hp).unwrap();
            x.axpy(alpha, &p).unwrap();
            r.axpy(-alpha, &hp).unwrap();
            let next = r.dot(&r).unwrap();
            p.axpby(1.0, &r, next / rr).unwrap();
            rr = next;
            if rr.sqrt() < 1e-12 {
                break;
            }
        }
        x.download().unwrap()
    };
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(solve);
        (solve(), other.join().unwrap())
    });
    assert_eq!(bits(&one), bits(&two));
    let dense = j.to_dense();
    let h = dense.transpose() * dense + DMatrix::identity(n, n);
    let residual = h * DVector::from_vec(one) - DVector::from_vec(b);
    assert!(residual.norm() < 1e-9, "{}", residual.norm());
}
