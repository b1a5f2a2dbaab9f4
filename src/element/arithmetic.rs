//! Types in which sums are computed.
use super::{Element, Word, values::Listed};
use num_traits::NumAssign;

/// A type in which products and sums are computed: `f64`, `f32`, `u32`, `i32`. The type has the
/// operations of a ring, and an order. Code that needs roots, magnitudes or inverses requires a
/// [`Field`](super::Field).
pub trait Arithmetic: Word + Listed + nalgebra::Scalar + PartialOrd + NumAssign {
    /// Zero, which is +0.0 for floats.
    const ZERO: Self;
    /// The zero that can be added to any number without a change of a bit. For floats this zero is
    /// -0.0.
    const NEUTRAL: Self;
    /// The lowest number: -infinity for floats.
    const LOWEST: Self;
    /// The highest number: +infinity for floats.
    const HIGHEST: Self;
    /// [`Arithmetic::LOWEST`] in OpenCL C.
    const CL_LOWEST: &'static str;
    /// [`Arithmetic::HIGHEST`] in OpenCL C.
    const CL_HIGHEST: &'static str;
    /// Rounds to the nearest number, ties to even.
    fn nearest(number: f64) -> Self;
    /// The sum, rounded; modulo 2^32 for integers.
    fn plus(self, other: Self) -> Self;
    /// The product, rounded; modulo 2^32 for integers.
    fn times(self, other: Self) -> Self;
    /// The sum of two lengths. Infinite integers stay infinite. The sum of +infinity and -infinity
    /// is `none`.
    fn length(self, other: Self, none: Self) -> Self;
    /// [`Arithmetic::length`] of `x` and `y` in OpenCL C.
    fn cl_length(none: &str) -> String;
}

/// An element type for the lengths of a graph's edges: `f64`, `f32`, `u32`, `i32`. Infinity is the
/// length of a missing path. For integers infinity is the largest number of the type: see
/// [`Semiring`](super::Semiring).
pub trait Length: Element<Arithmetic = Self> + Arithmetic {}

impl<T: Element<Arithmetic = T> + Arithmetic> Length for T {}

macro_rules! float {
    ($($float:ident),+) => {$(
        impl Arithmetic for $float {
            const ZERO: Self = 0.0;
            const NEUTRAL: Self = -0.0;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
            const CL_LOWEST: &'static str = "((ARITHMETIC)-INFINITY)";
            const CL_HIGHEST: &'static str = "((ARITHMETIC)INFINITY)";
            #[inline]
            fn nearest(number: f64) -> Self {
                number as Self
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn length(self, other: Self, _: Self) -> Self {
                self + other
            }
            fn cl_length(_: &str) -> String {
                "((x) + (y))".into()
            }
        }
    )+};
}

float!(f64, f32);
