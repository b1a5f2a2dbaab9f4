//! The data that a sort moves with the row of a product. Kernels: `cl/product/payload.cl`.
use super::Spec;
use crate::{
    OperandPair,
    device::Options,
    element::{ElementType, WordType},
    product::tuning::PayloadKind,
};

impl PayloadKind {
    /// The type of the word that is sorted with each row, in a product of `element`.
    pub(crate) fn word(self, element: ElementType) -> WordType {
        match self {
            Self::Values => element.arithmetic().word(),
            Self::Pairs => WordType::of::<OperandPair>(),
        }
    }

    /// Adds the macros by which kernels make payloads; `spec` says whether the entries of an
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
