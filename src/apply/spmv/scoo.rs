//! SCOO: slices of 64 rows with four sums in local memory for each row. There are two kernels: one
//! is as published, and one has a fixed order of addition. Kernels: `cl/apply/spmv/scoo.cl`,
//! `scoo_atomic.cl`.
//!
//! In the published kernel, work-items add a slice's entries in the order in which they arrive. In
//! the kernel with a fixed order, an item adds each of the four lanes of a row. The order is
//! [`Order::FewLanes`].
//!
//! [`Order::FewLanes`]: crate::element::Order::FewLanes
use super::{PackedOrder, Rows, Sums, arrival, listed::Listed, terms::InTerms};
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Options, Teams, Work, kernel},
    element::Order,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    struct SumLanes = "sum_lanes" in "apply/spmv/values.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo.cl" {
        row_ptr: In<u32>,
        terms: InTerms<u32>,
        y: InOutScaled,
        rows: u32,
    }
}

kernel! {
    struct ScatterLanes = "scatter_lanes" in "ptx.cl", "apply/spmv/values.cl", "apply/spmv/arrival.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo_atomic.cl" {
        row_ptr: In<u32>,
        row: In<u32>,
        terms: InTerms<u32>,
        y: InOutScaled,
        rows: u32,
    }
}

/// Rows of a slice. A row has four lanes, and each lane has a work-item, so the rows fill a
/// work-group of 256.
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
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Self { rows, kernel, group_size } = self;
        let args = SumLanes { row_ptr: rows.row_ptr(), terms: rows.terms(a, x), y, rows: rows.len() as u32 };
        kernel.launch(work, Grid::groups(rows.len().div_ceil(SLICE), *group_size), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.rows.order()
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
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Listed { row, rows, .. } = &self.listed;
        let (terms, count) = (rows.terms(a, x), rows.len() as u32);
        let args = ScatterLanes { row_ptr: rows.row_ptr(), row, terms, y, rows: count };
        self.kernel.launch(work, Grid::groups(rows.len().div_ceil(SLICE), self.group_size), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.listed.rows.order()
    }

    fn bytes(&self) -> u64 {
        self.listed.bytes()
    }
}
