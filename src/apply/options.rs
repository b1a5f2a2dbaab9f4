//! Options of products of matrices with vectors.
use super::{Apply, Format, Packed, spmv::Request};
use crate::{DeviceMatrix, DevicePattern, Matrix, Result};
use std::marker::PhantomData;

/// A product of a matrix with vectors that is to be prepared, with options; see [`Apply::with`].
#[derive(Debug, Clone)]
pub struct ApplyOptions<'a, M: Matrix> {
    pub(super) a: &'a DevicePattern,
    pub(super) transposed: bool,
    pub(super) request: Request,
    matrix: PhantomData<fn() -> M>,
}

impl<'a, M: Matrix> ApplyOptions<'a, M> {
    /// Executions for which [`Format::Auto`] divides the bytes of a conversion, unless
    /// [`ApplyOptions::uses`] says another number: the iterations of a solver, about.
    const USES: u64 = 100;

    pub(super) fn new(a: &'a DevicePattern) -> Self {
        let request = Request { format: Format::Auto, any_order: false, uses: Self::USES, packed: false };
        Self { a, transposed: false, request, matrix: PhantomData }
    }

    /// Applies Aᵀ, without forming it.
    pub fn transposed(mut self) -> Self {
        self.transposed = true;
        self
    }

    /// The format of a matrix of scalars.
    pub fn format(mut self, format: Format) -> Self {
        self.request.format = format;
        self
    }

    /// Lets [`Format::Auto`] choose formats whose sums have another order than
    /// [`reference::multiply_vector`](crate::reference::multiply_vector).
    pub fn any_order(mut self) -> Self {
        self.request.any_order = true;
        self
    }

    /// The number of executions with one set of values, 100 by default: [`Format::Auto`] converts
    /// for many and not for few.
    pub fn uses(mut self, n: u64) -> Self {
        self.request.uses = n;
        self
    }

    /// Prepares the product for matrices on the pattern, whose values are read where they are.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for the pattern of another kind of matrix than
    /// M, for a format of a matrix of blocks, and for one that would be mostly padding;
    /// [`Error::Memory`](crate::Error::Memory), [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn plan(self) -> Result<Apply<M>> {
        Apply::prepared(&self)
    }

    /// Prepares the product for one matrix of scalars, whose values are copied in the order of the
    /// format. An execution then reads them from front to back.
    ///
    /// # Errors
    /// As [`ApplyOptions::plan`]; [`Error::Argument`](crate::Error::Argument) for a matrix of
    /// blocks.
    pub fn pack(mut self, a: &DeviceMatrix<M>) -> Result<Packed<M>> {
        self.request.packed = true;
        Packed::new(Apply::prepared(&self)?, a)
    }
}
