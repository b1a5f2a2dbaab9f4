//! The costs that decide whether a step is taken and whether an iteration ends.
//!
//! A cost is a sum over rows, in which one row can exceed all other rows together: the row of a
//! measurement between two poses that are held, or of a point in the plane of its camera. So steps
//! are judged by a cost without the rows that touch no unknown, because those rows are constant.
//! The rules of convergence use a *capped* cost, in which each of n rows counts at most as n times
//! the median row. In a problem without rows that are constant or exceed this cap, the cost for
//! judging steps and the capped cost have the same bits as the cost itself.
use crate::solver::problem::{Linearization, RowCost};

/// The costs of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// The whole cost.
    pub all: f64,
    /// The cost of the rows that touch an unknown.
    pub of_unknowns: f64,
    /// The cost `of_unknowns`, in which each row counts at most as n times the median row. Here n
    /// is the number of rows.
    pub capped: f64,
    /// The cost that the rows that touch an unknown would have if their residuals were only
    /// rounding; 0 if unknowns have diverged.
    pub rounding: f64,
}

/// Rounding of the cost, as a share of the cost of the first state, for a problem that does not
/// write the costs of its rows.
const ROUNDING_OF_FIRST: f64 = 1e-24;

/// [`Costs::rounding`] may be at most this share of the cost of the first state, or [`GROWN`] times
/// the rounding of that cost. If the rounding of a state is above both limits, unknowns have
/// diverged so far that residuals contain only rounding.
const BELIEVED: f64 = 1e-6;
const GROWN: f64 = 100.0;

/// A row that makes up more than half of a cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominant {
    /// Number of the row of blocks of J, through all groups of rows.
    pub row: usize,
    /// The share of this row in the cost, from 0.5 to 1.
    pub share: f64,
}

/// The rows of a problem, and their costs at the current state.
pub struct Rows {
    /// Whether each row touches an unknown; empty if all do.
    touching: Vec<bool>,
    costs: Vec<RowCost>,
    /// The cost of the first state, and its rounding.
    first: Option<(f64, f64)>,
    /// The costs from which the median is computed. The vector is kept so that its memory is
    /// reused.
    positive: Vec<f64>,
}

impl Rows {
    pub fn new(linearization: &Linearization) -> Self {
        let mut touching = linearization.touching();
        if touching.iter().all(|&touches| touches) {
            touching.clear();
        }
        Self { touching, costs: Vec::new(), first: None, positive: Vec::new() }
    }

    /// The costs of a linearization whose whole cost is `all`. If the problem does not write the
    /// costs of rows, every cost is `all`.
    pub fn judge(&mut self, all: f64, linearization: &Linearization) -> Costs {
        let rows = linearization.row_costs();
        let touches = |row: usize| self.touching.is_empty() || self.touching[row];
        let of_unknowns = || rows.iter().enumerate().filter(|&(row, _)| touches(row)).map(|(_, row)| row);
        let costs = || of_unknowns().map(|row| row.cost);
        // The rows from which the median is computed.
        let positive = || of_unknowns().filter(|row| row.cost > 0.0 && !row.is_met()).map(|row| row.cost);
        let cost = match self.touching.is_empty() || rows.is_empty() {
            true => all,
            false => 0.5 * costs().sum::<f64>(),
        };
        let rounding = 0.5 * of_unknowns().map(|row| row.rounding).sum::<f64>();
        let (first_cost, first_rounding) = *self.first.get_or_insert((cost, rounding));
        let rounding = match rows.is_empty() {
            true => ROUNDING_OF_FIRST * first_cost,
            false if rounding > (BELIEVED * first_cost).max(GROWN * first_rounding) => 0.0,
            false => rounding,
        };
        let plain = Costs { all, of_unknowns: cost, capped: cost, rounding };
        let (n, of_median, most) = (costs().count(), positive().count(), positive().fold(0.0, f64::max));
        // The median is element `middle` in ascending order. The median is computed only if the
        // largest row may be above n times the median. If enough rows are at least `least`, it
        // cannot be.
        let (middle, least) = (of_median.saturating_sub(1) / 2, most / n as f64);
        if !cost.is_finite() || positive().filter(|&cost| cost >= least).count() >= of_median - middle {
            return plain;
        }
        self.positive.clear();
        self.positive.extend(positive());
        let (_, median, _) = self.positive.select_nth_unstable_by(middle, f64::total_cmp);
        let cap = *median * n as f64;
        Costs { capped: 0.5 * costs().map(|cost| cost.min(cap)).sum::<f64>(), ..plain }
    }

    /// Makes the state of a linearization the current one.
    pub fn keep(&mut self, linearization: &mut Linearization) {
        linearization.swap_row_costs(&mut self.costs);
    }

    /// The row that makes up more than half of the cost of the current state.
    pub fn dominant(&self) -> Option<Dominant> {
        let costs = || self.costs.iter().map(|row| row.cost);
        let (row, most) = costs().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        // The costs are divided by the largest first, because their sum may overflow.
        let share = 1.0 / costs().map(|cost| cost / most).sum::<f64>();
        (share > 0.5 && !self.costs[row].is_met()).then_some(Dominant { row, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockGroups, BlockShape, Bsr, Result, device::test_device};

    /// A linearization whose rows have the costs `costs`. The rows `constant` touch no unknown.
    fn rows(costs: &[f64], constant: &[usize]) -> Result<Linearization> {
        let n = costs.len();
        let touches = |row: usize| u64::from(!constant.contains(&row));
        let row_ptr: Vec<u64> = (0..=n).map(|end| (0..end).map(touches).sum()).collect();
        let count = row_ptr[n] as usize;
        let j = Bsr::new(n, 1, BlockShape::new(1, 1)?, row_ptr, vec![0; count], vec![1.0; count])?;
        let mut to = Linearization::new(&test_device(), BlockGroups::side_by_side([j])?, Vec::new(), false)?;
        // A negative number stands for a row whose measurement counts as met; the cost of the row
        // is its absolute value.
        let row = |&cost: &f64| RowCost { cost: cost.abs(), met: (-cost).max(0.0), rounding: 0.5 };
        to.row_costs_mut().iter_mut().zip(costs).for_each(|(to, cost)| *to = row(cost));
        Ok(to)
    }

    fn judged(costs: &[f64], constant: &[usize]) -> Result<[f64; 2]> {
        let to = rows(costs, constant)?;
        let Costs { of_unknowns, capped, .. } =
            Rows::new(&to).judge(0.5 * costs.iter().map(|cost| cost.abs()).sum::<f64>(), &to);
        Ok([2.0 * of_unknowns, 2.0 * capped])
    }

    #[test]
    fn a_row_counts_as_n_times_the_median() -> Result<()> {
        // The largest row first equals n times the median, and then exceeds it.
        assert_eq!(judged(&[1.0, 3.0, 1.0], &[])?, [5.0; 2]);
        assert_eq!(judged(&[1.0, 3.5, 1.0], &[])?, [5.5, 5.0]);
        assert_eq!(judged(&[1e30, 2.0, 1.0, 3.0], &[])?, [1e30, 14.0]);
        // If two of four rows are large, the lower of the two middle rows counts as the median.
        assert_eq!(judged(&[1e30, 1.0, 1e30, 2.0], &[])?, [2e30, 19.0]);
        // Rows with residual zero do not count for the median, so the two rows with a residual are
        // not outliers.
        assert_eq!(judged(&[0.0, 0.0, 0.0, 5.0, 4.0], &[])?, [9.0; 2]);
        assert_eq!(judged(&[-1e-20, -1e-22, -1e-21, 5.0, 4.0], &[])?, [9.0; 2]);
        assert_eq!(judged(&[-3.0, -5e9], &[])?, [3.0 + 5e9; 2]);
        assert_eq!(judged(&[0.0, 0.0], &[])?, [0.0; 2]);
        assert_eq!(judged(&[7.0], &[])?, [7.0; 2]);
        Ok(())
    }

    #[test]
    fn rows_without_unknowns_do_not_count() -> Result<()> {
        assert_eq!(judged(&[1.0, 1e30, 2.0], &[1])?, [3.0; 2]);
        assert_eq!(judged(&[1.0, 1e30, 2.0, 1e20, 1.0], &[1])?, [1e20, 8.0]);
        Ok(())
    }

    #[test]
    fn a_problem_may_keep_the_costs_of_its_rows_to_itself() -> Result<()> {
        let mut to = rows(&[1.0, 2.0], &[1])?;
        let mut taken = Vec::new();
        to.swap_row_costs(&mut taken);
        let mut rows = Rows::new(&to);
        let rounding = ROUNDING_OF_FIRST * 3.0;
        assert_eq!(rows.judge(3.0, &to), Costs { all: 3.0, of_unknowns: 3.0, capped: 3.0, rounding });
        assert_eq!(rows.judge(9.0, &to).rounding, rounding);
        rows.keep(&mut to);
        assert_eq!(rows.dominant(), None);
        Ok(())
    }

    #[test]
    fn rounding_that_has_grown_beside_the_first_cost_is_not_believed() -> Result<()> {
        let of_rounding = |[first, later]: [f64; 2], cost: f64| -> Result<f64> {
            let mut to = rows(&[cost, cost], &[])?;
            let mut rows = Rows::new(&to);
            to.row_costs_mut().iter_mut().for_each(|row| row.rounding = first);
            rows.judge(cost, &to);
            to.row_costs_mut().iter_mut().for_each(|row| row.rounding = later);
            Ok(rows.judge(cost / 10.0, &to).rounding)
        };
        assert_eq!(of_rounding([1e-20, 1e-7], 1.0)?, 1e-7);
        assert_eq!(of_rounding([1e-20, 1e-3], 1.0)?, 0.0);
        // The first state had nearly as much rounding as this state: the first state was far from
        // the origin, or already solved.
        assert_eq!(of_rounding([1e-4, 1e-3], 1.0)?, 1e-3);
        Ok(())
    }

    #[test]
    fn more_than_half_dominates() -> Result<()> {
        let dominant = |costs: &[f64]| -> Result<Option<Dominant>> {
            let mut to = rows(costs, &[])?;
            let mut rows = Rows::new(&to);
            rows.keep(&mut to);
            Ok(rows.dominant())
        };
        assert_eq!(dominant(&[1.0, 4.0, 3.0])?, None);
        assert_eq!(dominant(&[1.0, 8.0, 1.0])?, Some(Dominant { row: 1, share: 0.8 }));
        assert_eq!(dominant(&[f64::MAX, f64::MAX / 4.0])?, Some(Dominant { row: 0, share: 0.8 }));
        assert_eq!(dominant(&[0.0, 0.0])?, None);
        // The measurements of all rows are met.
        assert_eq!(dominant(&[-1e-20, -1e-25])?, None);
        Ok(())
    }
}
