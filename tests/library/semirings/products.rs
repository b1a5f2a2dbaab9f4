//! Products A·B over semirings.
use super::{Numbers, algebras, bits, numbers, with_numbers};
use crate::common::{FAMILIES, Family, blocks, device};
use blockmul::{
    BlockShape, Cbc, Csc, Csr, DeviceMatrix, Matrix, Method, Planned, Product, Semiring, plan::Accum, product::Weights,
    reference,
};
use half::f16;

fn same<M: Matrix>(found: &M, want: &M, what: &str) {
    assert_eq!(found.as_cbc().pattern, want.as_cbc().pattern, "{what}");
    assert_eq!(bits(found.as_cbc().values), bits(want.as_cbc().values), "{what}");
}

/// Compares A·B by each of the `cases` with the reference.
fn check<M: Matrix<Element: Numbers>>(a: &M, b: &M, what: &str, cases: &[(Semiring, Method)]) {
    let device = device();
    let (da, db) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    for &(semiring, method) in cases {
        let want = reference::multiply_over(semiring, a, b).unwrap();
        let found = Product::of(&da, &db).semiring(semiring).method(method).run().unwrap();
        same(&found.download().unwrap(), &want, &format!("{semiring} by {method}, {what}"));
    }
}

/// Returns a case for each algebra that the element type supports. Neighbouring algebras use
/// different methods. Methods whose kernels take long to compile are left out; another test in this
/// file uses them with one algebra.
fn cases<T: Numbers>(turn: usize) -> Vec<(Semiring, Method)> {
    let methods = [Method::Auto, Method::Esc, Method::Host].into_iter().cycle().skip(turn);
    algebras::<T>().zip(methods).collect()
}

fn pair<T: Numbers>(family: Family, n: usize) -> (Csc<T>, Csc<T>) {
    let pattern = |rows, cols, seed| blocks::<f64>(family, rows, cols, 4, BlockShape::SCALAR, seed).pattern().clone();
    (with_numbers(&pattern(n, n - 9, 1), 2), with_numbers(&pattern(n - 9, n + 3, 3), 4))
}

#[test]
fn every_element_and_algebra_has_the_bits_of_the_reference() {
    fn of<T: Numbers>(turn: usize) {
        let (a, b) = pair::<T>(Family::Uniform, 50);
        check(&a, &b, T::NAME, &cases::<T>(turn));
    }
    of::<f64>(0);
    of::<f32>(1);
    of::<f16>(2);
    of::<u32>(3);
    of::<i32>(4);
    of::<u8>(5);
    // Products of rows swap their operands. The results of plus-first and plus-second must not
    // depend on this swap.
    let (a, b) = pair::<i32>(Family::Uniform, 50);
    let cases = [Semiring::PlusFirst, Semiring::PlusSecond, Semiring::MinPlus].map(|semiring| (semiring, Method::Auto));
    check(&Csr::from_transpose(b.clone()), &Csr::from_transpose(a.clone()), "by rows", &cases);
}

#[test]
fn every_method_follows_the_algebra() {
    let all: Vec<_> = Method::ALL.iter().filter(|&&method| method != Method::Masked).collect();
    for family in FAMILIES {
        let (a, b) = pair::<f32>(family, 40);
        let cases: Vec<_> = all.iter().map(|&&method| (Semiring::MinPlus, method)).collect();
        check(&a, &b, &format!("{family:?}"), &cases);
    }
    // The runs of the products in this test are cut into pieces. The sum of a piece begins with a
    // value that changes no bit.
    let long = Csc::<f64>::from_triplets(2, 2500, (0..2500).flat_map(|k| [(0, k, 1.0), (1, k, 1.0)])).unwrap();
    let (a, b) = (with_numbers::<f32>(long.pattern(), 5), with_numbers::<f32>(long.transpose().pattern(), 6));
    let cases: Vec<_> = all.iter().map(|&&method| (Semiring::MinPlus, method)).collect();
    check(&a, &b, "long runs", &cases);
}

#[test]
fn blocks_and_plans_have_the_bits_of_the_reference() {
    fn of<T: Numbers>(rows: usize, cols: usize) -> Cbc<T> {
        let a = blocks::<f64>(Family::Uniform, 20, 17, 4, BlockShape::new(rows, cols).unwrap(), 3);
        Cbc::new(a.pattern().clone(), a.shape(), numbers(a.values().len(), 8)).unwrap()
    }
    let device = device();
    let a = of::<f64>(2, 3);
    check(&a, &a.transpose(), "f64 of 2x3", &[(Semiring::MaxMin, Method::Auto), (Semiring::PlusPair, Method::Host)]);
    let a = of::<i32>(3, 4);
    check(&a, &a.transpose(), "i32 of 3x4", &[(Semiring::MinPlus, Method::Auto)]);
    let a = of::<u8>(6, 3);
    check(&a, &a.transpose(), "u8 of 6x3", &[(Semiring::OrAnd, Method::Auto)]);
    // AᵀA is computed by a plan, and added to the values of C.
    let a = of::<i32>(3, 3);
    let (da, min_plus) = (device.upload(&a).unwrap(), Semiring::MinPlus);
    let want = reference::multiply_over(min_plus, &a.transpose(), &a).unwrap();
    let plan = Product::gram(&da).semiring(min_plus).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute(&da, &mut c).unwrap();
    same(&c.download().unwrap(), &want, "a plan of AᵀA");
    plan.execute(&da, Accum::into(&mut c).beta(1.0)).unwrap();
    same(&c.download().unwrap(), &want, "the smaller of C and itself");
    let refused = plan.execute(&da, Accum::into(&mut c).alpha(-1.0)).unwrap_err().to_string();
    assert!(refused.contains("alpha -1 and beta 0 in min-plus"), "{refused}");
}

#[test]
fn places_of_a_mask_without_products_have_an_empty_sum() {
    let device = device();
    let (a, b) = pair::<u32>(Family::Uniform, 40);
    let mask = with_numbers::<u32>(blocks::<f64>(Family::Uniform, 40, 43, 9, BlockShape::SCALAR, 7).pattern(), 8);
    let (da, db, on) =
        (device.upload(&a).unwrap(), device.upload(&b).unwrap(), device.upload(&mask).unwrap().pattern());
    for semiring in [Semiring::MinPlus, Semiring::PlusPair] {
        let want = reference::multiply_masked_over(semiring, &a, &b, &mask).unwrap();
        let product = Product::of(&da, &db).mask(&on).semiring(semiring);
        same(&product.run().unwrap().download().unwrap(), &want, "on a mask");
        let plan = product.plan().unwrap();
        let mut c = plan.output().unwrap();
        plan.execute((&da, &db), &mut c).unwrap();
        same(&c.download().unwrap(), &want, "on a mask, planned");
        assert!(semiring != Semiring::MinPlus || want.values().contains(&u32::MAX));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let device = device();
    fn refused<M: Matrix>(product: &Product<'_, DeviceMatrix<M>>) -> String {
        product.run().map(drop).unwrap_err().to_string()
    }
    let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1u8)]).unwrap()).unwrap();
    assert_eq!(refused(&Product::of(&a, &a)), "elements of u8 support or-and only, not plus-times");
    let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()).unwrap();
    let dropped = Product::of(&a, &a).semiring(Semiring::MinPlus).drop_below(1.0);
    assert_eq!(refused(&dropped), "entries are dropped by their magnitude: of floats, in plus-times");
    let ones = device.upload_vector(&[1.0]).unwrap();
    let weighted = Product::of(a.t(), &a).weighted(Weights::Rows(&ones)).semiring(Semiring::MinPlus);
    assert_eq!(refused(&weighted), "weights are factors of plus-times, not of min-plus");
}
