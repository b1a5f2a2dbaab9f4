//! The union of two patterns on the device. Kernels: `cl/structure/union.cl`.
use crate::{
    Device, OperandPair, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::scan::{Scan, ScanTuning},
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    struct UnionB = "union_b" in "structure/union.cl" {
        a_col_ptr: In<u32>,
        a_row_idx: In<u32>,
        b_col_ptr: In<u32>,
        b_row_idx: In<u32>,
        before: Out<u32>,
        both: Out<u32>,
        ncols: u32,
        b_nnz: u32,
    }
}

kernel! {
    struct UnionOfA = "union_of_a" in "structure/union.cl" {
        a_col_ptr: In<u32>,
        a_row_idx: In<u32>,
        b_col_ptr: In<u32>,
        b_row_idx: In<u32>,
        both: In<u32>,
        c_row_idx: InOut<u32>,
        pair: InOut<OperandPair>,
        ncols: u32,
        a_nnz: u32,
    }
}

kernel! {
    struct UnionOfB = "union_of_b" in "structure/union.cl" {
        before: In<u32>,
        both: In<u32>,
        b_row_idx: In<u32>,
        c_row_idx: InOut<u32>,
        pair: InOut<OperandPair>,
        b_nnz: u32,
    }
}

kernel! {
    struct UnionColPtr = "union_col_ptr" in "structure/union.cl" {
        a_col_ptr: In<u32>,
        b_col_ptr: In<u32>,
        both: In<u32>,
        c_col_ptr: Out<u32>,
        ncols: u32,
    }
}

/// The kernels that find the union of two patterns.
pub(crate) struct Union {
    b: Kernel<UnionB<'static>>,
    of_a: Kernel<UnionOfA<'static>>,
    of_b: Kernel<UnionOfB<'static>>,
    col_ptr: Kernel<UnionColPtr<'static>>,
    scan: Scan<u32>,
    group_size: usize,
}

impl Union {
    pub fn new(device: &Device) -> Result<Self> {
        let group_size = device.info().numbers().elementwise_group;
        let options = Options::group_size(group_size);
        Ok(Self {
            b: Kernel::new(device, &options)?,
            of_a: Kernel::new(device, &options)?,
            of_b: Kernel::new(device, &options)?,
            col_ptr: Kernel::new(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            group_size,
        })
    }

    /// The union, and for each of its entries those of A and B.
    pub fn run(
        &self,
        work: &Work,
        a: &PatternArrays,
        b: &PatternArrays,
    ) -> Result<(Arc<PatternArrays>, Buffer<OperandPair>)> {
        let (a_nnz, b_nnz, ncols) = (a.nnz(), b.nnz(), a.ncols as u32);
        let over = |items| Grid::items(items, self.group_size);
        let (a_col_ptr, a_row_idx, b_col_ptr, b_row_idx) = (&a.col_ptr, &a.row_idx, &b.col_ptr, &b.row_idx);
        let (mut before, mut both) = (work.buffer(b_nnz)?, work.buffer(b_nnz + 1)?);
        let args = UnionB {
            a_col_ptr,
            a_row_idx,
            b_col_ptr,
            b_row_idx,
            before: &mut before,
            both: &mut both,
            ncols,
            b_nnz: b_nnz as u32,
        };
        self.b.launch(work, over(b_nnz + 1), args)?;
        self.scan.run(work, &mut both)?;
        let in_both = work.read_count(&both, b_nnz, "entries of both operands", a_nnz.min(b_nnz) as u64)?;
        let nnz = (a_nnz + b_nnz) as u64 - in_both;
        PatternArrays::check_nnz(nnz)?;

        let (mut c_row_idx, mut pairs) = (work.buffer(nnz as usize)?, work.buffer(nnz as usize)?);
        let args = UnionOfA {
            a_col_ptr,
            a_row_idx,
            b_col_ptr,
            b_row_idx,
            both: &both,
            c_row_idx: &mut c_row_idx,
            pair: &mut pairs,
            ncols,
            a_nnz: a_nnz as u32,
        };
        self.of_a.launch(work, over(a_nnz), args)?;
        let args = UnionOfB {
            before: &before,
            both: &both,
            b_row_idx,
            c_row_idx: &mut c_row_idx,
            pair: &mut pairs,
            b_nnz: b_nnz as u32,
        };
        self.of_b.launch(work, over(b_nnz), args)?;
        let mut c_col_ptr = work.buffer(a.ncols + 1)?;
        let args = UnionColPtr { a_col_ptr, b_col_ptr, both: &both, c_col_ptr: &mut c_col_ptr, ncols };
        self.col_ptr.launch(work, over(a.ncols + 1), args)?;
        Ok((PatternArrays::new(&a.device, a.nrows, a.ncols, c_col_ptr, c_row_idx), pairs))
    }
}
