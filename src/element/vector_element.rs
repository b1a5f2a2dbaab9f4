//! The element types of vectors with which a matrix of another type can be multiplied.
use super::Element;
use half::f16;

/// An element type of vectors with which a matrix of `T` may be multiplied. The type of the vectors
/// is `T` itself, or a type whose arithmetic represents every `T` exactly: a matrix of `f32` may be
/// multiplied with vectors of `f64`, and a matrix of `f16` with vectors of `f64` or `f32`. Sums and
/// products are computed in the arithmetic type of the vectors.
///
/// The trait is implemented only for pairs of types that can be multiplied in this way.
pub trait VectorElement<T: Element>: Element {
    /// Converts a matrix's value exactly to the type in which it is multiplied.
    fn take(value: T) -> Self::Arithmetic;
}

impl<T: Element> VectorElement<T> for T {
    fn take(value: T) -> T::Arithmetic {
        value.widen()
    }
}

impl VectorElement<f32> for f64 {
    fn take(value: f32) -> f64 {
        value.into()
    }
}

impl VectorElement<f16> for f64 {
    fn take(value: f16) -> f64 {
        value.into()
    }
}

impl VectorElement<f16> for f32 {
    fn take(value: f16) -> f32 {
        value.into()
    }
}
