//! The data that a sort moves with the row of a product. Kernels: `cl/product/payload.cl`.
use super::Spec;
use crate::{Element, OperandPair, Word, device::Options, product::tuning::PayloadKind};

/// The data that a sort moves with the row of a product, as a type: [`Values`] or [`Pairs`].
pub(crate) trait Payload<T: Element>: 'static {
    /// Type of the word sorted with each row.
    type Word: Word;
    /// Type of the word that is read for each entry of an operand.
    type Operand: Word;
    const KIND: PayloadKind;
    /// Defines the macros by which kernels make payloads; `spec` says whether the entries of an
    /// operand have explicit numbers.
    fn define(options: Options, spec: &Spec) -> Options;
}

/// Payload of scalars: the values of products.
pub(crate) enum Values {}

/// Payload of blocks and plans: the pairs of operands, which are multiplied when they are summed.
pub(crate) enum Pairs {}

impl<T: Element> Payload<T> for Values {
    type Word = T::Arithmetic;
    type Operand = T;
    const KIND: PayloadKind = PayloadKind::Values;

    fn define(options: Options, spec: &Spec) -> Options {
        let wide = u8::from(size_of::<T::Arithmetic>() == 8);
        options.element_in::<T>(spec.semiring).define("PAYLOAD", "ARITHMETIC").define("PAYLOAD_IS_WIDE", wide)
    }
}

impl<T: Element> Payload<T> for Pairs {
    type Word = OperandPair;
    type Operand = u32;
    const KIND: PayloadKind = PayloadKind::Pairs;

    fn define(options: Options, spec: &Spec) -> Options {
        let options =
            options.define("A_SOURCED", u8::from(spec.sourced.a)).define("B_SOURCED", u8::from(spec.sourced.b));
        options.word::<OperandPair>("PAYLOAD").define("PAYLOAD_IS_WIDE", 1)
    }
}
