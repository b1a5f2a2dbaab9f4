//! Element types: pairs of Rust and OpenCL types.
//!
//! [`Word`] is a type that can be sent to a device, [`Element`] a type that a matrix may hold, and
//! [`Arithmetic`] a type in which sums are computed. [`Field`] and [`Real`] are element types of
//! real numbers. [`ElementType`] is an element type known at run time, and [`AnyValues`] are
//! numbers of such a type. [`Semiring`] is the algebra of sums and products.
mod algebra;
mod arithmetic;
mod element_type;
mod integers;
mod order;
mod scaling;
mod semiring;
mod values;
mod vector_element;
mod widened;
mod word_type;

pub(crate) use algebra::{Algebra, Text};
pub use arithmetic::{Arithmetic, Length};
pub use element_type::ElementType;
pub use order::Order;
pub(crate) use scaling::Scaling;
pub use semiring::Semiring;
pub use values::AnyValues;
pub(crate) use values::{AnySlice, AnySliceMut, Listed, move_values, with_type, with_type_of, with_values};
pub use vector_element::VectorElement;
pub(crate) use widened::Widened;
pub use word_type::Any;
pub(crate) use word_type::{Number, WordType};

use half::f16;
use nalgebra::RealField;

/// A type with the same size, alignment and bits in Rust and in OpenCL C.
///
/// # Safety
/// `CL_NAME` must name an OpenCL C type of the same size and alignment. Every bit pattern of the
/// type must be valid.
pub unsafe trait Word: bytemuck::Pod + Send + Sync {
    /// The type's name in OpenCL C.
    const CL_NAME: &'static str;
}

// SAFETY: OpenCL C 1.2, section 6.1.1, fixes the width of the scalar types.
unsafe impl Word for u32 {
    const CL_NAME: &'static str = "uint";
}
// SAFETY: as above.
unsafe impl Word for u64 {
    const CL_NAME: &'static str = "ulong";
}
// SAFETY: as above.
unsafe impl Word for i32 {
    const CL_NAME: &'static str = "int";
}
// SAFETY: as above.
unsafe impl Word for u16 {
    const CL_NAME: &'static str = "ushort";
}
// SAFETY: as above.
unsafe impl Word for u8 {
    const CL_NAME: &'static str = "uchar";
}
// SAFETY: as above.
unsafe impl Word for f32 {
    const CL_NAME: &'static str = "float";
}
// SAFETY: as above; `double` needs cl_khr_fp64, which `Device` checks before it builds a program.
unsafe impl Word for f64 {
    const CL_NAME: &'static str = "double";
}
// SAFETY: `half` is IEEE 754 binary16, like `half::f16`. Pointers to `half` are part of OpenCL C
// 1.0 without extensions.
unsafe impl Word for f16 {
    const CL_NAME: &'static str = "half";
}

/// The operands of one product of blocks, as indices of entries of A and B. The expansion of a
/// product of blocks consists of these pairs (Polok 2015, "Compression Stage": "store only the
/// pointers to the operands").
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct OperandPair {
    /// Index of the entry of A.
    pub a: u32,
    /// Index of the entry of B.
    pub b: u32,
}
// SAFETY: two `u32` that are aligned to 8 bytes are a `uint2`.
unsafe impl Word for OperandPair {
    const CL_NAME: &'static str = "uint2";
}

/// The start of a chunk. A chunk is consecutive products of a long column of C, whose products are
/// in the order of rows.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Cut {
    /// The row of the chunk's first product.
    pub row: u32,
    /// Number of products of that row in earlier chunks.
    pub before: u32,
}
// SAFETY: two `u32` that are aligned to 8 bytes are a `uint2`.
unsafe impl Word for Cut {
    const CL_NAME: &'static str = "uint2";
}

/// A piece of a long run of products: the consecutive products that one work-group sums.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Piece {
    pub run: u32,
    pub begin: u32,
    pub end: u32,
    /// The index at which the piece's sum is stored until the pieces of its run are added;
    /// `u32::MAX` if the piece is the whole run.
    pub part: u32,
}
// SAFETY: four `u32` that are aligned to 16 bytes are a `uint4`.
unsafe impl Word for Piece {
    const CL_NAME: &'static str = "uint4";
}

/// Consecutive runs whose sums one work-group computes.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Stretch {
    pub first_run: u32,
    /// The index of the first product of the runs.
    pub begin: u32,
    /// The index after the last product of the runs.
    pub end: u32,
    pub runs: u32,
}
// SAFETY: four `u32` that are aligned to 16 bytes are a `uint4`.
unsafe impl Word for Stretch {
    const CL_NAME: &'static str = "uint4";
}

/// A type that a matrix may hold: `f64`, `f32`, `half::f16`, and for [semirings](Semiring) `u32`,
/// `i32` and `u8`.
///
/// A new element type needs an implementation of this trait and of [`Word`], and a variant of
/// [`ElementType`]. If its sums are computed in a new type, that type implements [`Arithmetic`].
pub trait Element: Word + values::Listed + PartialEq + PartialOrd + std::fmt::Debug + std::fmt::Display {
    /// The type in which sums and products are computed: `f32` for `f16`, `u32` for `u8`, otherwise
    /// the type itself.
    type Arithmetic: Arithmetic;
    /// The type as a run-time value, different for each type.
    const TYPE: ElementType;
    /// The name of the type in the command and in reports.
    const NAME: &'static str = Self::TYPE.name();
    /// Unit round-off of [`Element::Arithmetic`]; 0 for integers.
    const ARITHMETIC_ROUNDOFF: f64;
    /// Unit round-off of storing a result; 0 if results are stored in the arithmetic type.
    const STORAGE_ROUNDOFF: f64;
    /// Whether elements are truth values. The only algebra of truth values is [`Semiring::OrAnd`].
    const TRUTH: bool = false;
    /// Converts to the arithmetic type, exactly.
    fn widen(self) -> Self::Arithmetic;
    /// Converts from the arithmetic type, rounded to nearest even.
    fn narrow(value: Self::Arithmetic) -> Self;
    /// Converts to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// Converts from `f64`, rounded to nearest even. Integers saturate at the ends of their range,
    /// and NaN becomes 0.
    fn from_f64(value: f64) -> Self;
}

/// An [`Element`] that is a real number: `f64`, `f32`, `half::f16`. Norms, dot products, scalings
/// and thresholds are computed for floating-point types only.
pub trait Field: Element<Arithmetic: RealField> {}

impl<T: Element<Arithmetic: RealField>> Field for T {}

/// The element type of vectors that can be added and scaled: a [`Field`], or [`Any`] for a type
/// that is known at run time only.
pub trait FieldOrAny: 'static {}

impl<T: Field> FieldOrAny for T {}

impl FieldOrAny for Any {}

/// A [`Field`] whose arithmetic type is the type itself: `f64`, `f32`. The solvers require `f64` or
/// `f32`.
pub trait Real: Field<Arithmetic = Self> + RealField + Copy {}

impl<T: Field<Arithmetic = T> + RealField + Copy> Real for T {}

impl Element for f64 {
    type Arithmetic = f64;
    const TYPE: ElementType = ElementType::F64;
    const ARITHMETIC_ROUNDOFF: f64 = f64::EPSILON / 2.0;
    const STORAGE_ROUNDOFF: f64 = 0.0;
    #[inline]
    fn widen(self) -> f64 {
        self
    }
    #[inline]
    fn narrow(value: f64) -> Self {
        value
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Element for f32 {
    type Arithmetic = f32;
    const TYPE: ElementType = ElementType::F32;
    const ARITHMETIC_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
    const STORAGE_ROUNDOFF: f64 = 0.0;
    #[inline]
    fn widen(self) -> f32 {
        self
    }
    #[inline]
    fn narrow(value: f32) -> Self {
        value
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Element for f16 {
    type Arithmetic = f32;
    const TYPE: ElementType = ElementType::F16;
    const ARITHMETIC_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
    const STORAGE_ROUNDOFF: f64 = 1.0 / 2048.0;
    #[inline]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline]
    fn narrow(value: f32) -> Self {
        f16::from_f32(value)
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        // An `f64` is first converted to an `f32` that is rounded to odd, which keeps the
        // information that the rounding to `f16` needs (Boldo and Melquiond 2008). On some
        // processors the crate `half` instead rounds to nearest both times, which can give a wrong
        // result.
        let nearest = value as f32;
        let inexact = f64::from(nearest) != value && !value.is_nan();
        let toward_zero = nearest.to_bits() - u32::from(f64::from(nearest).abs() > value.abs());
        f16::from_f32(f32::from_bits(toward_zero | u32::from(inexact)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Csc, Result, device::test_device, multiply, reference};

    #[test]
    fn elements_need_not_be_real_numbers() -> Result<()> {
        // 65535² needs all 32 bits of a `u32`; an `f32` has 24.
        let a = Csc::from_triplets(2, 2, [(0, 0, 65535u32), (1, 0, 3), (1, 1, 5)])?;
        let device = test_device();
        let on_device = device.upload(&a)?;
        let c = multiply(&on_device, &on_device)?.download()?;
        assert_eq!(c, reference::multiply(&a, &a)?);
        assert_eq!(c.values(), [65535 * 65535, 3 * 65535 + 15, 25]);
        let blocks = a.to_blocks(BlockShape::new(2, 2)?)?;
        let on_device = device.upload(&blocks)?;
        assert_eq!(multiply(&on_device, &on_device)?.download()?.values(), [65535 * 65535, 3 * 65535 + 15, 0, 25]);
        Ok(())
    }

    #[test]
    fn doubles_become_halves_by_one_rounding() {
        let half = |x: f64| <f16 as Element>::from_f64(x).to_bits();
        // 1 + 2^-11 is a tie between 1 and 1 + 2^-10. The `f64` numbers just above and just below
        // the tie are equal in `f32`, but must round to different `f16`.
        let (one, tie) = (half(1.0), 1.0 + 2f64.powi(-11));
        assert_eq!([half(tie), half(tie + 2f64.powi(-40)), half(tie - 2f64.powi(-40))], [one, one + 1, one]);
        assert_eq!(half(-(tie + 2f64.powi(-40))), (one + 1) | 0x8000);
        assert_eq!([half(65519.9), half(65520.0), half(1e300), half(f64::INFINITY)], [0x7bff, 0x7c00, 0x7c00, 0x7c00]);
        // Half of the smallest subnormal `f16` is a tie between it and 0. A slightly larger number
        // is no tie.
        assert_eq!([half(2f64.powi(-25)), half(2f64.powi(-25) + 2f64.powi(-60)), half(-0.0)], [0, 1, 0x8000]);
        assert!(f16::from_bits(half(f64::NAN)).is_nan());
        for bits in (0..0x7c00).step_by(7) {
            assert_eq!(half(f16::from_bits(bits).to_f64()), bits);
        }
    }
}
