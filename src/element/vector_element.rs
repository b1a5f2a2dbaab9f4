//! Vectors of another type than the matrix that they are multiplied with.
use super::Element;
use half::f16;

/// An element type of vectors that a matrix of `T` may be multiplied with: `T` itself, or one whose
/// arithmetic holds every `T`. `f64` vectors fit matrices of `f32` and `f16`, `f32` vectors those
/// of `f16`. Sums and products are computed in the vectors' arithmetic type.
///
/// The trait is implemented for these pairs alone.
pub trait VectorElement<T: Element>: Element {
    /// Converts a matrix's value to the type in which it is multiplied, exactly.
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
