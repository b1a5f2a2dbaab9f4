//! Values whose element type is known at run time, for code that is compiled once.
use super::{Element, ElementType};
use half::f16;

/// Numbers of one element type, which is known at run time.
///
/// ```
/// use blockmul::element::{AnyValues, ElementType};
/// let values = AnyValues::from(vec![1.0f32, 2.5]);
/// assert_eq!((values.element(), values.len()), (ElementType::F32, 2));
/// assert_eq!(values.get::<f32>(), Some(&[1.0, 2.5][..]));
/// assert!(values.get::<f64>().is_none());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnyValues {
    /// `f64`
    F64(Vec<f64>),
    /// `f32`
    F32(Vec<f32>),
    /// `half::f16`
    F16(Vec<f16>),
    /// `u32`
    U32(Vec<u32>),
    /// `i32`
    I32(Vec<i32>),
    /// `u8`
    U8(Vec<u8>),
}

/// Borrowed numbers of one element type.
#[derive(Debug, Clone, Copy)]
pub enum AnySlice<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    F16(&'a [f16]),
    U32(&'a [u32]),
    I32(&'a [i32]),
    U8(&'a [u8]),
}

/// A Rust type of numbers that has a variant in [`AnyValues`].
pub trait Listed: Sized {
    fn any(values: Vec<Self>) -> AnyValues;
    fn any_slice(values: &[Self]) -> AnySlice<'_>;
    fn any_slice_mut(values: &mut [Self]) -> AnySliceMut<'_>;
    /// Returns the values if their type is `Self`; otherwise returns the input as the error.
    fn of_any(values: AnyValues) -> Result<Vec<Self>, AnyValues>;
    fn of_any_slice(values: AnySlice<'_>) -> Option<&[Self]>;
    fn of_any_slice_mut(values: AnySliceMut<'_>) -> Option<&mut [Self]>;
}

/// Borrowed mutable numbers of one element type.
#[derive(Debug)]
pub enum AnySliceMut<'a> {
    F64(&'a mut [f64]),
    F32(&'a mut [f32]),
    F16(&'a mut [f16]),
    U32(&'a mut [u32]),
    I32(&'a mut [i32]),
    U8(&'a mut [u8]),
}

/// Evaluates an expression in which a name stands for the values. The expression is compiled once
/// for each type.
macro_rules! with_values {
    ($kind:ident, $any:expr, $values:ident => $result:expr) => {
        match $any {
            $kind::F64($values) => $result,
            $kind::F32($values) => $result,
            $kind::F16($values) => $result,
            $kind::U32($values) => $result,
            $kind::I32($values) => $result,
            $kind::U8($values) => $result,
        }
    };
}

/// Applies a function that only moves numbers and returns values of the same type. The function is
/// compiled once for each size of a number: 1, 2, 4 and 8 bytes.
macro_rules! move_values {
    ($any:expr, $bits:ident => $moved:expr) => {
        match $any {
            AnySlice::F64(values) => {
                let $bits: &[u64] = bytemuck::cast_slice(values);
                AnyValues::F64(bytemuck::cast_vec::<u64, f64>($moved))
            }
            AnySlice::F32(values) => {
                let $bits: &[u32] = bytemuck::cast_slice(values);
                AnyValues::F32(bytemuck::cast_vec::<u32, f32>($moved))
            }
            AnySlice::F16(values) => {
                let $bits: &[u16] = bytemuck::cast_slice(values);
                AnyValues::F16(bytemuck::cast_vec::<u16, half::f16>($moved))
            }
            AnySlice::U32($bits) => AnyValues::U32($moved),
            AnySlice::I32(values) => {
                let $bits: &[u32] = bytemuck::cast_slice(values);
                AnyValues::I32(bytemuck::cast_vec::<u32, i32>($moved))
            }
            AnySlice::U8($bits) => AnyValues::U8($moved),
        }
    };
}

/// Evaluates an expression in which a name stands for the element type, if that type is one of the
/// listed types. The expression is compiled once for each listed type.
macro_rules! with_type_of {
    ($element:expr, $name:ident => $result:expr, $($of:ident: $type:ty),+ $(; $others:pat => $other:expr)?) => {
        match $element {
            $(ElementType::$of => {
                type $name = $type;
                $result
            })+
            $($others => $other,)?
        }
    };
}

/// Like `with_type_of`, for all element types.
macro_rules! with_type {
    ($element:expr, $name:ident => $result:expr) => {
        $crate::element::with_type_of!(
            $element, $name => $result, F64: f64, F32: f32, F16: half::f16, U32: u32, I32: i32, U8: u8
        )
    };
}
pub(crate) use {move_values, with_type, with_type_of, with_values};

macro_rules! listed {
    ($($number:ident as $name:ident),+) => { $(
        impl Listed for $number {
            fn any(values: Vec<Self>) -> AnyValues {
                AnyValues::$name(values)
            }
            fn any_slice(values: &[Self]) -> AnySlice<'_> {
                AnySlice::$name(values)
            }
            fn any_slice_mut(values: &mut [Self]) -> AnySliceMut<'_> {
                AnySliceMut::$name(values)
            }
            fn of_any(values: AnyValues) -> Result<Vec<Self>, AnyValues> {
                match values {
                    AnyValues::$name(values) => Ok(values),
                    other => Err(other),
                }
            }
            fn of_any_slice(values: AnySlice<'_>) -> Option<&[Self]> {
                match values {
                    AnySlice::$name(values) => Some(values),
                    _ => None,
                }
            }
            fn of_any_slice_mut(values: AnySliceMut<'_>) -> Option<&mut [Self]> {
                match values {
                    AnySliceMut::$name(values) => Some(values),
                    _ => None,
                }
            }
        }

        impl From<Vec<$number>> for AnyValues {
            fn from(values: Vec<$number>) -> Self {
                Self::$name(values)
            }
        }
    )+ };
}
listed!(f64 as F64, f32 as F32, f16 as F16, u32 as U32, i32 as I32, u8 as U8);

impl AnyValues {
    /// The type of the numbers.
    pub fn element(&self) -> ElementType {
        self.borrow().element()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        with_values!(Self, self, values => values.len())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers if their type is `T`, otherwise `None`.
    pub fn get<T: Element>(&self) -> Option<&[T]> {
        T::of_any_slice(self.borrow())
    }

    /// The number at index `at`, converted exactly.
    ///
    /// # Panics
    /// If `at` is out of range.
    pub fn number(&self, at: usize) -> f64 {
        self.borrow().number(at)
    }

    /// All numbers, converted exactly to `f64`.
    pub fn numbers(&self) -> Vec<f64> {
        self.borrow().numbers()
    }

    /// The largest magnitude of all numbers; 0 if there are none.
    pub fn magnitude(&self) -> f64 {
        self.numbers().into_iter().fold(0.0, |largest, value| value.abs().max(largest))
    }

    /// The bytes of the numbers, one after another.
    pub fn bytes(&self) -> &[u8] {
        self.borrow().bytes()
    }

    /// Converts the numbers to another type. Each number is rounded to nearest: see
    /// [`Element::from_f64`].
    pub fn cast(&self, element: ElementType) -> Self {
        self.borrow().cast(element)
    }

    /// Applies a function to each number as `f64`, and rounds the results to the type of the
    /// numbers.
    pub fn map(&self, number: impl Fn(f64) -> f64) -> Self {
        Self::F64(self.numbers().into_iter().map(number).collect()).cast(self.element())
    }

    /// Makes `len` numbers that are all 0.
    pub fn zeros(element: ElementType, len: usize) -> Self {
        match element {
            ElementType::F64 => Self::F64(vec![0.0; len]),
            ElementType::F32 => Self::F32(vec![0.0; len]),
            ElementType::F16 => Self::F16(vec![f16::ZERO; len]),
            ElementType::U32 => Self::U32(vec![0; len]),
            ElementType::I32 => Self::I32(vec![0; len]),
            ElementType::U8 => Self::U8(vec![0; len]),
        }
    }

    /// Appends numbers of the same type.
    ///
    /// # Panics
    /// If `values` has another type.
    pub fn append(&mut self, values: Self) {
        with_values!(Self, self, own => own.append(&mut values.of_same()));
    }

    pub(crate) fn borrow(&self) -> AnySlice<'_> {
        match self {
            Self::F64(values) => AnySlice::F64(values),
            Self::F32(values) => AnySlice::F32(values),
            Self::F16(values) => AnySlice::F16(values),
            Self::U32(values) => AnySlice::U32(values),
            Self::I32(values) => AnySlice::I32(values),
            Self::U8(values) => AnySlice::U8(values),
        }
    }

    pub(crate) fn borrow_mut(&mut self) -> AnySliceMut<'_> {
        with_values!(Self, self, values => Listed::any_slice_mut(values))
    }

    /// The numbers, which must be of type `T`.
    pub(crate) fn of_same<T: Listed>(self) -> Vec<T> {
        T::of_any(self).unwrap_or_else(|_| unreachable!("values have the type of those they are made of"))
    }
}

/// The type of numbers.
fn element_of<T: Element>(_: &[T]) -> ElementType {
    T::TYPE
}

impl AnySliceMut<'_> {
    pub(crate) fn element(&self) -> ElementType {
        with_values!(Self, self, values => element_of(values))
    }

    /// The bytes of the numbers, one after another.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        with_values!(Self, self, values => bytemuck::cast_slice_mut(values))
    }
}

impl<'a> AnySlice<'a> {
    pub(crate) fn len(self) -> usize {
        with_values!(Self, self, values => values.len())
    }

    pub(crate) fn element(&self) -> ElementType {
        with_values!(Self, self, values => element_of(values))
    }

    /// The number at index `at`, converted exactly.
    #[inline]
    pub(crate) fn number(&self, at: usize) -> f64 {
        match self {
            Self::F64(values) => values[at],
            Self::F32(values) => values[at].into(),
            Self::F16(values) => values[at].into(),
            Self::U32(values) => values[at].into(),
            Self::I32(values) => values[at].into(),
            Self::U8(values) => values[at].into(),
        }
    }

    /// The bits of the number at index `at`.
    pub(crate) fn bits(&self, at: usize) -> u64 {
        match self {
            Self::F64(values) => values[at].to_bits(),
            Self::F32(values) => values[at].to_bits().into(),
            Self::F16(values) => values[at].to_bits().into(),
            Self::U32(values) => values[at].into(),
            Self::I32(values) => (values[at] as u32).into(),
            Self::U8(values) => values[at].into(),
        }
    }

    /// The bytes of the numbers, one after another.
    pub(crate) fn bytes(self) -> &'a [u8] {
        with_values!(Self, self, values => bytemuck::cast_slice(values))
    }

    /// Converts the numbers to another type. Each number is rounded to nearest: see
    /// [`Element::from_f64`].
    pub(crate) fn cast(self, to: ElementType) -> AnyValues {
        let numbers = (0..self.len()).map(|at| self.number(at));
        with_type!(to, T => T::any(numbers.map(<T as Element>::from_f64).collect()))
    }

    /// All numbers, converted exactly to `f64`.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        with_values!(Self, self, values => values.iter().map(|&value| value.to_f64()).collect())
    }
}
