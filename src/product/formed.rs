//! What is formed from the words of a product by commands of the device: the transpose of a factor,
//! and a C without entries.
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
    /// `ncols` columns of C without entries, the result of an empty expansion.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer_of(self.element().word(), 0)?))
    }
}
