//! Vectors with another element type than the matrix. Results for such vectors have the bits of the
//! reference in every format.
use super::{
    bits,
    formats::{formats_of, with_values},
    reals, scalar_sides, shape,
};
use crate::common::{Family, blocks, device};
use blockmul::{
    Bsr, Matrix, Planned, Semiring,
    element::{Order, VectorElement},
    plan::{Accum, Apply, Format},
    reference,
};
use half::f16;

fn check<M: Matrix, V: VectorElement<M::Element>>(a: &M, semiring: Semiring) {
    let (rows, cols) = scalar_sides(a);
    let (x, old) = (reals::<V>(cols, 3), reals::<V>(rows, 4));
    let (da, dx) = (device().upload(a).unwrap(), device().upload_vector(&x).unwrap());
    for format in formats_of(a.as_cbc().shape).filter(|&format| format != Format::Auto) {
        let pattern = da.pattern();
        let options = || Apply::<M>::with(&pattern).format(format).semiring(semiring).vectors::<V>();
        let (plan, packed) = (options().plan().unwrap(), options().pack(&da).unwrap());
        let mut want = old.clone();
        reference::multiply_vector_over(semiring, format.order(), a, &x, (1.0, 1.0), &mut want).unwrap();
        let mut y = device().upload_vector(&old).unwrap();
        plan.execute((&da, &dx), Accum::into(&mut y).beta(1.0)).unwrap();
        assert_eq!(bits(&y.download().unwrap()), bits(&want), "{format} {semiring}");
        y.write(&old).unwrap();
        packed.execute(&dx, Accum::into(&mut y).beta(1.0)).unwrap();
        assert_eq!(bits(&y.download().unwrap()), bits(&want), "packed {format} {semiring}");
    }
}

#[test]
fn matrices_of_floats_multiply_doubles() {
    let scalars = with_values(&blocks::<f32>(Family::PowerLawColumns, 90, 70, 4, shape(1, 1), 1), 5);
    check::<_, f64>(&scalars, Semiring::PlusTimes);
    check::<_, f64>(&Bsr::from_transpose(scalars), Semiring::MaxPlus);
    check::<_, f64>(&with_values(&blocks::<f32>(Family::Uniform, 30, 20, 4, shape(2, 3), 2), 6), Semiring::PlusTimes);
}

#[test]
fn matrices_of_halves_multiply_floats_and_doubles() {
    let host = with_values(&blocks::<f16>(Family::Uniform, 30, 20, 4, shape(3, 2), 2), 6);
    check::<_, f32>(&host, Semiring::PlusTimes);
    check::<_, f64>(&host, Semiring::PlusTimes);
}

/// 2^24 + 1 is not a number of `f32`.
#[test]
fn sums_are_those_of_the_vectors() {
    let host = blockmul::Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![16777216.0f32, 1.0]).unwrap();
    let mut y = [0.0f64];
    let ones = [1.0f64, 1.0];
    reference::multiply_vector_in(Order::Ascending, &host, &ones, (1.0, 0.0), &mut y).unwrap();
    assert_eq!(y, [16777217.0]);
    let (a, x) = (device().upload(&host).unwrap(), device().upload_vector(&ones).unwrap());
    let plan = Apply::<blockmul::Csr<f32>>::with(&a.pattern()).vectors::<f64>().plan().unwrap();
    let mut y = plan.output().unwrap();
    plan.execute((&a, &x), &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [16777217.0]);
}
