//! SCOO: slices of 64 rows with four sums in local memory for each row. One kernel has a fixed
//! order of addition, the other is as published. Kernels: `cl/apply/spmv/scoo.cl`,
//! `scoo_atomic.cl`.
//!
//! As published, work-items add a slice's entries in the order in which they arrive. With the fixed
//! order, an item adds each of the four lanes of a row; the order is [`Order::FewLanes`].
//!
//! [`Order::FewLanes`]: crate::element::Order::FewLanes
use super::{Rows, Sums, arrival, listed::Listed};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Sum, Teams, Value, Work, kernel},
    element::{Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct SumLanes = "sum_lanes" in "apply/spmv/values.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo.cl" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        y: InOut<Elem>,
        rows: u32,
        stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    struct ScatterLanes = "scatter_lanes" in "ptx.cl", "apply/spmv/values.cl", "apply/spmv/arrival.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo_atomic.cl" {
        row_ptr: In<u32>,
        row: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        y: InOut<Elem>,
        rows: u32,
        stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

/// Rows of a slice. With four lanes each and an item for each lane, they fill a group of 256.
const SLICE: usize = 64;

/// Options of kernels whose groups have `group_size` items.
fn options(rows: &Rows, group_size: usize) -> Options {
    rows.options(Options::group_size(group_size)).define("SLICE", SLICE).define("LANES", Order::FEW_LANES)
}

fn group_size(rows: &Rows) -> usize {
    rows.device().info().serial_or(SLICE * Order::FEW_LANES)
}

/// SCOO with sums in a fixed order.
pub(super) struct Scoo {
    rows: Rows,
    kernel: Kernel<SumLanes<'static>>,
    group_size: usize,
}

impl Scoo {
    pub fn new(rows: Rows) -> Result<Self> {
        let group_size = group_size(&rows);
        Ok(Self { kernel: Kernel::new(rows.device(), &options(&rows, group_size))?, rows, group_size })
    }
}

impl Sums for Scoo {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_>,
        x: &Buffer,
        Scaling { alpha, beta }: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        let (row_ptr, col, source) = (&self.rows.pattern.col_ptr, &self.rows.pattern.row_idx, self.rows.source());
        let rows = self.rows.len() as u32;
        let args = SumLanes { row_ptr, col, source, values, x, y, rows, stride, alpha, beta };
        self.kernel.launch(work, Grid::groups(self.rows.len().div_ceil(SLICE), self.group_size), args)
    }

    fn places(&self) -> usize {
        self.rows.pattern.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.rows.source.as_ref()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}

/// SCOO with sums in the order of arrival.
pub(super) struct ScooAtomic {
    listed: Listed,
    kernel: Kernel<ScatterLanes<'static>>,
    group_size: usize,
}

impl ScooAtomic {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let group_size = group_size(&rows);
        let info = rows.device().info();
        let options = Teams::options_of(info, options(&rows, group_size));
        let kernel =
            Kernel::new(rows.device(), &arrival::options(info, rows.elements.vector, rows.semiring, options)?)?;
        Ok(Self { kernel, listed: Listed::new(work, rows)?, group_size })
    }
}

impl Sums for ScooAtomic {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_>,
        x: &Buffer,
        Scaling { alpha, beta }: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        let Listed { row, rows: listed, .. } = &self.listed;
        let (row_ptr, col, source) = (&listed.pattern.col_ptr, &listed.pattern.row_idx, listed.source());
        let rows = listed.len() as u32;
        let args = ScatterLanes { row_ptr, row, col, source, values, x, y, rows, stride, alpha, beta };
        self.kernel.launch(work, Grid::groups(listed.len().div_ceil(SLICE), self.group_size), args)
    }

    fn places(&self) -> usize {
        self.listed.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.listed.rows.source.as_ref()
    }

    fn bytes(&self) -> u64 {
        self.listed.bytes()
    }
}
