//! Compressed rows, a team of 32 work-items for each row. Kernel: `cl/apply/spmv/csr_vector.cl`.
//!
//! Neighbouring items read neighbouring entries, and no row waits for one item. In a short row most
//! items of the team are idle. The order of addition is [`Order::Lanes`].
//!
//! [`Order::Lanes`]: crate::element::Order::Lanes
use super::{Rows, Sums};
use crate::{
    Error, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Scalar, Sum, Teams, Value, Work, kernel},
    element::{ElementType, Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct SumRowsByTeams = "sum_rows_by_teams" in "ptx.cl", "team.cl", "apply/spmv/values.cl", "apply/spmv/csr_vector.cl" {
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

/// Number of teams in a work-group, if several fit.
const TEAMS: usize = 4;

const _: () = assert!(Teams::SIZE == Order::LANES);

pub(super) struct CsrVector {
    rows: Rows,
    kernel: Kernel<SumRowsByTeams<'static>>,
    group_size: usize,
}

impl CsrVector {
    pub fn new(rows: Rows) -> Result<Self> {
        let device = rows.device();
        let teams = Teams::of(device.info()).ok_or_else(|| Error::Unsupported {
            device: device.info().name.clone(),
            feature: "work-groups of 32 items",
            hint: "the format csr needs none".into(),
        })?;
        let options =
            rows.options(teams.options(TEAMS)).define("WIDE", u8::from(rows.elements.vector == ElementType::F64));
        Ok(Self { kernel: Kernel::new(device, &options)?, rows, group_size: teams.group_size(TEAMS) })
    }
}

impl Sums for CsrVector {
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
