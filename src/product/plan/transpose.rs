//! The transpose of a factor, by commands of the device.
use crate::{
    Result,
    device::{Device, Work},
    primitives::transpose::{Transpose, Transposed},
    product::terms::FactorPattern,
};

impl FactorPattern {
    /// Requests the kernels of [`FactorPattern::transpose`].
    pub(in crate::product) fn ask_transpose(&self, device: &Device) -> Result<()> {
        if self.transposed { Transpose::ask(device, self.pattern.nrows, self.pattern.nnz()) } else { Ok(()) }
    }

    /// The transposed pattern, if the transpose is multiplied.
    pub(in crate::product) fn transpose(&self, work: &Work) -> Result<Option<Transposed>> {
        match self.transposed {
            true => Ok(Some(Transpose::new(work.device())?.run(work, &self.pattern)?)),
            false => Ok(None),
        }
    }
}
