//! Factors of [`multiply`](crate::multiply).
use super::Product;
use crate::{DeviceMatrix, Result, matrix::HostMatrix};

/// A left factor of [`multiply`](crate::multiply) for right factors of type `B`: two sparse
/// matrices of one type, or a sparse matrix, compressed or [in groups](crate::dense::DeviceGcoo),
/// and a [dense](crate::dense::DeviceDense) one, in either order.
pub trait Times<B> {
    /// The product.
    type Product;

    #[doc(hidden)]
    fn times(&self, b: &B) -> Result<Self::Product>;
}

impl<M: HostMatrix> Times<DeviceMatrix<M>> for DeviceMatrix<M> {
    type Product = Self;

    fn times(&self, b: &Self) -> Result<Self> {
        Product::of(self, b).run()
    }
}
