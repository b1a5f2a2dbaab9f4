//! Products, norms, and rows and columns that are scaled.
use super::{bits, reals, scalar_sides, shape};
use crate::common::{FAMILIES, Family, Random, blocks, device, real};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Element, Matrix, Planned,
    element::Field,
    plan::{Accum, Apply, Norms},
    product::Factor,
    reference,
};
use half::f16;
use nalgebra::{DMatrix, DVector};

/// Returns a matrix with the pattern of the given matrix and other values.
fn with_reals<T: Element>(a: &Cbc<T>, seed: u64) -> Cbc<T> {
    Cbc::with_stride(a.pattern().clone(), a.shape(), a.stride(), reals(a.values().len(), seed)).unwrap()
}

/// Compares all operations of this file on one matrix with the reference.
fn check<M: Matrix<Element: Field>>(a: &M, what: &str) {
    let device = device();
    let (rows, cols) = scalar_sides(a);
    let da = device.upload(a).unwrap();
    for (transposed, x_len, y_len) in [(false, cols, rows), (true, rows, cols)] {
        let (x, y) = (reals::<M::Element>(x_len, 11), reals::<M::Element>(y_len, 12));
        let plan = match transposed {
            false => Apply::<M>::new(&da.pattern()),
            true => Apply::<M>::transposed(&da.pattern()),
        };
        let plan = plan.unwrap();
        assert_eq!((plan.x_len(), plan.y_len()), (x_len, y_len));
        let (dx, mut dy) = (device.upload_vector(&x).unwrap(), device.upload_vector(&y).unwrap());
        for (alpha, beta) in [(1.0, 0.0), (-0.3, 1.7)] {
            dy.write(&y).unwrap();
            plan.execute((&da, &dx), Accum::into(&mut dy).alpha(alpha).beta(beta)).unwrap();
            let mut want = y.clone();
            reference::multiply_vector(alpha, Factor { operand: a, transposed }, &x, beta, &mut want).unwrap();
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

/// Checks the entries of a matrix in every matrix type that can store them, and with a stride.
fn check_types<T: Field>(a: &Cbc<T>, what: &str) {
    check(a, what);
    check(&Bsr::from_transpose(a.clone()), &format!("{what} by rows"));
    if a.shape() == BlockShape::SCALAR {
        check(&a.to_scalars(), &format!("{what} as scalars"));
        check(&Csr::from_transpose(a.to_scalars()), &format!("{what} as scalars by rows"));
    } else {
        check(&a.with_alignment(64).unwrap(), &format!("{what}, aligned"));
    }
}

/// The shapes of blocks are such that a tile holds many blocks, few (16x16 is the largest), or
/// none. The blocks of these shapes are wide, tall or square.
const SHAPES: [(usize, usize); 5] = [(2, 3), (18, 17), (1, 1), (16, 16), (32, 32)];

fn every_shape<T: Field>(shapes: &[(usize, usize)]) {
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
    // A sum without terms is 0, not -0.
    let a = device().upload(&Csc::<f64>::from_triplets(2, 2, []).unwrap()).unwrap();
    let mut y = device().upload_vector(&[f64::NAN; 2]).unwrap();
    let x = device().zero_vector(2).unwrap();
    Apply::<Csc<f64>>::new(&a.pattern()).unwrap().execute((&a, &x), &mut y).unwrap();
    assert_eq!(bits(&y.download().unwrap()), bits(&[0.0f64; 2]));
}

/// The matrix has rows and columns as long as one piece of a long sum, longer and much longer ones,
/// among short ones.
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

/// The sum of a row is added in the same order as in a product with a matrix of one column.
#[test]
fn a_vector_is_a_matrix_of_one_column() {
    let a = real(40, 3000, 30, shape(3, 2), 4);
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

/// Sums of integers are the same in every order, so the result is compared with nalgebra.
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

    Apply::<Cbc<f64>>::new(&da.pattern())
        .unwrap()
        .execute((&da, &vector(&x)), Accum::into(&mut y).alpha(2.0).beta(3.0))
        .unwrap();
    assert_eq!(y.download().unwrap(), (2.0 * &dense * &x + 3.0 * &z).as_slice());
    let transposed = Apply::<Bsr<f64>>::transposed(&dr.pattern()).unwrap();
    transposed.execute((&dr, &vector(&z)), Accum::into(&mut g).alpha(-1.0).beta(1.0)).unwrap();
    assert_eq!(g.download().unwrap(), (&x - dense.transpose() * &z).as_slice());
    assert_eq!(transposed.cost().flops, 2 * 6 * a.nnz() as u64);

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

/// Roots of floats are rounded to nearest, from the least subnormal number to the largest sum.
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
