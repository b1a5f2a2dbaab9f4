//! Products that an algorithm repeats with one matrix of scalars.
use super::{Elements, PackedValues, Request, Spmv};
use crate::{
    BlockShape, Result, Semiring,
    device::{Buffer, Work},
    element::{ElementType, Scaling},
    resident::PatternArrays,
    vector::line_sums::Stored,
};
use std::sync::Arc;

/// A matrix of scalars in the format that [`Format::Auto`](super::Format) chooses, with its values
/// in the order of that format.
pub(crate) struct Repeated {
    spmv: Spmv,
    values: PackedValues,
}

impl Repeated {
    /// Prepares about `uses` products A·x, and copies the values. The rows of A are the rows of
    /// `arrays` if `of_rows` is set, otherwise their columns.
    pub fn new(
        work: &Work,
        arrays: &Arc<PatternArrays>,
        of_rows: bool,
        values: Stored<'_>,
        semiring: Semiring,
        uses: u64,
    ) -> Result<Self> {
        let elements = Elements::both(ElementType::of(values.values.word()));
        let request = Request { semiring, packed: true, ..Request::auto(elements, uses) };
        let spmv = Spmv::new(arrays, BlockShape::SCALAR, of_rows, request)?;
        let mut packed = PackedValues::new(work.device(), &spmv)?;
        packed.update(work, &spmv, values)?;
        Ok(Self { spmv, values: packed })
    }

    /// y = A·x + y in the algebra.
    pub fn add(&self, work: &Work, x: &Buffer, y: &mut Buffer) -> Result<()> {
        self.spmv.run(work, self.values.stored(), x, Scaling::of(self.spmv.vector(), 1.0, 1.0), y)
    }
}
