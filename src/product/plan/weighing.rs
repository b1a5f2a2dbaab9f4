//! T = W·op(B), for the last factor of a product, cell by cell.
use super::{ApplyWeights, block_diagonal, cell::FactorGrid, kind::CellArrays};
use crate::{
    DevicePattern, Error, Result,
    device::Work,
    groups::Cells,
    product::terms::{ArrayWeights, Weights},
    resident::{ScratchMatrix, TakenMatrix},
    structure::MovePlan,
};

pub(super) struct Weighing {
    /// The transpose of B, if op(B) is Bᵀ.
    turned: Option<Cells<Turned>>,
    weigh: Cells<ApplyWeights>,
    /// The pattern of W as a block-diagonal matrix, for each group of rows of op(B).
    pub patterns: Vec<DevicePattern>,
    pub bytes: u64,
}

/// A cell of Bᵀ.
struct Turned {
    plan: MovePlan,
    matrix: ScratchMatrix,
}

impl Weighing {
    pub fn new(work: &Work, b: FactorGrid<'_>) -> Result<Self> {
        let element = b.element;
        let turned = match b.transposed {
            true => Some(b.cells.try_transpose(|pattern| -> Result<_> {
                let plan = MovePlan::transpose(element, pattern)?;
                Ok(Turned { matrix: ScratchMatrix::reserve(work, element.word(), &plan.c)?, plan })
            })?),
            false => None,
        };
        let cells = turned.as_ref().map_or_else(|| b.cells.clone(), |turned| turned.map(|cell| cell.plan.c.clone()));
        let diagonal = |group: &crate::groups::Group| block_diagonal(work, group.blocks, group.side, b.row_major);
        let patterns = b.rows().iter().map(diagonal).collect::<Result<Vec<_>>>()?;
        let weigh =
            cells.try_map_places(|(row, _), pattern| ApplyWeights::new(work, element, pattern, &patterns[row]))?;
        let of_turned = |turned: &Cells<Turned>| -> u64 {
            turned.iter().map(|(_, cell)| cell.plan.cost().device_bytes + cell.matrix.bytes()).sum()
        };
        let bytes = turned.as_ref().map_or(0, of_turned)
            + patterns.iter().map(DevicePattern::device_bytes).sum::<u64>()
            + weigh.iter().map(|(_, weigh)| weigh.bytes()).sum::<u64>();
        Ok(Self { turned, weigh, patterns, bytes })
    }

    /// The patterns of T's cells, and the groups of T.
    pub fn pattern(&self) -> Cells<DevicePattern> {
        self.weigh.map(|weigh| weigh.t.pattern().clone())
    }

    /// Floating-point operations with weights of these kinds, one for each group of rows.
    pub fn flops(&self, kinds: &[Weights<(), ()>]) -> u64 {
        self.weigh.iter().map(|((row, _), cell)| kinds.get(row).map_or(0, |kind| cell.flops(kind))).sum()
    }

    /// Refuses weights that do not match the rows of op(B).
    pub fn check(&self, weights: &[ArrayWeights<'_>]) -> Result<()> {
        let (found, expected) = (weights.len(), self.patterns.len());
        if found != expected {
            let why = "one for each group of rows of the last factor".into();
            return Err(Error::Length { array: "weights", found, expected, why });
        }
        self.weigh.iter().try_for_each(|((row, _), cell)| match expected {
            1 => cell.check("W", weights[row]),
            _ => cell.check(&format!("W of group {row}"), weights[row]),
        })
    }

    /// Enqueues T for the cells `b` as they are stored. The caller has checked the cells and the
    /// weights.
    pub fn run(&self, work: &Work, b: &CellArrays<'_>, weights: &[ArrayWeights<'_>]) -> Result<Cells<TakenMatrix<'_>>> {
        self.weigh.try_map_places(|(row, col), cell| match &self.turned {
            None => cell.run(work, b.get(row, col).expect("of B's grid"), weights[row]),
            Some(turned) => {
                let Turned { plan, matrix } = turned.get(row, col).expect("of the same grid");
                let mut matrix = matrix.take(work)?;
                work.stage("transpose");
                plan.run(work, b.get(col, row).expect("of B's grid"), &mut matrix)?;
                cell.run(work, &matrix, weights[row])
            }
        })
    }
}
