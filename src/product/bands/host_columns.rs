//! Downloads of a product to the host, band by band.
use crate::{
    BlockShape, Result,
    device::Work,
    element::AnyValues,
    host::memory,
    matrix::{AnyMatrix, MatrixKind, Pattern},
    product::Operands,
    resident::DeviceCbc,
};

/// The columns of C that have reached the host.
pub(in crate::product) struct HostColumns {
    nrows: usize,
    shape: BlockShape,
    stride: usize,
    bands: usize,
    col_ptr: Vec<u64>,
    row_idx: Vec<u32>,
    values: AnyValues,
}

impl HostColumns {
    pub fn new(operands: &Operands<'_>) -> Self {
        let shape = operands.a.shape.product(operands.b.shape);
        let (nrows, stride) = (operands.a.nrows, operands.c_stride);
        let values = AnyValues::zeros(operands.element(), 0);
        Self { nrows, shape, stride, bands: 0, col_ptr: vec![0], row_idx: Vec::new(), values }
    }

    /// Refuses a product that does not fit the host's memory, before it is computed. Patterns are
    /// downloaded for the check only if a dense C would not fit.
    pub fn check_product(operands: &Operands<'_>) -> Result<()> {
        let (a, b) = (operands.a, operands.b);
        let entry = 4 + (operands.c_stride * operands.element().bytes()) as u64;
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
    /// count twice, because they may have to be moved to a larger allocation.
    pub fn check_fits(&self, band: &DeviceCbc) -> Result<()> {
        let bytes = |nnz: usize| nnz as u64 * (4 + (self.stride * self.values.element().bytes()) as u64);
        let moved = if self.bands > 0 { self.row_idx.len() + band.nnz() } else { 0 };
        memory::check("the columns of the product so far", bytes(band.nnz()) + bytes(moved))
    }

    pub fn append(&mut self, band: &DeviceCbc, work: &Work) -> Result<()> {
        let before = self.row_idx.len() as u64;
        let values = band.values.download_any(work)?;
        let (col_ptr, row_idx) = band.pattern.download(work)?.into_parts();
        self.col_ptr.extend(col_ptr[1..].iter().map(|&end| before + end));
        match self.bands {
            0 => (self.row_idx, self.values) = (row_idx, values),
            _ => {
                self.row_idx.extend_from_slice(&row_idx);
                self.values.append(values);
            }
        }
        self.bands += 1;
        Ok(())
    }

    pub fn finish(self, kind: MatrixKind) -> AnyMatrix {
        let pattern = Pattern::trusted(self.nrows, self.col_ptr.len() - 1, self.col_ptr, self.row_idx);
        AnyMatrix::of_arrays(kind, pattern, self.shape, self.stride, self.values)
    }
}
