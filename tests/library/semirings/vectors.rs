//! Products A·x over semirings.
use super::{Numbers, algebras, bits, numbers, with_numbers};
use crate::common::{FAMILIES, Family, blocks, device};
use blockmul::{
    BlockShape, Cbc, Csc, Csr, Matrix, Planned, Semiring,
    plan::{Accum, Apply, Format},
    product::Factor,
    reference,
};
use half::f16;

/// A case: an algebra, a format, and whether A is transposed.
type Case = (Semiring, Format, bool);

/// Returns a case for each algebra that the element type supports. Neighbouring algebras use
/// different formats, because each combination has kernels of its own. A is transposed in every
/// third case. With the turns of six element types, each algebra is tested in six formats.
fn cases<T: Numbers>(turn: usize) -> Vec<Case> {
    let formats = Format::ALL.iter().cycle().skip(turn);
    let case =
        |(i, (semiring, &format)): (usize, (Semiring, &Format))| (semiring, format, (i + turn).is_multiple_of(3));
    algebras::<T>().zip(formats).enumerate().map(case).collect()
}

/// Compares A·x or Aᵀ·x with the reference.
fn check<M: Matrix<Element: Numbers>>(a: &M, what: &str, cases: &[Case]) {
    let (device, view) = (device(), a.as_cbc());
    let sides = (view.pattern.nrows() * view.shape.rows(), view.pattern.ncols() * view.shape.cols());
    let (rows, cols) = if M::ROW_MAJOR { (sides.1, sides.0) } else { sides };
    let on_device = device.upload(a).unwrap();
    let pattern = on_device.pattern();
    for &(semiring, format, transposed) in cases {
        let (x_len, y_len) = if transposed { (rows, cols) } else { (cols, rows) };
        let (x, y) = (numbers::<M::Element>(x_len, 5), numbers::<M::Element>(y_len, 6));
        let dx = device.upload_vector(&x).unwrap();
        let options = Apply::<M>::with(&pattern).format(format).semiring(semiring);
        let plan = if transposed { options.transposed() } else { options }.plan().unwrap();
        for beta in [0.0, 1.0] {
            let (mut want, mut dy) = (y.clone(), device.upload_vector(&y).unwrap());
            let order = plan.format().order();
            let factor = Factor { operand: a, transposed };
            reference::multiply_vector_over(semiring, order, factor, &x, (1.0, beta), &mut want).unwrap();
            plan.execute((&on_device, &dx), Accum::into(&mut dy).beta(beta)).unwrap();
            let found = dy.download().unwrap();
            assert_eq!(bits(&found), bits(&want), "{semiring}, {format}, {what}, {beta}, transposed {transposed}");
        }
    }
}

fn scalars<T: Numbers>(family: Family, n: usize) -> Csc<T> {
    with_numbers(blocks::<f64>(family, n, n - 7, 4, BlockShape::SCALAR, 3).pattern(), 4)
}

#[test]
fn every_element_format_and_algebra_has_the_bits_of_the_reference() {
    check(&scalars::<f64>(Family::Uniform, 60), "f64", &cases::<f64>(0));
    check(&scalars::<f32>(Family::Uniform, 60), "f32", &cases::<f32>(1));
    check(&scalars::<f16>(Family::Uniform, 60), "f16", &cases::<f16>(2));
    check(&scalars::<u32>(Family::Uniform, 60), "u32", &cases::<u32>(3));
    check(&scalars::<i32>(Family::Uniform, 60), "i32", &cases::<i32>(4));
    check(&scalars::<u8>(Family::Uniform, 60), "u8", &cases::<u8>(5));
    check(&Csr::from_transpose(scalars::<i32>(Family::Uniform, 60)), "i32 by rows", &cases::<i32>(4));
}

#[test]
fn empty_and_long_rows() {
    // Csr-vector is the only one of these formats in which some work-items have no terms.
    let cases = [Format::Csr, Format::CsrScalar, Format::CsrVector].map(|format| (Semiring::MinPlus, format, false));
    for family in FAMILIES {
        check(&scalars::<f32>(family, 50), &format!("{family:?}"), &cases);
    }
    // Row 1 is longer than a piece of a long sum, and row 0 is as long as a tile.
    let long = (0..2100).map(|k| (1, k, 1.0)).chain((0..2100).step_by(3).map(|k| (0, k, 1.0)));
    let long = Csc::<f64>::from_triplets(3, 2100, long).unwrap();
    let cases = [Format::Csr, Format::CsrAdaptive, Format::Coo].map(|format| (Semiring::MaxMin, format, false));
    check(&with_numbers::<f32>(long.pattern(), 9), "long", &cases);
}

#[test]
fn blocks_have_the_bits_of_the_reference() {
    fn of<T: Numbers>(rows: usize, cols: usize) -> Cbc<T> {
        let a = blocks::<f64>(Family::Uniform, 20, 17, 4, BlockShape::new(rows, cols).unwrap(), 3);
        Cbc::new(a.pattern().clone(), a.shape(), numbers(a.values().len(), 8)).unwrap()
    }
    check(&of::<f64>(2, 3), "f64 of 2x3", &[(Semiring::MaxPlus, Format::Auto, false)]);
    check(&of::<i32>(3, 3), "i32 of 3x3", &[(Semiring::MinPlus, Format::Auto, true)]);
    check(&of::<u8>(6, 3), "u8 of 6x3", &[(Semiring::OrAnd, Format::Auto, false)]);
}

#[test]
fn what_an_algebra_has_not_is_refused() {
    let device = device();
    let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1u8)]).unwrap()).unwrap();
    let refused = Apply::<Csc<u8>>::with(&a.pattern()).plan().map(drop).unwrap_err().to_string();
    assert_eq!(refused, "elements of u8 support or-and only, not plus-times");
    let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()).unwrap();
    let plan = Apply::<Csc<f64>>::with(&a.pattern()).semiring(Semiring::MinPlus).plan().unwrap();
    let (x, mut y) = (device.upload_vector(&[1.0]).unwrap(), plan.output().unwrap());
    let refused = plan.execute((&a, &x), Accum::into(&mut y).alpha(2.0)).unwrap_err().to_string();
    assert_eq!(refused, "alpha 2 and beta 0 in min-plus, which has alpha 1 and beta 0 or 1");
    let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1u32)]).unwrap()).unwrap();
    let plan = Apply::<Csc<u32>>::new(&a.pattern()).unwrap();
    let (x, mut y) = (device.upload_vector(&[1u32]).unwrap(), plan.output().unwrap());
    let refused = plan.execute((&a, &x), Accum::into(&mut y).alpha(-1.0)).unwrap_err().to_string();
    assert_eq!(refused, "alpha -1 and beta 0 are not both numbers of type u32");
}
