//! Transposition, permutation and sum on the device. The results have the bits of serial
//! references, also with new values, and executions allocate no memory.
mod add;
mod permute;
mod transpose;

use crate::common::{Random, device, equal, part, real, shape};
use blockmul::{
    Bsr, Cbc, Device, DeviceMatrix, Element, Error, Matrix, Part, Planned, Product,
    generate::{self, Values},
    matrix,
    plan::{Add, Permute, Transpose},
};
use nalgebra::DMatrix;

fn up<M: Matrix>(matrix: &M) -> DeviceMatrix<M> {
    device().upload(matrix).unwrap()
}

fn order(n: usize, seed: u64) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Random(seed));
    (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
    order
}

/// Converts the matrix to rows.
fn by_rows<T: Element>(matrix: &Cbc<T>) -> Bsr<T> {
    Bsr::from_transpose(matrix.transpose())
}

/// The shapes are scalars; squares; wide and tall blocks; blocks with fewer elements than a
/// work-group has items, with as many, and with more; the largest blocks. Some element types use
/// only the first few shapes, because kernels are compiled for each shape and type.
const SHAPES: [(usize, usize); 8] = [(1, 1), (2, 3), (6, 6), (9, 3), (16, 16), (1, 32), (32, 5), (32, 32)];
const FEW: usize = 3;

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
        equal(&at.download().unwrap(), &now.transpose(), "transpose");
        equal(&p.download().unwrap(), &permuted(&now, &order_of_rows, &order_of_cols), "permuted");
    }
}

/// Computes P·A·Qᵀ block by block.
fn permuted<T: Element>(a: &Cbc<T>, rows: &[usize], cols: &[usize]) -> Cbc<T> {
    let to = |order: &[usize], old: usize| order.iter().position(|&index| index == old).unwrap();
    let blocks = a.blocks().map(|(i, j, block)| (to(rows, i), to(cols, j), block.into_owned()));
    Cbc::from_triplets(a.nrows(), a.ncols(), a.shape(), blocks).unwrap()
}

#[test]
fn another_pattern_is_refused_and_an_equal_one_is_not() {
    let of = |seed| up(&real(30, 30, 4, shape(2, 2), seed));
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
    equal(&p.download().unwrap(), &a.download().unwrap(), "the identity");
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
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
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
    equal(&s.download().unwrap(), &matrix::add(1.0, &h, 1.0, &h.transpose()).unwrap(), "the sum");
    assert!(transpose.cost().device_bytes > 0 && permute.cost().device_bytes > 0 && add.cost().device_bytes > 0);
}

/// This test has a typical use of these plans: S of a bundle adjustment is damped and permuted.
/// Each plan is made from the pattern of the plan before, which is on the device.
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
