//! The numbers of alpha·(...) + beta·C.
use super::Arithmetic;

/// C becomes alpha·A·B + beta·C; if beta is 0, C is not read. Both belong to plus-times; see
/// [`Semiring`](crate::Semiring) for other algebras.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling<V> {
    pub alpha: V,
    pub beta: V,
}

impl<V: Arithmetic> Scaling<V> {
    /// Numbers of the caller's, rounded to the arithmetic type.
    pub fn new(alpha: f64, beta: f64) -> Self {
        Self { alpha: V::nearest(alpha), beta: V::nearest(beta) }
    }

    /// C becomes A·B.
    pub fn plain() -> Self {
        Self::new(1.0, 0.0)
    }
}
