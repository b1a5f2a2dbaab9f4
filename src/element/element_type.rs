//! Element types known at run time.
use super::Element;
use crate::{Error, Result, named::named};
use half::f16;

/// The type of an [`Element`](crate::Element), known at run time, for code that is compiled once
/// for all element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `half::f16`
    F16,
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u8`
    U8,
}

impl ElementType {
    /// All element types.
    pub const ALL: &[Self] = &[Self::F64, Self::F32, Self::F16, Self::U32, Self::I32, Self::U8];

    /// The name of the type in the command and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U8 => "u8",
        }
    }

    /// Number of bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }

    /// Whether a matrix with elements of this type may be multiplied with vectors of type `vector`:
    /// see [`VectorElement`](super::VectorElement).
    pub const fn takes_vectors_of(self, vector: Self) -> bool {
        match (self, vector) {
            (Self::F32 | Self::F16, Self::F64) | (Self::F16, Self::F32) => true,
            (matrix, vector) => matrix as u8 == vector as u8,
        }
    }

    /// Refuses vectors that [`ElementType::takes_vectors_of`] excludes.
    pub(crate) fn check_vectors(self, vector: Self) -> Result<()> {
        match self.takes_vectors_of(vector) {
            true => Ok(()),
            false => Err(Error::Argument(format!("a matrix of {self} is not multiplied with vectors of {vector}"))),
        }
    }

    /// Whether elements are real numbers, see [`Field`](super::Field).
    pub const fn is_real(self) -> bool {
        !self.is_integer()
    }

    /// Refuses integer types. `what` is a plural for the message: "norms are of real numbers".
    pub(crate) fn check_real(self, what: &str) -> Result<()> {
        match self.is_real() {
            true => Ok(()),
            false => Err(Error::Argument(format!("{what} are of real numbers, the elements are {self}"))),
        }
    }

    /// Refuses types that cannot be lengths of a graph's edges; see [`Length`](super::Length).
    pub(crate) fn check_length(self) -> Result<()> {
        match self.arithmetic() == self {
            true => Ok(()),
            false => {
                Err(Error::Argument(format!("lengths of edges are f64, f32, u32 or i32, the elements are {self}")))
            }
        }
    }

    /// See [`Element::ARITHMETIC_ROUNDOFF`].
    pub const fn arithmetic_roundoff(self) -> f64 {
        match self {
            Self::F64 => f64::ARITHMETIC_ROUNDOFF,
            Self::F32 => f32::ARITHMETIC_ROUNDOFF,
            Self::F16 => f16::ARITHMETIC_ROUNDOFF,
            Self::U32 | Self::I32 | Self::U8 => 0.0,
        }
    }

    /// See [`Element::STORAGE_ROUNDOFF`].
    pub const fn storage_roundoff(self) -> f64 {
        match self {
            Self::F16 => f16::STORAGE_ROUNDOFF,
            Self::F64 | Self::F32 | Self::U32 | Self::I32 | Self::U8 => 0.0,
        }
    }

    /// Whether the type can represent `number`. An integer type represents the whole numbers of its
    /// range, except that the ends of the range stand for infinities.
    pub fn has(self, number: f64) -> bool {
        !self.is_integer() || self.nearest(number) == number || number.is_infinite()
    }

    /// The nearest number of the type: [`Element::from_f64`], followed by [`Element::to_f64`].
    pub fn nearest(self, number: f64) -> f64 {
        match self {
            Self::F64 => number,
            Self::F32 => <f32 as Element>::from_f64(number).to_f64(),
            Self::F16 => <f16 as Element>::from_f64(number).to_f64(),
            Self::U32 => <u32 as Element>::from_f64(number).to_f64(),
            Self::I32 => <i32 as Element>::from_f64(number).to_f64(),
            Self::U8 => <u8 as Element>::from_f64(number).to_f64(),
        }
    }
}

named!(ElementType);
