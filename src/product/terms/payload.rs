//! The data that a sort moves with the row of a product. Kernels: `cl/product/terms/payload.cl`.
use super::Spec;
use crate::{
    OperandPair,
    device::Options,
    element::{ElementType, WordType},
};

/// The data that the sort moves with the row of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadKind {
    /// The product's value. Scalars have payload `Values`, because their values are no larger than
    /// a pair of operands.
    Values,
    /// The pair of operands, which compression multiplies. Blocks have payload `Pairs`, and so have
    /// plans, which multiply repeatedly.
    Pairs,
}

impl PayloadKind {
    /// Chooses the payload if the blocks of A, B and C are `strides` elements apart. Values need
    /// contiguous scalars, since their kernels support no stride.
    pub fn of(strides: [usize; 3]) -> Self {
        if strides == [1; 3] { Self::Values } else { Self::Pairs }
    }

    /// The type of the word that is sorted with each row, for elements of type `element`.
    pub(crate) fn word(self, element: ElementType) -> WordType {
        match self {
            Self::Values => element.arithmetic().word(),
            Self::Pairs => WordType::of::<OperandPair>(),
        }
    }

    /// Adds the macros by which kernels make payloads. `spec` says whether the entries of an
    /// operand have explicit numbers.
    pub(crate) fn define(self, options: Options, spec: &Spec) -> Options {
        let word = self.word(spec.element);
        let options = match self {
            Self::Values => options
                .element_in(spec.element, spec.semiring)
                .operand(spec.element.word())
                .define("PAYLOAD", "ARITHMETIC")
                .payload_is(word),
            Self::Pairs => options
                .define("A_SOURCED", u8::from(spec.sourced.a))
                .define("B_SOURCED", u8::from(spec.sourced.b))
                .operand(WordType::of::<u32>())
                .payload(word),
        };
        options.define("PAYLOAD_IS_WIDE", u8::from(word.bytes() == 8))
    }
}
