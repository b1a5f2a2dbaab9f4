//! Verification: comparison of a product with the reference.
mod bits;
mod groups;
mod vectors;

pub use bits::{same_any_groups, same_any_matrix, same_bits, same_matrix};
pub use groups::verify_groups;
pub use vectors::{beyond_rounding, different, most_terms, verify_vector, verify_vector_gram, verify_vector_onto};

use crate::{
    Cbc, Matrix, Pattern, Result, Semiring, Threshold,
    element::ElementType,
    matrix::{AnyView, HostMatrix, kept_entries, pattern_of},
    reference::{self, masked, multiply_any},
};
use rayon::prelude::*;
use std::borrow::Cow;

/// The difference of a product from the reference.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// Largest |c - r| of an element c of the product and the element r of the reference at the
    /// same place.
    pub max_abs_error: f64,
    /// Largest quotient of |c - r| and the sum of the magnitudes of the element's terms. The
    /// quotient 0/0 counts as 0.
    pub max_rel_error: f64,
    /// Whether the pattern equals that of the reference.
    pub pattern_equal: bool,
    /// Whether every element has the same bits as the reference.
    #[serde(skip)]
    pub bits_equal: bool,
    /// Whether the pattern is equal and every element differs from the reference by at most the
    /// bound 2·n·u·(|A||B|)ij. Here n is the number of scalar terms of the element's sum, and u is
    /// the unit round-off of the arithmetic type. Elements of f16 may also differ by one rounding
    /// of the result.
    #[serde(skip)]
    pub passed: bool,
    /// Number of elements that differ by more than the bound, if the pattern is equal.
    #[serde(skip)]
    pub wrong: u64,
    /// Row and column of the first element that differs by more than the bound, in the order in
    /// which C stores elements, counted in scalars from 0. For matrices of groups the field is
    /// `None`.
    #[serde(skip)]
    pub first_wrong: Option<(usize, usize)>,
}

impl Verification {
    const OTHER_PATTERN: Self = Self {
        max_abs_error: f64::INFINITY,
        max_rel_error: f64::INFINITY,
        pattern_equal: false,
        bits_equal: false,
        passed: false,
        wrong: 0,
        first_wrong: None,
    };

    fn of(errors: Errors) -> Self {
        Self {
            max_abs_error: errors.absolute,
            max_rel_error: errors.relative,
            pattern_equal: true,
            bits_equal: errors.bits_equal,
            passed: errors.wrong == 0,
            wrong: errors.wrong,
            first_wrong: None,
        }
    }

    /// Like [`Verification::of`], but also finds the place of the first wrong element in C.
    fn of_matrix(errors: Errors, c: AnyView<'_>) -> Self {
        let place = |(entry, i): (usize, usize)| {
            let line = c.pattern.col_ptr().partition_point(|&end| end as usize <= entry) - 1;
            let (at, across) = (c.pattern.row_idx()[entry] as usize, i / c.shape.rows());
            let (row, col) = (at * c.shape.rows() + i % c.shape.rows(), line * c.shape.cols() + across);
            if c.kind.is_row_major() { (col, row) } else { (row, col) }
        };
        Self { first_wrong: errors.first.map(place), ..Self::of(errors) }
    }
}

/// Compares C with the reference product of A and B.
///
/// The bound holds for two sums of the same n terms in any order, with each product rounded once.
/// To first order the bound is |c - r| <= 2·n·u·Σ|a||b| (Higham, Accuracy and Stability of
/// Numerical Algorithms, section 4.2).
///
/// # Errors
/// The errors of [`reference::multiply`].
///
/// ```
/// use blockmul::reference::verify::verify;
/// use blockmul::{Csc, reference};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0)])?;
/// let c = reference::multiply(&a, &a)?;
/// assert!(verify(&a, &a, &c)?.passed);
/// let wrong = Csc::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 6.1)])?;
/// assert!(!verify(&a, &a, &wrong)?.passed);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn verify<M: HostMatrix>(a: &M, b: &M, c: &M) -> Result<Verification> {
    verify_dropped(a, b, c, None)
}

/// Verifies a product from which entries below a threshold were dropped. The entries of the
/// reference are dropped by the same rule.
///
/// # Errors
/// The errors of [`verify`].
pub fn verify_dropped<M: HostMatrix>(a: &M, b: &M, c: &M, threshold: Option<Threshold>) -> Result<Verification> {
    verify_any([a, b, c].map(HostMatrix::view), threshold)
}

fn verify_any([a, b, c]: [AnyView<'_>; 3], threshold: Option<Threshold>) -> Result<Verification> {
    let r = multiply_any(Semiring::PlusTimes, a, b)?;
    let r = r.view();
    let kept = threshold.map(|threshold| kept_entries(r, threshold));
    let pattern = kept.as_ref().map_or(Cow::Borrowed(r.pattern), |kept| Cow::Owned(pattern_of(r.pattern, kept)));
    compare([a, b], c, r, &pattern, &|entry| Some(kept.as_ref().map_or(entry, |kept| kept[entry])))
}

/// Verifies a masked product. The pattern of C must equal the pattern of the mask, and entries of C
/// that receive no product must be 0.
///
/// # Errors
/// The errors of [`reference::multiply_masked`].
pub fn verify_masked<M: HostMatrix, K: HostMatrix>(a: &M, b: &M, c: &M, mask: &K) -> Result<Verification> {
    verify_any_masked([a, b, c].map(HostMatrix::view), mask.view())
}

fn verify_any_masked([a, b, c]: [AnyView<'_>; 3], mask: AnyView<'_>) -> Result<Verification> {
    let r = multiply_any(Semiring::PlusTimes, a, b)?;
    let r = r.view();
    let mask = masked::pattern_of_mask(mask, r)?;
    let entries: Vec<_> = masked::entries_at(mask, r.pattern).collect();
    compare([a, b], c, r, mask, &|entry| entries[entry])
}

/// Verifies a product over a semiring, at the places of a mask if there is one. Every element must
/// have the bits of the reference. Two NaN count as equal.
///
/// # Errors
/// The errors of [`reference::multiply_over`] and [`reference::multiply_masked_over`].
pub fn verify_over<M: HostMatrix, K: HostMatrix>(
    semiring: Semiring,
    (a, b): (&M, &M),
    c: &M,
    mask: Option<&K>,
) -> Result<Verification> {
    semiring.check_type(a.view().element())?;
    verify_any_over(semiring, [a, b, c].map(HostMatrix::view), mask.map(HostMatrix::view))
}

fn verify_any_over(semiring: Semiring, [a, b, c]: [AnyView<'_>; 3], mask: Option<AnyView<'_>>) -> Result<Verification> {
    let r = match mask {
        Some(mask) => masked::multiply_any_masked(semiring, a, b, mask)?,
        None => multiply_any(semiring, a, b)?,
    };
    let r = r.view();
    if c.pattern != r.pattern || c.shape != r.shape {
        return Ok(Verification::OTHER_PATTERN);
    }
    let of_entry = |entry| of_block([c, r], entry, Some(entry), |_| 0.0, 0.0);
    Ok(Verification::of_matrix((0..c.nnz()).map(of_entry).fold(Errors::NONE, Errors::and), c))
}

/// Compares C, whose pattern must be `pattern`, with the reference. For each entry of C,
/// `of_reference` gives the entry of the reference, or `None` for an entry without products.
fn compare(
    [a, b]: [AnyView<'_>; 2],
    c: AnyView<'_>,
    r: AnyView<'_>,
    pattern: &Pattern,
    of_reference: &(dyn Fn(usize) -> Option<usize> + Sync),
) -> Result<Verification> {
    let (x, y) = if a.kind.is_row_major() { (b, a) } else { (a, b) };
    if c.pattern != pattern || c.shape != r.shape {
        return Ok(Verification::OTHER_PATTERN);
    }
    let magnitude = reference::multiply(&absolute(x)?, &absolute(y)?)?;
    let terms = reference::multiply(&ones(x)?, &ones(y)?)?;
    let inner = x.shape.cols() as f64;

    let entry = |entry: usize| {
        let Some(whole) = of_reference(entry) else { return of_block([c, r], entry, None, |_| 0.0, 0.0) };
        let n = terms.values()[whole] * inner;
        let bound = 2.0 * n * c.element().arithmetic_roundoff();
        let magnitude = magnitude.as_cbc().block(whole);
        of_block([c, r], entry, Some(whole), |i| magnitude[i], bound)
    };
    let errors = (0..c.nnz()).into_par_iter().with_min_len(4096).map(entry).reduce(|| Errors::NONE, Errors::and);
    Ok(Verification::of_matrix(errors, c))
}

/// Compares a block of C with a block of the reference, or with zeros if the reference has no block
/// at this place.
fn of_block(
    [c, r]: [AnyView<'_>; 2],
    entry: usize,
    of_reference: Option<usize>,
    magnitude: impl Fn(usize) -> f64,
    bound: f64,
) -> Errors {
    let number = |of: AnyView<'_>, entry: usize, i: usize| {
        let at = entry * of.stride + i;
        Number { value: of.values.number(at), bits: of.values.bits(at) }
    };
    let of_element = |i| {
        let r = of_reference.map_or(Number { value: 0.0, bits: 0 }, |entry| number(r, entry, i));
        let errors = Errors::of(number(c, entry, i), r, c.element(), (magnitude(i), bound));
        Errors { first: (errors.wrong > 0).then_some((entry, i)), ..errors }
    };
    (0..c.shape.area()).map(of_element).fold(Errors::NONE, Errors::and)
}

/// The value of an element, and the bits with which its type represents it.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    bits: u64,
}

#[derive(Clone, Copy)]
struct Errors {
    absolute: f64,
    relative: f64,
    bits_equal: bool,
    /// Number of elements that differ from the reference by more than the bound.
    wrong: u64,
    /// The entry that contains the first wrong element, and the number of the element in the block.
    first: Option<(usize, usize)>,
}

impl Errors {
    const NONE: Self = Self { absolute: 0.0, relative: 0.0, bits_equal: true, wrong: 0, first: None };

    fn of(c: Number, r: Number, element: ElementType, (magnitude, bound): (f64, f64)) -> Self {
        let bits_equal = c.bits == r.bits;
        let (c, r) = (c.value, r.value);
        if bits_equal || c == r || (c.is_nan() && r.is_nan()) {
            return Self { bits_equal, ..Self::NONE };
        }
        let absolute = (c - r).abs();
        // The results may differ by one rounding of the stored type, and for a subnormal by its
        // last digit.
        let storage = match element.storage_roundoff() {
            roundoff if roundoff > 0.0 => 2.0 * roundoff * r.abs() + 2f64.powi(-24),
            _ => 0.0,
        };
        let relative = if absolute == 0.0 { 0.0 } else { absolute / magnitude };
        // If a number is NaN, this comparison is false.
        let within = absolute <= bound * magnitude + storage;
        let known = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let (absolute, relative) = (known(absolute), known(relative));
        Self { absolute, relative, bits_equal, wrong: u64::from(!within), first: None }
    }

    fn and(self, other: Self) -> Self {
        Self {
            absolute: self.absolute.max(other.absolute),
            relative: self.relative.max(other.relative),
            bits_equal: self.bits_equal && other.bits_equal,
            wrong: self.wrong + other.wrong,
            first: self.first.or(other.first),
        }
    }
}

fn absolute(view: AnyView<'_>) -> Result<Cbc<f64>> {
    let mut values = view.values.numbers();
    values.iter_mut().for_each(|value| *value = value.abs());
    Cbc::with_stride(view.pattern.clone(), view.shape, view.stride, values)
}

/// A matrix with the pattern of `view` whose entries are 1. The product of two such matrices counts
/// terms.
fn ones(view: AnyView<'_>) -> Result<crate::Csc<f64>> {
    crate::Csc::new(view.pattern.clone(), vec![1.0; view.nnz()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Csc, matrix::AnyMatrix};
    use half::f16;

    fn sum_of(terms: &[f64]) -> Result<(Csc<f64>, Csc<f64>)> {
        let n = terms.len();
        let a = Csc::from_triplets(1, n, terms.iter().enumerate().map(|(k, &x)| (0, k, x)))?;
        Ok((a, Csc::from_triplets(n, 1, (0..n).map(|k| (k, 0, 1.0)))?))
    }

    #[test]
    fn the_bound_is_two_n_u_of_the_magnitudes() -> Result<()> {
        // With four terms of magnitude 1, the bound 2·n·u·(|A||B|)ij is 2 * 4 * 2^-53 * 4 = 2^-48.
        let (a, b) = sum_of(&[1.0, -1.0, 1.0, -1.0])?;
        let c = |x: f64| Csc::from_triplets(1, 1, [(0, 0, x)]);
        let bound = 2f64.powi(-48);
        assert!(verify(&a, &b, &c(bound)?)?.passed && !verify(&a, &b, &c(bound * 1.001)?)?.passed);
        assert_eq!(verify(&a, &b, &c(bound)?)?.max_rel_error, bound / 4.0);
        assert!(!verify(&a, &b, &c(f64::NAN)?)?.passed && !verify(&a, &b, &c(f64::INFINITY)?)?.passed);
        Ok(())
    }

    #[test]
    fn wrong_elements_are_counted_and_the_first_is_named() -> Result<()> {
        let entries = [(0, 1, 1.0), (2, 0, 2.0), (2, 3, 3.0), (3, 2, 4.0)];
        let shape = BlockShape::new(1, 2).unwrap();
        let identity = Csc::from_triplets(4, 4, (0..4).map(|k| (k, k, 1.0)))?;
        let wrong = [(0, 1, 1.0), (2, 0, 2.0), (2, 3, 3.5), (3, 2, -4.0)];
        let a = AnyMatrix::from(Csc::from_triplets(4, 4, entries)?);
        let (identity, c) = (AnyMatrix::from(identity), AnyMatrix::from(Csc::from_triplets(4, 4, wrong)?));
        let found = verify(&a, &identity, &c)?;
        assert_eq!((found.wrong, found.first_wrong, found.passed), (2, Some((3, 2)), false));
        // Multiplies blocks of 1x2 by blocks of 2x2. The same matrices are also stored by rows,
        // where row 2 comes first.
        let square = BlockShape::new(2, 2).unwrap();
        let of_blocks = [a.to_blocks(shape)?, identity.to_blocks(square)?, c.to_blocks(shape)?];
        let found = verify(&of_blocks[0], &of_blocks[1], &of_blocks[2])?;
        assert_eq!((found.wrong, found.first_wrong), (2, Some((2, 3))));
        let by_rows = |matrix: &AnyMatrix| matrix.transpose().map(AnyMatrix::into_transpose);
        let [x, y, z] = [by_rows(&of_blocks[0])?, by_rows(&of_blocks[1])?, by_rows(&of_blocks[2])?];
        let found = verify(&x, &y, &z)?;
        assert_eq!((found.wrong, found.first_wrong), (2, Some((2, 3))));
        assert_eq!(verify(&a, &identity, &a)?.first_wrong, None);
        Ok(())
    }

    #[test]
    fn another_pattern_fails_and_nan_agrees_with_nan() -> Result<()> {
        let a = Csc::from_triplets(2, 2, [(0, 0, f64::NAN), (1, 1, f64::INFINITY)])?;
        let c = reference::multiply(&a, &a)?;
        assert!(verify(&a, &a, &c)?.passed);
        let extra = Csc::from_triplets(2, 2, [(0, 0, f64::NAN), (1, 0, 0.0), (1, 1, f64::INFINITY)])?;
        let verification = verify(&a, &a, &extra)?;
        assert!(!verification.passed && !verification.pattern_equal);
        Ok(())
    }

    #[test]
    fn a_masked_product_is_the_reference_on_its_places_and_zero_elsewhere() -> Result<()> {
        let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
        let mask = Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)])?;
        let c = |corner: f64| Csc::from_triplets(2, 2, [(0, 0, 4.0), (0, 1, corner), (1, 1, 25.0)]);
        let good = verify_masked(&a, &a, &c(0.0)?, &mask)?;
        assert!(good.passed && good.bits_equal && good.pattern_equal);
        let bad = verify_masked(&a, &a, &c(1e-300)?, &mask)?;
        assert!(!bad.passed && bad.pattern_equal && bad.max_abs_error == 1e-300);
        assert!(!verify_masked(&a, &a, &reference::multiply(&a, &a)?, &mask)?.pattern_equal);
        Ok(())
    }

    #[test]
    fn half_may_be_one_rounding_off() -> Result<()> {
        let a = Csc::from_triplets(1, 1, [(0, 0, f16::from_f32(1.5))])?;
        let c = |bits: u16| Csc::from_triplets(1, 1, [(0, 0, f16::from_bits(bits))]);
        let exact = f16::from_f32(2.25).to_bits();
        assert!(verify(&a, &a, &c(exact + 1)?)?.passed && !verify(&a, &a, &c(exact + 3)?)?.passed);
        Ok(())
    }
}
