//! Scaling: the numbers alpha and beta of C = alpha·(...) + beta·C.
use super::{Arithmetic, ElementType, Number};

/// Factors of C = alpha·A·B + beta·C. If beta is 0, C is not read. Both belong to plus-times; see
/// [`Semiring`](crate::Semiring) for other algebras.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling<V = Number> {
    pub alpha: V,
    pub beta: V,
}

impl Scaling {
    /// Rounds the caller's numbers to the type in which sums of `element` are computed.
    pub fn of(element: ElementType, alpha: f64, beta: f64) -> Self {
        Self { alpha: Number::nearest(element, alpha), beta: Number::nearest(element, beta) }
    }

    /// The factors 1 and 0: C = A·B.
    pub fn plain(element: ElementType) -> Self {
        Self::of(element, 1.0, 0.0)
    }
}

impl<V: Arithmetic> Scaling<V> {
    /// The same, with numbers as values.
    pub fn numbers(self) -> Scaling {
        Scaling { alpha: Number::of(self.alpha), beta: Number::of(self.beta) }
    }
}
