//! The types in which sums are computed, and their operations in forms that the compiler can
//! inline.
//!
//! There are three types for six element types. `f16` is computed as `f32`, and `u8` as `u32`.
//! `u32` also carries the bits of `i32`, because sums and products modulo 2^32 have the same bits
//! with and without a sign. Except in plus-times, `u32` also carries the bits of `f32`, which the
//! operations of the semiring convert.
use super::{Columns, Factor};
use crate::{
    Arithmetic, BlockShape, Semiring,
    element::{Algebra, AnySlice, ElementType, Listed, Widened},
};
use std::{borrow::Cow, iter::Zip, slice::Iter};

/// A factor whose blocks are in the type in which sums are computed.
pub(super) struct Operand<'a, N: Clone> {
    pub columns: Columns<'a>,
    pub shape: BlockShape,
    pub stride: usize,
    pub values: Cow<'a, [N]>,
}

impl<N: Arithmetic> Operand<'_, N> {
    pub fn block(&self, entry: usize) -> &[N] {
        &self.values[entry * self.stride..][..self.shape.area()]
    }
}

/// The factors of A·B in the type in which sums are computed.
pub(super) struct Typed<'a, N: Clone> {
    pub a: Operand<'a, N>,
    pub b: Operand<'a, N>,
}

impl<'a, N: Arithmetic> Typed<'a, N> {
    fn new([a, b]: [Factor<'a>; 2], numbers: fn(AnySlice<'a>) -> Option<Cow<'a, [N]>>) -> Option<Self> {
        let operand = |Factor { columns, shape, stride, values }: Factor<'a>| {
            Some(Operand { columns, shape, stride, values: numbers(values)? })
        };
        Some(Self { a: operand(a)?, b: operand(b)? })
    }

    pub fn are_scalars(&self) -> bool {
        [&self.a, &self.b].iter().all(|of| (of.shape, of.stride) == (BlockShape::SCALAR, 1))
    }
}

/// The factors in one of the three types.
pub(super) enum Numbers<'a> {
    F64(Typed<'a, f64>),
    /// Only in plus-times do factors of type `f32` have variant `F32`.
    F32(Typed<'a, f32>),
    U32(Typed<'a, u32>),
}

impl<'a> Numbers<'a> {
    /// Converts the factors. Returns `None` if the element types of the factors differ.
    pub fn of(a: Factor<'a>, b: Factor<'a>, semiring: Semiring) -> Option<Self> {
        if a.values.element() != b.values.element() {
            return None;
        }
        Some(match a.values.element() {
            ElementType::F64 => Self::F64(Typed::new([a, b], f64::widened)?),
            ElementType::F32 | ElementType::F16 if semiring == Semiring::PlusTimes => {
                Self::F32(Typed::new([a, b], f32::widened)?)
            }
            ElementType::F32 | ElementType::F16 => Self::U32(Typed::new([a, b], bits_of_floats)?),
            ElementType::U32 | ElementType::U8 => Self::U32(Typed::new([a, b], u32::widened)?),
            ElementType::I32 => Self::U32(Typed::new([a, b], bits_of_integers)?),
        })
    }

    pub fn are_scalars(&self) -> bool {
        match self {
            Self::F64(of) => of.are_scalars(),
            Self::F32(of) => of.are_scalars(),
            Self::U32(of) => of.are_scalars(),
        }
    }
}

fn bits_of_floats(values: AnySlice<'_>) -> Option<Cow<'_, [u32]>> {
    Some(match f32::widened(values)? {
        Cow::Borrowed(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
        Cow::Owned(values) => Cow::Owned(bytemuck::cast_vec(values)),
    })
}

fn bits_of_integers(values: AnySlice<'_>) -> Option<Cow<'_, [u32]>> {
    i32::of_any_slice(values).map(|values| Cow::Borrowed(bytemuck::cast_slice(values)))
}

/// The operations of a semiring on numbers.
pub(super) trait Operations<N: Arithmetic>: Copy + Sync {
    /// The start value of a sum.
    fn identity(self) -> N;
    fn add(self, x: N, y: N) -> N;
    fn multiply(self, x: N, y: N) -> N;
}

/// The operations of a semiring on numbers whose bits `u32` carries.
#[derive(Clone, Copy)]
pub(super) enum Words {
    F32(Algebra<f32>),
    U32(Algebra<u32>),
    I32(Algebra<i32>),
}

impl Words {
    pub fn of(element: ElementType, semiring: Semiring) -> Self {
        match element {
            ElementType::F32 | ElementType::F16 => Self::F32(Algebra::of(semiring)),
            ElementType::I32 => Self::I32(Algebra::of(semiring)),
            _ => Self::U32(Algebra::of(semiring)),
        }
    }
}

impl Operations<u32> for Words {
    fn identity(self) -> u32 {
        match self {
            Self::F32(algebra) => algebra.identity.to_bits(),
            Self::U32(algebra) => algebra.identity,
            Self::I32(algebra) => algebra.identity as u32,
        }
    }

    #[inline(always)]
    fn add(self, x: u32, y: u32) -> u32 {
        match self {
            Self::F32(algebra) => (algebra.add)(f32::from_bits(x), f32::from_bits(y)).to_bits(),
            Self::U32(algebra) => (algebra.add)(x, y),
            Self::I32(algebra) => (algebra.add)(x as i32, y as i32) as u32,
        }
    }

    #[inline(always)]
    fn multiply(self, x: u32, y: u32) -> u32 {
        match self {
            Self::F32(algebra) => (algebra.multiply)(f32::from_bits(x), f32::from_bits(y)).to_bits(),
            Self::U32(algebra) => (algebra.multiply)(x, y),
            Self::I32(algebra) => (algebra.multiply)(x as i32, y as i32) as u32,
        }
    }
}

/// The operations of plus-times, inlined.
#[derive(Clone, Copy)]
pub(super) struct PlusTimes;

impl Operations<f64> for Algebra<f64> {
    fn identity(self) -> f64 {
        self.identity
    }

    #[inline(always)]
    fn add(self, x: f64, y: f64) -> f64 {
        (self.add)(x, y)
    }

    #[inline(always)]
    fn multiply(self, x: f64, y: f64) -> f64 {
        (self.multiply)(x, y)
    }
}

/// Operations of `u32` also serve `i32`, because the bits are the same.
impl Operations<u32> for PlusTimes {
    fn identity(self) -> u32 {
        u32::NEUTRAL
    }

    #[inline(always)]
    fn add(self, x: u32, y: u32) -> u32 {
        x.plus(y)
    }

    #[inline(always)]
    fn multiply(self, x: u32, y: u32) -> u32 {
        x.times(y)
    }
}

macro_rules! floats {
    ($($float:ident),+) => { $(
        impl Operations<$float> for PlusTimes {
            fn identity(self) -> $float {
                $float::NEUTRAL
            }

            #[inline(always)]
            fn add(self, x: $float, y: $float) -> $float {
                x.plus(y)
            }

            #[inline(always)]
            fn multiply(self, x: $float, y: $float) -> $float {
                x.times(y)
            }
        }
    )+ };
}
floats!(f64, f32);

/// A column of A, and the entry of B by which it is multiplied: the rows and values of the column,
/// and the entry's value.
#[derive(Clone, Copy)]
pub(super) struct List<'l, N> {
    pub rows: &'l [u32],
    pub values: &'l [N],
    pub factor: N,
}

impl<'l, N: Arithmetic> List<'l, N> {
    /// Returns the row and the value of each entry.
    #[inline(always)]
    pub fn entries(&self) -> Zip<Iter<'l, u32>, Iter<'l, N>> {
        self.rows.iter().zip(self.values)
    }
}
