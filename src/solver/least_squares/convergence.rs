//! The conditions of convergence, which [the module](super) lists.
use super::capped::Costs;

/// Largest cosine between the residuals and a column of J at which the gradient counts as zero.
const FLAT: f64 = 1e-10;
/// Rounding of a cost, as a share of the cost. A tolerance below the rounding of a cost could not
/// be reached.
pub const ROUNDING: f64 = 1e-15;
/// Rounding of a cost that is nearly the cost of one row, as a share of the cost. If an unknown
/// changes by its rounding, the cost of a row that makes up nearly the whole cost changes by this
/// share.
const HIDDEN: f64 = 1e-12;

/// A step is not the last step if a longer step in the same direction is predicted to gain more
/// than this many times the step's own predicted gain. At the end of bundle adjustments, a longer
/// step is predicted to gain 20 times as much, because of points far from all cameras.
const LONGER: f64 = 100.0;

/// Whether the gradient is zero, or the cost is only rounding.
pub fn is_minimum(costs: &Costs, relative_gradient: f64) -> bool {
    relative_gradient <= FLAT || costs.of_unknowns <= costs.rounding
}

/// The change of cost of a step that was tried.
pub struct Trial {
    /// The decrease of the cost of the rows that touch an unknown.
    pub gain: f64,
    /// The decrease that the model predicted.
    pub promised: f64,
    /// The part of the predicted decrease that is due to damping: (xᵀ·D·x)/2.
    pub damping: f64,
    pub taken: bool,
}

impl Trial {
    /// Whether this step is the last. The last step changed the cost by at most the tolerance or by
    /// rounding only, and a longer step in the same direction is not predicted to gain much more.
    pub fn is_last(&self, costs: &Costs, tolerance: f64) -> bool {
        let promises = |least: f64| self.promised <= least && self.most_promised() <= LONGER * least;
        let least = tolerance.max(ROUNDING) * costs.capped;
        let hidden = if costs.capped < costs.of_unknowns { HIDDEN * costs.of_unknowns } else { 0.0 };
        // The predicted decrease must also be small: a large prediction means that the step was
        // only too long. The prediction is exact even if one row hides the gain.
        let little = self.gain.abs() <= least.max(hidden) && promises(least);
        // The change of the cost if every residual changes by its rounding.
        let noise = 2.0 * costs.capped.sqrt() * costs.rounding.sqrt();
        little || !self.taken && promises(noise)
    }

    /// The decrease that the model predicts for t·x at the best t: (xᵀb)²/(2·xᵀHx). In directions
    /// in which H is smaller than the damping, the step is short even if much is left to gain.
    fn most_promised(&self) -> f64 {
        let (work, curvature) = (self.promised - self.damping, self.promised - 2.0 * self.damping);
        // The curvature may be negative by rounding if damping dominates the step.
        if curvature > 0.0 { work * (work / curvature) } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of (h + λ)·x = b. The cost changes as the model predicts, or by `gain`.
    fn trial(h: f64, lambda: f64, b: f64, gain: Option<f64>) -> Trial {
        let x = b / (h + lambda);
        let gain = gain.unwrap_or(x * b - 0.5 * h * x * x);
        let damping = 0.5 * lambda * x * x;
        Trial { gain, promised: 0.5 * (b * x + lambda * x * x), damping, taken: gain > 0.0 }
    }

    #[test]
    fn the_best_step_in_a_direction_is_that_of_gauss_and_newton() {
        for (h, lambda) in [(1.0, 0.0), (1.0, 1e-4), (1e-3, 1e-4), (1e-6, 1e-4), (3.0, 700.0)] {
            let most = trial(h, lambda, 0.5, None).most_promised();
            assert!((most / (0.125 / h) - 1.0).abs() < 1e-9, "{h} {lambda}: {most}");
        }
        assert_eq!(trial(0.0, 1.0, 0.5, None).most_promised(), f64::INFINITY);
    }

    #[test]
    fn little_steps_are_the_last_unless_damping_made_them_so() {
        let costs = Costs { all: 1.0, of_unknowns: 1.0, capped: 1.0, rounding: 1e-26 };
        assert!(trial(1.0, 1e-4, 1e-4, None).is_last(&costs, 1e-6));
        assert!(!trial(1.0, 1e-4, 1e-2, None).is_last(&costs, 1e-6));
        // A step whose cost fell far less than the model predicted is not the last.
        assert!(!trial(1.0, 1e-4, 1e-2, Some(1e-9)).is_last(&costs, 1e-6));
        // The direction of this step could gain half of the cost, but the damped step gains only
        // 1e-8 of the cost.
        assert!(!trial(1e-8, 1e-3, 1e-4, Some(1e-8)).is_last(&costs, 1e-6));
        // The tolerance is 0. One step changes the cost by rounding only, and another step changes
        // it by more than rounding.
        assert!(trial(1.0, 0.0, 1e-7, Some(-1e-16)).is_last(&costs, 0.0));
        assert!(!trial(1.0, 0.0, 1e-6, Some(-1e-16)).is_last(&costs, 0.0));
        // One row is nearly all of the cost and hides the gain of a step.
        let hidden = Costs { all: 1e20, of_unknowns: 1e20, ..costs };
        assert!(trial(1.0, 1e-4, 1e-4, Some(-1e3)).is_last(&hidden, 1e-6));
        assert!(!trial(1.0, 1e-4, 1e-4, Some(-1e12)).is_last(&hidden, 1e-6));
    }

    #[test]
    fn a_cost_of_rounding_is_a_minimum() {
        let costs = Costs { all: 1.0, of_unknowns: 1e-27, capped: 1e-27, rounding: 1e-26 };
        assert!(is_minimum(&costs, 0.5));
        let costs = Costs { of_unknowns: 1e-25, ..costs };
        assert!(!is_minimum(&costs, 0.5) && is_minimum(&costs, 1e-11));
    }
}
