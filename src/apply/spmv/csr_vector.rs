//! Compressed rows, a team of 32 work-items for each row. Kernel: `cl/apply/spmv/csr_vector.cl`.
//!
//! Neighbours read neighbouring entries, and no row waits for one item. A row of few entries leaves
//! most of its team idle. The sums have an order of their own, [`Order::Lanes`].
//!
//! [`Order::Lanes`]: crate::element::Order::Lanes
use super::{Rows, Sums};
use crate::{
    Element, Error, Result, Word,
    device::{Buffer, Grid, In, InOut, Kernel, Maybe, Scalar, Teams, Work, kernel},
    element::{Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct SumRowsByTeams<T: Element, V: Element> = "sum_rows_by_teams" in "ptx.cl", "team.cl", "apply/spmv/values.cl", "apply/spmv/csr_vector.cl" {
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

/// Teams of a work-group, if several fit one.
const TEAMS: usize = 4;

const _: () = assert!(Teams::SIZE == Order::LANES);

pub(super) struct CsrVector<T: Element, V: Element> {
    rows: Rows,
    kernel: Kernel<SumRowsByTeams<'static, T, V>>,
    group_size: usize,
}

impl<T: Element, V: Element> CsrVector<T, V> {
    pub fn new(rows: Rows) -> Result<Self> {
        let device = rows.device();
        let teams = Teams::of(device.info()).ok_or_else(|| Error::Unsupported {
            device: device.info().name.clone(),
            feature: "work-groups of 32 items",
            hint: "the format csr needs none".into(),
        })?;
        let options =
            rows.options::<T, V>(teams.options(TEAMS)).define("WIDE", u8::from(V::Arithmetic::CL_NAME == "double"));
        Ok(Self { kernel: Kernel::new(device, &options)?, rows, group_size: teams.group_size(TEAMS) })
    }
}

impl<T: Element, V: Element> Sums<T, V> for CsrVector<T, V> {
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
        let args = SumRowsByTeams { row_ptr, col, source, values, x, y, rows, stride, alpha, beta };
        let groups = self.rows.len().div_ceil(self.group_size / Teams::SIZE);
        self.kernel.launch(work, Grid::groups(groups, self.group_size), args)
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
