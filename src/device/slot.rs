//! Types of kernel parameters, which are fixed by the host or by the options of the kernel.
use crate::{
    Word,
    element::{Any, Number, WordType},
};

/// The types that the macros ELEMENT, ARITHMETIC, VALUE, PAYLOAD, OPERAND and COLUMN of a kernel
/// stand for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Words {
    pub(super) element: WordType,
    pub(super) arithmetic: WordType,
    pub(super) value: WordType,
    pub(super) payload: WordType,
    pub(super) operand: WordType,
    pub(super) column: WordType,
    /// Whether the kernel uses `uint` instead of `int`.
    pub(super) wraps: bool,
}

impl Default for Words {
    fn default() -> Self {
        let none = WordType::NONE;
        let [element, arithmetic, value, payload, operand, column] = [none; 6];
        Self { element, arithmetic, value, payload, operand, column, wraps: false }
    }
}

impl Words {
    /// The name that the kernel uses for this type.
    pub(super) fn declared(&self, word: WordType) -> &'static str {
        if self.wraps { unsigned(word) } else { word.name() }
    }
}

/// The OpenCL name of a type, with `uint` instead of `int`.
pub(super) fn unsigned(word: WordType) -> &'static str {
    match word == WordType::of::<i32>() {
        true => u32::CL_NAME,
        false => word.name(),
    }
}

/// The type of a parameter's values: a type fixed by the host, such as `u32`, or a name for a type
/// in the kernel's options, such as [`Elem`].
pub(crate) trait Slot: 'static {
    /// The type of the buffers' values.
    type Held;
    type Number;
    fn word(words: &Words) -> WordType;
    fn number(value: &Self::Number) -> Number;
}

impl<T: Word> Slot for T {
    type Held = T;
    type Number = T;
    fn word(_: &Words) -> WordType {
        WordType::of::<T>()
    }
    fn number(value: &T) -> Number {
        Number::of(*value)
    }
}

/// Defines the name by which a kernel's options choose one of its types.
macro_rules! slot {
    ($(#[$meta:meta])* $slot:ident is $word:ident) => {
        $(#[$meta])*
        pub(crate) struct $slot;
        impl Slot for $slot {
            type Held = Any;
            type Number = Number;
            fn word(words: &Words) -> WordType {
                words.$word
            }
            fn number(value: &Number) -> Number {
                *value
            }
        }
    };
}
slot!(
    /// ELEMENT: the elements of matrices and vectors.
    Elem is element
);
slot!(
    /// ARITHMETIC: the type of sums.
    Sum is arithmetic
);
slot!(
    /// VALUE: a matrix's values, if vectors may have another element type.
    Value is value
);
slot!(
    /// PAYLOAD: the values that are sorted together with rows.
    Payload is payload
);
slot!(
    /// OPERAND: the values of an operand that an expansion reads.
    Operand is operand
);
slot!(
    /// COLUMN: the columns of padded rows.
    Column is column
);
