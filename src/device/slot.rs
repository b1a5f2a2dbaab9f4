//! Types of kernels' parameters: those that the host names, and those that a kernel's options name.
use crate::{
    Word,
    element::{Any, Number, WordType},
};

/// What ELEMENT, ARITHMETIC, VALUE, PAYLOAD, OPERAND and COLUMN of a kernel are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Words {
    pub(super) element: WordType,
    pub(super) arithmetic: WordType,
    pub(super) value: WordType,
    pub(super) payload: WordType,
    pub(super) operand: WordType,
    pub(super) column: WordType,
    /// Whether the kernel has `uint` for `int`.
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
    /// The name that the kernel has for values of this type.
    pub(super) fn declared(&self, word: WordType) -> &'static str {
        if self.wraps { unsigned(word) } else { word.name() }
    }
}

/// The name of a type; of `int` that of the same bits without a sign.
pub(super) fn unsigned(word: WordType) -> &'static str {
    match word == WordType::of::<i32>() {
        true => u32::CL_NAME,
        false => word.name(),
    }
}

/// The type of a parameter's values: one that the host names, such as `u32`, or what the kernel's
/// options say, such as [`Elem`].
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

/// A type that the kernel's options name.
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
    /// VALUE: a matrix's values, if vectors may have another type.
    Value is value
);
slot!(
    /// PAYLOAD: what is sorted with rows.
    Payload is payload
);
slot!(
    /// OPERAND: what an expansion reads of an operand.
    Operand is operand
);
slot!(
    /// COLUMN: the columns of padded rows.
    Column is column
);
