//! Downloads of a product to the host, band by band.
use super::Operands;
use crate::{
    BlockShape, Element, Result,
    device::Work,
    host::memory,
    matrix::{Cbc, Pattern},
    resident::DeviceCbc,
};

/// The columns of C that have reached the host.
pub(super) struct HostColumns<T> {
    nrows: usize,
    shape: BlockShape,
    stride: usize,
    bands: usize,
    col_ptr: Vec<u64>,
    row_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Element> HostColumns<T> {
    pub fn new(operands: &Operands<'_>) -> Self {
        let shape = operands.a.shape.product(operands.b.shape);
        let (nrows, stride) = (operands.a.nrows, operands.c_stride);
        Self { nrows, shape, stride, bands: 0, col_ptr: vec![0], row_idx: Vec::new(), values: Vec::new() }
    }

    /// Refuses a product that does not fit the host's memory, before it is computed. Patterns are
    /// downloaded only if a dense C would not fit.
    pub fn check_product(operands: &Operands<'_>) -> Result<()> {
        let (a, b) = (operands.a, operands.b);
        let entry = 4 + (operands.c_stride * size_of::<T>()) as u64;
        let check = |entries: u64| memory::check("the product (at least)", entries.saturating_mul(entry));
        if check((a.nrows as u64).saturating_mul(b.ncols as u64)).is_ok() {
            return Ok(());
        }
        let work = Work::new(&a.device, None);
        let of_a = a.pattern.download(&work)?;
        let of_b = if std::ptr::eq(a, b) { None } else { Some(b.pattern.download(&work)?) };
        check(of_a.least_entries_of_product(of_b.as_ref().unwrap_or(&of_a)))
    }

    /// Refuses a band that does not fit the host's memory. If there are earlier bands, all columns
    /// count twice: they may have to be moved to a larger allocation.
    pub fn check_fits(&self, band: &DeviceCbc) -> Result<()> {
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
