//! Transposes on the device.
use super::{FEW, SHAPES, by_rows, up};
use crate::common::{FAMILIES, blocks, equal, on_two_threads, real, scalars, shape};
use blockmul::{Cbc, Csc, Element, Planned, matrix::Pattern, plan::Transpose};
use half::f16;

fn every_transpose<T: Element>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let what = format!("{r}x{c} of {}", T::NAME);
        let a = blocks::<T>(FAMILIES[seed], 30, 41, 4, shape(r, c), seed as u64);
        equal(&up(&a).transposed().unwrap().download().unwrap(), &a.transpose(), &what);
        let aligned = a.with_alignment(64).unwrap();
        equal(&up(&aligned).transposed().unwrap().download().unwrap(), &a.transpose(), &format!("{what}, aligned"));
        let rows = by_rows(&a);
        let transposed = up(&rows).transposed().unwrap();
        assert_eq!((transposed.nrows(), transposed.ncols(), transposed.shape()), (41, 30, shape(c, r)));
        equal(&transposed.download().unwrap(), &by_rows(&a.transpose()), &format!("{what}, by rows"));
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
        // The matrix has more columns than a group has items.
        let a = scalars::<f32>(family, 200, 150, 5, seed as u64);
        equal(&up(&a).transposed().unwrap().download().unwrap(), &a.transpose(), &format!("{family:?}"));
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csc::<f64>::from_triplets(m, n, []).unwrap();
        equal(&up(&empty).transposed().unwrap().download().unwrap(), &empty.transpose(), "empty");
    }
}

#[test]
fn bits_are_moved_as_they_are() {
    // The values are NaNs, -inf, -0 and a subnormal number.
    let values = [0x7e01u16, 0xfc00, 0x8000, 0x0001, 0x7c01, 0x3c00].map(f16::from_bits);
    let a = Cbc::new(Pattern::new(1, 1, vec![0, 1], vec![0]).unwrap(), shape(2, 3), values.to_vec()).unwrap();
    let back = up(&up(&a).transposed().unwrap().download().unwrap()).transposed().unwrap().download().unwrap();
    equal(&back, &a, "there and back");
}

#[test]
fn two_threads_execute_one_plan() {
    let a = real(200, 200, 6, shape(3, 3), 8);
    let (da, want) = (up(&a), a.transpose());
    let plan = Transpose::<Cbc<f64>>::new(&da.pattern()).unwrap();
    on_two_threads(|| {
        let mut c = plan.output().unwrap();
        plan.execute(&da, &mut c).unwrap();
        equal(&c.download().unwrap(), &want, "threads");
    });
}
