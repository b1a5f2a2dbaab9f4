//! The types in which sums are formed, and their operations in forms that the compiler can inline.
//!
//! There are four types for six elements. `f16` is computed in `f32`, and `u8` in `u32`. So is
//! `i32` if a semiring adds, since sums and products modulo 2^32 have the same bits with a sign and
//! without: only an order tells the two apart.
use super::{Columns, Factor, sums};
use crate::{
    Arithmetic, BlockShape, Semiring,
    element::{Algebra, AnySlice, ElementType, Widened},
};
use std::{borrow::Cow, iter::Zip, slice::Iter};

/// A factor with its blocks in the type in which sums are formed.
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

/// The factors of A·B in the type in which sums are formed.
pub(super) struct Typed<'a, N: Clone> {
    pub a: Operand<'a, N>,
    pub b: Operand<'a, N>,
}

impl<'a, N: Widened> Typed<'a, N> {
    fn new([a, b]: [Factor<'a>; 2]) -> Option<Self> {
        let operand = |Factor { columns, shape, stride, values }: Factor<'a>| {
            Some(Operand { columns, shape, stride, values: N::widened(values)? })
        };
        Some(Self { a: operand(a)?, b: operand(b)? })
    }

    pub fn are_scalars(&self) -> bool {
        [&self.a, &self.b].iter().all(|of| (of.shape, of.stride) == (BlockShape::SCALAR, 1))
    }
}

/// The factors in one of these types.
pub(super) enum Numbers<'a> {
    F64(Typed<'a, f64>),
    F32(Typed<'a, f32>),
    U32(Typed<'a, u32>),
    I32(Typed<'a, i32>),
}

impl<'a> Numbers<'a> {
    /// `None` if the factors' elements have two types.
    pub fn of(a: Factor<'a>, b: Factor<'a>, semiring: Semiring) -> Option<Self> {
        Some(match (a.values.element(), b.values.element()) {
            (one, other) if one != other => return None,
            (ElementType::F64, _) => Self::F64(Typed::new([a, b])?),
            (ElementType::F32 | ElementType::F16, _) => Self::F32(Typed::new([a, b])?),
            (ElementType::I32, _) if semiring.orders() => Self::I32(Typed::new([a, b])?),
            _ => Self::U32(Typed::new([a, b].map(unsigned))?),
        })
    }

    pub fn are_scalars(&self) -> bool {
        match self {
            Self::F64(of) => of.are_scalars(),
            Self::F32(of) => of.are_scalars(),
            Self::U32(of) => of.are_scalars(),
            Self::I32(of) => of.are_scalars(),
        }
    }
}

/// A factor with `i32` as the `u32` of the same bits.
fn unsigned(factor: Factor<'_>) -> Factor<'_> {
    match factor.values {
        AnySlice::I32(values) => Factor { values: AnySlice::U32(bytemuck::cast_slice(values)), ..factor },
        _ => factor,
    }
}

/// The operations of a semiring on numbers.
pub(super) trait Operations<N: Arithmetic>: Copy + Sync {
    fn add(self, x: N, y: N) -> N;
    fn multiply(self, x: N, y: N) -> N;

    /// Adds the products of blocks of a column of C.
    fn add_blocks(self, column: &mut sums::Column<'_, N>, of: &Typed<'_, N>, col: usize) {
        column.add_blocks(of, col, sums::add_any(self, of.a.shape.rows(), of.b.shape.cols(), of.a.shape.cols()));
    }
}

/// Plus-times, inlined.
#[derive(Clone, Copy)]
pub(super) struct PlusTimes;

impl<N: Arithmetic> Operations<N> for Algebra<N> {
    #[inline(always)]
    fn add(self, x: N, y: N) -> N {
        (self.add)(x, y)
    }

    #[inline(always)]
    fn multiply(self, x: N, y: N) -> N {
        (self.multiply)(x, y)
    }
}

impl Operations<u32> for PlusTimes {
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
            #[inline(always)]
            fn add(self, x: $float, y: $float) -> $float {
                x.plus(y)
            }

            #[inline(always)]
            fn multiply(self, x: $float, y: $float) -> $float {
                x.times(y)
            }

            /// The blocks of solvers have their number of rows fixed.
            fn add_blocks(self, column: &mut sums::Column<'_, $float>, of: &Typed<'_, $float>, col: usize) {
                sums::add_few_rows(self, column, of, col);
            }
        }
    )+ };
}
floats!(f64, f32);

/// A column of A that a column of B meets: its rows, its values, and the factor of these from B.
pub(super) struct List<'l, N> {
    pub rows: &'l [u32],
    pub values: &'l [N],
    pub factor: N,
}

impl<'l, N: Arithmetic> List<'l, N> {
    /// The row and the value of each entry.
    #[inline(always)]
    pub fn entries(&self) -> Zip<Iter<'l, u32>, Iter<'l, N>> {
        self.rows.iter().zip(self.values)
    }
}
