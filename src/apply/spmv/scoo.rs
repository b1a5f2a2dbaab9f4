//! Slices of 64 rows with four sums in local memory for each: SCOO, with sums in a fixed order and
//! as published. Kernels: `cl/apply/spmv/scoo.cl`, `scoo_atomic.cl`.
//!
//! As published, work-items add a slice's entries in the order in which they arrive. Here an item
//! has each lane of a row, so the sums have an order of their own, [`Order::FewLanes`].
//!
//! [`Order::FewLanes`]: crate::element::Order::FewLanes
use super::{Rows, Sums, arrival, listed::Listed};
use crate::{
    Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Teams, Work, kernel},
    element::{Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct SumLanes<T: Element, V: Element> = "sum_lanes" in "apply/spmv/values.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo.cl" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        values: In<T>,
        x: In<V>,
        y: InOut<V>,
        rows: u32,
        stride: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

kernel! {
    struct ScatterLanes<T: Element, V: Element> = "scatter_lanes" in "ptx.cl", "apply/spmv/values.cl", "apply/spmv/arrival.cl", "apply/spmv/slice_lanes.cl", "apply/spmv/scoo_atomic.cl" {
        row_ptr: In<u32>,
        row: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        values: In<T>,
        x: In<V>,
        y: InOut<V>,
        rows: u32,
        stride: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

/// Rows of a slice: with their lanes an item for each sum fills a group of 256.
const SLICE: usize = 64;

/// Options of kernels of `group_size` items.
fn options<T: Element, V: Element>(rows: &Rows, group_size: usize) -> Options {
    rows.options::<T, V>(Options::group_size(group_size)).define("SLICE", SLICE).define("LANES", Order::FEW_LANES)
}

fn group_size(rows: &Rows) -> usize {
    rows.device().info().serial_or(SLICE * Order::FEW_LANES)
}

/// Sums in a fixed order.
pub(super) struct Scoo<T: Element, V: Element> {
    rows: Rows,
    kernel: Kernel<SumLanes<'static, T, V>>,
    group_size: usize,
}

impl<T: Element, V: Element> Scoo<T, V> {
    pub fn new(rows: Rows) -> Result<Self> {
        let group_size = group_size(&rows);
        Ok(Self { kernel: Kernel::new(rows.device(), &options::<T, V>(&rows, group_size))?, rows, group_size })
    }
}

impl<T: Element, V: Element> Sums<T, V> for Scoo<T, V> {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_, T>,
        x: &Buffer<V>,
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
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

/// Sums in the order of arrival.
pub(super) struct ScooAtomic<T: Element, V: Element> {
    listed: Listed<V>,
    kernel: Kernel<ScatterLanes<'static, T, V>>,
    group_size: usize,
}

impl<T: Element, V: Element> ScooAtomic<T, V> {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let group_size = group_size(&rows);
        let info = rows.device().info();
        let options = Teams::options_of(info, options::<T, V>(&rows, group_size));
        let kernel = Kernel::new(rows.device(), &arrival::options::<V>(info, rows.semiring, options)?)?;
        Ok(Self { kernel, listed: Listed::new(work, rows)?, group_size })
    }
}

impl<T: Element, V: Element> Sums<T, V> for ScooAtomic<T, V> {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_, T>,
        x: &Buffer<V>,
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
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
