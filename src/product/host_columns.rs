//! A product on its way to the host, band by band.
use super::Operands;
use crate::{
    BlockShape, Element, Result,
    host::memory,
    matrix::{Cbc, Pattern},
    resident::DeviceCbc,
};

/// The columns of C that have reached the host.
pub(super) struct Columns<T> {
    nrows: usize,
    shape: BlockShape,
    stride: usize,
    bands: usize,
    col_ptr: Vec<u64>,
    row_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Element> Columns<T> {
    pub fn new(operands: &Operands<'_, T>) -> Self {
        let shape = operands.a.shape.product(operands.b.shape);
        let (nrows, stride) = (operands.a.nrows, operands.c_stride);
        Self { nrows, shape, stride, bands: 0, col_ptr: vec![0], row_idx: Vec::new(), values: Vec::new() }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.col_ptr.len() as u64 - 1
    }

    /// Refuses a band the host has no memory for; with others before it, twice: while they move to a larger allocation.
    pub fn check_fits(&self, band: &DeviceCbc<T>) -> Result<()> {
        let bytes = |nnz: usize| nnz as u64 * (4 + (self.stride * size_of::<T>()) as u64);
        let moved = if self.bands > 0 { self.row_idx.len() + band.nnz() } else { 0 };
        memory::check("the columns of the product so far", bytes(band.nnz()) + bytes(moved))
    }

    pub fn append(&mut self, band: Cbc<T>) {
        let before = self.row_idx.len() as u64;
        let (pattern, values) = band.into_parts();
        let (col_ptr, row_idx) = pattern.into_parts();
        self.col_ptr.extend(col_ptr[1..].iter().map(|&end| before + end));
        match self.bands {
            0 => (self.row_idx, self.values) = (row_idx, values),
            _ => {
                self.row_idx.extend_from_slice(&row_idx);
                self.values.extend_from_slice(&values);
            }
        }
        self.bands += 1;
    }

    pub fn finish(self) -> Result<Cbc<T>> {
        let pattern = Pattern::trusted(self.nrows, self.col_ptr.len() - 1, self.col_ptr, self.row_idx);
        Cbc::with_stride(pattern, self.shape, self.stride, self.values)
    }
}
