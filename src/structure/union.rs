//! The union of two patterns on the device. Kernels: `cl/structure/union.cl`.
use super::group_size;
use crate::{
    Device, OperandPair, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, source},
    primitives::scan::{Scan, ScanTuning},
    resident::PatternArrays,
};
use std::sync::Arc;

/// Offsets and rows of A, of B; entries of A before each of B, and whether A has it; columns, entries of B.
type BSignature = (In<u32>, In<u32>, In<u32>, In<u32>, Out<u32>, Out<u32>, u32, u32);
/// Offsets and rows of A, of B; how many are in both; rows and pairs of C; columns, entries of A.
type OfASignature = (In<u32>, In<u32>, In<u32>, In<u32>, In<u32>, InOut<u32>, InOut<OperandPair>, u32, u32);
/// Entries of A before each of B, how many are in both, rows of B; rows and pairs of C; entries of B.
type OfBSignature = (In<u32>, In<u32>, In<u32>, InOut<u32>, InOut<OperandPair>, u32);
/// Offsets of A, of B; how many are in both; offsets of C; columns.
type ColPtrSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, u32);

/// The kernels that find the union of two patterns.
pub(super) struct Union {
    b: Kernel<BSignature>,
    of_a: Kernel<OfASignature>,
    of_b: Kernel<OfBSignature>,
    col_ptr: Kernel<ColPtrSignature>,
    scan: Scan<u32>,
    group_size: usize,
}

impl Union {
    pub fn new(device: &Device) -> Result<Self> {
        let (source, group_size) = (source!("structure/union.cl"), group_size(device.info()));
        let options = Options::group_size(group_size);
        Ok(Self {
            b: device.kernel(source, &options, "union_b")?,
            of_a: device.kernel(source, &options, "union_of_a")?,
            of_b: device.kernel(source, &options, "union_of_b")?,
            col_ptr: device.kernel(source, &options, "union_col_ptr")?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            group_size,
        })
    }

    /// The union, and the entries of A and B that each of its entries is.
    pub fn run(
        &self,
        work: &Work,
        a: &PatternArrays,
        b: &PatternArrays,
    ) -> Result<(Arc<PatternArrays>, Buffer<OperandPair>)> {
        let (a_nnz, b_nnz, ncols) = (a.nnz(), b.nnz(), a.ncols as u32);
        let over = |items| Grid::items(items, self.group_size);
        let (mut before, mut both) = (work.buffer(b_nnz)?, work.buffer(b_nnz + 1)?);
        let args = (&a.col_ptr, &a.row_idx, &b.col_ptr, &b.row_idx, &mut before, &mut both, ncols, b_nnz as u32);
        self.b.launch(work, over(b_nnz + 1), args)?;
        self.scan.run(work, &mut both)?;
        let in_both = work.read_count(&both, b_nnz, "entries of both operands", a_nnz.min(b_nnz) as u64)?;
        let nnz = (a_nnz + b_nnz) as u64 - in_both;
        PatternArrays::check_nnz(nnz)?;

        let (mut row_idx, mut pairs) = (work.buffer(nnz as usize)?, work.buffer(nnz as usize)?);
        let (rows, to) = (&mut row_idx, &mut pairs);
        let args = (&a.col_ptr, &a.row_idx, &b.col_ptr, &b.row_idx, &both, &mut *rows, &mut *to, ncols, a_nnz as u32);
        self.of_a.launch(work, over(a_nnz), args)?;
        self.of_b.launch(work, over(b_nnz), (&before, &both, &b.row_idx, rows, to, b_nnz as u32))?;
        let mut col_ptr = work.buffer(a.ncols + 1)?;
        self.col_ptr.launch(work, over(a.ncols + 1), (&a.col_ptr, &b.col_ptr, &both, &mut col_ptr, ncols))?;
        Ok((PatternArrays::new(&a.device, a.nrows, a.ncols, col_ptr, row_idx), pairs))
    }
}
