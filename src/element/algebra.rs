//! The operations of a [`Semiring`], as functions for the host and as text for kernels.
use super::{Arithmetic, ElementType, Semiring};

/// A sum or a product of two numbers.
type Operation<V> = fn(V, V) -> V;

/// The operations of a semiring for one type: addition, multiplication, and the start of sums.
#[derive(Clone, Copy)]
pub(crate) struct Algebra<V> {
    /// The start of a sum. Adding it to a product, or to a sum of products, changes no bit.
    pub identity: V,
    /// The value of an entry without products.
    pub empty: V,
    pub add: Operation<V>,
    pub multiply: Operation<V>,
}

impl<V: Arithmetic> Algebra<V> {
    pub fn of(semiring: Semiring) -> Self {
        let (add, multiply): (Operation<V>, Operation<V>) = match semiring {
            Semiring::PlusTimes => (V::plus, V::times),
            Semiring::MinPlus => (smaller, |x, y| x.length(y, V::HIGHEST)),
            Semiring::MaxPlus => (larger, |x, y| x.length(y, V::LOWEST)),
            Semiring::MaxMin => (larger, smaller),
            Semiring::OrAnd => (
                |x, y| if x != V::ZERO || y != V::ZERO { V::one() } else { V::ZERO },
                |x, y| if x != V::ZERO && y != V::ZERO { V::one() } else { V::ZERO },
            ),
            Semiring::PlusFirst => (V::plus, |x, _| x),
            Semiring::PlusSecond => (V::plus, |_, y| y),
            Semiring::PlusPair => (V::plus, |_, _| V::one()),
        };
        let (identity, empty) = match semiring {
            Semiring::MinPlus => (V::HIGHEST, V::HIGHEST),
            Semiring::MaxPlus | Semiring::MaxMin => (V::LOWEST, V::LOWEST),
            Semiring::OrAnd => (V::ZERO, V::ZERO),
            // If sums started at +0.0, a sum with the single term -0.0 would be +0.0.
            _ => (V::NEUTRAL, V::ZERO),
        };
        Self { identity, empty, add, multiply }
    }

    /// The sum of the terms, added in their order.
    pub fn sum(&self, terms: &mut dyn Iterator<Item = V>) -> V {
        terms.reduce(self.add).unwrap_or(self.empty)
    }
}

/// The smaller number, or the second if they are equal; NaN if one is NaN.
fn smaller<V: Arithmetic>(x: V, y: V) -> V {
    if x < y || is_nan(x) { x } else { y }
}

/// The larger number, or the second if they are equal; NaN if one is NaN.
fn larger<V: Arithmetic>(x: V, y: V) -> V {
    if x > y || is_nan(x) { x } else { y }
}

fn is_nan<V: Arithmetic>(x: V) -> bool {
    x.partial_cmp(&x).is_none()
}

/// A semiring as expressions of type `ARITHMETIC` in OpenCL C. The arguments `x` and `y` may be
/// vectors, and may be evaluated more than once.
pub(crate) struct Text {
    pub add: &'static str,
    pub multiply: String,
    pub identity: &'static str,
    pub empty: &'static str,
}

impl Text {
    /// The text for sums of `element`.
    pub fn of(element: ElementType, semiring: Semiring) -> Self {
        match element.arithmetic() {
            ElementType::F64 | ElementType::F32 | ElementType::F16 => Self::in_type::<f32>(semiring),
            ElementType::I32 => Self::in_type::<i32>(semiring),
            ElementType::U32 | ElementType::U8 => Self::in_type::<u32>(semiring),
        }
    }

    fn in_type<V: Arithmetic>(semiring: Semiring) -> Self {
        const PLUS: &str = "((x) + (y))";
        const SMALLER: &str = "((x) < (y) || (x) != (x) ? (x) : (y))";
        const LARGER: &str = "((x) > (y) || (x) != (x) ? (x) : (y))";
        let (add, multiply) = match semiring {
            Semiring::PlusTimes => (PLUS, "((x) * (y))".into()),
            Semiring::MinPlus => (SMALLER, V::cl_length(V::CL_HIGHEST)),
            Semiring::MaxPlus => (LARGER, V::cl_length(V::CL_LOWEST)),
            Semiring::MaxMin => (LARGER, SMALLER.into()),
            Semiring::OrAnd => (
                "((x) != 0 || (y) != 0 ? (ARITHMETIC)1 : (ARITHMETIC)0)",
                "((x) != 0 && (y) != 0 ? (ARITHMETIC)1 : (ARITHMETIC)0)".into(),
            ),
            Semiring::PlusFirst => (PLUS, "(x)".into()),
            Semiring::PlusSecond => (PLUS, "(y)".into()),
            Semiring::PlusPair => (PLUS, "((ARITHMETIC)1)".into()),
        };
        let (identity, empty) = match semiring {
            Semiring::MinPlus => (V::CL_HIGHEST, V::CL_HIGHEST),
            Semiring::MaxPlus | Semiring::MaxMin => (V::CL_LOWEST, V::CL_LOWEST),
            Semiring::OrAnd => ("((ARITHMETIC)0)", "((ARITHMETIC)0)"),
            _ => ("((ARITHMETIC)-0.0f)", "((ARITHMETIC)0)"),
        };
        Self { add, multiply, identity, empty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules<V: Arithmetic>(terms: &[V], bits: impl Fn(V) -> u64) {
        for &semiring in Semiring::ALL {
            let algebra = Algebra::<V>::of(semiring);
            let products = terms.iter().flat_map(|&x| terms.iter().map(move |&y| (algebra.multiply)(x, y)));
            for product in products {
                let (before, after) =
                    ((algebra.add)(algebra.identity, product), (algebra.add)(product, algebra.identity));
                assert_eq!(bits(before), bits(product), "{semiring}: {:?} + {product:?}", algebra.identity);
                assert_eq!(bits(after), bits(product), "{semiring}: {product:?} + {:?}", algebra.identity);
            }
            assert_eq!(bits(algebra.sum(&mut [].into_iter())), bits(algebra.empty));
        }
    }

    #[test]
    fn sums_start_from_what_changes_no_bit() {
        let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        rules(&[0.0, -0.0, 5e-324, -1.5, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN], bits);
        rules(&[0, 1, 2, u32::MAX - 1, u32::MAX], u64::from);
        rules(&[0, 1, -1, 7, i32::MAX, i32::MIN], |x: i32| x as u32 as u64);
    }

    #[test]
    fn infinite_integers_stay_infinite() {
        let (min, max) = (Algebra::<i32>::of(Semiring::MinPlus), Algebra::<i32>::of(Semiring::MaxPlus));
        for x in [0, 5, -5, i32::MAX - 1, i32::MIN + 1] {
            for algebra in [min, max] {
                assert_eq!([(algebra.multiply)(i32::MAX, x), (algebra.multiply)(x, i32::MAX)], [i32::MAX; 2]);
                assert_eq!([(algebra.multiply)(i32::MIN, x), (algebra.multiply)(x, i32::MIN)], [i32::MIN; 2]);
            }
        }
        // The length +infinity plus -infinity means that there is no path.
        assert_eq!([(min.multiply)(i32::MAX, i32::MIN), (min.multiply)(i32::MIN, i32::MAX)], [i32::MAX; 2]);
        assert_eq!([(max.multiply)(i32::MAX, i32::MIN), (max.multiply)(i32::MIN, i32::MAX)], [i32::MIN; 2]);
        assert_eq!((min.multiply)(i32::MAX - 2, 5), i32::MAX);
        assert_eq!((min.multiply)(i32::MIN + 2, -5), i32::MIN);
        let unsigned = Algebra::<u32>::of(Semiring::MinPlus);
        assert_eq!((unsigned.multiply)(u32::MAX, 0), u32::MAX);
        assert_eq!([(unsigned.multiply)(u32::MAX - 2, 5), (unsigned.multiply)(3, 4)], [u32::MAX, 7]);
    }

    #[test]
    fn a_nan_stays_and_of_equal_numbers_the_later() {
        for semiring in [Semiring::MinPlus, Semiring::MaxPlus, Semiring::MaxMin] {
            let algebra = Algebra::<f64>::of(semiring);
            assert!(algebra.sum(&mut [1.0, f64::NAN, -2.0].into_iter()).is_nan());
            assert!(algebra.sum(&mut [f64::NAN, -2.0].into_iter()).is_nan());
            assert_eq!(algebra.sum(&mut [0.0, -0.0].into_iter()).to_bits(), (-0.0f64).to_bits());
            assert_eq!(algebra.sum(&mut [-0.0, 0.0].into_iter()).to_bits(), 0);
        }
        let truth = Algebra::<f64>::of(Semiring::OrAnd);
        assert_eq!([(truth.multiply)(f64::NAN, 3.0), (truth.multiply)(-0.0, 3.0)], [1.0, 0.0]);
    }
}
