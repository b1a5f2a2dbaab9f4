//! Compressed rows, a work-group for each stretch of short rows and for each piece of a long one:
//! the line sums of `vector/`, which matrices of blocks have too.
//!
//! Neighbours multiply neighbouring entries into local memory, then one item adds each row, or each
//! piece of 1024 entries. The pieces of a row are added by a second kernel.
use super::{Rows, Sums};
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Work},
    element::Scaling,
    primitives::transpose::Transposed,
    vector::{
        line_sums::{LineSums, Stored, Terms},
        lines::Index,
    },
};

pub(super) struct CsrAdaptive<T: Element> {
    sums: LineSums<T>,
    /// If the sums do not read the values through it.
    source: Option<Buffer<u32>>,
    /// Bytes of the rows, if the sums do not count them.
    held: u64,
    places: usize,
}

impl<T: Element> CsrAdaptive<T> {
    pub fn new(rows: Rows) -> Result<Self> {
        let of_rows = rows.bytes();
        let Rows { pattern, source, packed, semiring } = rows;
        let (device, places) = (pattern.device.clone(), pattern.nnz());
        let (index, source) = match source {
            Some(source) if !packed => (Index::Rows(Transposed { pattern, source }), None),
            source => (Index::Columns(pattern), source),
        };
        let held = if source.is_some() { of_rows } else { 0 };
        let terms = Terms::Products(semiring);
        Ok(Self { sums: LineSums::over(&device, index, BlockShape::SCALAR, terms)?, source, held, places })
    }
}

impl<T: Element> Sums<T> for CsrAdaptive<T> {
    fn run(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        x: &Buffer<T>,
        scaling: Scaling<T::Arithmetic>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        self.sums.run(work, a, x, scaling, y)
    }

    fn places(&self) -> usize {
        self.places
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.source.as_ref()
    }

    fn bytes(&self) -> u64 {
        self.sums.bytes() + self.held
    }
}
