//! Operations on vectors, and a solver that uses all operations.
use super::{bits, reals};
use crate::common::device;
use blockmul::{
    Cbc, Planned,
    element::Field,
    generate,
    plan::{Accum, Apply},
    reference,
};
use half::f16;
use nalgebra::{DMatrix, DVector};

fn vector_arithmetic<T: Field>(longest: usize) {
    // The lengths are near the size of a work-group, of a piece, and of several pieces.
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
fn conjugate_gradients_by_blocks_and_two_threads() {
    // The system has H = JᵀJ + I, with the J of a pose graph. The system is solved without forming
    // H and without a preconditioner. The two threads use the same plans.
    let j =
        generate::PoseChain { poses: 40, closures: 60, freedom: 3, seed: 6, ..Default::default() }.matrix().unwrap();
    let (dj, n) = (device().upload(&j).unwrap(), j.scalar_cols());
    let forward = Apply::<Cbc<f64>>::new(&dj.pattern()).unwrap();
    let adjoint = Apply::<Cbc<f64>>::transposed(&dj.pattern()).unwrap();
    let b = reals::<f64>(n, 8);
    let solve = || {
        let (mut x, mut r) = (device().zero_vector(n).unwrap(), device().upload_vector(&b).unwrap());
        let mut p = device().upload_vector(&b).unwrap();
        let (mut jp, mut hp) = (forward.output().unwrap(), adjoint.output().unwrap());
        let mut rr = r.dot(&r).unwrap();
        for _ in 0..400 {
            forward.execute((&dj, &p), &mut jp).unwrap();
            hp.copy_from(&p).unwrap();
            adjoint.execute((&dj, &jp), Accum::into(&mut hp).alpha(1.0).beta(1.0)).unwrap();
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
