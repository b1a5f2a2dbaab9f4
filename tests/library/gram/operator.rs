//! Tests of Jᵀ·(W·(J·x)).
use super::*;
use blockmul::{
    Semiring,
    element::Order,
    plan::{Accum, Apply, ApplyGram, Format, GramOperands, WeighedVector},
    product::Factor,
};

fn vector_bits<T: Element>(y: &[T]) -> &[u8] {
    bytemuck::cast_slice(y)
}

/// Checks products without weights and with all kinds of weights. J's values are read in place, or
/// packed: copied in the order of the format.
fn as_reference<M: Matrix>(
    j: &M,
    other: &M,
    information: &M,
    [x, per_block, per_row]: [&[M::Element]; 3],
    format: Format,
) {
    let (dj, dother, dw) =
        (device().upload(j).unwrap(), device().upload(other).unwrap(), device().upload(information).unwrap());
    let upload = |values: &[M::Element]| device().upload_vector(values).unwrap();
    let (dx, blocks, rows) = (upload(x), upload(per_block), upload(per_row));
    let pattern = dj.pattern();
    let options = || Apply::<M>::with(&pattern).format(format);
    let (plan, mut packed) = (options().gram().unwrap(), options().pack_gram(&dj).unwrap());
    let mut y = plan.output().unwrap();
    let cases = [
        (None, None),
        (Some(Weights::Information(&dw)), Some(Weights::Information(information))),
        (
            Some(Weights::Scaled { information: &dw, weights: &blocks }),
            Some(Weights::Scaled { information, weights: per_block }),
        ),
        (Some(Weights::BlockRows(&blocks)), Some(Weights::BlockRows(per_block))),
        (Some(Weights::Rows(&rows)), Some(Weights::Rows(per_row))),
    ];
    for (j, dj) in [(j, &dj), (other, &dother)] {
        packed.update(dj).unwrap();
        for (on_device, on_host) in cases {
            let what = format!("{format}, {}, {on_device:?}", j.as_cbc().shape);
            let want = reference::multiply_vector_gram(j, on_host, x).unwrap();
            let (operands, vector) = match on_device {
                Some(weights) => (GramOperands::from((dj, weights, &dx)), WeighedVector::from((weights, &dx))),
                None => ((dj, &dx).into(), (&dx).into()),
            };
            plan.execute(operands, &mut y).unwrap();
            assert_eq!(vector_bits(&y.download().unwrap()), vector_bits(&want), "{what}");
            y.write(&vec![M::Element::from_f64(f64::NAN); want.len()]).unwrap();
            packed.execute(vector, &mut y).unwrap();
            assert_eq!(vector_bits(&y.download().unwrap()), vector_bits(&want), "packed, {what}");
        }
    }
}

fn every_type<T: Element>(values: Values) {
    for (seed, (r, c)) in [(2, 9), (6, 6), (1, 1), (1, 7)].into_iter().enumerate() {
        let (n, seed) = (40, seed as u64);
        let matrix = |seed| jacobian(n, 15, shape(r, c), values, seed).cast::<T>();
        let (j, w) = (matrix(seed), block_diagonal(n, r, values, seed + 50).cast::<T>());
        // Returns a matrix with the pattern of the given matrix and other values.
        let other = Cbc::new(j.pattern().clone(), j.shape(), j.values().iter().rev().copied().collect()).unwrap();
        let vectors = [numbers(15 * c, values, seed + 3), numbers(n, values, seed), numbers(n * r, values, seed + 9)];
        let vectors = vectors.map(|vector| cast::<T>(&vector));
        let each = vectors.each_ref().map(|vector| &vector[..]);
        as_reference(&j, &other, &w, each, Format::Auto);
        as_reference(&j, &other, &w, each, Format::CsrAdaptive);
        let aligned = |a: &Cbc<T>| a.with_alignment(64).unwrap();
        as_reference(&aligned(&j), &aligned(&other), &aligned(&w), each, Format::Auto);
        let rows = |a: &Cbc<T>| Bsr::from_transpose(a.transpose());
        as_reference(&rows(&j), &rows(&other), &rows(&w), each, Format::Auto);
    }
}

#[test]
fn operators_have_the_bits_of_the_reference() {
    every_type::<f64>(Values::Real);
    every_type::<f32>(Values::Real);
    every_type::<f16>(Values::Integer);
}

/// The values are integers, whose sums are exact in any order, so the result is equal to (JᵀJ)·x.
#[test]
fn whole_numbers_have_the_product_with_the_gram() {
    let j = jacobian(60, 20, shape(2, 3), Values::Integer, 7);
    let x = numbers(60, Values::Integer, 3);
    let (dj, dx) = (device().upload(&j).unwrap(), device().upload_vector(&x).unwrap());
    let mut want = vec![0.5; 60];
    reference::multiply_vector(-2.0, &reference::gram(&j, Part::Full).unwrap(), &x, 3.0, &mut want).unwrap();
    let pattern = dj.pattern();
    for format in Format::ALL.iter().filter(|format| format.has_blocks()) {
        let plan = Apply::<Cbc<f64>>::with(&pattern).format(*format).gram().unwrap();
        let mut y = device().upload_vector(&[0.5; 60]).unwrap();
        plan.execute((&dj, &dx), Accum::into(&mut y).alpha(-2.0).beta(3.0)).unwrap();
        assert_eq!(y.download().unwrap(), want, "{format}");
        assert_eq!(plan.products().map(Apply::format), [*format; 2]);
    }
    // The test has the operator of Jᵀ, which computes A·Aᵀ·x.
    let turned = device().upload(&j.transpose()).unwrap();
    let plan = Apply::<Cbc<f64>>::with(&turned.pattern()).transposed().gram().unwrap();
    let mut y = device().upload_vector(&[0.5; 60]).unwrap();
    plan.execute((&turned, &dx), Accum::into(&mut y).alpha(-2.0).beta(3.0)).unwrap();
    assert_eq!(y.download().unwrap(), want);
    assert_eq!(plan.products().map(|product| product.format().order()), [Order::Ascending; 2]);
}

/// The products are those with J, Jᵀ and a triangle of a symmetric matrix, in every format of
/// scalars. Rows have 40 entries, so that a team of work-items may add them in another order than
/// one work-item.
#[test]
fn each_product_has_the_order_of_its_format() {
    let a = generate::Uniform { rows: 80, cols: 50, per_column: 40, seed: 5, ..Default::default() }
        .matrix()
        .unwrap()
        .to_scalars();
    let square = reference::gram(&a, Part::Full).unwrap();
    let lower = reference::gram(&a, Part::Lower).unwrap();
    let (x, rows) = (numbers(80, Values::Real, 3), numbers(80, Values::Real, 4));
    let upload = |values: &[f64]| device().upload_vector(values).unwrap();
    for (stored, whole, transposed) in [(&a, &a, false), (&a, &a, true), (&lower, &square, false)] {
        let (n, m) = (whole.ncols(), whole.nrows());
        let (n, m) = if transposed { (m, n) } else { (n, m) };
        let (x, rows) = (&x[..n], &rows[..m]);
        let (dj, dx, drows) = (device().upload(stored).unwrap(), upload(x), upload(rows));
        let pattern = dj.pattern();
        for format in Format::ALL {
            let options = Apply::<Csc<f64>>::with(&pattern).format(*format);
            let options = if transposed { options.transposed() } else { options };
            let options = if stored.nnz() < whole.nnz() { options.symmetric() } else { options };
            let plan = options.gram().unwrap();
            let orders = plan.products().map(|product| product.format().order());
            let want = |weights| {
                let j = Factor { operand: whole, transposed };
                reference::multiply_vector_gram_over(Semiring::PlusTimes, orders, j, weights, x).unwrap()
            };
            let mut y = plan.output().unwrap();
            plan.execute((&dj, &dx), &mut y).unwrap();
            assert_eq!(vector_bits(&y.download().unwrap()), vector_bits(&want(None)), "{format}");
            plan.execute((&dj, Weights::Rows(&drows), &dx), &mut y).unwrap();
            assert_eq!(vector_bits(&y.download().unwrap()), vector_bits(&want(Some(Weights::Rows(rows)))), "{format}");
        }
    }
}

#[test]
fn other_semirings_have_no_weights() {
    // J has edges of length 2 from vertex 0 to 1, and 3 from 0 to 2. In min-plus, Jᵀ·(J·x) is the
    // length of the shortest way there and back.
    let j = Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 0, 3.0)]).unwrap();
    let dj = device().upload(&j).unwrap();
    let plan = Apply::<Csc<f64>>::with(&dj.pattern()).semiring(Semiring::MinPlus).gram().unwrap();
    let x = device().upload_vector(&[0.0, 1.0, f64::INFINITY]).unwrap();
    let mut y = plan.output().unwrap();
    plan.execute((&dj, &x), &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [4.0, f64::INFINITY, f64::INFINITY]);
    let refused = plan.execute((&dj, Weights::Rows(&x), &x), &mut y).unwrap_err();
    let why = "weights belong to plus-times, not to min-plus";
    assert_eq!(refused.to_string(), why);
    let (x, weights) = ([0.0, 1.0, f64::INFINITY], Some(Weights::Rows(&[1.0; 3][..])));
    let by_reference =
        |weights| reference::multiply_vector_gram_over(Semiring::MinPlus, [Order::Ascending; 2], &j, weights, &x);
    assert_eq!(by_reference(None).unwrap(), [4.0, f64::INFINITY, f64::INFINITY]);
    assert_eq!(by_reference(weights).unwrap_err().to_string(), why);
}

/// The cases are integers whose sums wrap around, bytes with the semiring or-and, and a J without
/// rows.
#[test]
fn integers_and_empty_matrices_have_operators() {
    fn y_of<T: Element>(j: &Csc<f64>, semiring: Semiring, x: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
        let j = device().upload(&j.cast::<T>()).unwrap();
        let upload = |values: &[f64]| device().upload_vector(&cast::<T>(values)).unwrap();
        let plan = Apply::<Csc<T>>::with(&j.pattern()).semiring(semiring).gram().unwrap();
        let (x, weights, mut y) = (upload(x), weights.map(upload), plan.output().unwrap());
        match &weights {
            None => plan.execute((&j, &x), &mut y).unwrap(),
            Some(weights) => plan.execute((&j, Weights::Rows(weights), &x), &mut y).unwrap(),
        };
        y.download().unwrap().into_iter().map(Element::to_f64).collect()
    }
    let j = Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)]).unwrap();
    assert_eq!(y_of::<u32>(&j, Semiring::PlusTimes, &[1.0, 10.0], Some(&[1.0, 10.0])), [21.0, 942.0]);
    assert_eq!(y_of::<i32>(&j, Semiring::PlusTimes, &[1.0, -10.0], Some(&[-1.0, 10.0])), [19.0, -862.0]);
    assert_eq!(y_of::<u8>(&j, Semiring::OrAnd, &[1.0, 0.0], None), [1.0, 1.0]);
    assert_eq!(
        y_of::<f64>(&Csc::from_triplets(0, 2, []).unwrap(), Semiring::PlusTimes, &[1.0, 2.0], Some(&[])),
        [0.0, 0.0]
    );
    let empty = Csr::<f64>::new(0, 2, vec![0], vec![], vec![]).unwrap();
    let on_device = device().upload(&empty).unwrap();
    let (plan, x) =
        (ApplyGram::<Csr<f64>>::new(&on_device.pattern()).unwrap(), device().upload_vector(&[1.0; 2]).unwrap());
    let mut y = plan.output().unwrap();
    plan.execute((&on_device, &x), &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [0.0; 2]);
    assert_eq!(reference::multiply_vector_gram(&empty, Some(Weights::Rows(&[])), &[1.0; 2]).unwrap(), [0.0; 2]);
}

#[test]
fn operands_of_other_sizes_are_refused() {
    let j = device().upload(&jacobian(40, 15, shape(2, 3), Values::Real, 1)).unwrap();
    let other = device().upload(&jacobian(40, 15, shape(2, 3), Values::Real, 2)).unwrap();
    let plan = ApplyGram::<Cbc<f64>>::new(&j.pattern()).unwrap();
    let vector = |n: usize| device().upload_vector(&vec![1.0; n]).unwrap();
    let (x, mut y, long) = (vector(45), plan.output().unwrap(), vector(80));
    assert_eq!(y.len(), 45);
    let text = |result: blockmul::Result<_>| result.map(|_| ()).unwrap_err().to_string();
    assert!(text(plan.execute((&j, &long), &mut y)).contains("J has 45 scalar columns"));
    assert!(text(plan.execute((&j, &x), &mut vector(80))).contains("J has 45 scalar columns"));
    assert!(text(plan.execute((&j, Weights::Rows(&x), &x), &mut y)).contains("J has 40 block rows of 2"));
    assert!(matches!(plan.execute((&other, &x), &mut y), Err(Error::PlanPattern(_))));
    let wrong = device().upload(&block_diagonal(40, 3, Values::Real, 1)).unwrap();
    assert!(matches!(plan.execute((&j, Weights::Information(&wrong), &x), &mut y), Err(Error::PlanPattern(_))));
    plan.execute((&j, Weights::Rows(&long), &x), &mut y).unwrap();
}

#[test]
fn executions_of_operators_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let j = device.upload(&jacobian(40, 15, shape(2, 3), Values::Real, 1)).unwrap();
    let plan = ApplyGram::<Cbc<f64>>::new(&j.pattern()).unwrap();
    let w = DeviceMatrix::<Cbc<f64>>::zeros(plan.weights_pattern()).unwrap();
    let (x, mut y) = (device.upload_vector(&[1.0; 45]).unwrap(), plan.output().unwrap());
    let before = device.counters();
    for _ in 0..20 {
        plan.execute((&j, &x), &mut y).unwrap();
        plan.execute((&j, Weights::Information(&w), &x), &mut y).unwrap();
    }
    nothing_taken(&device, &before);
    assert_eq!(y.download().unwrap(), [0.0; 45]);
}
