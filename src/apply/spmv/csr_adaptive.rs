//! Compressed rows. A work-group takes a stretch of short rows, or a piece of a long row. The sums
//! are the line sums of `vector/`, which support blocks, too.
//!
//! Neighbouring items multiply neighbouring entries into local memory. Then one item adds each row,
//! or each piece of 1024 entries. The last group of a row to finish adds the pieces of the row.
use super::{Layout, PackedOrder, Rows, Sums};
use crate::{
    Result,
    device::{Buffer, Work},
    primitives::transpose::Transposed,
    vector::{
        ScaledInto,
        line_sums::{LineSums, Stored, Summed, Terms},
        lines::{Index, Side},
    },
};

pub(super) struct CsrAdaptive {
    sums: LineSums,
    /// The index of the values, if only packing reads it and the sums do not.
    source: Option<Buffer<u32>>,
    /// Bytes of the rows' arrays, if the sums do not hold them.
    held: u64,
    places: usize,
}

impl CsrAdaptive {
    pub fn new(rows: Rows) -> Result<Self> {
        let of_rows = rows.bytes();
        let Rows { pattern, source, packed, elements, semiring, block, .. } = rows;
        let (device, places) = (pattern.device.clone(), pattern.nnz());
        let shape = block.by_columns()?;
        let (index, shape, source) = match source {
            Some(source) if !packed => {
                let rows = Transposed { pattern, source, longest: None };
                let index = if block.side == Side::Flagged { Index::Mirrored(rows) } else { Index::Rows(rows) };
                (index, shape.transpose(), None)
            }
            source => (Index::Columns(pattern), shape, source),
        };
        let held = if source.is_some() { of_rows } else { 0 };
        let summed =
            Summed { types: [elements.matrix, elements.vector], shape, packed, terms: Terms::Products(semiring) };
        Ok(Self { sums: LineSums::over(&device, index, summed)?, source, held, places })
    }
}

impl Sums for CsrAdaptive {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        self.sums.run(work, a, x, y.scaling, y.values)
    }

    fn order(&self) -> PackedOrder<'_> {
        PackedOrder { places: self.places, source: self.source.as_ref(), layout: Layout::WholeSums }
    }

    fn bytes(&self) -> u64 {
        self.sums.bytes() + self.held
    }
}
