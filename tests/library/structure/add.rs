//! Sums of two matrices on the device.
use super::{FEW, SHAPES, by_rows, up};
use crate::common::{FAMILIES, Family, blocks, device, equal, real, scalars, shape};
use blockmul::{Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Planned, matrix, plan::Add};
use half::f16;

fn every_sum<T: Element<Arithmetic: From<f32>>>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let (seed, what) = (seed as u64, format!("{r}x{c} of {}", T::NAME));
        let a = real(30, 25, 4, shape(r, c), seed).cast::<T>();
        let b = blocks::<T>(FAMILIES[seed as usize], 30, 25, 3, shape(r, c), seed);
        for (alpha, beta) in [(1.0f32, 1.0f32), (-0.3, 0.7), (0.0, -1.5)] {
            let want = matrix::add(alpha.into(), &a, beta.into(), &b).unwrap();
            let aligned = (a.with_alignment(64).unwrap(), b.with_alignment(16).unwrap());
            for (a, b) in [(&a, &b), (&aligned.0, &b), (&a, &aligned.1)] {
                equal(&sum(alpha.into(), a, beta.into(), b), &want, &what);
            }
            let got = sum(alpha.into(), &by_rows(&a), beta.into(), &by_rows(&b));
            equal(&got, &by_rows(&want), &format!("{what}, by rows"));
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
    equal(&c, &matrix::add(0.0, &nan, -1.0, &b).unwrap(), "A");
    equal(&sum(-1.0, &b, 0.0, &nan), &c, "B");
}

#[test]
fn sums_of_every_two_families_and_of_nothing() {
    for (seed, left) in FAMILIES.into_iter().enumerate() {
        for right in FAMILIES {
            // The matrices have more entries than a tile of the scan.
            let (a, b) = (scalars::<f64>(left, 300, 900, 9, seed as u64), scalars(right, 300, 900, 8, 77));
            equal(
                &sum(2.0, &a, -1.0, &b),
                &matrix::add(2.0, &a, -1.0, &b).unwrap(),
                &format!("{left:?} and {right:?}"),
            );
        }
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csr::<f64>::new(m, n, vec![0; m + 1], vec![], vec![]).unwrap();
        equal(&sum(1.0, &empty, 1.0, &empty), &empty, "empty");
    }
    // A zero that only one of the matrices stores keeps its sign.
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
