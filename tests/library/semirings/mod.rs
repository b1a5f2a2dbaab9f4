//! Sums and products over every semiring have the bits of the reference: for every element type,
//! method and format. Some values are special numbers, for which an algebra has a rule of its own,
//! such as NaN.
mod drawn;
mod products;
mod turns;
mod vectors;

use blockmul::{Csc, Element, Semiring, matrix::Pattern};
use half::f16;

/// An element type, and the numbers for which its algebras have rules of their own.
pub trait Numbers: Element {
    const SPECIAL: &'static [f64];
}

impl Numbers for f64 {
    const SPECIAL: &'static [f64] = &[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
}

impl Numbers for f32 {
    const SPECIAL: &'static [f64] = f64::SPECIAL;
}

impl Numbers for f16 {
    const SPECIAL: &'static [f64] = f64::SPECIAL;
}

impl Numbers for u32 {
    const SPECIAL: &'static [f64] = &[0.0, u32::MAX as f64, u32::MAX as f64 - 2.0];
}

impl Numbers for i32 {
    const SPECIAL: &'static [f64] =
        &[0.0, i32::MAX as f64, i32::MIN as f64, i32::MAX as f64 - 2.0, i32::MIN as f64 + 2.0];
}

impl Numbers for u8 {
    const SPECIAL: &'static [f64] = &[0.0, 1.0, 255.0];
}

/// Returns numbers of both signs that are rounded. About every 11th of these numbers is one of the
/// special numbers.
pub fn numbers<T: Numbers>(n: usize, seed: u64) -> Vec<T> {
    let mut random = crate::common::Random(seed);
    let mut number = |_| match random.below(11) {
        0 => T::SPECIAL[random.below(T::SPECIAL.len())],
        _ => random.below(2001) as f64 / 7.0 - 100.0,
    };
    (0..n).map(|i| T::from_f64(number(i))).collect()
}

/// Makes a matrix with such numbers on the given pattern.
pub fn with_numbers<T: Numbers>(pattern: &Pattern, seed: u64) -> Csc<T> {
    Csc::new(pattern.clone(), numbers(pattern.nnz(), seed)).unwrap()
}

/// Returns the algebras that an element type supports.
pub fn algebras<T: Element>() -> impl Iterator<Item = Semiring> {
    Semiring::ALL.iter().copied().filter(|semiring| semiring.check::<T>().is_ok())
}

/// Returns the bits of values. All NaNs count as having the same bits.
pub fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    let bits = |value: &T| match value.to_f64() {
        number if number.is_nan() => u64::MAX,
        number => number.to_bits(),
    };
    values.iter().map(bits).collect()
}

#[test]
fn algebras_have_names() {
    for &semiring in Semiring::ALL {
        assert_eq!(semiring.name().parse::<Semiring>().unwrap(), semiring);
    }
    let refused = "plus-plus".parse::<Semiring>().unwrap_err().to_string();
    assert!(refused.contains("no semiring \"plus-plus\"") && refused.contains("min-plus"), "{refused}");
    assert_eq!(Semiring::default(), Semiring::PlusTimes);
    assert_eq!(algebras::<u8>().collect::<Vec<_>>(), [Semiring::OrAnd]);
    assert_eq!(algebras::<u32>().count(), Semiring::ALL.len());
}
