//! The properties for which kernels of a product are compiled, and the way its sums are computed.
use super::{FactorPattern, Method};
use crate::{BlockShape, Part, Semiring, element::ElementType};

/// The method and the algebra of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct How {
    pub method: Method,
    /// The algebra of the sums. The first factor of a product is an entry of A.
    pub semiring: Semiring,
}

impl How {
    /// Swaps the two factors of the algebra, for a product whose matrices are swapped.
    pub fn mirrored(self) -> Self {
        Self { semiring: self.semiring.mirrored(), ..self }
    }
}

impl From<Method> for How {
    fn from(method: Method) -> Self {
        Self { method, ..Self::default() }
    }
}

/// Whether the stored blocks of A and of B are the transposes of the factors' blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Transposed {
    pub a: bool,
    pub b: bool,
}

/// The properties for which kernels of a product are compiled. The properties do not include the
/// tuning numbers of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    pub element: ElementType,
    /// Shape of A's blocks, after a transpose.
    pub a: BlockShape,
    /// Shape of B's blocks, after a transpose.
    pub b: BlockShape,
    pub part: Part,
    pub transposed: Transposed,
    /// Whether the entries of A and of B have explicit numbers, given to [`Factors::of_pairs`].
    pub sourced: Transposed,
    /// Bits needed for the number of rows of C.
    pub row_bits: u32,
    /// The algebra of the sums. The first factor of a product is an entry of A.
    pub semiring: Semiring,
}

impl Spec {
    /// The whole A·B, with `nrows` rows in C.
    pub fn new(element: ElementType, a: BlockShape, b: BlockShape, nrows: usize) -> Self {
        let row_bits = usize::BITS - nrows.leading_zeros();
        let (part, plain, semiring) = (Part::Full, Transposed::default(), Semiring::PlusTimes);
        Self { element, a, b, part, transposed: plain, sourced: plain, row_bits, semiring }
    }

    /// Changes the semiring of the product.
    pub fn over(self, semiring: Semiring) -> Self {
        Self { semiring, ..self }
    }

    /// The product op(A)·op(B), or a part of it.
    pub fn of_factors(element: ElementType, a: &FactorPattern, b: &FactorPattern, part: Part) -> Self {
        let transposed = Transposed { a: a.transposed, b: b.transposed };
        let whole = Self::new(element, a.op_shape(), b.op_shape(), a.dimensions().nrows);
        Self { part, transposed, sourced: transposed, ..whole }
    }

    /// A part of A·Aᵀ, if A is stored.
    pub fn of_square(element: ElementType, a: BlockShape, nrows: usize, part: Part) -> Self {
        let transposed = Transposed { a: false, b: true };
        Self { part, transposed, sourced: transposed, ..Self::new(element, a, a.transpose(), nrows) }
    }
}
