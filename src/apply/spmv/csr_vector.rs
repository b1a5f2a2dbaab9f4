//! Compressed rows, a team of 32 work-items for each row. Kernel: `cl/apply/spmv/csr_vector.cl`.
//!
//! Neighbouring items read neighbouring entries, and no row waits for one item. In a short row most
//! items of the team are idle. The order of addition is [`Order::Lanes`].
//!
//! [`Order::Lanes`]: crate::element::Order::Lanes
use super::{PackedOrder, Rows, Sums, terms::InTerms};
use crate::{
    Error, Result,
    device::{Buffer, Grid, In, Kernel, Teams, Work, kernel},
    element::{ElementType, Order},
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    struct SumRowsByTeams = "sum_rows_by_teams" in "ptx.cl", "team.cl", "apply/spmv/values.cl", "apply/spmv/csr_vector.cl" {
        row_ptr: In<u32>,
        terms: InTerms<u32>,
        y: InOutScaled,
        rows: u32,
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
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Self { rows, kernel, group_size } = self;
        let args = SumRowsByTeams { row_ptr: rows.row_ptr(), terms: rows.terms(a, x), y, rows: rows.len() as u32 };
        kernel.launch(work, Grid::groups(rows.len().div_ceil(group_size / Teams::SIZE), *group_size), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.rows.order()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}
