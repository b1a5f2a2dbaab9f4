//! The types in which the host computes sums, and conversions between them and the element types.
use super::{AnySlice, AnyValues, Arithmetic, ElementType};
use half::f16;
use std::borrow::Cow;

/// A type in which the host computes sums for several element types. `f32` also serves `f16`, `u32`
/// serves `u8`, and `f64` serves matrices of `f32` or `f16` that are multiplied with vectors of
/// `f64`.
pub(crate) trait Widened: Arithmetic {
    /// Converts values to this type. Returns `None` if this type cannot represent every number of
    /// the values' element type.
    fn widened(values: AnySlice<'_>) -> Option<Cow<'_, [Self]>>;
    /// Converts sums to an element type. Each sum is rounded to nearest.
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
            ElementType::F32 => AnyValues::F32(sums),
            ElementType::F64 | ElementType::U32 | ElementType::I32 | ElementType::U8 => not_of(element, "f32"),
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
            ElementType::U32 => AnyValues::U32(sums),
            ElementType::F64 | ElementType::F32 | ElementType::F16 | ElementType::I32 => not_of(element, "u32"),
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

fn not_of(element: ElementType, sums: &str) -> ! {
    unreachable!("{sums} is not the type of the sums of {element}")
}
