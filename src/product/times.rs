//! Factors of [`multiply`](crate::multiply).
use crate::Result;

/// A left factor of [`multiply`](crate::multiply) for right factors of type `B`. The factors are
/// two sparse matrices of one type, or a sparse and a [dense](crate::dense::DeviceDense) matrix in
/// either order. Beside a dense matrix, the sparse one may be compressed or [in
/// groups](crate::dense::DeviceGcoo).
#[diagnostic::on_unimplemented(
    message = "`multiply` does not take `{Self}` and `{B}`",
    note = "both are on one device: matrices on the host are uploaded by `Device::upload` and `Device::upload_dense`, \
            or multiplied there by `reference::multiply`",
    note = "two sparse matrices have one format and one element: see `Csr::to_csc`, `to_blocks` and `cast`"
)]
pub trait Times<B> {
    /// The product.
    type Product;

    #[doc(hidden)]
    fn times(&self, b: &B) -> Result<Self::Product>;
}
