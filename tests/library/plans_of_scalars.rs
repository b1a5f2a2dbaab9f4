//! Plans of products of scalars that do not keep the operand pair of each product: by every method
//! of scalars, and if there is not enough memory for pairs.
use crate::common::{device, nothing_taken};
use blockmul::{
    Cbc, Csc, Csr, Device, Element, Error, Method, Planned, Product,
    generate::{self, Values},
    groups::{BlockGroups, Group},
    plan::Accum,
    reference,
};
use half::f16;

/// The methods of scalars. Each method computes all columns of the matrices of these tests; if it
/// cannot, its plans keep pairs for all columns.
const METHODS: [Method; 5] = [Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash];

fn uniform<T: Element>(rows: usize, cols: usize, per_column: usize, values: Values, seed: u64) -> Csc<T> {
    generate::Uniform { rows, cols, per_column, values, seed, ..Default::default() }
        .matrix()
        .unwrap()
        .to_scalars()
        .cast()
}

fn bytes<T: Element>(matrix: &Csc<T>) -> (&blockmul::matrix::Pattern, &[u8]) {
    (matrix.pattern(), bytemuck::cast_slice(matrix.values()))
}

/// Executes plans of A·B by all methods, with the values of A and of 3·A, and checks the bits of
/// the results.
fn check<T: Element>(a: &Csc<T>, b: &Csc<T>) {
    let (mut da, db) = (device().upload(a).unwrap(), device().upload(b).unwrap());
    let times_three = a.values().iter().map(|x| T::from_f64(3.0 * x.to_f64())).collect();
    let other = Csc::new(a.pattern().clone(), times_three).unwrap();
    let wants = [a, &other].map(|a| (a, reference::multiply(a, b).unwrap()));
    for method in METHODS {
        let plan = Product::of(&da, &db).method(method).plan().unwrap();
        assert_eq!(plan.cost().products, reference::products(a, b));
        let mut c = plan.output().unwrap();
        for (a, want) in wants.iter().chain(&wants) {
            da.write_values(a.values()).unwrap();
            plan.execute((&da, &db), &mut c).unwrap();
            assert_eq!(bytes(&c.download().unwrap()), bytes(want), "{method} {}", T::NAME);
        }
    }
}

#[test]
fn plans_by_every_method_of_scalars_have_the_bits_of_the_reference() {
    check(&uniform::<f64>(9, 7, 3, Values::Integer, 1), &uniform(7, 5, 2, Values::Integer, 2));
    check(&uniform::<f64>(70, 60, 8, Values::Real, 1), &uniform(60, 50, 6, Values::Real, 2));
    check(&uniform::<f32>(500, 60, 12, Values::Real, 3), &uniform(60, 40, 30, Values::Real, 4));
    check(&uniform::<f16>(90, 60, 8, Values::Integer, 5), &uniform(60, 50, 6, Values::Integer, 6));
    let empty = |rows, cols| Csc::<f64>::from_triplets(rows, cols, []).unwrap();
    check(&empty(3, 2), &empty(2, 4));
    check(&empty(3, 0), &empty(0, 2));
    // The product has entries of C with more than 1024 and with more than 2048 terms. Sums of more
    // than 1024 terms are computed in two and in three pieces.
    for length in [1025, 2500] {
        check(&uniform::<f64>(3, length, 2, Values::Real, 7), &uniform(length, 2, length, Values::Real, 8));
    }
}

#[test]
fn outputs_are_scaled_added_and_padded() {
    // The matrices have blocks of 1x1, because scalars cannot be padded.
    let a: Cbc<f64> = generate::Uniform { rows: 40, cols: 40, per_column: 5, ..Default::default() }.matrix().unwrap();
    let da = device().upload(&a).unwrap();
    let product = reference::multiply(&a, &a).unwrap();
    for method in METHODS {
        let padded = Product::of(&da, &da).alignment(32).method(method).plan().unwrap();
        let plan = Product::of(&da, &da).method(method).plan().unwrap();
        for (plan, stride) in [(&plan, 1), (&padded, 4)] {
            let mut c = plan.output().unwrap();
            let start: Vec<f64> = (0..stride * product.nnz()).map(|i| i as f64 * 0.3 - 7.0).collect();
            for (alpha, beta) in [(1.0, 0.0), (-0.5, 0.0), (2.0, 1.0), (0.3, 0.7)] {
                c.write_values(&start).unwrap();
                plan.execute((&da, &da), Accum::into(&mut c).alpha(alpha).beta(beta)).unwrap();
                let found = c.download().unwrap();
                for (entry, &sum) in product.values().iter().enumerate() {
                    let before = start[entry * stride];
                    let want = if beta == 0.0 { alpha * sum } else { alpha * sum + beta * before };
                    assert!(found.values()[entry * stride] == want, "{method}: {alpha} {beta} at {entry}");
                }
            }
        }
        // The operand C has padding: the product is C·A.
        let mut c = padded.output().unwrap();
        padded.execute((&da, &da), &mut c).unwrap();
        let next = Product::of(&c, &da).method(method).plan().unwrap();
        let mut d = next.output().unwrap();
        next.execute((&c, &da), &mut d).unwrap();
        assert!(d.download().unwrap() == reference::multiply(&product, &a).unwrap(), "{method}");
    }
}

#[test]
fn matrices_by_rows_and_groups_are_planned_by_methods_of_scalars() {
    let (a, b) = (uniform::<f64>(30, 40, 6, Values::Real, 1), uniform::<f64>(40, 20, 7, Values::Real, 2));
    let want = reference::multiply(&a, &b).unwrap();
    let by_rows = |m: &Csc<f64>| device().upload(&Csr::from_transpose(m.transpose())).unwrap();
    let (rows_a, rows_b) = (by_rows(&a), by_rows(&b));
    // [A | A]·[B; A2] is a sum of two products. The terms of the second product are added after
    // those of the first.
    let other = uniform::<f64>(40, 20, 5, Values::Integer, 3);
    let group = |blocks| Group { blocks, side: 1 };
    let left = BlockGroups::side_by_side([a.clone(), a.clone()]).unwrap();
    let right = vec![Some(b.clone()), Some(other)];
    let right = BlockGroups::new(vec![group(40), group(40)], vec![group(20)], right).unwrap();
    let of_groups = reference::multiply_groups(&left, &right).unwrap();
    let (left, right) = (device().upload_groups(&left).unwrap(), device().upload_groups(&right).unwrap());
    for method in METHODS {
        let plan = Product::of(&rows_a, &rows_b).method(method).plan().unwrap();
        let mut c = plan.output().unwrap();
        plan.execute((&rows_a, &rows_b), &mut c).unwrap();
        assert_eq!(c.download().unwrap(), Csr::from_transpose(want.transpose()), "{method}");
        let plan = Product::of(&left, &right).method(method).plan().unwrap();
        let mut c = plan.output().unwrap();
        plan.execute((&left, &right), &mut c).unwrap();
        assert_eq!(c.download().unwrap(), of_groups, "{method}");
    }
}

/// A matrix whose square has many products for each entry.
fn dense_product() -> Csc<f64> {
    uniform(200, 200, 100, Values::Real, 1)
}

#[test]
fn what_has_no_room_as_pairs_is_planned_without_them() {
    let a = dense_product();
    let device = Device::open(device().info()).unwrap();
    let da = device.upload(&a).unwrap();
    let products = reference::products(&a, &a);
    let pairs = Product::of(&da, &da).method(Method::Esc).plan().unwrap();
    assert!(pairs.cost().device_bytes > 8 * products);
    let limit = 8 * products / 2;
    let plan = Product::of(&da, &da).memory_limit(limit).plan().unwrap();
    assert!(plan.cost().device_bytes < limit / 4, "{:?}", plan.cost());
    assert_eq!((plan.cost().products, plan.cost().flops), (products, 2 * products));
    let mut c = plan.output().unwrap();
    plan.execute((&da, &da), &mut c).unwrap();
    assert_eq!(bytes(&c.download().unwrap()), bytes(&reference::multiply(&a, &a).unwrap()));
    // Plans by ESC always keep pairs. With a limit of 1 << 12 bytes no plan fits.
    for (method, limit) in [(Method::Esc, limit), (Method::Auto, 1 << 12), (Method::Dense, 1 << 12)] {
        let refused = Product::of(&da, &da).method(method).memory_limit(limit).plan();
        assert!(matches!(refused, Err(Error::Memory { .. })), "{method}: {refused:?}");
    }
}

#[test]
fn executions_without_pairs_take_no_memory_read_nothing_and_may_meet() {
    let a = dense_product();
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let da = device.upload(&a).unwrap();
    let want = reference::multiply(&a, &a).unwrap();
    let plan = Product::of(&da, &da).method(Method::Dense).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&da, &da), &mut c).unwrap();
    device.finish().unwrap();
    let before = device.counters();
    for _ in 0..20 {
        plan.execute((&da, &da), &mut c).unwrap();
    }
    nothing_taken(&device, &before);
    assert_eq!(bytes(&c.download().unwrap()), bytes(&want));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut c = plan.output().unwrap();
                for _ in 0..5 {
                    plan.execute((&da, &da), &mut c).unwrap();
                    assert_eq!(bytes(&c.download().unwrap()), bytes(&want));
                }
            });
        }
    });
}
