//! Differences between two matrices.
use crate::{
    Csc, Element, Error, Result,
    element::{ElementType, with_type},
    matrix::{AnyMatrix, union},
};
use rayon::prelude::*;
use serde::Serialize;

/// The rule by which two values count as equal. Values must have the same bits, unless a field of
/// this type allows a difference. Two NaN are equal.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// Allows |a - b| up to this number times the larger of |a| and |b|.
    pub relative: Option<f64>,
    /// The largest distance of two values that count as equal, in steps from one number of the
    /// element type to the next.
    pub ulps: Option<u64>,
    /// Treats an entry that only one matrix stores as 0 in the other, instead of as a difference.
    pub missing_is_zero: bool,
}

/// A place where two matrices differ. Rows and columns are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Disagreement {
    /// Row.
    pub row: usize,
    /// Column.
    pub col: usize,
    /// The entry of A, if it is stored.
    pub a: Option<f64>,
    /// The entry of B, if it is stored.
    pub b: Option<f64>,
    /// |a - b|, where entries that are not stored are 0; infinite if exactly one is NaN.
    pub abs: f64,
    /// |a - b| divided by the larger of |a| and |b|.
    pub rel: f64,
}

/// Differences between two matrices. The "first" place is the first by columns, then by rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Number of places that both matrices store.
    pub common: u64,
    /// Number of places that only A stores.
    pub only_a: u64,
    /// Number of places that only B stores.
    pub only_b: u64,
    /// Number of places that count as different.
    pub different: u64,
    /// Largest |a - b|.
    pub max_abs: f64,
    /// Largest |a - b| divided by the larger of |a| and |b|.
    pub max_rel: f64,
    /// The first place that counts as different.
    pub first: Option<Disagreement>,
    /// The first place with the largest |a - b|, if this is not 0.
    pub largest_abs: Option<Disagreement>,
    /// The first place with the largest relative difference, if this is not 0.
    pub largest_rel: Option<Disagreement>,
}

impl Difference {
    /// Whether no place counts as different.
    pub fn is_none(&self) -> bool {
        self.different == 0
    }

    fn note(&mut self, place: Disagreement, counts: bool) {
        match (place.a, place.b) {
            (Some(_), Some(_)) => self.common += 1,
            (Some(_), None) => self.only_a += 1,
            _ => self.only_b += 1,
        }
        self.different += u64::from(counts);
        let only = |condition: bool| condition.then_some(place);
        self.merge_places(only(counts), only(place.abs > 0.0), only(place.rel > 0.0));
    }

    fn merge_places(&mut self, first: Option<Disagreement>, abs: Option<Disagreement>, rel: Option<Disagreement>) {
        self.first = self.first.or(first);
        if let Some(place) = abs.filter(|place| place.abs > self.max_abs) {
            (self.max_abs, self.largest_abs) = (place.abs, abs);
        }
        if let Some(place) = rel.filter(|place| place.rel > self.max_rel) {
            (self.max_rel, self.largest_rel) = (place.rel, rel);
        }
    }

    /// Combines the differences of some columns with the differences of later columns.
    fn and(mut self, after: Self) -> Self {
        self.common += after.common;
        self.only_a += after.only_a;
        self.only_b += after.only_b;
        self.different += after.different;
        self.merge_places(after.first, after.largest_abs, after.largest_rel);
        self
    }
}

/// Compares two matrices of one size, entry by entry.
///
/// # Errors
/// [`Error::Argument`] if their sizes differ.
///
/// ```
/// use blockmul::extra::analysis::{Tolerance, difference};
/// use blockmul::Csc;
/// let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 2.0)])?;
/// let b = Csc::from_triplets(2, 2, [(0, 0, 1.0 + 1e-15), (1, 1, 2.0)])?;
/// assert_eq!(difference(&a, &b, Tolerance::default())?.different, 1);
/// let tolerance = Tolerance { relative: Some(1e-12), ..Default::default() };
/// assert!(difference(&a, &b, tolerance)?.is_none());
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn difference<T: Element>(a: &Csc<T>, b: &Csc<T>, tolerance: Tolerance) -> Result<Difference> {
    let size = |m: &Csc<T>| (m.nrows(), m.ncols());
    if size(a) != size(b) {
        let ((rows, cols), (b_rows, b_cols)) = (size(a), size(b));
        return Err(Error::Argument(format!("cannot compare: A is {rows}x{cols}, B is {b_rows}x{b_cols}")));
    }
    let column = |found: Difference, col: usize| {
        let (a_start, b_start) = (a.pattern().entries(col).start, b.pattern().entries(col).start);
        union(a.pattern().column(col), b.pattern().column(col)).fold(found, |mut found, (row, in_a, in_b)| {
            let x = in_a.map(|entry| a.values()[a_start + entry]);
            let y = in_b.map(|entry| b.values()[b_start + entry]);
            let (abs, rel) = distance(x, y);
            let place = Disagreement { row: row as usize, col, a: x.map(T::to_f64), b: y.map(T::to_f64), abs, rel };
            found.note(place, !tolerance.allows(x, y));
            found
        })
    };
    let parts = (0..a.ncols()).into_par_iter().with_min_len(1024).fold(Difference::default, column);
    Ok(parts.reduce(Difference::default, Difference::and))
}

/// Compares matrices of scalars whose element type is known at run time, as [`difference`] does.
///
/// # Errors
/// The errors of [`difference`]; [`Error::Argument`] if the elements or the formats differ.
pub fn any_difference(a: AnyMatrix, b: AnyMatrix, tolerance: Tolerance) -> Result<Difference> {
    with_type!(a.element(), T => difference::<T>(&a.typed()?, &b.typed()?, tolerance))
}

/// |a - b|, and |a - b| divided by the larger magnitude.
fn distance<T: Element>(x: Option<T>, y: Option<T>) -> (f64, f64) {
    let [x, y] = [x, y].map(|value| value.map_or(0.0, T::to_f64));
    if x == y || x.is_nan() && y.is_nan() {
        return (0.0, 0.0);
    }
    let abs = (x - y).abs();
    match x.is_finite() && y.is_finite() {
        true => (abs, abs / x.abs().max(y.abs())),
        false => (f64::INFINITY, f64::INFINITY),
    }
}

impl Tolerance {
    fn allows<T: Element>(&self, x: Option<T>, y: Option<T>) -> bool {
        let zero = || Some(T::from_f64(0.0)).filter(|_| self.missing_is_zero);
        let (stored, Some(x), Some(y)) = (x.is_some() && y.is_some(), x.or_else(zero), y.or_else(zero)) else {
            return false;
        };
        let (wide_x, wide_y) = (x.to_f64(), y.to_f64());
        if wide_x.is_nan() || wide_y.is_nan() {
            return wide_x.is_nan() && wide_y.is_nan();
        }
        // A zero that is not stored has no sign, so it equals both 0.0 and -0.0.
        let loose = !stored || self.relative.is_some() || self.ulps.is_some();
        let (x, y) = (Ordered::new(x), Ordered::new(y));
        if if loose { x.place == y.place } else { x == y } {
            return true;
        }
        if !wide_x.is_finite() || !wide_y.is_finite() {
            return false;
        }
        let near = |relative| (wide_x - wide_y).abs() <= relative * wide_x.abs().max(wide_y.abs());
        self.relative.is_some_and(near) || self.ulps.is_some_and(|ulps| x.place.abs_diff(y.place) <= ulps)
    }
}

/// The position of a number among all numbers of its type. -0.0 and 0.0 have the same position.
#[derive(PartialEq)]
struct Ordered {
    place: i64,
    negative: bool,
}

impl Ordered {
    fn new<T: Element>(value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value);
        let mut wide = [0; 8];
        let bits = match bytes.len() {
            // The numbers have 2, 4 or 8 bytes.
            len if cfg!(target_endian = "big") => {
                wide[8 - len..].copy_from_slice(bytes);
                u64::from_be_bytes(wide)
            }
            len => {
                wide[..len].copy_from_slice(bytes);
                u64::from_le_bytes(wide)
            }
        };
        let sign = 1 << (8 * bytes.len() - 1);
        let (negative, magnitude) = (bits & sign != 0, (bits & (sign - 1)) as i64);
        Self { place: if negative { -magnitude } else { magnitude }, negative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    const BITS: Tolerance = Tolerance { relative: None, ulps: None, missing_is_zero: false };

    fn same<T: Element>(tolerance: Tolerance, x: T, y: T) -> bool {
        tolerance.allows(Some(x), Some(y))
    }

    #[test]
    fn bits_by_default_or_within_the_tolerance() {
        let near = 1.0 + f64::EPSILON;
        assert!(same(BITS, 1.0, 1.0) && !same(BITS, 1.0, near) && !same(BITS, 0.0, -0.0));
        assert!(same(BITS, f64::NAN, -f64::NAN) && !same(BITS, f64::NAN, 1.0));
        let ulps = |n| Tolerance { ulps: Some(n), ..BITS };
        assert!(same(ulps(1), 1.0, near) && !same(ulps(1), 1.0, near + f64::EPSILON) && same(ulps(0), 0.0, -0.0));
        // From the smallest negative to the smallest positive number there are two steps, through
        // zero.
        let least = f64::from_bits(1);
        assert!(same(ulps(2), least, -least) && !same(ulps(1), least, -least));
        assert!(same(ulps(1), 1.0f32, 1.0 + f32::EPSILON) && same(ulps(1), f16::ONE, f16::from_bits(0x3c01)));
        assert!(!same(ulps(u64::MAX), f64::MAX, f64::INFINITY) && !same(ulps(u64::MAX), f64::NAN, 0.0));
        let relative = |r| Tolerance { relative: Some(r), ..BITS };
        assert!(same(relative(0.1), 1.0, 1.1) && !same(relative(0.1), 1.0, 1.2) && same(relative(0.0), 0.0, -0.0));
        assert!(!same(relative(9.0), 1.0, f64::INFINITY) && same(relative(0.0), f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn the_first_and_the_largest_are_found_wherever_they_are() -> Result<()> {
        let n = 5000; // several parts of 1024 columns
        let diagonal = (0..n).map(|i| (i, i, 1.0));
        let a = Csc::from_triplets(n, n, diagonal.clone().chain([(7, 4000, 2.0)]))?;
        let changed = diagonal.map(|(i, j, x)| (i, j, if i == 3000 { 1.5 } else { x }));
        let b = Csc::from_triplets(n, n, changed.chain([(0, 2000, 0.0), (9, 4500, 8.0)]))?;
        let found = difference(&a, &b, BITS)?;
        assert_eq!((found.common, found.only_a, found.only_b, found.different), (n as u64, 1, 2, 4));
        let place = |found: Option<Disagreement>| found.map(|place| (place.row, place.col));
        assert_eq!((place(found.first), place(found.largest_abs)), (Some((0, 2000)), Some((9, 4500))));
        assert_eq!((found.max_abs, found.max_rel, place(found.largest_rel)), (8.0, 1.0, Some((7, 4000))));
        let zero = difference(&a, &b, Tolerance { missing_is_zero: true, ..BITS })?;
        assert_eq!((zero.different, place(zero.first)), (3, Some((3000, 3000))));
        assert!(difference(&a, &a, BITS)?.is_none());
        assert!(difference(&a, &Csc::from_triplets(n, 1, [])?, BITS).is_err());
        Ok(())
    }

    #[test]
    fn what_is_nan_on_one_side_only_is_infinitely_far() -> Result<()> {
        let one = |x: f64| Csc::from_triplets(1, 1, [(0, 0, x)]);
        let found = difference(&one(f64::NAN)?, &one(1.0)?, Tolerance { relative: Some(1e9), ..BITS })?;
        assert_eq!((found.different, found.max_abs), (1, f64::INFINITY));
        Ok(())
    }
}
