//! Pairs of Rust and OpenCL types: what crosses to a device, and what a matrix may hold.
use half::f16;
use nalgebra::RealField;

/// A type with the same size, alignment and bits in Rust and in OpenCL C.
///
/// # Safety
/// `CL_NAME` must name an OpenCL C type of the same size and alignment, every bit pattern of which is valid.
pub unsafe trait Word: bytemuck::Pod + Send + Sync {
    /// The type's name in OpenCL C.
    const CL_NAME: &'static str;
}

// SAFETY: OpenCL C 1.2, section 6.1.1, fixes the width of every one of these types.
unsafe impl Word for u32 {
    const CL_NAME: &'static str = "uint";
}
// SAFETY: as above.
unsafe impl Word for u64 {
    const CL_NAME: &'static str = "ulong";
}
// SAFETY: as above.
unsafe impl Word for f32 {
    const CL_NAME: &'static str = "float";
}
// SAFETY: as above; `double` needs cl_khr_fp64, which `Device` checks before it builds a program.
unsafe impl Word for f64 {
    const CL_NAME: &'static str = "double";
}
// SAFETY: `half` is IEEE 754 binary16, as `half::f16`; pointers to it are core OpenCL C 1.0.
unsafe impl Word for f16 {
    const CL_NAME: &'static str = "half";
}

/// The operands of one block product, as entry numbers of A and B: what the expansion of a block product holds
/// (Polok 2015, "Compression Stage": "store only the pointers to the operands").
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct OperandPair {
    /// Entry of A.
    pub a: u32,
    /// Entry of B.
    pub b: u32,
}
// SAFETY: two u32 aligned to 8 bytes are `uint2`.
unsafe impl Word for OperandPair {
    const CL_NAME: &'static str = "uint2";
}

/// What a matrix may hold: `f64`, `f32`, `half::f16`.
///
/// A new element type is one impl of this trait and one of [`Word`].
pub trait Element: Word + PartialEq + PartialOrd + std::fmt::Debug + std::fmt::Display {
    /// The type sums and products are computed in: `f32` for `f16`, else the type itself.
    type Arithmetic: Word + RealField + Copy;
    /// The name the command and the report use.
    const NAME: &'static str;
    /// Unit round-off of [`Element::Arithmetic`].
    const ARITHMETIC_ROUNDOFF: f64;
    /// Unit round-off of storing a result: 0 where storage and arithmetic are the same type.
    const STORAGE_ROUNDOFF: f64;
    /// To the arithmetic type, exactly.
    fn widen(self) -> Self::Arithmetic;
    /// From the arithmetic type, rounded to nearest even.
    fn narrow(value: Self::Arithmetic) -> Self;
    /// To `f64`, exactly.
    fn to_f64(self) -> f64;
    /// From `f64`, rounded to nearest even.
    fn from_f64(value: f64) -> Self;
}

impl Element for f64 {
    type Arithmetic = f64;
    const NAME: &'static str = "f64";
    const ARITHMETIC_ROUNDOFF: f64 = f64::EPSILON / 2.0;
    const STORAGE_ROUNDOFF: f64 = 0.0;
    fn widen(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Element for f32 {
    type Arithmetic = f32;
    const NAME: &'static str = "f32";
    const ARITHMETIC_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
    const STORAGE_ROUNDOFF: f64 = 0.0;
    fn widen(self) -> f32 {
        self
    }
    fn narrow(value: f32) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Element for f16 {
    type Arithmetic = f32;
    const NAME: &'static str = "f16";
    const ARITHMETIC_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
    const STORAGE_ROUNDOFF: f64 = 1.0 / 2048.0;
    fn widen(self) -> f32 {
        self.to_f32()
    }
    fn narrow(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }
}
