//! The types in which the host forms sums, and the elements that they hold.
use super::{AnySlice, AnyValues, Arithmetic, ElementType};
use half::f16;
use std::borrow::Cow;

/// A type in which sums are formed, and the elements whose sums they are: `f32` also those of
/// `f16`, `u32` those of `u8`, and `f64` those of vectors of `f64` with matrices of `f32` or `f16`.
pub(crate) trait Widened: Arithmetic {
    /// `None` if the type does not hold all such numbers.
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>>;
    /// Elements of a type whose sums these are, each rounded to nearest.
    fn narrowed(sums: Vec<Self>, element: ElementType) -> AnyValues;
}

impl Widened for f64 {
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>> {
        match values {
            AnySlice::F64(values) => Some(Cow::Borrowed(values)),
            AnySlice::F32(_) | AnySlice::F16(_) => Some(Cow::Owned(values.numbers())),
            _ => None,
        }
    }

    fn narrowed(sums: Vec<Self>, _: ElementType) -> AnyValues {
        AnyValues::F64(sums)
    }
}

impl Widened for f32 {
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>> {
        match values {
            AnySlice::F32(values) => Some(Cow::Borrowed(values)),
            AnySlice::F16(values) => Some(values.iter().map(|value| value.to_f32()).collect()),
            _ => None,
        }
    }

    fn narrowed(sums: Vec<Self>, element: ElementType) -> AnyValues {
        match element {
            ElementType::F16 => AnyValues::F16(sums.into_iter().map(f16::from_f32).collect()),
            _ => AnyValues::F32(sums),
        }
    }
}

impl Widened for u32 {
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>> {
        match values {
            AnySlice::U32(values) => Some(Cow::Borrowed(values)),
            AnySlice::U8(values) => Some(values.iter().map(|&value| value.into()).collect()),
            _ => None,
        }
    }

    fn narrowed(sums: Vec<Self>, element: ElementType) -> AnyValues {
        match element {
            ElementType::U8 => AnyValues::U8(sums.into_iter().map(|sum| sum as u8).collect()),
            _ => AnyValues::U32(sums),
        }
    }
}

impl Widened for i32 {
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>> {
        match values {
            AnySlice::I32(values) => Some(Cow::Borrowed(values)),
            _ => None,
        }
    }

    fn narrowed(sums: Vec<Self>, _: ElementType) -> AnyValues {
        AnyValues::I32(sums)
    }
}
