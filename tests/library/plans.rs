//! Plans: every execution has the bits of the reference, allocates no memory, and reads nothing
//! back.

use crate::common::{bits, device, executed, nothing_taken, on_two_threads, real, row_and_column, shape, uniform};
use blockmul::{
    Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Part, Planned, Product, generate,
    plan::{Accum, Transpose},
    reference,
};
use half::f16;

/// Shapes for all kernels: scalars, square and other shapes with compiled kernels, the general
/// kernel, and shapes with a side of 32.
const SHAPES: [(usize, usize, usize); 9] =
    [(1, 1, 1), (2, 3, 6), (6, 3, 6), (3, 3, 3), (9, 2, 3), (8, 8, 8), (5, 1, 4), (1, 32, 2), (32, 2, 10)];

fn every_shape<T: Element>() {
    for (seed, (r, k, c)) in SHAPES.into_iter().enumerate() {
        let seed = seed as u64;
        let (a, b) = (uniform::<T>(30, 25, shape(r, k), seed), uniform::<T>(25, 40, shape(k, c), seed + 99));
        let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
        let want = reference::multiply(&a, &b).unwrap();
        let plan = Product::of(&da, &db).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&want), "{r}x{k} by {k}x{c}");
        assert_eq!(plan.cost().flops, 2 * reference::products(&a, &b) * (r * k * c) as u64);

        // If Aᵀ is stored, (Aᵀ)ᵀ·B is the same product.
        let dat = device().upload(&a.transpose()).unwrap();
        let plan = Product::of(dat.t(), &db).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &dat, &db)), bits(&want), "transposed {r}x{k} by {k}x{c}");
    }
}

#[test]
fn every_shape_and_type_has_the_bits_of_the_reference() {
    every_shape::<f64>();
    every_shape::<f32>();
    every_shape::<f16>();
}

#[test]
fn new_values_on_the_same_pattern() {
    let a = generate::PoseChain { poses: 300, closures: 500, freedom: 6, ..Default::default() }.matrix().unwrap();
    let mut da = device().upload(&a).unwrap();
    let plan = Product::of(&da, &da).plan().unwrap();
    let mut c = plan.output().unwrap();
    for step in 0..3 {
        let values: Vec<f64> = a.values().iter().map(|x| x * (step as f64 + 0.1)).collect();
        let now = Cbc::new(a.pattern().clone(), a.shape(), values).unwrap();
        da.write_values(now.values()).unwrap();
        plan.execute((&da, &da), &mut c).unwrap();
        assert_eq!(bits(&c.download().unwrap()), bits(&reference::multiply(&now, &now).unwrap()));
    }
    assert!(matches!(da.write_values(&[1.0]), Err(Error::Length { found: 1, .. })));
}

/// The entries of a matrix for which `keep` returns true.
fn part(of: &Cbc<f64>, keep: impl Fn(usize, usize) -> bool) -> Cbc<f64> {
    let blocks =
        of.blocks().filter(|&(row, col, _)| keep(row, col)).map(|(row, col, block)| (row, col, block.into_owned()));
    Cbc::from_triplets(of.nrows(), of.ncols(), of.shape(), blocks).unwrap()
}

#[test]
fn gram_is_the_product_with_the_transpose_and_its_triangles_take_half_the_work() {
    // The rows of J have from zero to many blocks. The blocks of J are wide, narrow, or scalars.
    for (r, c) in [(2, 9), (2, 3), (1, 1), (3, 6), (5, 5)] {
        let j = uniform::<f64>(60, 20, shape(r, c), 7);
        let full = reference::multiply(&j.transpose(), &j).unwrap();
        let dj = device().upload(&j).unwrap();
        let mut in_row = vec![0u64; j.nrows()];
        j.pattern().row_idx().iter().for_each(|&row| in_row[row as usize] += 1);
        let triangle = in_row.iter().map(|k| k * (k + 1) / 2).sum::<u64>();
        let whole = in_row.iter().map(|k| k * k).sum::<u64>();
        for (which, want, products) in [
            (Part::Full, full.clone(), whole),
            (Part::Lower, part(&full, |row, col| row >= col), triangle),
            (Part::Upper, part(&full, |row, col| row <= col), triangle),
        ] {
            let plan = Product::gram(&dj).part(which).plan().unwrap();
            assert_eq!(bits(&executed(&plan, &dj, &dj)), bits(&want), "{which:?} of {r}x{c}");
            assert_eq!(plan.cost().products, products, "{which:?} of {r}x{c}");
        }
    }
}

/// Converts the matrix to rows.
fn rows_of(matrix: &Cbc<f64>) -> Bsr<f64> {
    Bsr::from_transpose(matrix.transpose())
}

#[test]
fn row_major_matrices_swap_operands_and_triangles() {
    let j = uniform::<f64>(40, 15, shape(2, 3), 3);
    let a = uniform::<f64>(12, 40, shape(4, 2), 4);
    let full = reference::multiply(&j.transpose(), &j).unwrap();
    let (rows, a_rows) = (rows_of(&j), rows_of(&a));
    let (dj, da) = (device().upload(&rows).unwrap(), device().upload(&a_rows).unwrap());

    let plan = Product::of(&da, &dj).plan().unwrap();
    assert_eq!((plan.pattern().nrows(), plan.pattern().shape()), (12, shape(4, 3)));
    assert_eq!(executed(&plan, &da, &dj), rows_of(&reference::multiply(&a, &j).unwrap()));

    for (which, want) in [
        (Part::Full, full.clone()),
        (Part::Lower, part(&full, |row, col| row >= col)),
        (Part::Upper, part(&full, |row, col| row <= col)),
    ] {
        let plan = Product::gram(&dj).part(which).plan().unwrap();
        assert_eq!(executed(&plan, &dj, &dj), rows_of(&want), "{which:?}");
    }
}

#[test]
fn alpha_and_beta() {
    let a = real(50, 50, 5, shape(3, 3), 5);
    let da = device().upload(&a).unwrap();
    let plan = Product::of(&da, &da).plan().unwrap();
    let product = reference::multiply(&a, &a).unwrap();
    let mut c = plan.output().unwrap();
    let start: Vec<f64> = (0..product.values().len()).map(|i| i as f64 * 0.3 - 7.0).collect();
    for (alpha, beta) in [(1.0, 0.0), (-0.5, 0.0), (2.0, 1.0), (0.0, -3.0), (0.3, 0.7)] {
        c.write_values(&start).unwrap();
        plan.execute((&da, &da), Accum::into(&mut c).alpha(alpha).beta(beta)).unwrap();
        let one = |(&sum, &before): (&f64, &f64)| if beta == 0.0 { alpha * sum } else { alpha * sum + beta * before };
        let want: Vec<f64> = product.values().iter().zip(&start).map(one).collect();
        assert!(c.download().unwrap().values() == want, "{alpha} {beta}");
    }
    // C contains NaN, to show that an execution does not read it.
    c.write_values(&vec![f64::NAN; start.len()]).unwrap();
    plan.execute((&da, &da), &mut c).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&product));
}

#[test]
fn long_runs_are_cut_where_the_reference_cuts_them() {
    // A row is multiplied by a column of this length, so that C has a single entry, the sum of all
    // products.
    for length in [1024, 1025, 2500] {
        let (a, b) = row_and_column(length);
        let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
        let plan = Product::of(&da, &db).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&reference::multiply(&a, &b).unwrap()), "{length}");
    }
}

#[test]
fn empty_products_are_planned_too() {
    for (m, k, n) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (2, 3, 0), (2, 2, 2)] {
        let empty = |rows, cols| Csc::<f64>::from_triplets(rows, cols, []).unwrap();
        let (a, b) = (empty(m, k), empty(k, n));
        let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
        let plan = Product::of(&da, &db).plan().unwrap();
        assert_eq!(executed(&plan, &da, &db), empty(m, n));
        assert_eq!(plan.cost().flops, 0);
    }
}

#[test]
fn another_pattern_is_refused_and_an_equal_one_is_not() {
    let of = |seed| device().upload(&uniform::<f64>(30, 30, shape(2, 2), seed)).unwrap();
    let (a, other, again) = (of(1), of(2), of(1));
    assert_eq!(a.nnz(), other.nnz(), "the sizes are the same");
    let plan = Product::of(&a, &a).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&again, &a), &mut c).unwrap();
    for (x, y, name) in [(&other, &a, "A"), (&a, &other, "B")] {
        let message = plan.execute((x, y), &mut c).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{name} does not have the pattern of the plan")), "{message}");
    }
    let message = plan.execute((&a, &a), &mut of(1)).unwrap_err().to_string();
    assert!(message.starts_with("C does not have the pattern of the plan"), "{message}");
    // A matrix with the entries of A in blocks of another shape.
    let wide = device().upload(&uniform::<f64>(30, 30, shape(2, 4), 1)).unwrap();
    assert!(plan.execute((&wide, &a), &mut c).is_err());
    assert!(Product::of(&a, &wide).plan().is_ok());
    assert!(matches!(Product::of(&wide, &a).plan(), Err(Error::Dimensions { .. })));
    // A matrix of another type cannot have the pattern of the plan.
    assert!(DeviceMatrix::<Csc<f64>>::zeros(&a.pattern()).is_err());
    assert!(DeviceMatrix::<Bsr<f64>>::zeros(&a.pattern()).is_err());
}

#[test]
fn a_refusal_says_what_differs() {
    use blockmul::error::{PatternDifference as Difference, PatternMismatch};
    fn refused<M: Matrix>(plan: &M, other: &M) -> PatternMismatch {
        let (a, other) = (device().upload(plan).unwrap(), device().upload(other).unwrap());
        let plan = Transpose::<M>::new(&a.pattern()).unwrap();
        match plan.execute(&other, &mut plan.output().unwrap()).unwrap_err() {
            Error::PlanPattern(mismatch) => *mismatch,
            other => panic!("{other:?}"),
        }
    }
    let places =
        |places: &[(usize, usize)]| Csc::from_triplets(4, 3, places.iter().map(|&(i, j)| (i, j, 1.0))).unwrap();
    let a = places(&[(0, 0), (2, 1), (3, 2)]);

    let smaller = refused(&a, &places(&[(0, 0), (2, 1)]));
    let Difference::Size { found, expected } = smaller.difference else { panic!("{smaller}") };
    assert_eq!((found.nrows, found.ncols, found.nnz, expected.nnz), (4, 3, 2, 3));
    let says = "A does not have the pattern of the plan: it is 4x3 with 2 entries, the plan's is 4x3 with 3 entries";
    assert_eq!(smaller.to_string(), says);
    let wider = refused(&a, &Csc::from_triplets(4, 5, [(0, 0, 1.0), (2, 1, 1.0), (3, 2, 1.0)]).unwrap());
    assert!(wider.to_string().ends_with("it is 4x5 with 3 entries, the plan's is 4x3 with 3 entries"), "{wider}");

    let moved = refused(&a, &places(&[(0, 0), (3, 1), (3, 2)]));
    let Difference::Entry { row, col, found, .. } = moved.difference else { panic!("{moved}") };
    assert_eq!((row, col, found), (2, 1, false));
    assert!(moved.to_string().contains("only the plan's has an entry at row 2, column 1"), "{moved}");
    // Matrices by rows are compared row by row, so (2, 1) and (3, 1) come after (1, 2).
    let by_rows = |places: &Csc<f64>| Csr::from_transpose(places.transpose());
    let moved = refused(&by_rows(&a), &by_rows(&places(&[(0, 0), (1, 2), (3, 1)])));
    let Difference::Entry { row, col, found, .. } = moved.difference else { panic!("{moved}") };
    assert_eq!((row, col, found), (1, 2, true));

    let elsewhere = Device::open(device().info()).unwrap();
    let (here, there) = (device().upload(&a).unwrap(), elsewhere.upload(&a).unwrap());
    let plan = Product::gram(&here).part(Part::Full).plan().unwrap();
    let message = plan.execute(&there, &mut plan.output().unwrap()).unwrap_err().to_string();
    assert!(message.contains("it lives on another handle of"), "{message}");
}

#[test]
fn a_thousand_executions_change_no_bit_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let j =
        generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix().unwrap();
    let dj = device.upload(&j).unwrap();
    let multiply = Product::of(&dj, &dj).plan().unwrap();
    let gram = Product::gram(&dj).part(Part::Lower).plan().unwrap();
    let (mut c, mut h) = (multiply.output().unwrap(), gram.output().unwrap());
    let want = executed(&multiply, &dj, &dj);
    let before = device.counters();
    for _ in 0..1000 {
        multiply.execute((&dj, &dj), &mut c).unwrap();
        gram.execute((&dj, &dj), &mut h).unwrap();
    }
    let after = nothing_taken(&device, &before);
    assert!(after.commands >= before.commands + 2000);
    assert_eq!(bits(&c.download().unwrap()), bits(&want));
}

#[test]
fn two_threads_execute_one_plan() {
    let a = real(200, 200, 6, shape(3, 3), 8);
    let da = device().upload(&a).unwrap();
    let plan = Product::of(&da, &da).plan().unwrap();
    let want = reference::multiply(&a, &a).unwrap();
    on_two_threads(|| assert_eq!(bits(&executed(&plan, &da, &da)), bits(&want)));
}
