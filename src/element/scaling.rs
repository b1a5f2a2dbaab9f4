//! The factors alpha and beta of C = alpha·(...) + beta·C.
use super::{ElementType, Number};

/// The factors alpha and beta of C = alpha·A·B + beta·C. If beta is 0, C is not read. Alpha and
/// beta are free in plus-times only; for other algebras see [`Semiring`](crate::Semiring).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling {
    pub alpha: Number,
    pub beta: Number,
}

impl Scaling {
    /// Rounds the caller's factors to the type in which sums of `element` are computed.
    pub fn of(element: ElementType, alpha: f64, beta: f64) -> Self {
        Self { alpha: Number::nearest(element, alpha), beta: Number::nearest(element, beta) }
    }

    /// The factors 1 and 0, which give C = A·B.
    pub fn plain(element: ElementType) -> Self {
        Self::of(element, 1.0, 0.0)
    }
}
