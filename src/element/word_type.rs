//! Types and numbers of kernels, known at run time, for code that is compiled once for all element
//! types.
use super::{Arithmetic, ElementType, Word};
use half::f16;

/// Stands for an element type that is known at run time only, as in
/// [`DeviceVector<Any>`](crate::DeviceVector). Vectors and dense matrices of this type are
/// multiplied with an [`AnyMatrix`](crate::matrix::AnyMatrix).
#[derive(Debug)]
pub struct Any;

/// A type of values in device memory, known at run time: its name in OpenCL C and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WordType {
    name: &'static str,
    bytes: usize,
}

impl WordType {
    /// The absence of a type. No memory holds values of it.
    pub const NONE: Self = Self { name: "", bytes: 0 };

    pub const fn of<T: Word>() -> Self {
        Self { name: T::CL_NAME, bytes: size_of::<T>() }
    }

    /// The name of the type in OpenCL C.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The number of bytes of a value, which is also its alignment.
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

/// A number of at most eight bytes, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    bits: [u8; 8],
    word: WordType,
}

impl Number {
    pub fn of<T: Word>(number: T) -> Self {
        let (mut bits, bytes) = ([0; 8], bytemuck::bytes_of(&number));
        bits[..bytes.len()].copy_from_slice(bytes);
        Self { bits, word: WordType::of::<T>() }
    }

    /// Rounds `number` to the type in which sums of `element` are computed, ties to even.
    pub fn nearest(element: ElementType, number: f64) -> Self {
        match element.arithmetic() {
            ElementType::F64 => Self::of(f64::nearest(number)),
            ElementType::I32 => Self::of(i32::nearest(number)),
            ElementType::U32 | ElementType::U8 => Self::of(u32::nearest(number)),
            ElementType::F32 | ElementType::F16 => Self::of(f32::nearest(number)),
        }
    }

    pub fn word(&self) -> WordType {
        self.word
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bits[..self.word.bytes]
    }
}

impl ElementType {
    /// The element type of a matrix's values.
    ///
    /// # Panics
    /// If no matrix holds values of this type.
    pub(crate) fn of(word: WordType) -> Self {
        let found = Self::ALL.iter().copied().find(|element| element.word() == word);
        found.expect("what matrices and vectors hold are elements")
    }

    /// The type of the elements in device memory.
    pub(crate) const fn word(self) -> WordType {
        match self {
            Self::F64 => WordType::of::<f64>(),
            Self::F32 => WordType::of::<f32>(),
            Self::F16 => WordType::of::<f16>(),
            Self::U32 => WordType::of::<u32>(),
            Self::I32 => WordType::of::<i32>(),
            Self::U8 => WordType::of::<u8>(),
        }
    }

    /// The type in which sums and products are computed; see
    /// [`Element::Arithmetic`](crate::Element::Arithmetic).
    pub const fn arithmetic(self) -> Self {
        match self {
            Self::F16 => Self::F32,
            Self::U8 => Self::U32,
            Self::F64 | Self::F32 | Self::U32 | Self::I32 => self,
        }
    }

    /// Whether the type is an integer type.
    pub const fn is_integer(self) -> bool {
        match self {
            Self::U32 | Self::I32 | Self::U8 => true,
            Self::F64 | Self::F32 | Self::F16 => false,
        }
    }

    /// Whether sums and products are signed integers.
    pub(crate) const fn has_signed_sums(self) -> bool {
        match self.arithmetic() {
            Self::I32 => true,
            Self::F64 | Self::F32 | Self::F16 | Self::U32 | Self::U8 => false,
        }
    }

    /// See [`Element::TRUTH`](crate::Element::TRUTH).
    pub(crate) const fn is_truth(self) -> bool {
        match self {
            Self::U8 => true,
            Self::F64 | Self::F32 | Self::F16 | Self::U32 | Self::I32 => false,
        }
    }

    /// The lowest number that a sum can be: -infinity for floats.
    pub(crate) fn lowest(self) -> f64 {
        match self.arithmetic() {
            Self::I32 => i32::MIN.into(),
            Self::U32 | Self::U8 => 0.0,
            Self::F64 | Self::F32 | Self::F16 => f64::NEG_INFINITY,
        }
    }

    /// The sum of two lengths in min-plus, rounded. The highest integer counts as infinity.
    pub(crate) fn length(self, x: f64, y: f64) -> f64 {
        match self.arithmetic() {
            Self::F64 => x + y,
            Self::I32 => i32::nearest(x).length(i32::nearest(y), i32::HIGHEST).into(),
            Self::U32 | Self::U8 => u32::nearest(x).length(u32::nearest(y), u32::HIGHEST).into(),
            Self::F32 | Self::F16 => (f32::nearest(x) + f32::nearest(y)).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    fn agrees<T: Element>() {
        let of_arithmetic = [T::TYPE.arithmetic().word(), Number::nearest(T::TYPE, 3.0).word()];
        assert_eq!((T::TYPE.word(), T::TYPE.bytes()), (WordType::of::<T>(), size_of::<T>()), "{}", T::NAME);
        assert_eq!(ElementType::of(WordType::of::<T>()), T::TYPE);
        assert_eq!(of_arithmetic, [WordType::of::<T::Arithmetic>(); 2], "{}", T::NAME);
        for number in [0.0, -0.0, 0.5, 1.5, 1.0 / 3.0, 255.0, 1e300, -7.0, f64::INFINITY] {
            let (found, want) = (Number::nearest(T::TYPE, number), T::Arithmetic::nearest(number));
            assert_eq!((found, found.bytes()), (Number::of(want), bytemuck::bytes_of(&want)), "{number} {}", T::NAME);
        }
        assert_eq!(align_of::<T>(), size_of::<T>());
        assert_eq!(T::TYPE.is_integer(), T::ARITHMETIC_ROUNDOFF == 0.0);
        assert_eq!(T::TYPE.is_truth(), T::TRUTH, "{}", T::NAME);
        let lowest_is_negative = T::Arithmetic::LOWEST < T::Arithmetic::ZERO;
        assert_eq!(T::TYPE.has_signed_sums(), T::TYPE.is_integer() && lowest_is_negative, "{}", T::NAME);
        let highest = T::Arithmetic::HIGHEST;
        assert_eq!(Number::of(T::Arithmetic::LOWEST), Number::nearest(T::TYPE, T::TYPE.lowest()));
        assert_eq!(Number::of(highest), Number::nearest(T::TYPE, f64::INFINITY));
        for (x, y) in [(0.1, 0.2), (5.0, -7.0), (4e9, 4e9), (-2e9, -2e9), (f64::INFINITY, -1.0), (1e300, 1e300)] {
            let [a, b] = [x, y].map(T::Arithmetic::nearest);
            let found = T::TYPE.length(x, y);
            assert_eq!(Number::nearest(T::TYPE, found), Number::of(a.length(b, highest)), "{x} + {y} {}", T::NAME);
        }
    }

    #[test]
    fn what_values_say_of_elements_is_what_their_traits_say() {
        agrees::<f64>();
        agrees::<f32>();
        agrees::<f16>();
        agrees::<u32>();
        agrees::<i32>();
        agrees::<u8>();
    }
}
