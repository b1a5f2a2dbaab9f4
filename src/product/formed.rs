//! The transpose of a factor, and a C without entries. Commands of the device form both.
use super::terms::{FactorPattern, Operands};
use crate::{
    Result,
    device::{Device, Work},
    primitives::transpose::{Transpose, Transposed},
    resident::DeviceCbc,
};

impl FactorPattern {
    /// Requests the kernels of [`FactorPattern::transpose`].
    pub(super) fn ask_transpose(&self, device: &Device) -> Result<()> {
        if self.transposed { Transpose::ask(device, self.pattern.nrows, self.pattern.nnz()) } else { Ok(()) }
    }

    /// The transposed pattern, if the transpose is multiplied.
    pub(super) fn transpose(&self, work: &Work) -> Result<Option<Transposed>> {
        match self.transposed {
            true => Ok(Some(Transpose::new(work.device())?.run(work, &self.pattern)?)),
            false => Ok(None),
        }
    }
}

impl Operands<'_> {
    /// Makes `ncols` columns of C without entries, for a product with an empty expansion.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer_of(self.element().word(), 0)?))
    }
}
